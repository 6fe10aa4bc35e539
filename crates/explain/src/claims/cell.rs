//! A cell of a claim, and what its trials may be used for.

use std::collections::{BTreeMap, BTreeSet};

use plan::{CellId, Metric, Role};
use record::{
    CellName, Manifest, Measured, Trial, TrialResult, measured_by_block, trials_of, twins_by_block,
};
use stats::{BoundedRatios, Ends, LogRatios, Observation, Part};

use crate::audit::ReasonKind;
use crate::usable::{LeftOut, Range, Usable, ceiling_per_s};

/// What was measured of a cell.
pub(super) struct CellTrials<'a> {
    pub(super) id: Name,
    /// The claim's figure in each block, where it may be used.
    pub(super) values: Vec<Option<Observation>>,
    /// The same, and between what it lies where it may not.
    ranges: Vec<Option<Range>>,
    /// Where it is the share of requests that failed: how many did of how many.
    shares: Option<Vec<Option<Part>>>,
    trials: usize,
    failed: usize,
    left_out: BTreeMap<LeftOut, usize>,
    /// Those that have no figure and are a bound of one.
    bound_only: BTreeMap<LeftOut, usize>,
    /// What the audit says of trials that are used all the same.
    doubts: BTreeMap<ReasonKind, usize>,
    /// Why the run left the stack out.
    not_run: Option<&'a str>,
}

/// A cell's name as it is shown.
pub(super) struct Name(CellId);

impl PartialEq<CellId> for Name {
    fn eq(&self, other: &CellId) -> bool {
        self.0 == *other
    }
}

impl Name {
    /// By itself: `jetty, 400 connections`.
    pub(super) fn alone(&self) -> String {
        format!("{}, {} connections", self.0.stack, self.0.connections)
    }

    /// Beside another, with no more words than tell the two apart.
    pub(super) fn beside(&self, other: &Self) -> String {
        let (a, b) = (&self.0, &other.0);
        if a.stack == b.stack && a.round == b.round {
            return format!("{}, {} / {} connections", a.stack, a.connections, b.connections);
        }
        let stack = |it: &CellId| {
            if a.round == b.round { it.stack.clone() } else { format!("{} ({})", it.stack, it.round) }
        };
        format!("{} / {}, {} connections", stack(a), stack(b), a.connections)
    }
}

impl<'a> CellTrials<'a> {
    pub(super) fn of(id: CellId, metric: Metric, trials: &[Trial], manifest: &'a Manifest) -> Self {
        let is_of_cell = |trial: &Trial| {
            let cell = CellName::of(trial);
            cell.is_beside(&id) && cell.stack == id.stack
        };
        let (mut left_out, mut bound_only, mut doubts) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let ceiling = claimed_ceiling(&id, trials);
        let mut use_one = |measured: &Measured| {
            let Usable { figure, range, doubts: found } = usable(measured, metric, ceiling);
            let value = match figure {
                Ok(value) => {
                    for kind in found {
                        *doubts.entry(kind).or_default() += 1;
                    }
                    Some(Observation::of(value))
                }
                Err(why) => {
                    let without = if range.is_some() { &mut bound_only } else { &mut left_out };
                    *without.entry(why).or_default() += 1;
                    None
                }
            };
            (value, range)
        };
        let by_block = measured_by_block(trials, is_of_cell);
        let shares = (metric == Metric::FailedShare).then(|| failed_parts(&by_block, ceiling));
        let (values, ranges) = by_block.into_iter().map(|it| it.map_or((None, None), &mut use_one)).unzip();
        let is_failed = |trial: &&Trial| matches!(trial.result, TrialResult::Failed { .. });
        Self {
            values,
            ranges,
            shares,
            trials: trials_of(trials, is_of_cell).count(),
            failed: trials_of(trials, is_of_cell).filter(is_failed).count(),
            left_out,
            bound_only,
            doubts,
            not_run: manifest.left_out.get(&id.stack).map(String::as_str),
            id: Name(id),
        }
    }

    /// Trials in which the service did so badly that it has no figure: it failed, brought no good answer, or took longer than
    /// could be seen. To go by the others would be to go by where it behaved.
    pub(super) fn without_figure(&self) -> usize {
        let left_out = self.left_out.iter().filter(|(why, _)| why.is_services_fault());
        self.failed + left_out.map(|(_, count)| count).sum::<usize>()
    }

    /// That in words; `None` where there is no such trial.
    pub(super) fn spoiled(&self) -> Option<String> {
        let count = self.without_figure();
        (count > 0).then(|| {
            let (all, name) = (self.trials, self.id.alone());
            format!("{count} of {all} trials of {name} failed or have no figure, and what the others show is not the whole")
        })
    }

    /// Its figures over those of another cell.
    pub(super) fn ratios_to(&self, other: &Self) -> BoundedRatios {
        match (&self.shares, &other.shares) {
            (Some(own), Some(others)) => BoundedRatios::exactly(ratios_of_shares(own, others)),
            _ => BoundedRatios::of(&self.ends(), &other.ends()),
        }
    }

    /// The same over a level.
    pub(super) fn ratios_to_level(&self, level: f64) -> BoundedRatios {
        let levels = vec![Some(Observation::Figure(level)); self.ranges.len()];
        BoundedRatios::of(&self.ends(), &Ends::exactly(levels))
    }

    /// Whether of any trial no more is known than between what its figure lies.
    pub(super) fn has_bounds(&self) -> bool {
        !self.bound_only.is_empty()
    }

    /// Whether that is so of most of its trials that tell anything.
    pub(super) fn is_mostly_bounds(&self) -> bool {
        let known = self.ranges.iter().flatten().count();
        let told = self.values.iter().flatten().count();
        known > 2 * told
    }

    /// Whether the compilers of its JVM are among what made bounds of its rates.
    pub(super) fn is_compiling(&self) -> bool {
        self.bound_only.contains_key(&LeftOut::Audit(ReasonKind::Compiling))
    }

    /// Between what its figures lie.
    fn ends(&self) -> Ends {
        let of = |end: fn(Range) -> f64| {
            self.ranges.iter().map(|range| range.map(end).map(Observation::Figure)).collect()
        };
        Ends { least: of(|range| range.least), most: of(|range| range.most.unwrap_or(f64::INFINITY)) }
    }

    /// Whether there is no figure of it, and more blocks would bring none.
    pub(super) fn is_lost(&self) -> bool {
        let was_tried = self.trials > 0 || self.not_run.is_some();
        was_tried && self.values.iter().all(Option::is_none)
    }

    /// Why there is no figure of it at all, if there is none.
    pub(super) fn missing(&self) -> Option<String> {
        if self.values.iter().any(Option::is_some) {
            return None;
        }
        let name = self.id.alone();
        Some(match (self.not_run, self.left_out.keys().chain(self.bound_only.keys()).next()) {
            (_, Some(why)) => format!("no usable trial of {name}: {}", why.name()),
            (Some(why), None) => format!("{} was left out: {why}", self.id.0.stack),
            (None, None) if self.failed > 0 => format!("every trial of {name} failed"),
            (None, None) => format!("the run has no trial of {name}"),
        })
    }

    /// What is to be known of it beside its figure.
    pub(super) fn notes(&self) -> Vec<String> {
        let name = self.id.alone();
        let of = |count: usize| format!("{count} of {} trials of {name}", self.trials);
        let failed = (self.failed > 0).then(|| format!("{} failed", of(self.failed)));
        let left_out =
            self.left_out.iter().map(|(why, count)| format!("{} not used: {}", of(*count), why.name()));
        let bound_only =
            self.bound_only.iter().map(|(why, count)| format!("{} only a bound: {}", of(*count), why.name()));
        let doubts = self.doubts.iter().map(|(kind, count)| format!("{}: {}", of(*count), kind.name()));
        failed.into_iter().chain(left_out).chain(bound_only).chain(doubts).collect()
    }
}

/// As [`Usable::of`] once it is warm, of a figure that the trial's requests know. The slower of two stacks answers fewer in a closed
/// load, and the longest of those few stands for a percentile that it is below.
fn usable(measured: &Measured, metric: Metric, ceiling: Option<f64>) -> Usable {
    let usable = Usable::of(measured, metric, ceiling).once_warm(metric);
    let times = measured.load.times();
    let is_too_few = metric.response_figure().is_some_and(|name| times.is_too_few_for(name));
    if usable.figure.is_ok() && is_too_few {
        return Usable { figure: Err(LeftOut::TooFewRequests), range: None, ..usable };
    }
    usable
}

/// How many requests failed of how many, in each block that may be used for that.
fn failed_parts(by_block: &[Option<&Measured>], ceiling: Option<f64>) -> Vec<Option<Part>> {
    let part = |measured: Option<&Measured>| {
        let measured = measured?;
        usable(measured, Metric::FailedShare, ceiling).figure.ok()?;
        let load = &measured.load;
        Some(Part { found: load.intended.saturating_sub(load.answered_as_expected), all: load.intended })
    };
    by_block.iter().copied().map(part).collect()
}

/// Ratios of shares of requests that failed. None of many is no less than none of few: both get the same in addition, half a request
/// of the trial with the fewer.
fn ratios_of_shares(a: &[Option<Part>], b: &[Option<Part>]) -> LogRatios {
    let of = |own: &[Option<Part>], others: &[Option<Part>]| -> Vec<Option<Observation>> {
        let both = own.iter().zip(others).map(|(own, other)| Some(((*own)?, (*other)?)));
        let figure = |(own, other): (Part, Part)| own.share() + 0.5 / (own.all.min(other.all) as f64 + 1.0);
        both.map(|both| both.map(figure).map(Observation::of)).collect()
    };
    LogRatios::of(&of(a, b), &of(b, a))
}

/// What the client reached in the controls of a cell's table that were asked as it was; of its round, where that has one for all of
/// its tables.
fn claimed_ceiling(cell: &CellId, trials: &[Trial]) -> Option<f64> {
    let is_its = |trial: &Trial| trial.stack == cell.stack && CellName::of(trial).is_beside(cell);
    let is_of_round = |control: &CellName| {
        control.round == cell.round && control.driver.is_own() && control.load.users().is_some()
    };
    ceiling_per_s(trials, is_its, |control| control.is_beside(cell))
        .or_else(|| ceiling_per_s(trials, is_its, is_of_round))
}

/// The connections of the table whose twin stands for a cell: of those of its round that have one, the nearest, and the smaller of
/// two; its own where that has one.
fn twins_connections(cell: &CellId, trials: &[Trial]) -> Option<u32> {
    let twins = trials.iter().filter(|trial| trial.role == Role::Twin).map(CellName::of);
    let of_round = twins.filter(|twin| twin.round == cell.round && twin.driver.is_own());
    let all: BTreeSet<u32> = of_round.filter_map(|twin| twin.load.users()).collect();
    let apart = |users: &u32| (f64::from(*users) / f64::from(cell.connections)).ln().abs();
    all.into_iter().min_by(|a, b| apart(a).total_cmp(&apart(b)))
}

/// The ratios of a stack and its twin in the table of `cell`, or in the one of its round that has a twin; `None` where there is
/// none.
pub(super) fn beside_twin(
    cell: &CellId,
    metric: Metric,
    trials: &[Trial],
    manifest: &Manifest,
) -> Option<LogRatios> {
    let cell = &CellId { connections: twins_connections(cell, trials)?, ..cell.clone() };
    let (stack, twins) = twins_by_block(trials, |trial| CellName::of(trial).is_beside(cell))?;
    let doubled = CellId { stack: stack.to_owned(), ..cell.clone() };
    let ceiling = claimed_ceiling(&doubled, trials);
    let doubled = CellTrials::of(doubled, metric, trials, manifest);
    if let Some(own) = &doubled.shares {
        return Some(ratios_of_shares(own, &failed_parts(&twins, ceiling)));
    }
    // How far two processes are apart shows in what was read of both, too.
    let read = |range: Range| Observation::of(range.as_read());
    let range = |measured: &Measured| usable(measured, metric, ceiling).range;
    let twins: Vec<Option<Observation>> = twins.into_iter().map(|it| range(it?).map(read)).collect();
    let own: Vec<Option<Observation>> = doubled.ranges.iter().map(|range| range.map(read)).collect();
    Some(LogRatios::of(&own, &twins))
}
