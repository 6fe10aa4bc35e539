//! What stands beside a cell within its own run: its stack's twin, which tells what two equal ones differ by, and the control
//! or another stack, of which the machine made as much as of the cell.

use std::collections::BTreeMap;

use plan::Metric;
use record::{CellName, Measured, RankedBy, Role, Trial, TrialResult, measured_by_block, twins_by_block};
use serde::Serialize;
use stats::{LogRatios, Observation, Ratio, TwoSamples};

use crate::usable::{Usable, ceiling_of, median};

/// A cell's goodput as a part of another's of the same blocks, in both runs. Shown and not judged: of another machine a stack
/// may take more than the other does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WithinRuns {
    /// Beside what: the control, or a stack.
    pub beside: String,
    /// The median over blocks, in the first run and in the second.
    pub share: [f64; 2],
    /// The second over the first.
    pub ratio: f64,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// How far the stack that is doubled in a cell's table is from its twin; `None` where there is no twin.
pub(super) fn twin(trials: &[Trial], cell: &CellName, ranked_by: RankedBy) -> Option<Ratio> {
    let (stack, twins) = twins_by_block(trials, |trial| is_of_table(trial, cell))?;
    let doubled = CellName { stack: stack.to_owned(), ..cell.clone() };
    let own = measured_by_block(trials, |trial| CellName::of(trial) == doubled);
    let metric = match ranked_by {
        RankedBy::Goodput => Metric::Goodput,
        RankedBy::ResponseP99 => Metric::ResponseP99,
    };
    let ceiling = ceiling_of(trials, &doubled);
    // How far two processes are apart shows in what was read of both, too.
    let read = |it: &Measured| Usable::of(it, metric, ceiling).range.map(|it| Observation::of(it.as_read()));
    let read = |all: Vec<Option<&Measured>>| -> Vec<Option<Observation>> {
        all.into_iter().map(|it| it.and_then(read)).collect()
    };
    LogRatios::of(&read(own), &read(twins)).ratio()
}

/// A cell beside the control of its table, or, where the runs have none, beside the first of `others` that has figures in both.
pub(super) fn within([a, b]: [&[Trial]; 2], cell: &CellName, others: &[&CellName]) -> Option<WithinRuns> {
    let beside = |name: &str, is_beside: &dyn Fn(&Trial) -> bool| {
        let [a, b] = [a, b].map(|trials| shares(trials, cell, is_beside));
        let share = [median(&a)?, median(&b)?];
        let Ratio { value, low, high } = TwoSamples::of(&a, &b).ratio()?;
        Some(WithinRuns { beside: name.to_owned(), share, ratio: value, low, high })
    };
    let is_control = |trial: &Trial| trial.role == Role::Control && is_of_table(trial, cell);
    let is_other = |other: &CellName| {
        other != cell && (&other.round, &other.load, other.driver) == (&cell.round, &cell.load, cell.driver)
    };
    beside("control", &is_control).or_else(|| {
        others.iter().filter(|other| is_other(other)).find_map(|other| {
            let is_of_other = |trial: &Trial| trial.role.is_stack() && CellName::of(trial) == **other;
            beside(&other.stack, &is_of_other)
        })
    })
}

/// The cell's goodput over that of what `is_beside` says, in each block in which both answered.
fn shares(trials: &[Trial], cell: &CellName, is_beside: &dyn Fn(&Trial) -> bool) -> Vec<f64> {
    let goodputs = |counts: &dyn Fn(&Trial) -> bool| -> BTreeMap<u32, f64> {
        let measured = trials.iter().filter(|trial| counts(trial)).filter_map(|trial| match &trial.result {
            TrialResult::Measured(it) => Some((trial.block, it.load.goodput_per_s)),
            TrialResult::Failed { .. } => None,
        });
        measured.filter(|(_, per_s)| per_s.is_finite() && *per_s > 0.0).collect()
    };
    let others = goodputs(is_beside);
    let own = goodputs(&|trial: &Trial| trial.role.is_stack() && CellName::of(trial) == *cell);
    own.into_iter().filter_map(|(block, per_s)| Some(per_s / others.get(&block)?)).collect()
}

/// Whether a trial, whatever it is for, is of the table that a cell is in.
fn is_of_table(trial: &Trial, cell: &CellName) -> bool {
    let of = CellName::of(trial);
    (&of.round, &of.load, of.driver) == (&cell.round, &cell.load, cell.driver)
}
