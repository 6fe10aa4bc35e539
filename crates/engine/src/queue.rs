//! Doubly linked queues through the slots themselves: one for each state but [`State::InFlight`], which is entered and
//! left by every request and so is kept track of by [`crate::timers`].
//!
//! The spans that states are bounded by are constant over a run, so a queue in order of entry is a queue
//! in order of deadline: entering, leaving and finding the next deadline are O(1), with no timer wheel
//! and no allocation.

use crate::connection::{NO_SLOT, Slot, State};

#[derive(Debug, Clone, Copy)]
struct Ends {
    head: u32,
    tail: u32,
    len: u32,
}

/// The queues of all states.
#[derive(Debug)]
pub(crate) struct Queues([Ends; State::COUNT]);

impl Queues {
    pub(crate) const fn new() -> Self {
        Self([Ends { head: NO_SLOT, tail: NO_SLOT, len: 0 }; State::COUNT])
    }

    /// The slot that has been in `state` the longest.
    pub(crate) fn front(&self, state: State) -> Option<u32> {
        let head = self.0[state as usize].head;
        (head != NO_SLOT).then_some(head)
    }

    pub(crate) fn len(&self, state: State) -> u32 {
        self.0[state as usize].len
    }

    /// Puts `index`, which is in no queue, at the end of the queue of its state.
    pub(crate) fn push(&mut self, slots: &mut [Slot], index: u32) {
        let ends = &mut self.0[slots[index as usize].state as usize];
        slots[index as usize].previous = ends.tail;
        slots[index as usize].next = NO_SLOT;
        match ends.tail {
            NO_SLOT => ends.head = index,
            tail => slots[tail as usize].next = index,
        }
        ends.tail = index;
        ends.len += 1;
    }

    /// Takes `index` out of the queue of its state.
    pub(crate) fn remove(&mut self, slots: &mut [Slot], index: u32) {
        let Slot { previous, next, state, .. } = slots[index as usize];
        let ends = &mut self.0[state as usize];
        match previous {
            NO_SLOT => ends.head = next,
            previous => slots[previous as usize].next = next,
        }
        match next {
            NO_SLOT => ends.tail = previous,
            next => slots[next as usize].previous = previous,
        }
        ends.len -= 1;
    }
}
