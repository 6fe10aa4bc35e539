//! What exactly an endpoint answers, before any load: so that stacks are compared at the same work.

use std::fmt;
use std::net::SocketAddr;
use std::time::Instant;

use http::Framing;
use plan::stack::{ConnectionUse, Endpoint};
use units::{Bytes, Duration};

use crate::client::{Answer, Client, Failure};
use crate::error::StackError;

/// How often an endpoint of one answer a connection is asked: a close with the request unread is a reset, which
/// may overtake the answer.
const TRIES_MAX: u32 = 10;
/// How long a second answer on a connection is waited for, beyond the time of the first.
const SECOND_ANSWER_WAIT: Duration = Duration::from_secs(1);
/// A timer may be this much early; servers count in milliseconds.
const EARLY_MAX: Duration = Duration::from_millis(1);
/// Of a body that differs, this much is shown.
const SHOWN_BYTES: usize = 60;

/// One answer of an endpoint, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractReport {
    /// Its status.
    pub status: u16,
    /// From the status line to the empty line, as sent.
    pub head: Vec<u8>,
    /// The head's fields, in order, names as sent.
    pub headers: Vec<(String, String)>,
    /// How its body ends.
    pub framing: Framing,
    /// Its body without framing.
    pub body: Vec<u8>,
    /// What the whole answer takes on the wire.
    pub wire_bytes: Bytes,
    /// Whether the same connection brought a second whole answer.
    pub kept_alive: bool,
    /// How many connections it took to get a whole answer; above 1 only where the server resets them.
    pub tries: u32,
    /// From the request to the last byte.
    pub took: Duration,
    /// Whether that is what the manifest says, and if not, every difference.
    pub matches: Result<(), Vec<Mismatch>>,
}

/// A difference between an answer and its manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mismatch {
    /// Another status.
    Status {
        /// The manifest's.
        expected: u16,
        /// The answer's.
        got: u16,
    },
    /// Another body.
    Body {
        /// The manifest's.
        expected: String,
        /// The start of the answer's.
        got: String,
    },
    /// Answered before the endpoint's delay was over.
    Early {
        /// The manifest's delay.
        delay: Duration,
        /// The answer's time.
        took: Duration,
    },
    /// The connection was kept where it should close, or the reverse.
    Connection {
        /// The manifest's.
        expected: ConnectionUse,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status { expected, got } => write!(f, "status {got} instead of {expected}"),
            Self::Body { expected, got } => write!(f, "body {got:?} instead of {expected:?}"),
            Self::Early { delay, took } => write!(f, "answered after {took}, before its delay of {delay}"),
            Self::Connection { expected: ConnectionUse::KeepAlive } => {
                f.write_str("closes the connection after one answer instead of keeping it")
            }
            Self::Connection { expected: ConnectionUse::Close } => {
                f.write_str("keeps the connection instead of closing it after one answer")
            }
        }
    }
}

/// Asks `endpoint` of the stack at `addr` twice on one connection and takes the first answer apart. Each answer
/// may take `timeout`. An error means that there was no whole answer at all; a wrong one is in the report.
pub fn check_contract(
    addr: SocketAddr,
    endpoint: &Endpoint,
    timeout: Duration,
) -> Result<ContractReport, StackError> {
    let mut tries = 0;
    let (mut client, answer, took) = loop {
        tries += 1;
        match ask(addr, &endpoint.path, timeout) {
            Ok(answered) => break answered,
            Err(Failure::Ended { .. })
                if endpoint.connection == ConnectionUse::Close && tries < TRIES_MAX => {}
            Err(failure) => {
                let url = format!("http://{addr}{}", endpoint.path);
                return Err(StackError::Unanswered { url, why: failure.to_string() });
            }
        }
    };
    let deadline = Instant::now() + (took + SECOND_ANSWER_WAIT).into();
    let kept_alive = !answer.says_close && client.get(&endpoint.path, deadline).is_ok();
    let matches = compare(endpoint, &answer, took, kept_alive);
    let Answer { status, head, headers, framing, body, wire_bytes, .. } = answer;
    Ok(ContractReport { status, head, headers, framing, body, wire_bytes, kept_alive, tries, took, matches })
}

fn ask(addr: SocketAddr, path: &str, timeout: Duration) -> Result<(Client, Answer, Duration), Failure> {
    let deadline = Instant::now() + timeout.into();
    let mut client = Client::connect(addr, deadline)?;
    let begun = Instant::now();
    let answer = client.get(path, deadline)?;
    Ok((client, answer, begun.elapsed().into()))
}

fn compare(
    endpoint: &Endpoint,
    answer: &Answer,
    took: Duration,
    kept_alive: bool,
) -> Result<(), Vec<Mismatch>> {
    let mut found = Vec::new();
    if answer.status != endpoint.status {
        found.push(Mismatch::Status { expected: endpoint.status, got: answer.status });
    }
    if let Some(expected) = endpoint.body.as_ref().filter(|body| body.as_bytes() != answer.body) {
        let shown = &answer.body[..answer.body.len().min(SHOWN_BYTES)];
        let got = String::from_utf8_lossy(shown).into_owned();
        found.push(Mismatch::Body { expected: expected.clone(), got });
    }
    if let Some(delay) = endpoint.delay.filter(|delay| took + EARLY_MAX < *delay) {
        found.push(Mismatch::Early { delay, took });
    }
    if kept_alive != (endpoint.connection == ConnectionUse::KeepAlive) {
        found.push(Mismatch::Connection { expected: endpoint.connection });
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}
