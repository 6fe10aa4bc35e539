//! Two recorded runs compared: what differs in what they are of, and what changed in what they found.
//!
//! Blocks of two runs have nothing to do with each other, so cells are compared by the rank-sum test and its shift
//! (`stats::TwoSamples`). A trial that brought nothing good is the worst there is, and no trial less: how many of those there
//! are is compared by Fisher's test, and the share of requests that failed in a trial by the rank-sum test. Holm's method
//! goes over all tests of all cells. Whatever else changed on the machine between the runs is in the difference, too.
//! `docs/compare.md` states the rules.

mod inputs;
mod side;
mod tests_of_cells;

use std::collections::BTreeMap;

use record::{CellName, Driver, Manifest, Trial, cells, measured_controls};
use serde::Serialize;
use stats::{ALPHA, LEAST_EFFECT, Ratio, least_rank_sum_p};

use self::side::Side;
use self::tests_of_cells::{Adjusted, CellTests};
use crate::audit::FAILED_SHARE_MAX;
use crate::usable::median;

/// Version of [`RunsCompared`] as JSON.
const COMPARE_VERSION: u32 = 1;

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
    /// The loss of goodput that is allowed, as a share.
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

/// Something in which two runs are not of the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunDifference {
    /// What: `cores`, `inputs of jetty`.
    pub what: String,
    /// In the first run.
    pub a: String,
    /// In the second.
    pub b: String,
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
    /// It lost more goodput than is allowed, more of its trials or of its requests fail, or it no longer answers.
    Worse,
    /// It lost no more than is allowed.
    AllowedLoss,
    /// It gained.
    Better,
    /// Nothing shows that it changed.
    Unchanged,
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
        }
    }
}

impl ChangeVerdict {
    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::AllowedLoss => "loss, allowed",
            Self::Better => "better",
            Self::Unchanged => "no change",
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
    /// Trials whose goodput is compared. One that failed or brought no good answer counts as a goodput of 0.
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
    /// The second over the first.
    pub ratio: Option<f64>,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// How often chance alone would bring as much, adjusted for the tests of all cells.
    pub p: f64,
    /// What became of it.
    pub verdict: ChangeVerdict,
    /// In what it got worse, where it did.
    pub worse_by: Vec<WorseBy>,
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
/// than [`LEAST_EFFECT`] is called a change.
pub fn compare_runs(a: RecordedRun<'_>, b: RecordedRun<'_>, threshold: f64) -> RunsCompared {
    let (of_a, of_b) = (cells(a.trials), cells(b.trials));
    let common: Vec<&CellName> = of_a.iter().filter(|cell| of_b.contains(cell)).collect();
    let only = |own: &[CellName], other: &[CellName]| {
        own.iter().filter(|cell| !other.contains(cell)).map(name).collect::<Vec<String>>()
    };
    let sides: Vec<[Side<'_>; 2]> =
        common.iter().map(|cell| [Side::of(a.trials, cell), Side::of(b.trials, cell)]).collect();
    let tests: Vec<CellTests> = sides.iter().map(|[a, b]| CellTests::of(a, b)).collect();
    let (adjusted, tested) = tests_of_cells::adjusted(&tests);
    let compared = common.iter().zip(&sides).zip(tests.iter().zip(adjusted));
    let compared = compared.map(|((cell, sides), (tests, p))| {
        let ratio = tests.ratio();
        change(cell, sides, &Found { ratio, p, tested, threshold })
    });
    let compared: Vec<CellChange> = compared.collect();
    let mut differences = inputs::differences(a, b);
    differences.extend(inputs::loads(&common, &sides));
    RunsCompared {
        version: COMPARE_VERSION,
        a: side(a),
        b: side(b),
        threshold,
        differences,
        controls: controls(a, b),
        cells: compared,
        only_in_a: only(&of_a, &of_b),
        only_in_b: only(&of_b, &of_a),
    }
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

fn side(run: RecordedRun<'_>) -> RunSide {
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
struct Found {
    ratio: Option<Ratio>,
    p: Adjusted,
    /// Tests of all cells together.
    tested: usize,
    threshold: f64,
}

fn change(cell: &CellName, sides: &[Side<'_>; 2], found: &Found) -> CellChange {
    let [a, b] = sides;
    let worse_by = worse_by(sides, found);
    let verdict = if worse_by.is_empty() { not_worse(sides, found) } else { ChangeVerdict::Worse };
    let mut notes: Vec<String> = a.notes.iter().map(|note| format!("first run: {note}")).collect();
    notes.extend(b.notes.iter().map(|note| format!("second run: {note}")));
    if a.failed_trials == a.trials() && b.failed_trials == b.trials() && a.trials() + b.trials() > 0 {
        notes.push("no trial of either run brought a good answer: there is nothing to compare".into());
    }
    let ratio = found.ratio;
    CellChange {
        round: cell.round.clone(),
        load: cell.load.to_string(),
        driver: cell.driver,
        stack: cell.stack.clone(),
        trials: [a.trials(), b.trials()],
        failed_trials: [a.failed_trials, b.failed_trials],
        failed_trials_p: found.p.failed_trials,
        failed_share: [a.failed_share(), b.failed_share()],
        failed_share_p: found.p.failed_share,
        goodput_per_s: [median(&a.goodputs), median(&b.goodputs)],
        ratio: ratio.map(|it| it.value),
        low: ratio.and_then(|it| it.low),
        high: ratio.and_then(|it| it.high),
        p: found.p.goodput.unwrap_or(1.0),
        verdict,
        worse_by,
        response_p99_us: [a.p99(), b.p99()],
        cpu_us_per_request: [a.cpu(), b.cpu()],
        notes,
    }
}

/// Everything in which the second run is surely worse.
fn worse_by([a, b]: &[Side<'_>; 2], found: &Found) -> Vec<WorseBy> {
    let is_significant = |p: Option<f64>| p.is_some_and(|p| p <= ALPHA);
    let rise = a.failed_share().zip(b.failed_share()).map_or(0.0, |(a, b)| b - a);
    let lost = found.ratio.map_or(0.0, |it| 1.0 - it.value);
    let all = [
        (WorseBy::NoGoodAnswer, a.has_good_answers() && b.no_longer_answers()),
        (WorseBy::FailedTrials, is_significant(found.p.failed_trials)),
        (WorseBy::FailedRequests, is_significant(found.p.failed_share) && rise > FAILED_SHARE_MAX),
        (WorseBy::Goodput, is_significant(found.p.goodput) && lost > found.threshold.max(LEAST_EFFECT)),
    ];
    all.into_iter().filter(|(_, is_so)| *is_so).map(|(what, _)| what).collect()
}

/// Of a cell that is not surely worse.
fn not_worse([a, b]: &[Side<'_>; 2], found: &Found) -> ChangeVerdict {
    let p = found.p.goodput.unwrap_or(1.0);
    // Trials that fail where none did before are no sign of "no change", however few they are, and however fast the others.
    if is_rise([a.failed_trials, b.failed_trials], [a.trials(), b.trials()]) {
        return ChangeVerdict::TooFew;
    }
    let Some(ratio) = found.ratio else {
        // From nothing to something there is no ratio.
        return if p <= ALPHA { ChangeVerdict::Better } else { ChangeVerdict::TooFew };
    };
    let gain = ratio.value - 1.0;
    if !a.has_good_answers() && !b.has_good_answers()
        || p > ALPHA && least_rank_sum_p(a.trials(), b.trials()) * found.tested as f64 > ALPHA
    {
        ChangeVerdict::TooFew
    } else if p > ALPHA || gain.abs() <= LEAST_EFFECT {
        ChangeVerdict::Unchanged
    } else if gain > 0.0 {
        ChangeVerdict::Better
    } else {
        ChangeVerdict::AllowedLoss
    }
}
