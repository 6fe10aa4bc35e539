//! With one stream a connection, HTTP/2 and HTTP/1.1 give the same samples against the same server.

use std::convert::Infallible;

use engine::{
    Completion, Config, Conn, Engine, Event, Io, Outcome, Outgoing, Sample, Sending, Unscripted, drive,
};
use h2::{FrameHead, H2, Kind, Scheme, Settings, flag};
use http::{Http1, Protocol, RequestSpec};
use sim::{Scenario, laws};
use units::{Duration, Instant, Seed};

use super::link::frame;
use crate::common::Agenda;

/// Bytes that came on a connection, or else that it is up.
type What = (Conn, Option<Vec<u8>>);

/// A server that takes as long for its n-th request in either version.
struct Server {
    seed: Seed,
    is_http2: bool,
    asked: u64,
    agenda: Agenda<What>,
    open: Vec<Conn>,
    lent: Vec<u8>,
}

impl Server {
    fn later(&mut self, after: Duration, conn: Conn, what: Option<Vec<u8>>) {
        self.agenda.later(after, (conn, what));
    }

    fn answer(&self, stream: u32, number: u64) -> Vec<u8> {
        let status = if number.is_multiple_of(7) { "404" } else { "200" };
        if !self.is_http2 {
            return format!("HTTP/1.1 {status} X\r\nContent-Length: 5\r\n\r\nhello").into_bytes();
        }
        let block = [&[0x08, 3][..], status.as_bytes()].concat();
        [
            frame(Kind::Headers, flag::END_HEADERS, stream, &block),
            frame(Kind::Data, flag::END_STREAM, stream, b"hello"),
        ]
        .concat()
    }
}

impl Io for Server {
    type Error = Infallible;

    fn now(&self) -> Instant {
        self.agenda.now()
    }

    fn connect(&mut self, conn: Conn, _: Option<u32>) -> Option<Event<'static>> {
        self.open.push(conn);
        self.later(Duration::from_micros(100), conn, None);
        if self.is_http2 {
            self.later(Duration::from_micros(100), conn, Some(frame(Kind::Settings, 0, 0, b"")));
        }
        None
    }

    fn send(&mut self, conn: Conn, bytes: Outgoing<'_>) -> Sending {
        let mut streams = vec![0];
        if self.is_http2 {
            let mut rest = bytes.bytes();
            rest = rest.strip_prefix(h2::PREFACE).unwrap_or(rest);
            streams.clear();
            while let Some((head, behind)) = rest.split_first_chunk() {
                let head = FrameHead::read(head);
                streams.extend((head.kind == Kind::Headers).then_some(head.stream));
                rest = &behind[head.payload_bytes as usize..];
            }
        }
        for stream in streams {
            self.asked += 1;
            let takes = Duration::from_micros(20 + self.seed.derive(self.asked).0 % 3000);
            let answer = self.answer(stream, self.asked);
            self.later(takes, conn, Some(answer));
        }
        Sending::Done
    }

    fn close(&mut self, conn: Conn) {
        self.open.retain(|open| *open != conn);
    }

    fn wait(&mut self, until: Option<Instant>) -> Result<(), Infallible> {
        self.agenda.pass(until);
        Ok(())
    }

    fn next(&mut self) -> Option<(Instant, Completion<'_>)> {
        let (conn, what) = loop {
            let (conn, what) = self.agenda.due()?;
            if self.open.contains(&conn) {
                break (conn, what);
            }
        };
        let event = match what {
            None => Event::Connected,
            Some(bytes) => {
                self.lent = bytes;
                Event::Received(&self.lent)
            }
        };
        Some((self.agenda.now(), Completion { conn, event, arrived: None }))
    }
}

/// When it was meant, could go, went and was done, and how it ended.
type Told = (Instant, Instant, Option<Instant>, Instant, Outcome);

fn samples<H: Protocol>(config: &Config, settings: H::Settings, request: Vec<u8>, seed: Seed) -> Vec<Told> {
    let mut io = Server {
        seed,
        is_http2: H::MULTIPLEXED,
        asked: 0,
        agenda: Agenda::default(),
        open: Vec::new(),
        lent: Vec::new(),
    };
    let mut config = config.clone();
    config.request.bytes = request.into();
    let mut samples = Vec::new();
    let sink = |it: &Sample| samples.push((it.intended, it.ready, it.sent, it.done, it.outcome));
    let mut engine = Engine::<_, Unscripted, H>::over(config, settings, sink, Instant::ORIGIN);
    let Ok(()) = drive(&mut engine, &mut io, |_, _| None);
    drop(engine);
    // Which of those that end at one instant is told first says nothing.
    samples.sort_by_key(|(intended, ready, sent, done, _)| (*done, *sent, *ready, *intended));
    samples
}

fn one_stream_is_as_one_connection(seed: Seed) {
    let mut config = Scenario::from_seed(seed).config;
    // Of a request that times out, one version loses its connection and the other does not.
    config.timeouts.request = Duration::from_secs(1);
    config.expect.body = Some(b"hello"[..].into());
    let spec = RequestSpec { method: "GET", target: "/", host: "a", headers: &[], body: b"", close: false };
    let first = samples::<Http1>(&config, (), http::encode(&spec).expect("a request"), seed);
    let second = h2::encode(&spec, Scheme::Http).expect("a request");
    let second = samples::<H2>(&config, Settings::default(), second, seed);
    if let Some(at) = (0..first.len().max(second.len())).find(|at| first.get(*at) != second.get(*at)) {
        panic!("sample {at}: {:?} over HTTP/1.1, {:?} over HTTP/2", first.get(at), second.get(at));
    }
}

laws! { one_stream_is_as_one_connection, }
