//! Two recorded runs compared: what differs in what they are of, and what changed in what they found.
//!
//! Blocks of two runs have nothing to do with each other, so cells are compared by the rank-sum test and its shift
//! (`stats::TwoSamples`), with Holm's method over the cells. Whatever else changed on the machine between the runs is in
//! the difference, too. `docs/compare.md` states the rules.

mod inputs;

use std::collections::BTreeMap;

use plan::Metric;
use record::{
    CellName, Driver, Manifest, Measured, Trial, TrialResult, cells, measured_by_block, measured_controls,
    trials_of,
};
use serde::Serialize;
use stats::{ALPHA, LEAST_EFFECT, TwoSamples, holm, least_rank_sum_p};

use crate::usable::{LeftOut, Usable, ceiling_of, cpu_us_per_request, median};

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
    /// It lost more goodput than is allowed, or no longer answers.
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
    /// Trials whose goodput is compared.
    pub trials: [usize; 2],
    /// Their median goodputs, 1/s.
    pub goodput_per_s: [Option<f64>; 2],
    /// The second over the first.
    pub ratio: Option<f64>,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// How often chance alone would bring as much, adjusted for the number of cells.
    pub p: f64,
    /// What became of it.
    pub verdict: ChangeVerdict,
    /// 99th percentile of response time, µs: the middle one of the trials'.
    pub response_p99_us: [Option<Bounded>; 2],
    /// Server CPU time a request, with what stands behind it, µs: the median of the trials'.
    pub cpu_us_per_request: [Option<f64>; 2],
    /// Trials that failed or were not used, and what the audit says.
    pub notes: Vec<String>,
}

impl RunsCompared {
    /// How many cells came to a verdict.
    pub fn count(&self, verdict: ChangeVerdict) -> usize {
        self.cells.iter().filter(|it| it.verdict == verdict).count()
    }
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
    let samples: Vec<TwoSamples> =
        sides.iter().map(|[a, b]| TwoSamples::of(&a.goodputs, &b.goodputs)).collect();
    let testable: Vec<usize> = (0..samples.len()).filter(|it| has_both(&samples[*it])).collect();
    let p: Vec<f64> = testable.iter().map(|it| samples[*it].p_value()).collect();
    let adjusted: BTreeMap<usize, f64> = testable.iter().copied().zip(holm(&p)).collect();
    let compared =
        common.iter().zip(&sides).zip(&samples).enumerate().map(|(index, ((cell, sides), samples))| {
            let p = adjusted.get(&index).copied().unwrap_or(1.0);
            change(cell, sides, samples, p, testable.len(), threshold)
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

fn has_both(samples: &TwoSamples) -> bool {
    let (a, b) = samples.counts();
    a > 0 && b > 0
}

/// A cell of one run.
struct Side<'a> {
    measured: Vec<&'a Measured>,
    goodputs: Vec<f64>,
    failed: usize,
    /// Trials that brought no good answer at all.
    dead: usize,
    notes: Vec<String>,
}

impl<'a> Side<'a> {
    fn of(trials: &'a [Trial], cell: &CellName) -> Self {
        let is_of_cell = |trial: &Trial| CellName::of(trial) == *cell;
        let measured: Vec<&Measured> = measured_by_block(trials, is_of_cell).into_iter().flatten().collect();
        let is_failed = |trial: &&Trial| matches!(trial.result, TrialResult::Failed { .. });
        let failed = trials_of(trials, is_of_cell).filter(is_failed).count();
        let (mut goodputs, mut dead) = (Vec::new(), 0);
        let mut notes: BTreeMap<String, usize> = BTreeMap::new();
        let ceiling = ceiling_of(trials, cell);
        for trial in &measured {
            let usable = Usable::of(trial, Metric::Goodput, ceiling);
            match usable.figure {
                Ok(goodput) => goodputs.push(goodput),
                Err(why) => {
                    dead += usize::from(why == LeftOut::Absent);
                    *notes.entry(format!("not used: {}", why.name())).or_default() += 1;
                }
            }
            for doubt in usable.doubts {
                *notes.entry(doubt.name().to_owned()).or_default() += 1;
            }
        }
        let all = measured.len() + failed;
        let failures = (failed > 0).then(|| format!("{failed} of {all} trials failed"));
        let notes = notes.into_iter().map(|(what, count)| format!("{count} of {all} trials: {what}"));
        Self { notes: failures.into_iter().chain(notes).collect(), measured, goodputs, failed, dead }
    }

    /// It was tried, and nothing good came of it, through no fault of the measurement.
    fn no_longer_answers(&self) -> bool {
        let tried = self.failed + self.measured.len();
        tried > 0 && self.failed + self.dead == tried
    }

    /// The middle one of the trials' 99th percentiles; of two in the middle the longer.
    fn p99(&self) -> Option<Bounded> {
        let figures = self.measured.iter().filter_map(|it| it.load.response_time_us.figure("p99"));
        let mut all: Vec<(f64, bool)> = figures.filter(|it| it.0.is_finite()).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all.get(all.len() / 2)
            .map(|(value, is_lower_bound)| Bounded { value: *value, is_lower_bound: *is_lower_bound })
    }

    fn cpu(&self) -> Option<f64> {
        let all: Vec<f64> = self.measured.iter().filter_map(|it| cpu_us_per_request(it)).collect();
        median(&all)
    }
}

fn change(
    cell: &CellName,
    [a, b]: &[Side<'_>; 2],
    samples: &TwoSamples,
    p: f64,
    tested: usize,
    threshold: f64,
) -> CellChange {
    let ratio = samples.ratio();
    let (count_a, count_b) = samples.counts();
    let mut notes: Vec<String> = a.notes.iter().map(|note| format!("first run: {note}")).collect();
    notes.extend(b.notes.iter().map(|note| format!("second run: {note}")));
    let stopped = count_a > 0 && b.no_longer_answers();
    if stopped {
        notes.push("it answered in the first run, and in the second no trial brought a good answer".into());
    }
    let verdict = match ratio {
        _ if stopped => ChangeVerdict::Worse,
        Some(_) if least_rank_sum_p(count_a, count_b) * tested as f64 > ALPHA => ChangeVerdict::TooFew,
        Some(ratio) => verdict(ratio.value, p, threshold),
        None => ChangeVerdict::TooFew,
    };
    CellChange {
        round: cell.round.clone(),
        load: cell.load.clone(),
        driver: cell.driver,
        stack: cell.stack.clone(),
        trials: [count_a, count_b],
        goodput_per_s: [median(&a.goodputs), median(&b.goodputs)],
        ratio: ratio.map(|it| it.value),
        low: ratio.and_then(|it| it.low),
        high: ratio.and_then(|it| it.high),
        p,
        verdict,
        response_p99_us: [a.p99(), b.p99()],
        cpu_us_per_request: [a.cpu(), b.cpu()],
        notes,
    }
}

/// Of a cell with enough trials.
fn verdict(ratio: f64, p: f64, threshold: f64) -> ChangeVerdict {
    let (gain, loss) = (ratio - 1.0, 1.0 - ratio);
    if p > ALPHA || gain.abs() <= LEAST_EFFECT {
        ChangeVerdict::Unchanged
    } else if gain > 0.0 {
        ChangeVerdict::Better
    } else if loss > threshold {
        ChangeVerdict::Worse
    } else {
        ChangeVerdict::AllowedLoss
    }
}
