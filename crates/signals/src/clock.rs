//! The clocks that readings are dated and paced by.

use rustix::time::{ClockId, clock_gettime};
use units::{Duration, Instant};

/// CLOCK_MONOTONIC, the clock of the load's own instants.
pub(crate) fn now() -> Instant {
    let time = clock_gettime(ClockId::Monotonic);
    Instant::from_nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// CPU time of the calling thread so far, user and system.
pub(crate) fn thread_cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::from_nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}
