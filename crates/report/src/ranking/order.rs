//! In which order rows stand, and what supports it.

use stats::{Comparison, Spread, blocks_needed, rank_with_ties};
use units::Seed;

use super::rows::{Compared, Rows};
use crate::figure::NONE;

/// The spread of what has no value: it stands behind all that has one.
const NOTHING: Spread = Spread { median: 0.0, low: 0.0, high: 0.0, trials: 0 };

/// The order of a table's rows.
pub(super) enum Order {
    /// By medians, and by the ranges of so few trials that no test can tell two rows apart.
    Ranges(Vec<Spread>, Compared),
    /// By tests within blocks.
    Tests(Comparison, Compared),
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
    /// The order of rows by what they are compared by in each block.
    pub(super) fn of(rows: &Rows<'_>, seed: Seed) -> Self {
        let (values, compared) = (rows.by_block(), rows.compared);
        let blocks = values.iter().map(Vec::len).max().unwrap_or(0);
        let pairs = values.len() * values.len().saturating_sub(1) / 2;
        if pairs > 0 && blocks >= blocks_needed(pairs) {
            return Self::Tests(Comparison::of(&values, rows.twin.as_ref(), seed), compared);
        }
        let measured = |row: &Vec<Option<f64>>| row.iter().flatten().copied().collect::<Vec<f64>>();
        Self::Ranges(
            values.iter().map(|row| Spread::of(&measured(row)).unwrap_or(NOTHING)).collect(),
            compared,
        )
    }

    /// Rows from the best down.
    pub(super) fn places(&self) -> Vec<Place> {
        match self {
            Self::Ranges(spreads, compared) => by_ranges(spreads, *compared),
            Self::Tests(comparison, compared) => by_tests(comparison, *compared),
        }
    }

    /// The title of the column with the ranges.
    pub(super) const fn range_title(&self) -> &'static str {
        match self {
            Self::Ranges(_, Compared::Goodput) => "range",
            Self::Ranges(_, Compared::P99) => "range\nof p99",
            Self::Tests(_, Compared::Goodput) => "to the best,\n95 % interval",
            Self::Tests(_, Compared::P99) => "p99 to the best,\n95 % interval",
        }
    }
}

fn by_ranges(spreads: &[Spread], compared: Compared) -> Vec<Place> {
    let ranked = rank_with_ties(spreads);
    let is_tied = |rank: usize| ranked.iter().filter(|(_, other)| *other == rank).count() > 1;
    ranked
        .iter()
        .map(|(index, rank)| Place {
            index: *index,
            rank: format!("{rank}{}", if is_tied(*rank) { "=" } else { "" }),
            range: range(&spreads[*index], compared),
        })
        .collect()
}

/// How far the lowest and highest value are from the median.
fn range(spread: &Spread, compared: Compared) -> String {
    let off = |value: f64| (compared.shown(value / spread.median) - 1.0) * 100.0;
    let (one, other) = (off(spread.low), off(spread.high));
    let (low, high) = (one.min(other), one.max(other));
    if spread.trials < 2 || !(low.is_finite() && high.is_finite()) {
        return NONE.into();
    }
    format!("{low:+.1}…{high:+.1} %")
}

fn by_tests(comparison: &Comparison, compared: Compared) -> Vec<Place> {
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
                range: best
                    .map_or_else(|| NONE.into(), |best| to_the_best(comparison, compared, *index, best)),
            }
        })
        .collect()
}

fn to_the_best(comparison: &Comparison, compared: Compared, index: usize, best: usize) -> String {
    let Some(pair) = comparison.pair(index, best).filter(|_| index != best) else { return NONE.into() };
    // The pair's ratio is of its first to its second.
    let turned = |ratio: f64| compared.shown(if pair.a == index { ratio } else { 1.0 / ratio });
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
