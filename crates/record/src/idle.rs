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
    /// From the beginning of one of them to the beginning of the next, on average: with what a client does in between. Absent in
    /// records of versions that did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart_us: Option<f64>,
    /// More of those that were asked for after a pause. Absent as `rested_us` is, and in records of versions that kept that alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rested: Option<RestedAnswers>,
    /// One right behind the other on one connection, where the others had a connection of their own each. Absent where the load
    /// kept no connections, where too few came, and in records of versions that did not ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<AnswerTimes>,
    /// What came of many requests at once. Absent where that was not asked, and in records of versions that did not ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<BurstAnswers>,
}

/// Answers that were asked for one at a time, after a pause each.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RestedAnswers {
    /// How long each pause was, µs.
    pub pause_us: f64,
    /// What they took.
    #[serde(flatten)]
    pub times: AnswerTimes,
}

/// What some answers took that were asked for one at a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AnswerTimes {
    /// How many.
    pub count: u32,
    /// A quarter took as long at most, µs, as all that follow.
    pub p25_us: f64,
    /// Half of them.
    pub p50_us: f64,
    /// Three quarters.
    pub p75_us: f64,
    /// The mean.
    pub mean_us: f64,
    /// Where the true mean begins, with 95 % confidence.
    pub mean_low_us: f64,
    /// Where it ends.
    pub mean_high_us: f64,
}

/// Answers to requests that were sent at once, to a server that had been idle for longer than its rate under load takes for as
/// many.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BurstAnswers {
    /// How often that was done; each time that follows is a mean of so many.
    pub bursts: u32,
    /// Requests of each.
    pub asked: u32,
    /// How many of them would be served at a time: X·S₀, a whole number.
    pub turn: u32,
    /// When the first answer was there, µs after the requests were sent, as all that follow.
    pub first_us: f64,
    /// When the first answer was there in the burst where that was soonest. Absent in records of versions that did not keep it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soonest_us: Option<f64>,
    /// When all were.
    pub last_us: f64,
    /// How many answers came together, before the first gap that is half as wide as the widest one, or more. Absent where most
    /// bursts do not agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<u32>,
}

impl BurstAnswers {
    /// Of bursts, each the times of its answers. `None` of none, and where answers are missing.
    pub fn of(asked: u32, turn: u32, bursts: &[Vec<Duration>]) -> Option<Self> {
        let is_whole = |burst: &Vec<Duration>| burst.len() == asked as usize;
        if bursts.is_empty() || !(1..=asked).contains(&turn) || !bursts.iter().all(is_whole) {
            return None;
        }
        let sorted: Vec<Vec<f64>> = bursts.iter().map(|burst| sorted_us(burst)).collect();
        let mean = |rank: u32| {
            sorted.iter().map(|burst| burst[rank as usize - 1]).sum::<f64>() / sorted.len() as f64
        };
        Some(Self {
            bursts: u32::try_from(bursts.len()).unwrap_or(u32::MAX),
            asked,
            turn,
            first_us: mean(1),
            soonest_us: sorted.iter().map(|burst| burst[0]).reduce(f64::min),
            last_us: mean(asked),
            together: most_agree(sorted.iter().map(|burst| together(burst))),
        })
    }
}

/// How many of some sorted times come before the first gap that is half as wide as the widest, or more.
fn together(sorted: &[f64]) -> u32 {
    let gaps: Vec<f64> = sorted.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let widest = gaps.iter().copied().fold(0.0, f64::max);
    let first = gaps.iter().position(|gap| *gap >= widest / 2.0);
    u32::try_from(first.map_or(sorted.len(), |at| at + 1)).unwrap_or(u32::MAX)
}

/// What most of them are.
fn most_agree(values: impl Iterator<Item = u32>) -> Option<u32> {
    let all: Vec<u32> = values.collect();
    all.iter().copied().find(|value| 2 * all.iter().filter(|it| *it == value).count() > all.len())
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
    /// Of the times of answers one after the other. `None` of fewer than [`stats::MEAN_VALUES_MIN`].
    pub fn of(times: &[Duration]) -> Option<Self> {
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
            rested_us: None,
            bounds: Some(QuantileBounds::of(&sorted)),
            apart_us: None,
            rested: None,
            kept: None,
            burst: None,
        })
    }

    /// With those that were asked for after a pause; too few tell nothing.
    #[must_use]
    pub fn with_rested(self, pause: Duration, rested: &[Duration]) -> Self {
        let Some(times) = AnswerTimes::of(rested) else { return self };
        let told = RestedAnswers { pause_us: pause.as_micros_f64(), times };
        Self { rested_us: Some(times.p75_us), rested: Some(told), ..self }
    }
}

impl AnswerTimes {
    /// Of the times of answers. `None` of fewer than [`stats::MEAN_VALUES_MIN`].
    pub fn of(times: &[Duration]) -> Option<Self> {
        let sorted = sorted_us(times);
        let MeanInterval { mean, low, high } = MeanInterval::of(&sorted)?;
        Some(Self {
            count: u32::try_from(sorted.len()).unwrap_or(u32::MAX),
            p25_us: quantile(&sorted, 0.25),
            p50_us: quantile(&sorted, 0.5),
            p75_us: quantile(&sorted, 0.75),
            mean_us: mean,
            // A mean is not below all that it is of; an interval of few values may be.
            mean_low_us: low.max(sorted[0]),
            mean_high_us: high,
        })
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

    #[test]
    fn of_many_answers_quantiles_are_known_on_both_sides_and_of_few_on_some() {
        let of = |count: u64| {
            let times: Vec<Duration> = (1..=count).map(Duration::from_millis).collect();
            IdleAnswers::of(&times).unwrap().with_rested(times[0], &times[..1])
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
        let pause = Duration::from_millis(20);
        let told = IdleAnswers::of(&times).unwrap().with_rested(pause, &rested);
        assert_eq!(told.rested_us, Some(2_000.0));
        let RestedAnswers { pause_us, times: rested } = told.rested.unwrap();
        assert_eq!((rested.count, pause_us, rested.mean_us), (5, 20_000.0, 2_800.0));
        assert_eq!((rested.p25_us, rested.p50_us, rested.p75_us), (1_000.0, 1_000.0, 2_000.0));
        assert!((1_000.0..2_800.0).contains(&rested.mean_low_us) && rested.mean_high_us > 2_800.0);
    }

    #[test]
    fn bursts_are_means_of_their_ranks_and_whole() {
        let burst = |ms: &[u64]| ms.iter().copied().map(Duration::from_millis).collect::<Vec<_>>();
        let bursts = [burst(&[20, 10, 10, 20]), burst(&[12, 24, 12, 26])];
        let told = BurstAnswers::of(4, 2, &bursts).unwrap();
        assert_eq!((told.bursts, told.first_us, told.last_us), (2, 11_000.0, 23_000.0));
        assert_eq!((told.soonest_us, told.together), (Some(10_000.0), Some(2)));
        // One by one, and some together only once.
        let one_by_one = [burst(&[10, 20, 30, 40]), burst(&[10, 21, 30, 40]), burst(&[10, 11, 30, 40])];
        assert_eq!(BurstAnswers::of(4, 1, &one_by_one).unwrap().together, Some(1));
        assert_eq!(BurstAnswers::of(4, 1, &one_by_one[1..]).unwrap().together, None);
        assert_eq!(BurstAnswers::of(5, 2, &bursts), None);
        assert_eq!(BurstAnswers::of(4, 5, &bursts), None);
        assert_eq!(BurstAnswers::of(4, 2, &[]), None);
    }
}
