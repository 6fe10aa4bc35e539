//! What became of a request.

use http::Malformed;
use units::{Duration, Instant};

use crate::connection::ConnectFailure;
use crate::tls::TlsFailure;

/// The measured window, `[start, end)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The end of the warm-up.
    pub start: Instant,
    /// The deadline; [`Instant::FAR_FUTURE`] while only a request count bounds the load. Such a load ends with the last answer, or
    /// at a rate when the next request would be due, if that is later.
    pub end: Instant,
}

/// How a request ended. Exactly one for every intended request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The whole answer came.
    Answered {
        /// Its status.
        status: u16,
        /// Whether status and body were the expected ones: only then it counts as goodput.
        expected: bool,
    },
    /// No whole answer within the request timeout.
    TimedOut,
    /// There was no connection to send it on.
    ConnectFailed(ConnectFailure),
    /// There was one, and its handshake came to nothing.
    TlsFailed(TlsFailure),
    /// The connection was reset, before or within the answer.
    Reset,
    /// The server closed the connection before the answer was whole.
    ClosedEarly,
    /// What came was not an answer.
    Malformed(Malformed),
    /// The server did nothing for it and said so (HTTP/2's REFUSED_STREAM): it had too much to do.
    RefusedStream,
    /// The server broke it off, and the connection went on (HTTP/2's RST_STREAM, with its code).
    StreamReset(u32),
    /// The server ended the connection without a look at it (HTTP/2's GOAWAY), and did so again with the next, or
    /// before it was sent at all.
    GoneAway,
    /// It was due and had not been sent when the load ended.
    Unsent,
    /// It was due and dropped at once: as many as may wait for a connection were waiting.
    BacklogOverflow,
    /// It was sent, and the run ended before its answer or its timeout: only after an interruption, or
    /// where the drain was shorter than the timeout.
    InFlight,
}

impl Outcome {
    /// The name in records and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Answered { .. } => "answered",
            Self::TimedOut => "timed_out",
            Self::ConnectFailed(_) => "connect_failed",
            Self::TlsFailed(_) => "tls_failed",
            Self::Reset => "reset",
            Self::ClosedEarly => "closed_early",
            Self::Malformed(_) => "malformed",
            Self::RefusedStream => "refused_stream",
            Self::StreamReset(_) => "stream_reset",
            Self::GoneAway => "gone_away",
            Self::Unsent => "unsent",
            Self::BacklogOverflow => "backlog_overflow",
            Self::InFlight => "in_flight",
        }
    }

    /// What becomes of a request for want of a connection.
    pub(crate) const fn unconnected(failure: ConnectFailure) -> Self {
        match failure {
            ConnectFailure::Tls(failure) => Self::TlsFailed(failure),
            failure => Self::ConnectFailed(failure),
        }
    }

    /// Whether an answer came, good or bad. Every other request's times are censored: its answer, had it
    /// ever come, would have taken longer than the request lived.
    pub const fn is_answered(self) -> bool {
        matches!(self, Self::Answered { .. })
    }
}

/// A finished request, with the instants everything else is computed from.
///
/// `intended ≤ ready ≤ sent ≤ done` for a request that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// When the schedule wanted it to start.
    pub intended: Instant,
    /// When it was due *and* had a connection to go out on. `sent − ready` is the generator's own
    /// lateness; `ready − intended` is the wait for a connection, which is the server's doing.
    pub ready: Instant,
    /// When its first byte was handed to the kernel; `None` if that never happened.
    pub sent: Option<Instant>,
    /// When its last byte, its failure or its bound was seen.
    pub done: Instant,
    /// When the first byte of its answer was read: with the last one, unless it came in parts. Where a connection has room for
    /// several: when the first head of it was whole. `None` where none came.
    pub first_byte: Option<Instant>,
    /// When the kernel had the answer's last byte, where it was asked; never after `done`.
    pub arrived: Option<Instant>,
    /// How it ended.
    pub outcome: Outcome,
    /// Bytes received for it, heads included.
    pub received_bytes: u64,
    /// Whether it was intended within the measured window: outcomes and distributions count these.
    pub due_in_window: bool,
    /// Whether it was done within the measured window: rates count these.
    pub done_in_window: bool,
}

impl Sample {
    /// What a user waited: done − intended.
    pub fn response_time(&self) -> Duration {
        self.done.since(self.intended)
    }

    /// What the server took: done − sent. `None` if it was never sent.
    pub fn service_time(&self) -> Option<Duration> {
        self.sent.map(|sent| self.done.since(sent))
    }

    /// What the server took until it began to answer: first byte − sent. `None` where that is not known.
    pub fn time_to_first_byte(&self) -> Option<Duration> {
        Some(self.first_byte?.since(self.sent?))
    }

    /// How late it was sent: sent − intended. `None` if it was never sent.
    pub fn lag(&self) -> Option<Duration> {
        self.sent.map(|sent| sent.since(self.intended))
    }

    /// The part of the lag that is the generator's own fault: sent − ready. `None` if never sent.
    pub fn generator_lag(&self) -> Option<Duration> {
        self.sent.map(|sent| sent.since(self.ready))
    }

    /// How long the answer lay in the generator's own socket: done − arrived. `None` where the kernel was not asked.
    /// It is part of the service time, and not the server's. The kernel stamps by a clock that can be set meanwhile: no answer
    /// came before its request went out.
    pub fn receive_lag(&self) -> Option<Duration> {
        self.arrived.map(|arrived| self.done.since(arrived.max(self.sent.unwrap_or(arrived))))
    }
}

/// Where finished requests go. Called on the load's own thread: it must be quick and must not block.
pub trait Sink {
    /// One finished request.
    fn record(&mut self, sample: &Sample);

    /// So many finished requests that are alike, but for less than a thousandth of their times. A sink that can take them
    /// in at once should: there may be thousands of millions of them.
    fn record_many(&mut self, sample: &Sample, count: u64) {
        for _ in 0..count {
            self.record(sample);
        }
    }

    /// Time passes; called once a turn of the loop and at least ten times a second.
    fn tick(&mut self, now: Instant, window: Window) {
        let _ = (now, window);
    }
}

impl<F: FnMut(&Sample)> Sink for F {
    fn record(&mut self, sample: &Sample) {
        self(sample);
    }
}
