//! Which request goes out when, on which slot, and how it ends.

use http::Response;
use units::Instant;

use super::{DUE_PER_TURN_MAX, Engine, Stage};
use crate::config::Load;
use crate::connection::State;
use crate::sample::{Outcome, Sample, Sink};
use crate::script::Script;

impl<S: Sink, P: Script> Engine<S, P> {
    /// Gives the slot, which is in no queue, its next request or lets it rest.
    #[inline(never)]
    pub(super) fn next_request(&mut self, index: u32, now: Instant) {
        if self.stage != Stage::Running {
            return self.rest(index, now);
        }
        match self.config.load {
            Load::Closed { .. } if self.has_made_all(index) => self.retire(index, now),
            Load::Closed { think, .. } if think.is_zero() => self.start_user_request(index, now, now),
            Load::Closed { .. } => self.enter(index, State::Thinking, now),
            Load::Open { .. } => self.rest(index, now),
            Load::Scripted => self.next_of_script(index, now),
        }
    }

    /// A closed-model user's next request, intended at `intended`, if the load goes on until then.
    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    pub(super) fn start_user_request(&mut self, index: u32, intended: Instant, now: Instant) {
        if intended >= self.window.end || !self.may_intend() {
            return self.rest(index, now);
        }
        self.intend();
        let slot = &mut self.slots[index as usize];
        // It may wrap only where nobody compares it.
        slot.made = slot.made.wrapping_add(1);
        self.start_request(index, intended, intended, now);
    }

    /// Whether the slot is a user who has made all of its requests.
    #[inline]
    pub(super) fn has_made_all(&self, index: u32) -> bool {
        let Load::Closed { requests_per_user, .. } = self.config.load else { return false };
        requests_per_user.is_some_and(|all| self.slots[index as usize].made >= all.get())
    }

    /// Lets a user who has made all of its requests, and is in no queue, go.
    pub(super) fn retire(&mut self, index: u32, now: Instant) {
        if self.slots[index as usize].connected {
            self.close(index);
        }
        self.rest(index, now);
    }

    /// Puts a request on a slot that is in no queue. `free_since` is when the slot could have taken it.
    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    pub(super) fn start_request(&mut self, index: u32, intended: Instant, free_since: Instant, now: Instant) {
        let slot = &mut self.slots[index as usize];
        slot.has_request = true;
        slot.intended = intended;
        slot.ready = intended.max(free_since);
        if slot.connected {
            self.send(index, now);
        } else {
            self.connect(index, now);
        }
    }

    /// Puts a request in flight, to be sent next.
    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    pub(super) fn send(&mut self, index: u32, now: Instant) {
        let slot = &mut self.slots[index as usize];
        slot.state = State::InFlight;
        slot.since = now;
        slot.to_be_sent = true;
        if !core::mem::replace(&mut slot.has_timer, true) {
            self.timers.set(index, now + self.config.timeouts.request);
        }
        self.to_send.push(index);
    }

    /// Leaves a slot without a request: in the open model it takes what waits, else it is free or down.
    pub(super) fn rest(&mut self, index: u32, now: Instant) {
        if self.stage == Stage::Running
            && let Some(intended) = self.backlog.pop_front()
        {
            return self.start_request(index, intended, now, now);
        }
        let connected = self.slots[index as usize].connected;
        self.enter(index, if connected { State::Free } else { State::Down }, now);
    }

    /// Sends every open-model request that is due by `now` and before the deadline.
    pub(super) fn send_due(&mut self, now: Instant) {
        for _ in 0..DUE_PER_TURN_MAX {
            if !self.may_intend() {
                return;
            }
            let Some(schedule) = &mut self.schedule else { return };
            let intended = schedule.due();
            if intended > now || intended >= self.window.end {
                return;
            }
            schedule.advance();
            self.intend();
            self.dispatch(intended, now);
        }
    }

    /// Finds a connection for a due request: a free one, else one that can be opened, else it waits.
    pub(super) fn dispatch(&mut self, intended: Instant, now: Instant) {
        let taker = self.queues.front(State::Free).or_else(|| self.queues.front(State::Down));
        if let Some(index) = taker {
            let free_since = self.slots[index as usize].since;
            self.leave(index);
            return self.start_request(index, intended, free_since, now);
        }
        let Load::Open { backlog_max, .. } = self.config.load else { return };
        if self.backlog.len() >= backlog_max.get() as usize {
            self.counters.backlog_overflow += 1;
            // What is known of it ends here: that it would not have been answered until later, nobody found out.
            return self.never_sent(Outcome::BacklogOverflow, intended, now.min(self.window.end), 1);
        }
        self.backlog.push_back(intended);
        self.counters.backlog_peak = self.counters.backlog_peak.max(self.backlog.len() as u64);
    }

    #[inline]
    pub(super) fn may_intend(&self) -> bool {
        self.counters.intended < self.requests_max
    }

    #[inline]
    pub(super) fn intend(&mut self) {
        self.counters.intended += 1;
        self.outstanding += 1;
    }

    /// Ends the slot's request, with the answer if a whole one came. `received_bytes` are those of its answer, if it was
    /// sent.
    #[expect(clippy::inline_always, reason = "on the path of every request, and called from two places")]
    #[inline(always)]
    pub(super) fn finish_request(
        &mut self,
        index: u32,
        outcome: Outcome,
        response: Option<&Response>,
        received_bytes: u64,
        done: Instant,
    ) {
        let slot = &mut self.slots[index as usize];
        slot.has_request = false;
        slot.to_be_sent = false;
        let was_sent = !matches!(outcome, Outcome::ConnectFailed(_) | Outcome::Unsent);
        let mut sample = Sample {
            intended: slot.intended,
            ready: slot.ready,
            sent: was_sent.then_some(slot.since),
            done,
            arrived: self.arrived.filter(|_| outcome.is_answered()),
            outcome,
            received_bytes,
            due_in_window: self.window.start <= slot.intended && slot.intended < self.window.end,
            done_in_window: self.window.start <= done && done < self.window.end,
        };
        self.outstanding -= 1;
        if let Some(script) = &mut self.script {
            let good = script.ended(index, &sample, response);
            if let Outcome::Answered { expected, .. } = &mut sample.outcome {
                *expected = good;
            }
        }
        self.sink.record(&sample);
    }

    /// Ends the slot's request without a whole answer.
    pub(super) fn finish_failed(&mut self, index: u32, outcome: Outcome, done: Instant) {
        let slot = &self.slots[index as usize];
        let has_part = slot.state == State::InFlight && slot.answer_begun && !slot.to_be_sent;
        let received_bytes = if has_part { self.answers[index as usize].received_bytes } else { 0 };
        self.finish_request(index, outcome, None, received_bytes, done);
    }

    /// A due request that waited for a connection until the deadline, and so is known not to be answered until then.
    pub(super) fn give_up_unsent(&mut self, intended: Instant, now: Instant) {
        self.never_sent(Outcome::Unsent, intended, self.end_of_waiting(now), 1);
    }

    /// Until when requests that are given up at the end of the load have waited.
    pub(super) fn end_of_waiting(&self, now: Instant) -> Instant {
        if self.window.end == Instant::FAR_FUTURE { now } else { self.window.end }
    }

    /// Ends requests that were due at `intended`, never got a connection, and waited for one until `done`. No rate counts
    /// them, since nothing was made of them.
    pub(super) fn never_sent(&mut self, outcome: Outcome, intended: Instant, done: Instant, count: u64) {
        self.outstanding -= count;
        let sample = Sample {
            intended,
            ready: done.max(intended),
            sent: None,
            done: done.max(intended),
            arrived: None,
            outcome,
            received_bytes: 0,
            due_in_window: self.window.start <= intended && intended < self.window.end,
            done_in_window: false,
        };
        self.sink.record_many(&sample, count);
    }
}
