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

    /// Whether the ranges of the two overlap: then their trials alone cannot order them.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

/// Ranks from the highest median down, best first: `(index into spreads, rank from 1)`. A cell whose range
/// overlaps that of the first cell of the group above it shares that group's rank. Ranges of a few trials
/// are no confidence intervals, so this claims order only where no trial contradicts it.
pub fn rank_with_ties(spreads: &[Spread]) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..spreads.len()).collect();
    order.sort_by(|a, b| spreads[*b].median.total_cmp(&spreads[*a].median));
    let mut ranked: Vec<(usize, usize)> = Vec::with_capacity(order.len());
    let mut leader: Option<(usize, usize)> = None;
    for (position, index) in order.into_iter().enumerate() {
        let rank = match leader {
            Some((first, rank)) if spreads[first].overlaps(&spreads[index]) => rank,
            _ => {
                leader = Some((index, position + 1));
                position + 1
            }
        };
        ranked.push((index, rank));
    }
    ranked
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
        assert_eq!(rank_with_ties(&spreads), [(1, 1), (2, 1), (0, 3), (3, 4)]);
    }
}
