//! A run as one document, of which the HTML report and the other forms for programs are made.

mod answers;
mod details;
pub mod model;
mod sweeps;
mod tables;
mod timeline;

use explain::{capacity, differences_within, explain_cells};
use plan::WriteUp;
use record::{LoggedInterval, Manifest, SignalReading, StackManifest, Trial, TrialResult};

use self::model::{Confirmed, Failure, Missing, PAGE_VERSION, Page, RunFacts, StackFacts, WorkDifference};
use crate::agents::loaded_from;
use crate::claims::ClaimsReport;
use crate::ranking::Ranking;
use crate::ranking::choice::choices;

/// What was kept of a trial beside its line.
#[derive(Debug, Clone, Default)]
pub struct TrialDetail {
    /// Its response times, second by second; empty where there are none.
    pub intervals: Vec<LoggedInterval>,
    /// What the sampler read; empty where it did not.
    pub readings: Vec<SignalReading>,
}

/// A run as read from its directory.
#[derive(Clone, Copy)]
pub struct PageOf<'a> {
    /// What it was.
    pub manifest: &'a Manifest,
    /// What was measured.
    pub trials: &'a [Trial],
    /// Where it lies, as the user would name it.
    pub dir: &'a str,
    /// The experiment file, whole.
    pub experiment: &'a str,
    /// The write-up that it replicates, if it does.
    pub write_up: Option<&'a WriteUp>,
    /// Predictions that were put to the test, by cell: round, load, stack.
    pub confirmations: &'a [record::ConfirmationRecord],
    /// Reads what was kept of a trial, by its index. It is asked for one trial a cell.
    pub detail: &'a dyn Fn(u32) -> TrialDetail,
    /// Version of Proofload that makes the document.
    pub version: &'a str,
}

/// Makes the document.
pub fn page(of: &PageOf<'_>) -> Page {
    let explained = explain_cells(of.trials, of.manifest.machine.cores);
    let rankings = Ranking::all(of.trials, of.manifest.ends_when_decided());
    let tables::Ranked { tables, answers, cells } = tables::ranked(of, &rankings, &explained);
    let capacities = capacity(of.trials);
    Page {
        version: PAGE_VERSION,
        proofload: of.version.to_owned(),
        run: run_facts(of),
        answers,
        choices: choices(&rankings, of.trials, &explained),
        sweeps: sweeps::sweeps(of.trials, &tables, &cells, &capacities),
        tables,
        cells,
        // One level says nothing of how a rate grows.
        capacities: capacities.into_iter().filter(|it| it.levels.len() > 1).collect(),
        same_work: differences_within(of.trials)
            .into_iter()
            .map(|(round, it)| WorkDifference { round, aspect: it.aspect, values: it.values })
            .collect(),
        claims: of.write_up.map(|write_up| ClaimsReport::of(write_up, of.manifest, of.trials, of.dir)),
        missing: missing(of),
    }
}

fn run_facts(of: &PageOf<'_>) -> RunFacts {
    let manifest = of.manifest;
    let pace = match (manifest.pace.as_str(), manifest.quick) {
        ("", true) => "quick",
        ("", false) => "full",
        (pace, _) => pace,
    };
    RunFacts {
        title: manifest.title.clone(),
        dir: of.dir.to_owned(),
        started: manifest.started.clone(),
        proofload: manifest.proofload.clone(),
        argv: manifest.argv.clone(),
        experiment: of.experiment.to_owned(),
        seed: manifest.seed,
        pace: pace.to_owned(),
        placement: manifest.placement.clone(),
        sides: manifest.sides.clone(),
        processes: manifest.processes.clone(),
        loaded_from: loaded_from(of.trials),
        blocks: manifest.blocks,
        blocks_max: manifest.blocks_max.max(manifest.blocks),
        trials: of.trials.len(),
        trials_planned: manifest.trials,
        machine: manifest.machine.clone(),
        tools: manifest.tools.clone(),
        stacks: manifest.stacks.iter().map(|(id, stack)| (id.clone(), stack_facts(stack))).collect(),
    }
}

fn stack_facts(stack: &StackManifest) -> StackFacts {
    StackFacts {
        title: stack.title.clone(),
        inputs: stack.inputs.clone(),
        jdk: stack.jdk.clone(),
        upstreams: stack.upstreams.keys().cloned().collect(),
    }
}

fn missing(of: &PageOf<'_>) -> Missing {
    let failures = of.trials.iter().filter_map(|trial| match &trial.result {
        TrialResult::Failed { error } => Some(Failure {
            round: trial.round.clone(),
            load: trial.load.clone(),
            stack: trial.stack.clone(),
            driver: trial.driver,
            block: trial.block.saturating_add(1),
            error: error.clone(),
        }),
        TrialResult::Measured(_) => None,
    });
    let is_unseen = |stack: &&String| of.trials.iter().all(|trial| trial.stack != **stack);
    Missing {
        failures: failures.collect(),
        left_out: of.manifest.left_out.clone(),
        not_reached: of.manifest.stacks.keys().filter(is_unseen).cloned().collect(),
    }
}

impl Confirmed {
    fn of(record: &record::ConfirmationRecord) -> Self {
        Self {
            variant: record.variant.clone(),
            levels: record.levels.iter().map(|it| [f64::from(it.users), it.goodput_per_s]).collect(),
            before_per_s: record.before_per_s,
            predicted_per_s: record.predicted_per_s,
            measured_per_s: record.measured_per_s,
            outcome: record.outcome.clone(),
            why: record.why.clone(),
        }
    }
}
