//! What became of a cell, by what the tests say of it.

use record::RankedBy;
use stats::{ALPHA, CONFIDENCE, LEAST_EFFECT, least_rank_sum_p};

use super::side::Side;
use super::{ChangeVerdict, Found, InBoth, WorseBy, is_rise};
use crate::audit::FAILED_SHARE_MAX;

const MORE_FAILED: &str = "more trials failed, and so few can't show whether that is chance";
/// Chance on either side of an interval of one cell.
const TAIL: f64 = (1.0 - CONFIDENCE) / 2.0;

/// The verdict, in what it got worse, and why nothing could be told.
pub(super) fn of(cell: &InBoth<'_>, found: &Found<'_>) -> (ChangeVerdict, Vec<WorseBy>, Option<String>) {
    if !cell.conditions.is_empty() {
        let what: Vec<&str> = cell.conditions.iter().map(|it| it.what.as_str()).collect();
        let why = format!("not the stack alone is another, but also: {}", what.join(", "));
        return (ChangeVerdict::CouldNotTell, Vec::new(), Some(why));
    }
    let worse_by = worse_by(cell, found);
    if !worse_by.is_empty() {
        return (ChangeVerdict::Worse, worse_by, None);
    }
    let (verdict, why) = not_worse(&cell.sides, found);
    (verdict, worse_by, why.map(str::to_owned))
}

/// Everything in which the second run is surely worse.
fn worse_by(cell: &InBoth<'_>, found: &Found<'_>) -> Vec<WorseBy> {
    let [a, b] = &cell.sides;
    let is_significant = |p: Option<f64>| p.is_some_and(|p| p <= ALPHA);
    let rise = a.failed_share().zip(b.failed_share()).map_or(0.0, |(a, b)| b - a);
    let by_figure = match cell.ranked_by {
        RankedBy::Goodput => WorseBy::Goodput,
        RankedBy::ResponseP99 => WorseBy::ResponseP99,
    };
    let all = [
        (WorseBy::NoGoodAnswer, a.has_good_answers() && b.no_longer_answers()),
        (WorseBy::FailedTrials, is_significant(found.p.failed_trials)),
        (WorseBy::FailedRequests, is_significant(found.p.failed_share) && rise > FAILED_SHARE_MAX),
        (by_figure, found.has_lost_too_much()),
    ];
    all.into_iter().filter(|(_, is_so)| *is_so).map(|(what, _)| what).collect()
}

/// Of a cell that is not surely worse.
fn not_worse([a, b]: &[Side<'_>; 2], found: &Found<'_>) -> (ChangeVerdict, Option<&'static str>) {
    // Trials that fail where none did before are no sign of "no change", however few they are, and however fast the others.
    if is_rise([a.failed_trials, b.failed_trials], [a.trials(), b.trials()]) {
        return (ChangeVerdict::TooFew, Some(MORE_FAILED));
    }
    if !a.has_good_answers() && !b.has_good_answers() {
        return (ChangeVerdict::TooFew, None);
    }
    if found.has_gained() {
        return (ChangeVerdict::Better, None);
    }
    // Of several cells a wrong one passes no more often than it would alone, so that each goes by its own interval (Berger, 1982).
    let (low, high) = found.tests.range(TAIL);
    let surely = 1.0 + found.least.surely;
    if low >= 1.0 / surely && high <= surely {
        (ChangeVerdict::Unchanged, None)
    } else if low >= (1.0 - found.allowed()).min(1.0 / surely) {
        (ChangeVerdict::AllowedLoss, None)
    } else if found.could_show_nothing() {
        (ChangeVerdict::TooFew, None)
    } else {
        (ChangeVerdict::CouldNotTell, Some(found.left_open()))
    }
}

impl Found<'_> {
    /// What is nearer than counts at all is allowed, too.
    fn allowed(&self) -> f64 {
        self.threshold.max(LEAST_EFFECT)
    }

    fn is_significant(&self) -> bool {
        self.p.figure.is_some_and(|p| p <= ALPHA)
    }

    /// Whether a ratio is further from 1 than what is no change.
    fn counts(&self, ratio: f64) -> bool {
        ratio.max(1.0 / ratio) - 1.0 > self.least.effect
    }

    fn has_lost(&self) -> bool {
        let ratio = self.tests.of_loss().map(|it| it.value);
        self.is_significant()
            && self.tests.is_of_loss()
            && ratio.is_some_and(|it| it < 1.0 && self.counts(it))
    }

    /// Where no more is allowed than what counts, a loss is too much. Where more is, all of an interval must lie beyond it; those
    /// of all cells hold together (Bonferroni).
    fn has_lost_too_much(&self) -> bool {
        let allowed = self.allowed();
        let is_beyond = |ratio: f64| 1.0 - ratio > allowed;
        let is_surely_beyond = || is_beyond(self.tests.range(TAIL / self.of_figures.max(1) as f64).1);
        self.has_lost()
            && self.tests.of_loss().is_some_and(|it| is_beyond(it.value))
            && (allowed <= self.least.effect || is_surely_beyond())
    }

    /// From nothing to something there is no ratio.
    fn has_gained(&self) -> bool {
        let ratio = self.tests.of_gain().map(|it| it.value);
        self.is_significant()
            && !self.tests.is_of_loss()
            && ratio.is_none_or(|it| it > 1.0 && self.counts(it))
    }

    /// Whether so few trials could have shown no change, however they came out.
    fn could_show_nothing(&self) -> bool {
        let (a, b) = self.tests.counts();
        !self.is_significant() && least_rank_sum_p(a, b) * self.tested as f64 > ALPHA
    }

    /// Why what was measured is in line with more than one answer.
    fn left_open(&self) -> &'static str {
        let of_seen = self.tests.shown().map_or(1.0, |it| it.value);
        if self.has_lost() {
            "it lost something, and whether that is more than is allowed so many trials leave open"
        } else if self.is_significant() && !self.counts(of_seen) {
            "it changed by less than a stack and its twin were apart, though they may be nearer"
        } else {
            "the interval reaches beyond what is allowed: more trials would tell, or a larger --threshold"
        }
    }
}
