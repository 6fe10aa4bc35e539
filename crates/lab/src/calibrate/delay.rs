//! The machine's own scheduling delay: how late a thread that sleeps until an instant wakes (as cyclictest
//! measures it). No program on this machine can date what comes from elsewhere better than that.

use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use driver::monotonic_now;
use record::Distribution;
use rustix::thread::{clock_nanosleep_absolute, set_current_timer_slack};
use rustix::time::{ClockId, Timespec};
use units::{Duration, Instant};

use super::truth::exact;

/// From one wake-up to the next. No multiple of it is soon a multiple of the gap between two requests, so the
/// wake-ups fall into every phase of a load.
const PERIOD: Duration = Duration::from_micros(997);
/// Eight minutes of wake-ups; what comes later is not kept.
const WAKE_UPS_MAX: usize = 500_000;

/// One wake-up.
#[derive(Debug, Clone, Copy)]
pub(super) struct WakeUp {
    due: Instant,
    late: Duration,
}

/// Sleeps and wakes until `stop`. The thread is as any other: of the usual priority, on whichever core. An instant
/// that it slept through counts from when it was due, as a request would that came then.
pub(super) fn sample(stop: &AtomicBool) -> Vec<WakeUp> {
    // The kernel may otherwise delay timers by 50 µs to batch wake-ups; the load's thread does the same.
    let _ = set_current_timer_slack(NonZeroU64::new(1));
    let mut wake_ups = Vec::new();
    let mut due = monotonic_now() + PERIOD;
    while !stop.load(Ordering::Relaxed) {
        // Interrupted by a signal, it wakes before the instant, which is then slept for again.
        let _ = clock_nanosleep_absolute(ClockId::Monotonic, &timespec(due));
        let now = monotonic_now();
        while due <= now {
            if wake_ups.len() < WAKE_UPS_MAX {
                wake_ups.push(WakeUp { due, late: now.since(due) });
            }
            due = due + PERIOD;
        }
    }
    wake_ups
}

/// The figures of the wake-ups that were due within `window`.
pub(super) fn within(wake_ups: &[WakeUp], window: &Range<u64>) -> Distribution {
    let within = wake_ups.iter().filter(|it| window.contains(&it.due.as_nanos()));
    exact(within.map(|it| it.late.as_nanos()).collect())
}

fn timespec(instant: Instant) -> Timespec {
    let nanos = instant.as_nanos();
    Timespec { tv_sec: (nanos / 1_000_000_000).cast_signed(), tv_nsec: (nanos % 1_000_000_000).cast_signed() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_instant_that_was_due_has_its_delay() {
        let stop = AtomicBool::new(false);
        let begun = monotonic_now();
        let wake_ups = std::thread::scope(|scope| {
            let thread = scope.spawn(|| sample(&stop));
            std::thread::sleep(std::time::Duration::from_millis(200));
            stop.store(true, Ordering::Relaxed);
            thread.join().unwrap()
        });
        let took = monotonic_now().since(begun);
        let due_max = took.as_nanos() / PERIOD.as_nanos();
        assert!((1..=due_max).contains(&(wake_ups.len() as u64)), "{} of {due_max}", wake_ups.len());
        assert!(wake_ups.windows(2).all(|pair| pair[1].due == pair[0].due + PERIOD));
        let all = within(&wake_ups, &(0..u64::MAX));
        assert_eq!(all.count, wake_ups.len() as u64);
        assert_eq!(within(&wake_ups, &(0..1)).count, 0);
    }
}
