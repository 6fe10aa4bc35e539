//! A request that a server ended its connection without a look at, and that goes out again: its time is that of one request.

use std::convert::Infallible;
use std::num::NonZeroU64;

use engine::{
    Arrivals, Completion, Conn, ConnectFailure, Engine, Event, Io, Load, Outcome, Outgoing, Sample, Sending,
    Unscripted, drive,
};
use h2::{FrameHead, H2, Kind, Scheme, Settings, flag};
use http::RequestSpec;
use sim::{Scenario, ServerPlan};
use units::{Duration, Instant, Rate};

use super::link::frame;
use crate::common::Agenda;

/// Between any two things that happen on a connection.
const LATENCY: Duration = Duration::from_micros(100);
/// From the request to the GOAWAY that does not count it.
const AWAY_AFTER: Duration = Duration::from_micros(700);
const TIMEOUT: Duration = Duration::from_micros(2_000);

/// What becomes of the second connection.
#[derive(Debug, Clone, Copy)]
enum Second {
    /// It is up after so long, and what is asked on it is answered after so long.
    Answers(Duration, Duration),
    /// It is up at once, and nothing is answered.
    Silent,
    /// It is refused after so long.
    Refused(Duration),
    NeverUp,
}

enum What {
    Up,
    Refused,
    Bytes(Vec<u8>),
}

/// Ends its first connection without a look at what was asked on it.
struct Server {
    second: Second,
    agenda: Agenda<(Conn, What)>,
    connects: u32,
    open: Option<Conn>,
    lent: Vec<u8>,
}

impl Server {
    fn later(&mut self, after: Duration, conn: Conn, what: What) {
        self.agenda.later(after, (conn, what));
    }
}

impl Io for Server {
    type Error = Infallible;

    fn now(&self) -> Instant {
        self.agenda.now()
    }

    fn connect(&mut self, conn: Conn, _: Option<u32>) -> Option<Event<'static>> {
        self.connects += 1;
        self.open = Some(conn);
        let up_after = match self.second {
            Second::Refused(after) if self.connects > 1 => {
                self.later(after, conn, What::Refused);
                return None;
            }
            Second::NeverUp if self.connects > 1 => return None,
            Second::Answers(after, _) if self.connects > 1 => after,
            _ => LATENCY,
        };
        self.later(up_after, conn, What::Up);
        self.later(up_after, conn, What::Bytes(frame(Kind::Settings, 0, 0, b"")));
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
                self.later(AWAY_AFTER, conn, What::Bytes(frame(Kind::GoAway, 0, 0, &[0; 8])));
            } else if let Second::Answers(_, after) = self.second {
                let ends = flag::END_HEADERS | flag::END_STREAM;
                self.later(after, conn, What::Bytes(frame(Kind::Headers, ends, head.stream, &[0x88])));
            }
        }
        Sending::Done
    }

    fn close(&mut self, _: Conn) {
        self.open = None;
    }

    fn wait(&mut self, until: Option<Instant>) -> Result<(), Infallible> {
        self.agenda.pass(until);
        Ok(())
    }

    fn next(&mut self) -> Option<(Instant, Completion<'_>)> {
        let (conn, what) = loop {
            let (conn, what) = self.agenda.due()?;
            if self.open == Some(conn) {
                break (conn, what);
            }
        };
        let event = match what {
            What::Up => Event::Connected,
            What::Refused => Event::ConnectFailed(ConnectFailure::Refused),
            What::Bytes(bytes) => {
                self.lent = bytes;
                Event::Received(&self.lent)
            }
        };
        Some((self.agenda.now(), Completion { conn, event, arrived: None }))
    }
}

/// What a load came to.
struct Ran {
    samples: Vec<Sample>,
    resent: u64,
    connects: u32,
}

fn run(load: Load, requests: u64, streams: u32, second: Second) -> Ran {
    let mut config =
        Scenario::closed(1, Duration::from_secs(60), ServerPlan::healthy(1, Duration::ZERO)).config;
    let spec = RequestSpec { method: "GET", target: "/", host: "a", headers: &[], body: b"", close: false };
    config.load = load;
    config.request.bytes = h2::encode(&spec, Scheme::Http).expect("a request").into();
    config.expect.body = None;
    config.stop.requests = NonZeroU64::new(requests);
    config.timeouts.request = TIMEOUT;
    let mut io = Server { second, agenda: Agenda::default(), connects: 0, open: None, lent: Vec::new() };
    let mut samples = Vec::new();
    let sink = |sample: &Sample| samples.push(*sample);
    let settings = Settings { streams, ..Settings::default() };
    let mut engine = Engine::<_, Unscripted, H2>::over(config, settings, sink, Instant::ORIGIN);
    let Ok(()) = drive(&mut engine, &mut io, |_, _| None);
    let resent = engine.counters().resent;
    drop(engine);
    Ran { samples, resent, connects: io.connects }
}

/// The one request of a load, which goes out again once.
fn request(second: Second) -> Sample {
    let Ran { samples, resent, .. } = run(Load::SATURATING, 1, 1, second);
    let [sample] = samples[..] else { panic!("{samples:?}") };
    assert_eq!(resent, 1, "{sample:?}");
    sample
}

#[test]
fn a_request_that_is_sent_again_keeps_its_deadline() {
    // It would be in time if its time began anew with the second connection.
    let too_late = TIMEOUT.saturating_sub(Duration::from_micros(200));
    for second in [Second::Silent, Second::Answers(LATENCY, too_late)] {
        let sample = request(second);
        assert_eq!(sample.outcome, Outcome::TimedOut, "{sample:?}");
        assert_eq!(sample.service_time(), Some(TIMEOUT), "from the first time on: {sample:?}");
    }
}

#[test]
fn a_request_that_is_sent_again_has_the_time_of_both() {
    let sample = request(Second::Answers(LATENCY, LATENCY));
    assert!(sample.outcome.is_answered(), "{sample:?}");
    // The GOAWAY, a connection, its SETTINGS that came with it, and the answer.
    assert_eq!(sample.service_time(), Some(AWAY_AFTER + LATENCY + LATENCY), "{sample:?}");
    assert!(sample.intended <= sample.ready && Some(sample.ready) <= sample.sent, "{sample:?}");
}

/// The time for a connection is longer than what is left of its own.
#[test]
fn a_request_that_opens_the_next_connection_keeps_its_deadline() {
    let too_late = TIMEOUT + LATENCY;
    for second in [Second::NeverUp, Second::Refused(too_late), Second::Answers(too_late, LATENCY)] {
        let sample = request(second);
        assert_eq!(sample.outcome, Outcome::TimedOut, "{second:?}: {sample:?}");
        assert_eq!(sample.service_time(), Some(TIMEOUT), "{second:?}: {sample:?}");
    }
}

#[test]
fn a_request_without_a_second_connection_was_sent_once() {
    let sample = request(Second::Refused(LATENCY));
    assert_eq!(sample.outcome, Outcome::ConnectFailed(ConnectFailure::Refused), "{sample:?}");
    assert_eq!(sample.service_time(), Some(AWAY_AFTER + LATENCY), "{sample:?}");
}

/// Another one waits for it, and is in time.
#[test]
fn a_connection_goes_on_without_the_request_that_opened_it() {
    let rate = Rate::per_sec(1_000.0).expect("above zero");
    let load = Load::Open { arrivals: Arrivals::Constant(rate), backlog_max: Load::BACKLOG_MAX_DEFAULT };
    let Ran { samples, connects, resent } = run(load, 2, 2, Second::Answers(TIMEOUT, LATENCY));
    let [first, second] = samples[..] else { panic!("{samples:?}") };
    assert_eq!((first.outcome, first.service_time()), (Outcome::TimedOut, Some(TIMEOUT)), "{first:?}");
    assert_eq!((second.outcome.is_answered(), second.service_time()), (true, Some(LATENCY)), "{second:?}");
    assert_eq!((connects, resent), (2, 1));
}
