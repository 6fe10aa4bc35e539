//! What both models need of a sweep: its levels, resamples of its blocks, its noise.

use std::collections::BTreeMap;

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use units::Seed;

use super::{Doubt, LoadPoint, MISFIT_ERRORS_MAX};
use crate::comparison::LEAST_EFFECT;
use crate::comparison::paired::{INTERVAL_BLOCKS_MIN, RESAMPLES, below, widened_percentiles};

/// Rounds in which levels and blocks are averaged in turn. Where each block has each level the first is exact.
const ROUNDS: usize = 30;

/// The measurements that have a logarithm, in an order of their own, so that theirs does not matter.
pub(super) fn usable(points: &[LoadPoint]) -> Vec<LoadPoint> {
    let has_logarithm = |it: &&LoadPoint| it.users > 0 && it.rate_per_s > 0.0 && it.rate_per_s.is_finite();
    let mut points: Vec<LoadPoint> = points.iter().filter(has_logarithm).copied().collect();
    points.sort_by(|a, b| {
        (a.users, a.block).cmp(&(b.users, b.block)).then(a.rate_per_s.total_cmp(&b.rate_per_s))
    });
    points
}

/// Distinct levels of concurrency, ascending.
pub(super) fn levels(points: &[LoadPoint]) -> Vec<u32> {
    let mut levels: Vec<u32> = points.iter().map(|it| it.users).collect();
    levels.sort_unstable();
    levels.dedup();
    levels
}

/// The points of each block, by the block's number.
fn by_block(points: &[LoadPoint]) -> Vec<Vec<LoadPoint>> {
    let mut blocks: BTreeMap<u32, Vec<LoadPoint>> = BTreeMap::new();
    for point in points {
        blocks.entry(point.block).or_default().push(*point);
    }
    blocks.into_values().collect()
}

/// Blocks in which anything was measured.
pub(super) fn block_count(points: &[LoadPoint]) -> usize {
    by_block(points).len()
}

/// The 95 % intervals of figures that `fit` makes, by resampling whole blocks: the levels of a block share its machine,
/// and what the machines of the chosen blocks come to on average is put back into their rates. A resample that has no fit,
/// for want of levels, is left out. `None` of fewer than [`INTERVAL_BLOCKS_MIN`] blocks.
pub(super) fn intervals<const COUNT: usize>(
    centred: &Centred,
    seed: Seed,
    fit: impl Fn(&[LoadPoint]) -> Option<[f64; COUNT]>,
) -> [Option<(f64, f64)>; COUNT] {
    let blocks = by_block(&centred.points);
    if blocks.len() < INTERVAL_BLOCKS_MIN {
        return [None; COUNT];
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.0);
    let mut resample = Vec::with_capacity(centred.points.len());
    let mut figures: [Vec<f64>; COUNT] = std::array::from_fn(|_| Vec::with_capacity(RESAMPLES));
    for _ in 0..RESAMPLES {
        resample.clear();
        let mut effects = 0.0;
        for _ in 0..blocks.len() {
            let block = &blocks[below(&mut random, blocks.len())];
            effects += block.first().map_or(0.0, |it| centred.effects[&it.block]);
            resample.extend_from_slice(block);
        }
        let machine = libm::exp(effects / blocks.len() as f64);
        for point in &mut resample {
            point.rate_per_s *= machine;
        }
        for (all, one) in figures.iter_mut().zip(fit(&resample).into_iter().flatten()) {
            all.push(one);
        }
    }
    figures.map(|mut all| widened_percentiles(&mut all, blocks.len()))
}

/// Σ (ln X − ln X̂)².
pub(super) fn log_squares(points: &[LoadPoint], rate_per_s: impl Fn(f64) -> f64) -> f64 {
    let error = |it: &LoadPoint| libm::log(it.rate_per_s / rate_per_s(f64::from(it.users)));
    points.iter().map(|it| error(it) * error(it)).sum()
}

/// Relative error of a fit, root mean square.
pub(super) fn residual(points: &[LoadPoint], rate_per_s: impl Fn(f64) -> f64) -> f64 {
    libm::sqrt(log_squares(points, rate_per_s) / points.len() as f64)
}

/// A sweep without what its blocks have in common.
pub(super) struct Centred {
    /// Its points.
    pub(super) points: Vec<LoadPoint>,
    /// What was taken from the logarithm of each rate, by block; their mean is 0.
    effects: BTreeMap<u32, f64>,
    /// How many of them are free, now that each block but one has given one up.
    pub(super) freedom: f64,
    /// Standard deviation of one measurement within its level and block, relative; `None` where nothing is left to tell
    /// it from.
    pub(super) noise: Option<f64>,
}

/// Takes from each measurement what its block did to all of its own: ln X = level + block + noise, by least squares. A
/// machine is more uneven from block to block than within one, and only what is within one tells curves apart.
pub(super) fn without_block_effects(points: &[LoadPoint]) -> Centred {
    let logarithms: Vec<f64> = points.iter().map(|it| libm::log(it.rate_per_s)).collect();
    let (mut levels, mut blocks) = (BTreeMap::new(), BTreeMap::new());
    for _ in 0..ROUNDS {
        levels = means(points, |index, it| {
            (it.users, logarithms[index] - blocks.get(&it.block).copied().unwrap_or(0.0))
        });
        blocks = means(points, |index, it| (it.block, logarithms[index] - levels[&it.users]));
        let centre = blocks.values().sum::<f64>() / blocks.len().max(1) as f64;
        for it in blocks.values_mut() {
            *it -= centre;
        }
    }
    let error = |(index, it): (usize, &LoadPoint)| logarithms[index] - blocks[&it.block] - levels[&it.users];
    let squares: f64 = points.iter().enumerate().map(|it| error(it) * error(it)).sum();
    let freedom = points.len() as f64 - (blocks.len() as f64 - 1.0);
    let spare = freedom - levels.len() as f64;
    let without =
        |it: &LoadPoint| LoadPoint { rate_per_s: it.rate_per_s * libm::exp(-blocks[&it.block]), ..*it };
    Centred {
        points: points.iter().map(without).collect(),
        effects: blocks.clone(),
        freedom,
        noise: (spare > 0.0).then(|| libm::sqrt(squares / spare)),
    }
}

/// The mean of the values of each key.
fn means(points: &[LoadPoint], keyed: impl Fn(usize, &LoadPoint) -> (u32, f64)) -> BTreeMap<u32, f64> {
    let mut sums: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for (index, point) in points.iter().enumerate() {
        let (key, value) = keyed(index, point);
        let sum = sums.entry(key).or_default();
        *sum = (sum.0 + value, sum.1 + 1.0);
    }
    sums.into_iter().map(|(key, (sum, count))| (key, sum / count)).collect()
}

/// What speaks against a fit with so many `parameters` whatever its model is: a single block, and levels that lie off it
/// by more than noise and by more than [`LEAST_EFFECT`], below which no difference is called one.
pub(super) fn doubts_of_any(
    centred: &Centred,
    blocks: usize,
    parameters: usize,
    rate_per_s: impl Fn(f64) -> f64,
) -> Vec<Doubt> {
    let points = &centred.points;
    let off =
        |_: usize, it: &LoadPoint| (it.users, libm::log(it.rate_per_s / rate_per_s(f64::from(it.users))));
    let by_level = means(points, off);
    let squares: f64 = points.iter().map(|it| by_level[&it.users] * by_level[&it.users]).sum();
    let misfit = libm::sqrt(squares / points.len().max(1) as f64);
    let spare = by_level.len().saturating_sub(parameters).max(1) as f64;
    let allowed = |noise: f64| MISFIT_ERRORS_MAX * noise * libm::sqrt(spare);
    let mut doubts = Vec::new();
    if let Some(noise) = centred.noise
        && misfit > LEAST_EFFECT
        && libm::sqrt(squares) > allowed(noise)
    {
        doubts.push(Doubt::WorseThanNoise { misfit, noise });
    }
    if blocks < 2 {
        doubts.push(Doubt::OneBlock);
    }
    doubts
}
