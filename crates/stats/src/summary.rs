//! The figures of one load, computed from its samples' sums.

use units::Duration;

use crate::interval::Interval;
use crate::little::LittlesLaw;

/// The rates and audits of one load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadFigures {
    /// Expected answers a second, by the instant they were done.
    pub goodput_per_s: f64,
    /// Requests done a second, whatever their outcome.
    pub throughput_per_s: f64,
    /// Bytes received a second.
    pub received_bytes_per_s: f64,
    /// CPU time of the generator a request done; `None` if nothing was done.
    pub generator_cpu_us_per_request: Option<f64>,
    /// Share of its own window that the busiest load thread spent on a CPU, 0 to 1.
    pub generator_busy_share: f64,
    /// Of a closed load without think time.
    pub littles_law: Option<LittlesLaw>,
}

/// What one load thread used within its own measured window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadUse {
    /// CPU time.
    pub cpu: Duration,
    /// How long it was seen for. Not the load's window: a thread may end before the others, or be late to see its end.
    pub wall: Duration,
}

impl ThreadUse {
    /// Share of the time that it was on a CPU.
    fn busy_share(&self) -> f64 {
        if self.wall.is_zero() { 0.0 } else { self.cpu.as_secs_f64() / self.wall.as_secs_f64() }
    }
}

/// Computes the figures of `whole`, measured over `window`. `users` is the number of connections of a
/// closed load without think time, on average over the window, else `None`.
pub fn figures(whole: &Interval, window: Duration, users: Option<f64>, threads: &[ThreadUse]) -> LoadFigures {
    let tally = &whole.tally;
    let per_s = |count: u64| if window.is_zero() { 0.0 } else { count as f64 / window.as_secs_f64() };
    let cpu_us: f64 = threads.iter().map(|it| it.cpu.as_micros_f64()).sum();
    LoadFigures {
        goodput_per_s: per_s(tally.done_as_expected),
        throughput_per_s: per_s(tally.done),
        received_bytes_per_s: per_s(tally.done_received_bytes),
        generator_cpu_us_per_request: (tally.done > 0).then(|| cpu_us / tally.done as f64),
        generator_busy_share: threads.iter().map(ThreadUse::busy_share).fold(0.0, f64::max),
        littles_law: users.and_then(|users| LittlesLaw::of(users, tally, window)),
    }
}
