//! A gate on its way from arguments to files and an exit code.

use std::path::{Path, PathBuf};

use events::Moment;
use explain::{LoadsBefore, RecordedRun, RunsBefore, gate_load, gate_run, gate_without};
use lab::experiment::Ended;
use plan::gate::{self, Condition};
use plan::{PlanError, shell};
use record::{GATE_FILE, GateAnswer, GateResult, LoadResult};
use stats::Batches;

use crate::arguments::gate::{AgainstBaseline, Gate};
use crate::exit::{self, Failure};
use crate::kept;
use crate::output::{each_has_its_own, print, say, write_into_run, write_whole};
use crate::recorded::Recorded;

/// The exit code of a gate's answer; of one that passed, that of whatever else was asked.
pub const fn code(answer: GateAnswer, otherwise: u8) -> u8 {
    match answer {
        GateAnswer::Passed => otherwise,
        GateAnswer::Failed => exit::SERVICE,
        GateAnswer::CouldNotTell => exit::COULD_NOT_TELL,
    }
}

/// The gate of a load, and what is known of it so far.
pub struct LoadGate<'a> {
    arguments: &'a Gate,
    gate: gate::Gate,
    before: Option<LoadsBefore>,
    batches: Batches,
}

impl<'a> LoadGate<'a> {
    /// `None` where nothing is asked. What a load alone can't know is refused before anything is sent, and so is what can't be of
    /// so many requests, where it is known how many there are.
    pub fn open(
        arguments: &'a Gate,
        before: Option<LoadsBefore>,
        requests_max: Option<u64>,
    ) -> Result<Option<Self>, Failure> {
        let asked = gate::Gate::new(arguments.fail_if.clone(), gate::Against::default())?;
        let Some(gate) = asked.or_else(|| before.is_some().then(gate::Gate::default)) else {
            return nothing_asked(arguments, "give a --fail-if").map(|()| None);
        };
        if let Some(condition) = gate.beyond_a_load() {
            return Err(beyond_a_load(condition).into());
        }
        gate::can_hold(&gate.fail_if, requests_max)?;
        can_be_written(arguments)?;
        Ok(Some(Self { arguments, gate, before, batches: Batches::default() }))
    }

    /// Takes in what a load tells of an interval.
    pub fn see(&mut self, moment: &Moment<'_>) {
        if let Moment::Interval { from, interval, .. } = moment {
            self.batches.add(*from, interval);
        }
    }

    /// What comes of it.
    pub fn judge(&self, result: &LoadResult) -> GateResult {
        gate_load(&self.gate, result, &self.batches, self.before.as_ref())
    }

    /// Writes the files that were asked for.
    pub fn write(&self, url: &str, judged: &GateResult) -> Result<(), Failure> {
        write_files(self.arguments, url, judged, "")
    }
}

fn beyond_a_load(condition: &Condition) -> PlanError {
    let what = format!("`{condition}` is about the server itself, which a load from outside can't see");
    PlanError::new(what, "leave it out, or have `proofload run` start the server (docs/gate.md)")
}

/// Refuses files that can't be where they are named, or are one for both, before anything is measured for them.
pub fn can_be_written(arguments: &Gate) -> Result<(), Failure> {
    let named = [("--junit", &arguments.junit), ("--markdown", &arguments.markdown)];
    each_has_its_own(named.map(|(option, path)| (option, path.as_deref())))?;
    for path in [&arguments.junit, &arguments.markdown].into_iter().flatten() {
        let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let why = match (path.is_dir(), folder.is_dir()) {
            (true, _) => "it is a folder",
            (false, false) => "its folder is not there",
            (false, true) => continue,
        };
        let path = path.display();
        return Err(Failure::system(format!("{path} can't be written: {why}; check the path")));
    }
    Ok(())
}

/// Files of a gate that is none are a mistake.
fn nothing_asked(arguments: &Gate, help: &str) -> Result<(), Failure> {
    let files = [("--junit", &arguments.junit), ("--markdown", &arguments.markdown)];
    match files.into_iter().find(|(_, path)| path.is_some()) {
        Some((option, _)) => {
            let what = format!("{option} writes what came of a gate, and there is none");
            Err(PlanError::new(what, help).into())
        }
        None => Ok(()),
    }
}

/// The gate that arguments ask of a run, beside that of its experiment.
pub fn of_run(
    arguments: &Gate,
    against: &AgainstBaseline,
    of_experiment: Option<gate::Gate>,
) -> Result<Option<gate::Gate>, Failure> {
    let typed = gate::Gate::new(arguments.fail_if.clone(), against.against())?;
    let gate = match (of_experiment, typed) {
        (Some(written), Some(typed)) => Some(written.and(typed)),
        (written, typed) => written.or(typed),
    };
    if let Err(error) = gate.as_ref().map_or(Ok(()), gate::Gate::is_against_some) {
        if against.max_loss.is_some() {
            return Err(error.into());
        }
        // Nobody is to think that this run is held to it.
        say(
            "proofload: max_loss of [gate] is for `proofload diff`; a run is held to it with a baseline or last_runs",
        );
    }
    let gate = gate.filter(gate::Gate::asks_something);
    if gate.is_none() {
        nothing_asked(arguments, "give a --fail-if, or the experiment a [gate]")?;
    }
    can_be_written(arguments)?;
    Ok(gate)
}

/// The options of a gate as they were typed, each behind a space: a run that goes on has to be told them again, in a folder from
/// which paths are `seen` so.
pub fn typed(arguments: &Gate, against: &AgainstBaseline, seen: &dyn Fn(&Path) -> PathBuf) -> String {
    let conditions =
        arguments.fail_if.iter().map(|it| format!(" --fail-if {}", shell::quoted(&it.to_string())));
    let baseline = against.baseline.iter().map(|it| format!(" --baseline {}", shell::quoted(it)));
    let last_runs = against.last_runs.iter().map(|it| format!(" --last-runs {it}"));
    let loss = against.max_loss.iter().map(|it| format!(" --max-loss {}", shell::quoted(&it.to_string())));
    let files = [("--junit", &arguments.junit), ("--markdown", &arguments.markdown)];
    let files = files.into_iter().filter_map(|(option, path)| {
        path.as_ref().map(|path| format!(" {option} {}", shell::quoted_path(&seen(path))))
    });
    conditions.chain(baseline).chain(last_runs).chain(loss).chain(files).collect()
}

/// Holds a run against its gate: prints what came of it, leaves it with the run, and writes the files that were
/// asked for.
pub fn judge_run(arguments: &Gate, gate: &gate::Gate, ended: &Ended) -> Result<GateAnswer, Failure> {
    let dir = &ended.dir;
    let run = Recorded::read(dir)?;
    let RecordedRun { manifest, trials, .. } = run.as_run();
    let before = gate.last_runs.map(|_| runs_before(dir, run.as_run())).transpose()?.unwrap_or_default();
    let keeps_processes = manifest.processes == plan::Processes::Kept.name();
    let judged = gate_run(gate, trials, keeps_processes, &before);
    let judged = gate_without(judged, &ended.left_out);
    print(&format!("\n{}", report::gate_text(&judged)))?;
    leave(arguments, dir, &manifest.title, &judged, "")?;
    Ok(judged.answer)
}

/// What the runs came to that lie beside the one in `dir`. One that failed its own gate is no measure for others: held against it,
/// the next one as bad would pass.
fn runs_before(dir: &Path, run: RecordedRun<'_>) -> Result<RunsBefore, Failure> {
    let mut before = RunsBefore::of(run);
    // Named from within its folder, a run has no other path to that.
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    for other in kept::run_dirs(dir.parent().unwrap_or(Path::new(".")))? {
        let has_failed = GateResult::of_run(&other).is_some_and(|it| it.answer == GateAnswer::Failed);
        if has_failed || other == dir {
            continue;
        }
        // One at a time; what can't be read is told by `history`.
        if let Ok(other) = Recorded::read(&other) {
            before.add(other.as_run());
        }
    }
    Ok(before)
}

/// Leaves what came of a gate with the run in `dir`, and writes the files that were asked for; in Markdown with `below` under
/// it.
pub fn leave(
    arguments: &Gate,
    dir: &Path,
    name: &str,
    judged: &GateResult,
    below: &str,
) -> Result<(), Failure> {
    write_into_run(&dir.join(GATE_FILE), format!("{}\n", judged.json()).as_bytes())?;
    write_files(arguments, name, judged, below)
}

fn write_files(arguments: &Gate, name: &str, judged: &GateResult, below: &str) -> Result<(), Failure> {
    if let Some(path) = &arguments.junit {
        write_whole(path, report::gate_junit(name, judged).as_bytes())?;
    }
    if let Some(path) = &arguments.markdown {
        let gate = report::gate_markdown(name, judged);
        let text = if below.is_empty() { gate } else { format!("{gate}\n{below}") };
        write_whole(path, text.as_bytes())?;
    }
    Ok(())
}
