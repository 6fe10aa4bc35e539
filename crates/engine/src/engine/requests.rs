//! Which request goes out when, as which exchange, and how it ends.

use http::{Protocol, Response};
use units::Instant;

use super::{DUE_PER_TURN_MAX, Engine, Stage};
use crate::config::Load;
use crate::places::State;
use crate::sample::{Outcome, Sample, Sink};
use crate::script::Script;

impl<S: Sink, P: Script<H>, H: Protocol> Engine<S, P, H> {
    /// Gives the exchange, which is in no queue, its next request or lets it rest.
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
            Load::Scripted { .. } => self.next_of_script(index, now),
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
        let exchange = self.places.exchange_mut(index);
        // It may wrap only where nobody compares it.
        exchange.made = exchange.made.wrapping_add(1);
        self.start_request(index, intended, intended, now);
    }

    /// Whether the exchange is a user who has made all of its requests.
    #[inline]
    pub(super) fn has_made_all(&self, index: u32) -> bool {
        let Load::Closed { requests_per_user, .. } = self.config.load else { return false };
        requests_per_user.is_some_and(|all| self.places.exchange(index).made >= all.get())
    }

    /// Lets a user who has made all of its requests, and is in no queue, go.
    #[inline(never)]
    pub(super) fn retire(&mut self, index: u32, now: Instant) {
        if self.is_last_user(index) {
            for number in self.crowd.connections_beside(self.places.connection_of(index)) {
                self.close(number);
            }
        }
        self.rest(index, now);
    }

    /// Puts a request on an exchange that is in no queue. `free_since` is when that could have taken it.
    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    pub(super) fn start_request(&mut self, index: u32, intended: Instant, free_since: Instant, now: Instant) {
        let is_up = self.places.connection(self.places.connection_of(index)).is_up();
        let exchange = self.places.exchange_mut(index);
        exchange.has_request = true;
        exchange.resent = false;
        exchange.intended = intended;
        exchange.ready = intended.max(free_since);
        if is_up {
            self.send(index, now);
        } else {
            self.reach(index, now);
        }
    }

    /// Puts a request in flight, to be sent next.
    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    pub(super) fn send(&mut self, index: u32, now: Instant) {
        self.enter_flight(index, now);
        self.to_send.push(index);
    }

    /// Puts a request in flight that has yet to be sent.
    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    pub(super) fn enter_flight(&mut self, index: u32, now: Instant) {
        let exchange = self.places.exchange_mut(index);
        exchange.state = State::InFlight;
        let is_again = H::MULTIPLEXED && exchange.resent;
        exchange.since = if is_again { self.answers[index as usize].first_sent } else { now };
        exchange.to_be_sent = true;
        // One that goes out again has what is left of its time, which may be nothing.
        let until = exchange.since + self.config.timeouts.request;
        if !core::mem::replace(&mut exchange.has_timer, true) {
            self.timers.set(index, until);
        }
    }

    /// Leaves an exchange without a request: in the open model it takes what waits, else it is free or down.
    pub(super) fn rest(&mut self, index: u32, now: Instant) {
        if self.stage == Stage::Running
            && let Some(intended) = self.backlog.pop_front()
        {
            return self.start_request(index, intended, now, now);
        }
        let number = self.places.connection_of(index);
        let is_up = self.places.connection(number).is_up();
        self.enter(index, if is_up { State::Free } else { State::Down }, now);
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

    /// Finds a connection for a due request: a free one, else one that can be opened, else it waits. Where they have room for
    /// several, they take turns.
    pub(super) fn dispatch(&mut self, intended: Instant, now: Instant) {
        let taker = match &self.takers {
            Some(takers) if H::MULTIPLEXED => {
                takers.next(|index| self.protocols[self.places.connection_of(index) as usize].has_room())
            }
            _ => self.queues.front(State::Free).or_else(|| self.queues.front(State::Down)),
        };
        if let Some(index) = taker {
            let free_since = self.places.exchange(index).since;
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

    /// When the exchange's request went out, if it did: of one that does so for the second time, the first.
    #[inline]
    pub(super) fn sent(&self, index: u32) -> Instant {
        let exchange = self.places.exchange(index);
        let is_again = H::MULTIPLEXED && exchange.resent;
        if is_again { self.answers[index as usize].first_sent } else { exchange.since }
    }

    /// Ends the exchange's request, with the answer if a whole one came. `received_bytes` are those of its answer, if it was
    /// sent, and `first_byte` is when the first of them was read, where that is noted.
    #[expect(clippy::inline_always, reason = "on the path of every request, and called from two places")]
    #[inline(always)]
    pub(super) fn finish_request(
        &mut self,
        index: u32,
        outcome: Outcome,
        response: Option<&Response>,
        (received_bytes, first_byte): (u64, Option<Instant>),
        done: Instant,
    ) {
        let exchange = self.places.exchange_mut(index);
        let is_again = H::MULTIPLEXED && exchange.resent;
        let sent = if is_again { self.answers[index as usize].first_sent } else { exchange.since };
        exchange.has_request = false;
        exchange.to_be_sent = false;
        let was_sent = match outcome {
            // Unless it went out on an earlier connection, which ended without a look at it.
            Outcome::ConnectFailed(_) | Outcome::TlsFailed(_) | Outcome::Unsent | Outcome::GoneAway => {
                exchange.resent
            }
            _ => true,
        };
        let mut sample = Sample {
            intended: exchange.intended,
            ready: exchange.ready,
            sent: was_sent.then_some(sent),
            first_byte,
            done,
            arrived: self.arrived.filter(|_| outcome.is_answered()),
            outcome,
            received_bytes,
            due_in_window: self.window.start <= exchange.intended && exchange.intended < self.window.end,
            done_in_window: self.window.start <= done && done < self.window.end,
        };
        self.outstanding -= 1;
        if let Some(script) = &mut self.script {
            let user = if H::MULTIPLEXED { self.crowd.user_of(index) } else { index };
            let good = script.ended(user, &sample, response);
            if let Outcome::Answered { expected, .. } = &mut sample.outcome {
                *expected = good;
            }
        }
        self.sink.record(&sample);
    }

    /// Ends the exchange's request without a whole answer.
    pub(super) fn finish_failed(&mut self, index: u32, outcome: Outcome, done: Instant) {
        let exchange = self.places.exchange(index);
        // Where there is room for several, what is kept of an answer is of the request that is out from its start on.
        let has_part = exchange.is_out() && (exchange.answer_begun || H::MULTIPLEXED);
        let answer = &self.answers[index as usize];
        let received_bytes = if has_part { answer.received_bytes } else { 0 };
        let first_byte = has_part.then_some(answer.first_byte).filter(|it| *it <= done);
        if self.wrong_answers.keeps() {
            self.wrong_answers.forget(index);
        }
        if H::MULTIPLEXED {
            self.forget_waits(index);
        }
        self.finish_request(index, outcome, None, (received_bytes, first_byte), done);
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
            first_byte: None,
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
