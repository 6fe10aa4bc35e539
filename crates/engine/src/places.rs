//! What the engine keeps of connections, and of the exchanges that have their places on them.
//!
//! An exchange is a user's request and its answer. Its number is that of its connection times the exchanges a connection
//! has room for, plus its place there. Where that is one, the two numbers are the same.

use alloc::boxed::Box;
use core::marker::PhantomData;
use core::num::NonZeroU32;

use http::{Protocol, RequestKind};
use units::Instant;

use crate::config::{Expect, Waits};
use crate::connection::Conn;

/// No exchange. Their numbers stay below it.
pub(crate) const NO_EXCHANGE: u32 = u32::MAX;

/// Where an exchange stands. It is in the queue of its state and in no other; in flight it is in none, since every request
/// goes there (see [`crate::queue`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// No connection, no request.
    Down,
    /// It opens its connection; the bound is the connect timeout.
    Connecting,
    /// It has a request, and another exchange opens their connection.
    Awaiting,
    /// Connected, without a request; its bound is the idle timeout.
    Free,
    /// A request is out; its bound is the request timeout, which [`crate::timers`] keeps.
    InFlight,
    /// A closed-model user thinks; the connection may be up.
    Thinking,
    /// A closed-model user pauses after a failed connection. In the open model: its connection was lost, and is opened again
    /// after the pause.
    Pausing,
    /// A closed-model user's first request is due at `since`, which lies ahead.
    Ramping,
    /// A scripted user pauses, and when it is asked again is among the wakes; or it waits to be released.
    Waiting,
    /// It has a request, and its connection takes no more of them for now.
    Queued,
    /// Its connection ends without a look at its request, which goes out again on the next.
    Moving,
}

impl State {
    pub(crate) const COUNT: usize = 11;
}

/// A user, its request, and where that stands.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own, and none excludes another")]
pub(crate) struct Exchange {
    pub(crate) intended: Instant,
    pub(crate) ready: Instant,
    /// When it came into its state, which is what the state's bound counts from. Of a request in flight: when it was sent.
    pub(crate) since: Instant,
    /// Requests this user was given, where their number is bounded.
    pub(crate) made: u32,
    pub(crate) previous: u32,
    pub(crate) next: u32,
    pub(crate) state: State,
    pub(crate) has_request: bool,
    /// Whether the request in flight has yet to be polled.
    pub(crate) to_be_sent: bool,
    /// Whether a part of the answer came and is kept in the [`Answer`].
    pub(crate) answer_begun: bool,
    /// Whether it is among the timers.
    pub(crate) has_timer: bool,
    /// Whether its request goes out for the second time, and is dated by the first.
    pub(crate) resent: bool,
}

impl Exchange {
    const fn new() -> Self {
        Self {
            intended: Instant::ORIGIN,
            ready: Instant::ORIGIN,
            since: Instant::ORIGIN,
            made: 0,
            previous: NO_EXCHANGE,
            next: NO_EXCHANGE,
            state: State::Down,
            has_request: false,
            to_be_sent: false,
            answer_begun: false,
            has_timer: false,
            resent: false,
        }
    }

    /// Whether its request has gone out and is not answered.
    #[inline]
    pub(crate) fn is_out(&self) -> bool {
        self.state == State::InFlight && !self.to_be_sent
    }
}

/// Whether there is a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    Down,
    /// It is being opened.
    Opening,
    /// It is open, and its protocol has yet to begin.
    Greeting,
    Up,
    /// Up for the request that is out on it, and for none behind that. Where it has room for one exchange.
    WornOut,
}

/// A connection as the engine knows it, apart from the exchanges on it.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own, and none excludes another")]
pub(crate) struct Connection {
    pub(crate) generation: u32,
    pub(crate) link: Link,
    /// Whether it is there and its handshake is not over, while it is being opened.
    pub(crate) is_securing: bool,
    /// Whether it has brought an answer.
    pub(crate) has_served: bool,
    /// Whether all that was sent on it is written.
    pub(crate) written: bool,
    /// Whether it is among those that have something to send, where connections have room for several exchanges.
    pub(crate) queued: bool,
}

impl Connection {
    const fn new() -> Self {
        Self {
            generation: 0,
            link: Link::Down,
            is_securing: false,
            has_served: false,
            written: true,
            queued: false,
        }
    }

    /// Whether anything can be sent on it.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.link, Link::Greeting | Link::Up)
    }

    #[inline]
    pub(crate) fn is_up(&self) -> bool {
        self.link == Link::Up
    }
}

/// A connection, and its exchange where it has room for one: all that the usual request touches, in one cache line.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Line {
    pub(crate) connection: Connection,
    pub(crate) exchange: Exchange,
}

const _: () = assert!(size_of::<Line>() == 64);

/// All connections and exchanges of a load.
#[derive(Debug)]
pub(crate) struct Places<H> {
    lines: Box<[Line]>,
    /// Where connections have room for several: the exchanges, those of one connection together.
    shared: Box<[Exchange]>,
    /// Exchanges that a connection has room for. Not 0, which would be looked for at each division.
    room: NonZeroU32,
    protocol: PhantomData<H>,
}

impl<H: Protocol> Places<H> {
    /// Of so many connections with room for so many exchanges each.
    ///
    /// # Panics
    /// If there are more than can be numbered, or no room at all.
    pub(crate) fn new(connections: u32, room: u32) -> Self {
        let line = |_| Line { connection: Connection::new(), exchange: Exchange::new() };
        let all = connections.checked_mul(room).filter(|all| *all < NO_EXCHANGE);
        let all = all.expect("exchanges are numbered in 32 bits");
        let shared = if H::MULTIPLEXED { all } else { 0 };
        let room = NonZeroU32::new(room).expect("a connection has room for an exchange");
        Self {
            lines: (0..connections).map(line).collect(),
            shared: (0..shared).map(|_| Exchange::new()).collect(),
            room,
            protocol: PhantomData,
        }
    }

    /// How many connections there are.
    pub(crate) fn connections(&self) -> u32 {
        self.lines.len() as u32
    }

    /// How many exchanges there are.
    pub(crate) fn exchanges(&self) -> u32 {
        self.connections() * if H::MULTIPLEXED { self.room.get() } else { 1 }
    }

    /// The number of the connection that exchange `index` has its place on.
    #[inline]
    pub(crate) fn connection_of(&self, index: u32) -> u32 {
        if H::MULTIPLEXED { index / self.room } else { index }
    }

    /// The place of exchange `index` on its connection.
    #[inline]
    pub(crate) fn place_of(&self, index: u32) -> u32 {
        if H::MULTIPLEXED { index % self.room } else { 0 }
    }

    /// The exchanges of connection `number`.
    #[inline]
    pub(crate) fn of(&self, number: u32) -> core::ops::Range<u32> {
        let room = if H::MULTIPLEXED { self.room.get() } else { 1 };
        number * room..(number + 1) * room
    }

    /// A connection in the life that is meant, if there is one, with its exchange where it has room for one.
    #[inline]
    pub(crate) fn line(&self, conn: Conn) -> Option<&Line> {
        self.lines.get(conn.slot as usize).filter(|line| line.connection.generation == conn.generation)
    }

    /// A connection in the life that is meant, if there is one.
    #[inline]
    pub(crate) fn connection_of_life(&mut self, conn: Conn) -> Option<&mut Connection> {
        let line = self.lines.get_mut(conn.slot as usize)?;
        (line.connection.generation == conn.generation).then_some(&mut line.connection)
    }

    #[inline]
    pub(crate) fn connection(&self, number: u32) -> &Connection {
        &self.lines[number as usize].connection
    }

    #[inline]
    pub(crate) fn connection_mut(&mut self, number: u32) -> &mut Connection {
        &mut self.lines[number as usize].connection
    }

    #[inline]
    pub(crate) fn exchange(&self, index: u32) -> &Exchange {
        if H::MULTIPLEXED { &self.shared[index as usize] } else { &self.lines[index as usize].exchange }
    }

    #[inline]
    pub(crate) fn exchange_mut(&mut self, index: u32) -> &mut Exchange {
        if H::MULTIPLEXED {
            &mut self.shared[index as usize]
        } else {
            &mut self.lines[index as usize].exchange
        }
    }

    /// Exchange `index` and its connection.
    #[inline]
    pub(crate) fn both_mut(&mut self, index: u32) -> (&mut Exchange, &mut Connection) {
        let number = self.connection_of(index);
        let Line { connection, exchange } = &mut self.lines[number as usize];
        (if H::MULTIPLEXED { &mut self.shared[index as usize] } else { exchange }, connection)
    }

    /// Whether the exchange's request can find its connection gone without a loss: the connection has served before, and
    /// the request is still to go out.
    pub(crate) fn is_stale(&self, index: u32) -> bool {
        self.exchange(index).to_be_sent && self.connection(self.connection_of(index)).has_served
    }
}

/// What came of an answer that did not come as a whole. One for each exchange, apart from it: few answers need one.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Body bytes seen so far; stops counting at the first that differs from the expected ones.
    pub(crate) body_bytes: u64,
    pub(crate) body_matches: bool,
    /// Heads included. Where a connection has room for several: those of the body.
    pub(crate) received_bytes: u64,
    /// When its first bytes were read; the far future before that, where connections are shared.
    pub(crate) first_byte: Instant,
    /// Of a scripted request: whether its answer has a body.
    pub(crate) kind: RequestKind,
    /// Of a scripted user: which server its connection goes to.
    pub(crate) target: u32,
    /// Of a request that goes out for the second time: when it did so first. Its exchange comes into other states meanwhile.
    pub(crate) first_sent: Instant,
    /// Of a request that waits for room, or did on a connection that is no more: since when. The far future of others.
    pub(crate) waits_since: Instant,
    /// Of a scripted request: how long to wait for it.
    pub(crate) waits: Waits,
    /// Whether the opening of a scripted user's own connection is among the timers.
    pub(crate) opening_timed: bool,
}

impl Answer {
    pub(crate) const fn new() -> Self {
        Self {
            body_bytes: 0,
            body_matches: true,
            received_bytes: 0,
            first_byte: Instant::ORIGIN,
            kind: RequestKind::Ordinary,
            target: 0,
            first_sent: Instant::ORIGIN,
            waits_since: Instant::FAR_FUTURE,
            waits: Waits::OF_LOAD,
            opening_timed: false,
        }
    }

    /// Makes ready for the next answer, whose first bytes were read then.
    #[inline]
    pub(crate) fn begin(&mut self, first_byte: Instant) {
        (self.body_bytes, self.body_matches, self.received_bytes) = (0, true, 0);
        self.first_byte = first_byte;
    }

    /// Whether what was received is the body that was expected.
    #[inline]
    pub(crate) fn has_body(&self, expect: &Expect) -> bool {
        let whole = expect.body.as_ref().is_none_or(|body| self.body_bytes == body.len() as u64);
        self.body_matches && whole
    }
}

/// Compares the next piece of a body with the expected one, in place and without copying.
pub(crate) fn check_body(expected: &[u8], seen_bytes: &mut u64, matches: &mut bool, piece: &[u8]) {
    let at = usize::try_from(*seen_bytes).unwrap_or(usize::MAX);
    let same = at.checked_add(piece.len()).and_then(|end| expected.get(at..end)) == Some(piece);
    *matches &= same;
    *seen_bytes = seen_bytes.saturating_add(piece.len() as u64);
}
