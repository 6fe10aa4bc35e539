//! Two treatments, measured apart from each other: two runs, say, whose blocks have nothing to do with each other.
//!
//! What is compared are logarithms, so that a shift between the two is a ratio. Test, estimate and interval belong
//! together: the rank-sum test, the shift that it rejects least, and all shifts that it does not reject.

use super::paired::{CONFIDENCE, Ratio, median};
use crate::probability::normal_above;

/// Values of both samples together up to which the distribution of rank sums is counted out; beyond, it is taken for
/// normal, as R's `wilcox.test` does from 50 values in a sample on.
const EXACT_VALUES_MAX: usize = 60;
/// Chance on either side of an interval: 2.5 %, which leaves 95 %.
const TAIL: f64 = (1.0 - CONFIDENCE) / 2.0;

/// Logarithms of two samples.
#[derive(Debug, Clone, PartialEq)]
pub struct TwoSamples {
    a: Vec<f64>,
    b: Vec<f64>,
}

impl TwoSamples {
    /// Of figures from 0 up. A 0 is below every other: left out, it would leave the comparison to those that did better.
    /// What is no such number is as good as not measured.
    pub fn of(a: &[f64], b: &[f64]) -> Self {
        let logarithm = |it: f64| if it > 0.0 { libm::log(it) } else { f64::NEG_INFINITY };
        let logarithms = |values: &[f64]| {
            values.iter().filter(|it| it.is_finite() && **it >= 0.0).map(|it| logarithm(*it)).collect()
        };
        Self { a: logarithms(a), b: logarithms(b) }
    }

    /// How many values each sample has.
    pub fn counts(&self) -> (usize, usize) {
        (self.a.len(), self.b.len())
    }

    /// The ratio b / a with its 95 % interval, which is absent where no interval of so few values is that sure. `None`
    /// where a sample is empty, or where so many of `a` are 0 that there is no such ratio.
    pub fn ratio(&self) -> Option<Ratio> {
        let value = shift(&self.a, &self.b)?;
        let (low, high) = self.ends(TAIL);
        Some(Ratio { value: finite(libm::exp(value))?, low, high })
    }

    /// The ends of an interval of that ratio, beyond each of which chance puts the true one with a probability of `tail` at most.
    /// It may have them even where so many of `a` are 0 that there is no ratio; `None` where there is no end.
    pub fn ends(&self, tail: f64) -> (Option<f64>, Option<f64>) {
        let interval = interval(&self.a, &self.b, tail);
        let end = |logarithm: f64| finite(libm::exp(logarithm));
        (interval.and_then(|it| end(it.0)), interval.and_then(|it| end(it.1)))
    }

    /// How often chance alone would bring `b` as far below `a`, and how often as far above, each by itself.
    pub fn tails(&self) -> (f64, f64) {
        rank_sum_tails(&self.a, &self.b)
    }

    /// How often chance alone would bring rank sums as uneven, in either direction: [`rank_sum_p`].
    pub fn p_value(&self) -> f64 {
        rank_sum_p(&self.a, &self.b)
    }
}

/// The smallest p that two samples of so many values can come to.
pub fn least_rank_sum_p(a: usize, b: usize) -> f64 {
    // Of all choices of which values are the first sample's, the two most uneven ones.
    let ways = (1..=a).fold(1.0, |ways, it| ways * (b + it) as f64 / it as f64);
    (2.0 / ways).min(1.0)
}

/// By how much `b` is above `a`: the median of all differences (Hodges and Lehmann, 1963). `None` where a sample is empty.
fn shift(a: &[f64], b: &[f64]) -> Option<f64> {
    median(&mut differences(a, b))
}

/// The interval of that which goes with the rank-sum test (Moses, 1965; as in R's `wilcox.test`), with `tail` on either side.
/// Where values are equal it is that of values which are not, and so no narrower than it must be (Noether, 1967). `None` where
/// even the widest one is less sure.
fn interval(a: &[f64], b: &[f64], tail: f64) -> Option<(f64, f64)> {
    let rank = rejected_below(a.len(), b.len(), tail)?;
    let mut differences = differences(a, b);
    differences.sort_by(f64::total_cmp);
    Some((differences[rank - 1], differences[differences.len() - rank]))
}

/// Each of `b` less each of `a`.
fn differences(a: &[f64], b: &[f64]) -> Vec<f64> {
    // Of two that are both −∞ neither is above the other.
    let above = |b: f64, a: f64| if b.total_cmp(&a).is_eq() { 0.0 } else { b - a };
    b.iter().flat_map(|b| a.iter().map(move |a| above(*b, *a))).collect()
}

fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|it| it.is_finite())
}

/// The rank, from 1, of the first difference between two samples that an interval with `tail` on either side holds. `None`
/// where even the widest interval is less sure, as of an empty sample.
fn rejected_below(a: usize, b: usize, tail: f64) -> Option<usize> {
    let pairs = a * b;
    if a + b > EXACT_VALUES_MAX {
        let spread = libm::sqrt(pairs as f64 * (a + b + 1) as f64 / 12.0);
        let rank = (pairs as f64 / 2.0 - normal_above(tail) * spread).floor();
        return (rank >= 1.0).then_some(rank as usize);
    }
    let untied: Vec<usize> = (1..=a + b).collect();
    let sums = rank_sums(&untied, b);
    let ways: f64 = sums.iter().sum();
    let least = b * (b + 1) / 2;
    let mut below = 0.0;
    for (rank, count) in sums[least..].iter().enumerate() {
        below += count / ways;
        // Rounding must not move a sum that is at the level exactly.
        if below >= tail - 1e-12 {
            return (rank > 0).then_some(rank);
        }
    }
    None
}

/// The two-sided rank-sum test (Wilcoxon, 1945; Mann and Whitney, 1947): if both samples were of one kind, any choice
/// of which values are the second's would be as likely, and with it any sum of their ranks. Exact for up to
/// [`EXACT_VALUES_MAX`] values, ties included: they share the mean of their ranks. 1 where a sample is empty.
pub fn rank_sum_p(a: &[f64], b: &[f64]) -> f64 {
    let (below, above) = rank_sum_tails(a, b);
    (2.0 * below.min(above)).min(1.0)
}

/// The same, one-sided: how often chance alone would bring the second sample as far above the first.
pub fn rank_sum_p_above(a: &[f64], b: &[f64]) -> f64 {
    rank_sum_tails(a, b).1
}

/// How often chance alone would bring a rank sum of the second sample as low, and one as high.
fn rank_sum_tails(a: &[f64], b: &[f64]) -> (f64, f64) {
    if a.is_empty() || b.is_empty() {
        return (1.0, 1.0);
    }
    let (ranks, ties) = doubled_ranks(a, b);
    let observed: usize = ranks[a.len()..].iter().sum();
    if ranks.len() > EXACT_VALUES_MAX {
        return normal_tails(observed as f64 / 2.0, a.len(), b.len(), ties);
    }
    let sums = rank_sums(&ranks, b.len());
    let ways: f64 = sums.iter().sum();
    let at_most: f64 = sums[..=observed].iter().sum();
    let at_least: f64 = sums[observed..].iter().sum();
    (at_most / ways, at_least / ways)
}

/// Twice the rank of each value, those of `a` first, and the sum of t³ − t over groups of t values that are equal.
fn doubled_ranks(a: &[f64], b: &[f64]) -> (Vec<usize>, f64) {
    let all: Vec<f64> = a.iter().chain(b).copied().collect();
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|x, y| all[*x].total_cmp(&all[*y]));
    let mut ranks = vec![0; all.len()];
    let (mut start, mut ties) = (0, 0.0);
    for group in order.chunk_by(|x, y| all[*x].total_cmp(&all[*y]).is_eq()) {
        for index in group {
            // The mean of start + 1 to start + length, twice.
            ranks[*index] = 2 * start + group.len() + 1;
        }
        let length = group.len() as f64;
        ties += length * length * length - length;
        start += group.len();
    }
    (ranks, ties)
}

/// In how many ways `count` of `ranks` come to each sum.
fn rank_sums(ranks: &[usize], count: usize) -> Vec<f64> {
    let most: usize = ranks.iter().sum();
    let mut ways = vec![vec![0.0_f64; most + 1]; count + 1];
    ways[0][0] = 1.0;
    for rank in ranks {
        for chosen in (1..=count).rev() {
            let (fewer, more) = ways.split_at_mut(chosen);
            for sum in (*rank..=most).rev() {
                more[0][sum] += fewer[chosen - 1][sum - rank];
            }
        }
    }
    ways.swap_remove(count)
}

/// With corrections for ties and for continuity.
fn normal_tails(rank_sum: f64, a: usize, b: usize, ties: f64) -> (f64, f64) {
    let (m, n) = (a as f64, b as f64);
    let all = m + n;
    let variance = m * n / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        return (1.0, 1.0);
    }
    let above = rank_sum - n * (all + 1.0) / 2.0;
    let beyond = |off: f64| libm::erfc((off - 0.5) / libm::sqrt(2.0 * variance)) / 2.0;
    (beyond(-above), beyond(above))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::comparison::simulation::normal;

    /// Permeability constants of the human chorioamnion at term and at 12 to 26 weeks: Hollander and Wolfe (1973), page
    /// 69, the example of R's `wilcox.test`, which says W = 35, p = 0.1272 one-sided, a shift of 0.305 and, with
    /// `conf.int = TRUE`, the interval from −0.15 to 0.76.
    const TERM: [f64; 10] = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
    const EARLIER: [f64; 5] = [1.15, 0.88, 0.90, 0.74, 1.21];

    #[test]
    fn it_agrees_with_r_on_hollander_and_wolfe() {
        let value = shift(&EARLIER, &TERM).unwrap();
        let (low, high) = interval(&EARLIER, &TERM, TAIL).unwrap();
        assert!((value - 0.305).abs() < 1e-9 && (low + 0.15).abs() < 1e-9 && (high - 0.76).abs() < 1e-9);
        assert!((rank_sum_p(&EARLIER, &TERM) - 0.254_412).abs() < 1e-6);
    }

    /// Of the 70 ways to choose 4 of 8, one is all the lowest and one all the highest.
    #[test]
    fn the_most_uneven_split_has_the_least_p() {
        let (low, high) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]);
        assert!((rank_sum_p(&low, &high) - 2.0 / 70.0).abs() < 1e-12);
        assert!((least_rank_sum_p(4, 4) - 2.0 / 70.0).abs() < 1e-12);
        assert!((least_rank_sum_p(1, 1) - 1.0).abs() < 1e-12 && (least_rank_sum_p(0, 9) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn few_values_have_an_estimate_and_no_interval() {
        let one = TwoSamples::of(&[100.0], &[150.0]);
        let ratio = one.ratio().unwrap();
        assert!((ratio.value - 1.5).abs() < 1e-12 && ratio.low.is_none() && ratio.high.is_none());
        assert!((one.p_value() - 1.0).abs() < 1e-12);
        assert!(TwoSamples::of(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]).ratio().unwrap().low.is_none());
        assert!(TwoSamples::of(&[1.0, 2.0, 3.0, 4.0], &[1.0, 2.0, 3.0, 4.0]).ratio().unwrap().low.is_some());
        assert_eq!(TwoSamples::of(&[], &[1.0]).ratio(), None);
        assert_eq!(TwoSamples::of(&[0.0, f64::NAN, -1.0, 2.0], &[1.0]).counts(), (2, 1));
    }

    /// Ten of twelve brought nothing, and the two that were left are as ever.
    #[test]
    fn a_0_is_the_worst_and_does_not_vanish() {
        let well: Vec<f64> = (0..12).map(|it| 1000.0 + f64::from(it)).collect();
        let ill = [&[0.0; 10][..], &well[5..7]].concat();
        let fallen = TwoSamples::of(&well, &ill);
        let ratio = fallen.ratio().unwrap();
        assert!(fallen.p_value() < 0.001 && ratio.value < 1e-9 && ratio.low == Some(0.0), "{ratio:?}");
        // From nothing to something there is no ratio; the test sees it all the same.
        let risen = TwoSamples::of(&ill, &well);
        assert!(risen.ratio().is_none() && (risen.p_value() - fallen.p_value()).abs() < 1e-12);
        let dead = TwoSamples::of(&[0.0; 6], &[0.0; 6]);
        assert!((dead.p_value() - 1.0).abs() < 1e-12);
        assert!((dead.ratio().unwrap().value - 1.0).abs() < 1e-12);
    }

    /// As R's example has it: p = 0.1272 one-sided.
    #[test]
    fn one_side_is_half_of_both_and_the_other_is_the_rest() {
        let above = rank_sum_p_above(&EARLIER, &TERM);
        assert!((above - 0.127_206).abs() < 1e-6, "{above}");
        assert!(rank_sum_p_above(&TERM, &EARLIER) > 1.0 - above);
        let (low, high) = ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]);
        assert!((rank_sum_p_above(&low, &high) - 1.0 / 70.0).abs() < 1e-12);
        assert!((rank_sum_p_above(&high, &low) - 1.0).abs() < 1e-12);
        assert!((rank_sum_p_above(&[0.0; 40], &[0.0; 40]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn without_any_spread_ties_decide_nothing_and_a_gap_decides_all() {
        let same = TwoSamples::of(&[7.0; 8], &[7.0; 8]);
        assert!((same.p_value() - 1.0).abs() < 1e-12);
        let ratio = same.ratio().unwrap();
        assert_eq!((ratio.value, ratio.low, ratio.high), (1.0, Some(1.0), Some(1.0)));
        let apart = TwoSamples::of(&[2.0; 8], &[1.0; 8]);
        assert!((apart.p_value() - least_rank_sum_p(8, 8)).abs() < 1e-12);
        assert!((apart.ratio().unwrap().high.unwrap() - 0.5).abs() < 1e-12);
    }

    /// Of the 924 ways to choose 6 of 12 one has the lowest sum and one the next.
    #[test]
    fn a_surer_interval_is_wider_and_one_that_can_not_be_so_sure_is_none() {
        let low = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let both = TwoSamples::of(&low, &low.map(|it| it * 10.0));
        let (from, to) = both.ends(0.0015);
        let (from, to) = (from.unwrap(), to.unwrap());
        assert!((from - 10.0 / 6.0).abs() < 1e-9 && (to - 60.0).abs() < 1e-9, "{from} {to}");
        let own = both.ratio().unwrap();
        assert!(own.low.unwrap() > from && own.high.unwrap() < to, "{own:?}");
        assert_eq!(both.ends(0.001), (None, None));
        let (below, above) = both.tails();
        assert!((below - 1.0).abs() < 1e-12 && (above - 1.0 / 924.0).abs() < 1e-12);
        // Nor has one of many values that are nearly all of one run.
        let many = [1.0; 61];
        assert_eq!(TwoSamples::of(&[1.0], &many).ends(0.025), (None, None));
    }

    #[test]
    fn many_values_are_taken_for_normal_and_agree_with_the_count() {
        let values = |from: u32, step: u32| -> Vec<f64> {
            (0..30).map(|it| f64::from((it * step + from) % 97)).collect()
        };
        let (a, b) = (values(3, 29), values(20, 31));
        let (ranks, ties) = doubled_ranks(&a, &b);
        let observed: usize = ranks[30..].iter().sum();
        let (below, above) = normal_tails(observed as f64 / 2.0, 30, 30, ties);
        let normal = 2.0 * below.min(above);
        assert!((rank_sum_p(&a, &b) - normal).abs() < 0.005, "{} {normal}", rank_sum_p(&a, &b));
        let more =
            |values: &[f64]| values.iter().map(|it| it + 0.3).chain(values.to_vec()).collect::<Vec<_>>();
        assert!(rank_sum_p(&more(&a), &more(&b)) <= 1.0);
    }

    /// Two runs of the same: of 1,000 at a true rate of 5 %, more than 7.1 % happen once in a thousand times; and of
    /// 1,000 intervals fewer than 92.9 % likewise.
    #[test]
    fn equal_runs_are_seldom_called_different_and_intervals_hold_the_truth() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut sample = |count: usize, ratio: f64| -> Vec<f64> {
            (0..count).map(|_| ratio * libm::exp(0.03 * normal(&mut random))).collect()
        };
        let (mut falsely, mut held, mut found) = (0, 0, 0);
        for _ in 0..1000 {
            let (a, b) = (sample(6, 1.0), sample(10, 1.0));
            falsely += u32::from(TwoSamples::of(&a, &b).p_value() <= 0.05);
            let apart = TwoSamples::of(&a, &sample(10, 1.1));
            let ratio = apart.ratio().unwrap();
            held += u32::from((ratio.low.unwrap()..=ratio.high.unwrap()).contains(&1.1));
            found += u32::from(apart.p_value() <= 0.05);
        }
        assert!(falsely <= 71 && held >= 929 && found >= 980, "{falsely} {held} {found}");
    }

    proptest! {
        #[test]
        fn turned_round_it_says_the_same(
            a in prop::collection::vec(0.1..10.0_f64, 1..12),
            b in prop::collection::vec(0.1..10.0_f64, 1..12),
        ) {
            let (there, back) = (TwoSamples::of(&a, &b), TwoSamples::of(&b, &a));
            prop_assert!((there.p_value() - back.p_value()).abs() < 1e-9);
            prop_assert!((0.0..=1.0).contains(&there.p_value()));
            let (x, y) = (there.ratio().unwrap(), back.ratio().unwrap());
            prop_assert!((x.value * y.value - 1.0).abs() < 1e-9);
            prop_assert_eq!(x.low.is_some(), y.low.is_some());
            if let (Some(low), Some(high)) = (x.low, y.high) {
                prop_assert!((low * high - 1.0).abs() < 1e-9 && low <= x.value * (1.0 + 1e-9));
            }
        }
    }
}
