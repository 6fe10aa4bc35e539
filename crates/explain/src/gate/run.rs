//! A gate held against a run: each cell by its trials, one a block.

mod baseline;
pub(crate) mod figures;
mod last_runs;

use std::collections::BTreeMap;

use plan::Version;
use plan::gate::{Baseline, Condition, Gate, LastRuns, Limit, Metric};
use record::{
    CellName, GateAnswer, GateCell, GateCheck, GateResult, GateUnit, Measured, Trial, TrialResult, cells,
    trials_of,
};
use stats::{CONFIDENCE, Estimated, Part, blocks_needed, share_of};
use units::Share;

use self::baseline::With;
use self::figures::{Figure, at_least, estimate, figure, is_of_processes};
pub use self::last_runs::RunsBefore;
use super::answer::{
    decide, hold_against, hold_against_asked, hold_against_count, judged, unknown, without_figure,
};
use super::more::{more, of_run};
use super::{tail_of, with_default};
use crate::audit::{Reason, audit_trial};
use crate::usable::ceiling_of;

/// A doubt that is about as many of a cell's trials is about the cell.
const DOUBTED_MIN: f64 = 0.5;

/// Holds `gate` against a run. `keeps_processes` says whether all trials of a stack are of one process; `before` is what there is to
/// hold it against of runs before it, and need not be read where the gate does not ask for them.
pub fn gate_run(gate: &Gate, trials: &[Trial], keeps_processes: bool, before: &RunsBefore) -> GateResult {
    let cells = cells(trials);
    let is_beside = |cell: &CellName, stack: &str| {
        stack != cell.stack && cells.contains(&CellName { stack: stack.to_owned(), ..cell.clone() })
    };
    let held = |cell: &CellName| {
        let baseline = gate.baseline.as_ref().filter(|it| is_beside(cell, &it.stack));
        (cell.clone(), baseline.cloned())
    };
    let held: Vec<Held> = cells.iter().map(held).collect();
    let is_beside_nobody = held.iter().all(|(_, baseline)| baseline.is_none());
    let before = gate.last_runs.map(|asked| (asked, before));
    let mut checks = checks_of(&gate.fail_if, trials, &held, keeps_processes, before);
    checks.extend(gate.baseline.as_ref().filter(|_| is_beside_nobody).map(baseline::beside_nobody));
    GateResult::of(checks, CONFIDENCE)
}

/// `judged` with `left_out`, what was asked and not measured, such as a stack that could not be built, and why: a gate holds for
/// all that is asked, so it can't pass without.
#[must_use]
pub fn gate_without(judged: GateResult, left_out: &BTreeMap<String, String>) -> GateResult {
    let missing = left_out.iter().map(|(what, why)| GateCheck {
        is_default: true,
        why: Some(why.clone()),
        would_decide: Some("a run with it".into()),
        ..without_figure(format!("{what} is left out"), 0.0, GateUnit::Trials)
    });
    GateResult::of(missing.chain(judged.checks).collect(), judged.confidence)
}

/// Holds conditions against the second of two versions of each of `services`, and its losses against the first: what that
/// keeps to is nobody's question.
pub fn gate_versions(
    fail_if: &[Condition],
    max_loss: Share,
    trials: &[Trial],
    services: &[String],
) -> GateResult {
    let before = |after: &str| {
        let of_service = services.iter().find(|it| Version::After.id_of(it) == after)?;
        Some(Baseline { stack: Version::Before.id_of(of_service), max_loss })
    };
    let all = cells(trials).into_iter();
    let held = all.filter_map(|cell| before(&cell.stack).map(|baseline| (cell, Some(baseline))));
    let held: Vec<Held> = held.collect();
    GateResult::of(checks_of(fail_if, trials, &held, false, None), CONFIDENCE)
}

/// How many intervals a gate on versions has, if each service has so many cells in all.
pub fn intervals_of_versions(fail_if: &[Condition], cells: usize) -> usize {
    // One more for each loss.
    cells * (with_default(fail_if).len() + 1)
}

/// A cell, and whom it is held against.
type Held = (CellName, Option<Baseline>);

fn checks_of(
    fail_if: &[Condition],
    trials: &[Trial],
    held: &[Held],
    keeps_processes: bool,
    before: Option<(LastRuns, &RunsBefore)>,
) -> Vec<GateCheck> {
    let conditions = with_default(fail_if);
    let losses = held.iter().filter(|(_, baseline)| baseline.is_some()).count();
    let intervals = held.len() * (conditions.len() + usize::from(before.is_some())) + losses;
    let mut checks = Vec::new();
    for (cell, baseline) in held {
        let of = OfCell::new(trials, cell, intervals);
        let mut own = vec![of.failed_trials()];
        own.extend(conditions.iter().map(|(condition, is_default)| of.check(condition, *is_default)));
        own.extend(baseline.as_ref().map(|it| {
            let beside = CellName { stack: it.stack.clone(), ..cell.clone() };
            let other = OfCell::new(trials, &beside, intervals);
            // What was running already was the same process in each trial.
            let keeps_processes =
                keeps_processes || of.not_measured().is_some() || other.not_measured().is_some();
            let doubts = [of.reasons.clone(), other.reasons].concat();
            baseline::check(it, trials, cell, &With { intervals, keeps_processes, doubts: &doubts })
        }));
        own.extend(before.map(|(asked, before)| before.check(&asked, cell, intervals, &of.reasons)));
        checks.extend(own.into_iter().map(|check| GateCheck { cell: Some(name_of(cell)), ..check }));
    }
    checks
}

fn name_of(cell: &CellName) -> GateCell {
    let by = if cell.driver.is_own() { String::new() } else { format!(", by {}", cell.driver.name()) };
    GateCell { round: cell.round.clone(), load: format!("{}{by}", cell.load), stack: cell.stack.clone() }
}

/// A cell, and what its audits say of most of its trials.
struct OfCell<'a> {
    measured: Vec<&'a Measured>,
    failed: usize,
    first_failure: Option<&'a str>,
    reasons: Vec<Reason>,
    intervals: usize,
}

impl<'a> OfCell<'a> {
    fn new(trials: &'a [Trial], cell: &CellName, intervals: usize) -> Self {
        let (mut measured, mut errors): (Vec<&Measured>, Vec<&str>) = (Vec::new(), Vec::new());
        for trial in trials_of(trials, |trial| CellName::of(trial) == *cell) {
            match &trial.result {
                TrialResult::Measured(it) => measured.push(it),
                TrialResult::Failed { error } => errors.push(error),
            }
        }
        let ceiling = ceiling_of(trials, cell);
        let reasons = of_most(measured.iter().map(|it| audit_trial(it, ceiling).reasons).collect());
        Self { reasons, failed: errors.len(), first_failure: errors.first().copied(), measured, intervals }
    }

    /// A stack that does not come up, or dies, fails whatever is asked of it.
    fn failed_trials(&self) -> GateCheck {
        let answer = if self.failed > 0 { GateAnswer::Failed } else { GateAnswer::Passed };
        let failed = self.failed as f64;
        GateCheck {
            fails_if: "trials that failed > 0".into(),
            is_default: true,
            cell: None,
            answer,
            unit: GateUnit::Trials,
            limit: 0.0,
            value: Some(failed),
            is_lower_bound: false,
            low: Some(failed),
            high: Some(failed),
            why: self.first_failure.map(str::to_owned),
            would_decide: None,
        }
    }

    fn check(&self, condition: &Condition, is_default: bool) -> GateCheck {
        if let Some(why) = self.not_measured().filter(|_| is_of_processes(condition.metric)) {
            return GateCheck {
                why: Some(format!("not measured: {why}")),
                would_decide: Some("a service that the run starts itself".into()),
                ..unknown(condition, is_default)
            };
        }
        let estimated =
            match self.estimate(condition).or_else(|why| self.failed_for_sure(condition).ok_or(why)) {
                Ok(estimated) => estimated,
                Err(why) => {
                    let would_decide =
                        if self.measured.is_empty() { "trials that do not fail" } else { "longer loads" };
                    return GateCheck {
                        why: Some(why),
                        would_decide: Some(would_decide.into()),
                        ..unknown(condition, is_default)
                    };
                }
            };
        let mut check = judged(condition, is_default, &estimated);
        let asked_per_s = self.measured.first().and_then(|it| it.load.load.rate_per_s);
        hold_against_asked(&mut check, condition.metric, asked_per_s);
        hold_against(&mut check, condition.metric, &self.reasons, || self.without_ours(condition));
        let requests = self.measured.iter().map(|it| it.load.intended).fold(0, u64::saturating_add);
        hold_against_count(&mut check, condition, requests);
        if check.answer == GateAnswer::CouldNotTell && check.would_decide.is_none() {
            check.would_decide = Some(self.would_decide(condition, &estimated));
        }
        check
    }

    /// Why nothing is known of its processes.
    fn not_measured(&self) -> Option<&'a str> {
        self.measured.iter().find_map(|it| it.server.not_measured.as_deref())
    }

    fn estimate(&self, condition: &Condition) -> Result<Estimated, String> {
        let tail = tail_of(self.intervals);
        let failed_of = |it: &Measured| it.load.intended.saturating_sub(it.load.answered_as_expected);
        let none = || "no trial has such a figure".to_owned();
        match (condition.metric, condition.limit) {
            (Metric::Errors, Limit::Count(_)) => {
                let failed = self.measured.iter().map(|it| failed_of(it)).fold(0, u64::saturating_add);
                (!self.measured.is_empty()).then(|| Estimated::exactly(failed as f64)).ok_or_else(none)
            }
            (Metric::Errors, _) => {
                let part = |it: &&Measured| Part { found: failed_of(it), all: it.load.intended };
                share_of(&addable(self.measured.iter().map(part).collect()), tail).ok_or_else(none)
            }
            (Metric::Max, _) => {
                let all = self.measured.iter().filter_map(|it| it.load.times().figure("max"));
                let all: Vec<(f64, bool)> = all.collect();
                let longest = all.iter().map(|it| it.0).max_by(f64::total_cmp).ok_or_else(none)?;
                // What nobody saw the end of may have been longer.
                let is_lower_bound = all.iter().any(|it| it.1);
                let high = (!is_lower_bound).then_some(longest);
                Ok(Estimated { is_lower_bound, high, ..Estimated::exactly(longest) })
            }
            (metric, _) => {
                let figures: Vec<Figure> = self
                    .measured
                    .iter()
                    .filter_map(|it| figure(it, metric).transpose())
                    .collect::<Result<_, _>>()?;
                let figures = if metric == Metric::Boot { once_each(figures) } else { figures };
                estimate(&figures, metric.wants_more(), tail).ok_or_else(none)
            }
        }
    }

    /// What a figure exceeds that so few requests don't know, where that alone is a failure: a service that became slow answers
    /// fewer.
    fn failed_for_sure(&self, condition: &Condition) -> Option<Estimated> {
        let figures: Vec<Figure> =
            self.measured.iter().filter_map(|it| at_least(it, condition.metric)).collect();
        let estimated = estimate(&figures, condition.metric.wants_more(), tail_of(self.intervals));
        estimated.filter(|it| decide(condition, it) == GateAnswer::Failed)
    }

    /// The answer if nothing of the times were the generator's own: less the longest that it was late in each trial.
    fn without_ours(&self, condition: &Condition) -> GateAnswer {
        if !condition.metric.is_response_time() || condition.metric == Metric::Max {
            return GateAnswer::CouldNotTell;
        }
        let without = |it: &&Measured| {
            let longest = |times: &record::Distribution| times.max.unwrap_or(0.0);
            let ours = longest(&it.load.generator_lag_us) + longest(&it.load.receive_lag_us);
            let figure = at_least(it, condition.metric)?;
            Some(Figure { value: (figure.value - ours).max(f64::MIN_POSITIVE), ..figure })
        };
        let figures: Vec<Figure> = self.measured.iter().filter_map(without).collect();
        let estimated = estimate(&figures, false, tail_of(self.intervals));
        estimated.map_or(GateAnswer::CouldNotTell, |it| decide(condition, &it))
    }

    fn would_decide(&self, condition: &Condition, estimated: &Estimated) -> String {
        if let Some(boots) = self.too_few_boots(condition.metric) {
            return boots;
        }
        too_few_blocks(self.measured.len(), self.intervals)
            .unwrap_or_else(|| of_run(more(condition, estimated), self.measured.len()))
    }

    /// Where trials shared their processes, and these were started so seldom that nothing can be told of a start: how often it takes.
    fn too_few_boots(&self, metric: Metric) -> Option<String> {
        if metric != Metric::Boot {
            return None;
        }
        let told = self.measured.iter().filter_map(|it| figure(it, metric).ok().flatten()).collect();
        let (starts, needed) = (once_each(told).len(), blocks_needed(self.intervals));
        let are = if starts == 1 { "is" } else { "are" };
        (starts < needed.min(self.measured.len())).then(|| {
            format!(
                "{needed} starts at least, and there {are} {starts}: processes = \"fresh\" or \"block\" has more"
            )
        })
    }
}

/// A process that served several trials was started once, however often its record says so.
fn once_each(mut starts: Vec<Figure>) -> Vec<Figure> {
    starts.sort_by(|a, b| a.value.total_cmp(&b.value));
    starts.dedup();
    starts
}

/// The same shares of counts that can be added up: a record bounds those of a trial, and not those of all trials together.
fn addable(parts: Vec<Part>) -> Vec<Part> {
    let all = parts.iter().map(|it| it.all).fold(0, u64::saturating_add);
    // Of so many, nothing that could be seen is lost.
    let by = if all == u64::MAX { parts.len() as u64 } else { 1 };
    parts.into_iter().map(|it| Part { found: it.found / by, all: it.all / by }).collect()
}

/// Where so few blocks can't put an interval on either side of anything: how many do.
fn too_few_blocks(blocks: usize, intervals: usize) -> Option<String> {
    let needed = blocks_needed(intervals);
    (blocks < needed).then(|| format!("{needed} blocks at least, and there are {blocks}"))
}

/// One reason of each kind that at least half of the trials have, the gravest first.
fn of_most(of_trials: Vec<Vec<Reason>>) -> Vec<Reason> {
    let trials = of_trials.len() as f64;
    let mut all: Vec<Reason> = of_trials.into_iter().flatten().collect();
    all.sort_by_key(|it| it.kind);
    let by_kind = all.chunk_by(|a, b| a.kind == b.kind);
    by_kind.filter(|same| same.len() as f64 >= trials * DOUBTED_MIN).map(|same| same[0].clone()).collect()
}
