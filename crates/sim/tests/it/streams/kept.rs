//! Wrong answers that are kept, whatever comes between their parts.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::num::NonZeroU64;

use engine::{
    Action, Completion, Config, Conn, Engine, Event, Io, KEPT_ANSWER_BYTES_MAX, KeptAnswer, Outgoing, Sample,
    Sending, Unscripted, drive,
};
use h2::{FrameHead, H2, Kind, Scheme, Settings, flag};
use http::RequestSpec;
use sim::{Scenario, ServerPlan};
use units::{Duration, Instant};

use super::link::frame;

const LATENCY: Duration = Duration::from_micros(100);
/// Requests that are answered together.
const STREAMS: u32 = 2;

/// Statuses as the fixed table of header compression has them.
const OK: u8 = 0x88;
const NOT_FOUND: u8 = 0x8d;
const ERROR: u8 = 0x8e;

/// A head of this status, with one field where `field` has a name.
fn head(stream: u32, flags: u8, status: u8, (name, value): (&str, &str)) -> Vec<u8> {
    let mut block = vec![status];
    if !name.is_empty() {
        block.extend([0, name.len() as u8]);
        block.extend(name.as_bytes());
        block.push(value.len() as u8);
        block.extend(value.as_bytes());
    }
    frame(Kind::Headers, flag::END_HEADERS | flags, stream, &block)
}

fn data(stream: u32, flags: u8, piece: &[u8]) -> Vec<u8> {
    frame(Kind::Data, flags, stream, piece)
}

/// What two streams are answered in this round, all of it at once.
fn answers(round: u32, one: u32, other: u32) -> Vec<u8> {
    let (no_field, end) = (("", ""), flag::END_STREAM);
    let good = [head(other, 0, OK, no_field), data(other, end, b"good")].concat();
    let parts = match round {
        0 => vec![
            head(one, 0, ERROR, ("x-why", "none")),
            head(other, 0, OK, no_field),
            data(one, 0, b"it "),
            data(other, end, b"good"),
            data(one, end, b"broke"),
        ],
        1 => vec![head(one, 0, OK, no_field), data(one, end, b"good"), good],
        // Longer than it says, which ends that stream alone, and one without a body.
        2 => vec![
            head(one, 0, OK, ("content-length", "3")),
            data(one, end, b"more"),
            head(other, end, NOT_FOUND, no_field),
        ],
        // None at all, where others were before, and one that is too long to be kept.
        3 => vec![
            frame(Kind::ResetStream, 0, one, &[0, 0, 0, 2]),
            head(other, 0, ERROR, no_field),
            data(other, 0, &[b'x'; 10_000]),
            data(other, end, &[b'x'; 10_000]),
        ],
        _ => vec![head(one, end, ERROR, no_field), good],
    };
    parts.concat()
}

enum What {
    Up,
    Bytes(Vec<u8>),
}

/// Answers once as many have asked as there are streams.
#[derive(Default)]
struct Server {
    now: Instant,
    open: Option<Conn>,
    asked: Vec<u32>,
    round: u32,
    pending: VecDeque<(Conn, What)>,
    ready: VecDeque<(Conn, What)>,
    lent: Vec<u8>,
}

impl Io for Server {
    type Error = Infallible;

    fn now(&self) -> Instant {
        self.now
    }

    fn connect(&mut self, conn: Conn, _: Option<u32>) -> Option<Event<'static>> {
        self.open = Some(conn);
        self.pending.push_back((conn, What::Up));
        self.pending.push_back((conn, What::Bytes(frame(Kind::Settings, 0, 0, b""))));
        None
    }

    fn send(&mut self, conn: Conn, bytes: Outgoing<'_>) -> Sending {
        let bytes = bytes.bytes();
        let mut rest = bytes.strip_prefix(h2::PREFACE).unwrap_or(bytes);
        while let Some((head, behind)) = rest.split_first_chunk() {
            let head = FrameHead::read(head);
            rest = &behind[head.payload_bytes as usize..];
            if head.kind == Kind::Headers {
                self.asked.push(head.stream);
            }
        }
        if let [one, other] = self.asked[..] {
            self.asked.clear();
            self.pending.push_back((conn, What::Bytes(answers(self.round, one, other))));
            self.round += 1;
        }
        Sending::Done
    }

    fn close(&mut self, _: Conn) {
        self.open = None;
    }

    fn wait(&mut self, until: Option<Instant>) -> Result<(), Infallible> {
        if self.pending.is_empty() {
            self.now = self.now.max(until.expect("the engine waits for nothing"));
        } else {
            self.now = self.now + LATENCY;
            self.ready.append(&mut self.pending);
        }
        Ok(())
    }

    fn next(&mut self) -> Option<(Instant, Completion<'_>)> {
        let (conn, what) = loop {
            let (conn, what) = self.ready.pop_front()?;
            if self.open == Some(conn) {
                break (conn, what);
            }
        };
        let event = match what {
            What::Up => Event::Connected,
            What::Bytes(bytes) => {
                self.lent = bytes;
                Event::Received(&self.lent)
            }
        };
        Some((self.now, Completion { conn, event, arrived: None }))
    }
}

/// One connection, whose wrong answers are kept: so many at most.
fn config(keep_wrong: u32) -> Config {
    let mut config =
        Scenario::closed(1, Duration::from_secs(60), ServerPlan::healthy(1, Duration::ZERO)).config;
    let spec = RequestSpec { method: "GET", target: "/", host: "a", headers: &[], body: b"", close: false };
    config.request.bytes = h2::encode(&spec, Scheme::Http).expect("a request").into();
    config.expect.body = None;
    config.keep_wrong = keep_wrong;
    config
}

/// The wrong answers of so many `rounds` that are kept, where `keep_wrong` are asked for at most.
fn kept(rounds: u32, keep_wrong: u32) -> Vec<KeptAnswer> {
    let mut config = config(keep_wrong);
    config.stop.requests = NonZeroU64::new(u64::from(rounds * STREAMS));
    let mut samples = 0;
    let sink = |_: &Sample| samples += 1;
    let settings = Settings { streams: STREAMS, ..Settings::default() };
    let mut engine = Engine::<_, Unscripted, H2>::over(config, settings, sink, Instant::ORIGIN);
    let Ok(()) = drive(&mut engine, &mut Server::default(), |_, _| None);
    let kept = engine.kept_answers().to_vec();
    drop(engine);
    assert_eq!(samples, rounds * STREAMS);
    kept
}

/// As text.
fn texts(kept: &[KeptAnswer]) -> Vec<&str> {
    kept.iter().map(|it| std::str::from_utf8(&it.bytes).expect("text")).collect()
}

#[test]
fn wrong_answers_are_kept_with_their_heads_written_out() {
    let all = kept(3, 9);
    assert_eq!(
        texts(&all),
        [
            "HTTP/2 500\r\nx-why: none\r\n\r\nit broke",
            "HTTP/2 200\r\ncontent-length: 3\r\n\r\nmor",
            "HTTP/2 404\r\n\r\n",
        ]
    );
    assert!(all.iter().all(|it| !it.is_cut), "{all:?}");
    assert!(all.is_sorted_by_key(|it| it.at), "{all:?}");
}

#[test]
fn no_more_are_kept_than_are_asked_for() {
    assert_eq!(kept(5, 0), []);
    assert_eq!(texts(&kept(5, 1)), ["HTTP/2 500\r\nx-why: none\r\n\r\nit broke"]);
    assert_eq!(kept(5, 2).len(), 2);
}

#[test]
fn a_long_one_is_cut_and_a_stream_without_an_answer_leaves_none() {
    let all = kept(5, 9);
    let told: Vec<(usize, bool)> = all[3..].iter().map(|it| (it.bytes.len(), it.is_cut)).collect();
    assert_eq!(told, [(KEPT_ANSWER_BYTES_MAX, true), ("HTTP/2 500\r\n\r\n".len(), false)]);
}

/// A part of an answer came, and more of it when nobody waited any more: it is no part of the next one there, which is none.
#[test]
fn what_came_of_an_answer_that_was_too_late_is_in_no_other() {
    let mut config = config(1);
    config.timeouts.request = Duration::from_millis(10);
    let settings = Settings { streams: 1, ..Settings::default() };
    let mut outcomes = Vec::new();
    let sink = |sample: &Sample| outcomes.push(sample.outcome.name());
    let at = |ms: u64| Instant::ORIGIN + Duration::from_millis(ms);
    let mut engine = Engine::<_, Unscripted, H2>::over(config, settings, sink, at(0));
    let Some(Action::Connect(conn)) = engine.poll_action(at(0)) else { panic!("it connects first") };
    let no_status = frame(Kind::Headers, flag::END_HEADERS, 3, b"\0\x01x\x01y");
    let late = [head(1, 0, ERROR, ("", "")), data(1, 0, b"late")].concat();
    for (ms, event) in [
        (0, Event::Connected),
        (0, Event::Received(&frame(Kind::Settings, 0, 0, b""))),
        (5, Event::Received(&late)),
        (11, Event::Received(&data(1, 0, b"r"))),
        (12, Event::Received(&no_status)),
    ] {
        engine.handle_completion(at(ms), Completion { conn, event, arrived: None });
        assert_eq!(engine.poll_action(at(ms)), (ms != 5).then_some(Action::Send(conn)), "at {ms} ms");
    }
    let kept = engine.kept_answers().to_vec();
    drop(engine);
    assert!(kept.is_empty(), "{:?}", texts(&kept));
    assert_eq!(outcomes, ["timed_out", "malformed"]);
}
