//! What is received, and what it means for the exchanges whose answers it is.

use core::marker::PhantomData;

use http::{AnswerHead, EndOfStream, Failure, Fed, Listener, Malformed, Protocol, Response};
use units::Instant;

use super::wrong::{WrongAnswers, start_of};
use super::{Engine, SKIPPED_BYTES_MIN};
use crate::config::Reuse;
use crate::connection::ConnectFailure;
use crate::places::{Answer, Exchange, Link, State, check_body};
use crate::sample::{Outcome, Sink};
use crate::script::Script;

/// How an answer came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Came {
    /// Whether its status and its body are expected ones.
    as_expected: bool,
    /// Whether bytes came with it that nobody had asked for.
    surplus: bool,
    /// Its head included.
    received_bytes: u64,
    /// When the first byte of it was read, where that is noted.
    first_byte: Option<Instant>,
}

impl<S: Sink, P: Script<H>, H: Protocol> Engine<S, P, H> {
    /// The usual answer: all of it at once, with the head that the server sends again and again.
    #[inline]
    pub(super) fn known_answer(
        &self,
        exchange: &Exchange,
        bytes: &[u8],
        now: Instant,
    ) -> Option<(Response, Came)> {
        if P::SCRIPTED || H::MULTIPLEXED || !exchange.is_out() || exchange.answer_begun {
            return None;
        }
        let response = H::whole(&self.common, bytes)?;
        let body = &bytes[response.head_bytes as usize..];
        let body_matches = self.config.expect.body.as_deref().is_none_or(|expected| expected == body);
        let as_expected = body_matches && self.config.expect.takes_status(response.status);
        if !as_expected && self.wrong_answers.wants(body_matches) {
            // Read as one that came in pieces, which keeps the first of these.
            return None;
        }
        let received_bytes = bytes.len() as u64;
        Some((*response, Came { as_expected, surplus: false, received_bytes, first_byte: Some(now) }))
    }

    /// Bytes that are not the usual answer: a part of one, parts of several, or none of any.
    #[inline(never)]
    pub(super) fn on_bytes(&mut self, number: u32, bytes: &[u8], now: Instant) {
        if H::MULTIPLEXED && self.wrong_answers.keeps() {
            return self.on_bytes_kept(number, bytes, now);
        }
        self.on_bytes_heard::<false>(number, bytes, now);
    }

    /// The same where answers that share a connection are kept: each is put together from its head and its pieces.
    #[cold]
    #[inline(never)]
    fn on_bytes_kept(&mut self, number: u32, bytes: &[u8], now: Instant) {
        self.on_bytes_heard::<true>(number, bytes, now);
    }

    #[expect(clippy::inline_always, reason = "on the path of every request over HTTP/2")]
    #[inline(always)]
    fn on_bytes_heard<const KEPT: bool>(&mut self, number: u32, bytes: &[u8], now: Instant) {
        let are_first = !H::MULTIPLEXED && self.begin_answer(number, bytes.len() as u64, now);
        if !H::MULTIPLEXED && self.wrong_answers.keeps() && self.places.exchange(number).is_out() {
            self.wrong_answers.came(number, are_first, bytes);
        }
        let generation = self.places.connection(number).generation;
        let mut rest = bytes;
        loop {
            let fed = self.feed::<KEPT>(number, &mut rest, now);
            // Looked up before it is handed on, so that nobody copies what came of every answer.
            let over = match &fed {
                Ok(Fed::Ended { place, .. } | Fed::Failed { place, .. }) if KEPT => Some(*place),
                _ => None,
            };
            match fed {
                Ok(Fed::NeedMore) => break,
                Ok(Fed::Ready) => self.on_ready(number, now),
                Ok(Fed::Failed { place, failure }) => self.on_failure(number, place, failure, now),
                Ok(ended) => self.on_ended(number, ended, if are_first { bytes } else { &[] }, now),
                Err(kind) => return self.on_fault(number, kind, now),
            }
            if let Some(place) = over {
                self.wrong_answers.forget(self.places.of(number).start + place);
            }
            if (!H::MULTIPLEXED && rest.is_empty()) || self.places.connection(number).generation != generation
            {
                break;
            }
        }
        if H::MULTIPLEXED {
            return self.go_on(number, now);
        }
        let to_come = self.protocols[number as usize].body_bytes_to_come();
        if !P::SCRIPTED && self.config.expect.body.is_none() && to_come >= SKIPPED_BYTES_MIN {
            self.skip = Some((self.conn(number), to_come));
        }
    }

    /// Makes ready for the bytes of an answer, if one is expected at the only place. Whether they are its first.
    fn begin_answer(&mut self, number: u32, bytes: u64, now: Instant) -> bool {
        let exchange = self.places.exchange_mut(number);
        if !exchange.is_out() {
            return false;
        }
        let is_first = !core::mem::replace(&mut exchange.answer_begun, true);
        let answer = &mut self.answers[number as usize];
        if is_first {
            answer.begin(now);
            let kind = if P::SCRIPTED { answer.kind } else { self.config.request.kind };
            self.protocols[number as usize].expect(0, kind);
            if let Some(script) = &mut self.script {
                script.begun(number, now);
            }
        }
        answer.received_bytes += bytes;
        is_first
    }

    /// Has the protocol take bytes, and whoever looks at answers see what is in them.
    #[inline]
    fn feed<const KEPT: bool>(
        &mut self,
        number: u32,
        rest: &mut &[u8],
        now: Instant,
    ) -> Result<Fed, Malformed> {
        if P::SCRIPTED {
            return self.feed_scripted(number, rest, now);
        }
        let expected = self.config.expect.body.as_deref();
        let first = self.places.of(number).start;
        let (answers, wrong_answers) = (&mut self.answers, &mut self.wrong_answers);
        let mut listener =
            Heard::<H, KEPT> { first, expected, answers, wrong_answers, now, protocol: PhantomData };
        let out = self.output.of::<H>(number);
        self.protocols[number as usize].feed(&mut self.common, rest, &mut listener, out)
    }

    pub(super) fn on_skipped(&mut self, number: u32, bytes: u64, now: Instant) {
        self.answers[number as usize].received_bytes += bytes;
        if self.wrong_answers.keeps() {
            self.wrong_answers.skipped(number, bytes);
        }
        match self.protocols[number as usize].skip(bytes) {
            Ok(ended) => self.on_ended(number, ended, &[], now),
            Err(kind) => self.on_fault(number, kind, now),
        }
    }

    /// What was fed or skipped ended an answer, or not. `whole` are its bytes if they came at once, and else none.
    fn on_ended(&mut self, number: u32, ended: Fed, whole: &[u8], now: Instant) {
        let Fed::Ended { place, response, surplus } = ended else { return };
        self.counters.unsolicited += u64::from(surplus);
        let index = self.places.of(number).start + place;
        if !H::MULTIPLEXED || self.places.exchange(index).is_out() {
            self.on_last_piece(number, index, response, (surplus, whole), now);
        }
    }

    /// An exchange ended without an answer, and nothing else did.
    #[cold]
    #[inline(never)]
    fn on_failure(&mut self, number: u32, place: u32, failure: Failure, now: Instant) {
        let index = self.places.of(number).start + place;
        let exchange = self.places.exchange_mut(index);
        if !exchange.is_out() {
            return;
        }
        let outcome = match failure {
            Failure::Malformed(kind) => {
                if self.wrong_answers.keeps() {
                    self.wrong_answers.keep_as_it_came(index, now);
                }
                Outcome::Malformed(kind)
            }
            Failure::RefusedStream => Outcome::RefusedStream,
            Failure::StreamReset(code) => Outcome::StreamReset(code),
            Failure::Unprocessed if exchange.resent => Outcome::GoneAway,
            Failure::Unprocessed => {
                // It keeps the instant at which it went out first.
                (exchange.resent, exchange.state) = (true, State::Moving);
                self.answers[index as usize].first_sent = exchange.since;
                self.counters.resent += 1;
                return self.queues.push(&mut self.places, index);
            }
        };
        self.finish_failed(index, outcome, now);
        self.next_request(index, now);
    }

    /// Bytes that this protocol has no use for: the end of the connection, and of what is out on it.
    fn on_fault(&mut self, number: u32, kind: Malformed, now: Instant) {
        if H::MULTIPLEXED && self.places.connection(number).link == Link::Greeting {
            return self.end_greeting(number, ConnectFailure::OtherProtocol, now);
        }
        let mut of_it = self.places.of(number);
        if !of_it.any(|index| self.places.exchange(index).is_out()) {
            self.counters.unsolicited += 1;
            return self.lose_connection(number, now);
        }
        if !H::MULTIPLEXED && self.wrong_answers.keeps() {
            self.wrong_answers.keep_as_it_came(number, now);
        }
        self.fail(number, Outcome::Malformed(kind), now);
    }

    /// An answer that came in pieces is whole. `whole` are its bytes if they came at once after all, and else none.
    pub(super) fn on_last_piece(
        &mut self,
        number: u32,
        index: u32,
        response: Response,
        (surplus, whole): (bool, &[u8]),
        now: Instant,
    ) {
        let answer = &self.answers[index as usize];
        let expect = &self.config.expect;
        let as_expected = answer.has_body(expect) && expect.takes_status(response.status);
        if !(P::SCRIPTED || as_expected) {
            let asked = (self.config.request.kind, expect);
            self.wrong_answers.keep(index, (&response, now), asked, whole, answer.body_bytes);
            if self.wrong_answers.keeps() {
                self.wrong_answers.keep_as_it_came(index, now);
            }
        }
        let answer = &self.answers[index as usize];
        let received_bytes = if H::MULTIPLEXED { response.wire_bytes } else { answer.received_bytes };
        // One that came as a whole was not told of before.
        let first_byte = Some(answer.first_byte.min(now));
        let came = Came { as_expected, surplus, received_bytes, first_byte };
        self.on_answer(number, index, &response, came, now);
    }

    #[expect(clippy::inline_always, reason = "on the path of every request, and called from two places")]
    #[inline(always)]
    pub(super) fn on_answer(
        &mut self,
        number: u32,
        index: u32,
        response: &Response,
        came: Came,
        now: Instant,
    ) {
        let connection = self.places.connection_mut(number);
        connection.has_served = true;
        // Where there is room for several, what is still to be written is of others.
        let reusable = response.keep_alive && (H::MULTIPLEXED || connection.written) && !came.surplus;
        // Its request may have asked for that, whatever its answer says.
        let is_last = P::SCRIPTED && !H::MULTIPLEXED && self.protocols[number as usize].is_over();
        let outcome = Outcome::Answered { status: response.status, expected: came.as_expected };
        self.finish_request(index, outcome, Some(response), (came.received_bytes, came.first_byte), now);
        self.counters.connections_closed_by_server += u64::from(!response.keep_alive);
        if !reusable || is_last || self.config.reuse == Reuse::FreshConnection {
            self.drop_connection(number, now);
        }
        self.next_request(index, now);
    }

    pub(super) fn on_peer_closed(&mut self, number: u32, now: Instant) {
        if !H::MULTIPLEXED {
            let exchange = self.places.exchange(number);
            if exchange.is_out()
                && exchange.answer_begun
                && let EndOfStream::Complete(response) = self.protocols[number as usize].end_of_stream()
            {
                let response = Response { keep_alive: false, ..response };
                return self.on_last_piece(number, number, response, (false, &[]), now);
            }
        }
        self.on_cut_off(number, now);
    }

    /// The connection is over, and what is out on it is not whole.
    pub(super) fn on_cut_off(&mut self, number: u32, now: Instant) {
        if H::MULTIPLEXED && self.places.connection(number).link == Link::Greeting {
            return self.end_greeting(number, ConnectFailure::Closed, now);
        }
        self.counters.connections_closed_by_server += 1;
        self.end_of_connection(number, Outcome::ClosedEarly, now);
    }
}

/// Hears of bodies, and holds them against the expected one. Where answers are kept and share a connection (`KEPT`), it hears of
/// heads, too, and has both kept.
struct Heard<'a, H, const KEPT: bool> {
    /// The first exchange of the connection.
    first: u32,
    expected: Option<&'a [u8]>,
    answers: &'a mut [Answer],
    wrong_answers: &'a mut WrongAnswers,
    now: Instant,
    protocol: PhantomData<H>,
}

impl<H: Protocol, const KEPT: bool> Heard<'_, H, KEPT> {
    #[inline(never)]
    fn compare(&mut self, index: u32, expected: &[u8], piece: &[u8]) {
        let Answer { body_bytes, body_matches, .. } = &mut self.answers[index as usize];
        let (matched_bytes, has_matched) = (*body_bytes, *body_matches);
        check_body(expected, body_bytes, body_matches, piece);
        if !*body_matches {
            let matched = has_matched.then(|| start_of(expected, matched_bytes));
            self.wrong_answers.go_on(index, matched, piece);
        }
    }
}

impl<H: Protocol, const KEPT: bool> Listener for Heard<'_, H, KEPT> {
    const HEADS: bool = KEPT;

    fn begun(&mut self, place: u32) {
        let answer = &mut self.answers[(self.first + place) as usize];
        answer.first_byte = answer.first_byte.min(self.now);
    }

    fn head(&mut self, place: u32, head: &AnswerHead<'_>) {
        if KEPT {
            self.wrong_answers.head_came(self.first + place, head);
        }
    }

    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    fn body(&mut self, place: u32, piece: &[u8]) {
        let index = self.first + place;
        if H::MULTIPLEXED {
            self.answers[index as usize].received_bytes += piece.len() as u64;
        }
        if KEPT {
            self.wrong_answers.came(index, false, piece);
        }
        if let Some(expected) = self.expected {
            self.compare(index, expected, piece);
        }
    }
}
