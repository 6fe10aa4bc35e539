//! How connections come and go, and what that means for the exchanges that have their places on them.

use http::{Malformed, Protocol};
use units::{Duration, Instant};

use super::{Engine, Stage};
use crate::config::Load;
use crate::connection::{Action, Completion, ConnectFailure, Event};
use crate::places::{Link, State};
use crate::sample::{Outcome, Sink};
use crate::script::Script;
use crate::tls::TlsFailure;

impl<S: Sink, P: Script<H>, H: Protocol> Engine<S, P, H> {
    #[inline(never)]
    pub(super) fn on_event(&mut self, number: u32, event: Event<'_>, now: Instant) {
        match event {
            Event::Received(bytes) => self.on_bytes(number, bytes, now),
            Event::Skipped(bytes) => self.on_skipped(number, bytes, now),
            Event::Sent => self.handle_sent(self.conn(number)),
            Event::WornOut => self.on_worn_out(number, now),
            Event::Connected => self.on_connected(number, now),
            Event::ConnectFailed(failure) => self.on_connect_failed(number, failure, now),
            Event::Securing => self.places.connection_mut(number).is_securing = true,
            Event::PeerClosed => self.on_peer_closed(number, now),
            Event::CutOff => self.on_cut_off(number, now),
            Event::Reset => self.on_reset(number, now),
        }
    }

    /// Has the exchange, which is in no queue, open its connection.
    pub(super) fn connect(&mut self, index: u32, now: Instant) {
        let number = self.places.connection_of(index);
        let connection = self.places.connection_mut(number);
        connection.generation = connection.generation.wrapping_add(1);
        (connection.link, connection.is_securing) = (Link::Opening, false);
        self.enter(index, State::Connecting, now);
        if P::SCRIPTED && !H::MULTIPLEXED {
            self.time_opening(index, now + self.config.timeouts.connect);
        }
        self.actions.push_back(Action::Connect(self.conn(number)));
    }

    /// Sets the timer of a connection that is being opened, unless that of an earlier opening is still to go off, which is sooner.
    pub(super) fn time_opening(&mut self, index: u32, at: Instant) {
        if !core::mem::replace(&mut self.answers[index as usize].opening_timed, true) {
            self.openings.set(index, at);
        }
    }

    /// Gets a connection for the exchange's request, which is in no queue and has none.
    #[inline(never)]
    pub(super) fn reach(&mut self, index: u32, now: Instant) {
        let number = self.places.connection_of(index);
        if self.places.connection(number).link != Link::Down {
            if H::MULTIPLEXED {
                return self.enter(index, State::Awaiting, now);
            }
            // It is worn out, and what was out on it is over.
            self.close(number);
        }
        self.connect(index, now);
    }

    /// Closes a connection, if it is up or being opened. Exchanges stay in their queues, but for those that were free.
    pub(super) fn close(&mut self, number: u32) {
        let conn = self.conn(number);
        let connection = self.places.connection_mut(number);
        if connection.link == Link::Down {
            return;
        }
        // Else its protocol tells of the life before.
        let has_begun = connection.link != Link::Opening;
        connection.link = Link::Down;
        // Whatever is still reported for the connection is about an earlier life.
        connection.generation = connection.generation.wrapping_add(1);
        self.actions.push_back(Action::Close(conn));
        if H::MULTIPLEXED {
            if has_begun && let Some(code) = self.protocols[number as usize].end_code() {
                self.counters.go_aways.add(code);
            }
            self.clear_output(number);
            for index in self.places.of(number) {
                let exchange = self.places.exchange(index);
                if exchange.state == State::Free {
                    let since = exchange.since;
                    self.leave(index);
                    self.enter(index, self.without_connection(index), since);
                }
            }
        }
    }

    /// Which exchange opens the connection, if it is being opened.
    fn opener(&self, number: u32) -> Option<u32> {
        self.places.of(number).find(|index| self.places.exchange(*index).state == State::Connecting)
    }

    /// Takes the exchange, which opens its connection, out of that: another one that waits for it goes on with it, within the
    /// time that is left, and without one there is no more need of it.
    #[cold]
    pub(super) fn leave_opening(&mut self, index: u32) {
        let number = self.places.connection_of(index);
        let heir = self.places.of(number).find(|other| self.places.exchange(*other).state == State::Awaiting);
        if let Some(heir) = heir {
            self.leave(heir);
            self.queues.replace(&mut self.places, index, heir);
        } else {
            self.leave(index);
            self.close(number);
        }
    }

    fn on_connected(&mut self, number: u32, now: Instant) {
        let Some(opener) = self.opener(number) else { return };
        let until = self.connecting_until(opener);
        if until < now {
            return self.connect_timed_out(opener, until, now);
        }
        let out = self.output.of::<H>(number);
        let is_ready = self.protocols[number as usize].begin(&self.common, out);
        let connection = self.places.connection_mut(number);
        (connection.link, connection.is_securing) = (Link::Greeting, false);
        (connection.has_served, connection.written) = (false, true);
        if H::MULTIPLEXED {
            self.send_output(number);
        }
        if is_ready {
            self.on_ready(number, now);
        }
    }

    /// Requests may be made on the connection.
    pub(super) fn on_ready(&mut self, number: u32, now: Instant) {
        let Some(opener) = self.opener(number) else { return };
        let until = self.connecting_until(opener);
        if H::MULTIPLEXED && until < now {
            return self.connect_timed_out(opener, until, now);
        }
        self.counters.connections_opened += 1;
        let in_window = now >= self.window.start && now < self.window.end;
        self.counters.connections_opened_in_window += u64::from(in_window);
        self.places.connection_mut(number).link = Link::Up;
        self.use_connection(opener, now);
        if H::MULTIPLEXED {
            for index in self.places.of(number) {
                let is_served = match self.places.exchange(index).state {
                    State::Awaiting | State::Down => true,
                    // Another was quicker with its request.
                    State::Pausing => self.schedule.is_some(),
                    _ => false,
                };
                if is_served {
                    self.use_connection(index, now);
                }
            }
            self.order_waiting(number);
        }
    }

    /// The exchange, which is in a queue, has a connection now.
    fn use_connection(&mut self, index: u32, now: Instant) {
        self.leave(index);
        let exchange = self.places.exchange_mut(index);
        if !exchange.has_request {
            return self.rest(index, now);
        }
        if !exchange.resent {
            exchange.ready = exchange.intended.max(now);
        }
        if H::MULTIPLEXED && self.has_waited(index) {
            return self.go_on_waiting(self.places.connection_of(index), index, now);
        }
        self.send(index, now);
    }

    /// The connection may send little more: what is out on it goes on, and what comes next goes out on another. One with room for
    /// one exchange stays open until that has something to send.
    #[cold]
    fn on_worn_out(&mut self, number: u32, now: Instant) {
        if !self.places.connection(number).is_up() {
            return;
        }
        if H::MULTIPLEXED {
            self.protocols[number as usize].retire();
            return self.go_on(number, now);
        }
        if self.places.exchange(number).is_out() {
            self.places.connection_mut(number).link = Link::WornOut;
        } else {
            self.lose_connection(number, now);
        }
    }

    /// The connection is lost before a request could be made on it.
    #[cold]
    pub(super) fn end_greeting(&mut self, number: u32, failure: ConnectFailure, now: Instant) {
        let Some(opener) = self.opener(number) else { return };
        let (failure, done) = self.first_failure(opener, failure, now);
        self.close(number);
        self.end_connecting(opener, failure, done, now);
    }

    fn on_connect_failed(&mut self, number: u32, failure: ConnectFailure, now: Instant) {
        let Some(opener) = self.opener(number) else { return };
        let (failure, done) = self.first_failure(opener, failure, now);
        self.end_connecting(opener, failure, done, now);
    }

    /// When the exchange, which is connecting, gives that up.
    pub(super) fn connecting_until(&self, index: u32) -> Instant {
        let of_load = self.config.timeouts.connect;
        let timeout = if P::SCRIPTED && !H::MULTIPLEXED {
            self.answers[index as usize].waits.connect.max(of_load)
        } else {
            of_load
        };
        self.places.exchange(index).since + timeout
    }

    /// What failed first and when: the connection, as is seen at `now`, or the time for it.
    fn first_failure(&self, index: u32, failure: ConnectFailure, now: Instant) -> (ConnectFailure, Instant) {
        let until = self.connecting_until(index);
        if until < now { (ConnectFailure::TimedOut, until) } else { (failure, now) }
    }

    /// Gives a connection up whose bound was `until`, whatever was found out of it since.
    pub(super) fn connect_timed_out(&mut self, opener: u32, until: Instant, now: Instant) {
        let number = self.places.connection_of(opener);
        self.close(number);
        self.end_connecting(opener, ConnectFailure::TimedOut, until, now);
    }

    /// There is no connection, and there was none until `done`.
    fn end_connecting(&mut self, opener: u32, failure: ConnectFailure, done: Instant, now: Instant) {
        let number = self.places.connection_of(opener);
        let connection = self.places.connection_mut(number);
        connection.link = Link::Down;
        let outcome = match failure {
            ConnectFailure::TimedOut if connection.is_securing => Outcome::TlsFailed(TlsFailure::TimedOut),
            failure => Outcome::unconnected(failure),
        };
        self.leave(opener);
        let had_request = self.places.exchange(opener).has_request;
        if had_request {
            self.finish_unconnected(opener, outcome, done);
        } else {
            self.counters.opening_failures += 1;
        }
        let mut others = core::mem::take(&mut self.loose);
        if H::MULTIPLEXED {
            let is_awaiting = |index: &u32| self.places.exchange(*index).state == State::Awaiting;
            others.extend(self.places.of(number).filter(is_awaiting));
            for &index in &others {
                self.leave(index);
                self.finish_unconnected(index, outcome, done);
            }
        }
        if had_request {
            self.go_on_without(opener, now);
        } else if self.comes_back(number) {
            self.enter(opener, State::Pausing, now);
        } else {
            self.rest_without_connection(opener, now);
        }
        for index in others.drain(..) {
            self.go_on_without(index, now);
        }
        self.loose = others;
    }

    /// Ends a request for want of a connection, of which there was none until `done`.
    fn finish_unconnected(&mut self, index: u32, outcome: Outcome, done: Instant) {
        // It may have begun to wait after that.
        let done = done.max(self.places.exchange(index).intended);
        let (outcome, done) =
            if H::MULTIPLEXED { self.end_of_resent(index, outcome, done) } else { (outcome, done) };
        self.finish_failed(index, outcome, done);
    }

    /// The exchange's request ended for want of a connection.
    fn go_on_without(&mut self, index: u32, now: Instant) {
        match self.config.load {
            Load::Closed { .. } | Load::Scripted { .. }
                if self.stage == Stage::Running && !self.has_made_all(index) =>
            {
                self.enter(index, State::Pausing, now);
            }
            _ => self.next_request(index, now),
        }
    }

    /// How long the exchange's request may take.
    #[inline]
    pub(super) fn request_timeout(&self, index: u32) -> Duration {
        let of_load = self.config.timeouts.request;
        if P::SCRIPTED { self.answers[index as usize].waits.request.max(of_load) } else { of_load }
    }

    /// When the exchange's request, if it was sent, is given up.
    pub(super) fn deadline(&self, index: u32) -> Option<Instant> {
        let exchange = self.places.exchange(index);
        exchange.is_out().then(|| exchange.since + self.request_timeout(index))
    }

    /// Ends requests if what is told of their connection at `now` came after their deadline: that it is told before the
    /// timeout is only the order within a turn. Where the kernel has said when it came that counts, and not when a
    /// generator that was held up looked. Whether what is told is over with that.
    #[cold]
    #[inline(never)]
    pub(super) fn is_too_late(&mut self, completion: &Completion<'_>, now: Instant) -> bool {
        let Completion { conn, event, arrived } = *completion;
        if self.places.line(conn).is_none() {
            return false;
        }
        let came = arrived.unwrap_or(now);
        let mut is_any_late = false;
        for index in self.places.of(conn.slot) {
            let Some(deadline) = self.deadline(index).filter(|deadline| *deadline < came) else { continue };
            let begun = self.places.exchange(index).answer_begun || H::MULTIPLEXED;
            let answer = &self.answers[index as usize];
            let before = if begun { answer.received_bytes } else { 0 };
            let first_byte = begun.then_some(answer.first_byte).filter(|it| *it <= deadline);
            let more = match event {
                _ if H::MULTIPLEXED => 0,
                Event::Received(bytes) => bytes.len() as u64,
                Event::Skipped(bytes) => bytes,
                _ => 0,
            };
            if self.wrong_answers.keeps() {
                self.wrong_answers.forget(index);
            }
            self.finish_request(index, Outcome::TimedOut, None, (before + more, first_byte), deadline);
            self.cancel(index, now);
            self.next_request(index, now);
            is_any_late = true;
        }
        if is_any_late {
            self.finish_if_done(now);
        }
        self.places.line(conn).is_none()
    }

    fn on_reset(&mut self, number: u32, now: Instant) {
        if self.opener(number).is_none() {
            return self.end_of_connection(number, Outcome::Reset, now);
        }
        self.end_greeting(number, ConnectFailure::Reset, now);
    }

    /// The connection is over, and so is what is out on it, with `outcome`.
    pub(super) fn end_of_connection(&mut self, number: u32, outcome: Outcome, now: Instant) {
        if !H::MULTIPLEXED {
            let is_in_flight = self.places.exchange(number).state == State::InFlight;
            if !is_in_flight || self.places.is_stale(number) {
                return self.lose_connection(number, now);
            }
        }
        self.fail(number, outcome, now);
    }

    /// Ends what is out on a connection with a failure, and the connection with it.
    pub(super) fn fail(&mut self, number: u32, outcome: Outcome, now: Instant) {
        if H::MULTIPLEXED {
            return self.lose_all(number, outcome, now);
        }
        self.finish_given_up(number, outcome, now);
        self.close(number);
        self.next_request(number, now);
    }

    /// Ends a request that is in flight without an answer.
    fn finish_given_up(&mut self, index: u32, outcome: Outcome, now: Instant) {
        let exchange = self.places.exchange_mut(index);
        if exchange.to_be_sent && !exchange.resent {
            // It was about to go out on a connection that never did anything, and is dated as if it had.
            exchange.since = now.max(exchange.ready);
        }
        let (outcome, done) =
            if H::MULTIPLEXED { self.end_of_resent(index, outcome, now) } else { (outcome, now) };
        self.finish_failed(index, outcome, done);
    }

    /// How a request ends that was not answered until `done`, and when: one that went out twice has the time of one.
    pub(super) fn end_of_resent(&self, index: u32, outcome: Outcome, done: Instant) -> (Outcome, Instant) {
        let exchange = self.places.exchange(index);
        let until = self.sent(index) + self.request_timeout(index);
        if exchange.resent && until < done { (Outcome::TimedOut, until) } else { (outcome, done) }
    }

    /// Ends one request that is in flight, whatever else is on its connection.
    pub(super) fn give_up(&mut self, index: u32, outcome: Outcome, now: Instant) {
        let was_out = self.places.exchange(index).is_out();
        self.finish_given_up(index, outcome, now);
        if !H::MULTIPLEXED || was_out {
            self.cancel(index, now);
        }
        self.next_request(index, now);
    }

    /// Nobody waits for the exchange's answer any more: its connection goes with it, unless its protocol can do without. One
    /// that carries others can't only where the server reads nothing, and then these have no answer to wait for.
    pub(super) fn cancel(&mut self, index: u32, now: Instant) {
        let (number, place) = (self.places.connection_of(index), self.places.place_of(index));
        let out = self.output.of::<H>(number);
        if self.protocols[number as usize].cancel(place, out) {
            self.go_on(number, now);
        } else if H::MULTIPLEXED {
            self.lose_all(number, Outcome::Malformed(Malformed::Unread), now);
        } else {
            self.close(number);
        }
    }

    /// Closes a connection of which an exchange that has ended has no more use.
    #[inline]
    pub(super) fn drop_connection(&mut self, number: u32, now: Instant) {
        if H::MULTIPLEXED { self.lose_all(number, Outcome::ClosedEarly, now) } else { self.close(number) }
    }

    /// Ends a connection that carries no request. One that was about to go out on it goes out on the next, as that
    /// of any client does that finds its connection gone.
    pub(super) fn lose_connection(&mut self, number: u32, now: Instant) {
        if H::MULTIPLEXED {
            return self.lose_all(number, Outcome::ClosedEarly, now);
        }
        self.close(number);
        let exchange = self.places.exchange_mut(number);
        match exchange.state {
            State::Free => {
                self.leave(number);
                self.rest_without_connection(number, now);
            }
            State::InFlight => {
                exchange.to_be_sent = false;
                self.connect(number, now);
            }
            _ => {}
        }
    }

    /// Ends a connection that has room for several: what is out on it ends with `outcome`, and what was about to go out
    /// goes out on the next, unless this one never did anything.
    #[cold]
    #[inline(never)]
    fn lose_all(&mut self, number: u32, outcome: Outcome, now: Instant) {
        self.close(number);
        let mut loose = core::mem::take(&mut self.loose);
        let has_served = self.places.connection(number).has_served;
        for index in self.places.of(number) {
            let exchange = self.places.exchange_mut(index);
            let goes_on = match exchange.state {
                State::InFlight if exchange.has_request => {
                    // A user has its own at once; one that is not out yet may go out on the next.
                    exchange.to_be_sent && has_served
                }
                State::Queued => has_served,
                State::Moving => true,
                _ => continue,
            };
            if exchange.state == State::InFlight {
                exchange.to_be_sent &= !goes_on;
            } else {
                exchange.to_be_sent = !goes_on;
                self.leave(index);
            }
            if !goes_on {
                self.finish_given_up(index, outcome, now);
            }
            loose.push(index);
        }
        for index in loose.drain(..) {
            if self.places.exchange(index).has_request {
                self.reach(index, now);
            } else {
                self.next_request(index, now);
            }
        }
        self.loose = loose;
        if self.comes_back(number) {
            self.open_lost(number, has_served, now);
        }
    }

    /// Whether a connection that is lost is opened again for nobody's request: requests that are due go out on those that are
    /// there, and a load would go on with ever fewer of them. Not where there is none left to make.
    fn comes_back(&self, number: u32) -> bool {
        let is_lost = self.places.connection(number).link == Link::Down;
        let is_needed = self.may_intend() || self.outstanding > 0;
        H::MULTIPLEXED && self.stage == Stage::Running && self.schedule.is_some() && is_lost && is_needed
    }

    /// Opens it again: at once, or after a pause where it never brought anything, so that a server that ends each is not flooded.
    #[cold]
    fn open_lost(&mut self, number: u32, at_once: bool, now: Instant) {
        let rests = |index: &u32| self.places.exchange(*index).state == State::Down;
        let Some(index) = self.places.of(number).find(rests) else { return };
        self.leave(index);
        if at_once {
            self.connect(index, now);
        } else {
            self.enter(index, State::Pausing, now);
        }
    }

    /// Connections that are not there when the load begins are tried again, as those are that are lost later.
    #[cold]
    pub(super) fn miss_what_is_down(&mut self, now: Instant) {
        for number in 0..self.places.connections() {
            if self.comes_back(number) {
                self.open_lost(number, false, now);
            }
        }
    }

    /// The pause of a lost connection is over.
    #[cold]
    pub(super) fn open_after_pause(&mut self, index: u32, now: Instant) {
        if self.comes_back(self.places.connection_of(index)) {
            self.connect(index, now);
        } else {
            self.rest(index, now);
        }
    }

    /// A connection takes no more requests, as its server says or since it has carried all that it can, and nothing is out on it.
    #[cold]
    #[inline(never)]
    pub(super) fn end_gone(&mut self, number: u32, now: Instant) {
        let by_server = self.protocols[number as usize].is_ended_by_peer();
        self.counters.connections_closed_by_server += u64::from(by_server);
        self.lose_all(number, Outcome::GoneAway, now);
    }

    /// The server has let nobody ask for too long, and owes no answer: what waits there goes on as where the server ends it.
    #[cold]
    #[inline(never)]
    pub(super) fn leave_unwilling(&mut self, number: u32, now: Instant) {
        self.lose_all(number, Outcome::GoneAway, now);
    }

    /// A connection was unused for as long as it may be: closes it, unless another exchange uses it or it is held at the gate.
    pub(super) fn idle(&mut self, index: u32, now: Instant) {
        let number = self.places.connection_of(index);
        let is_free = |index| self.places.exchange(index).state == State::Free;
        let is_unused = !H::MULTIPLEXED || self.places.of(number).all(is_free);
        if is_unused && self.stage != Stage::Ready {
            // One that nobody needed need not come back.
            return if H::MULTIPLEXED { self.close(number) } else { self.lose_connection(number, now) };
        }
        self.leave(index);
        self.enter(index, State::Free, now);
    }

    /// What is still open is closed.
    pub(super) fn close_all(&mut self) {
        for number in 0..self.places.connections() {
            self.close(number);
        }
    }

    /// Whether no exchange of a connection but `index` has anything to do on it, now or later; nor on those to other servers that
    /// the same users share.
    pub(super) fn is_last_user(&self, index: u32) -> bool {
        let rests = |other: u32| {
            matches!(self.places.exchange(other).state, State::Free | State::Down) || other == index
        };
        let mut shared = self.crowd.connections_beside(self.places.connection_of(index));
        !H::MULTIPLEXED || shared.all(|number| self.places.of(number).all(rests))
    }
}
