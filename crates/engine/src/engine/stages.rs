//! The passing of time: bounds that are reached, and the stages of a load.

use http::Protocol;
use units::{Duration, Instant};

use super::{Engine, RETRY_PAUSE, Stage, USERS_WAIT};
use crate::config::{Load, Reuse, UserStart};
use crate::places::State;
use crate::sample::{Outcome, Sink, Window};
use crate::schedule::{Schedule, Skipped};
use crate::script::Script;
use crate::timers::Timers;

/// What waits for room on a connection, and then what waits for the connection itself.
const WAITS: [State; 4] = [State::Queued, State::Moving, State::Awaiting, State::Connecting];

impl<S: Sink, P: Script<H>, H: Protocol> Engine<S, P, H> {
    /// How long an exchange may stay in `state`.
    pub(super) fn bound(&self, state: State) -> Duration {
        match state {
            State::Down
            | State::Awaiting
            | State::InFlight
            | State::Waiting
            | State::Queued
            | State::Moving => Duration::MAX,
            // Scripted users may wait for different times, and have timers of their own.
            State::Connecting if P::SCRIPTED && !H::MULTIPLEXED => Duration::MAX,
            State::Connecting => self.config.timeouts.connect,
            State::Free => self.config.timeouts.idle,
            State::Thinking => match self.config.load {
                Load::Closed { think, .. } => think,
                Load::Open { .. } | Load::Scripted { .. } => Duration::MAX,
            },
            State::Pausing => RETRY_PAUSE,
            State::Ramping => Duration::ZERO,
        }
    }

    /// Which exchange of a state reaches its bound first, and when.
    #[inline]
    pub(super) fn next_expiry(&self, state: State) -> Option<(u32, Instant)> {
        let index = self.queues.front(state)?;
        let at = self.places.exchange(index).since + self.bound(state);
        (at != Instant::FAR_FUTURE).then_some((index, at))
    }

    pub(super) fn expire(&mut self, state: State, now: Instant) {
        // One that expires may enter the same state again at `now`; it is not due again in this call
        // unless its bound is zero, and then the length of the queue ends the loop.
        for _ in 0..self.queues.len(state) {
            let Some((index, at)) = self.next_expiry(state).filter(|(_, at)| *at <= now) else { return };
            match state {
                State::Down
                | State::Awaiting
                | State::InFlight
                | State::Waiting
                | State::Queued
                | State::Moving => {}
                State::Connecting => self.connect_timed_out(index, at, now),
                State::Free => self.idle(index, now),
                State::Thinking | State::Pausing | State::Ramping => {
                    self.leave(index);
                    if P::SCRIPTED {
                        self.next_of_script(index, at);
                    } else if H::MULTIPLEXED && self.schedule.is_some() {
                        self.open_after_pause(index, now);
                    } else {
                        self.start_user_request(index, at, now);
                    }
                }
            }
        }
    }

    /// Ends requests that are out longer than their bound.
    pub(super) fn expire_in_flight(&mut self, now: Instant, heard: Instant) {
        // One that a user sends next is not due again in this call, unless the bound is zero.
        for _ in 0..self.timers.len() {
            let Some(index) = self.timers.take_due(heard) else { return };
            let exchange = self.places.exchange_mut(index);
            exchange.has_timer = false;
            let is_moving = H::MULTIPLEXED && exchange.resent;
            if H::MULTIPLEXED && !is_moving && exchange.state == State::Queued {
                self.look_at_wait(index, now, heard);
                continue;
            }
            if exchange.state != State::InFlight && !(is_moving && exchange.has_request) {
                continue;
            }
            // One that has yet to go out has all of its time before it.
            let is_waiting = exchange.to_be_sent && !is_moving;
            let since = if is_waiting { now } else { self.sent(index) };
            let at = since + self.request_timeout(index);
            if at <= heard {
                self.time_out(index, at, now);
            } else {
                self.places.exchange_mut(index).has_timer = true;
                // The next request may have less time than this one, and no less than that.
                self.timers.set(index, at.min(now + self.config.timeouts.request));
            }
        }
    }

    /// The timer of a request went off that waits for room on its connection. A server may let nobody ask for a while; one that
    /// owes no answer, and lets nobody ask for as long as one may take, may do so for ever: its connection is left for the next.
    #[cold]
    fn look_at_wait(&mut self, index: u32, now: Instant, heard: Instant) {
        let number = self.places.connection_of(index);
        let since = self.unwilling_since(number, heard);
        let until = since + self.config.timeouts.request;
        if since < heard && until <= heard {
            return self.leave_unwilling(number, now);
        }
        self.places.exchange_mut(index).has_timer = true;
        self.timers.set(index, until);
    }

    /// Gives up connections of scripted users that are not open when their requests wait for them no longer.
    pub(super) fn expire_openings(&mut self, now: Instant) {
        for _ in 0..self.openings.len() {
            let Some(index) = self.openings.take_due(now) else { return };
            self.answers[index as usize].opening_timed = false;
            if self.places.exchange(index).state != State::Connecting {
                continue;
            }
            let until = self.connecting_until(index);
            if until <= now {
                self.connect_timed_out(index, until, now);
            } else {
                // The next one may have less time.
                self.time_opening(index, until.min(now + self.config.timeouts.connect));
            }
        }
    }

    /// The bound, not the instant we noticed it, is what the request is known to have lasted.
    fn time_out(&mut self, index: u32, at: Instant, now: Instant) {
        let exchange = self.places.exchange(index);
        let (state, is_out) = (exchange.state, exchange.is_out());
        if H::MULTIPLEXED && !is_out {
            return self.time_out_resent(index, state, at, now);
        }
        self.finish_failed(index, Outcome::TimedOut, at);
        self.cancel(index, now);
        self.next_request(index, now);
    }

    /// The same of a request that went out once, and waits to go out again.
    #[cold]
    fn time_out_resent(&mut self, index: u32, state: State, at: Instant, now: Instant) {
        match state {
            State::InFlight => {}
            State::Connecting => self.leave_opening(index),
            _ => {
                self.leave(index);
                let number = self.places.connection_of(index);
                self.output.forget_waiting(number, index);
            }
        }
        self.finish_failed(index, Outcome::TimedOut, at);
        self.next_request(index, now);
    }

    /// Starts the schedule at `at`, however late that is noticed: what is due by `now` is sent late.
    pub(super) fn start_running(&mut self, at: Instant, now: Instant) {
        self.stage = Stage::Running;
        let start = at + self.config.warm_up;
        self.window = Window { start, end: start + self.config.stop.duration };
        match self.config.load {
            Load::Open { arrivals, .. } => {
                self.schedule = Some(Schedule::new(at, arrivals, self.config.share, self.config.seed));
                if H::MULTIPLEXED && self.config.reuse != Reuse::FreshConnection {
                    self.miss_what_is_down(now);
                }
            }
            Load::Closed { start, .. } => {
                for index in 0..self.places.exchanges() {
                    self.leave(index);
                    self.start_user(index, start, at, now);
                }
            }
            Load::Scripted { .. } => {
                for index in 0..self.crowd.users {
                    self.leave(index);
                    self.next_of_script(index, at);
                }
            }
        }
    }

    /// Users who start together stay together: a server that takes 100 ms answers them in waves, and a
    /// window then holds one wave more or less. With a warm-up their starts are spread over it.
    fn start_user(&mut self, index: u32, start: UserStart, at: Instant, now: Instant) {
        let after = match start {
            UserStart::WithWarmUp if self.config.warm_up.is_zero() => {
                return self.start_user_request(index, at, now);
            }
            UserStart::WithWarmUp => {
                part_of(self.config.warm_up, u64::from(index), u64::from(self.places.exchanges()))
            }
            UserStart::RampUp { span, users } => {
                let share = self.config.share;
                let turn = u64::from(index) * u64::from(share.of.get()) + u64::from(share.index);
                part_of(span, turn, u64::from(users.get()))
            }
        };
        self.enter(index, State::Ramping, at + after);
    }

    pub(super) fn start_draining(&mut self, now: Instant) {
        self.stage = Stage::Draining(now + self.config.timeouts.drain);
        self.give_up_what_was_due(now);
        while let Some(intended) = self.backlog.pop_front() {
            self.give_up_unsent(intended, now);
        }
        // Those whose connections are being opened have begun, as those that are out have: a server that closes each connection
        // would be said to have left one of each user unsent. So have those that go out again, and users who wait for a stream, of
        // which a server may allow fewer than there are users. At a rate these are a backlog as any other.
        if matches!(self.config.load, Load::Open { .. }) {
            self.give_up_waiting(State::Queued, now);
        }
        self.wakes = Timers::default();
        for state in USERS_WAIT.into_iter().chain([State::Waiting]) {
            while let Some(index) = self.queues.front(state) {
                self.leave(index);
                self.rest(index, now);
            }
        }
    }

    /// Ends what waits in this state, for a connection or for room on one.
    fn give_up_waiting(&mut self, state: State, now: Instant) {
        while let Some(index) = self.queues.front(state) {
            self.leave(index);
            self.end_unsent(index);
            let number = self.places.connection_of(index);
            match state {
                State::Queued => self.output.forget_waiting(number, index),
                State::Moving => {}
                _ => self.close(number),
            }
            self.rest(index, now);
        }
    }

    /// Ends the request of an exchange that is not in flight, if it has one, at the end of the load.
    fn end_unsent(&mut self, index: u32) {
        let exchange = self.places.exchange(index);
        if exchange.has_request {
            let done = self.window.end.max(exchange.intended);
            let (outcome, done) = if exchange.resent {
                self.end_of_resent(index, Outcome::InFlight, done.max(self.sent(index)))
            } else {
                (Outcome::Unsent, done)
            };
            self.finish_failed(index, outcome, done);
        }
    }

    pub(super) fn abandon_in_flight(&mut self, now: Instant, heard: Instant) {
        for index in 0..self.places.exchanges() {
            let exchange = self.places.exchange(index);
            let deadline = self.deadline(index);
            if let Some(at) = deadline.filter(|at| *at < heard) {
                self.time_out(index, at, now);
            } else if exchange.state == State::InFlight {
                let outcome = if exchange.to_be_sent { Outcome::Unsent } else { Outcome::InFlight };
                // Who gives up knows of nothing beyond its own deadline.
                self.give_up(index, outcome, deadline.map_or(now, |at| at.min(now)));
            }
        }
        // What waited for the end of a connection may have gone over to the next, and others are still being opened.
        for state in WAITS {
            self.give_up_waiting(state, now);
        }
    }

    pub(super) fn finish_if_done(&mut self, now: Instant) {
        let all_left = P::SCRIPTED && self.users == 0;
        let all_made = self.stage == Stage::Running && (!self.may_intend() || all_left);
        let draining = matches!(self.stage, Stage::Draining(_));
        if !(all_made || draining) || self.outstanding > 0 || self.awaits_next(now) {
            return;
        }
        self.stage = Stage::Finished;
        self.window.start = self.window.start.min(now);
        self.window.end = self.window.end.min(now);
        self.close_all();
    }

    /// Whether a load at a rate, whose number of requests is made and answered, goes on until the next one would be due. Without
    /// the gap behind the last, n requests would be done in the time of n − 1, at a rate that nobody asked for. Of Poisson
    /// arrivals that gap is by chance as all others are: n over the time until the one behind them is their rate, on average.
    fn awaits_next(&mut self, now: Instant) -> bool {
        let Some(schedule) = &self.schedule else { return false };
        let next = schedule.next_of_all(self.config.requests_of_all);
        // Where all were made in the warm-up, no window is left to be waited for.
        let waits = now < next && self.window.start < next;
        if waits {
            self.window.end = self.window.end.min(next);
        }
        waits
    }

    /// A late or overwhelmed generator may come to its deadline with requests due before it that it never
    /// got round to. They were intended all the same. There may be thousands of millions of them, so they are
    /// taken a stretch at a time, all of it as long late as its last.
    fn give_up_what_was_due(&mut self, now: Instant) {
        let Some(mut schedule) = self.schedule.take() else { return };
        let done = self.end_of_waiting(now);
        let end = self.window.end.min(now + Duration::from_nanos(1));
        while schedule.due() < end && self.may_intend() {
            let stretch_end = self.stretch_end(schedule.due(), done).min(end);
            let left = self.requests_max - self.counters.intended;
            let Skipped { count, last } = schedule.skip_until(stretch_end, left);
            self.counters.intended += count;
            self.outstanding += count;
            self.never_sent(Outcome::Unsent, last, done, count);
        }
    }

    /// The end of the stretch from `from` on, whose requests wait until `done` equally long but for one part in
    /// [`STRETCH_PARTS`], and are all within the measured window or all before it.
    fn stretch_end(&self, from: Instant, done: Instant) -> Instant {
        let length = (done.since(from) / STRETCH_PARTS).max(STRETCH_MIN);
        let to = from + length;
        if from < self.window.start { to.min(self.window.start) } else { to }
    }
}

/// A stretch of requests that are given up together is so small a part of how long they waited: less than distributions
/// tell apart.
const STRETCH_PARTS: u64 = 2048;
/// No stretch is shorter: at the end of the wait they would get ever shorter.
const STRETCH_MIN: Duration = Duration::from_micros(1);

/// `span` · `index` / `of`, computed from the index so that rounding never adds up.
fn part_of(span: Duration, index: u64, of: u64) -> Duration {
    let after_ns = u128::from(span.as_nanos()) * u128::from(index) / u128::from(of);
    Duration::from_nanos(u64::try_from(after_ns).unwrap_or(u64::MAX))
}
