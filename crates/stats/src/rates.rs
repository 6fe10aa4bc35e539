//! How many answers a load thread got in each short stretch of time: what wrk's `Req/Sec` is made of.

use std::collections::BTreeMap;

use units::Duration;

use crate::deviation::Deviation;

/// The answers of one load thread in a stretch of its load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RateSample {
    /// Answers, of any status, that came in it.
    pub answered: u64,
    /// The stretch's length; one of zero has no rate and is left out.
    pub span: Duration,
}

/// The rates of many such stretches, a second, to whole numbers; a stretch without an answer counts as zero.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RateSpread(BTreeMap<u64, u64>);

impl RateSpread {
    /// Adds a stretch; one without length has no rate.
    pub fn add(&mut self, sample: RateSample) {
        if !sample.span.is_zero() {
            let rate_per_s = sample.answered as f64 / sample.span.as_secs_f64();
            *self.0.entry(rate_per_s.round() as u64).or_default() += 1;
        }
    }

    /// Each rate a second and how often it occurred, the lowest first.
    pub fn rates(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().map(|(rate, count)| (*rate, *count))
    }

    /// Their spread, a second.
    pub fn deviation(&self) -> Deviation {
        let values: Vec<(f64, u64)> = self.0.iter().map(|(rate, count)| (*rate as f64, *count)).collect();
        Deviation::of(&values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_stretch_is_a_rate_of_zero_and_one_without_length_is_none() {
        let mut rates = RateSpread::default();
        let tenth = Duration::from_millis(100);
        for (answered, span) in [(100, tenth), (0, tenth), (7, Duration::ZERO)] {
            rates.add(RateSample { answered, span });
        }
        let spread = rates.deviation();
        assert!((spread.mean - 500.0).abs() < 1e-9 && (spread.max - 1000.0).abs() < 1e-9, "{spread:?}");
    }
}
