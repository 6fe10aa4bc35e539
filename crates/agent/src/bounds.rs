//! What an agent can come to at most: what it tells is added up with what others tell.

use stats::Tally;
use units::Duration;

use crate::clock::DRIFT_MAX_PPM;

/// Requests, answers or connections that one agent counts: at a million a second it takes thirty years. Those of as many
/// agents as there are at most can be added up.
pub(crate) const COUNT_MAX: u64 = 1_000_000_000_000_000;
/// Bytes that one agent receives, likewise: 16 PiB.
pub(crate) const BYTES_MAX: u64 = 1 << 54;
/// By how much an agent may have begun before us: clocks are known far closer.
const AHEAD: Duration = Duration::from_secs(5);

/// The latest that an agent may tell of, `elapsed` after the begin: its clock may be ahead and go fast, and no more.
pub(crate) fn latest(elapsed: Duration) -> Duration {
    let drift_ns = elapsed.as_nanos() / 1_000_000 * DRIFT_MAX_PPM;
    elapsed + Duration::from_nanos(drift_ns) + AHEAD
}

/// What all intervals of an agent come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sums {
    pub(crate) intended: u64,
    done: u64,
    received_bytes: u64,
}

impl Sums {
    /// Of so many requests so far.
    pub(crate) fn of(intended: u64) -> Self {
        Self { intended, ..Self::default() }
    }

    /// With another interval; `None` where that is more than can be.
    pub(crate) fn with(self, tally: &Tally) -> Option<Self> {
        let sums = Self {
            intended: self.intended.checked_add(tally.intended)?,
            done: self.done.checked_add(tally.done)?,
            received_bytes: self.received_bytes.checked_add(tally.done_received_bytes)?,
        };
        let fits = sums.intended <= COUNT_MAX && sums.done <= COUNT_MAX && sums.received_bytes <= BYTES_MAX;
        fits.then_some(sums)
    }
}
