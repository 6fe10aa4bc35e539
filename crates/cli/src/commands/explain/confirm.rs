//! `--confirm`: the change that a verdict names, carried out and measured beside the stack as it was.

use std::path::Path;

use explain::{CellExplanation, Confirmation, Intervention, Outcome, Setting, explain_cells, typical};
use lab::experiment::{Bench, carry_out};
use lab::pair::experiment_text;
use plan::stack::{Catalogue, InterventionOn, StackManifest};
use plan::{Experiment, Pace};
use record::{
    CONFIRMATION_VERSION, CellName, ConfirmationRecord, Measured, RunDir, Trial, TrialResult,
    append_confirmation, trials_of,
};
use report::confirmation_text;
use serde::Serialize;

use crate::arguments::explain::Explain;
use crate::commands::run::{own_binary, run_dir};
use crate::commands::stacks::name_broken;
use crate::exit::Failure;
use crate::interrupt;
use crate::output::print;
use crate::progress::RunProgress;

/// What became of the first verdict of a cell.
#[derive(Debug, Serialize)]
pub struct Tried {
    round: String,
    load: String,
    stack: String,
    /// Why nothing was.
    #[serde(rename = "not_tried", skip_serializing_if = "Option::is_none")]
    why_not: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmation: Option<Confirmation>,
    /// The run that measured it.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<String>,
}

impl Tried {
    /// Whether the prediction did not come true at all.
    pub fn is_refuted(&self) -> bool {
        self.confirmation.as_ref().is_some_and(|it| it.outcome == Outcome::Refuted)
    }

    fn of(cell: &CellExplanation) -> Self {
        let CellExplanation { round, load, stack, .. } = cell.clone();
        Self { round, load, stack, why_not: None, confirmation: None, run: None }
    }
}

/// Tries the first verdict of each cell, where a variant of its stack makes the change.
pub fn confirm(
    arguments: &Explain,
    trials: &[Trial],
    cells: &[CellExplanation],
) -> Result<Vec<Tried>, Failure> {
    let catalogue = Catalogue::load(&arguments.stacks.dir)?;
    let recorded = Experiment::read(&RunDir::experiment_path(&arguments.run), &catalogue, Pace::Full)?;
    name_broken(&catalogue);
    let control = interrupt::on_signals()?;
    let (proofload_exe, argv) = (own_binary()?, std::env::args().collect::<Vec<String>>());
    let bench = Bench {
        catalogue: &catalogue,
        proofload_exe: &proofload_exe,
        version: env!("CARGO_PKG_VERSION"),
        argv: &argv,
        interrupt: &control,
        until: None,
    };
    let mut all = Vec::new();
    for cell in cells {
        if control.is_interrupted() {
            break;
        }
        let tried = try_one(arguments, trials, cell, &recorded, &bench)?;
        if !arguments.json {
            print(&told(&tried))?;
        }
        all.push(tried);
    }
    Ok(all)
}

fn told(tried: &Tried) -> String {
    let Tried { round, load, stack, why_not, confirmation, run } = tried;
    let of = format!("\n{round}, {load}, {stack}");
    match (confirmation, why_not) {
        (Some(confirmation), _) => {
            format!(
                "{of}\n  {}\n  Full record: {}",
                confirmation_text(confirmation),
                run.as_deref().unwrap_or("")
            )
        }
        (None, why) => format!("{of}\n  not tried: {}", why.as_deref().unwrap_or("it was interrupted")),
    }
}

fn try_one(
    arguments: &Explain,
    trials: &[Trial],
    cell: &CellExplanation,
    recorded: &Experiment,
    bench: &Bench<'_>,
) -> Result<Tried, Failure> {
    let tried = Tried::of(cell);
    let not = |why: String| Ok(Tried { why_not: Some(why), ..Tried::of(cell) });
    if !cell.driver.is_own() {
        return not(format!(
            "it was loaded by {}, and an intervention is measured by our own engine",
            cell.driver.name()
        ));
    }
    let first = cell.explanation.first();
    let Some((change, setting)) = first.confirm.as_ref().and_then(|change| Some((change, change.setting?)))
    else {
        return not(format!("no variant could change what `{}` names", first.phrase));
    };
    let Some((variant, factor)) = variant_for(bench.catalogue, &cell.stack, setting, change) else {
        return not(format!("{} has no variant that changes its {} alone", cell.stack, on(setting)));
    };
    let Some(measured) = typical_of(trials, cell) else { return not("it has no measured trial".into()) };
    let endpoint = recorded
        .rounds
        .iter()
        .find(|round| round.name == cell.round)
        .and_then(|round| round.cells.iter().find(|it| it.stack == cell.stack))
        .map(|it| it.endpoint.name.clone());
    let Some(endpoint) = endpoint else { return not("the experiment on record does not name it".into()) };
    let title = format!("{}: {}", cell.stack, first.phrase);
    let text = experiment_text(&title, &endpoint, measured, [&cell.stack, &variant.id])?;
    let experiment = Experiment::parse(Path::new("confirm.toml"), &text, bench.catalogue, Pace::Full)?;
    let dir = run_dir(&arguments.runs, &format!("confirm-{}", cell.stack));
    let mut progress = RunProgress::new(arguments.quiet, None)?;
    let ended = carry_out(&experiment, &dir, bench, &mut |event| progress.observe(&event));
    progress.finish(&ended);
    let ended = ended?;
    if ended.interrupted {
        return Ok(tried);
    }
    let confirmation = compared(&ended.dir, &cell.stack, &variant.id, change, factor)?;
    if let Some(confirmation) = &confirmation {
        append_confirmation(&arguments.run, &on_record(cell, confirmation, &ended.dir))?;
    }
    Ok(Tried { confirmation, run: Some(ended.dir.display().to_string()), ..tried })
}

/// As it is kept with the run that it is of, where its report finds it.
fn on_record(cell: &CellExplanation, of: &Confirmation, run: &Path) -> ConfirmationRecord {
    ConfirmationRecord {
        version: CONFIRMATION_VERSION,
        round: cell.round.clone(),
        load: cell.load.clone(),
        stack: cell.stack.clone(),
        variant: of.variant.clone(),
        before_per_s: of.before_per_s,
        predicted_per_s: of.predicted_per_s,
        measured_per_s: of.measured_per_s,
        outcome: of.outcome.key().to_owned(),
        run: run.display().to_string(),
    }
}

/// The variant that changes the limit by about as much as doubling it does, and by how much.
fn variant_for<'a>(
    catalogue: &'a Catalogue,
    stack: &str,
    setting: Setting,
    change: &Intervention,
) -> Option<(&'a StackManifest, Option<f64>)> {
    let fits = |stack: &&'a StackManifest| {
        let named = stack
            .variant
            .as_ref()
            .and_then(|it| it.intervention.as_ref())
            .and_then(|it| it.threads.as_deref());
        named.is_none_or(|named| change.threads.iter().any(|name| signals::is_group_of(name, named)))
    };
    let with_factor = |stack: &'a StackManifest| {
        let intervention = stack.variant.as_ref()?.intervention.as_ref()?;
        Some((stack, intervention.factor_over(change.now.unwrap_or(0.0))))
    };
    let off = |it: &(&StackManifest, Option<f64>)| (it.1.unwrap_or(2.0) / 2.0).ln().abs();
    catalogue
        .interventions(stack, on(setting))
        .into_iter()
        .filter(fits)
        .filter_map(with_factor)
        .min_by(|a, b| off(a).total_cmp(&off(b)))
}

const fn on(setting: Setting) -> InterventionOn {
    match setting {
        Setting::Pool => InterventionOn::Pool,
        Setting::UpstreamPool => InterventionOn::UpstreamPool,
        Setting::AcceptQueue => InterventionOn::AcceptQueue,
        Setting::Heap => InterventionOn::Heap,
        Setting::KeepAlive => InterventionOn::KeepAlive,
        Setting::Collector => InterventionOn::Collector,
        Setting::Cores => InterventionOn::Cores,
    }
}

fn typical_of<'a>(trials: &'a [Trial], cell: &CellExplanation) -> Option<&'a Measured> {
    let of_cell = trials_of(trials, |trial| cell.is_of(&CellName::of(trial)));
    let measured: Vec<&Measured> = of_cell
        .filter_map(|trial| match &trial.result {
            TrialResult::Measured(measured) => Some(&**measured),
            TrialResult::Failed { .. } => None,
        })
        .collect();
    typical(&measured)
}

/// The rates of the two, and what was predicted from that of the stack as it was in the same blocks.
fn compared(
    dir: &Path,
    stack: &str,
    variant: &str,
    change: &Intervention,
    factor: Option<f64>,
) -> Result<Option<Confirmation>, Failure> {
    let (manifest, trials) = (RunDir::read_manifest(dir)?, RunDir::read_trials(dir)?);
    let cells = explain_cells(&trials, manifest.machine.cores);
    let rate = |id: &str| cells.iter().find(|cell| cell.stack == id).map(|cell| cell.goodput_per_s);
    let Some((before, after)) = rate(stack).zip(rate(variant)) else { return Ok(None) };
    // A limit without a size is lifted: what is left then is what the verdict took the rate to be without it.
    let predicted = factor.map_or(change.rate_per_s, |factor| change.predict(factor));
    let moved = if change.rate_per_s > 0.0 && factor.is_some() { before / change.rate_per_s } else { 1.0 };
    Ok(Some(Confirmation::of(variant, before, predicted * moved, after)))
}
