//! What is lost to others. A figure held against those before it: what lies between two runs, or two loads, of one service is
//! known by how they differ from each other.

use plan::gate::Metric;
use record::{GateAnswer, GateCheck, RankedBy};
use stats::{INTERVAL_BLOCKS_MIN, ratio_to_earlier};

use super::answer::hold_against;
use crate::audit::{Reason, ReasonKind};

/// A figure, and those before it.
pub(super) struct Beside<'a> {
    /// What figures are of: `runs`, `loads`.
    pub(super) of: &'static str,
    /// Which figure.
    pub(super) ranked_by: RankedBy,
    /// `None` where it has none, and why.
    pub(super) own: Result<f64, GateCheck>,
    /// Whether it is only a lower bound of a time.
    pub(super) is_lower_bound: bool,
    pub(super) earlier: Vec<f64>,
    /// Earlier ones beside these that were so bad that they have no figure: worse than any.
    pub(super) beyond: usize,
    /// What is said of others that there are and that can't be compared, behind how many can.
    pub(super) passed_over: String,
    /// The probability beyond each end of its interval.
    pub(super) tail: f64,
    /// What speaks against the figure itself.
    pub(super) doubts: &'a [Reason],
}

/// What comes of it; `unknown` is its check without a figure, of a limit that is a loss.
pub(super) fn held_against_earlier(beside: Beside<'_>, unknown: GateCheck) -> GateCheck {
    let Beside { of, ranked_by, own, is_lower_bound, earlier, beyond, passed_over, tail, doubts } = beside;
    let (count, limit) = (earlier.len() + beyond, unknown.limit);
    if count < INTERVAL_BLOCKS_MIN {
        return GateCheck {
            why: Some(format!("of the {of} before it, {count} can be compared{passed_over}")),
            would_decide: Some(format!("{INTERVAL_BLOCKS_MIN} {of} before it")),
            ..unknown
        };
    }
    if beyond > 0 {
        // With them nobody knows how far they differ from each other, and without them they would seem to differ less.
        let (why, needed) = (worse_than_any(ranked_by), INTERVAL_BLOCKS_MIN);
        return GateCheck {
            why: Some(format!("{beyond} of the {count} {of} before it {why}")),
            would_decide: Some(format!("{needed} {of} before it that have the figure, in a new folder")),
            ..unknown
        };
    }
    let own = match own {
        Ok(own) => own,
        Err(check) => return check,
    };
    // As if more were better.
    let better = |value: f64| match ranked_by {
        RankedBy::Goodput => value,
        RankedBy::ResponseP99 => 1.0 / value,
    };
    let earlier: Vec<f64> = earlier.into_iter().map(better).collect();
    let ratio = ratio_to_earlier(&earlier, better(own), tail);
    let loss = |ratio: f64| 1.0 - ratio;
    let low = ratio.and_then(|it| it.high).map(loss);
    let high = ratio.and_then(|it| it.low).map(loss).filter(|_| !is_lower_bound);
    let value = ratio.map(|it| loss(it.value));
    let mut check = GateCheck { value, is_lower_bound, low, high, ..unknown };
    if low.is_some_and(|it| it > limit) {
        check.answer = GateAnswer::Failed;
    } else if high.is_some_and(|it| it <= limit) {
        check.answer = GateAnswer::Passed;
    } else {
        check.why = Some(format!("the {count} {of} before it differ from each other by as much"));
        check.would_decide = Some(format!("{of} that differ less: longer ones, or a quieter machine"));
    }
    // A client that was late this time alone makes a loss of its own; one that is always late hides one.
    hold_against(&mut check, seen_as(ranked_by), doubts, || GateAnswer::CouldNotTell);
    hold_against_hidden(&mut check, ranked_by, doubts);
    check
}

/// What is to be said of earlier ones that were too bad to have a figure.
const fn worse_than_any(ranked_by: RankedBy) -> &'static str {
    match ranked_by {
        RankedBy::Goodput => "brought no good answer, and no ratio tells how much is lost to that",
        RankedBy::ResponseP99 => "had a p99 that was longer than could be seen",
    }
}

/// As what a doubt of an audit sees it: a rate, or a time.
pub(super) const fn seen_as(ranked_by: RankedBy) -> Metric {
    match ranked_by {
        RankedBy::Goodput => Metric::Goodput,
        RankedBy::ResponseP99 => Metric::Mean,
    }
}

/// Whether a doubt hides a loss: what limits both alike, or makes both late alike, makes them look alike. What it shows all
/// the same is there.
const fn hides(kind: ReasonKind, ranked_by: RankedBy) -> bool {
    match ranked_by {
        RankedBy::Goodput => kind.limits_the_rate(),
        RankedBy::ResponseP99 => kind.is_clients_doing(),
    }
}

/// Takes a pass back that a doubt speaks against.
pub(super) fn hold_against_hidden(check: &mut GateCheck, ranked_by: RankedBy, doubts: &[Reason]) {
    let hidden_by = doubts.iter().find(|it| hides(it.kind, ranked_by));
    if let Some(doubt) = hidden_by.filter(|_| check.answer == GateAnswer::Passed) {
        check.answer = GateAnswer::CouldNotTell;
        check.why = Some(format!("{}: {}", doubt.kind.name(), doubt.text));
        check.would_decide = Some("a load that the audit calls valid".into());
    }
}

/// What is lost, in words.
pub(super) const fn name_of(ranked_by: RankedBy) -> &'static str {
    match ranked_by {
        RankedBy::Goodput => "goodput",
        RankedBy::ResponseP99 => "p99",
    }
}
