//! How long a warm server takes for an answer while nothing else is asked of it.

use serde::{Deserialize, Serialize};
use stats::MeanInterval;
use units::Duration;

/// Some answers of a warm server, one at a time: its response time without anybody to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct IdleAnswers {
    /// How many.
    pub count: u32,
    /// The shortest, µs, as all that follow.
    pub shortest_us: f64,
    /// A quarter took as long at most.
    pub p25_us: f64,
    /// Half of them.
    pub p50_us: f64,
    /// Three quarters.
    pub p75_us: f64,
    /// Nine in ten.
    pub p90_us: f64,
    /// The longest.
    pub longest_us: f64,
    /// The mean: S₀.
    pub mean_us: f64,
    /// Where the true mean begins, with 95 % confidence.
    pub mean_low_us: f64,
    /// Where it ends.
    pub mean_high_us: f64,
}

impl IdleAnswers {
    /// Of the times as they were taken. `None` of fewer than [`stats::MEAN_VALUES_MIN`].
    pub fn of(times: &[Duration]) -> Option<Self> {
        let mut sorted: Vec<f64> = times.iter().map(|it| it.as_micros_f64()).collect();
        sorted.sort_by(f64::total_cmp);
        let MeanInterval { mean, low, high } = MeanInterval::of(&sorted)?;
        // The smallest value that so many are not above.
        let quantile = |share: f64| {
            let rank = (share * sorted.len() as f64).ceil().max(1.0) as usize;
            sorted[rank.min(sorted.len()) - 1]
        };
        Some(Self {
            count: u32::try_from(sorted.len()).unwrap_or(u32::MAX),
            shortest_us: quantile(0.0),
            p25_us: quantile(0.25),
            p50_us: quantile(0.5),
            p75_us: quantile(0.75),
            p90_us: quantile(0.9),
            longest_us: quantile(1.0),
            mean_us: mean,
            // A mean is not below all that it is of; an interval of few values may be.
            mean_low_us: low.max(quantile(0.0)),
            mean_high_us: high,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_answers_and_the_interval_is_around_the_mean() {
        let times: Vec<Duration> = (1..=10).rev().map(Duration::from_millis).collect();
        let told = IdleAnswers::of(&times).unwrap();
        let quantiles =
            [told.shortest_us, told.p25_us, told.p50_us, told.p75_us, told.p90_us, told.longest_us];
        assert_eq!(quantiles.map(|it| it as u32 / 1000), [1, 3, 5, 8, 9, 10]);
        assert_eq!((told.count, told.mean_us as u32), (10, 5_500));
        assert!(told.mean_low_us < 4_000.0 && told.mean_high_us > 7_000.0, "{told:?}");
        assert_eq!(IdleAnswers::of(&times[..2]), None);
    }

    #[test]
    fn a_mean_is_not_below_the_shortest() {
        let times = [1, 1, 1, 1, 50].map(Duration::from_millis);
        let told = IdleAnswers::of(&times).unwrap();
        assert!(told.mean_low_us >= 1_000.0 && told.mean_high_us > 30_000.0, "{told:?}");
    }
}
