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
    /// Share of the window that the busiest load thread spent on a CPU, 0 to 1.
    pub generator_busy_share: f64,
    /// Of a closed load without think time.
    pub littles_law: Option<LittlesLaw>,
}

/// Computes the figures of `whole`, measured over `window`. `users` is the number of connections of a
/// closed load without think time, else `None`. `thread_cpu` is each load thread's CPU time.
pub fn figures(
    whole: &Interval,
    window: Duration,
    users: Option<u32>,
    thread_cpu: &[Duration],
) -> LoadFigures {
    let tally = &whole.tally;
    let per_s = |count: u64| if window.is_zero() { 0.0 } else { count as f64 / window.as_secs_f64() };
    let cpu_us: f64 = thread_cpu.iter().map(|cpu| cpu.as_micros_f64()).sum();
    let busiest = thread_cpu.iter().max().copied().unwrap_or(Duration::ZERO);
    LoadFigures {
        goodput_per_s: per_s(tally.done_as_expected),
        throughput_per_s: per_s(tally.done),
        received_bytes_per_s: per_s(tally.done_received_bytes),
        generator_cpu_us_per_request: (tally.done > 0).then(|| cpu_us / tally.done as f64),
        generator_busy_share: if window.is_zero() {
            0.0
        } else {
            busiest.as_secs_f64() / window.as_secs_f64()
        },
        littles_law: users.and_then(|users| LittlesLaw::of(users, tally, window)),
    }
}
