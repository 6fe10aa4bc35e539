//! What happened within a span of a load: a second of it, or all of it.

use engine::Sample;

use crate::distribution::Distribution;
use crate::tally::Tally;

/// The distributions of a load, of requests intended within the measured window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Times {
    /// done − intended: what a user waited.
    pub response: Distribution,
    /// done − sent: what the server took.
    pub service: Distribution,
    /// sent − intended: how late requests went out, for whatever reason.
    pub lag: Distribution,
    /// sent − (due and a connection free): the part of the lag that is the generator's own.
    pub generator_lag: Distribution,
    /// done − arrived, of the answers that the kernel stamped: how long they lay in the generator's own socket.
    pub receive_lag: Distribution,
}

/// Counts and distributions of the samples of a span of time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Interval {
    /// What became of the requests.
    pub tally: Tally,
    /// How long they took.
    pub times: Times,
}

impl Interval {
    /// Adds one finished request. Called once a request on the load's own thread.
    #[inline]
    pub fn record(&mut self, sample: &Sample) {
        self.tally.record(sample);
        if !sample.due_in_window {
            return;
        }
        if let (Some(lag), Some(generator_lag)) = (sample.lag(), sample.generator_lag()) {
            self.times.lag.record(lag);
            self.times.generator_lag.record(generator_lag);
        }
        if let Some(receive_lag) = sample.receive_lag() {
            self.times.receive_lag.record(receive_lag);
        }
        match (sample.outcome.is_answered(), sample.service_time()) {
            (true, service) => {
                self.times.response.record(sample.response_time());
                if let Some(service) = service {
                    self.times.service.record(service);
                }
            }
            (false, service) => {
                self.times.response.record_censored(sample.response_time());
                if let Some(service) = service {
                    self.times.service.record_censored(service);
                }
            }
        }
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.tally.merge(&other.tally);
        self.times.response.merge(&other.times.response);
        self.times.service.merge(&other.times.service);
        self.times.lag.merge(&other.times.lag);
        self.times.generator_lag.merge(&other.times.generator_lag);
        self.times.receive_lag.merge(&other.times.receive_lag);
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.tally = Tally::default();
        self.times.response.clear();
        self.times.service.clear();
        self.times.lag.clear();
        self.times.generator_lag.clear();
        self.times.receive_lag.clear();
    }
}
