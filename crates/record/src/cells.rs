//! Trials by cell: the one place that says which trials stand for a stack at a load.

use std::collections::BTreeSet;

use plan::{CellId, Driver, LoadId, Role};
use schemars::JsonSchema;
use serde::Serialize;
use stats::Observation;

use crate::trial::{Measured, Repeats, Trial, TrialResult};

/// One stack at one load of a round, by one driver, as trials are of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CellName {
    /// The round.
    pub round: String,
    /// The load.
    pub load: LoadId,
    /// What made the load: figures of two drivers are none of one cell.
    pub driver: Driver,
    /// The stack.
    pub stack: String,
}

impl CellName {
    /// The cell of a trial.
    pub fn of(trial: &Trial) -> Self {
        let Trial { round, load, driver, stack, .. } = trial;
        Self { round: round.clone(), load: load.id.clone(), driver: *driver, stack: stack.clone() }
    }

    /// Whether it is in the table of the cell that a claim names: claims are of a closed load's users, and are judged by what
    /// our own engine measured.
    pub fn is_beside(&self, claimed: &CellId) -> bool {
        self.driver.is_own() && self.round == claimed.round && self.load.users() == Some(claimed.connections)
    }
}

/// What the rows of a table are ranked by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RankedBy {
    /// Expected answers a second.
    #[default]
    Goodput,
    /// The 99th percentile of response time, at a rate that all were asked.
    ResponseP99,
}

impl RankedBy {
    /// Of a trial's load: where a rate is asked for, all who keep up carry the same.
    pub const fn of(measured: &Measured) -> Self {
        if measured.load.load.rate_per_s.is_some() { Self::ResponseP99 } else { Self::Goodput }
    }

    /// What a trial is ranked by, larger being better: the shorter of two times is the better one. It failed where nothing
    /// was answered as expected, and where so many requests were not answered that the percentile is one of times that
    /// nobody saw the end of.
    pub fn observation(self, measured: &Measured) -> Observation {
        let (load, times) = (&measured.load, &measured.load.response_time_us);
        let goodput = Observation::of(load.goodput_per_s);
        match (self, times.figure("p99")) {
            (Self::Goodput, _) => goodput,
            (Self::ResponseP99, Some((us, is_lower_bound))) if !(is_lower_bound && times.censored > 0) => {
                goodput.figure().map_or(goodput, |_| Observation::of(1.0 / us))
            }
            (Self::ResponseP99, _) => Observation::Failed,
        }
    }

    /// A ratio of observations as one of the figures that are shown.
    pub fn shown(self, ratio: f64) -> f64 {
        match self {
            Self::Goodput => ratio,
            Self::ResponseP99 => 1.0 / ratio,
        }
    }
}

/// What came of a finished trial, as it is ranked. Who fails is behind everybody who does not.
pub fn observed(trial: &Trial, ranked_by: RankedBy) -> Observation {
    match &trial.result {
        TrialResult::Measured(measured) => ranked_by.observation(measured),
        TrialResult::Failed { .. } => Observation::Failed,
    }
}

/// Whether a trial stands for the stack that it names, as those of twins and controls do not.
const fn stands_for_its_stack(trial: &Trial) -> bool {
    trial.role.is_stack()
}

/// The trials that stand for their places in the run, in order. Where a block was repeated as a whole, those of the repetition
/// do; of one that was begun and not finished, the earlier ones: two halves that were made apart are no block.
pub fn standing(trials: Vec<Trial>) -> Vec<Trial> {
    let repeated: BTreeSet<u32> = trials.iter().filter_map(|it| Some(it.repeats.as_ref()?.index)).collect();
    let is_whole = |repeats: &Repeats| repeats.block.iter().all(|index| repeated.contains(index));
    let whole = trials.iter().filter_map(|it| it.repeats.as_ref()).filter(|it| is_whole(it));
    let replaced: BTreeSet<u32> = whole.map(|it| it.index).collect();
    let stands = |trial: &Trial| match &trial.repeats {
        Some(repeats) => replaced.contains(&repeats.index),
        None => !replaced.contains(&trial.index),
    };
    trials.into_iter().filter(stands).collect()
}

/// Every cell of which there is a trial, failed ones included: by round, by load, by driver, by stack.
pub fn cells(trials: &[Trial]) -> Vec<CellName> {
    let all: BTreeSet<CellName> =
        trials.iter().filter(|it| stands_for_its_stack(it)).map(CellName::of).collect();
    all.into_iter().collect()
}

/// The measured controls of a run with the cell that each stands beside: what the client could do at all, in the same
/// blocks and at the same loads.
pub fn measured_controls(trials: &[Trial]) -> impl Iterator<Item = (CellName, &Measured)> {
    trials.iter().filter(|trial| trial.role == Role::Control).filter_map(|trial| match &trial.result {
        TrialResult::Measured(it) => Some((CellName::of(trial), &**it)),
        TrialResult::Failed { .. } => None,
    })
}

/// The finished trials that `is_of_cell` says are of one cell, in order, those that failed included.
pub fn trials_of(trials: &[Trial], is_of_cell: impl Fn(&Trial) -> bool) -> impl Iterator<Item = &Trial> {
    trials.iter().filter(move |trial| stands_for_its_stack(trial) && is_of_cell(trial))
}

/// One cell's measured trial of each block, `None` where there is none. Blocks are those that any of `trials` is in, in
/// order, so that two cells of the same trials are side by side. Of two in one block the first counts.
pub fn measured_by_block(trials: &[Trial], is_of_cell: impl Fn(&Trial) -> bool) -> Vec<Option<&Measured>> {
    by_block(trials, |trial| stands_for_its_stack(trial) && is_of_cell(trial))
}

/// The same of a table's twin, with the stack that is doubled; `None` where no trial of a twin is of the table. Of several stacks
/// that are, the first by name is, in whatever order their trials were made.
pub fn twins_by_block(
    trials: &[Trial],
    is_of_table: impl Fn(&Trial) -> bool,
) -> Option<(&str, Vec<Option<&Measured>>)> {
    let is_twin = |trial: &Trial| trial.role == Role::Twin && is_of_table(trial);
    let stacks = trials.iter().filter(|trial| is_twin(trial)).map(|trial| trial.stack.as_str());
    let stack = stacks.min()?;
    Some((stack, by_block(trials, |trial| is_twin(trial) && trial.stack == stack)))
}

fn by_block(trials: &[Trial], counts: impl Fn(&Trial) -> bool) -> Vec<Option<&Measured>> {
    let blocks: BTreeSet<u32> = trials.iter().map(|trial| trial.block).collect();
    let blocks: Vec<u32> = blocks.into_iter().collect();
    let mut measured = vec![None; blocks.len()];
    for trial in trials.iter().filter(|trial| counts(trial)) {
        if let (Ok(place), TrialResult::Measured(it)) = (blocks.binary_search(&trial.block), &trial.result) {
            measured[place].get_or_insert(&**it);
        }
    }
    measured
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named_load::load_of_label;
    use crate::trial::TRIAL_VERSION;

    fn failed(block: u32, round: &str, stack: &str, load: &str) -> Trial {
        Trial {
            version: TRIAL_VERSION,
            index: 0,
            block,
            round: round.into(),
            stack: stack.into(),
            role: Role::Stack,
            driver: Driver::Proofload,
            load: load_of_label(load),
            started: String::new(),
            repeats: None,
            lost_attempts: Vec::new(),
            result: TrialResult::Failed { error: "no".into() },
        }
    }

    #[test]
    fn loads_come_by_size_and_fresh_connections_are_the_same_load() {
        let trials = [
            failed(0, "r", "b", "1000 connections"),
            failed(0, "r", "a", "300 connections, fresh"),
            failed(1, "r", "b", "300 connections"),
        ];
        let told: Vec<String> = cells(&trials).iter().map(|it| format!("{} {}", it.load, it.stack)).collect();
        assert_eq!(told, ["300 connections a", "300 connections b", "1000 connections b"]);
    }

    #[test]
    fn a_rate_stands_behind_the_users_of_its_round_whatever_its_number_is() {
        let trials = [
            failed(0, "r", "a", "300/s on 50"),
            failed(0, "r", "a", "1000 connections"),
            failed(0, "r", "a", "64 connections"),
        ];
        let told: Vec<String> = cells(&trials).iter().map(|it| it.load.to_string()).collect();
        assert_eq!(told, ["64 connections", "1000 connections", "300/s on 50"]);
    }

    #[test]
    fn a_claim_is_of_users_and_no_rate_has_as_many() {
        let claimed = |connections| CellId { round: "r".into(), stack: "a".into(), connections };
        let is_beside =
            |load, connections| CellName::of(&failed(0, "r", "a", load)).is_beside(&claimed(connections));
        assert!(is_beside("300 connections", 300));
        assert!(is_beside("300 users, 5 requests each", 300));
        assert!(!is_beside("300/s on 50", 300));
        assert!(!is_beside("300/s on 50", 50));
    }

    #[test]
    fn drivers_make_cells_of_their_own() {
        let ours = failed(0, "r", "a", "300 connections");
        let trials = [Trial { driver: Driver::Wrk, ..ours.clone() }, ours];
        let told: Vec<&str> = cells(&trials).iter().map(|it| it.driver.name()).collect();
        assert_eq!(told, ["proofload", "wrk"]);
        let is_ours = |trial: &Trial| CellName::of(trial).driver.is_own();
        assert_eq!(trials_of(&trials, is_ours).count(), 1);
    }

    /// Those of a stack that several rounds share may stand beside those of another in one of them.
    #[test]
    fn the_twin_of_a_table_is_the_same_one_in_whatever_order_trials_were_made() {
        let twin = |stack| Trial { role: Role::Twin, ..failed(0, "r", stack, "1 connections") };
        let of = |trials: [Trial; 3]| twins_by_block(&trials, |_| true).map(|(stack, _)| stack.to_owned());
        let own = failed(0, "r", "0", "1 connections");
        assert_eq!(of([twin("b"), twin("a"), own.clone()]), Some("a".into()));
        assert_eq!(of([twin("a"), own.clone(), twin("b")]), Some("a".into()));
        assert_eq!(twins_by_block(&[own], |_| true), None);
    }

    #[test]
    fn a_repetition_stands_once_it_is_whole_and_nothing_is_lost_before() {
        let first = |index| Trial { index, ..failed(0, "r", "a", "1 connections") };
        let again = |index, of| Trial {
            repeats: Some(Repeats { index: of, block: vec![2, 3], why: "others".into() }),
            ..first(index)
        };
        let told =
            |trials: &[Trial]| -> Vec<u32> { standing(trials.to_vec()).iter().map(|it| it.index).collect() };
        let half = [first(1), first(2), first(3), again(12, 2), first(4)];
        assert_eq!(told(&half), [1, 2, 3, 4]);
        let whole = [first(1), first(2), first(3), again(13, 3), again(12, 2), first(4)];
        assert_eq!(told(&whole), [1, 13, 12, 4]);
        assert_eq!(told(&whole[..3]), [1, 2, 3]);
    }

    #[test]
    fn a_failed_trial_leaves_its_block_empty_and_a_wild_block_number_costs_nothing() {
        let trials = [failed(0, "r", "a", "1 connections"), failed(u32::MAX, "r", "a", "1 connections")];
        assert_eq!(measured_by_block(&trials, |_| true), [None, None]);
        assert_eq!(trials_of(&trials, |trial| trial.block == 0).count(), 1);
    }
}
