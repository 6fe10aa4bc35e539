//! Request timeouts that cost a request nothing.
//!
//! Nearly every request is answered long before its timeout, so a slot has one timer for many requests: it is set with
//! the first, left alone when that ends, and only when it goes off is it looked whether the request then in flight is
//! as old as that. If not, it is set to that one's deadline. So a timer goes off at most once a timeout and slot, and
//! never later than the deadline it stands for.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

use units::Instant;

/// The timers of all slots, at most one each.
#[derive(Debug, Default)]
pub(crate) struct Timers(BinaryHeap<Reverse<(Instant, u32)>>);

impl Timers {
    /// Sets the timer of slot `index`, which has none.
    pub(crate) fn set(&mut self, index: u32, at: Instant) {
        self.0.push(Reverse((at, index)));
    }

    /// When the next timer goes off.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.0.peek().map(|Reverse((at, _))| *at)
    }

    /// Takes a slot whose timer has gone off by `now`; it has none then.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<u32> {
        self.next().filter(|at| *at <= now)?;
        self.0.pop().map(|Reverse((_, index))| index)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
