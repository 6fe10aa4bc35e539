//! The machine's monotonic clock, and sleeping on it.

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};
use units::{Duration, Instant};

/// The longest a sleeping thread takes to notice that the server stops.
const SLEEP_SLICE: Duration = Duration::from_millis(250);

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
