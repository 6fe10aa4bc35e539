//! Transactions under way, and what is told of them once they are over.

use units::{Duration, Instant};

use super::walk::State;
use super::{Sums, Transaction};

/// A transaction under way.
#[derive(Debug)]
pub(super) struct Open {
    label: String,
    from: Instant,
    pub(super) last: Instant,
    pub(super) elapsed: Duration,
    pub(super) samples: u32,
    pub(super) failed: u32,
    /// Whether each of its requests was answered so far.
    pub(super) is_answered: bool,
    pub(super) sums: Sums,
    with_pauses: bool,
    pub(super) parent_only: bool,
}

/// How a transaction is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// It was gone through.
    AtItsEnd,
    /// The user goes on with its next iteration.
    Early,
    /// The user ends.
    ForGood,
    /// The user can't go on, whatever it would have done.
    CutOff,
}

impl Open {
    pub(super) fn new(label: String, from: Instant, with_pauses: bool, parent_only: bool) -> Self {
        Self {
            label,
            from,
            last: from,
            elapsed: Duration::ZERO,
            samples: 0,
            failed: 0,
            is_answered: true,
            sums: Sums::default(),
            with_pauses,
            parent_only,
        }
    }
}

impl State {
    /// Ends the innermost transaction; false if there is none. One that is cut off as it begins was none.
    pub(super) fn close_transaction(&mut self, now: Instant, left: Left) -> bool {
        let Some(open) = self.open.pop() else { return false };
        if left == Left::CutOff && open.samples == 0 && now <= open.from {
            return true;
        }
        self.finished.push(Transaction {
            label: open.label,
            from: open.from,
            to: if open.with_pauses { now } else { open.last },
            elapsed: if open.with_pauses { now.since(open.from) } else { open.elapsed },
            samples: open.samples,
            failed: open.failed,
            sums: open.sums,
            ok: left == Left::AtItsEnd && open.failed == 0,
            is_whole: left == Left::AtItsEnd && open.is_answered,
            broken_off: left == Left::ForGood,
            cut_off: left == Left::CutOff,
            parent_only: open.parent_only,
            within_parent: self.open.iter().any(|outer| outer.parent_only),
        });
        true
    }
}
