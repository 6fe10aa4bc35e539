//! What of a run is a metric: that of its trials, one by one, and why each cell stopped where it did.

use explain::{audit_trial, ceiling_of, explain_cells};
use record::{CellName, Manifest, Measured, Server, Trial, TrialResult};

use crate::load::{Adder, ExportedLoad, add_load, json_name};
use crate::model::{Families, Family, Labels, Metric, Sample, Span, Unit, Value};

/// A run's records.
#[derive(Debug, Clone, Copy)]
pub struct ExportedRun<'a> {
    /// What it was.
    pub manifest: &'a Manifest,
    /// Its trials.
    pub trials: &'a [Trial],
}

/// Everything that is a metric of a run. `response_times` has a trial's times in full, where they were kept; it is asked
/// once a measured trial, so that the times of one trial at a time are in memory.
pub fn of_run(
    run: &ExportedRun<'_>,
    response_times: &mut dyn FnMut(&Trial) -> Option<stats::Distribution>,
) -> Vec<Family> {
    let mut families = Families::default();
    add_run(&mut families, run.manifest);
    for trial in run.trials {
        let labels = trial_labels(run.manifest, trial);
        let measured = match &trial.result {
            TrialResult::Measured(measured) => Some(&**measured),
            TrialResult::Failed { .. } => None,
        };
        let length_s = measured.map_or(0.0, |it| it.load.window.duration_s);
        let span = Span::from_rfc3339(&trial.started, length_s);
        let to = &mut Adder { families: &mut families, labels: &labels, span };
        let help = "1 where the trial was measured, 0 where its stack did not build, boot, answer as expected, or live";
        to.count("trial_measured", Unit::None, measured.is_some(), help);
        let Some(measured) = measured else { continue };
        add_server(to, measured);
        let validity = audit_trial(measured, ceiling_of(run.trials, &CellName::of(trial)));
        let times = response_times(trial);
        let result = &measured.load;
        let load = ExportedLoad {
            result,
            validity: &validity,
            response_times: times.as_ref(),
            labels: &labels,
            span,
        };
        add_load(&mut families, &load);
    }
    add_verdicts(&mut families, run);
    families.into_vec()
}

/// What a trial is of. The load is the cell's, so that it is one label for every stack of a table.
fn trial_labels(manifest: &Manifest, trial: &Trial) -> Labels {
    let cell = CellName::of(trial);
    cell_labels(manifest, &cell).with("block", trial.block.to_string()).with("role", json_name(&trial.role))
}

fn cell_labels(manifest: &Manifest, cell: &CellName) -> Labels {
    Labels::default()
        .with("experiment", &*manifest.title)
        .with("round", &*cell.round)
        .with("load", cell.load.to_string())
        .with("driver", json_name(&cell.driver))
        .with("stack", &*cell.stack)
}

fn add_run(families: &mut Families, manifest: &Manifest) {
    let machine = &manifest.machine;
    let labels = Labels::default()
        .with("experiment", &*manifest.title)
        .with("version", &*manifest.proofload)
        .with("pace", if manifest.quick { "quick" } else { manifest.pace.as_str() })
        .with("kernel", machine.kernel.as_deref().unwrap_or_default())
        .with("cpu", machine.cpu.as_deref().unwrap_or_default());
    let span = Span::from_rfc3339(&manifest.started, 0.0);
    let info = Metric::info("run", "What was run, by what, and on what");
    families.add(info, Sample { labels, value: Value::Count(1), span });
    let labels = Labels::default().with("experiment", &*manifest.title);
    let to = &mut Adder { families, labels: &labels, span };
    to.count("machine_cores", Unit::Cores, machine.cores as u64, "Cores that Proofload might use");
}

/// The server's side, and what stood behind it.
fn add_server(to: &mut Adder<'_>, measured: &Measured) {
    let Server { cpu_us_per_request, cpu_cores, rss_bytes_max, threads_max, boot_s, .. } = &measured.server;
    to.gauge(
        "server_cpu_per_request",
        Unit::Seconds,
        cpu_us_per_request.map(|us| us / 1e6),
        "CPU time of the stack a request done, user and system",
    );
    to.gauge("server_cpu_cores", Unit::Cores, *cpu_cores, "Cores that the stack kept busy");
    if let Some(bytes) = *rss_bytes_max {
        let help = "Most resident memory of the stack that was seen";
        to.count("server_memory_max", Unit::Bytes, bytes, help);
    }
    if let Some(threads) = *threads_max {
        let help = "Most threads of the stack that were seen";
        to.count("server_threads_max", Unit::Threads, threads, help);
    }
    to.gauge("server_boot", Unit::Seconds, *boot_s, "From the stack's start to its first good answer");
    for upstream in &measured.upstreams {
        let server = &upstream.server;
        if let Some(us) = server.cpu_us_per_request {
            let help = "CPU time of what stood behind the stack a request that the load saw done";
            let metric = Metric::gauge("upstream_cpu_per_request", Unit::Seconds, help);
            to.labelled(metric, "upstream", &upstream.stack, Value::Number(us / 1e6));
        }
        if let Some(cores) = server.cpu_cores {
            let help = "Cores that what stood behind the stack kept busy";
            let metric = Metric::gauge("upstream_cpu_cores", Unit::Cores, help);
            to.labelled(metric, "upstream", &upstream.stack, Value::Number(cores));
        }
    }
}

/// Why each cell stopped where it did. A verdict has the time of its cell's last trial.
fn add_verdicts(families: &mut Families, run: &ExportedRun<'_>) {
    for cell in explain_cells(run.trials, run.manifest.machine.cores) {
        let last = run.trials.iter().rfind(|trial| cell.is_of(&CellName::of(trial)));
        let span = last.and_then(|trial| Span::from_rfc3339(&trial.started, 0.0));
        let name = last.map(CellName::of);
        let Some(name) = name else { continue };
        let first = cell.explanation.first();
        let labels = cell_labels(run.manifest, &name)
            .with("verdict", json_name(&first.kind))
            .with("confidence", json_name(&first.confidence));
        let help = "What held the server back, of the cell's trial nearest the median";
        families.add(Metric::info("verdict", help), Sample { labels, value: Value::Count(1), span });
    }
}
