//! The clocks that instants and CPU times are read from.

use rustix::time::{ClockId, clock_gettime};
use units::{Duration, Instant};

/// CLOCK_MONOTONIC: the clock of every instant of a real run, shared by all processes of a machine.
pub fn monotonic_now() -> Instant {
    Instant::from_nanos(nanos(ClockId::Monotonic))
}

/// CPU time of the calling thread so far, user and system.
pub fn thread_cpu() -> Duration {
    Duration::from_nanos(nanos(ClockId::ThreadCPUTime))
}

fn nanos(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
