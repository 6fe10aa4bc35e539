//! What goes out where a connection has room for several exchanges: all that there is for it in one send, and the next
//! once that is written. A server may have room for fewer at a time; then the others wait, in the order in which they came.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use http::Protocol;
use units::{Duration, Instant};

use super::Engine;
use crate::connection::Conn;
use crate::places::State;
use crate::sample::Sink;
use crate::script::Script;

/// Memory that a connection keeps for what goes out on it.
const KEPT_BYTES_MAX: usize = 64 << 10;

/// Exchanges that wait for room on their connection.
#[derive(Debug, Default)]
struct Waiting {
    exchanges: VecDeque<u32>,
    /// The first of them and since when it waits, where nobody was let ask at a look; and when the first such look was.
    passed_over: Option<((u32, Instant), Instant)>,
    /// Whether there is room again, and the connection among those that are looked at next.
    is_noted: bool,
    /// How many requests are held back by the server's windows, and since when they are so many.
    held_back: u32,
    held_back_since: Instant,
}

impl Waiting {
    /// From `now` on `count` requests are held back. How long those before were, all together, that was not told yet.
    fn hold_back(&mut self, count: u32, now: Instant) -> Duration {
        if self.held_back == count {
            return Duration::ZERO;
        }
        let waited = now.since(self.held_back_since) * u64::from(self.held_back);
        (self.held_back, self.held_back_since) = (count, now);
        waited
    }
}

/// Bytes on their way out.
#[derive(Debug)]
pub(super) struct Output {
    /// Of each connection; of all together where each has room for one exchange, whose protocol writes none.
    pending: Box<[Vec<u8>]>,
    /// Connections that have some, and nothing under way.
    due: VecDeque<u32>,
    /// Those of the connection that was polled last.
    polled: Vec<u8>,
    /// Of each connection.
    waiting: Box<[Waiting]>,
    /// Connections that have room again, and exchanges that wait for it.
    admitting: Vec<u32>,
    /// When something went out or came in last.
    turn: Instant,
}

impl Output {
    pub(super) fn new<H: Protocol>(connections: u32) -> Self {
        let count = if H::MULTIPLEXED { connections } else { 1 };
        Self {
            pending: (0..count).map(|_| Vec::new()).collect(),
            due: VecDeque::new(),
            polled: Vec::new(),
            waiting: (0..count).map(|_| Waiting::default()).collect(),
            admitting: Vec::new(),
            turn: Instant::default(),
        }
    }

    /// Where the protocol of connection `number` writes to.
    pub(super) fn of<H: Protocol>(&mut self, number: u32) -> &mut Vec<u8> {
        &mut self.pending[if H::MULTIPLEXED { number as usize } else { 0 }]
    }

    /// The connection is gone, and what was to go out on it; who waited for it is told elsewhere. How long bodies were held
    /// back on it, to the turn, and were not counted yet.
    fn clear(&mut self, number: u32) -> Duration {
        self.pending[number as usize].clear();
        self.pending[number as usize].shrink_to(KEPT_BYTES_MAX);
        let waiting = &mut self.waiting[number as usize];
        waiting.exchanges.clear();
        waiting.passed_over = None;
        waiting.hold_back(0, self.turn)
    }

    /// Exchange `index` waits no more.
    pub(super) fn forget_waiting(&mut self, number: u32, index: u32) {
        self.waiting[number as usize].exchanges.retain(|waiting| *waiting != index);
    }

    pub(super) fn polled(&self) -> &[u8] {
        &self.polled
    }

    /// Where what is polled now goes, if nobody has put it there before.
    pub(super) fn poll_into(&mut self) -> &mut Vec<u8> {
        self.polled.clear();
        self.polled.shrink_to(KEPT_BYTES_MAX);
        &mut self.polled
    }

    /// Whether there is room for exchanges that wait for it.
    #[inline]
    pub(super) fn has_room_again(&self) -> bool {
        !self.admitting.is_empty()
    }

    pub(super) fn is_due(&self) -> bool {
        !self.due.is_empty() || !self.admitting.is_empty()
    }
}

impl<S: Sink, P: Script<H>, H: Protocol> Engine<S, P, H> {
    /// Has the exchange's request go out with what else there is for its connection, or wait for room there behind those
    /// that do.
    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    pub(super) fn put_out(&mut self, index: u32, now: Instant) {
        let number = self.places.connection_of(index);
        let has_room = self.protocols[number as usize].has_room();
        if has_room && self.output.waiting[number as usize].exchanges.is_empty() {
            return self.ask(number, index, now);
        }
        self.wait_for_room(number, index);
    }

    #[inline(never)]
    fn wait_for_room(&mut self, number: u32, index: u32) {
        let exchange = self.places.exchange_mut(index);
        (exchange.to_be_sent, exchange.state) = (false, State::Queued);
        if !exchange.resent {
            self.answers[index as usize].waits_since = exchange.since;
            self.counters.stream_waits += 1;
        }
        self.queues.push(&mut self.places, index);
        self.output.waiting[number as usize].exchanges.push_back(index);
        self.admit_later(number);
    }

    /// Whether the exchange's request waited for room on a connection that is no more.
    pub(super) fn has_waited(&self, index: u32) -> bool {
        self.answers[index as usize].waits_since != Instant::FAR_FUTURE
    }

    /// Has such a request wait on the connection that is there now, also where that has room: its wait is one, and ends
    /// where it goes out.
    #[cold]
    pub(super) fn go_on_waiting(&mut self, number: u32, index: u32, now: Instant) {
        self.enter(index, State::Queued, now);
        // Else nobody would look at it where the server lets nobody ask.
        if !core::mem::replace(&mut self.places.exchange_mut(index).has_timer, true) {
            self.timers.set(index, now + self.config.timeouts.request);
        }
        self.output.waiting[number as usize].exchanges.push_back(index);
        self.admit_later(number);
    }

    /// Since when a connection has owed no answer and let nobody ask, as far as looks at it tell: this one, at `now`, or an
    /// earlier one. As long as the first who waits is the same, nobody was let ask between them.
    #[cold]
    pub(super) fn unwilling_since(&mut self, number: u32, now: Instant) -> Instant {
        let owes_any = self.places.of(number).any(|index| self.places.exchange(index).is_out());
        let is_willing = owes_any || self.protocols[number as usize].has_room();
        let waiting = &mut self.output.waiting[number as usize];
        let first = waiting.exchanges.front().filter(|_| !is_willing);
        let first = first.map(|index| (*index, self.answers[*index as usize].waits_since));
        let same = waiting.passed_over.filter(|(who, _)| first == Some(*who));
        let since = same.map_or(now, |(_, since)| since);
        waiting.passed_over = first.map(|who| (who, since));
        since
    }

    /// Those that go on waiting on a connection are in the order of their places, and who has waited longer is before others.
    #[cold]
    pub(super) fn order_waiting(&mut self, number: u32) {
        let answers = &self.answers;
        let exchanges = self.output.waiting[number as usize].exchanges.make_contiguous();
        exchanges.sort_unstable_by_key(|index| (answers[*index as usize].waits_since, *index));
    }

    /// The exchange's request is over without an answer: the waits of the next one are its own.
    #[cold]
    pub(super) fn forget_waits(&mut self, index: u32) {
        self.answers[index as usize].waits_since = Instant::FAR_FUTURE;
        if self.places.exchange(index).resent {
            let (number, place) = (self.places.connection_of(index), self.places.place_of(index));
            self.protocols[number as usize].forget(place);
        }
    }

    /// Takes note of how many requests the server's windows hold back on a connection at `now`.
    fn note_held_back(&mut self, number: u32, now: Instant) {
        let count = self.protocols[number as usize].held_back();
        self.output.turn = now;
        let waited = self.output.waiting[number as usize].hold_back(count, now);
        self.counters.window_wait += waited;
    }

    /// The connection is gone.
    pub(super) fn clear_output(&mut self, number: u32) {
        self.counters.window_wait += self.output.clear(number);
    }

    /// Takes note of room on a connection that exchanges wait for, if there is any.
    fn admit_later(&mut self, number: u32) {
        let may_admit = self.places.connection(number).is_up() && self.protocols[number as usize].has_room();
        let waiting = &mut self.output.waiting[number as usize];
        if may_admit && !waiting.exchanges.is_empty() && !waiting.is_noted {
            waiting.is_noted = true;
            self.output.admitting.push(number);
        }
    }

    /// Has requests go out that have waited for room, and have it now.
    #[inline(never)]
    pub(super) fn admit_waiting(&mut self, now: Instant) {
        while let Some(number) = self.output.admitting.pop() {
            self.output.waiting[number as usize].is_noted = false;
            while self.places.connection(number).is_up()
                && self.protocols[number as usize].has_room()
                && let Some(index) = self.output.waiting[number as usize].exchanges.pop_front()
            {
                self.leave(index);
                let exchange = self.places.exchange_mut(index);
                if !exchange.resent {
                    exchange.ready = exchange.intended.max(now);
                    let waits_since = &mut self.answers[index as usize].waits_since;
                    let waited = now.since(core::mem::replace(waits_since, Instant::FAR_FUTURE));
                    self.counters.stream_wait += waited;
                    self.counters.stream_wait_max = self.counters.stream_wait_max.max(waited);
                }
                self.enter_flight(index, now);
                self.ask(number, index, now);
            }
        }
    }

    /// Has the exchange's request, which is in flight, go out at `now` on a connection that has room for it.
    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    fn ask(&mut self, number: u32, index: u32, now: Instant) {
        let place = index - self.places.of(number).start;
        let exchange = self.places.exchange_mut(index);
        (exchange.to_be_sent, exchange.answer_begun) = (false, false);
        if !exchange.resent {
            exchange.since = now;
        }
        let protocol = &mut self.protocols[number as usize];
        let out = self.output.of::<H>(number);
        let kind = match &mut self.script {
            None => {
                protocol.ask(place, &self.config.request.bytes, out);
                self.config.request.kind
            }
            Some(script) => {
                script.ask(self.crowd.user_of(index), place, protocol, out);
                self.answers[index as usize].kind
            }
        };
        protocol.expect(place, kind);
        self.answers[index as usize].begin(Instant::FAR_FUTURE);
        if !self.places.connection(number).queued {
            self.send_output(number);
        }
    }

    /// Has what there is for a connection sent, once nothing else is under way on it.
    pub(super) fn send_output(&mut self, number: u32) {
        let connection = self.places.connection_mut(number);
        let has_some = !self.output.of::<H>(number).is_empty();
        if has_some && connection.is_open() && connection.written && !connection.queued {
            connection.queued = true;
            self.output.due.push_back(number);
        }
    }

    /// What a connection was told has changed: it may have something to send, have room again, or be over.
    pub(super) fn go_on(&mut self, number: u32, now: Instant) {
        if !self.places.connection(number).is_up() {
            return self.send_output(number);
        }
        if self.protocols[number as usize].is_over() {
            return self.end_gone(number, now);
        }
        self.note_held_back(number, now);
        self.admit_later(number);
        self.send_output(number);
    }

    /// The next connection that has something to send.
    pub(super) fn poll_output(&mut self, now: Instant) -> Option<Conn> {
        while let Some(number) = self.output.due.pop_front() {
            let connection = self.places.connection_mut(number);
            connection.queued = false;
            let Output { pending, polled, .. } = &mut self.output;
            let pending = &mut pending[number as usize];
            // It may have been closed meanwhile, and opened again; or what was sent last is under way.
            if connection.is_open() && connection.written && !pending.is_empty() {
                core::mem::swap(pending, polled);
                pending.clear();
                pending.shrink_to(KEPT_BYTES_MAX);
                self.protocols[number as usize].resume(pending);
                self.note_held_back(number, now);
                self.send_output(number);
                return Some(self.conn(number));
            }
        }
        None
    }
}
