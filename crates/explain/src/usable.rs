//! Which figure of a trial may be compared with that of another.

use plan::Metric;
use record::{CellName, Measured, Trial, measured_controls};
use stats::Spread;

use crate::audit::{ReasonKind, audit_trial};

/// Why a trial's figure is not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LeftOut {
    /// The measurement was at fault.
    Audit(ReasonKind),
    /// The figure falls among censored samples.
    LowerBound,
    /// There is no such figure, or it is 0: nothing good came of the trial.
    Absent,
    /// It was not looked at, or could not be seen.
    Unseen,
}

impl LeftOut {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Audit(kind) => kind.name(),
            Self::LowerBound => "the figure is only a lower bound",
            Self::Absent => "no figure above 0",
            Self::Unseen => "the figure could not be seen",
        }
    }

    /// Whether the service did so badly that there is no figure, rather than the measurement: without such trials, others are
    /// compared with what a stack does where it behaves.
    pub(crate) const fn is_services_fault(self) -> bool {
        match self {
            Self::Audit(kind) => kind.is_services_fault(),
            Self::LowerBound | Self::Absent => true,
            Self::Unseen => false,
        }
    }
}

/// A trial's figure, where it may be used, and what the audit says of it all the same.
pub(crate) struct Usable {
    pub(crate) figure: Result<f64, LeftOut>,
    /// Goodput of a trial at whose fault was nothing but that the client was the limit: the service carries no less, 1/s.
    pub(crate) carried_at_least: Option<f64>,
    pub(crate) doubts: Vec<ReasonKind>,
}

impl Usable {
    /// `ceiling_per_s` as [`audit_trial`] has it.
    pub(crate) fn of(measured: &Measured, metric: Metric, ceiling_per_s: Option<f64>) -> Self {
        let kinds = audit_trial(measured, ceiling_per_s).reasons.into_iter().map(|reason| reason.kind);
        // A generator that is busy with refusals made none of them.
        let is_dead = measured.load.answered_as_expected == 0 && measured.load.intended > 0;
        let is_excuse =
            |kind: ReasonKind| is_at_fault(kind, metric) && !(is_dead && kind == ReasonKind::ClientBound);
        let (at_fault, doubts): (Vec<_>, Vec<_>) = kinds.partition(|kind| is_excuse(*kind));
        let figure = match at_fault.first() {
            Some(kind) => Err(LeftOut::Audit(*kind)),
            None => figure(measured, metric),
        };
        let is_bound = metric == Metric::Goodput
            && !at_fault.is_empty()
            && at_fault.iter().all(|kind| *kind == ReasonKind::ClientBound);
        let carried = measured.load.goodput_per_s;
        let carried_at_least = (is_bound && carried > 0.0 && carried.is_finite()).then_some(carried);
        Self { figure, carried_at_least, doubts }
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

/// What the client reached of the calibration target in the controls that are of one table: the median. `None` where it had
/// none.
pub(crate) fn ceiling_per_s(trials: &[Trial], is_of_table: impl Fn(&CellName) -> bool) -> Option<f64> {
    let of_table = measured_controls(trials).filter(|(control, _)| is_of_table(control));
    let rates: Vec<f64> = of_table.map(|(_, control)| control.load.goodput_per_s).collect();
    median(&rates)
}

/// The same for a cell, at its very load and by its driver: what [`crate::audit_trial`] holds its rates against.
pub fn ceiling_of(trials: &[Trial], cell: &CellName) -> Option<f64> {
    ceiling_per_s(trials, |control| {
        (&control.round, &control.load, control.driver) == (&cell.round, &cell.load, cell.driver)
    })
}

/// Whether a reason makes the figure one of the measurement and not of the service.
///
/// A service that fails, or is too slow, did so by itself: its goodput counts what it did well, and stands. A rate is a
/// count over a time, which neither a broken Little's law nor late reading of answers changes; latency is. In the
/// closed model a generator that sends late lowers the rate by its lag over the response time, which is little where
/// the generator is not bound.
const fn is_at_fault(kind: ReasonKind, metric: Metric) -> bool {
    match metric {
        Metric::Goodput | Metric::FailedShare | Metric::ServerThreads => matches!(
            kind,
            ReasonKind::Empty
                | ReasonKind::Interrupted
                | ReasonKind::LostAgent
                | ReasonKind::RampNotOver
                | ReasonKind::ClientBound
        ),
        _ => !kind.is_services_fault(),
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
    match measured.load.response_time_us.figure(name) {
        Some((us, false)) if us > 0.0 && us.is_finite() => Ok(us),
        Some((_, true)) => Err(LeftOut::LowerBound),
        _ => Err(LeftOut::Absent),
    }
}
