//! A server that takes connections and reads nothing of what is sent on them.

use std::collections::VecDeque;
use std::convert::Infallible;

use engine::{Completion, Conn, Engine, Event, Io, Outcome, Outgoing, Sample, Sending, Unscripted, drive};
use h2::{H2, Kind, Scheme, Settings, UNREAD_BYTES_MAX};
use http::{Malformed, RequestSpec};
use sim::{Scenario, ServerPlan};
use units::{Duration, Instant};

use super::link::frame;

const STREAMS: u32 = 100;
const TIMEOUT: Duration = Duration::from_millis(1);

/// Says its SETTINGS on each connection, and nothing more.
#[derive(Default)]
struct Server {
    now: Instant,
    connects: u64,
    ready: VecDeque<(Conn, Option<Vec<u8>>)>,
    lent: Vec<u8>,
}

impl Io for Server {
    type Error = Infallible;

    fn now(&self) -> Instant {
        self.now
    }

    fn connect(&mut self, conn: Conn, _: Option<u32>) -> Option<Event<'static>> {
        self.connects += 1;
        self.ready.push_back((conn, None));
        self.ready.push_back((conn, Some(frame(Kind::Settings, 0, 0, b""))));
        None
    }

    /// What is sent first fills the sockets between the two.
    fn send(&mut self, _: Conn, _: Outgoing<'_>) -> Sending {
        Sending::UnderWay
    }

    fn close(&mut self, conn: Conn) {
        self.ready.retain(|(of, _)| *of != conn);
    }

    fn wait(&mut self, until: Option<Instant>) -> Result<(), Infallible> {
        if self.ready.is_empty() {
            self.now = self.now.max(until.expect("a request times out"));
        }
        Ok(())
    }

    fn next(&mut self) -> Option<(Instant, Completion<'_>)> {
        let (conn, bytes) = self.ready.pop_front()?;
        let event = match bytes {
            None => Event::Connected,
            Some(bytes) => {
                self.lent = bytes;
                Event::Received(&self.lent)
            }
        };
        Some((self.now, Completion { conn, event, arrived: None }))
    }
}

/// Its requests time out, each is reset and asked again, and all of that waits in memory: up to a bound, at which the
/// connection goes, as that of a request that times out does over HTTP/1.1.
#[test]
fn what_waits_for_a_server_that_reads_nothing_is_bounded() {
    let mut config =
        Scenario::closed(1, Duration::from_secs(2), ServerPlan::healthy(1, Duration::ZERO)).config;
    let spec = RequestSpec { method: "GET", target: "/", host: "a", headers: &[], body: b"", close: false };
    config.request.bytes = h2::encode(&spec, Scheme::Http).expect("a request").into();
    config.timeouts.request = TIMEOUT;
    let mut io = Server::default();
    let mut samples = Vec::new();
    let sink = |sample: &Sample| samples.push(sample.outcome);
    let settings = Settings { streams: STREAMS, ..Settings::default() };
    let mut engine = Engine::<_, Unscripted, H2>::over(config, settings, sink, Instant::ORIGIN);
    let Ok(()) = drive(&mut engine, &mut io, |_, _| None);
    drop(engine);
    let unread = samples.iter().filter(|it| **it == Outcome::Malformed(Malformed::Unread)).count() as u64;
    assert!(io.connects > 1 && unread > 0, "{} connections, {unread} requests", io.connects);
    // A reset and a request, of which each takes more than ten bytes.
    let a_connection = samples.len() as u64 / io.connects;
    assert!(a_connection < UNREAD_BYTES_MAX as u64 / 20, "{a_connection} requests on a connection");
    let is_told = |it: &Outcome| {
        matches!(it, Outcome::TimedOut | Outcome::InFlight | Outcome::Malformed(Malformed::Unread))
    };
    assert!(samples.iter().all(is_told), "{:?}", samples.iter().find(|it| !is_told(it)));
}
