//! Two recorded runs compared: what differs in what they are of, and what changed in what they found.
//!
//! Blocks of two runs have nothing to do with each other, so cells are compared by the rank-sum test and its shift
//! (`stats::TwoSamples`), by goodput, and where a rate is asked for by the 99th percentile. A trial that brought nothing good is
//! the worst there is, and no trial less: how many of those there are is compared by Fisher's test, and the share of requests
//! that failed in a trial by the rank-sum test. Holm's method goes over all tests of all cells. That nothing got worse is said
//! where an interval says so, and not where no test says otherwise. Where the runs differ in more than the stack
//! (`crate::conditions`), no change is the stack's alone, and none is called. `docs/compare.md` states the rules.

mod beside;
mod inputs;
mod side;
mod tests_of_cells;
mod verdict;

use std::collections::BTreeMap;

use record::{CellName, Driver, Manifest, RankedBy, Trial, cells, measured_by_block, measured_controls};
use serde::Serialize;
use stats::{Least, Ratio};

pub use self::beside::WithinRuns;
use self::side::Side;
use self::tests_of_cells::{Adjusted, CellTests};
use crate::conditions::{Conditions, RunDifference};
use crate::usable::median;

/// Version of [`RunsCompared`] as JSON. 2: at a rate `ratio` is of the 99th percentile, and *unchanged* is said of an interval alone.
const COMPARE_VERSION: u32 = 2;

/// A run as read from its directory.
#[derive(Debug, Clone, Copy)]
pub struct RecordedRun<'a> {
    /// What it was.
    pub manifest: &'a Manifest,
    /// What was measured.
    pub trials: &'a [Trial],
    /// The text of its experiment.
    pub experiment: &'a str,
    /// Where it lies, as the user would name it.
    pub dir: &'a str,
}

/// Two runs compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunsCompared {
    /// Version of this form.
    pub version: u32,
    /// The first run.
    pub a: RunSide,
    /// The second run.
    pub b: RunSide,
    /// The loss that is allowed, as a share.
    pub threshold: f64,
    /// What differs in what they are of.
    pub differences: Vec<RunDifference>,
    /// What the client could do at all in both runs, where they have controls: a change of it is the machine's.
    pub controls: Vec<ControlChange>,
    /// What changed, by cell.
    pub cells: Vec<CellChange>,
    /// Cells of the first run only.
    pub only_in_a: Vec<String>,
    /// Cells of the second run only.
    pub only_in_b: Vec<String>,
}

/// One of two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunSide {
    /// Its directory, as the user named it.
    pub dir: String,
    /// Its experiment's title.
    pub title: String,
    /// When it started, RFC 3339.
    pub started: String,
    /// Trials made.
    pub trials: usize,
    /// Trials planned.
    pub planned: u32,
}

/// The controls of a round at a load, in both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ControlChange {
    /// The round.
    pub round: String,
    /// The load, in words.
    pub load: String,
    /// What made it; absent where it was our own engine.
    #[serde(skip_serializing_if = "Driver::is_own")]
    pub driver: Driver,
    /// Their median goodputs, 1/s.
    pub goodput_per_s: [f64; 2],
    /// The second over the first.
    pub ratio: f64,
}

/// What became of a cell from one run to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeVerdict {
    /// It lost more than is allowed, more of its trials or of its requests fail, or it no longer answers.
    Worse,
    /// It surely lost no more than is allowed, if anything.
    AllowedLoss,
    /// It gained.
    Better,
    /// It surely changed by no more than counts.
    Unchanged,
    /// What was measured is in line with more than one of these, or more than the stack is another.
    CouldNotTell,
    /// So few trials can't show it.
    TooFew,
}

/// In what a cell got worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorseBy {
    /// It answered in the first run, and in the second no trial brought a good answer.
    NoGoodAnswer,
    /// More of its trials failed or brought no good answer.
    FailedTrials,
    /// A larger share of its requests failed.
    FailedRequests,
    /// Its goodput fell.
    Goodput,
    /// At the rate that was asked for, its 99th percentile grew.
    ResponseP99,
}

impl WorseBy {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoGoodAnswer => {
                "it answered in the first run, and in the second no trial brought a good answer"
            }
            Self::FailedTrials => "more trials failed",
            Self::FailedRequests => "more requests failed",
            Self::Goodput => "less goodput",
            Self::ResponseP99 => "longer p99",
        }
    }
}

impl ChangeVerdict {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::AllowedLoss => "within what is allowed",
            Self::Better => "better",
            Self::Unchanged => "no change",
            Self::CouldNotTell => "could not tell",
            Self::TooFew => "too few trials",
        }
    }
}

/// A figure that may be only a lower bound.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bounded {
    /// The figure.
    pub value: f64,
    /// Whether the truth is known only to be above it.
    pub is_lower_bound: bool,
}

/// A cell in both runs. Pairs of figures are of the first run and of the second.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellChange {
    /// The round.
    pub round: String,
    /// The load, in words.
    pub load: String,
    /// What made it; absent where it was our own engine.
    #[serde(skip_serializing_if = "Driver::is_own")]
    pub driver: Driver,
    /// The stack.
    pub stack: String,
    /// By what it is compared.
    pub ranked_by: RankedBy,
    /// Trials whose goodput counts. One that failed or brought no good answer counts as a goodput of 0.
    pub trials: [usize; 2],
    /// Of those, the ones that failed or brought no good answer.
    pub failed_trials: [usize; 2],
    /// How often chance alone would put as many of the failures into the second run, adjusted; absent where there is none.
    pub failed_trials_p: Option<f64>,
    /// Share of the requests that brought no good answer, mean over the trials.
    pub failed_share: [Option<f64>; 2],
    /// How often chance alone would bring shares as much higher in the second run, adjusted; absent where nothing failed.
    pub failed_share_p: Option<f64>,
    /// Their median goodputs, 1/s.
    pub goodput_per_s: [Option<f64>; 2],
    /// What it is compared by: the second over the first.
    pub ratio: Option<f64>,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// How often chance alone would bring as much, adjusted for the tests of all cells.
    pub p: f64,
    /// What is no further from 1 is no change, as a share: 2 %, or how far a stack and its twin were apart in its table.
    pub least_effect: f64,
    /// In each run, a stack over its twin in its table; absent where there is none.
    pub twins: [Option<f64>; 2],
    /// What became of it.
    pub verdict: ChangeVerdict,
    /// In what it got worse, where it did.
    pub worse_by: Vec<WorseBy>,
    /// Why nothing could be told, where that is so.
    pub why: Option<String>,
    /// What beside the stack was another in the two runs.
    pub conditions: Vec<String>,
    /// How it stands beside the control or another stack of its own run, where conditions were others.
    pub within: Option<WithinRuns>,
    /// 99th percentile of response time, µs: the middle one of the trials'.
    pub response_p99_us: [Option<Bounded>; 2],
    /// Server CPU time a request, with what stands behind it, µs: the median of the trials'.
    pub cpu_us_per_request: [Option<f64>; 2],
    /// Trials that failed or were not used, and what the audit says.
    pub notes: Vec<String>,
}

impl CellChange {
    /// Whether more of its trials failed, or brought no good answer, and so few can't tell whether that is chance.
    pub fn is_rise_of_failures_open(&self) -> bool {
        self.verdict == ChangeVerdict::TooFew && is_rise(self.failed_trials, self.trials)
    }
}

impl RunsCompared {
    /// How many cells came to a verdict.
    pub fn count(&self, verdict: ChangeVerdict) -> usize {
        self.cells.iter().filter(|it| it.verdict == verdict).count()
    }

    /// Of how many cells it could not be told what became of them.
    pub fn open(&self) -> usize {
        self.count(ChangeVerdict::CouldNotTell) + self.count(ChangeVerdict::TooFew)
    }

    /// Of how many cells it could not be told whether more of their trials fail.
    pub fn open_rises(&self) -> usize {
        self.cells.iter().filter(|it| it.is_rise_of_failures_open()).count()
    }
}

/// Whether a larger share of the second run's trials failed.
fn is_rise(failed: [usize; 2], trials: [usize; 2]) -> bool {
    failed[1] * trials[0] > failed[0] * trials[1]
}

/// Compares the cells that two runs have in common. `threshold` is the loss that is allowed, as a share; nothing nearer
/// than [`stats::LEAST_EFFECT`] is called a change.
pub fn compare_runs(a: RecordedRun<'_>, b: RecordedRun<'_>, threshold: f64) -> RunsCompared {
    let (of_a, of_b) = (cells(a.trials), cells(b.trials));
    let common: Vec<&CellName> = of_a.iter().filter(|cell| of_b.contains(cell)).collect();
    let only = |own: &[CellName], other: &[CellName]| {
        own.iter().filter(|cell| !other.contains(cell)).map(name).collect::<Vec<String>>()
    };
    let both: Vec<InBoth<'_>> = common.iter().map(|cell| InBoth::of(a, b, cell)).collect();
    let tests: Vec<CellTests> = both.iter().map(|it| CellTests::of(&it.sides[0], &it.sides[1])).collect();
    let (adjusted, tested) = tests_of_cells::adjusted(&tests);
    let of_figures = tests_of_cells::of_figures(&tests);
    let compared = both.iter().zip(tests.iter().zip(adjusted)).map(|(cell, (tests, p))| {
        let twins = [a, b].map(|run| beside::twin(run.trials, cell.name, cell.ranked_by));
        let least = twins.iter().flatten().fold(Least::KNOWN, |least, twin| least.beside(*twin));
        let found = Found { tests, p, tested, of_figures, threshold, least };
        let within = cell.is_under_others().then(|| beside::within([a.trials, b.trials], cell.name, &common));
        change(cell, &found, twins, within.flatten())
    });
    let compared: Vec<CellChange> = compared.collect();
    let mut differences = inputs::differences(a, b);
    differences.extend(inputs::loads(&both));
    RunsCompared {
        version: COMPARE_VERSION,
        a: run_side(a),
        b: run_side(b),
        threshold,
        differences,
        controls: controls(a, b),
        cells: compared,
        only_in_a: only(&of_a, &of_b),
        only_in_b: only(&of_b, &of_a),
    }
}

/// A cell that two runs have in common.
struct InBoth<'a> {
    name: &'a CellName,
    ranked_by: RankedBy,
    sides: [Side<'a>; 2],
    /// What beside the stack was another in the second run.
    conditions: Vec<RunDifference>,
}

impl<'a> InBoth<'a> {
    fn of(a: RecordedRun<'a>, b: RecordedRun<'a>, name: &'a CellName) -> Self {
        let ranked_by = ranked_by(a.trials, b.trials, name);
        let conditions = [a, b].map(|run| Conditions::of(run.manifest, run.trials, name));
        Self {
            name,
            ranked_by,
            sides: [a, b].map(|run| Side::of(run.trials, name, ranked_by)),
            conditions: conditions[0].differences(&conditions[1]),
        }
    }

    /// Whether it stands for more than the stack, and a rate that it was asked for does not make it alike in both.
    fn is_under_others(&self) -> bool {
        !self.conditions.is_empty() && self.ranked_by == RankedBy::Goodput
    }
}

/// By what a cell is compared. Who keeps up with a rate carries just that, so that a change of it shows in how long it takes.
fn ranked_by(a: &[Trial], b: &[Trial], cell: &CellName) -> RankedBy {
    let first = |trials: &[Trial]| {
        let measured = measured_by_block(trials, |trial| CellName::of(trial) == *cell);
        measured.into_iter().flatten().next().map(RankedBy::of)
    };
    // Other programs' own clocks know no response times.
    first(a).or_else(|| first(b)).filter(|_| cell.driver.is_own()).unwrap_or_default()
}

fn controls(a: RecordedRun<'_>, b: RecordedRun<'_>) -> Vec<ControlChange> {
    let of = |run: RecordedRun<'_>| {
        let mut goodputs: BTreeMap<CellName, Vec<f64>> = BTreeMap::new();
        for (cell, measured) in measured_controls(run.trials) {
            let goodput = Some(measured.load.goodput_per_s).filter(|it| *it > 0.0 && it.is_finite());
            goodputs.entry(cell).or_default().extend(goodput);
        }
        goodputs
    };
    let mut of_b = of(b);
    let both = of(a).into_iter().filter_map(|(cell, of_a)| {
        let (a, b) = (median(&of_a)?, median(&of_b.remove(&cell)?)?);
        let CellName { round, load, driver, .. } = cell;
        let load = load.to_string();
        Some(ControlChange { round, load, driver, goodput_per_s: [a, b], ratio: b / a })
    });
    both.collect()
}

fn run_side(run: RecordedRun<'_>) -> RunSide {
    RunSide {
        dir: run.dir.to_owned(),
        title: run.manifest.title.clone(),
        started: run.manifest.started.clone(),
        trials: run.trials.len(),
        planned: run.manifest.trials,
    }
}

fn name(cell: &CellName) -> String {
    let by = if cell.driver.is_own() { String::new() } else { format!(" by {}", cell.driver.name()) };
    format!("{}, {}, {}{by}", cell.round, cell.load, cell.stack)
}

/// What the tests say of a cell.
struct Found<'a> {
    tests: &'a CellTests,
    p: Adjusted,
    /// Tests of all cells together.
    tested: usize,
    /// Those of them that are of figures.
    of_figures: usize,
    threshold: f64,
    least: Least,
}

fn change(
    cell: &InBoth<'_>,
    found: &Found<'_>,
    twins: [Option<Ratio>; 2],
    within: Option<WithinRuns>,
) -> CellChange {
    let InBoth { name, ranked_by, sides: [a, b], conditions } = cell;
    let (verdict, worse_by, why) = verdict::of(cell, found);
    let mut notes: Vec<String> = a.notes.iter().map(|note| format!("first run: {note}")).collect();
    notes.extend(b.notes.iter().map(|note| format!("second run: {note}")));
    if a.failed_trials == a.trials() && b.failed_trials == b.trials() && a.trials() + b.trials() > 0 {
        notes.push("no trial of either run brought a good answer: there is nothing to compare".into());
    }
    let [ratio, low, high] = shown(found.tests.shown(), *ranked_by);
    CellChange {
        round: name.round.clone(),
        load: name.load.to_string(),
        driver: name.driver,
        stack: name.stack.clone(),
        ranked_by: *ranked_by,
        trials: [a.trials(), b.trials()],
        failed_trials: [a.failed_trials, b.failed_trials],
        failed_trials_p: found.p.failed_trials,
        failed_share: [a.failed_share(), b.failed_share()],
        failed_share_p: found.p.failed_share,
        goodput_per_s: [median(&a.goodputs), median(&b.goodputs)],
        ratio,
        low,
        high,
        p: found.p.figure.unwrap_or(1.0),
        least_effect: found.least.effect,
        twins: twins.map(|it| it.map(|twin| twin.value)),
        verdict,
        worse_by,
        why,
        conditions: conditions.iter().map(|it| it.what.clone()).collect(),
        within,
        response_p99_us: [a.p99(), b.p99()],
        cpu_us_per_request: [a.cpu(), b.cpu()],
        notes,
    }
}

/// A ratio and its ends as those of the figures that are shown: of times, where these are compared.
fn shown(ratio: Option<Ratio>, ranked_by: RankedBy) -> [Option<f64>; 3] {
    let Some(Ratio { value, low, high }) = ratio else { return [None; 3] };
    let of = |it: f64| Some(ranked_by.shown(it)).filter(|it| it.is_finite());
    let [value, low, high] = [of(value), low.and_then(of), high.and_then(of)];
    match ranked_by {
        RankedBy::Goodput => [value, low, high],
        RankedBy::ResponseP99 => [value, high, low],
    }
}
