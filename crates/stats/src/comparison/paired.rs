//! Two treatments, measured side by side in blocks.
//!
//! A block is one round of all treatments, close together in time, so what the machine does to one of them it does to
//! the others. Only ratios within a block are compared, and as logarithms: a ratio and its inverse are then equally far
//! from 1. A treatment that failed in a block is the worst there: it lost by more than any ratio, and its logarithm is
//! infinite.
//!
//! Estimate, test and interval belong together: the Hodges–Lehmann estimate, the signed-rank test that rejects it least,
//! and all ratios that this test does not reject. They go by ranks, so that an infinite loss counts as the largest one and
//! not as nothing, and they are exact for any number of blocks if chance moves a ratio up as easily as down.

use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::probability::{normal_above, student_975};

/// Blocks up to which every way of choosing signs is counted; beyond, sums of ranks are taken for normal, as R's
/// `wilcox.test` does from 50 on.
const EXACT_BLOCKS_MAX: usize = 100;
/// Samples of a bootstrap.
pub(crate) const RESAMPLES: usize = 4_000;
/// How confident intervals are.
pub const CONFIDENCE: f64 = 0.95;
/// Chance on either side of an interval.
const TAIL: f64 = (1.0 - CONFIDENCE) / 2.0;
/// Fewer blocks hold no truth with 95 % confidence: of five, even the whole range misses it once in 16 times.
pub const INTERVAL_BLOCKS_MIN: usize = 6;

/// What came of a treatment in one block, larger being better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Observation {
    /// A positive number.
    Figure(f64),
    /// It was tried, and did worse than any figure says: no good answer at all, or so many requests unanswered that a
    /// percentile is only known to be above a bound.
    Failed,
}

impl Observation {
    /// A figure where there is a positive one; nothing good came of a treatment that has none.
    pub fn of(figure: f64) -> Self {
        if figure.is_finite() && figure > 0.0 { Self::Figure(figure) } else { Self::Failed }
    }

    /// The figure; `None` of a failure.
    pub const fn figure(self) -> Option<f64> {
        match self {
            Self::Figure(figure) => Some(figure),
            Self::Failed => None,
        }
    }

    /// Its logarithm; that of a failure is below all others.
    pub(crate) fn ln(self) -> f64 {
        self.figure().map_or(f64::NEG_INFINITY, libm::log)
    }
}

/// A ratio, and the interval that holds the true one with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The Hodges–Lehmann estimate; 1 where neither is ahead.
    pub value: f64,
    /// The lower end; `None` where there is none: of fewer than [`INTERVAL_BLOCKS_MIN`] blocks, or where so many
    /// failures are among them that the ratio may be anything below.
    pub low: Option<f64>,
    /// The upper end, likewise.
    pub high: Option<f64>,
}

/// Logarithms of the ratios of two treatments within each block, infinite where one of them failed.
#[derive(Debug, Clone, PartialEq)]
pub struct LogRatios(pub(super) Vec<f64>);

impl LogRatios {
    /// ln(a / b) of the blocks in which both were tried. Where both failed, the block says nothing of the two.
    pub fn of(a: &[Option<Observation>], b: &[Option<Observation>]) -> Self {
        let of_both = a.iter().zip(b).filter_map(|(a, b)| Some((*a)?.ln() - (*b)?.ln()));
        // Of two that are infinite to the same side there is no ratio.
        Self(of_both.filter(|it| !it.is_nan()).collect())
    }

    /// The same of a / (b · `factor`).
    #[must_use]
    pub fn over(&self, factor: f64) -> Self {
        Self(self.0.iter().map(|it| it - libm::log(factor)).collect())
    }

    /// How many blocks say something of the two.
    pub fn blocks(&self) -> usize {
        self.0.len()
    }

    /// ln(a / b), estimated; infinite where one of the two failed so often that no ratio says how they compare. `None`
    /// without blocks.
    pub fn estimate(&self) -> Option<f64> {
        hodges_lehmann(&self.0)
    }

    /// The ratio a / b, with its interval. `None` without blocks, and where failures leave no ratio.
    pub fn ratio(&self) -> Option<Ratio> {
        self.ratio_with(TAIL)
    }

    /// The same with an interval beyond each end of which chance puts the true ratio with a probability of `tail` at most.
    pub fn ratio_with(&self, tail: f64) -> Option<Ratio> {
        let value = self.estimate().filter(|it| it.is_finite())?;
        let (low, high) = self.ends(tail);
        Some(Ratio { value: libm::exp(value), low, high })
    }

    /// The ends of that interval, which it may have even where failures leave no ratio; `None` where there is none.
    pub fn ends(&self, tail: f64) -> (Option<f64>, Option<f64>) {
        let (low, high) = self.interval(tail).unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let end = |it: f64| it.is_finite().then(|| libm::exp(it));
        (end(low), end(high))
    }

    /// All ln(a / b) that the signed-rank test does not reject (Tukey, 1949; as in R's `wilcox.test`). `None` of too few
    /// blocks: with 2.5 % on either side, of fewer than [`INTERVAL_BLOCKS_MIN`].
    fn interval(&self, tail: f64) -> Option<(f64, f64)> {
        Some(self.between_means(rejected_below(self.0.len(), tail)?))
    }

    /// From the mean of two blocks of this rank, from 1, to that of the same rank from above.
    pub(super) fn between_means(&self, rank: usize) -> (f64, f64) {
        let mut means = pair_means(&self.0);
        means.sort_by(f64::total_cmp);
        (means[rank - 1], means[means.len() - rank])
    }

    /// The same of the first blocks only.
    #[must_use]
    pub(super) fn first(&self, blocks: usize) -> Self {
        Self(self.0.iter().take(blocks).copied().collect())
    }

    /// Half the width of Student's 95 % interval of the mean logarithm: what a run is told to stop by. It does not look
    /// at where the interval lies, so stopping by it does not go after significance. `None` of fewer than two blocks;
    /// infinite where a failure is among them.
    pub fn half_width(&self) -> Option<f64> {
        if self.0.iter().any(|it| it.is_infinite()) {
            return Some(f64::INFINITY);
        }
        let deviation = self.noise()? * core::f64::consts::SQRT_2;
        Some(student_975(self.0.len() - 1) * deviation / libm::sqrt(self.0.len() as f64))
    }

    /// Standard deviation of one of the two within a block, if both are equally noisy. `None` of fewer than two blocks, and
    /// where a failure is among them.
    pub fn noise(&self) -> Option<f64> {
        let n = self.0.len() as f64;
        if self.0.len() < 2 || self.0.iter().any(|it| it.is_infinite()) {
            return None;
        }
        let mean = self.0.iter().sum::<f64>() / n;
        let squares: f64 = self.0.iter().map(|it| (it - mean) * (it - mean)).sum();
        // A difference of two has the variance of both.
        Some(libm::sqrt(squares / (n - 1.0) / 2.0))
    }

    /// How often chance alone would bring ranks as uneven, in either direction: [`signed_rank_p`].
    pub fn p_value(&self) -> f64 {
        signed_rank_p(&self.0)
    }
}

/// The median of the means of all pairs of `values`, each with itself included: the estimator that goes with the
/// signed-rank test (Hodges and Lehmann, 1963). Nearly as good as the mean where that is best, and not moved far by one
/// block that went wrong, even if it is infinite. `None` of none.
pub fn hodges_lehmann(values: &[f64]) -> Option<f64> {
    median(&mut pair_means(values))
}

/// The means of all pairs of `values`, each with itself included (Walsh averages).
fn pair_means(values: &[f64]) -> Vec<f64> {
    let mut means = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
    for (index, a) in values.iter().enumerate() {
        means.extend(values[index..].iter().map(|b| between(*a, *b)));
    }
    means
}

/// The mean of two; two infinities of opposite signs are as far to one side as to the other.
fn between(a: f64, b: f64) -> f64 {
    if a.is_infinite() && b.is_infinite() && a.signum() != b.signum() { 0.0 } else { f64::midpoint(a, b) }
}

/// The middle value, or the mean of the middle two. `None` of none. The order of `values` is lost.
pub(crate) fn median(values: &mut [f64]) -> Option<f64> {
    let middle = values.len().checked_sub(1)? / 2;
    let is_even = values.len().is_multiple_of(2);
    let (_, low, above) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let low = *low;
    let next = above.iter().copied().min_by(f64::total_cmp);
    Some(if is_even { between(low, next.unwrap_or(low)) } else { low })
}

/// The 95 % interval of what was estimated from resamples of `blocks` blocks: its percentiles, widened as Hesterberg
/// (2015, "What Teachers Should Know About the Bootstrap", 5.3) has it for few values: plain percentiles are too narrow by
/// √((n − 1) / n) and by the difference between t and the normal distribution. `None` of fewer than
/// [`INTERVAL_BLOCKS_MIN`] blocks, or of no estimates.
pub(crate) fn widened_percentiles(estimates: &mut [f64], blocks: usize) -> Option<(f64, f64)> {
    if blocks < INTERVAL_BLOCKS_MIN {
        return None;
    }
    estimates.sort_by(f64::total_cmp);
    let n = blocks as f64;
    let share = normal_below(-libm::sqrt(n / (n - 1.0)) * student_975(blocks - 1));
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

/// The exact two-sided signed-rank test (Wilcoxon, 1945): if the two treatments were the same, each block's difference
/// could as well have had the other sign, so the sum of the ranks of those above 0 is compared with that of all the ways to
/// choose signs. With `n` blocks no p below 2 / 2ⁿ is possible. Differences that are equal share the mean of their ranks,
/// infinite ones the highest; those of 0 keep their ranks and count for neither side (Pratt, 1959). 1 of none.
pub fn signed_rank_p(values: &[f64]) -> f64 {
    let ranks = doubled_ranks(values);
    let of_sign = |wanted: fn(&f64) -> bool| -> Vec<usize> {
        values.iter().zip(&ranks).filter(|(value, _)| wanted(value)).map(|(_, rank)| *rank).collect()
    };
    let (above, mut signed) = (of_sign(|it| *it > 0.0), of_sign(|it| *it < 0.0));
    let observed: usize = above.iter().sum();
    signed.extend(above);
    if values.len() > EXACT_BLOCKS_MAX {
        return normal_p(observed, &signed);
    }
    let sums = sums_of_subsets(&signed);
    let at_most: f64 = sums[..=observed].iter().sum();
    let at_least: f64 = sums[observed..].iter().sum();
    (2.0 * at_most.min(at_least)).min(1.0)
}

/// The same where the sum of ranks is taken for normal, with a correction for continuity.
fn normal_p(observed: usize, signed: &[usize]) -> f64 {
    let mean = signed.iter().sum::<usize>() as f64 / 2.0;
    let variance: f64 = signed.iter().map(|it| (*it as f64) * (*it as f64)).sum::<f64>() / 4.0;
    // A step between two sums of doubled ranks is 2.
    let off = ((observed as f64 - mean).abs() - 1.0).max(0.0);
    libm::erfc(off / libm::sqrt(2.0 * variance.max(f64::MIN_POSITIVE))).min(1.0)
}

/// Twice the rank of each value's distance from 0, from the smallest up; equal ones share the mean of theirs.
fn doubled_ranks(values: &[f64]) -> Vec<usize> {
    let all: f64 = values.iter().map(|it| it.abs()).filter(|it| it.is_finite()).sum();
    // Distances that are equal but for rounding count as equal.
    let equal = |a: f64, b: f64| a.total_cmp(&b).is_eq() || (b - a).abs() <= 1e-12 * all;
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].abs().total_cmp(&values[*b].abs()));
    let mut ranks = vec![0; values.len()];
    let mut start = 0;
    for group in order.chunk_by(|a, b| equal(values[*a].abs(), values[*b].abs())) {
        for index in group {
            // The mean of start + 1 to start + length, twice.
            ranks[*index] = 2 * start + group.len() + 1;
        }
        start += group.len();
    }
    ranks
}

/// How likely each sum of a random choice of `ranks` is, every choice being as likely as any other.
fn sums_of_subsets(ranks: &[usize]) -> Vec<f64> {
    let mut shares = vec![0.0; ranks.iter().sum::<usize>() + 1];
    shares[0] = 1.0;
    let mut most = 0;
    for rank in ranks {
        most += rank;
        for sum in (0..=most).rev() {
            let with = sum.checked_sub(*rank).map_or(0.0, |rest| shares[rest]);
            shares[sum] = f64::midpoint(shares[sum], with);
        }
    }
    shares
}

/// The rank, from 1, of the first mean of pairs that an interval with `tail` on either side holds. `None` where even the
/// widest interval is less sure.
fn rejected_below(blocks: usize, tail: f64) -> Option<usize> {
    if blocks > EXACT_BLOCKS_MAX {
        let n = blocks as f64;
        let spread = libm::sqrt(n * (n + 1.0) * (2.0 * n + 1.0) / 24.0);
        return Some((n * (n + 1.0) / 4.0 - normal_above(tail) * spread).floor() as usize);
    }
    let ranks: Vec<usize> = (1..=blocks).collect();
    let mut below = 0.0;
    for (rank, share) in sums_of_subsets(&ranks).iter().enumerate() {
        below += share;
        // Rounding must not move a sum that is at the level exactly.
        if below >= tail - 1e-12 {
            return (rank > 0).then_some(rank);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Figures of blocks, `None` where one failed.
    fn observed(figures: &[Option<f64>]) -> Vec<Option<Observation>> {
        figures.iter().map(|it| Some(it.map_or(Observation::Failed, Observation::Figure))).collect()
    }

    /// Rounded, and without a sign of 0.
    fn tidy(value: f64) -> f64 {
        if value.is_infinite() { value } else { (value * 1e9).round() / 1e9 + 0.0 }
    }

    fn always(figure: f64, blocks: usize) -> Vec<Option<Observation>> {
        vec![Some(Observation::Figure(figure)); blocks]
    }

    /// Heights of cross- and self-fertilised maize, in eighths of an inch: Darwin's experiment; R's `wilcox.test(x, exact =
    /// TRUE)` of the untied ones.
    #[test]
    fn the_test_agrees_with_every_way_of_choosing_signs() {
        let differences = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48].map(f64::from);
        let ranks = [11, 14, 2, 4, 1, 5, 7, 9, 3, 8, 12, 6, 15, 13, 10];
        let negative = 14 + 10;
        let mut ways = 0;
        for signs in 0_u32..1 << 15 {
            let sum: usize = (0..15).filter(|it| signs >> it & 1 == 1).map(|it| ranks[it]).sum();
            ways += u32::from(sum <= negative);
        }
        let truth = 2.0 * f64::from(ways) / f64::from(1 << 15);
        assert!((signed_rank_p(&differences) - truth).abs() < 1e-12, "{truth}");
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
        // R: V = 5 of the rises, p = 0.03906; conf.int −0.786 to −0.010 (two of the nine rise).
        assert!((signed_rank_p(&differences) - 0.039_062_5).abs() < 1e-9);
        let (low, high) = LogRatios(differences).interval(TAIL).unwrap();
        assert!((low + 78.6).abs() < 1e-9 && (high + 1.0).abs() < 1e-9, "{low} {high}");
    }

    #[test]
    fn a_block_in_which_one_was_not_tried_is_left_out_and_one_in_which_both_failed_says_nothing() {
        let a = [Some(Observation::Figure(2.0)), None, Some(Observation::Failed)];
        let b = [Some(Observation::Figure(1.0)), Some(Observation::Figure(1.0)), Some(Observation::Failed)];
        let ratios = LogRatios::of(&a, &b);
        assert_eq!(ratios.blocks(), 1);
        assert!((ratios.ratio().unwrap().value - 2.0).abs() < 1e-12);
        assert_eq!(LogRatios::of(&[], &[]).ratio(), None);
    }

    /// It answers four times as fast in six blocks and not at all in the other six.
    #[test]
    fn who_fails_in_half_of_the_blocks_is_not_the_better() {
        let mut a = vec![Some(40.0); 6];
        a.extend([None; 6]);
        let ratios = LogRatios::of(&observed(&a), &always(10.0, 12));
        assert_eq!(ratios.blocks(), 12);
        assert!(ratios.estimate().unwrap() < 0.0);
        assert!(ratios.p_value() > 0.05);
        assert!(ratios.half_width().unwrap().is_infinite());
    }

    #[test]
    fn one_failure_of_twelve_widens_and_does_not_vanish() {
        let mut a = vec![Some(12.0); 11];
        let without = LogRatios::of(&observed(&a), &always(10.0, 11)).p_value();
        a.push(None);
        let ratios = LogRatios::of(&observed(&a), &always(10.0, 12));
        assert!((ratios.ratio().unwrap().value - 1.2).abs() < 1e-12);
        assert!(ratios.p_value() > without, "{} {without}", ratios.p_value());
        assert_eq!(ratios.noise(), None);
    }

    #[test]
    fn who_always_fails_loses_by_more_than_any_ratio() {
        let ratios = LogRatios::of(&observed(&[None; 8]), &always(10.0, 8));
        assert_eq!((ratios.ratio(), ratios.estimate()), (None, Some(f64::NEG_INFINITY)));
        assert!((ratios.p_value() - 2.0 / 256.0).abs() < 1e-12);
    }

    #[test]
    fn fewer_blocks_than_hold_a_truth_have_an_estimate_and_no_interval() {
        for blocks in 1..=8 {
            let a: Vec<Option<f64>> = (0..blocks).map(|it| Some(3.0 + 0.01 * f64::from(it))).collect();
            let ratio = LogRatios::of(&observed(&a), &always(2.0, 8)).ratio().unwrap();
            assert_eq!((ratio.low.is_some(), ratio.high.is_some()), (blocks >= 6, blocks >= 6), "{blocks}");
        }
        assert_eq!(widened_percentiles(&mut [1.0; 50], INTERVAL_BLOCKS_MIN - 1), None);
    }

    #[test]
    fn without_spread_the_interval_is_the_estimate() {
        let same = LogRatios::of(&always(3.0, 8), &always(2.0, 8));
        let ratio = same.ratio().unwrap();
        assert!((ratio.low.unwrap() - 1.5).abs() < 1e-12 && (ratio.high.unwrap() - 1.5).abs() < 1e-12);
        assert!((same.p_value() - 2.0 / 256.0).abs() < 1e-12);
        let none = LogRatios::of(&always(2.0, 8), &always(2.0, 8));
        assert!((none.p_value() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn many_blocks_are_taken_for_normal_and_agree_with_the_count() {
        let values: Vec<f64> = (0..90).map(|it| f64::from(it * 37 % 97) - 42.0).collect();
        let ranks = doubled_ranks(&values);
        let above: usize = values.iter().zip(&ranks).filter(|it| *it.0 > 0.0).map(|it| it.1).sum();
        let signed: Vec<usize> =
            values.iter().zip(&ranks).filter(|it| *it.0 != 0.0).map(|it| *it.1).collect();
        let (exact, normal) = (signed_rank_p(&values), normal_p(above, &signed));
        assert!((exact - normal).abs() < 0.002, "{exact} {normal}");
        assert!(rejected_below(100, TAIL).unwrap().abs_diff(rejected_below(101, TAIL).unwrap()) < 60);
    }

    proptest! {
        #[test]
        fn turned_round_it_says_the_same(
            pairs in prop::collection::vec((0.1..10.0_f64, 0.1..10.0_f64), 2..12),
        ) {
            // Whoever is below 1 failed.
            let figure = |it: f64| Some(if it < 1.0 { Observation::Failed } else { Observation::Figure(it) });
            let (a, b): (Vec<_>, Vec<_>) = pairs.into_iter().map(|(a, b)| (figure(a), figure(b))).unzip();
            let (there, back) = (LogRatios::of(&a, &b), LogRatios::of(&b, &a));
            prop_assert!((there.p_value() - back.p_value()).abs() < 1e-12);
            prop_assert!((0.0..=1.0).contains(&there.p_value()));
            prop_assert_eq!(there.estimate().map(|it| -it).map(tidy), back.estimate().map(tidy));
            if let (Some(x), Some(y)) = (there.ratio(), back.ratio()) {
                prop_assert!((x.value * y.value - 1.0).abs() < 1e-9);
                prop_assert_eq!(x.low.is_some(), y.high.is_some());
                prop_assert!(x.low.is_none_or(|low| low <= x.value * (1.0 + 1e-9)));
                prop_assert!(x.high.is_none_or(|high| x.value <= high * (1.0 + 1e-9)));
            }
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
