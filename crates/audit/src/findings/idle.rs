//! Connections that did nothing, where the number of streams is not known and Little's law has no N.

use crate::findings::{Finding, Kind, Level, little};
use outputs::shown;
use outputs::{Row, Tool};

/// A connection of a run that is bounded by time has a request under way, one at least, but for the instants between an answer
/// and the next request. From this share of the time on, those don't make it.
const IDLE_MIN: f64 = 0.5;

/// h2load opens no other connection where a server ends one, and counts the rest of the run as if it had been busy.
pub(super) fn connections(row: &Row) -> Option<Finding> {
    let is_unknown = row.tool == Tool::H2load && row.duration_s.is_some() && row.streams == Some(0);
    let connections = row.connections.filter(|it| is_unknown && *it > 0)?;
    let (rate, mean) = (row.throughput_per_s()?, row.mean_ms?);
    if row.requests == Some(0) || row.asked_per_s.is_some() || rate.value <= 0.0 {
        return None;
    }
    let under_way = rate.value * mean.value / 1e3;
    let slack = under_way * rate.slack() + rate.value * mean.step / 1e3;
    let idle = 1.0 - (under_way + slack) / f64::from(connections);
    if idle < IDLE_MIN {
        return None;
    }
    // Of a short run, what was under way on every connection at its end is in no figure. One request on each is the least.
    let least_ms = f64::from(connections) / rate.value * 1e3;
    let under_way_ms = little::under_way_ms(row, idle, least_ms);
    let level = if under_way_ms.is_some() { Level::Unknown } else { Level::Broken };
    let what = under_way_ms.map_or_else(
        || {
            format!(
                "they stood idle for {} of the run. h2load opens no other connection where a server ends one (GOAWAY, as nginx \
                 sends after 1000 requests), and divides by the whole time",
                shown::percent(idle)
            )
        },
        |age_ms| {
            let ended = little::ended(row, "those that were", age_ms);
            format!("{ended}; by connections / X it is {} at least", shown::time(least_ms))
        },
    );
    let text = format!(
        "{} x {} = {} requests under way on {connections} connections, each of which has one at any time at least: {what}",
        shown::rate(rate.value),
        shown::time(mean.value),
        shown::count(under_way)
    );
    Some(Finding::of(row, level, Kind::IdleConnections, text))
}
