//! What siege prints and other tools don't: a concurrency that is computed from rate and latency.

use crate::findings::{Finding, Kind, Level};
use outputs::shown;
use outputs::{Figure, Row};

/// `Concurrency`: the time of all answers over that of the run, so that rate x mean is it, where they are of that run.
pub(super) fn by_definition(row: &Row) -> Option<Finding> {
    let (busy, rate, mean) = (row.busy?, row.rate_per_s?, row.mean_ms?);
    let value = rate.value * mean.value / 1e3;
    let due = Figure { value, step: rate.step * mean.value / 1e3 + rate.value * mean.step / 1e3 };
    let text = format!(
        "`Concurrency` is {}, and {} x {}, which is how siege computes it, is {}: not all of them are of one run",
        shown::count(busy.value),
        shown::rate(rate.value),
        shown::time(mean.value),
        shown::count(value)
    );
    (!busy.agrees(due)).then(|| Finding::of(row, Level::Broken, Kind::ByDefinition, text))
}
