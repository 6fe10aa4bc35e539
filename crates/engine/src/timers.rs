//! Request timeouts that cost a request nothing.
//!
//! Nearly every request is answered long before its timeout, so an exchange has one timer for many requests: it is set with
//! the first, left alone when that ends, and only when it goes off is it looked whether the request then in flight is
//! as old as that. If not, it is set to that one's deadline. So a timer goes off at most once a timeout and exchange, and
//! never later than the deadline it stands for.
//!
//! Requests of a script may have different timeouts. A timer then goes off after the shortest of them, and is set again for as
//! long, or for what is left of the request's own: so no request that follows is out longer than it may be before it is looked at.

use alloc::collections::BinaryHeap;
use core::cmp::Reverse;

use units::Instant;

/// The timers of all exchanges, at most one each; of users who pause, one more for each of their pauses that was cut short, until it
/// would have ended.
#[derive(Debug)]
pub(crate) struct Timers {
    all: BinaryHeap<Reverse<(Instant, u32)>>,
    /// When the first of them goes off, or never: looked at for every completion.
    first: Instant,
}

impl Default for Timers {
    fn default() -> Self {
        Self { all: BinaryHeap::new(), first: Instant::FAR_FUTURE }
    }
}

impl Timers {
    /// Sets the timer of exchange `index`, which has none; of users who pause, one whose pause was cut short may have another.
    pub(crate) fn set(&mut self, index: u32, at: Instant) {
        self.all.push(Reverse((at, index)));
        self.first = self.first.min(at);
    }

    /// When the next timer goes off.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.all.peek().map(|Reverse((at, _))| *at)
    }

    /// Whether a timer should have gone off before `now`. Where none should, nothing is overdue.
    #[inline]
    pub(crate) fn is_any_late(&self, now: Instant) -> bool {
        self.first < now
    }

    /// Takes an exchange whose timer has gone off by `now`; it has none then.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<u32> {
        self.next().filter(|at| *at <= now)?;
        let due = self.all.pop().map(|Reverse((_, index))| index);
        self.first = self.next().unwrap_or(Instant::FAR_FUTURE);
        due
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }
}
