//! Which figure of a trial may be compared with that of another.

use plan::Metric;
use record::{CellName, Measured, Trial, TrialResult, measured_controls};
use stats::Spread;

use crate::audit::{ReasonKind, audit_trial};
use crate::facts::{Context, Facts, OF_ANSWERS_MIN};
use crate::workers::spins;

/// Why a trial's figure is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LeftOut {
    /// The measurement was at fault.
    Audit(ReasonKind),
    /// The figure falls among censored samples.
    LowerBound,
    /// There is no such figure, or it is 0: nothing good came of the trial.
    Absent,
    /// So few requests do not know the percentile.
    TooFewRequests,
    /// It was not looked at, or could not be seen.
    Unseen,
}

impl LeftOut {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Audit(kind) => kind.name(),
            Self::LowerBound => "the figure is only a lower bound",
            Self::Absent => "no figure above 0",
            Self::TooFewRequests => "so few requests do not know it",
            Self::Unseen => "the figure could not be seen",
        }
    }

    /// Whether the service did so badly that there is no figure, rather than the measurement: without such trials, others are
    /// compared with what a stack does where it behaves. One that is slow has few requests.
    pub(crate) const fn is_services_fault(self) -> bool {
        match self {
            Self::Audit(kind) => kind.is_services_fault(),
            Self::LowerBound | Self::Absent | Self::TooFewRequests => true,
            Self::Unseen => false,
        }
    }
}

/// A trial's figure, where it may be used, and what the audit says of it all the same.
pub(crate) struct Usable {
    pub(crate) figure: Result<f64, LeftOut>,
    /// Between what the service's own figure lies: just at it, or what a trial says all the same whose own may not be used.
    pub(crate) range: Option<Range>,
    pub(crate) doubts: Vec<ReasonKind>,
}

/// Between what a figure lies, both in its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    pub(crate) least: f64,
    /// `None` where nothing says.
    pub(crate) most: Option<f64>,
}

impl Range {
    /// What a figure that is known lies between.
    pub(crate) const fn exactly(figure: f64) -> Self {
        Self { least: figure, most: Some(figure) }
    }

    /// As it was read: a mean with what the client added to it, a rate as far as the client came.
    pub(crate) fn as_read(self) -> f64 {
        self.most.unwrap_or(self.least)
    }

    /// What is known of a trial that has these reasons against it and no others.
    ///
    /// A service carries no less than what a client that was the limit had of it. Its mean time is at most what was read of it, for
    /// where the client is sooner, users wait at the service instead, which answers no fewer of them a
    /// second. That one does not answer fewer with more of them waiting is assumed.
    fn of(measured: &Measured, metric: Metric, against: &[ReasonKind]) -> Option<Self> {
        let range = match metric {
            Metric::Goodput if against.iter().all(|kind| kind.limits_the_rate()) => {
                Self { least: measured.load.goodput_per_s, most: None }
            }
            Metric::ResponseMean if against.iter().all(|kind| kind.is_clients_doing()) => {
                let most_us = figure(measured, metric).ok()?;
                let is_only_read_late = against.iter().all(|kind| *kind == ReasonKind::LateReceiver);
                let before_reading = measured.load.receive_lag_us.mean.filter(|_| is_only_read_late);
                let least_us = [
                    before_reading.map(|unread_us| most_us - unread_us),
                    own_share_of_cores(measured).map(|share| most_us * share),
                ];
                Self { least: least_us.into_iter().flatten().reduce(f64::max)?, most: Some(most_us) }
            }
            _ => return None,
        };
        (range.least > 0.0 && range.least.is_finite()).then_some(range)
    }
}

/// The share of all cores that the service used of the machine, where users ask without a pause.
///
/// With all of them it would answer at most as many times more as that is less than 1, since an answer costs the CPU time that it
/// costs (the utilisation law), so that its users would wait at least this share of what they did (Little's law): the asymptotic
/// bound of a closed system (Denning and Buzen, "The Operational Analysis of Queueing Network Models", 1978).
///
/// What it spins away is no answer's cost, and would make that bound too high. Of an answer that took the idle service less time in
/// all than it took of the CPU under load, no more than the former is counted; where most of the CPU time went elsewhere, or a runtime is
/// known to spin, nothing is.
fn own_share_of_cores(measured: &Measured) -> Option<f64> {
    measured.load.littles_law?;
    let server = &measured.server;
    // What a JVM compiles in the window is no answer's cost.
    let compiling_cores = server.compilers_cores().unwrap_or(0.0);
    let used = server.cpu_cores? - compiling_cores;
    let context = Context::default();
    let facts = Facts::of(measured, &context);
    let most_for_answers = facts.idle_work_s().map_or(used, |idle_s| facts.rate * idle_s);
    if spins(&facts) || most_for_answers < OF_ANSWERS_MIN * used {
        return None;
    }
    let share = used.min(most_for_answers) / f64::from(measured.host.as_ref()?.cores);
    (share > 0.0).then_some(share.min(1.0))
}

impl Usable {
    /// `ceiling_per_s` as [`audit_trial`] has it.
    pub(crate) fn of(measured: &Measured, metric: Metric, ceiling_per_s: Option<f64>) -> Self {
        let kinds = audit_trial(measured, ceiling_per_s).reasons.into_iter().map(|reason| reason.kind);
        // Who answers nothing as expected does so by himself, however busy or late that makes the generator, and however long
        // users wait in vain.
        let is_dead = measured.load.answered_as_expected == 0 && measured.load.intended > 0;
        let is_excuse = |kind: ReasonKind| is_at_fault(kind, metric) && !(is_dead && comes_of_failures(kind));
        let (at_fault, doubts): (Vec<_>, Vec<_>) = kinds.partition(|kind| is_excuse(*kind));
        let figure = match (at_fault.first(), figure(measured, metric)) {
            // Late reading makes no answer stay away.
            (Some(ReasonKind::LateReceiver), Err(why)) if why.is_services_fault() => Err(why),
            (Some(kind), _) => Err(LeftOut::Audit(*kind)),
            (None, figure) => figure,
        };
        let range = match figure {
            Ok(figure) => Some(Range::exactly(figure)),
            Err(LeftOut::Audit(_)) => Range::of(measured, metric, &at_fault),
            Err(_) => None,
        };
        Self { figure, range, doubts }
    }

    /// The same for who asks what a stack does once it is warm. Where compilers took CPU time from the answers, it carries no less than
    /// it did; how long its answers take then, nobody knows.
    pub(crate) fn once_warm(self, metric: Metric) -> Self {
        let is_of_answers = metric == Metric::Goodput || metric.response_figure().is_some();
        if !is_of_answers || !self.doubts.contains(&ReasonKind::Compiling) {
            return self;
        }
        let range =
            self.range.filter(|_| metric == Metric::Goodput).map(|range| Range { most: None, ..range });
        let figure = self.figure.and(Err(LeftOut::Audit(ReasonKind::Compiling)));
        Self { figure, range, ..self }
    }
}

/// CPU time a request of a stack and what stands behind it, µs.
pub(crate) fn cpu_us_per_request(measured: &Measured) -> Option<f64> {
    let behind = measured.upstreams.iter().filter_map(|it| it.server.cpu_us_per_request);
    let sum = measured.server.cpu_us_per_request? + behind.sum::<f64>();
    (sum > 0.0 && sum.is_finite()).then_some(sum)
}

/// The middle value, or the mean of the middle two. `None` of none.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    Spread::of(values).map(|spread| spread.median)
}

/// What the client reached of the calibration target in those of `controls` that were asked as `of` was: the median. `None` where
/// none was. Where it is not known how that was asked, all count.
pub fn ceiling_beside<'a>(
    of: Option<&Measured>,
    controls: impl IntoIterator<Item = &'a Measured>,
) -> Option<f64> {
    let is_its = |control: &&Measured| of.is_none_or(|of| of.load.is_asked_as(&control.load));
    let rates: Vec<f64> = controls.into_iter().filter(is_its).map(|it| it.load.goodput_per_s).collect();
    median(&rates)
}

/// The same for a cell, by the controls that are of one table. All trials of a cell are asked alike.
pub(crate) fn ceiling_per_s(
    trials: &[Trial],
    is_of_cell: impl Fn(&Trial) -> bool,
    is_of_table: impl Fn(&CellName) -> bool,
) -> Option<f64> {
    let asked = trials.iter().find_map(|trial| match &trial.result {
        TrialResult::Measured(it) if is_of_cell(trial) => Some(&**it),
        TrialResult::Measured(_) | TrialResult::Failed { .. } => None,
    });
    let of_table = measured_controls(trials).filter(|(control, _)| is_of_table(control));
    ceiling_beside(asked, of_table.map(|(_, control)| control))
}

/// The same at its very load and by its driver: what [`crate::audit_trial`] holds its rates against.
pub fn ceiling_of(trials: &[Trial], cell: &CellName) -> Option<f64> {
    let CellName { round, load, driver, stack } = cell;
    ceiling_per_s(
        trials,
        |trial| (&trial.round, &trial.load.id, trial.driver, &trial.stack) == (round, load, *driver, stack),
        |control| (&control.round, &control.load, control.driver) == (round, load, *driver),
    )
}

/// Whether a service that answers nothing can bring it about by itself.
const fn comes_of_failures(kind: ReasonKind) -> bool {
    !matches!(
        kind,
        ReasonKind::Empty | ReasonKind::Interrupted | ReasonKind::LostAgent | ReasonKind::RampNotOver
    )
}

/// Whether a reason makes the figure one of the measurement and not of the service.
///
/// A service that fails, or is too slow, did so by itself: its goodput counts what it did well, and stands. A rate is a
/// count over a time, which neither a broken Little's law nor late reading of answers changes; latency is. In the
/// closed model a generator that sends late lowers the rate by its lag over the response time, which is little where
/// the generator is not bound. That a service was still compiling or getting faster, or went over to another level, is in its rate and
/// in its times alike, since the one is the users over the other: either stands, with a note.
const fn is_at_fault(kind: ReasonKind, metric: Metric) -> bool {
    match metric {
        Metric::Goodput | Metric::FailedShare | Metric::ServerThreads => {
            kind.limits_the_rate() || !comes_of_failures(kind)
        }
        _ => !kind.is_services_fault() && !kind.is_unsteady(),
    }
}

fn figure(measured: &Measured, metric: Metric) -> Result<f64, LeftOut> {
    let load = &measured.load;
    let Some(name) = metric.response_figure() else {
        let figure = match metric {
            // Half a request more, so that a service that never fails has a figure to compare, too.
            Metric::FailedShare => {
                let failed = load.intended.saturating_sub(load.answered_as_expected) as f64;
                (failed + 0.5) / (load.intended as f64 + 1.0)
            }
            Metric::ServerThreads => f64::from(measured.server.threads_max.ok_or(LeftOut::Unseen)?),
            _ => load.goodput_per_s,
        };
        return if figure > 0.0 && figure.is_finite() { Ok(figure) } else { Err(LeftOut::Absent) };
    };
    // What fails at once is no time that anybody waited for an answer.
    if load.answered_as_expected == 0 {
        return Err(LeftOut::Absent);
    }
    match load.times().figure(name) {
        Some((us, false)) if us > 0.0 && us.is_finite() => Ok(us),
        Some((_, true)) => Err(LeftOut::LowerBound),
        // Another driver tells some figures and no others, which is not the service's doing.
        None if load.driver.is_some() => Err(LeftOut::Unseen),
        _ => Err(LeftOut::Absent),
    }
}
