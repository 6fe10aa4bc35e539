//! What scripted users do: they are asked for each step, and their pauses are as long as they say.

use core::marker::PhantomData;

use http::{AnswerHead, Fed, Listener, Malformed, Protocol};
use units::Instant;

use super::{Engine, Stage};
use crate::config::Load;
use crate::places::{Answer, State};
use crate::sample::Sink;
use crate::script::{Due, Next, Script};

/// How a script ends a load. Where users share a connection, others of it may be in no queue when one of them says so: it is done
/// at the end of the turn, and nobody is asked any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Once what is out is answered.
    Answered,
    /// At once.
    AtOnce,
}

/// How users share connections. Those to one server are numbered behind each other, and so are their exchanges, of which each
/// user has one: the first of them is the first user's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crowd {
    /// How many there are; none where there is no script.
    pub(super) users: u32,
    /// Connections to each server, and the exchanges that they have room for.
    connections: u32,
    exchanges: u32,
    /// Connections in all.
    connections_in_all: u32,
}

impl Crowd {
    /// Users of `load` who have so many connections with `room` for so many exchanges each.
    ///
    /// # Panics
    /// If these are too few for them, or not equally many to each server.
    pub(super) fn new(load: Load, connections_in_all: u32, room: u32) -> Self {
        let (users, connections) = match load {
            Load::Scripted { users } => (users.get(), users.get().div_ceil(room)),
            Load::Closed { .. } | Load::Open { .. } => (0, connections_in_all),
        };
        assert!(connections_in_all.is_multiple_of(connections), "as many connections to each server");
        Self { users, connections, exchanges: connections * room, connections_in_all }
    }

    /// Whose exchange it is.
    pub(super) fn user_of(self, index: u32) -> u32 {
        index % self.exchanges
    }

    /// The exchange of `user` with the server that has this number.
    fn exchange_with(self, target: u32, user: u32) -> u32 {
        target % (self.connections_in_all / self.connections) * self.exchanges + user
    }

    /// The exchanges of `user`, one with each server.
    fn exchanges_of(self, user: u32) -> impl Iterator<Item = u32> {
        let servers = self.connections_in_all / self.connections;
        (0..servers).map(move |target| self.exchange_with(target, user))
    }

    /// Which server a connection goes to.
    pub(super) fn target_of(self, number: u32) -> u32 {
        number / self.connections
    }

    /// The connections to all servers that the users of this one share.
    pub(super) fn connections_beside(self, number: u32) -> impl Iterator<Item = u32> {
        (number % self.connections..self.connections_in_all).step_by(self.connections as usize)
    }
}

impl<S: Sink, P: Script<H>, H: Protocol> Engine<S, P, H> {
    /// Asks the script what user `index`, who is in no queue, does at `now`.
    pub(super) fn next_of_script(&mut self, index: u32, now: Instant) {
        // Past the deadline nobody is asked: what it said could not be done.
        let is_over = now >= self.window.end || (H::MULTIPLEXED && self.ends.is_some());
        if self.stage != Stage::Running || is_over || !self.may_intend() {
            return self.rest(index, now);
        }
        let Some(script) = &mut self.script else { return self.rest(index, now) };
        let user = if H::MULTIPLEXED { self.crowd.user_of(index) } else { index };
        match script.next(user, now) {
            Next::Send(due) => self.send_scripted(index, due, now),
            Next::Pause(length) => {
                self.wakes.set(index, now + length);
                self.enter(index, State::Waiting, now);
            }
            Next::Wait => self.enter(index, State::Waiting, now),
            Next::Leave => {
                self.users -= 1;
                self.retire(index, now);
            }
            Next::EndLoad => {
                self.rest(index, now);
                self.window.end = now;
                if H::MULTIPLEXED {
                    self.ends = Some(End::Answered);
                } else {
                    self.start_draining(now);
                }
            }
            Next::EndNow => {
                self.rest(index, now);
                if H::MULTIPLEXED {
                    self.ends = Some(End::AtOnce);
                } else {
                    self.interrupt(now);
                }
            }
        }
        self.wake_released(now);
    }

    /// Has those asked again whom the script has released.
    fn wake_released(&mut self, now: Instant) {
        loop {
            let Some(script) = &mut self.script else { return };
            let Some(user) = script.released() else { return };
            let mut exchanges = self.crowd.exchanges_of(user);
            let waiting = exchanges.find(|index| self.places.exchange(*index).state == State::Waiting);
            if let Some(index) = waiting {
                self.wakes.set(index, now);
            }
        }
    }

    fn send_scripted(&mut self, index: u32, due: Due, now: Instant) {
        let Due { intended, kind, target, waits } = due;
        let index = if H::MULTIPLEXED { self.go_over(index, target, now) } else { index };
        let answer = &mut self.answers[index as usize];
        (answer.kind, answer.waits) = (kind, waits);
        if !H::MULTIPLEXED && core::mem::replace(&mut answer.target, target) != target {
            self.close(index);
        }
        self.intend();
        self.start_request(index, intended.min(now), now, now);
    }

    /// The exchange that the user of `index`, who is in no queue, has with this server; the other one rests. Both are in no queue
    /// then.
    fn go_over(&mut self, index: u32, target: u32, now: Instant) -> u32 {
        let to = self.crowd.exchange_with(target, self.crowd.user_of(index));
        if to != index {
            self.rest(index, now);
            self.leave(to);
        }
        to
    }

    /// Has the request of user `index`, alone on its connection, be what is sent on that.
    pub(super) fn ask_alone(&mut self, index: u32) {
        let Some(script) = &mut self.script else { return };
        script.ask(index, 0, &mut self.protocols[index as usize], self.output.poll_into());
    }

    /// Asks users whose pause is over.
    pub(super) fn wake_users(&mut self, now: Instant) {
        // One who pauses again for no time at all has its turn in the next call.
        for _ in 0..self.wakes.len() {
            let Some(at) = self.wakes.next() else { return };
            let Some(index) = self.wakes.take_due(now) else { return };
            // A user who waits no more had its pause cut short by the end of the load.
            if self.places.exchange(index).state == State::Waiting && self.stage == Stage::Running {
                self.leave(index);
                self.next_of_script(index, at);
            }
        }
    }

    /// Has the protocol take bytes, and the script see what is in them.
    pub(super) fn feed_scripted(
        &mut self,
        number: u32,
        rest: &mut &[u8],
        now: Instant,
    ) -> Result<Fed, Malformed> {
        let Some(script) = &mut self.script else { return Ok(Fed::NeedMore) };
        let out = self.output.of::<H>(number);
        let first = self.places.of(number).start;
        let user = if H::MULTIPLEXED { self.crowd.user_of(first) } else { number };
        let answers = &mut self.answers[first as usize..];
        let mut told = Told::<P, H> { script, user, answers, now, protocol: PhantomData };
        self.protocols[number as usize].feed(&mut self.common, rest, &mut told, out)
    }
}

/// Hands on what is in answers to the script.
struct Told<'a, P, H> {
    script: &'a mut P,
    /// The first user of the connection, which may be its only one.
    user: u32,
    /// Of the exchanges from the connection's first on.
    answers: &'a mut [Answer],
    now: Instant,
    protocol: PhantomData<H>,
}

impl<P: Script<H>, H: Protocol> Listener for Told<'_, P, H> {
    const HEADS: bool = true;

    fn begun(&mut self, place: u32) {
        let first_byte = &mut self.answers[place as usize].first_byte;
        if self.now < *first_byte {
            *first_byte = self.now;
            self.script.begun(self.user + place, self.now);
        }
    }

    fn head(&mut self, place: u32, head: &AnswerHead<'_>) {
        self.script.head(self.user + place, head, self.now);
    }

    fn body(&mut self, place: u32, piece: &[u8]) {
        if H::MULTIPLEXED {
            self.answers[place as usize].received_bytes += piece.len() as u64;
        }
        self.script.body(self.user + place, piece);
    }
}
