//! The words between the engine and whoever does its IO.

use alloc::sync::Arc;

use units::Instant;

use crate::tls::TlsFailure;

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
    /// It is there and is being secured: [`Event::Connected`] or [`Event::ConnectFailed`] follows.
    Securing,
    /// The request's last byte was handed to the kernel.
    Sent,
    /// The connection may soon send nothing more, as its keys are good for so much and no more: it goes on for what is out on
    /// it, and is to carry nothing new.
    WornOut,
    /// Bytes arrived, in order; never empty.
    Received(&'a [u8]),
    /// Bytes arrived and were thrown away, as [`crate::Io::skip`] allowed; in order with the others, never none. More than
    /// it allowed came unasked.
    Skipped(u64),
    /// The server closed its side.
    PeerClosed,
    /// The server's side ended as it must not: what only an end makes whole is not whole.
    CutOff,
    /// The connection broke: a reset, or an error of the kernel. No answer can come any more.
    Reset,
}

/// Bytes to be sent, and whose they are.
#[derive(Debug, Clone, Copy)]
pub enum Outgoing<'a> {
    /// The same bytes for all connections, again and again: who has to keep them holds on to them and copies nothing.
    Shared(&'a Arc<[u8]>),
    /// Bytes of this connection, which may be others the next time.
    Own(&'a [u8]),
}

impl Outgoing<'_> {
    /// The bytes, whosever they are.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Shared(bytes) => bytes,
            Self::Own(bytes) => bytes,
        }
    }
}

/// What is known of a send at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sending {
    /// The kernel has all of it: [`Event::Sent`].
    Done,
    /// It is under way, and what comes of it will be reported.
    UnderWay,
    /// The connection is broken: [`Event::Reset`].
    Broken,
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
    /// The accept queue of a socket of this machine was full (EAGAIN).
    QueueFull,
    /// Reset while connecting (ECONNRESET).
    Reset,
    /// It was there, and its handshake came to nothing.
    Tls(TlsFailure),
    /// Anything else.
    Other,
    /// The proxy on the way opened no tunnel.
    ProxyRefused,
    /// What the proxy on the way answered was not what it is to speak.
    ProxyMalformed,
    /// The server closed it before the protocol that was asked for had begun.
    Closed,
    /// What came first was not of the protocol that was asked for.
    OtherProtocol,
}

impl ConnectFailure {
    /// All but those of TLS.
    pub const PLAIN: &[Self] = &[
        Self::Refused,
        Self::TimedOut,
        Self::Unreachable,
        Self::NoFreePort,
        Self::NoFreeDescriptor,
        Self::QueueFull,
        Self::Reset,
        Self::Other,
        Self::ProxyRefused,
        Self::ProxyMalformed,
        Self::Closed,
        Self::OtherProtocol,
    ];

    /// The name in records and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::TimedOut => "timed_out",
            Self::Unreachable => "unreachable",
            Self::NoFreePort => "no_free_port",
            Self::NoFreeDescriptor => "no_free_descriptor",
            Self::QueueFull => "queue_full",
            Self::Reset => "reset",
            Self::Tls(failure) => failure.name(),
            Self::Other => "other",
            Self::ProxyRefused => "proxy_refused",
            Self::ProxyMalformed => "proxy_malformed",
            Self::Closed => "closed",
            Self::OtherProtocol => "other_protocol",
        }
    }
}
