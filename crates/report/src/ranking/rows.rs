//! Trials sorted into the tables and rows they belong to.

use std::collections::BTreeMap;

use explain::{Reason, ReasonKind, audit_trial};
use record::{CellName, Driver, Measured, Role, Trial, TrialResult, base_load, load_size};
use stats::{LogRatios, Ratio, Spread, Twin};
use units::Seed;

use crate::figure::{by_driver, heading, share};

/// All measured trials of one cell.
pub(crate) struct Cell<'a> {
    pub(crate) stack: &'a str,
    trials: Vec<&'a Measured>,
    /// Trials that failed.
    pub(crate) failed: usize,
    pub(crate) goodput: Spread,
    /// Of each block, where it was measured in it.
    /// What it is compared by, larger being better; `None` where it was not measured.
    pub(crate) by_block: Vec<Option<f64>>,
}

impl Cell<'_> {
    /// The trial whose goodput is closest to the cell's median: its latencies stand for the cell's.
    pub(crate) fn typical(&self) -> &Measured {
        explain::typical(&self.trials).expect("a cell has trials")
    }

    /// Those that were measured.
    pub(crate) fn trials(&self) -> &[&Measured] {
        &self.trials
    }

    /// What failed of what was intended, all trials together, by kind; nothing where nothing did.
    pub(crate) fn failures(&self) -> BTreeMap<String, (u64, u64)> {
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        let intended = self.trials.iter().map(|trial| trial.load.intended).sum();
        for trial in &self.trials {
            for (name, count) in trial.load.outcomes.failures() {
                *sums.entry(name.replace('_', " ")).or_default() += count;
            }
            let unexpected = trial.load.outcomes.answered.saturating_sub(trial.load.answered_as_expected);
            *sums.entry("unexpected".into()).or_default() += unexpected;
        }
        sums.retain(|_, count| *count > 0);
        sums.into_iter().map(|(name, count)| (name, (count, intended))).collect()
    }

    /// The same in words.
    pub(crate) fn failures_text(&self) -> String {
        let list: Vec<String> = self
            .failures()
            .iter()
            .map(|(name, (count, intended))| format!("{name} {}", share(*count, *intended)))
            .collect();
        if list.is_empty() { "0".into() } else { list.join(",\n") }
    }

    /// Why the figures are not simply the server's, if any trial's audit says so, the gravest first: the first reason of
    /// each kind, and how many trials have one.
    pub(crate) fn reasons(&self, ceiling_per_s: Option<f64>) -> Vec<(Reason, usize)> {
        let mut by_kind: BTreeMap<ReasonKind, (Reason, usize)> = BTreeMap::new();
        for trial in &self.trials {
            let mut reasons = audit_trial(trial, ceiling_per_s).reasons;
            reasons.dedup_by_key(|reason| reason.kind);
            for reason in reasons {
                by_kind.entry(reason.kind).or_insert((reason, 0)).1 += 1;
            }
        }
        by_kind.into_values().collect()
    }

    /// The same in words.
    pub(crate) fn doubts(&self, ceiling_per_s: Option<f64>) -> Vec<String> {
        let reasons = self.reasons(ceiling_per_s);
        let mut doubts: Vec<String> =
            reasons.iter().map(|(reason, _)| reason.kind.name().to_owned()).collect();
        if self.failed > 0 {
            doubts.insert(0, format!("{} of {} trials failed", self.failed, self.failed + self.trials.len()));
        }
        doubts
    }
}

/// What a stack's trials of one cell came to, as they are read.
#[derive(Default)]
struct Trials<'a> {
    measured: Vec<&'a Measured>,
    failed: usize,
    by_block: Vec<Option<f64>>,
}

/// What the rows of a table are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compared {
    /// Expected answers a second, in the closed model.
    Goodput,
    /// The 99th percentile of response time, in the open model, where all rows are asked the same.
    P99,
}

impl Compared {
    fn of(trial: &Measured) -> Self {
        if trial.load.load.rate_per_s.is_some() { Self::P99 } else { Self::Goodput }
    }

    /// Of a trial, larger being better. A percentile that is only a lower bound compares with nothing.
    fn value(self, trial: &Measured) -> Option<f64> {
        let times = &trial.load.response_time_us;
        match self {
            Self::Goodput => Some(trial.load.goodput_per_s),
            Self::P99 if times.lower_bounds.iter().any(|name| name == "p99") => None,
            Self::P99 => times.p99.filter(|us| *us > 0.0).map(|us| 1.0 / us),
        }
    }

    /// A ratio of what is compared as one of what is shown.
    pub(crate) fn shown(self, ratio: f64) -> f64 {
        match self {
            Self::Goodput => ratio,
            Self::P99 => 1.0 / ratio,
        }
    }
}

/// What a table is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TableName<'a> {
    pub(crate) round: &'a str,
    pub(crate) load: &'a str,
    /// Rows that two drivers measured are in two tables: no rank is of both.
    pub(crate) driver: Driver,
}

impl TableName<'_> {
    pub(crate) fn has(&self, trial: &Trial) -> bool {
        trial.round == self.round && base_load(&trial.load) == self.load && trial.driver == self.driver
    }

    /// As it stands above the table.
    pub(crate) fn heading(&self) -> String {
        format!("{}, {}{}", heading(self.round), heading(self.load), by_driver(self.driver))
    }

    /// A cell of it.
    pub(crate) fn cell(&self, stack: &str) -> CellName {
        let Self { round, load, driver } = *self;
        CellName { round: round.into(), load: load.into(), driver, stack: stack.into() }
    }
}

/// A table: its rows, and what was measured beside them.
pub(crate) struct Rows<'a> {
    pub(crate) compared: Compared,
    pub(crate) cells: Vec<Cell<'a>>,
    /// One of the rows measured once more in each block.
    pub(crate) twin: Option<Twin>,
    /// The median rate that the client reached of the calibration target.
    pub(crate) ceiling_per_s: Option<f64>,
}

impl<'a> Rows<'a> {
    /// Those of a table.
    pub(crate) fn of(trials: &'a [Trial], table: TableName<'_>) -> Self {
        let blocks = trials.iter().map(|trial| trial.block as usize + 1).max().unwrap_or(0);
        let mut compared = Compared::Goodput;
        let mut by_stack: BTreeMap<(Role, &str), Trials<'_>> = BTreeMap::new();
        for trial in trials.iter().filter(|trial| table.has(trial)) {
            let of_stack = by_stack.entry((trial.role, &trial.stack)).or_default();
            of_stack.by_block.resize(blocks, None);
            match &trial.result {
                TrialResult::Measured(measured) => {
                    of_stack.measured.push(measured);
                    compared = Compared::of(measured);
                    of_stack.by_block[trial.block as usize] = compared.value(measured);
                }
                TrialResult::Failed { .. } => of_stack.failed += 1,
            }
        }
        let (mut cells, mut twins, mut ceiling_per_s) = (Vec::new(), Vec::new(), None);
        for ((role, stack), Trials { measured, failed, by_block }) in by_stack {
            let goodputs: Vec<f64> = measured.iter().map(|trial| trial.load.goodput_per_s).collect();
            let Some(goodput) = Spread::of(&goodputs) else { continue };
            match role {
                Role::Stack => cells.push(Cell { stack, goodput, trials: measured, failed, by_block }),
                Role::Twin => twins.push((stack, by_block)),
                Role::Control => ceiling_per_s = Some(goodput.median),
            }
        }
        let twin = twins.into_iter().find_map(|(stack, values)| {
            let of = cells.iter().position(|cell| cell.stack == stack)?;
            Some(Twin { of, values })
        });
        Self { compared, cells, twin, ceiling_per_s }
    }

    /// How far its twin is from the stack that is doubled: what is shown of the one over that of the other, and the noise
    /// within a block.
    pub(crate) fn twin_gap(&self, seed: Seed) -> Option<(&'a str, Ratio, Option<f64>)> {
        let twin = self.twin.as_ref()?;
        let of = &self.cells[twin.of];
        let ratios = LogRatios::of(&twin.values, &of.by_block);
        let ratio = ratios.ratio(seed)?;
        let ends = ratio.low.zip(ratio.high).map(|(low, high)| {
            let (one, other) = (self.compared.shown(low), self.compared.shown(high));
            (one.min(other), one.max(other))
        });
        let shown = Ratio {
            value: self.compared.shown(ratio.value),
            low: ends.map(|(low, _)| low),
            high: ends.map(|(_, high)| high),
        };
        Some((of.stack, shown, ratios.noise()))
    }

    /// What the rows are compared by in each block; `None` where one was not measured.
    pub(crate) fn by_block(&self) -> Vec<Vec<Option<f64>>> {
        self.cells.iter().map(|cell| cell.by_block.clone()).collect()
    }
}

/// Rounds in the order in which the trials name them first, which is that of the experiment, and the loads of each from
/// small to large, each by every driver, our own first: the trials name those in random order.
pub(crate) fn tables(trials: &[Trial]) -> Vec<TableName<'_>> {
    let mut seen: Vec<TableName<'_>> = Vec::new();
    for trial in trials {
        // A stack that takes one request a connection runs the same load on fresh connections.
        let key = TableName { round: &trial.round, load: base_load(&trial.load), driver: trial.driver };
        if !seen.contains(&key) {
            seen.push(key);
        }
    }
    let rounds: Vec<&str> = seen.iter().map(|table| table.round).collect();
    let place = |round: &str| rounds.iter().position(|it| *it == round);
    seen.sort_by(|a, b| {
        let size = |label| load_size(label).unwrap_or(f64::INFINITY);
        let sizes = size(a.load).total_cmp(&size(b.load));
        let rest = || (a.load, a.driver).cmp(&(b.load, b.driver));
        place(a.round).cmp(&place(b.round)).then(sizes).then_with(rest)
    });
    seen
}
