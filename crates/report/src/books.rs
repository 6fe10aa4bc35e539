//! What the outputs of imitated tools are made of: the sums of a load's intervals.

use stats::{Distribution, Interval, RateSample, RateSpread, Tally};
use units::Duration;

/// Everything that was sampled of a load, as far as other tools print it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Books {
    /// What became of the requests.
    pub tally: Tally,
    /// How long each was waited for, from when it was due.
    pub response: Distribution,
    /// Answers of each load thread, a tenth of a second at a time.
    pub rates: RateSpread,
}

impl Books {
    /// Takes in an interval of one load thread, and its rate bit by bit.
    pub fn add(&mut self, interval: &Interval, rates: &[RateSample]) {
        self.tally.merge(&interval.tally);
        self.response.merge(&interval.times.response);
        for sample in rates {
            self.rates.add(*sample);
        }
    }

    /// How long users waited, as far as it can be known: answers, and requests that were waited for as long as `patience`
    /// and not answered, at that bound. What failed sooner (refused, reset) is a failure and no response time.
    pub(crate) fn waits(&self, patience: Duration) -> Distribution {
        self.response.without_censored_below(patience)
    }
}
