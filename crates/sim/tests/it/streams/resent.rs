//! A request that a server ended its connection without a look at, and that goes out again: its time is that of one request.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::num::NonZeroU64;

use engine::{Completion, Conn, Engine, Event, Io, Outcome, Outgoing, Sample, Sending, Unscripted, drive};
use h2::{FrameHead, H2, Kind, Scheme, Settings, flag};
use http::RequestSpec;
use sim::{Scenario, ServerPlan};
use units::{Duration, Instant};

use super::link::frame;

/// Between any two things that happen on a connection.
const LATENCY: Duration = Duration::from_micros(100);
/// From the request to the GOAWAY that does not count it.
const AWAY_AFTER: Duration = Duration::from_micros(700);
const TIMEOUT: Duration = Duration::from_micros(2_000);

/// Ends its first connection without a look at what was asked, and answers on the second after `answers_after`.
struct Server {
    answers_after: Option<Duration>,
    now: Instant,
    connects: u32,
    open: Option<Conn>,
    pending: BTreeMap<(Instant, u32), (Conn, Vec<u8>)>,
    turn: u32,
    ready: VecDeque<(Conn, Vec<u8>)>,
    lent: Vec<u8>,
}

impl Server {
    /// No bytes: the connection is up.
    fn later(&mut self, after: Duration, conn: Conn, bytes: Vec<u8>) {
        self.turn += 1;
        self.pending.insert((self.now + after, self.turn), (conn, bytes));
    }
}

impl Io for Server {
    type Error = Infallible;

    fn now(&self) -> Instant {
        self.now
    }

    fn connect(&mut self, conn: Conn, _: Option<u32>) -> Option<Event<'static>> {
        self.connects += 1;
        self.open = Some(conn);
        self.later(LATENCY, conn, Vec::new());
        self.later(LATENCY, conn, frame(Kind::Settings, 0, 0, b""));
        None
    }

    fn send(&mut self, conn: Conn, bytes: Outgoing<'_>) -> Sending {
        let bytes = bytes.bytes();
        let mut rest = bytes.strip_prefix(h2::PREFACE).unwrap_or(bytes);
        while let Some((head, behind)) = rest.split_first_chunk() {
            let head = FrameHead::read(head);
            rest = &behind[head.payload_bytes as usize..];
            if head.kind != Kind::Headers {
                continue;
            }
            if self.connects == 1 {
                self.later(AWAY_AFTER, conn, frame(Kind::GoAway, 0, 0, &[0; 8]));
            } else if let Some(after) = self.answers_after {
                let ends = flag::END_HEADERS | flag::END_STREAM;
                self.later(after, conn, frame(Kind::Headers, ends, head.stream, &[0x88]));
            }
        }
        Sending::Done
    }

    fn close(&mut self, _: Conn) {
        self.open = None;
    }

    fn wait(&mut self, until: Option<Instant>) -> Result<(), Infallible> {
        let next = self.pending.first_key_value().map(|((at, _), _)| *at);
        let to = [next, until].into_iter().flatten().min().expect("the engine waits for nothing");
        self.now = self.now.max(to);
        while let Some(entry) = self.pending.first_entry()
            && entry.key().0 <= self.now
        {
            self.ready.push_back(entry.remove());
        }
        Ok(())
    }

    fn next(&mut self) -> Option<(Instant, Completion<'_>)> {
        let (conn, bytes) = loop {
            let (conn, bytes) = self.ready.pop_front()?;
            if self.open == Some(conn) {
                break (conn, bytes);
            }
        };
        self.lent = bytes;
        let event = if self.lent.is_empty() { Event::Connected } else { Event::Received(&self.lent) };
        Some((self.now, Completion { conn, event, arrived: None }))
    }
}

/// The one request of a load, and how often it went out again.
fn request(answers_after: Option<Duration>) -> (Sample, u64) {
    let mut config =
        Scenario::closed(1, Duration::from_secs(60), ServerPlan::healthy(1, Duration::ZERO)).config;
    let spec = RequestSpec { method: "GET", target: "/", host: "a", headers: &[], body: b"", close: false };
    config.request.bytes = h2::encode(&spec, Scheme::Http).expect("a request").into();
    config.expect.body = None;
    config.stop.requests = NonZeroU64::new(1);
    config.timeouts.request = TIMEOUT;
    let mut io = Server {
        answers_after,
        now: Instant::ORIGIN,
        connects: 0,
        open: None,
        pending: BTreeMap::new(),
        turn: 0,
        ready: VecDeque::new(),
        lent: Vec::new(),
    };
    let mut samples = Vec::new();
    let sink = |sample: &Sample| samples.push(*sample);
    let mut engine = Engine::<_, Unscripted, H2>::over(config, Settings::default(), sink, Instant::ORIGIN);
    let Ok(()) = drive(&mut engine, &mut io, |_, _| None);
    let resent = engine.counters().resent;
    drop(engine);
    let [sample] = samples[..] else { panic!("{samples:?}") };
    (sample, resent)
}

#[test]
fn a_request_that_is_sent_again_keeps_its_deadline() {
    // It would be in time if its time began anew with the second connection.
    let too_late = TIMEOUT.saturating_sub(Duration::from_micros(200));
    for answers_after in [None, Some(too_late)] {
        let (sample, resent) = request(answers_after);
        assert_eq!((sample.outcome, resent), (Outcome::TimedOut, 1), "{sample:?}");
        assert_eq!(sample.service_time(), Some(TIMEOUT), "from the first time on: {sample:?}");
    }
}

#[test]
fn a_request_that_is_sent_again_has_the_time_of_both() {
    let (sample, resent) = request(Some(LATENCY));
    assert!(sample.outcome.is_answered() && resent == 1, "{sample:?}");
    // The GOAWAY, a connection, its SETTINGS that came with it, and the answer.
    assert_eq!(sample.service_time(), Some(AWAY_AFTER + LATENCY + LATENCY), "{sample:?}");
    assert!(sample.intended <= sample.ready && Some(sample.ready) <= sample.sent, "{sample:?}");
}
