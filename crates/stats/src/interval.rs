//! What happened within a span of a load: a second of it, or all of it.

use engine::{Outcome, Sample};
use units::Duration;

use crate::distribution::Distribution;
use crate::tally::Tally;

/// How many distributions [`Times`] are.
pub(crate) const TIMES_PARTS: usize = 8;

/// The distributions of a load, of requests intended within the measured window.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Times {
    /// done − intended: what a user waited.
    pub response: Distribution,
    /// done − sent, of the answers that were read at once, and of what was not answered and did not begin to be: their first byte
    /// came when they were done. Apart from the others, so that most requests are counted once and not twice.
    service_at_once: Distribution,
    /// done − sent, of those that were read in parts.
    service_in_parts: Distribution,
    /// first byte − sent, of the same.
    first_of_parts: Distribution,
    /// done − arrived, of the answers that the kernel stamped: how long they lay in the generator's own socket.
    pub receive_lag: Distribution,
    /// sent − intended, of the requests that had a connection when they were due: all of that is the generator's own.
    /// Apart from the others likewise.
    lag_of_ready: Distribution,
    /// sent − intended, of those that waited for a connection.
    lag_of_others: Distribution,
    /// sent − (due and a connection free), of the same.
    generator_lag_of_others: Distribution,
}

impl Times {
    /// done − sent: what the server took.
    pub fn service(&self) -> Distribution {
        let mut service = self.service_at_once.clone();
        service.merge(&self.service_in_parts);
        service
    }

    /// first byte − sent: what the server took until it began to answer. Over HTTP/2: until the first head of its answer was
    /// there.
    pub fn first_byte(&self) -> Distribution {
        let mut first = self.service_at_once.clone();
        first.merge(&self.first_of_parts);
        first
    }

    /// sent − intended: how late requests went out, for whatever reason.
    pub fn lag(&self) -> Distribution {
        let mut lag = self.lag_of_ready.clone();
        lag.merge(&self.lag_of_others);
        lag
    }

    /// sent − (due and a connection free): the part of the lag that is the generator's own.
    pub fn generator_lag(&self) -> Distribution {
        let mut lag = Distribution::default();
        self.add_generator_lag_to(&mut lag);
        lag
    }

    /// Adds all of [`Times::generator_lag`].
    pub fn add_generator_lag_to(&self, lag: &mut Distribution) {
        lag.merge(&self.lag_of_ready);
        lag.merge(&self.generator_lag_of_others);
    }

    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    fn record_lags(&mut self, lag: Duration, generator_lag: Duration) {
        if lag == generator_lag {
            self.lag_of_ready.record(lag);
        } else {
            self.lag_of_others.record(lag);
            self.generator_lag_of_others.record(generator_lag);
        }
    }

    pub(crate) fn all_mut(&mut self) -> [&mut Distribution; TIMES_PARTS] {
        let Self {
            response,
            service_at_once,
            service_in_parts,
            first_of_parts,
            receive_lag,
            lag_of_ready,
            lag_of_others,
            generator_lag_of_others,
        } = self;
        [
            response,
            service_at_once,
            service_in_parts,
            first_of_parts,
            receive_lag,
            lag_of_ready,
            lag_of_others,
            generator_lag_of_others,
        ]
    }

    pub(crate) fn all(&self) -> [&Distribution; TIMES_PARTS] {
        let Self {
            response,
            service_at_once,
            service_in_parts,
            first_of_parts,
            receive_lag,
            lag_of_ready,
            lag_of_others,
            generator_lag_of_others,
        } = self;
        [
            response,
            service_at_once,
            service_in_parts,
            first_of_parts,
            receive_lag,
            lag_of_ready,
            lag_of_others,
            generator_lag_of_others,
        ]
    }
}

/// Counts and distributions of the samples of a span of time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Interval {
    /// What became of the requests.
    pub tally: Tally,
    /// Of those due within the measured window only: response and service times, and lags.
    pub times: Times,
}

impl Interval {
    /// Adds one finished request. Called once a request on the load's own thread.
    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    pub fn record(&mut self, sample: &Sample) {
        self.tally.record(sample);
        if !sample.due_in_window {
            return;
        }
        if let (Some(lag), Some(generator_lag)) = (sample.lag(), sample.generator_lag()) {
            self.times.record_lags(lag, generator_lag);
        }
        if let Some(receive_lag) = sample.receive_lag() {
            self.times.receive_lag.record(receive_lag);
        }
        if sample.outcome.is_answered() {
            self.times.response.record(sample.response_time());
            if let Some(service) = sample.service_time() {
                match sample.time_to_first_byte() {
                    Some(first) if first != service => self.record_in_parts(first, service),
                    _ => self.times.service_at_once.record(service),
                }
            }
        } else {
            self.record_censored(sample);
        }
    }

    /// Adds so many requests that are like `sample`. What was never sent is added at once: there may be thousands of
    /// millions of it.
    pub fn record_many(&mut self, sample: &Sample, count: u64) {
        if !matches!(sample.outcome, Outcome::Unsent | Outcome::BacklogOverflow) || sample.done_in_window {
            return (0..count).for_each(|_| self.record(sample));
        }
        if sample.due_in_window {
            self.tally.record_never_sent(sample.outcome, count);
            self.times.response.record_censored_many(sample.response_time(), count);
        }
    }

    /// Adds requests that were due within the window and of which nothing more is known: whether they were sent, and how
    /// long they took.
    pub fn record_lost(&mut self, count: u64) {
        if count > 0 {
            self.tally.record_lost(count);
            self.times.response.record_censored_many(Duration::ZERO, count);
        }
    }

    #[inline(never)]
    fn record_in_parts(&mut self, first: Duration, service: Duration) {
        self.times.first_of_parts.record(first);
        self.times.service_in_parts.record(service);
    }

    #[cold]
    fn record_censored(&mut self, sample: &Sample) {
        self.times.response.record_censored(sample.response_time());
        let Some(service) = sample.service_time() else { return };
        match sample.time_to_first_byte() {
            Some(first) => {
                self.times.first_of_parts.record(first);
                self.times.service_in_parts.record_censored(service);
            }
            None => self.times.service_at_once.record_censored(service),
        }
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.tally.merge(&other.tally);
        for (into, from) in self.times.all_mut().into_iter().zip(other.times.all()) {
            into.merge(from);
        }
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.tally = Tally::default();
        self.times.all_mut().into_iter().for_each(Distribution::clear);
    }
}

#[cfg(test)]
mod tests {
    use units::Instant;

    use super::*;

    #[test]
    fn so_many_at_once_are_as_many_one_by_one() {
        let at_ms = |ms| Instant::ORIGIN + Duration::from_millis(ms);
        let good = Outcome::Answered { status: 200, expected: true };
        for outcome in [Outcome::Unsent, Outcome::BacklogOverflow, Outcome::TimedOut, good] {
            for (due_in_window, done_in_window) in
                [(true, false), (false, false), (true, true), (false, true)]
            {
                let sample = Sample {
                    intended: at_ms(10),
                    ready: at_ms(12),
                    sent: matches!(outcome, Outcome::TimedOut | Outcome::Answered { .. }).then(|| at_ms(13)),
                    done: at_ms(1700),
                    first_byte: None,
                    arrived: None,
                    outcome,
                    received_bytes: 5,
                    due_in_window,
                    done_in_window,
                };
                let (mut at_once, mut one_by_one) = (Interval::default(), Interval::default());
                at_once.record_many(&sample, 7);
                (0..7).for_each(|_| one_by_one.record(&sample));
                assert_eq!(at_once, one_by_one, "{sample:?}");
            }
        }
    }

    /// What is read at once is counted once; what came in parts has two times, also where it was not answered in the end.
    #[test]
    fn the_first_byte_of_what_came_in_parts_has_a_time_of_its_own() {
        let at_ms = |ms| Instant::ORIGIN + Duration::from_millis(ms);
        let sample = |first_ms: Option<u64>, done_ms: u64, outcome| Sample {
            intended: at_ms(10),
            ready: at_ms(10),
            sent: Some(at_ms(10)),
            first_byte: first_ms.map(at_ms),
            done: at_ms(done_ms),
            arrived: None,
            outcome,
            received_bytes: 5,
            due_in_window: true,
            done_in_window: true,
        };
        let good = Outcome::Answered { status: 200, expected: true };
        let mut interval = Interval::default();
        interval.record(&sample(Some(30), 30, good));
        interval.record(&sample(Some(15), 110, good));
        interval.record(&sample(Some(16), 1010, Outcome::TimedOut));
        interval.record(&sample(None, 1010, Outcome::TimedOut));
        let (service, first) = (interval.times.service(), interval.times.first_byte());
        assert_eq!((service.count(), first.count()), (4, 4));
        assert_eq!((service.censored_count(), first.censored_count()), (2, 1));
        for (times, due_us) in [(&service, 100_000.0), (&first, 6_000.0)] {
            let median_us = times.quantile(0.5).unwrap().value.as_micros_f64();
            assert!(
                (median_us / due_us - 1.0).abs() < 2.0 * crate::distribution::RELATIVE_ERROR,
                "{median_us}"
            );
        }
    }
}
