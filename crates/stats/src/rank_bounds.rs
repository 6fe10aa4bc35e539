//! Between which of a few values a quantile of what they are drawn from lies, whatever their distribution: order statistics
//! (David and Nagaraja, 2003, "Order Statistics", section 7.1).

/// Ranks, from 1 for the smallest of the values; `None` on a side on which so few values have no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankBounds {
    /// The quantile is no smaller than the value of this rank.
    pub low: Option<usize>,
    /// And no larger than the value of this one.
    pub high: Option<usize>,
}

/// Where the quantile lies among `count` independent values; each side is wrong with a probability of `miss` at most. As many
/// values lie below the quantile as a binomial distribution has it.
pub fn rank_bounds(quantile: f64, count: usize, miss: f64) -> RankBounds {
    if !(quantile > 0.0 && quantile < 1.0) || count == 0 {
        return RankBounds { low: None, high: None };
    }
    let (n, odds) = (count as f64, libm::log(quantile / (1.0 - quantile)));
    // The probability that just `below` values lie below, as a logarithm: of many values the first ones are too small for
    // anything else.
    let mut exactly = n * libm::log(1.0 - quantile);
    let mut up_to = 0.0;
    let (mut low, mut high) = (None, None);
    for below in 0..=count {
        up_to += libm::exp(exactly);
        // The value of rank r is above the quantile where r - 1 values are below it at most.
        if up_to <= miss && below < count {
            low = Some(below + 1);
        }
        // And below it where r values are at least.
        if high.is_none() && 1.0 - up_to <= miss && below < count {
            high = Some(below + 1);
        }
        exactly += libm::log((n - below as f64) / (below as f64 + 1.0)) + odds;
    }
    RankBounds { low, high }
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn the_ranks_are_those_of_the_tables() {
        // Conover (1999), table A.3: of 100 values the median lies between the 40th and the 61st with 95 %.
        assert_eq!(rank_bounds(0.5, 100, 0.025), RankBounds { low: Some(40), high: Some(61) });
        // Half of all pairs are on either side of it: five values bound it with 93.75 %.
        assert_eq!(rank_bounds(0.5, 5, 0.032), RankBounds { low: Some(1), high: Some(5) });
        assert_eq!(rank_bounds(0.5, 5, 0.03), RankBounds { low: None, high: None });
        // The 99th percentile takes 299 values to lie below the longest.
        assert_eq!(rank_bounds(0.99, 298, 0.05).high, None);
        assert_eq!(rank_bounds(0.99, 299, 0.05).high, Some(299));
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
                above += u32::from(low.is_some_and(|rank| values[rank - 1] > quantile));
                below += u32::from(high.is_some_and(|rank| values[rank - 1] < quantile));
            }
            for missed in [above, below] {
                let share = f64::from(missed) / f64::from(tries);
                assert!(share <= 0.028, "{share} of {quantile} in {count}");
            }
        }
    }
}
