//! The model of a pool: K workers, each taken by one request for S, whatever the number of users. X(N) = min(N, K) / S.

use units::Seed;

use super::sweep::{self, block_count, doubts_of_any, intervals, residual, usable, without_block_effects};
use super::{Doubt, Estimate, LoadPoint, TooFewLevels};
use crate::comparison::LEAST_EFFECT;

/// Levels of concurrency that a fit takes: one more than there are parameters.
pub const POOL_LEVELS_MIN: usize = 3;
/// K and S.
pub(super) const PARAMETERS: usize = 2;

/// X(N) = min(N, K) / S.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolModel {
    /// K: so many requests at a time.
    pub size: f64,
    /// S: how long each takes a worker, in seconds.
    pub service_time_s: f64,
}

impl PoolModel {
    /// X(N).
    pub fn rate_per_s(&self, users: f64) -> f64 {
        users.min(self.size) / self.service_time_s
    }
}

/// Where a sweep saw its pool fill up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Knee {
    /// Between its levels: throughput grew before it and stayed after it.
    Seen,
    /// Not yet, or at the last level: the pool may be of any size from there on.
    NotReached,
    /// Before it began, or at the first level: the pool may be of any size up to there, and S is known as K / X only.
    BeforeFirst,
}

/// The pool that fits a sweep, and how far it is to be trusted.
#[derive(Debug, Clone, PartialEq)]
pub struct PoolFit {
    /// K, workers. Unless the knee was seen it is a bound: its upper end is infinite, or its lower end 0.
    pub size: Estimate,
    /// S, seconds; without a knee before the first level, an upper bound.
    pub service_time_s: Estimate,
    /// K / S: the most answers a second.
    pub rate_per_s: Estimate,
    /// Where the pool fills up.
    pub knee: Knee,
    /// Relative error of the fit, root mean square over all measurements.
    pub residual: f64,
    /// What speaks against it; empty where nothing does.
    pub doubts: Vec<Doubt>,
}

impl PoolFit {
    /// The model without its intervals.
    pub const fn model(&self) -> PoolModel {
        PoolModel { size: self.size.value, service_time_s: self.service_time_s.value }
    }
}

/// Fits a pool to a sweep, by relative errors. What has no logarithm is as good as not measured; the order of `points`
/// does not matter.
pub fn pool_model(points: &[LoadPoint], seed: Seed) -> Result<PoolFit, TooFewLevels> {
    let points = usable(points);
    let users = sweep::levels(&points);
    let too_few = TooFewLevels { levels: users.len(), needed: POOL_LEVELS_MIN };
    let centred = without_block_effects(&points);
    let (Some(model), Some(first), Some(last)) = (fit(&centred.points), users.first(), users.last()) else {
        return Err(too_few);
    };
    let figures = |it: PoolModel| [it.size, it.service_time_s, it.size / it.service_time_s];
    let [size, time, rate] = intervals(&centred, seed, |resample| fit(resample).map(figures));
    let [mut size, mut time, mut rate] = [
        Estimate::of(model.size, size),
        Estimate::of(model.service_time_s, time),
        Estimate::of(model.size / model.service_time_s, rate),
    ];
    let knee = knee(&size, f64::from(*first), f64::from(*last));
    match knee {
        Knee::Seen => {}
        Knee::NotReached => [size.high, rate.high] = [Some(f64::INFINITY); 2],
        Knee::BeforeFirst => [size.low, time.low] = [Some(0.0); 2],
    }
    let doubts = doubts_of_any(&centred, block_count(&points), PARAMETERS, |users| model.rate_per_s(users));
    let residual = residual(&points, |users| model.rate_per_s(users));
    Ok(PoolFit { size, service_time_s: time, rate_per_s: rate, knee, residual, doubts })
}

/// A size that reaches to an end of the sweep, by chance or nearer than differences are called, was not seen.
fn knee(size: &Estimate, first: f64, last: f64) -> Knee {
    let (low, high) = (size.low.unwrap_or(size.value), size.high.unwrap_or(size.value));
    if low.min(size.value / (1.0 + LEAST_EFFECT)) <= first {
        Knee::BeforeFirst
    } else if high.max(size.value * (1.0 + LEAST_EFFECT)) >= last {
        Knee::NotReached
    } else {
        Knee::Seen
    }
}

/// A level as the fit sees it.
struct Level {
    /// ln N.
    users: f64,
    /// Mean ln X.
    rate: f64,
    /// Measurements.
    count: f64,
}

/// The pool that is off least, by logarithms of throughput: exact, since between two levels the best knee has a formula,
/// and where that is outside of them the best is at one of them. `None` of too few levels.
pub(super) fn fit(points: &[LoadPoint]) -> Option<PoolModel> {
    let levels = levels(points);
    if levels.len() < POOL_LEVELS_MIN {
        return None;
    }
    let between = (1..levels.len()).filter_map(|split| knee_between(&levels, split));
    let at = levels.iter().map(|level| (level.users, service_time_with(&levels, level.users)));
    let squares = |&(size, time): &(f64, f64)| -> f64 {
        let off = |it: &Level| it.rate - (it.users.min(size) - time);
        levels.iter().map(|it| it.count * off(it) * off(it)).sum()
    };
    let best = between.chain(at).min_by(|a, b| squares(a).total_cmp(&squares(b)))?;
    Some(PoolModel { size: libm::exp(best.0), service_time_s: libm::exp(best.1) })
}

fn levels(points: &[LoadPoint]) -> Vec<Level> {
    let level = |users: u32| {
        let rates: Vec<f64> =
            points.iter().filter(|it| it.users == users).map(|it| libm::log(it.rate_per_s)).collect();
        let count = rates.len() as f64;
        Level { users: libm::log(f64::from(users)), rate: rates.iter().sum::<f64>() / count, count }
    };
    sweep::levels(points).into_iter().map(level).collect()
}

fn mean(levels: &[Level], of: impl Fn(&Level) -> f64) -> f64 {
    let count: f64 = levels.iter().map(|it| it.count).sum();
    levels.iter().map(|it| it.count * of(it)).sum::<f64>() / count
}

/// (ln K, ln S) with the first `split` levels on the rise and the others on the flat; `None` where the two don't meet
/// between them.
fn knee_between(levels: &[Level], split: usize) -> Option<(f64, f64)> {
    let (rising, flat) = levels.split_at(split);
    let time = mean(rising, |it| it.users - it.rate);
    let size = mean(flat, |it| it.rate) + time;
    (rising.last()?.users..=flat.first()?.users).contains(&size).then_some((size, time))
}

/// ln S, given ln K.
fn service_time_with(levels: &[Level], size: f64) -> f64 {
    mean(levels, |it| it.users.min(size) - it.rate)
}
