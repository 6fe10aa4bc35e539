//! Between which of a few values a quantile of what they are drawn from lies, whatever their distribution: order statistics
//! (David and Nagaraja, 2003, "Order Statistics", section 7.1).

use crate::probability::binomial_at_most;

/// Ranks, from 1 for the smallest of the values; `None` on a side on which so few values have no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankBounds {
    /// The quantile is no smaller than the value of this rank.
    pub low: Option<u64>,
    /// And no larger than the value of this one.
    pub high: Option<u64>,
}

/// Where the quantile lies among `count` independent values; each side is wrong with a probability of `miss` at most. As many
/// values lie below the quantile as a binomial distribution has it.
pub fn rank_bounds(quantile: f64, count: u64, miss: f64) -> RankBounds {
    if !(quantile > 0.0 && quantile < 1.0) || count == 0 {
        return RankBounds { low: None, high: None };
    }
    let fewer_below = |rank: u64| binomial_at_most(rank - 1, count, quantile);
    // The value of a rank is above the quantile where fewer values than that are below it; and below it where as many are.
    let low = last_that(1, count, |rank| fewer_below(rank) <= miss);
    let too_low = last_that(1, count, |rank| fewer_below(rank) < 1.0 - miss).unwrap_or(0);
    RankBounds { low, high: (too_low < count).then_some(too_low + 1) }
}

/// The last from `first` to `last` that `holds`, which all before one that does do as well. `None` if none does.
fn last_that(first: u64, last: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut known, mut not) = (first.checked_sub(1)?, last + 1);
    while not - known > 1 {
        let middle = known.midpoint(not);
        if holds(middle) {
            known = middle;
        } else {
            not = middle;
        }
    }
    (known >= first).then_some(known)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::samples_needed;

    #[test]
    fn the_ranks_are_those_of_the_tables() {
        // Conover (1999), table A.3: of 100 values the median lies between the 40th and the 61st with 95 %.
        assert_eq!(rank_bounds(0.5, 100, 0.025), RankBounds { low: Some(40), high: Some(61) });
        // Of ten between the second and the ninth (97.9 %), of six between the outermost.
        assert_eq!(rank_bounds(0.5, 10, 0.025), RankBounds { low: Some(2), high: Some(9) });
        assert_eq!(rank_bounds(0.5, 6, 0.025), RankBounds { low: Some(1), high: Some(6) });
        // Half of all pairs are on either side of it: five values bound it with 93.75 %.
        assert_eq!(rank_bounds(0.5, 5, 0.032), RankBounds { low: Some(1), high: Some(5) });
        assert_eq!(rank_bounds(0.5, 5, 0.03), RankBounds { low: None, high: None });
        // The 99th percentile takes 299 values to lie below the longest.
        let needed = samples_needed(0.99);
        assert_eq!((needed, rank_bounds(0.99, needed - 1, 0.05).high), (299, None));
        assert_eq!(rank_bounds(0.99, needed, 0.05).high, Some(needed));
        for (quantile, count) in [(0.5, 0), (0.0, 100), (1.0, 100), (f64::NAN, 100)] {
            assert_eq!(rank_bounds(quantile, count, 0.05), RankBounds { low: None, high: None });
        }
    }

    #[test]
    fn the_bounds_miss_as_often_as_they_say() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut uniform = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        for (quantile, count) in [(0.1, 30), (0.1, 100), (0.25, 30), (0.5, 10), (0.9, 100), (0.75, 1_500)] {
            let RankBounds { low, high } = rank_bounds(quantile, count, 0.02);
            let tries = 3_000;
            let (mut above, mut below) = (0, 0);
            for _ in 0..tries {
                let mut values: Vec<f64> = (0..count).map(|_| uniform()).collect();
                values.sort_by(f64::total_cmp);
                above += u32::from(low.is_some_and(|rank| values[rank as usize - 1] > quantile));
                below += u32::from(high.is_some_and(|rank| values[rank as usize - 1] < quantile));
            }
            for missed in [above, below] {
                let share = f64::from(missed) / f64::from(tries);
                assert!(share <= 0.028, "{share} of {quantile} in {count}");
            }
        }
    }

    proptest! {
        #[test]
        fn the_ranks_hold_the_sample_s_own_quantile(count in 1_u64..5000, permille in 1_u64..999) {
            let quantile = permille as f64 / 1000.0;
            let RankBounds { low, high } = rank_bounds(quantile, count, 0.025);
            let own = (quantile * count as f64).ceil() as u64;
            prop_assert!(low.is_none_or(|it| 1 <= it && it <= own), "{low:?} {own}");
            prop_assert!(high.is_none_or(|it| own <= it && it <= count), "{high:?} {own}");
        }
    }
}
