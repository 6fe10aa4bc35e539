//! The load's clock as JMeter's: whole milliseconds, rounded down.

use units::{Duration, Instant};

/// Milliseconds since 1970 at `at`. `clock` is an instant and the milliseconds since 1970 at it.
pub(crate) fn epoch_ms((clock, epoch_ms): (Instant, u64), at: Instant) -> u64 {
    (epoch_ms + milliseconds(at.since(clock))).saturating_sub(milliseconds(clock.since(at)))
}

/// The whole milliseconds of a span.
pub(crate) fn milliseconds(span: Duration) -> u64 {
    span.as_nanos() / 1_000_000
}
