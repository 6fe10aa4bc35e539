//! Two treatments, measured side by side in blocks.
//!
//! A block is one round of all treatments, close together in time, so what the machine does to one of them it does to
//! the others. Only ratios within a block are compared, and as logarithms: a ratio and its inverse are then equally far
//! from 1.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use units::Seed;

/// Blocks up to which every way of flipping signs is tried; beyond, a sample of them.
const EXACT_BLOCKS_MAX: usize = 20;
/// Ways of flipping signs that are sampled where they are too many.
const FLIPS_SAMPLED: u32 = 100_000;
/// Samples of a bootstrap.
pub(crate) const RESAMPLES: usize = 4_000;
/// How confident intervals are.
pub const CONFIDENCE: f64 = 0.95;
/// The 97.5 % quantile of Student's t distribution with 1, 2, … degrees of freedom.
const STUDENT_T: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];
/// The same of the normal distribution.
const NORMAL: f64 = 1.960;

/// A ratio, and the interval that holds the true one with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The estimate.
    pub value: f64,
    /// The lower end; `None` of a single block, which has no spread.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// Logarithms of the ratios of two treatments within each block.
#[derive(Debug, Clone, PartialEq)]
pub struct LogRatios(Vec<f64>);

impl LogRatios {
    /// ln(a / b) of the blocks in which both were measured. What is not a positive number is as good as not measured.
    pub fn of(a: &[Option<f64>], b: &[Option<f64>]) -> Self {
        let usable = |value: &Option<f64>| value.filter(|it| it.is_finite() && *it > 0.0);
        let pairs = a.iter().zip(b).filter_map(|(a, b)| Some((usable(a)?, usable(b)?)));
        Self(pairs.map(|(a, b)| libm::log(a / b)).collect())
    }

    /// In how many blocks both were measured.
    pub fn blocks(&self) -> usize {
        self.0.len()
    }

    /// The ratio a / b, with its interval. `None` without blocks.
    pub fn ratio(&self, seed: Seed) -> Option<Ratio> {
        let value = libm::exp(hodges_lehmann(&self.0)?);
        let interval = bootstrap_interval(&self.0, seed);
        let (low, high) = (interval.map(|it| libm::exp(it.0)), interval.map(|it| libm::exp(it.1)));
        Some(Ratio { value, low, high })
    }

    /// Half the width of Student's 95 % interval of the mean logarithm: what a run is told to stop by. It needs no
    /// resampling and does not look at where the interval lies, so stopping by it does not go after significance.
    /// `None` of fewer than two blocks.
    pub fn half_width(&self) -> Option<f64> {
        let deviation = self.noise()? * core::f64::consts::SQRT_2;
        let t = STUDENT_T.get(self.0.len() - 2).copied().unwrap_or(NORMAL);
        Some(t * deviation / libm::sqrt(self.0.len() as f64))
    }

    /// Standard deviation of one of the two within a block, if both are equally noisy. `None` of fewer than two blocks.
    pub fn noise(&self) -> Option<f64> {
        let n = self.0.len() as f64;
        if self.0.len() < 2 {
            return None;
        }
        let mean = self.0.iter().sum::<f64>() / n;
        let squares: f64 = self.0.iter().map(|it| (it - mean) * (it - mean)).sum();
        // A difference of two has the variance of both.
        Some(libm::sqrt(squares / (n - 1.0) / 2.0))
    }

    /// How often chance alone would bring a mean as far from no difference, in either direction: [`sign_flip_p`].
    pub fn p_value(&self, seed: Seed) -> f64 {
        sign_flip_p(&self.0, seed)
    }
}

/// The median of the means of all pairs of `values`, each with itself included: the estimator that goes with the
/// signed-rank test (Hodges and Lehmann, 1963). Nearly as good as the mean where that is best, and not moved far by one
/// block that went wrong. `None` of none.
pub fn hodges_lehmann(values: &[f64]) -> Option<f64> {
    let mut means = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
    for (index, a) in values.iter().enumerate() {
        means.extend(values[index..].iter().map(|b| f64::midpoint(*a, *b)));
    }
    median(&mut means)
}

/// The middle value, or the mean of the middle two. `None` of none. The order of `values` is lost.
pub(crate) fn median(values: &mut [f64]) -> Option<f64> {
    let middle = values.len().checked_sub(1)? / 2;
    let is_even = values.len().is_multiple_of(2);
    let (_, low, above) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let low = *low;
    let next = above.iter().copied().min_by(f64::total_cmp);
    Some(if is_even { f64::midpoint(low, next.unwrap_or(low)) } else { low })
}

/// The interval of [`hodges_lehmann`] by resampling blocks, widened as Hesterberg (2015, "What Teachers Should Know
/// About the Bootstrap", 5.3) has it for few values: plain percentiles are too narrow by √((n − 1) / n) and by the
/// difference between t and the normal distribution. `None` of fewer than two.
fn bootstrap_interval(values: &[f64], seed: Seed) -> Option<(f64, f64)> {
    let n = values.len();
    if n < 2 {
        return None;
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.0);
    let mut resample = vec![0.0; n];
    let mut estimates: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| {
            resample.fill_with(|| values[below(&mut random, n)]);
            hodges_lehmann(&resample)
        })
        .collect();
    widened_percentiles(&mut estimates, n)
}

/// The 95 % interval of what was estimated from resamples of `blocks` blocks: its percentiles, widened for few blocks.
/// `None` of fewer than two blocks, or of no estimates.
pub(crate) fn widened_percentiles(estimates: &mut [f64], blocks: usize) -> Option<(f64, f64)> {
    if blocks < 2 {
        return None;
    }
    estimates.sort_by(f64::total_cmp);
    let t = STUDENT_T.get(blocks - 2).copied().unwrap_or(NORMAL);
    let n = blocks as f64;
    let share = normal_below(-libm::sqrt(n / (n - 1.0)) * t);
    let last = estimates.len().checked_sub(1)?;
    let low = (share * last as f64).floor() as usize;
    Some((estimates[low], estimates[last - low]))
}

/// The share of a normal distribution below `z`.
fn normal_below(z: f64) -> f64 {
    0.5 * libm::erfc(-z / core::f64::consts::SQRT_2)
}

/// A number from 0 to `bound` − 1. The bias, below 2⁻³², is far below what blocks can show.
pub(crate) fn below(random: &mut Xoshiro256PlusPlus, bound: usize) -> usize {
    (((random.next_u64() >> 32) * bound as u64) >> 32) as usize
}

/// The exact two-sided sign-flip test (Fisher, 1935): if the two treatments were the same, each block's difference could
/// as well have had the other sign, so the observed sum is compared with those of all the ways to flip signs. With `n`
/// blocks no p below 2 / 2ⁿ is possible. Beyond twenty blocks the ways are sampled. 1 of none.
pub fn sign_flip_p(values: &[f64], seed: Seed) -> f64 {
    let observed: f64 = values.iter().sum::<f64>().abs();
    // Sums that are equal but for rounding count as equal.
    let at_least = observed - 1e-9 * values.iter().map(|it| it.abs()).sum::<f64>();
    match values.split_first() {
        None => 1.0,
        Some((first, rest)) if values.len() <= EXACT_BLOCKS_MAX => exact_p(*first, rest, at_least),
        Some(_) => sampled_p(values, at_least, seed),
    }
}

/// The first sign may stay: flipping all of them changes nothing.
fn exact_p(first: f64, rest: &[f64], at_least: f64) -> f64 {
    let ways = 1_u64 << rest.len();
    let mut sum: f64 = first + rest.iter().sum::<f64>();
    let mut reached = u64::from(sum.abs() >= at_least);
    let mut signs = vec![1.0; rest.len()];
    // In the order of a Gray code, one sign changes at a time.
    for way in 1..ways {
        let index = way.trailing_zeros() as usize;
        sum -= 2.0 * signs[index] * rest[index];
        signs[index] = -signs[index];
        reached += u64::from(sum.abs() >= at_least);
    }
    reached as f64 / ways as f64
}

/// What was observed counts as one of the samples, so that p is never 0.
fn sampled_p(values: &[f64], at_least: f64, seed: Seed) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.0);
    let mut reached = 1_u32;
    for _ in 0..FLIPS_SAMPLED {
        let mut bits = 0;
        let mut sum = 0.0;
        for (index, value) in values.iter().enumerate() {
            if index % 64 == 0 {
                bits = random.next_u64();
            }
            sum += if bits & 1 == 1 { *value } else { -*value };
            bits >>= 1;
        }
        reached += u32::from(sum.abs() >= at_least);
    }
    f64::from(reached) / f64::from(FLIPS_SAMPLED + 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SEED: Seed = Seed(7);

    /// Heights of cross- and self-fertilised maize, in eighths of an inch: Darwin's experiment, and Fisher's example of
    /// the test (The Design of Experiments, 1935, section 21): 1,726 of 32,768 ways reach the observed sum of 314.
    #[test]
    fn the_sign_flip_test_agrees_with_fisher_on_darwins_maize() {
        let differences = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48].map(f64::from);
        assert!((sign_flip_p(&differences, SEED) - 1726.0 / 32768.0).abs() < 1e-12);
    }

    /// Depression scale factors before and after a tranquilliser: Hollander and Wolfe (1973), example 3.1, whose estimate
    /// is −0.46.
    #[test]
    fn the_estimate_agrees_with_hollander_and_wolfe() {
        // In hundredths, so that 3.14 is not taken for π.
        let before = [183.0, 50.0, 162.0, 248.0, 168.0, 188.0, 155.0, 306.0, 130.0];
        let after = [87.8, 64.7, 59.8, 205.0, 106.0, 129.0, 106.0, 314.0, 129.0];
        let differences: Vec<f64> = before.iter().zip(after).map(|(before, after)| after - before).collect();
        assert!((hodges_lehmann(&differences).unwrap() + 46.0).abs() < 1e-9);
    }

    #[test]
    fn what_was_not_measured_in_both_is_left_out() {
        let a = [Some(2.0), None, Some(4.0), Some(0.0), Some(8.0)];
        let b = [Some(1.0), Some(1.0), Some(2.0), Some(1.0), Some(f64::NAN)];
        let ratios = LogRatios::of(&a, &b);
        assert_eq!(ratios.blocks(), 2);
        assert!((ratios.ratio(SEED).unwrap().value - 2.0).abs() < 1e-12);
        assert_eq!(LogRatios::of(&[], &[]).ratio(SEED), None);
    }

    #[test]
    fn one_block_has_an_estimate_and_no_interval() {
        let one = LogRatios::of(&[Some(3.0)], &[Some(2.0)]);
        let ratio = one.ratio(SEED).unwrap();
        assert!((ratio.value - 1.5).abs() < 1e-12 && ratio.low.is_none() && ratio.high.is_none());
        assert!((one.p_value(SEED) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn without_spread_the_interval_is_the_estimate() {
        let same = LogRatios::of(&[Some(3.0); 8], &[Some(2.0); 8]);
        let ratio = same.ratio(SEED).unwrap();
        assert!((ratio.low.unwrap() - 1.5).abs() < 1e-12 && (ratio.high.unwrap() - 1.5).abs() < 1e-12);
        assert!((same.p_value(SEED) - 2.0 / 256.0).abs() < 1e-12);
        let none = LogRatios::of(&[Some(2.0); 8], &[Some(2.0); 8]);
        assert!((none.p_value(SEED) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_sample_of_the_ways_comes_near_all_of_them() {
        let values: Vec<f64> = (0..16).map(|i| f64::from(i % 7) - 2.0).collect();
        let observed: f64 = values.iter().sum::<f64>().abs();
        let (exact, sampled) = (sign_flip_p(&values, SEED), sampled_p(&values, observed - 1e-9, SEED));
        // Four standard errors of 100,000 samples.
        let error = 4.0 * libm::sqrt(exact * (1.0 - exact) / f64::from(FLIPS_SAMPLED));
        assert!((exact - sampled).abs() < error, "{exact} {sampled}");
    }

    proptest! {
        #[test]
        fn turned_round_it_says_the_same(
            pairs in prop::collection::vec((0.1..10.0_f64, 0.1..10.0_f64), 2..12),
        ) {
            let (a, b): (Vec<_>, Vec<_>) = pairs.into_iter().map(|(a, b)| (Some(a), Some(b))).unzip();
            let (there, back) = (LogRatios::of(&a, &b), LogRatios::of(&b, &a));
            let (x, y) = (there.ratio(SEED).unwrap(), back.ratio(SEED).unwrap());
            prop_assert!((x.value * y.value - 1.0).abs() < 1e-9);
            prop_assert!((there.p_value(SEED) - back.p_value(SEED)).abs() < 1e-12);
            prop_assert!(x.low.unwrap() <= x.value * (1.0 + 1e-9) && x.value <= x.high.unwrap() * (1.0 + 1e-9));
        }

        #[test]
        fn a_median_is_that_of_the_sorted_values(mut values in prop::collection::vec(-9.0..9.0_f64, 1..40)) {
            let told = median(&mut values.clone()).unwrap();
            values.sort_by(f64::total_cmp);
            let middle = values.len() / 2;
            let truth = if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) };
            prop_assert!((told - truth).abs() < 1e-12);
        }
    }
}
