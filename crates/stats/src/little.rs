//! Little's law as an audit: in a closed model without think time, N = X · R.

use units::Duration;

use crate::tally::Tally;

/// A gap above this share of N means that the latency figures are not those of the requests made.
pub const LITTLE_TOLERANCE: f64 = 0.05;

/// N against X · R, over what was done within the measured window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LittlesLaw {
    /// Users: requests that are always under way, on average over the window.
    pub users: f64,
    /// Requests done a second, of any outcome.
    pub throughput_per_s: f64,
    /// Their mean response time in seconds, censored ones at their bounds.
    pub mean_response_s: f64,
}

impl LittlesLaw {
    /// The audit of a closed load; `None` if nothing was done or the window has no length.
    pub fn of(users: f64, tally: &Tally, window: Duration) -> Option<Self> {
        let mean = tally.mean_done_response()?;
        (!window.is_zero()).then(|| Self {
            users,
            throughput_per_s: tally.done as f64 / window.as_secs_f64(),
            mean_response_s: mean.as_secs_f64(),
        })
    }

    /// |N − X·R| / N.
    pub fn gap(&self) -> f64 {
        (self.users - self.throughput_per_s * self.mean_response_s).abs() / self.users
    }

    /// Whether the law is kept within [`LITTLE_TOLERANCE`].
    pub fn holds(&self) -> bool {
        self.gap() <= LITTLE_TOLERANCE
    }
}
