//! What happens on a connection, and what it means for the request that is out on it.

use http::{EndOfStream, Malformed, Progress, Response};
use units::Instant;

use super::wrong::start_of;
use super::{Engine, SKIPPED_BYTES_MIN, Stage};
use crate::config::{Load, Reuse};
use crate::connection::{Answer, Completion, ConnectFailure, Event, Slot, State, check_body};
use crate::sample::{Outcome, Sink};
use crate::script::Script;

/// How an answer came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Came {
    /// Whether its body is the expected one.
    body_matches: bool,
    /// Whether bytes came with it that nobody had asked for.
    surplus: bool,
    /// Its head included.
    received_bytes: u64,
}

impl<S: Sink, P: Script> Engine<S, P> {
    #[inline(never)]
    pub(super) fn on_event(&mut self, index: u32, event: Event<'_>, now: Instant) {
        match event {
            Event::Received(bytes) => self.on_piece(index, bytes, now),
            Event::Skipped(bytes) => self.on_skipped(index, bytes, now),
            Event::Sent => self.slots[index as usize].request_written = true,
            Event::Connected => self.on_connected(index, now),
            Event::ConnectFailed(failure) => self.on_connect_failed(index, failure, now),
            Event::PeerClosed => self.on_peer_closed(index, now),
            Event::Reset => self.on_reset(index, now),
        }
    }

    pub(super) fn on_connected(&mut self, index: u32, now: Instant) {
        if self.slots[index as usize].state != State::Connecting {
            return;
        }
        let until = self.connecting_until(index);
        if until < now {
            return self.connect_timed_out(index, until, now);
        }
        self.counters.connections_opened += 1;
        let in_window = now >= self.window.start && now < self.window.end;
        self.counters.connections_opened_in_window += u64::from(in_window);
        self.leave(index);
        let slot = &mut self.slots[index as usize];
        slot.connected = true;
        slot.has_served = false;
        if slot.has_request {
            slot.ready = slot.intended.max(now);
            self.send(index, now);
        } else {
            self.rest(index, now);
        }
    }

    pub(super) fn on_connect_failed(&mut self, index: u32, failure: ConnectFailure, now: Instant) {
        if self.slots[index as usize].state != State::Connecting {
            return;
        }
        let (failure, done) = self.first_failure(index, failure, now);
        self.end_connecting(index, failure, done, now);
    }

    /// When the slot, which is connecting, gives that up.
    fn connecting_until(&self, index: u32) -> Instant {
        self.slots[index as usize].since + self.config.timeouts.connect
    }

    /// What failed first and when: the connection, as is seen at `now`, or the time for it.
    fn first_failure(&self, index: u32, failure: ConnectFailure, now: Instant) -> (ConnectFailure, Instant) {
        let until = self.connecting_until(index);
        if until < now { (ConnectFailure::TimedOut, until) } else { (failure, now) }
    }

    /// Gives a connection up whose bound was `until`, whatever was found out of it since.
    pub(super) fn connect_timed_out(&mut self, index: u32, until: Instant, now: Instant) {
        self.close(index);
        self.end_connecting(index, ConnectFailure::TimedOut, until, now);
    }

    /// There is no connection, and there was none until `done`.
    fn end_connecting(&mut self, index: u32, failure: ConnectFailure, done: Instant, now: Instant) {
        self.leave(index);
        if !self.slots[index as usize].has_request {
            self.counters.opening_failures += 1;
            return self.rest(index, now);
        }
        self.finish_failed(index, Outcome::ConnectFailed(failure), done);
        match self.config.load {
            Load::Closed { .. } | Load::Scripted
                if self.stage == Stage::Running && !self.has_made_all(index) =>
            {
                self.enter(index, State::Pausing, now);
            }
            _ => self.next_request(index, now),
        }
    }

    /// The usual answer: all of it at once, with the head that the server sends again and again.
    #[inline]
    pub(super) fn known_answer(&self, slot: &Slot, bytes: &[u8]) -> Option<(Response, Came)> {
        if P::SCRIPTED || slot.state != State::InFlight || slot.to_be_sent || slot.answer_begun {
            return None;
        }
        let response = self.known_head.whole(bytes)?;
        let body = &bytes[response.head_bytes as usize..];
        let body_matches = self.config.expect.body.as_deref().is_none_or(|expected| expected == body);
        if !body_matches && self.wrong_answers.is_empty() {
            // Read as one that came in pieces, which keeps the first of these.
            return None;
        }
        Some((*response, Came { body_matches, surplus: false, received_bytes: bytes.len() as u64 }))
    }

    /// An answer that is not the usual one, or a part of one.
    #[inline(never)]
    pub(super) fn on_piece(&mut self, index: u32, bytes: &[u8], now: Instant) {
        let slot = &mut self.slots[index as usize];
        if slot.state != State::InFlight || slot.to_be_sent {
            self.counters.unsolicited += 1;
            return self.lose_connection(index, now);
        }
        let answer = &mut self.answers[index as usize];
        let was_begun = core::mem::replace(&mut slot.answer_begun, true);
        if !was_begun {
            answer.begin(if P::SCRIPTED { answer.kind } else { self.config.request.kind });
        }
        answer.received_bytes += bytes.len() as u64;
        if P::SCRIPTED {
            let progress = self.read_scripted(index, bytes, now);
            return self.on_progress(index, progress, bytes, false, now);
        }
        let Answer { parser, body_bytes, body_matches, .. } = answer;
        let expected = self.config.expect.body.as_deref();
        let wrong_answers = &mut self.wrong_answers;
        let progress = parser.push_known(&self.config.limits, &mut self.known_head, bytes, |piece| {
            if let Some(expected) = expected {
                let (matched_bytes, has_matched) = (*body_bytes, *body_matches);
                check_body(expected, body_bytes, body_matches, piece);
                if !*body_matches {
                    let matched = has_matched.then(|| start_of(expected, matched_bytes));
                    wrong_answers.go_on(index, matched, piece);
                }
            }
        });
        let to_come = parser.body_bytes_to_come();
        if progress == Ok(Progress::NeedMore) && expected.is_none() && to_come >= SKIPPED_BYTES_MIN {
            self.skip = Some((self.conn(index), to_come));
        }
        self.on_progress(index, progress, bytes, !was_begun, now);
    }

    /// What the next `bytes` came to; `are_first` of their answer.
    fn on_progress(
        &mut self,
        index: u32,
        progress: Result<Progress, Malformed>,
        bytes: &[u8],
        are_first: bool,
        now: Instant,
    ) {
        match progress {
            Ok(Progress::NeedMore) => {}
            Ok(Progress::Complete { consumed, response }) => {
                let surplus = consumed < bytes.len();
                self.counters.unsolicited += u64::from(surplus);
                let whole = if are_first { &bytes[..consumed] } else { &[] };
                self.on_last_piece(index, response, (surplus, whole), now);
            }
            Err(kind) => self.fail(index, Outcome::Malformed(kind), now),
        }
    }

    pub(super) fn on_skipped(&mut self, index: u32, bytes: u64, now: Instant) {
        let answer = &mut self.answers[index as usize];
        answer.received_bytes += bytes;
        let to_come = answer.parser.body_bytes_to_come();
        let surplus = bytes > to_come;
        match answer.parser.skip(bytes.min(to_come)) {
            Ok(Progress::NeedMore) => {}
            Ok(Progress::Complete { response, .. }) => {
                self.counters.unsolicited += u64::from(surplus);
                self.on_last_piece(index, response, (surplus, &[]), now);
            }
            Err(kind) => self.fail(index, Outcome::Malformed(kind), now),
        }
    }

    /// An answer that came in pieces is whole. `whole` are its bytes if they came at once after all, and else none.
    pub(super) fn on_last_piece(
        &mut self,
        index: u32,
        response: Response,
        (surplus, whole): (bool, &[u8]),
        now: Instant,
    ) {
        let answer = &self.answers[index as usize];
        let expect = &self.config.expect;
        let body_matches = answer.has_body(expect);
        let as_expected = body_matches && expect.takes_status(response.status);
        if !(P::SCRIPTED || as_expected) {
            let asked = (self.config.request.kind, expect);
            self.wrong_answers.keep(index, &response, asked, whole, answer.body_bytes);
        }
        let came = Came { body_matches, surplus, received_bytes: answer.received_bytes };
        self.on_answer(index, &response, came, now);
    }

    #[expect(clippy::inline_always, reason = "on the path of every request, and called from two places")]
    #[inline(always)]
    pub(super) fn on_answer(&mut self, index: u32, response: &Response, came: Came, now: Instant) {
        let slot = &mut self.slots[index as usize];
        slot.has_served = true;
        let reusable = response.keep_alive && slot.request_written && !came.surplus;
        let expected = came.body_matches && self.config.expect.takes_status(response.status);
        let outcome = Outcome::Answered { status: response.status, expected };
        self.finish_request(index, outcome, Some(response), came.received_bytes, now);
        self.counters.connections_closed_by_server += u64::from(!response.keep_alive);
        if !reusable || self.config.reuse == Reuse::FreshConnection {
            self.close(index);
        }
        self.next_request(index, now);
    }

    /// When the slot's request, if it was sent, is given up.
    pub(super) fn deadline(&self, index: u32) -> Option<Instant> {
        let slot = &self.slots[index as usize];
        let is_out = slot.state == State::InFlight && !slot.to_be_sent;
        is_out.then(|| slot.since + self.config.timeouts.request)
    }

    /// Ends a request if what is told of it at `now` came after its deadline: that it is told before the timeout is only the
    /// order within a turn. Where the kernel has said when it came that counts, and not when a generator that was held up
    /// looked.
    #[cold]
    #[inline(never)]
    pub(super) fn is_too_late(&mut self, completion: &Completion<'_>, now: Instant) -> bool {
        let Completion { conn, event, arrived } = *completion;
        let index = conn.slot;
        let is_of_this_life =
            self.slots.get(index as usize).is_some_and(|slot| slot.generation == conn.generation);
        if !is_of_this_life {
            return false;
        }
        let came = arrived.unwrap_or(now);
        let Some(deadline) = self.deadline(index).filter(|deadline| *deadline < came) else { return false };
        let begun = self.slots[index as usize].answer_begun;
        let before = if begun { self.answers[index as usize].received_bytes } else { 0 };
        let more = match event {
            Event::Received(bytes) => bytes.len() as u64,
            Event::Skipped(bytes) => bytes,
            _ => 0,
        };
        self.finish_request(index, Outcome::TimedOut, None, before + more, deadline);
        self.close(index);
        self.next_request(index, now);
        self.finish_if_done(now);
        true
    }

    pub(super) fn on_peer_closed(&mut self, index: u32, now: Instant) {
        let slot = &self.slots[index as usize];
        if slot.state == State::InFlight
            && !slot.to_be_sent
            && slot.answer_begun
            && let EndOfStream::Complete(response) = self.answers[index as usize].parser.end_of_stream()
        {
            let response = Response { keep_alive: false, ..response };
            return self.on_last_piece(index, response, (false, &[]), now);
        }
        self.counters.connections_closed_by_server += 1;
        match self.slots[index as usize].state {
            State::InFlight if !self.slots[index as usize].is_stale() => {
                self.fail(index, Outcome::ClosedEarly, now);
            }
            _ => self.lose_connection(index, now),
        }
    }

    pub(super) fn on_reset(&mut self, index: u32, now: Instant) {
        match self.slots[index as usize].state {
            State::InFlight if !self.slots[index as usize].is_stale() => {
                self.fail(index, Outcome::Reset, now);
            }
            State::Connecting => {
                let (failure, done) = self.first_failure(index, ConnectFailure::Reset, now);
                self.close(index);
                self.end_connecting(index, failure, done, now);
            }
            _ => self.lose_connection(index, now),
        }
    }

    /// Ends a request that is out with a failure, and its connection with it.
    pub(super) fn fail(&mut self, index: u32, outcome: Outcome, now: Instant) {
        let slot = &mut self.slots[index as usize];
        if slot.to_be_sent {
            // It was about to go out on a connection that never did anything, and is dated as if it had.
            slot.since = now.max(slot.ready);
        }
        self.finish_failed(index, outcome, now);
        self.close(index);
        self.next_request(index, now);
    }

    /// Ends a connection that carries no request. One that was about to go out on it goes out on the next, as that
    /// of any client does that finds its connection gone.
    pub(super) fn lose_connection(&mut self, index: u32, now: Instant) {
        self.close(index);
        let slot = &mut self.slots[index as usize];
        match slot.state {
            State::Free => {
                self.leave(index);
                self.rest(index, now);
            }
            State::InFlight => {
                slot.to_be_sent = false;
                self.connect(index, now);
            }
            _ => {}
        }
    }
}
