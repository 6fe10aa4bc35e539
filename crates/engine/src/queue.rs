//! Doubly linked queues through the exchanges themselves: one for each state but [`State::InFlight`], which is entered and
//! left by every request and so is kept track of by [`crate::timers`].
//!
//! The spans that states are bounded by are constant over a run, so a queue in order of entry is a queue
//! in order of deadline: entering, leaving and finding the next deadline are O(1), with no timer wheel
//! and no allocation.

use http::Protocol;

use crate::places::{Exchange, NO_EXCHANGE, Places, State};

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
        Self([Ends { head: NO_EXCHANGE, tail: NO_EXCHANGE, len: 0 }; State::COUNT])
    }

    /// The exchange that has been in `state` the longest.
    pub(crate) fn front(&self, state: State) -> Option<u32> {
        let head = self.0[state as usize].head;
        (head != NO_EXCHANGE).then_some(head)
    }

    pub(crate) fn len(&self, state: State) -> u32 {
        self.0[state as usize].len
    }

    /// Puts `index`, which is in no queue, at the end of the queue of its state.
    pub(crate) fn push<H: Protocol>(&mut self, places: &mut Places<H>, index: u32) {
        let exchange = places.exchange_mut(index);
        let ends = &mut self.0[exchange.state as usize];
        exchange.previous = ends.tail;
        exchange.next = NO_EXCHANGE;
        match ends.tail {
            NO_EXCHANGE => ends.head = index,
            tail => places.exchange_mut(tail).next = index,
        }
        ends.tail = index;
        ends.len += 1;
    }

    /// Puts `by`, which is in no queue, in the place of `index`, which is in none then: into its state, since when it was in it.
    pub(crate) fn replace<H: Protocol>(&mut self, places: &mut Places<H>, index: u32, by: u32) {
        let Exchange { previous, next, state, since, .. } = *places.exchange(index);
        let exchange = places.exchange_mut(by);
        (exchange.previous, exchange.next, exchange.state, exchange.since) = (previous, next, state, since);
        let ends = &mut self.0[state as usize];
        match previous {
            NO_EXCHANGE => ends.head = by,
            previous => places.exchange_mut(previous).next = by,
        }
        match next {
            NO_EXCHANGE => ends.tail = by,
            next => places.exchange_mut(next).previous = by,
        }
    }

    /// Takes `index` out of the queue of its state.
    pub(crate) fn remove<H: Protocol>(&mut self, places: &mut Places<H>, index: u32) {
        let Exchange { previous, next, state, .. } = *places.exchange(index);
        let ends = &mut self.0[state as usize];
        match previous {
            NO_EXCHANGE => ends.head = next,
            previous => places.exchange_mut(previous).next = next,
        }
        match next {
            NO_EXCHANGE => ends.tail = previous,
            next => places.exchange_mut(next).previous = previous,
        }
        ends.len -= 1;
    }
}
