//! Trials sorted into the tables and rows they belong to.

use std::collections::{BTreeMap, BTreeSet};

use explain::{Reason, ReasonKind, audit_trial, ceiling_beside};
use record::{
    CellName, Distribution, Driver, LoadId, Measured, RankedBy, Role, Trial, TrialResult, observed,
};
use stats::{LogRatios, Observation, Ratio, Spread, Twin};

use crate::figure::{by_driver, heading, share};
use crate::told::{Doubt, TimeUs};

/// All measured trials of one cell.
pub(crate) struct Cell<'a> {
    pub(crate) stack: &'a str,
    trials: Vec<&'a Measured>,
    /// Trials that failed.
    pub(crate) failed: usize,
    pub(crate) goodput: Spread,
    /// The median over its trials of each time: response times, or service times where its driver told no others.
    pub(crate) times: Distribution,
    /// What it is ranked by in each block of its table; `None` where it was not tried.
    pub(crate) by_block: Vec<Option<Observation>>,
    /// The median rate that the client reached of the calibration target, where that was asked as this cell was.
    pub(crate) ceiling_per_s: Option<f64>,
    /// Whether it was asked as the control of its table was, or would have been, so that the rate of that one is its ceiling.
    pub(crate) as_control: bool,
    ranked_by: RankedBy,
}

impl Cell<'_> {
    /// The trial in the middle of what the cell is ranked by: its curves and its explanation stand for the cell's.
    pub(crate) fn typical(&self) -> &Measured {
        explain::typical(&self.trials).expect("a cell has trials")
    }

    /// CPU time a request of the server, µs: the median over its trials.
    pub(crate) fn server_us_per_request(&self) -> Option<f64> {
        self.median(|it| it.server.cpu_us_per_request)
    }

    /// The same of the generator.
    pub(crate) fn client_us_per_request(&self) -> Option<f64> {
        self.median(|it| it.load.cpu_us_per_request)
    }

    /// Share of the time that the client's busiest load thread was on a CPU: the median over its trials.
    pub(crate) fn client_busy_share(&self) -> Option<f64> {
        self.median(|it| Some(it.load.generator.busy_share))
    }

    /// Whether it was asked over HTTP/1.1 without TLS, as every control is.
    pub(crate) fn is_plain_http1(&self) -> bool {
        self.trials.iter().all(|trial| trial.load.is_plain_http1())
    }

    /// Most resident memory of the server within the window, bytes: the median over its trials.
    pub(crate) fn rss_bytes(&self) -> Option<f64> {
        self.median(|it| Some(it.server.rss_bytes_max? as f64))
    }

    /// The median over its trials of each service time, which every driver tells.
    pub(crate) fn service_times(&self) -> Distribution {
        Distribution::of_medians(&self.trials.iter().map(|it| &it.load.service_time_us).collect::<Vec<_>>())
    }

    fn median(&self, figure: impl Fn(&Measured) -> Option<f64>) -> Option<f64> {
        let all = self.trials.iter().filter_map(|it| figure(it)).filter(|it| it.is_finite());
        Spread::of(&all.collect::<Vec<f64>>()).map(|it| it.median)
    }

    /// In how many of the blocks in which it was tried it failed, and how many those are.
    pub(crate) fn failed_blocks(&self) -> (usize, usize) {
        let tried = || self.by_block.iter().flatten();
        (tried().filter(|it| **it == Observation::Failed).count(), tried().count())
    }

    /// The same in words, where there is any.
    pub(crate) fn failed_blocks_text(&self) -> Option<String> {
        let (failed, tried) = self.failed_blocks();
        let what = match self.ranked_by {
            RankedBy::Goodput => "no good answer",
            RankedBy::ResponseP99 => "over 1 % unanswered",
        };
        (failed > self.failed).then(|| format!("{what} in {} of {tried} trials", failed - self.failed))
    }

    /// Those that were measured.
    pub(crate) fn trials(&self) -> &[&Measured] {
        &self.trials
    }

    /// What failed of what was intended, all trials together, by kind; nothing where nothing did.
    pub(crate) fn failures(&self) -> BTreeMap<String, (u64, u64)> {
        let mut sums: BTreeMap<String, u64> = BTreeMap::new();
        // A record bounds what is counted of a trial, and not of all trials together.
        let mut add = |name: String, count: u64| {
            let sum = sums.entry(name).or_default();
            *sum = sum.saturating_add(count);
        };
        let intended = self.trials.iter().map(|trial| trial.load.intended).fold(0, u64::saturating_add);
        for trial in &self.trials {
            for (name, count) in trial.load.outcomes.failures() {
                add(name.replace('_', " "), count);
            }
            let unexpected = trial.load.outcomes.answered.saturating_sub(trial.load.answered_as_expected);
            add("unexpected".into(), unexpected);
        }
        sums.retain(|_, count| *count > 0);
        sums.into_iter().map(|(name, count)| (name, (count, intended))).collect()
    }

    /// The same in words; nothing where nothing failed.
    pub(crate) fn failures_text(&self) -> Option<String> {
        let list: Vec<String> = self
            .failures()
            .iter()
            .map(|(name, (count, intended))| format!("{name} {}", share(*count, *intended)))
            .collect();
        (!list.is_empty()).then(|| list.join(", "))
    }

    /// Why the figures are not simply the server's, if any trial's audit says so, the gravest first: the first reason of
    /// each kind, and how many trials have one.
    pub(crate) fn reasons(&self) -> Vec<(Reason, usize)> {
        let mut by_kind: BTreeMap<ReasonKind, (Reason, usize)> = BTreeMap::new();
        for trial in &self.trials {
            let mut reasons = audit_trial(trial, self.ceiling_per_s).reasons;
            reasons.dedup_by_key(|reason| reason.kind);
            for reason in reasons {
                by_kind.entry(reason.kind).or_insert((reason, 0)).1 += 1;
            }
        }
        by_kind.into_values().collect()
    }

    /// The same in words.
    pub(crate) fn doubts(&self) -> Vec<String> {
        let reasons = self.reasons();
        let mut doubts: Vec<String> =
            reasons.iter().map(|(reason, _)| reason.kind.name().to_owned()).collect();
        if self.failed > 0 {
            doubts.insert(0, format!("{} of {} trials failed", self.failed, self.failed + self.trials.len()));
        }
        doubts.splice(0..0, self.failed_blocks_text());
        doubts
    }

    /// Why the figures are not simply the server's, as documents tell it.
    pub(crate) fn doubted(&self) -> Vec<Doubt> {
        let told = |(reason, trials): (Reason, usize)| Doubt {
            kind: reason.kind,
            name: reason.kind.name().to_owned(),
            trials,
            text: reason.text,
        };
        self.reasons().into_iter().map(told).collect()
    }

    /// One of its times by name; `None` where it is not known.
    pub(crate) fn time(&self, name: &str) -> Option<TimeUs> {
        let (us, is_lower_bound) = self.times.told(name)?;
        us.is_finite().then_some(TimeUs { us, is_lower_bound })
    }
}

/// What a stack's trials of one cell came to, as they are read.
#[derive(Default)]
struct Trials<'a> {
    measured: Vec<&'a Measured>,
    failed: usize,
    by_block: Vec<Option<Observation>>,
}

/// What a table is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TableName<'a> {
    pub(crate) round: &'a str,
    pub(crate) load: &'a LoadId,
    /// Rows that two drivers measured are in two tables: no rank is of both.
    pub(crate) driver: Driver,
    /// As its stacks' loads have it. The load of a control is another.
    pub(crate) ranked_by: RankedBy,
}

impl TableName<'_> {
    /// Whether a trial belongs to it. What says of itself that it is ranked by something else does not, whatever its load
    /// is called.
    pub(crate) fn has(&self, trial: &Trial) -> bool {
        trial.round == self.round
            && trial.load.id == *self.load
            && trial.driver == self.driver
            && ranked_by(trial).is_none_or(|it| it == self.ranked_by)
    }

    /// As it stands above the table.
    pub(crate) fn heading(&self) -> String {
        format!("{}, {}{}", heading(self.round), heading(&self.load.to_string()), by_driver(self.driver))
    }

    /// A cell of it.
    pub(crate) fn cell(&self, stack: &str) -> CellName {
        let Self { round, load, driver, .. } = *self;
        CellName { round: round.into(), load: load.clone(), driver, stack: stack.into() }
    }
}

/// What a stack's own trial, or its twin's, is ranked by. A trial that failed does not say, and a control has another
/// load than the table that it stands beside.
fn ranked_by(trial: &Trial) -> Option<RankedBy> {
    match &trial.result {
        TrialResult::Measured(measured) if trial.role != Role::Control => Some(RankedBy::of(measured)),
        _ => None,
    }
}

/// A table: its rows, and what was measured beside them.
pub(crate) struct Rows<'a> {
    pub(crate) ranked_by: RankedBy,
    pub(crate) cells: Vec<Cell<'a>>,
    /// One of the rows measured once more in each block.
    pub(crate) twin: Option<Twin>,
    /// The median rate that the client reached of the calibration target, however the rows were asked.
    pub(crate) ceiling_per_s: Option<f64>,
    /// One of its controls.
    control: Option<&'a Measured>,
}

impl<'a> Rows<'a> {
    /// How the control was asked, where a row was asked otherwise, so that its rate is no ceiling of that.
    pub(crate) fn control_words(&self) -> String {
        let loads = || self.cells.iter().flat_map(|cell| &cell.trials).map(|trial| &trial.load);
        let is_plain = loads().all(record::LoadResult::is_plain_http1);
        let over = if is_plain { "" } else { " over HTTP/1.1 without TLS" };
        let is_fresh = self.control.map(|control| control.load.has_fresh_connections());
        let used = match is_fresh.filter(|fresh| loads().any(|load| load.has_fresh_connections() != *fresh)) {
            Some(false) => " on connections that are kept",
            Some(true) => " on a fresh connection for each request",
            None => "",
        };
        format!("{over}{used}")
    }

    /// Those of a table.
    pub(crate) fn of(trials: &'a [Trial], table: TableName<'_>) -> Self {
        let ranked_by = table.ranked_by;
        let of_table = || trials.iter().filter(|trial| table.has(trial));
        // The table's own blocks, by their place: a record may number them as it likes.
        let blocks: BTreeSet<u32> = of_table().map(|trial| trial.block).collect();
        let places: BTreeMap<u32, usize> = blocks.into_iter().zip(0..).collect();
        let mut by_stack: BTreeMap<(Role, &str), Trials<'_>> = BTreeMap::new();
        for trial in of_table() {
            let of_stack = by_stack.entry((trial.role, &trial.stack)).or_default();
            of_stack.by_block.resize(places.len(), None);
            of_stack.by_block[places[&trial.block]].get_or_insert(observed(trial, ranked_by));
            match &trial.result {
                TrialResult::Measured(measured) => of_stack.measured.push(measured),
                TrialResult::Failed { .. } => of_stack.failed += 1,
            }
        }
        let of_controls = by_stack.iter().filter(|((role, _), _)| *role == Role::Control);
        let controls: Vec<&'a Measured> =
            of_controls.flat_map(|(_, trials)| trials.measured.iter().copied()).collect();
        let (mut cells, mut twins, mut ceiling_per_s) = (Vec::new(), Vec::new(), None);
        for ((role, stack), Trials { measured, failed, by_block }) in by_stack {
            let goodputs: Vec<f64> = measured.iter().map(|trial| trial.load.goodput_per_s).collect();
            let Some(goodput) = Spread::of(&goodputs) else { continue };
            match role {
                Role::Stack => {
                    let all: Vec<&Distribution> = measured.iter().map(|trial| trial.load.times()).collect();
                    let times = Distribution::of_medians(&all);
                    let of_controls = controls.iter().copied();
                    cells.push(Cell {
                        stack,
                        ceiling_per_s: ceiling_beside(measured.first().copied(), of_controls),
                        as_control: is_asked_as(&measured, controls.first().copied()),
                        trials: measured,
                        failed,
                        goodput,
                        times,
                        by_block,
                        ranked_by,
                    });
                }
                Role::Twin => twins.push((stack, by_block)),
                Role::Control => ceiling_per_s = Some(goodput.median),
            }
        }
        let twin = twins.into_iter().find_map(|(stack, values)| {
            let of = cells.iter().position(|cell| cell.stack == stack)?;
            Some(Twin { of, values })
        });
        Self { ranked_by, cells, twin, ceiling_per_s, control: controls.first().copied() }
    }

    /// How far its twin is from the stack that is doubled: what is shown of the one over that of the other, and the noise
    /// within a block.
    pub(crate) fn twin_gap(&self) -> Option<(&'a str, Ratio, Option<f64>)> {
        let twin = self.twin.as_ref()?;
        let of = &self.cells[twin.of];
        let ratios = LogRatios::of(&twin.values, &of.by_block);
        Some((of.stack, shown(self.ranked_by, ratios.ratio()?), ratios.noise()))
    }

    /// What the rows are ranked by in each block; `None` where one was not tried.
    pub(crate) fn by_block(&self) -> Vec<Vec<Option<Observation>>> {
        self.cells.iter().map(|cell| cell.by_block.clone()).collect()
    }
}

/// A ratio of what rows are ranked by as one of what is shown.
pub(crate) fn shown(ranked_by: RankedBy, ratio: Ratio) -> Ratio {
    let turned = |end: Option<f64>| end.map(|it| ranked_by.shown(it));
    let (low, high) = (turned(ratio.low), turned(ratio.high));
    let (low, high) = if ranked_by == RankedBy::Goodput { (low, high) } else { (high, low) };
    Ratio { value: ranked_by.shown(ratio.value), low, high }
}

/// Rounds in the order in which the trials name them first, which is that of the experiment, and the loads of each in
/// theirs, each by every driver, our own first: the trials name those in random order.
pub(crate) fn tables<'a>(trials: &'a [Trial]) -> Vec<TableName<'a>> {
    // A stack that takes one request a connection runs the same load on fresh connections.
    let named = |trial: &'a Trial, ranked_by| TableName {
        round: &trial.round,
        load: &trial.load.id,
        driver: trial.driver,
        ranked_by,
    };
    let mut seen: Vec<TableName<'_>> = Vec::new();
    for (trial, ranked_by) in trials.iter().filter_map(|trial| Some((trial, ranked_by(trial)?))) {
        let table = named(trial, ranked_by);
        if !seen.contains(&table) {
            seen.push(table);
        }
    }
    // Those of which nothing was measured.
    for trial in trials {
        if !seen.iter().any(|table| table.has(trial)) {
            seen.push(named(trial, RankedBy::default()));
        }
    }
    let mut rounds: Vec<&str> = Vec::new();
    for trial in trials {
        if !rounds.contains(&trial.round.as_str()) {
            rounds.push(&trial.round);
        }
    }
    let place = |round: &str| rounds.iter().position(|it| *it == round);
    seen.sort_by(|a, b| {
        let rest = || (a.load, a.driver, a.ranked_by).cmp(&(b.load, b.driver, b.ranked_by));
        place(a.round).cmp(&place(b.round)).then_with(rest)
    });
    seen
}

/// Whether all were asked as the control was; without one, as any would have been.
fn is_asked_as(trials: &[&Measured], control: Option<&Measured>) -> bool {
    trials.iter().all(|trial| match control {
        Some(control) => trial.load.is_asked_as(&control.load),
        None => trial.load.is_plain_http1(),
    })
}
