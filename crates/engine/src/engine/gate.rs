//! Before anything is due: connections are opened, and held at the gate until the load is told to begin.

use http::Protocol;
use units::{Duration, Instant};

use super::{Engine, OPENING_AT_ONCE_MAX, OPENING_FIRST, OPENING_PER_MS, Stage};
use crate::config::{Begin, Load};
use crate::places::{Link, State};
use crate::sample::Sink;
use crate::script::Script;

/// Between two connections that are opened again.
const OPENS_AGAIN_EVERY: Duration = Duration::from_nanos(1_000_000 / OPENING_PER_MS as u64);

impl<S: Sink, P: Script<H>, H: Protocol> Engine<S, P, H> {
    /// Tells a load that waits for it when to begin. The schedule starts at `at`, however late the engine comes to know of
    /// it or wakes; where connections are still being opened then, it starts late, and is behind by as much. Only the first
    /// word counts.
    pub fn begin(&mut self, at: Instant) {
        self.begin_at.get_or_insert(at);
    }

    /// What there is to do before the load runs, if it does not.
    #[inline]
    pub(super) fn go_on_to_running(&mut self, now: Instant) {
        if matches!(self.stage, Stage::Opening | Stage::Ready) {
            self.prepare(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn prepare(&mut self, now: Instant) {
        if self.stage == Stage::Opening {
            self.go_on_opening(now);
        }
        if self.stage != Stage::Ready {
            return;
        }
        match self.begin_at.filter(|at| *at <= now) {
            Some(at) => self.leave_gate(at, now),
            None => self.open_again(now),
        }
    }

    fn go_on_opening(&mut self, now: Instant) {
        let opened_max = self.may_have_opened(now);
        while self.opened_to < opened_max && self.queues.len(State::Connecting) < OPENING_AT_ONCE_MAX {
            let opener = self.places.of(self.opened_to).start;
            self.leave(opener);
            self.connect(opener, now);
            self.opened_to += 1;
        }
        if self.opened_to < self.places.connections() || self.queues.front(State::Connecting).is_some() {
            return;
        }
        match self.config.begin {
            Begin::WhenOpen => self.start_running(now, now),
            Begin::WhenTold => self.stage = Stage::Ready,
        }
    }

    /// How many connections may have been opened by `now`, before the load begins.
    fn may_have_opened(&self, now: Instant) -> u32 {
        let per_ms = u128::from(OPENING_PER_MS) * u128::from(now.since(self.begun).as_nanos()) / 1_000_000;
        let most = u128::from(OPENING_FIRST) + per_ms;
        most.min(self.places.connections().into()) as u32
    }

    /// When the next connection may be opened, before the load begins; `None` where others are waited for first.
    pub(super) fn next_opening(&self) -> Option<Instant> {
        let is_waited_for = self.queues.len(State::Connecting) >= OPENING_AT_ONCE_MAX;
        if self.opened_to >= self.places.connections() || is_waited_for {
            return None;
        }
        let behind_first = u64::from((self.opened_to + 1).saturating_sub(OPENING_FIRST));
        Some(self.begun + Duration::from_nanos((behind_first * 1_000_000).div_ceil(OPENING_PER_MS.into())))
    }

    /// Opens connections again that were lost at the gate, after a pause each and no quicker than at first: a server that
    /// closes every one at once is not to be flooded.
    fn open_again(&mut self, now: Instant) {
        while let Some((index, _)) = self.next_lost().filter(|(_, at)| *at <= now) {
            self.opens_again_at = now.max(self.opens_again_at) + OPENS_AGAIN_EVERY;
            self.leave(index);
            self.connect(index, now);
        }
    }

    /// Which exchange opens its connection again next, and when; none where others are waited for first.
    fn next_lost(&self) -> Option<(u32, Instant)> {
        let (index, at) = self.next_expiry(State::Pausing)?;
        let is_full = self.queues.len(State::Connecting) >= OPENING_AT_ONCE_MAX;
        (!is_full).then_some((index, at.max(self.opens_again_at)))
    }

    fn leave_gate(&mut self, at: Instant, now: Instant) {
        match self.config.load {
            // Whoever has no connection gets one when there is something to send. One that is being opened goes on.
            Load::Open { .. } => {
                for index in 0..self.places.exchanges() {
                    let state = self.places.exchange(index).state;
                    if matches!(state, State::Free | State::Pausing) {
                        self.leave(index);
                        // Nobody was idle before it began.
                        self.enter(index, if state == State::Free { state } else { State::Down }, at);
                    }
                }
            }
            // Each user begins at once, and opens its connection by itself.
            Load::Closed { .. } | Load::Scripted { .. } => {
                for number in 0..self.places.connections() {
                    if matches!(self.places.connection(number).link, Link::Opening | Link::Greeting) {
                        self.close(number);
                    }
                }
            }
        }
        self.start_running(at, now);
    }

    /// Leaves an exchange, which is in no queue, without a request and without a connection; at the gate it gets another.
    pub(super) fn rest_without_connection(&mut self, index: u32, now: Instant) {
        if self.stage == Stage::Ready {
            self.enter(index, State::Pausing, now);
        } else {
            self.rest(index, now);
        }
    }

    /// What an exchange goes over to that was free on a connection that is no more.
    pub(super) fn without_connection(&self, index: u32) -> State {
        // Where several share a connection, one of them opens it.
        let opens = self.places.place_of(index) == 0;
        if self.stage == Stage::Ready && opens { State::Pausing } else { State::Down }
    }

    /// As [`Engine::poll_timeout`]. Nobody is idle there.
    pub(super) fn timeout_at_gate(&self) -> Option<Instant> {
        let expiries = [self.next_expiry(State::Connecting), self.next_lost()];
        expiries.into_iter().flatten().map(|(_, at)| at).chain(self.begin_at).min()
    }
}
