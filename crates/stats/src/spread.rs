//! How much repeated trials of a cell differ, and which cells can be told apart by it.

use crate::comparison::paired::median;

/// Repeated measurements of one figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The smallest trial's figure.
    pub low: f64,
    /// The median (of an even number, the mean of the middle two).
    pub median: f64,
    /// The largest trial's figure.
    pub high: f64,
    /// How many values it is of, at least one.
    pub trials: usize,
}

impl Spread {
    /// The spread of `values`; `None` of none. Values must be finite.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (*sorted.first()?, *sorted.last()?);
        let trials = sorted.len();
        Some(Self { low, median: median(&mut sorted)?, high, trials })
    }
}

/// Ranks from the highest median down, best first: `(index into spreads, best rank, worst rank)`, from 1. Only whose whole range
/// is above a cell's stands above it, and only whose whole range is below stands below. Ranges of a few trials are no confidence
/// intervals, so this claims order only where no trial contradicts it.
pub fn rank_with_ties(spreads: &[Spread]) -> Vec<(usize, usize, usize)> {
    let mut order: Vec<usize> = (0..spreads.len()).collect();
    order.sort_by(|a, b| spreads[*b].median.total_cmp(&spreads[*a].median));
    let ranked = |index: usize| {
        let own = &spreads[index];
        let above = spreads.iter().filter(|it| it.low > own.high).count();
        let below = spreads.iter().filter(|it| it.high < own.low).count();
        (index, 1 + above, spreads.len() - below)
    };
    order.into_iter().map(ranked).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_is_between_the_middle_two() {
        let spread = Spread::of(&[4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((spread.low, spread.median, spread.high, spread.trials), (1.0, 2.5, 4.0, 4));
        assert_eq!(Spread::of(&[]), None);
    }

    #[test]
    fn overlapping_ranges_share_a_rank() {
        let spreads =
            [[10.0, 11.0], [20.0, 24.0], [19.0, 21.0], [1.0, 2.0]].map(|it| Spread::of(&it).unwrap());
        assert_eq!(rank_with_ties(&spreads), [(1, 1, 2), (2, 1, 2), (0, 3, 3), (3, 4, 4)]);
    }

    /// The first is above the third, and the second may be either's equal.
    #[test]
    fn who_overlaps_two_that_are_apart_is_tied_with_both() {
        let spreads = [[46.0, 56.0], [42.0, 51.0], [40.0, 45.0]].map(|it| Spread::of(&it).unwrap());
        assert_eq!(rank_with_ties(&spreads), [(0, 1, 2), (1, 1, 3), (2, 2, 3)]);
        assert!(rank_with_ties(&[]).is_empty());
    }
}
