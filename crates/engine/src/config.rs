//! What an engine is asked to do. Every value is valid by construction or by its type; nothing in here is
//! "ignored when" something else is set.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::num::{NonZeroU32, NonZeroU64};

use http::{Limits, RequestKind};
use units::{Duration, Rate, Seed};

/// One load, for one engine (one thread).
#[derive(Debug, Clone)]
pub struct Config {
    /// Connections held at most; in the closed model each has as many users as it has room for exchanges.
    pub connections: NonZeroU32,
    /// When requests are due.
    pub load: Load,
    /// When to stop.
    pub stop: Stop,
    /// Load before the measured window opens. Requests due in it are made and not counted.
    pub warm_up: Duration,
    /// When the warm-up begins, or the window where there is none.
    pub begin: Begin,
    /// How long to wait for what.
    pub timeouts: Timeouts,
    /// Whether a connection serves one request or many.
    pub reuse: Reuse,
    /// What is sent.
    pub request: Request,
    /// What a good answer looks like.
    pub expect: Expect,
    /// How many of the first answers that are not good ones are kept as they came, where all requests are the same.
    pub keep_wrong: u32,
    /// Bounds of the response parser.
    pub limits: Limits,
    /// Seed of the arrival process.
    pub seed: Seed,
    /// Which part of a load shared among several engines this one carries.
    pub share: Share,
    /// Requests that all shares make together, where a number of them ends the load: it lasts until the next of all would be
    /// due. Where nobody says so, until the next of this share would be.
    pub requests_of_all: Option<NonZeroU64>,
}

/// When a load whose connections are open begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Begin {
    /// At once.
    #[default]
    WhenOpen,
    /// At the instant that [`crate::Engine::begin`] tells: until then connections are held open and nothing is due. So the
    /// shares of one load begin together.
    WhenTold,
}

/// When requests are due.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Load {
    /// Every connection is a user who sends the next request when the last answer came, after thinking.
    Closed {
        /// Pause between an answer and the next request.
        think: Duration,
        /// When each user makes the first.
        start: UserStart,
        /// Requests each user makes, the failed ones included; then its connection is closed. Once all
        /// users have made theirs, the load ends.
        requests_per_user: Option<NonZeroU32>,
    },
    /// Requests are due at a rate, whether or not earlier ones were answered. Whoever is free sends them;
    /// late ones wait and keep their intended instant.
    Open {
        /// The arrival process of the whole load (all shares together).
        arrivals: Arrivals,
        /// How many due requests may wait for a connection of this engine. A request due beyond it is dropped at once, and
        /// its outcome is `backlog_overflow`.
        backlog_max: NonZeroU32,
    },
    /// Each user does what a [`crate::Script`] says.
    Scripted {
        /// How many there are. Where a connection has room for one exchange each has its own; else they share connections, as
        /// many as there is room for, and each server that they go to has as many connections as the others.
        users: NonZeroU32,
    },
}

impl Load {
    /// As many users as there are connections: they start with the warm-up, do not think, and go on until
    /// the load ends.
    pub const SATURATING: Self =
        Self::Closed { think: Duration::ZERO, start: UserStart::WithWarmUp, requests_per_user: None };

    /// Default bound of the backlog: 8 MiB of waiting instants.
    pub const BACKLOG_MAX_DEFAULT: NonZeroU32 = NonZeroU32::new(1 << 20).unwrap();
}

/// How the users of a closed model start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserStart {
    /// All connections are opened before anything is due, and first requests are spread over the warm-up.
    WithWarmUp,
    /// One after another: user `i` of `users` starts at start + `span` · `i` / `users` and connects then, so
    /// that set-up is part of its first response time. Several shares deal the users out in turn.
    RampUp {
        /// From the start of the load to the instant at which one more user would start.
        span: Duration,
        /// Users of the whole load (all shares together).
        users: NonZeroU32,
    },
}

/// An arrival process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Arrivals {
    /// One request every 1 / rate.
    Constant(Rate),
    /// Independent users: exponential gaps with mean 1 / rate.
    Poisson(Rate),
    /// So many at once, every `size` / rate.
    Bursts {
        /// Of all requests.
        rate: Rate,
        /// Requests that are due at once.
        size: NonZeroU32,
    },
}

impl Arrivals {
    /// Requests a second.
    pub const fn rate(self) -> Rate {
        match self {
            Self::Constant(rate) | Self::Poisson(rate) | Self::Bursts { rate, .. } => rate,
        }
    }
}

/// When a load ends: after `duration` of measured load, or once `requests` were made and are answered, whichever is first. At a
/// rate the last of these has its gap as all others have: it ends no sooner than the next one would be due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// Length of the measured window. [`Duration::MAX`] leaves the request count as the only bound.
    pub duration: Duration,
    /// Requests made in all by this engine, those of the warm-up included.
    pub requests: Option<NonZeroU64>,
}

/// How long to wait before giving up. Of requests that may wait for different times ([`Waits`]): the shortest of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// From the start of a connection attempt.
    pub connect: Duration,
    /// From the first byte sent of a request to the last byte of its answer.
    pub request: Duration,
    /// A connection unused for this long is closed by us; `MAX` never.
    pub idle: Duration,
    /// After the deadline, how long requests that have begun may still be answered. What is then still out is `in_flight`, and
    /// what still waits to go out is `unsent`, both censored. Where all are out by the deadline, no more than the longest that one
    /// may take is needed.
    pub drain: Duration,
}

/// How long to wait for one request, where that is longer than [`Timeouts`] have it for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waits {
    /// As [`Timeouts::connect`]. Where users share connections, that of all holds.
    pub connect: Duration,
    /// As [`Timeouts::request`].
    pub request: Duration,
}

impl Waits {
    /// As long as for all.
    pub const OF_LOAD: Self = Self { connect: Duration::ZERO, request: Duration::ZERO };
}

/// Whether a connection is used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    /// As long as the server keeps it.
    KeepAlive,
    /// A new connection for each request; its set-up is part of the response time.
    FreshConnection,
}

/// The request that is sent, encoded once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The bytes on the wire, which all connections share.
    pub bytes: Arc<[u8]>,
    /// Whether its answer has a body (an answer to HEAD has none).
    pub kind: RequestKind,
}

/// What counts towards goodput.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expect {
    /// The statuses that are good ones.
    pub status: GoodStatus,
    /// The decoded body, compared byte by byte as it arrives; `None` takes any.
    pub body: Option<Box<[u8]>>,
}

impl Expect {
    /// Whether `status` is a good one.
    pub fn takes_status(&self, status: u16) -> bool {
        match self.status {
            GoodStatus::Success => (200..300).contains(&status),
            GoodStatus::NoError => (200..400).contains(&status),
            GoodStatus::Only(expected) => expected == status,
        }
    }
}

/// Which statuses are good ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GoodStatus {
    /// Any from 200 to 299. A redirect is none: the work that was asked for is done elsewhere, and nobody goes there.
    #[default]
    Success,
    /// Any from 200 to 399: where whoever asks takes redirects for answers, or follows them.
    NoError,
    /// One alone.
    Only(u16),
}

/// Part `index` of `of` equal parts. Constant arrivals are dealt out in turn, so that all parts together
/// keep the exact schedule; Poisson arrivals are thinned, which is exact as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// From 0.
    pub index: u32,
    /// How many parts there are.
    pub of: NonZeroU32,
}

impl Share {
    /// The whole load.
    pub const WHOLE: Self = Self { index: 0, of: NonZeroU32::MIN };

    /// This part of the part `outer`, as a part of the whole: shares of shares are dealt out as exactly as shares, whether
    /// or not all outer ones are parted alike.
    ///
    /// # Panics
    /// If there are more parts in all than can be numbered.
    #[must_use]
    pub fn within(self, outer: Self) -> Self {
        let of = outer.of.checked_mul(self.of).expect("parts are numbered in 32 bits");
        Self { index: outer.index + outer.of.get() * self.index, of }
    }

    /// This part of `total` dealt out as evenly as whole numbers allow.
    pub fn part_of(self, total: u64) -> u64 {
        let of = u64::from(self.of.get());
        total / of + u64::from(u64::from(self.index) < total % of)
    }
}
