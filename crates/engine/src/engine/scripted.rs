//! What scripted users do: they are asked for each step, and their pauses are as long as they say.

use http::{Malformed, Progress};
use units::Instant;

use super::{Engine, Stage};
use crate::connection::{Answer, State};
use crate::sample::Sink;
use crate::script::{Due, Next, Script};

impl<S: Sink, P: Script> Engine<S, P> {
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
        if core::mem::replace(&mut answer.target, target) != target && self.slots[index as usize].connected {
            self.close(index);
        }
        self.intend();
        self.start_request(index, intended.min(now), now, now);
    }

    /// Asks users whose pause is over.
    pub(super) fn wake_users(&mut self, now: Instant) {
        // One who pauses again for no time at all has its turn in the next call.
        for _ in 0..self.wakes.len() {
            let Some(at) = self.wakes.next() else { return };
            let Some(index) = self.wakes.take_due(now) else { return };
            // A user who waits no more had its pause cut short by the end of the load.
            if self.slots[index as usize].state == State::Waiting && self.stage == Stage::Running {
                self.leave(index);
                self.next_of_script(index, at);
            }
        }
    }

    /// Lets the script see a piece of an answer and the parser read it.
    pub(super) fn read_scripted(
        &mut self,
        index: u32,
        bytes: &[u8],
        now: Instant,
    ) -> Result<Progress, Malformed> {
        let Some(script) = &mut self.script else { return Ok(Progress::NeedMore) };
        script.received(index, bytes, now);
        let Answer { parser, .. } = &mut self.answers[index as usize];
        parser.push(&self.config.limits, bytes, |piece| script.body(index, piece))
    }
}
