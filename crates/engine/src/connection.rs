//! The words between the engine and whoever does its IO, and what the engine keeps of one connection.

use alloc::sync::Arc;

use http::{RequestKind, ResponseParser};
use units::Instant;

use crate::config::Expect;

/// No slot. Slot numbers stay below it because connections are limited to `u32::MAX − 1`.
pub(crate) const NO_SLOT: u32 = u32::MAX;

/// One life of one connection slot. A completion that carries the generation of an earlier life is
/// ignored, so a driver may report late without harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Conn {
    /// Which slot, from 0 to `connections − 1`.
    pub slot: u32,
    /// Which life of it.
    pub generation: u32,
}

/// What the engine wants done. There is no `Recv`: a connection receives from `Connect` to `Close`, which
/// is what both a registered epoll descriptor and a multishot io_uring receive do at no cost a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Open a connection, to [`crate::Engine::target`]. Completed by [`Event::Connected`] or [`Event::ConnectFailed`].
    Connect(Conn),
    /// Send [`crate::Engine::outgoing`], all of it, now: `sent` has been stamped. Completed by [`Event::Sent`].
    Send(Conn),
    /// Close and forget. Not completed; nothing more may be reported for this `Conn`.
    Close(Conn),
}

/// What happened on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// The connection is up.
    Connected,
    /// It isn't, and won't be.
    ConnectFailed(ConnectFailure),
    /// The request's last byte was handed to the kernel.
    Sent,
    /// Bytes arrived, in order; never empty.
    Received(&'a [u8]),
    /// Bytes arrived and were thrown away, as [`crate::Io::skip`] allowed; in order with the others, never none. More than
    /// it allowed came unasked.
    Skipped(u64),
    /// The server closed its side.
    PeerClosed,
    /// The connection broke: a reset, or an error of the kernel. No answer can come any more.
    Reset,
}

/// What is sent.
#[derive(Debug, Clone, Copy)]
pub enum Outgoing<'a> {
    /// The same bytes for all connections, again and again: who has to keep them holds on to them and copies nothing.
    Shared(&'a Arc<[u8]>),
    /// Bytes of this connection, which may be others the next time.
    Own(&'a [u8]),
}

impl Outgoing<'_> {
    /// The bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Shared(bytes) => bytes,
            Self::Own(bytes) => bytes,
        }
    }
}

/// Something that happened, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion<'a> {
    /// On which connection.
    pub conn: Conn,
    /// Bytes received are lent until the IO is used again.
    pub event: Event<'a>,
    /// When the kernel had the last of the bytes received, where it was asked. Not after the instant at which they
    /// were seen.
    pub arrived: Option<Instant>,
}

/// Why there is no connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConnectFailure {
    /// Nobody listens (ECONNREFUSED).
    Refused,
    /// Not within the connect timeout.
    TimedOut,
    /// No route (ENETUNREACH, EHOSTUNREACH).
    Unreachable,
    /// No free source port (EADDRNOTAVAIL): port exhaustion.
    NoFreePort,
    /// No free descriptor (EMFILE, ENFILE).
    NoFreeDescriptor,
    /// Reset while connecting (ECONNRESET).
    Reset,
    /// Anything else.
    Other,
}

impl ConnectFailure {
    /// All kinds, in the order of their discriminants.
    pub const ALL: [Self; 7] = [
        Self::Refused,
        Self::TimedOut,
        Self::Unreachable,
        Self::NoFreePort,
        Self::NoFreeDescriptor,
        Self::Reset,
        Self::Other,
    ];

    /// The name in records and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::TimedOut => "timed_out",
            Self::Unreachable => "unreachable",
            Self::NoFreePort => "no_free_port",
            Self::NoFreeDescriptor => "no_free_descriptor",
            Self::Reset => "reset",
            Self::Other => "other",
        }
    }
}

/// Where a slot stands. A slot is in the queue of its state and in no other; in flight it is in none, since every request
/// goes there (see [`crate::queue`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// No connection, no request.
    Down,
    /// A connection is being opened; its bound is the connect timeout.
    Connecting,
    /// Connected, without a request; its bound is the idle timeout.
    Free,
    /// A request is out; its bound is the request timeout, which [`crate::timers`] keeps.
    InFlight,
    /// A closed-model user thinks; the connection may be up.
    Thinking,
    /// A closed-model user pauses after a failed connection.
    Pausing,
    /// A closed-model user's first request is due at `since`, which lies ahead.
    Ramping,
    /// A scripted user pauses; when it is asked again is among the wakes.
    Waiting,
}

impl State {
    pub(crate) const COUNT: usize = 8;
}

/// One connection slot and the request it carries: all that the usual request touches, in one cache line.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Slot {
    pub(crate) intended: Instant,
    pub(crate) ready: Instant,
    /// When the slot came into its state, which is what the state's bound counts from. Of a request in flight: when
    /// it was sent.
    pub(crate) since: Instant,
    pub(crate) generation: u32,
    /// Requests this user was given, where their number is bounded.
    pub(crate) made: u32,
    pub(crate) previous: u32,
    pub(crate) next: u32,
    pub(crate) state: State,
    pub(crate) connected: bool,
    pub(crate) has_request: bool,
    /// Whether the request in flight has yet to be polled.
    pub(crate) to_be_sent: bool,
    /// Whether the connection has brought an answer.
    pub(crate) has_served: bool,
    pub(crate) request_written: bool,
    /// Whether a part of the answer came and is kept in the slot's [`Answer`].
    pub(crate) answer_begun: bool,
    /// Whether the slot is among the timers.
    pub(crate) has_timer: bool,
}

const _: () = assert!(size_of::<Slot>() == 64);

impl Slot {
    pub(crate) const fn new() -> Self {
        Self {
            intended: Instant::ORIGIN,
            ready: Instant::ORIGIN,
            since: Instant::ORIGIN,
            generation: 0,
            made: 0,
            previous: NO_SLOT,
            next: NO_SLOT,
            state: State::Down,
            connected: false,
            has_request: false,
            to_be_sent: false,
            has_served: false,
            request_written: false,
            answer_begun: false,
            has_timer: false,
        }
    }

    /// Whether the connection can be found gone without a loss: it has served before, and the next request is still
    /// to go out.
    pub(crate) const fn is_stale(&self) -> bool {
        self.to_be_sent && self.has_served
    }
}

/// What came of an answer that did not come as a whole. One for each slot, apart from it: few answers need one.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) parser: ResponseParser,
    /// Body bytes seen so far; stops counting at the first that differs from the expected ones.
    pub(crate) body_bytes: u64,
    pub(crate) body_matches: bool,
    /// Heads included.
    pub(crate) received_bytes: u64,
    /// Of a scripted request: whether its answer has a body.
    pub(crate) kind: RequestKind,
    /// Of a scripted user: which server its connection goes to.
    pub(crate) target: u32,
}

impl Answer {
    pub(crate) const fn new() -> Self {
        Self {
            parser: ResponseParser::new(),
            body_bytes: 0,
            body_matches: true,
            received_bytes: 0,
            kind: RequestKind::Ordinary,
            target: 0,
        }
    }

    /// Makes ready for the answer to a request of `kind`.
    pub(crate) fn begin(&mut self, kind: RequestKind) {
        self.parser.begin(kind);
        (self.body_bytes, self.body_matches, self.received_bytes) = (0, true, 0);
    }

    /// Whether what was received is the body that was expected.
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
