//! A stack held against the baseline of the same table: what it lost, block by block.

use std::collections::{BTreeMap, BTreeSet};

use plan::gate::Baseline;
use record::{
    CellName, GateAnswer, GateCheck, GateUnit, RankedBy, Trial, TrialResult, observed, trials_of,
    twins_by_block,
};
use stats::{LogRatios, Observation, Ratio};

use super::super::answer::{hold_against, without_figure};
use super::super::loss::{hold_against_hidden, name_of, seen_as};
use super::super::more::{More, of_run, until_apart};
use super::super::tail_of;
use super::too_few_blocks;
use crate::audit::{Reason, ReasonKind};

/// What a check is made with, beside the two cells.
pub(super) struct With<'a> {
    /// Intervals of the whole gate.
    pub(super) intervals: usize,
    /// Whether all trials of a stack are of one process.
    pub(super) keeps_processes: bool,
    /// What speaks against the figures of either cell.
    pub(super) doubts: &'a [Reason],
}

/// The check of `cell`. A process differs from another of the same stack by chance: what the table's twin is off counts as
/// nothing, and where a run has one process of each and no twin, nothing can be told.
pub(super) fn check(baseline: &Baseline, trials: &[Trial], cell: &CellName, with: &With<'_>) -> GateCheck {
    let With { intervals, keeps_processes, doubts } = *with;
    let of_baseline = CellName { stack: baseline.stack.clone(), ..cell.clone() };
    let ranked_by = ranked_by(trials, cell);
    let by_block = |cell: &CellName| observed_by_block(trials, cell, ranked_by);
    let ratios = LogRatios::of(&by_block(cell), &by_block(&of_baseline));
    let ratio = ratios.ratio_with(tail_of(intervals));
    let twin = twin_ratio(trials, cell, ranked_by);
    let gap = twin.map_or(0.0, f64::abs);
    let loss = |ratio: f64| 1.0 - ratio;
    // By the twin's gap further out, as ratios are.
    let low = ratio.and_then(|it| it.high).map(|it| loss(it * gap.exp()));
    let high = ratio.and_then(|it| it.low).map(|it| loss(it / gap.exp()));
    let limit = baseline.max_loss.get();
    let is_blind = keeps_processes && twin.is_none();
    // One failed in so many blocks, and the other did not, that no ratio says by how much: beyond any limit.
    let is_endless = ratio.is_none() && ratios.p_value() <= 2.0 * tail_of(intervals);
    let endless = ratios.estimate().filter(|_| is_endless);
    let answer = match (low, high) {
        _ if is_blind => GateAnswer::CouldNotTell,
        _ if endless == Some(f64::NEG_INFINITY) => GateAnswer::Failed,
        _ if endless == Some(f64::INFINITY) => GateAnswer::Passed,
        (Some(low), _) if low > limit => GateAnswer::Failed,
        (_, Some(high)) if high <= limit => GateAnswer::Passed,
        _ => GateAnswer::CouldNotTell,
    };
    let value = ratio.map(|it| loss(it.value));
    let (why, would_decide) = match answer {
        GateAnswer::Failed if is_endless => {
            (Some("it failed in so many blocks that no ratio says how much it lost".to_owned()), None)
        }
        GateAnswer::Passed | GateAnswer::Failed => (None, None),
        GateAnswer::CouldNotTell if ratios.blocks() == 0 => (
            Some(format!("{} was not measured at this load", baseline.stack)),
            Some("a run in which both are in one round".to_owned()),
        ),
        GateAnswer::CouldNotTell if is_blind => (
            Some("all trials are of one process, and no twin says what lies between two".into()),
            Some("processes = \"fresh\", or twin = true".into()),
        ),
        GateAnswer::CouldNotTell => {
            let more = || of_run(more(ratio, limit), ratios.blocks());
            (None, Some(too_few_blocks(ratios.blocks(), intervals).unwrap_or_else(more)))
        }
    };
    let mut check = GateCheck {
        fails_if: fails_if(baseline, ranked_by),
        is_default: false,
        cell: None,
        answer,
        unit: GateUnit::Loss,
        limit,
        value,
        is_lower_bound: false,
        low,
        high,
        why,
        would_decide,
    };
    // Both have the same warm-up and the same window: that this is too short for one of them is because it is slow. What a late
    // client shows all the same is there; what it hides comes next.
    let is_of_both = |it: &&Reason| it.kind.is_unsteady() || it.kind == ReasonKind::TooShort;
    let of_figures: Vec<Reason> = doubts.iter().filter(|it| !is_of_both(it)).cloned().collect();
    hold_against(&mut check, seen_as(ranked_by), &of_figures, || GateAnswer::Failed);
    hold_against_hidden(&mut check, ranked_by, doubts);
    check
}

/// The check of a baseline that no stack is beside: nothing is held against it, and that is not to pass.
pub(super) fn beside_nobody(baseline: &Baseline) -> GateCheck {
    GateCheck {
        why: Some(format!("{} was not measured beside any other stack", baseline.stack)),
        would_decide: Some("a run with both in one round".into()),
        ..without_figure(fails_if(baseline, RankedBy::Goodput), baseline.max_loss.get(), GateUnit::Loss)
    }
}

fn fails_if(baseline: &Baseline, ranked_by: RankedBy) -> String {
    format!("loss of {} to {} > {}", name_of(ranked_by), baseline.stack, baseline.max_loss)
}

fn more(ratio: Option<Ratio>, limit: f64) -> More {
    let Some(Ratio { value, low, high }) = ratio else { return More::Some };
    let at_limit = (1.0 - limit).max(f64::MIN_POSITIVE).ln();
    let towards = if value.ln() < at_limit { high } else { low };
    until_apart(value.ln(), towards.map(f64::ln), at_limit)
}

pub(super) fn ranked_by(trials: &[Trial], cell: &CellName) -> RankedBy {
    let of_cell = trials_of(trials, |trial| CellName::of(trial) == *cell);
    let mut measured = of_cell.filter_map(|trial| match &trial.result {
        TrialResult::Measured(it) => Some(RankedBy::of(it)),
        TrialResult::Failed { .. } => None,
    });
    measured.next().unwrap_or_default()
}

/// What came of a cell in each block of the run, `None` where it was not tried.
fn observed_by_block(trials: &[Trial], cell: &CellName, ranked_by: RankedBy) -> Vec<Option<Observation>> {
    let blocks: BTreeSet<u32> = trials.iter().map(|it| it.block).collect();
    let mut by_block: BTreeMap<u32, Option<Observation>> = blocks.into_iter().map(|it| (it, None)).collect();
    for trial in trials_of(trials, |trial| CellName::of(trial) == *cell) {
        by_block.entry(trial.block).or_default().get_or_insert_with(|| observed(trial, ranked_by));
    }
    by_block.into_values().collect()
}

/// ln(a stack / its twin) of the cell's table.
fn twin_ratio(trials: &[Trial], cell: &CellName, ranked_by: RankedBy) -> Option<f64> {
    let is_of_table = |trial: &Trial| {
        let of = CellName::of(trial);
        (of.round, of.load, of.driver) == (cell.round.clone(), cell.load.clone(), cell.driver)
    };
    let (stack, twins) = twins_by_block(trials, is_of_table)?;
    let observe = |of: Option<&record::Measured>| of.map(|it| ranked_by.observation(it));
    let twins: Vec<Option<Observation>> = twins.into_iter().map(observe).collect();
    let own = CellName { stack: stack.to_owned(), ..cell.clone() };
    let own = record::measured_by_block(trials, |trial| CellName::of(trial) == own);
    let own: Vec<Option<Observation>> = own.into_iter().map(observe).collect();
    LogRatios::of(&own, &twins).estimate().filter(|it| it.is_finite())
}
