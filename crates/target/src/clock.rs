//! The machine's monotonic clock, and sleeping on it.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
use units::{Duration, Instant};

/// The longest a sleeping thread takes to notice that the server stops.
const SLEEP_SLICE: Duration = Duration::from_millis(250);
/// Steps of a computation between two looks at the thread's clock, which is a system call: some microseconds, so that
/// nearly all of the time is the program's own and a burn is that exact.
const BURN_STEPS: u32 = 2_000;
/// Knuth's multiplier of a linear congruential generator: a step that no compiler sums up.
const BURN_FACTOR: u64 = 6_364_136_223_846_793_005;

/// `CLOCK_MONOTONIC`: nanoseconds since boot, the same number in every process of the machine.
pub(crate) fn now() -> Instant {
    let time = clock_gettime(ClockId::Monotonic);
    Instant::from_nanos(time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned())
}

/// `instant` as the kernel takes it.
pub(crate) fn timespec(instant: Instant) -> Timespec {
    let nanos = instant.as_nanos();
    Timespec { tv_sec: (nanos / 1_000_000_000).cast_signed(), tv_nsec: (nanos % 1_000_000_000).cast_signed() }
}

/// Blocks the thread until `due`. `false` when `stop` was raised before that.
pub(crate) fn sleep_until(due: Instant, stop: &AtomicBool) -> bool {
    loop {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        let at = now();
        if at >= due {
            return true;
        }
        // An interrupted sleep is begun again by the loop; the target is absolute, so nothing drifts.
        let _ = clock_nanosleep_absolute(ClockId::Monotonic, &timespec(due.min(at + SLEEP_SLICE)));
    }
}

/// Computes until the calling thread has used so much more CPU time, or `stop` is raised. However long it has to wait for
/// a core, it takes its time on one.
pub(crate) fn burn(time: Duration, stop: &AtomicBool) {
    let end = thread_cpu_time() + time;
    let mut state = 1;
    while thread_cpu_time() < end && !stop.load(Ordering::Relaxed) {
        for _ in 0..BURN_STEPS {
            state = black_box(BURN_FACTOR.wrapping_mul(state).wrapping_add(1));
        }
    }
}

/// CPU time that the calling thread has used.
fn thread_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::from_nanos(time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burn_takes_its_cpu_time_and_little_more() {
        let before = thread_cpu_time();
        burn(Duration::from_millis(20), &AtomicBool::new(false));
        let used = thread_cpu_time().saturating_sub(before);
        assert!(used >= Duration::from_millis(20) && used < Duration::from_millis(30), "{used}");
    }
}
