//! Whose turn it is where a request can go out on any connection: they go round, so that none is full while another has
//! room.

use alloc::boxed::Box;
use alloc::vec;

use crate::places::State;

/// Connections that are looked at for room: where that many have none, one more would hardly have.
const LOOKED_AT_MAX: usize = 64;

/// No number.
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Ends {
    head: u32,
    tail: u32,
}

const EMPTY: Ends = Ends { head: NONE, tail: NONE };

/// Doubly linked queues through the same numbers, each of which is in one at most.
#[derive(Debug)]
struct Links(Box<[(u32, u32)]>);

impl Links {
    fn new(count: u32) -> Self {
        Self(vec![(NONE, NONE); count as usize].into())
    }

    fn push(&mut self, ends: &mut Ends, number: u32) {
        self.0[number as usize] = (ends.tail, NONE);
        match ends.tail {
            NONE => ends.head = number,
            tail => self.0[tail as usize].1 = number,
        }
        ends.tail = number;
    }

    fn remove(&mut self, ends: &mut Ends, number: u32) {
        let (previous, next) = self.0[number as usize];
        match previous {
            NONE => ends.head = next,
            previous => self.0[previous as usize].1 = next,
        }
        match next {
            NONE => ends.tail = previous,
            next => self.0[next as usize].0 = previous,
        }
    }
}

/// Exchanges that can take a request, and their connections by turn: the one that took a request last is the last of them.
/// Of one connection's exchanges, and where each has one of all, the first to come is the first to go.
#[derive(Debug)]
pub(crate) struct Rounds {
    /// Exchanges that a connection has room for.
    room: u32,
    exchanges: Links,
    /// Of each connection: its exchanges.
    of: Box<[Ends]>,
    connections: Links,
    /// Connections that have some.
    turns: Ends,
}

impl Rounds {
    /// Without an exchange; of so many connections with room for so many each.
    pub(crate) fn new(connections: u32, room: u32) -> Self {
        Self {
            room,
            exchanges: Links::new(connections * room),
            of: vec![EMPTY; connections as usize].into(),
            connections: Links::new(connections),
            turns: EMPTY,
        }
    }

    /// The first exchange of each connection, in the order of their turns.
    fn iter(&self) -> impl Iterator<Item = u32> {
        let first = (self.turns.head != NONE).then_some(self.turns.head);
        let next = |number: &u32| Some(self.connections.0[*number as usize].1).filter(|next| *next != NONE);
        core::iter::successors(first, next).map(|number| self.of[number as usize].head)
    }

    /// Adds an exchange, which is not there.
    pub(crate) fn add(&mut self, index: u32) {
        let number = index / self.room;
        let of = &mut self.of[number as usize];
        if of.head == NONE {
            self.connections.push(&mut self.turns, number);
        }
        self.exchanges.push(of, index);
    }

    /// Takes an exchange out, which is there; its connection had its turn with that.
    pub(crate) fn remove(&mut self, index: u32) {
        let number = index / self.room;
        let of = &mut self.of[number as usize];
        self.exchanges.remove(of, index);
        self.connections.remove(&mut self.turns, number);
        if of.head != NONE {
            self.connections.push(&mut self.turns, number);
        }
    }
}

/// Who can take a request that is due, where connections have room for several: who has a connection, before those who would
/// have to open one.
#[derive(Debug)]
pub(crate) struct Takers {
    free: Rounds,
    down: Rounds,
}

impl Takers {
    /// None yet, of so many connections with room for so many each.
    pub(crate) fn new(connections: u32, room: u32) -> Self {
        Self { free: Rounds::new(connections, room), down: Rounds::new(connections, room) }
    }

    /// Whose turn it is; one whose connection `has_room` at once, if there is one among the next.
    pub(crate) fn next(&self, has_room: impl Fn(u32) -> bool) -> Option<u32> {
        let with_room = self.free.iter().take(LOOKED_AT_MAX).find(|index| has_room(*index));
        with_room.or_else(|| self.free.iter().next()).or_else(|| self.down.iter().next())
    }

    /// Those in `state`, if they can take a request in it.
    pub(crate) fn of(&mut self, state: State) -> Option<&mut Rounds> {
        match state {
            State::Free => Some(&mut self.free),
            State::Down => Some(&mut self.down),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn taken(rounds: &mut Rounds, count: usize) -> Vec<u32> {
        let next = || {
            let index = rounds.iter().next()?;
            rounds.remove(index);
            Some(index)
        };
        core::iter::from_fn(next).take(count).collect()
    }

    #[test]
    fn connections_with_room_take_turns() {
        let mut rounds = Rounds::new(3, 2);
        (0..6).for_each(|index| rounds.add(index));
        assert_eq!(taken(&mut rounds, 4), [0, 2, 4, 1]);
        // The first connection is full; the last one has had its turn before the others.
        rounds.add(0);
        assert_eq!(taken(&mut rounds, 9), [3, 5, 0]);
        assert_eq!(rounds.iter().next(), None);
    }

    #[test]
    fn one_with_room_is_before_the_others_and_any_is_before_one_without_a_connection() {
        let mut takers = Takers::new(3, 2);
        for index in [0, 2] {
            takers.free.add(index);
        }
        takers.down.add(4);
        assert_eq!(takers.next(|_| true), Some(0));
        assert_eq!(takers.next(|index| index == 2), Some(2));
        assert_eq!(takers.next(|_| false), Some(0));
        for index in [0, 2] {
            takers.free.remove(index);
        }
        assert_eq!(takers.next(|_| false), Some(4));
    }

    #[test]
    fn with_one_exchange_each_they_are_a_queue() {
        let mut rounds = Rounds::new(4, 1);
        for index in [2, 0, 3, 1] {
            rounds.add(index);
        }
        rounds.remove(3);
        rounds.add(3);
        assert_eq!(taken(&mut rounds, 9), [2, 0, 1, 3]);
    }
}
