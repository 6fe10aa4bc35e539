//! In which order rows stand, and what supports it.

use record::RankedBy;
use stats::{Comparison, Observation, Ratio, Spread, blocks_needed, pairs_of, rank_with_ties};

use super::rows::{Rows, shown};
use crate::figure::{NONE, signed_percent};

/// The spread of what has no value: it stands behind all that has one.
const NOTHING: Spread = Spread { median: 0.0, low: 0.0, high: 0.0, trials: 0 };

/// The order of a table's rows.
pub(crate) enum Order {
    /// By medians, and by the ranges of so few trials that no test can tell two rows apart.
    Ranges(Vec<Spread>, RankedBy),
    /// By tests within blocks.
    Tests(Comparison, RankedBy),
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
    /// The order of rows by what they are compared by in each block. What a run was stopped by that looked at the very figures
    /// is counted by no test of a ranking, so of such a run there are ranges: `is_untested`.
    pub(crate) fn of(rows: &Rows<'_>, is_untested: bool) -> Self {
        let (values, ranked_by) = (rows.by_block(), rows.ranked_by);
        let tried = |row: &Vec<Option<Observation>>| row.iter().flatten().count();
        let blocks = values.iter().map(tried).max().unwrap_or(0);
        let pairs = pairs_of(values.len());
        if pairs > 0 && blocks >= blocks_needed(pairs) && !is_untested {
            return Self::Tests(Comparison::of(&values, rows.twin.as_ref()), ranked_by);
        }
        // Who fails is behind whoever does not, at 0.
        let figure = |it: &Observation| it.figure().unwrap_or(0.0);
        let measured =
            |row: &Vec<Option<Observation>>| row.iter().flatten().map(figure).collect::<Vec<f64>>();
        Self::Ranges(
            values.iter().map(|row| Spread::of(&measured(row)).unwrap_or(NOTHING)).collect(),
            ranked_by,
        )
    }

    /// Rows from the best down.
    pub(crate) fn places(&self) -> Vec<Place> {
        match self {
            Self::Ranges(spreads, _) => by_ranges(spreads),
            Self::Tests(comparison, ranked_by) => by_tests(comparison, *ranked_by),
        }
    }

    /// Of tests: what is shown of one row over that of another.
    pub(crate) fn ratio(&self, a: usize, b: usize) -> Option<Ratio> {
        match self {
            Self::Ranges(..) => None,
            Self::Tests(comparison, ranked_by) => ratio(comparison, *ranked_by, a, b),
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
            Self::Ranges(spreads, ranked_by) => range(&spreads[place.index], *ranked_by),
            Self::Tests(..) => place.to_best.map_or_else(|| NONE.into(), off_the_best),
        }
    }

    /// The title of the column with the ranges.
    pub(crate) const fn range_title(&self) -> &'static str {
        match self {
            Self::Ranges(_, RankedBy::Goodput) => "range",
            Self::Ranges(_, RankedBy::ResponseP99) => "range\nof p99",
            Self::Tests(_, RankedBy::Goodput) => "to the best,\n95 % interval",
            Self::Tests(_, RankedBy::ResponseP99) => "p99 to the best,\n95 % interval",
        }
    }
}

fn by_ranges(spreads: &[Spread]) -> Vec<Place> {
    let place = |(index, best, worst)| Place { index, ranks: (best, worst), letters: None, to_best: None };
    rank_with_ties(spreads).into_iter().map(place).collect()
}

/// How far the lowest and highest value are from the median; nothing where one of them is of a failure.
fn range(spread: &Spread, ranked_by: RankedBy) -> String {
    let off = |value: f64| (ranked_by.shown(value / spread.median) - 1.0) * 100.0;
    let (one, other) = (off(spread.low), off(spread.high));
    let (low, high) = (one.min(other), one.max(other));
    if spread.trials < 2 || spread.low <= 0.0 || !(low.is_finite() && high.is_finite()) {
        return NONE.into();
    }
    format!("{}…{} %", percent(low), percent(high))
}

/// Percent with its sign: a tenth is told where it says something, which it does next to nothing, too.
fn percent(value: f64) -> String {
    signed_percent(value, usize::from(value.abs() < 10.0 || value < -99.0))
}

fn by_tests(comparison: &Comparison, ranked_by: RankedBy) -> Vec<Place> {
    let best = comparison.order.first().copied();
    let place = |index: &usize| Place {
        index: *index,
        ranks: comparison.ranks[*index],
        letters: Some(comparison.letters[*index].clone()),
        to_best: best.and_then(|best| ratio(comparison, ranked_by, *index, best)),
    };
    comparison.order.iter().map(place).collect()
}

/// What is shown of the first over that of the second; `None` of one and itself, and where failures leave no ratio.
fn ratio(comparison: &Comparison, ranked_by: RankedBy, first: usize, second: usize) -> Option<Ratio> {
    let pair = comparison.pair(first, second).filter(|_| first != second)?;
    let ratio = pair.ratio?;
    let inverse = |end: Option<f64>| end.map(|it| 1.0 / it);
    // The pair's ratio is of its first to its second.
    let turned = if pair.a == first {
        ratio
    } else {
        Ratio { value: 1.0 / ratio.value, low: inverse(ratio.high), high: inverse(ratio.low) }
    };
    Some(shown(ranked_by, turned))
}

/// How far it is from the best one: `-12 (-14…-10) %`.
pub(crate) fn off_the_best(ratio: Ratio) -> String {
    let off = |ratio: f64| percent((ratio - 1.0) * 100.0);
    match (ratio.low, ratio.high) {
        (Some(low), Some(high)) => format!("{} ({}…{}) %", off(ratio.value), off(low), off(high)),
        // So many failures are among the blocks that there is no telling how far it goes.
        (Some(low), None) => format!("{} ({}…) %", off(ratio.value), off(low)),
        (None, Some(high)) => format!("{} (…{}) %", off(ratio.value), off(high)),
        (None, None) => format!("{} %", off(ratio.value)),
    }
}
