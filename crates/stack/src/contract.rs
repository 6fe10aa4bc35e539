//! What exactly an endpoint answers, before any load: so that stacks are compared at the same work.

use std::fmt;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::time::{Duration as StdDuration, Instant};

use http::Framing;
use plan::stack::{ConnectionUse, Endpoint, Speaks};
use units::{Bytes, Duration};

use crate::client::{Answer, At, Client, Failure};
use crate::error::StackError;
use crate::running::Running;

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
    /// What became of the connection.
    pub afterwards: Afterwards,
    /// How many connections it took to get a whole answer; above 1 only where the server resets them.
    pub tries: u32,
    /// From the request to the last byte.
    pub took: Duration,
    /// What the server spoke.
    pub speaks: Speaks,
    /// Whether that is what the manifest says, and if not, every difference.
    pub matches: Result<(), Vec<Mismatch>>,
}

/// What becomes of a connection after its first answer, when a client asks for another on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Afterwards {
    /// It brings the second one, too.
    Kept,
    /// The answer had said that the connection would be closed.
    ClosedAsSaid,
    /// It is closed without a word. A client that keeps connections loses the request it sends meanwhile.
    ClosedUnsaid,
    /// It is reset without a word, as happens to a server that closes with the request unread. The same loss, and
    /// the reset may overtake the first answer as well.
    ResetUnsaid,
}

impl Afterwards {
    /// In a table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::ClosedAsSaid => "closed",
            Self::ClosedUnsaid => "closed unsaid",
            Self::ResetUnsaid => "reset unsaid",
        }
    }
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
    /// No thread of the name that should have answered.
    Thread {
        /// How its name should begin.
        expected: String,
        /// The groups of threads that are there.
        got: Vec<String>,
    },
    /// More or fewer bytes on the wire.
    WireBytes {
        /// The manifest's.
        expected: Bytes,
        /// The answer's.
        got: Bytes,
    },
    /// The body ends otherwise.
    Framing {
        /// The manifest's.
        expected: Framing,
        /// The answer's.
        got: Framing,
    },
    /// The connection closed after another number of requests.
    RequestsPerConnection {
        /// The manifest's; `None` for no limit.
        expected: Option<NonZeroU32>,
        /// What was seen; `None` when it was still open at the end.
        got: Option<NonZeroU32>,
    },
    /// The proxy held more connections to its upstream than it should.
    UpstreamConnections {
        /// The manifest's bound.
        max: u32,
        /// The most that were seen.
        got: u32,
    },
    /// It listens where other machines may reach it.
    ListensBeyondLoopback(SocketAddr),
}

impl Mismatch {
    /// Whether other work is done than was asked for. The rest is the same work in another wrapping, such as a
    /// server of a newer version with a longer name: worth a word, and no reason not to measure.
    pub fn is_wrong_answer(&self) -> bool {
        match self {
            Self::Status { .. }
            | Self::Body { .. }
            | Self::Early { .. }
            | Self::Connection { .. }
            | Self::Thread { .. } => true,
            Self::WireBytes { .. }
            | Self::Framing { .. }
            | Self::RequestsPerConnection { .. }
            | Self::UpstreamConnections { .. }
            | Self::ListensBeyondLoopback(_) => false,
        }
    }
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
            Self::Thread { expected, got } => {
                write!(f, "no thread `{expected}…` after the answer, only {}", got.join(", "))
            }
            Self::WireBytes { expected, got } => {
                write!(f, "{} bytes on the wire instead of {}", got.0, expected.0)
            }
            Self::Framing { expected, got } => {
                write!(f, "body framing {} instead of {}", got.name(), expected.name())
            }
            Self::RequestsPerConnection { expected, got } => {
                let words = |cap: &Option<NonZeroU32>| {
                    cap.map_or("never".to_owned(), |cap| format!("after {cap} requests"))
                };
                write!(f, "closes the connection {} instead of {}", words(got), words(expected))
            }
            Self::UpstreamConnections { max, got } => {
                write!(f, "held {got} connections to its upstream instead of at most {max}")
            }
            Self::ListensBeyondLoopback(addr) => {
                write!(f, "listens on {addr}, which other machines may reach, and not on 127.0.0.1 alone")
            }
        }
    }
}

/// Asks `endpoint` of `running` twice on one connection and takes the first answer apart. Each answer may take
/// `timeout`. An error means that there was no whole answer at all; a wrong one is in the report.
pub fn check_contract(
    running: &Running,
    endpoint: &Endpoint,
    timeout: Duration,
) -> Result<ContractReport, StackError> {
    let at = running.at();
    let mut tries = 0;
    let (mut client, answer, took) = loop {
        tries += 1;
        match ask(at, &endpoint.path, timeout) {
            Ok(answered) => break answered,
            Err(Failure::Ended { .. })
                if endpoint.connection == ConnectionUse::Close && tries < TRIES_MAX => {}
            Err(failure) => {
                let url = at.url(&endpoint.path);
                return Err(StackError::Unanswered { url, why: failure.to_string() });
            }
        }
    };
    let afterwards = if answer.says_close {
        Afterwards::ClosedAsSaid
    } else {
        let deadline = Instant::now() + StdDuration::from(took + SECOND_ANSWER_WAIT);
        match client.get(&endpoint.path, deadline) {
            Ok(_) => Afterwards::Kept,
            Err(Failure::Ended { reset: true, .. }) => Afterwards::ResetUnsaid,
            Err(_) => Afterwards::ClosedUnsaid,
        }
    };
    let mut found = compare(endpoint, &answer, took, afterwards);
    found.extend(compare_thread(endpoint, running)?);
    let matches = if found.is_empty() { Ok(()) } else { Err(found) };
    let Answer { status, head, headers, framing, body, wire_bytes, .. } = answer;
    let speaks = at.speaks;
    Ok(ContractReport {
        status,
        head,
        headers,
        framing,
        body,
        wire_bytes,
        afterwards,
        tries,
        took,
        speaks,
        matches,
    })
}

/// How many requests a connection carries, as far as it was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionCap {
    /// The server closed it after so many.
    After(NonZeroU32),
    /// It was still open after so many.
    AtLeast(u32),
}

impl ConnectionCap {
    /// After how many requests it was closed.
    pub const fn closed_after(self) -> Option<NonZeroU32> {
        match self {
            Self::After(count) => Some(count),
            Self::AtLeast(_) => None,
        }
    }

    /// Whether what was seen speaks against a cap, or against there being none. Too few requests speak against nothing.
    pub fn contradicts(self, expected: Option<NonZeroU32>) -> bool {
        match (self, expected) {
            (Self::After(got), expected) => Some(got) != expected,
            (Self::AtLeast(tried), expected) => expected.is_some_and(|cap| tried > cap.get()),
        }
    }
}

/// How long to go on asking on one connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Patience {
    /// Requests at most.
    pub(crate) requests_max: u32,
    /// None is begun later than this. How fast a server answers is no matter of its connections.
    pub(crate) wait: Duration,
    /// How long one answer may take.
    pub(crate) answer_max: Duration,
}

/// Asks for `path` on one connection until the server closes it, or for as long as `patience` has it.
pub(crate) fn count_requests(at: &At, path: &str, patience: &Patience) -> Result<ConnectionCap, StackError> {
    let begun = Instant::now();
    let deadline = || Instant::now() + StdDuration::from(patience.answer_max);
    let failed = |why: String| StackError::Unanswered { url: at.url(path), why };
    let mut client = Client::connect(at, deadline()).map_err(|failure| failed(failure.to_string()))?;
    let mut answered = 0;
    while answered < patience.requests_max && Duration::from(begun.elapsed()) < patience.wait {
        match (client.get(path, deadline()), NonZeroU32::new(answered)) {
            (Ok(answer), _) if answer.says_close => {
                return Ok(ConnectionCap::After(NonZeroU32::MIN.saturating_add(answered)));
            }
            (Ok(_), _) => answered += 1,
            (Err(Failure::Ended { .. }), Some(count)) => return Ok(ConnectionCap::After(count)),
            (Err(Failure::TimedOut { .. }), Some(_)) => break,
            (Err(failure), _) => {
                return Err(failed(format!("{failure}, as request {} of a connection", answered + 1)));
            }
        }
    }
    Ok(ConnectionCap::AtLeast(answered))
}

pub(crate) fn ask(at: &At, path: &str, timeout: Duration) -> Result<(Client, Answer, Duration), Failure> {
    let deadline = Instant::now() + StdDuration::from(timeout);
    let mut client = Client::connect(at, deadline)?;
    let begun = Instant::now();
    let answer = client.get(path, deadline)?;
    Ok((client, answer, begun.elapsed().into()))
}

fn compare(endpoint: &Endpoint, answer: &Answer, took: Duration, afterwards: Afterwards) -> Vec<Mismatch> {
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
    if (afterwards == Afterwards::Kept) != (endpoint.connection == ConnectionUse::KeepAlive) {
        found.push(Mismatch::Connection { expected: endpoint.connection });
    }
    if let Some(expected) = endpoint.wire_bytes.filter(|bytes| *bytes != answer.wire_bytes) {
        found.push(Mismatch::WireBytes { expected, got: answer.wire_bytes });
    }
    if let Some(expected) = endpoint.framing.filter(|framing| *framing != answer.framing) {
        found.push(Mismatch::Framing { expected, got: answer.framing });
    }
    found
}

fn compare_thread(endpoint: &Endpoint, running: &Running) -> Result<Option<Mismatch>, StackError> {
    let Some(expected) = &endpoint.thread else { return Ok(None) };
    // A manifest asks for no thread of what is running already.
    let Some(usage) = running.usage()? else { return Ok(None) };
    let groups = usage.thread_groups;
    let is_there = groups.iter().any(|group| signals::is_group_of(&group.name, expected));
    let names = || groups.into_iter().map(|group| group.name).collect();
    Ok((!is_there).then(|| Mismatch::Thread { expected: expected.clone(), got: names() }))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    /// A server of one connection that takes `pause` for each answer, and closes after `cap` of them without a word.
    fn serve(pause: std::time::Duration, cap: Option<u32>) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            for _ in 0..cap.unwrap_or(u32::MAX) {
                // To the empty line behind the head.
                if lines.by_ref().map_while(Result::ok).find(String::is_empty).is_none() {
                    return;
                }
                thread::sleep(pause);
                if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
                    return;
                }
            }
        });
        addr
    }

    fn count(addr: SocketAddr, wait: Duration, answer_max: Duration) -> Result<ConnectionCap, StackError> {
        count_requests(&At::plain(addr), "/", &Patience { requests_max: 1500, wait, answer_max })
    }

    /// 1500 requests of a second each are 25 minutes, and no fault.
    #[test]
    fn a_server_that_takes_a_second_is_tried_for_a_time_and_not_for_a_number() {
        let addr = serve(std::time::Duration::from_secs(1), None);
        let begun = Instant::now();
        let told = count(addr, Duration::from_millis(1500), Duration::from_secs(5)).unwrap();
        assert!(begun.elapsed() < std::time::Duration::from_secs(8));
        assert_eq!(told, ConnectionCap::AtLeast(2));
        // What was not tried often enough speaks for and against nothing.
        let caps = [None, NonZeroU32::new(100), NonZeroU32::new(1)];
        assert_eq!(caps.map(|expected| told.contradicts(expected)), [false, false, true]);
    }

    #[test]
    fn a_server_that_never_answers_in_time_is_told() {
        let slow = serve(std::time::Duration::from_millis(300), None);
        let told = count(slow, Duration::from_secs(30), Duration::from_millis(100));
        assert!(told.is_err(), "{told:?}");
    }

    #[test]
    fn a_cap_is_found_and_held_against_what_was_expected() {
        let wait = Duration::from_secs(30);
        let told = count(serve(std::time::Duration::ZERO, Some(7)), wait, wait).unwrap();
        assert_eq!(told, ConnectionCap::After(NonZeroU32::new(7).unwrap()));
        let caps = [None, NonZeroU32::new(7), NonZeroU32::new(8)];
        assert_eq!(caps.map(|expected| told.contradicts(expected)), [true, false, true]);
        let told = count(serve(std::time::Duration::ZERO, None), wait, wait).unwrap();
        assert_eq!((told.closed_after(), told), (None, ConnectionCap::AtLeast(1500)));
        assert!(told.contradicts(NonZeroU32::new(1000)) && !told.contradicts(None));
    }
}
