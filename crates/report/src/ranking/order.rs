//! In which order rows stand, and what supports it.

use stats::{Comparison, Ratio, Spread, blocks_needed, rank_with_ties};
use units::Seed;

use super::rows::{Compared, Rows};
use crate::figure::NONE;

/// The spread of what has no value: it stands behind all that has one.
const NOTHING: Spread = Spread { median: 0.0, low: 0.0, high: 0.0, trials: 0 };

/// The order of a table's rows.
pub(crate) enum Order {
    /// By medians, and by the ranges of so few trials that no test can tell two rows apart.
    Ranges(Vec<Spread>, Compared),
    /// By tests within blocks.
    Tests(Comparison, Compared),
}

/// A row's place.
pub(crate) struct Place {
    /// Which row.
    pub(crate) index: usize,
    /// The best and the worst rank it may have.
    pub(crate) ranks: (usize, usize),
    /// Of tests: rows that share a letter can't be told apart.
    pub(crate) letters: Option<String>,
    /// Of tests: what is shown of it, over that of the best; `None` of the best.
    pub(crate) to_best: Option<Ratio>,
}

impl Order {
    /// The order of rows by what they are compared by in each block.
    pub(crate) fn of(rows: &Rows<'_>, seed: Seed) -> Self {
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
    pub(crate) fn places(&self) -> Vec<Place> {
        match self {
            Self::Ranges(spreads, _) => by_ranges(spreads),
            Self::Tests(comparison, compared) => by_tests(comparison, *compared),
        }
    }

    /// Of tests: what is shown of one row over that of another.
    pub(crate) fn ratio(&self, a: usize, b: usize) -> Option<Ratio> {
        match self {
            Self::Ranges(..) => None,
            Self::Tests(comparison, compared) => ratio(comparison, *compared, a, b),
        }
    }

    /// A place's rank with what it is tied with, in a word.
    pub(crate) fn rank(place: &Place) -> String {
        let (from, to) = place.ranks;
        match &place.letters {
            None => format!("{from}{}", if from == to { "" } else { "=" }),
            Some(letters) if from == to => format!("{from} {letters}"),
            Some(letters) => format!("{from}–{to} {letters}"),
        }
    }

    /// How far a place's figure may be off, or is from the best one's.
    pub(crate) fn range(&self, place: &Place) -> String {
        match self {
            Self::Ranges(spreads, compared) => range(&spreads[place.index], *compared),
            Self::Tests(..) => place.to_best.map_or_else(|| NONE.into(), off_the_best),
        }
    }

    /// The title of the column with the ranges.
    pub(crate) const fn range_title(&self) -> &'static str {
        match self {
            Self::Ranges(_, Compared::Goodput) => "range",
            Self::Ranges(_, Compared::P99) => "range\nof p99",
            Self::Tests(_, Compared::Goodput) => "to the best,\n95 % interval",
            Self::Tests(_, Compared::P99) => "p99 to the best,\n95 % interval",
        }
    }
}

fn by_ranges(spreads: &[Spread]) -> Vec<Place> {
    let ranked = rank_with_ties(spreads);
    let tied = |rank: usize| ranked.iter().filter(|(_, other)| *other == rank).count();
    ranked
        .iter()
        .map(|(index, rank)| Place {
            index: *index,
            ranks: (*rank, rank + tied(*rank) - 1),
            letters: None,
            to_best: None,
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
    let place = |index: &usize| Place {
        index: *index,
        ranks: comparison.ranks[*index],
        letters: Some(comparison.letters[*index].clone()),
        to_best: best.and_then(|best| ratio(comparison, compared, *index, best)),
    };
    comparison.order.iter().map(place).collect()
}

/// What is shown of the first over that of the second; `None` of one and itself.
fn ratio(comparison: &Comparison, compared: Compared, first: usize, second: usize) -> Option<Ratio> {
    let pair = comparison.pair(first, second).filter(|_| first != second)?;
    let ratio = pair.ratio?;
    // The pair's ratio is of its first to its second.
    let turned = |ratio: f64| compared.shown(if pair.a == first { ratio } else { 1.0 / ratio });
    let ends = ratio.low.zip(ratio.high).map(|(low, high)| (turned(low), turned(high)));
    Some(Ratio {
        value: turned(ratio.value),
        low: ends.map(|(one, other)| one.min(other)),
        high: ends.map(|(one, other)| one.max(other)),
    })
}

fn off_the_best(ratio: Ratio) -> String {
    let off = |ratio: f64| (ratio - 1.0) * 100.0;
    match ratio.low.zip(ratio.high) {
        Some((low, high)) => format!("{:+.1} ({:+.1}…{:+.1}) %", off(ratio.value), off(low), off(high)),
        None => format!("{:+.1} %", off(ratio.value)),
    }
}
