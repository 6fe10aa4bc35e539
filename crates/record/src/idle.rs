//! How long a warm server takes for an answer while nothing else is asked of it.

use serde::{Deserialize, Serialize};
use stats::{MeanInterval, RankBounds, rank_bounds};
use units::Duration;

/// How often a bound of a quantile is on the wrong side of it: one in two hundred, since twelve of them are looked at together.
const BOUND_MISSES: f64 = 0.005;

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
    /// Of a few more, each of which was asked for after a pause of twice the mean, three quarters took as long at most. Where that
    /// is less than the others took, those waited for something that a pause makes good, such as the next token of a limiter.
    /// Absent where too few came, and in records of versions that did not ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rested_us: Option<f64>,
    /// Between which of the answers the server's own quantiles lie. Absent in records of versions that did not keep them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<QuantileBounds>,
}

/// Quantiles of all answers that a server could have given, as far as a few of them tell: no less than the first and no more
/// than the second, each with 99.5 % confidence; `None` on a side on which so few tell nothing.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct QuantileBounds {
    /// Of a tenth, µs, as all that follow.
    pub p10_us: Bounds,
    /// Of a quarter.
    pub p25_us: Bounds,
    /// Of the half.
    pub p50_us: Bounds,
    /// Of three quarters.
    pub p75_us: Bounds,
    /// Of nine tenths.
    pub p90_us: Bounds,
    /// Of nineteen twentieths.
    pub p95_us: Bounds,
}

/// No less than, and no more than.
pub type Bounds = (Option<f64>, Option<f64>);

impl QuantileBounds {
    fn of(sorted: &[f64]) -> Self {
        let between = |quantile: f64| {
            let RankBounds { low, high } = rank_bounds(quantile, sorted.len() as u64, BOUND_MISSES);
            let value = |rank: Option<u64>| sorted.get(rank? as usize - 1).copied();
            (value(low), value(high))
        };
        Self {
            p10_us: between(0.1),
            p25_us: between(0.25),
            p50_us: between(0.5),
            p75_us: between(0.75),
            p90_us: between(0.9),
            p95_us: between(0.95),
        }
    }
}

impl IdleAnswers {
    /// Of the times of answers one after the other, and of those that were asked for after a pause. `None` of fewer than
    /// [`stats::MEAN_VALUES_MIN`].
    pub fn of(times: &[Duration], rested: &[Duration]) -> Option<Self> {
        let sorted = sorted_us(times);
        let MeanInterval { mean, low, high } = MeanInterval::of(&sorted)?;
        let quantile = |share: f64| quantile(&sorted, share);
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
            rested_us: Self::rested_us(rested),
            bounds: Some(QuantileBounds::of(&sorted)),
        })
    }

    fn rested_us(rested: &[Duration]) -> Option<f64> {
        let sorted = sorted_us(rested);
        (sorted.len() >= stats::MEAN_VALUES_MIN).then(|| quantile(&sorted, 0.75))
    }
}

fn sorted_us(times: &[Duration]) -> Vec<f64> {
    let mut sorted: Vec<f64> = times.iter().map(|it| it.as_micros_f64()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The smallest value that so many are not above, of some.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted[rank.min(sorted.len()) - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_answers_and_the_interval_is_around_the_mean() {
        let times: Vec<Duration> = (1..=10).rev().map(Duration::from_millis).collect();
        let told = IdleAnswers::of(&times, &[]).unwrap();
        let quantiles =
            [told.shortest_us, told.p25_us, told.p50_us, told.p75_us, told.p90_us, told.longest_us];
        assert_eq!(quantiles.map(|it| it as u32 / 1000), [1, 3, 5, 8, 9, 10]);
        assert_eq!((told.count, told.mean_us as u32), (10, 5_500));
        assert!(told.mean_low_us < 4_000.0 && told.mean_high_us > 7_000.0, "{told:?}");
        assert_eq!(IdleAnswers::of(&times[..2], &times), None);
    }

    #[test]
    fn a_mean_is_not_below_the_shortest() {
        let times = [1, 1, 1, 1, 50].map(Duration::from_millis);
        let told = IdleAnswers::of(&times, &[]).unwrap();
        assert!(told.mean_low_us >= 1_000.0 && told.mean_high_us > 30_000.0, "{told:?}");
    }

    #[test]
    fn of_many_answers_quantiles_are_known_on_both_sides_and_of_few_on_some() {
        let of = |count: u64| {
            let times: Vec<Duration> = (1..=count).map(Duration::from_millis).collect();
            IdleAnswers::of(&times, &times[..1]).unwrap()
        };
        let told = of(100).bounds.unwrap();
        let ms = |(low, high): Bounds| (low.map(|it| it as u32 / 1000), high.map(|it| it as u32 / 1000));
        assert_eq!(ms(told.p50_us), (Some(37), Some(64)));
        assert_eq!(ms(told.p95_us).1, None, "one in twenty may be longer than all of a hundred");
        let told = of(10).bounds.unwrap();
        assert_eq!(
            (ms(told.p50_us), ms(told.p10_us).0, ms(told.p90_us).1),
            ((Some(1), Some(10)), None, None)
        );
        assert_eq!(of(10).rested_us, None, "of one nobody knows what it usually is");
    }

    #[test]
    fn of_what_came_after_a_pause_one_in_four_may_have_been_late() {
        let times = [10, 10, 10].map(Duration::from_millis);
        let rested = [1, 9, 1, 2, 1].map(Duration::from_millis);
        assert_eq!(IdleAnswers::of(&times, &rested).unwrap().rested_us, Some(2_000.0));
    }
}
