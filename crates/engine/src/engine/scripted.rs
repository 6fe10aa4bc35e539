//! What scripted users do: they are asked for each step, and their pauses are as long as they say.

use core::marker::PhantomData;

use http::{AnswerHead, Fed, Listener, Malformed, Protocol};
use units::Instant;

use super::{Engine, Stage};
use crate::places::State;
use crate::sample::Sink;
use crate::script::{Due, Next, Script};

impl<S: Sink, P: Script<H>, H: Protocol> Engine<S, P, H> {
    /// Asks the script what user `index`, who is in no queue, does at `now`.
    pub(super) fn next_of_script(&mut self, index: u32, now: Instant) {
        // Past the deadline nobody is asked: what it said could not be done.
        if self.stage != Stage::Running || now >= self.window.end || !self.may_intend() {
            return self.rest(index, now);
        }
        let Some(script) = &mut self.script else { return self.rest(index, now) };
        match script.next(index, now) {
            Next::Send(due) => self.send_scripted(index, due, now),
            Next::Pause(length) => {
                self.wakes.set(index, now + length);
                self.enter(index, State::Waiting, now);
            }
            Next::Leave => {
                self.users -= 1;
                self.retire(index, now);
            }
            Next::EndLoad => {
                self.rest(index, now);
                self.window.end = now;
                self.start_draining(now);
            }
            Next::EndNow => {
                self.rest(index, now);
                self.interrupt(now);
            }
        }
    }

    fn send_scripted(&mut self, index: u32, due: Due, now: Instant) {
        let Due { intended, kind, target } = due;
        let answer = &mut self.answers[index as usize];
        answer.kind = kind;
        if core::mem::replace(&mut answer.target, target) != target {
            self.close(index);
        }
        self.intend();
        self.start_request(index, intended.min(now), now, now);
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
        let mut told = Told::<P, H> { script, user: number, now, protocol: PhantomData };
        self.protocols[number as usize].feed(&mut self.common, rest, &mut told, out)
    }
}

/// Hands on what is in an answer to the script. Its user is the connection's only one.
struct Told<'a, P, H> {
    script: &'a mut P,
    user: u32,
    now: Instant,
    protocol: PhantomData<H>,
}

impl<P: Script<H>, H: Protocol> Listener for Told<'_, P, H> {
    const HEADS: bool = true;

    fn head(&mut self, _: u32, head: &AnswerHead<'_>) {
        self.script.head(self.user, head, self.now);
    }

    fn body(&mut self, _: u32, piece: &[u8]) {
        self.script.body(self.user, piece);
    }
}
