//! In which order rows stand, and what supports it.

use stats::{Comparison, Spread, blocks_needed, rank_with_ties};
use units::Seed;

use super::rows::Rows;
use crate::figure::NONE;

/// The order of a table's rows.
pub(super) enum Order {
    /// By medians, and by the ranges of so few trials that no test can tell two rows apart.
    Ranges(Vec<Spread>),
    /// By tests within blocks.
    Tests(Comparison),
}

/// A row's place.
pub(super) struct Place {
    /// Which row.
    pub(super) index: usize,
    /// Its rank, with what it is tied with.
    pub(super) rank: String,
    /// How far its goodput may be off, or is from the best one's.
    pub(super) range: String,
}

impl Order {
    /// The order of rows by their goodput in each block.
    pub(super) fn of(rows: &Rows<'_>, seed: Seed) -> Self {
        let goodput = rows.goodput_by_block();
        let blocks = goodput.iter().map(Vec::len).max().unwrap_or(0);
        let pairs = goodput.len() * goodput.len().saturating_sub(1) / 2;
        if pairs > 0 && blocks >= blocks_needed(pairs) {
            return Self::Tests(Comparison::of(&goodput, rows.twin.as_ref(), seed));
        }
        let measured = |row: &Vec<Option<f64>>| row.iter().flatten().copied().collect::<Vec<f64>>();
        Self::Ranges(goodput.iter().filter_map(|row| Spread::of(&measured(row))).collect())
    }

    /// Rows from the best down.
    pub(super) fn places(&self) -> Vec<Place> {
        match self {
            Self::Ranges(spreads) => by_ranges(spreads),
            Self::Tests(comparison) => by_tests(comparison),
        }
    }

    /// The title of the column with the ranges.
    pub(super) const fn range_title(&self) -> &'static str {
        match self {
            Self::Ranges(_) => "range",
            Self::Tests(_) => "to the best,\n95 % interval",
        }
    }
}

fn by_ranges(spreads: &[Spread]) -> Vec<Place> {
    let ranked = rank_with_ties(spreads);
    let is_tied = |rank: usize| ranked.iter().filter(|(_, other)| *other == rank).count() > 1;
    ranked
        .iter()
        .map(|(index, rank)| Place {
            index: *index,
            rank: format!("{rank}{}", if is_tied(*rank) { "=" } else { "" }),
            range: range(&spreads[*index]),
        })
        .collect()
}

/// How far the lowest and highest goodput are from the median.
fn range(spread: &Spread) -> String {
    let off = |value: f64| (value / spread.median - 1.0) * 100.0;
    let (low, high) = (off(spread.low), off(spread.high));
    if spread.trials < 2 || !(low.is_finite() && high.is_finite()) {
        return NONE.into();
    }
    format!("{low:+.1}…{high:+.1} %")
}

fn by_tests(comparison: &Comparison) -> Vec<Place> {
    let best = comparison.order.first().copied();
    comparison
        .order
        .iter()
        .map(|index| {
            let (from, to) = comparison.ranks[*index];
            let ranks = if from == to { from.to_string() } else { format!("{from}–{to}") };
            Place {
                index: *index,
                rank: format!("{ranks} {}", comparison.letters[*index]),
                range: best.map_or_else(|| NONE.into(), |best| to_the_best(comparison, *index, best)),
            }
        })
        .collect()
}

fn to_the_best(comparison: &Comparison, index: usize, best: usize) -> String {
    let Some(pair) = comparison.pair(index, best).filter(|_| index != best) else { return NONE.into() };
    // The pair's ratio is of its first to its second.
    let turned = |ratio: f64| if pair.a == index { ratio } else { 1.0 / ratio };
    let off = |ratio: f64| (turned(ratio) - 1.0) * 100.0;
    match pair.ratio {
        Some(ratio) => match (ratio.low.map(off), ratio.high.map(off)) {
            (Some(one), Some(other)) => {
                format!("{:+.1} ({:+.1}…{:+.1}) %", off(ratio.value), one.min(other), one.max(other))
            }
            _ => format!("{:+.1} %", off(ratio.value)),
        },
        None => NONE.into(),
    }
}
