//! Where a user goes no further, since its load is over, its time in it, or what it needs to go on.

use units::Instant;

use super::transaction::Left;
use super::walk::{Phase, State};
use super::{Ended, Verdict};
use crate::model::{Group, Step};
use crate::prepared::Prepared;

impl State {
    /// The load ended at `done` while a request was out that was sent at `sent`: nobody knows what would have become of it, so
    /// that it has not failed.
    pub(super) fn abandoned(&mut self, sent: Instant, done: Instant) -> Verdict {
        let began = match &self.phase {
            Phase::Waiting(pending) => pending.sent.unwrap_or(sent),
            _ => sent,
        };
        for open in &mut self.open {
            open.samples = open.samples.saturating_add(1);
            open.is_answered = false;
            open.elapsed += done.since(began);
            open.last = done;
        }
        self.phase = Phase::Ended(Ended::Finished);
        Verdict { over: true, ok: false, message: Some("the load ended before its answer came".to_owned()) }
    }

    /// The user goes no further from `at` on. Transactions of which nothing was left to do are whole, the others cut off.
    pub(super) fn cut_off(&mut self, prepared: &Prepared, at: Instant) {
        if let Some(group) = prepared.group(self.user.group)
            && matches!(self.phase, Phase::Walking)
            && self.current_request(prepared).is_some()
        {
            self.close_what_is_over(group);
        }
        self.break_off(at);
        if !matches!(self.phase, Phase::Ended(_)) {
            self.phase = Phase::Ended(Ended::Finished);
        }
    }

    /// Leaves the iteration, and with it whatever is under way.
    pub(super) fn break_off(&mut self, at: Instant) {
        while self.close_transaction(at, Left::CutOff) {}
        self.frames.clear();
    }

    /// Behind a request that was answered, closes what has no step any more. That a loop would have gone on by its condition, its
    /// list or its time is not found out: to look would change what other users share.
    fn close_what_is_over(&mut self, group: &Group) {
        while let Some(top) = self.frames.last() {
            let has_steps = top.child().is_some_and(|index| self.children(group).get(index).is_some());
            if has_steps || top.left > 1 {
                return;
            }
            match self.holder(group) {
                None | Some(Step::For { .. } | Step::While { .. } | Step::ForEach { .. }) => return,
                Some(Step::Transaction { .. }) => {
                    if let Some(at) = self.open.last().map(|open| open.last) {
                        self.close_transaction(at, Left::AtItsEnd);
                    }
                }
                Some(_) => {}
            }
            self.frames.pop();
        }
    }
}
