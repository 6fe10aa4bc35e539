//! What every implementation of [`engine::Io`] has to do, said once and run against each: the simulator
//! here, real sockets in `driver`.
//!
//! A [`Harness`] makes a server that shows one [`Behaviour`] and an IO that reaches it; [`suite`] runs the
//! engine over it and checks what the engine was told. [`serve`] is that server where connections are real.

mod peer;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::num::NonZeroU64;
use std::sync::Arc;

use engine::{Config, Due, Engine, Io, Next, Reuse, Sample, Script, Sink, Waits, drive};
use http::{Http1, RequestKind, Response};
use units::{Duration, Instant};

use crate::fault::Answer;
use crate::scenario::Scenario;
use crate::server::ServerPlan;

pub use peer::{Peer, serve};

/// What the server does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Behaviour {
    /// Answers, framed so, with a body of so many bytes, in pieces of so many bytes.
    Answers {
        /// The framing.
        framing: Answer,
        /// The body's length.
        body_bytes: usize,
        /// The largest piece written at one time.
        piece_bytes: usize,
    },
    /// Answers and closes, as announced, after every so many answers of a connection.
    ClosesEvery(u32),
    /// Reads the request and resets.
    Resets,
    /// Sends half an answer and closes.
    ClosesWithin,
    /// Reads and never answers.
    NeverAnswers,
    /// Answers with something else than HTTP.
    Garbage,
    /// Refuses connections.
    Refuses,
    /// Answers with a 413 as soon as a request begins, reads no more of it, and closes: the client meets a reset.
    AnswersEarly,
    /// Resets as soon as a request begins, and has said nothing.
    ResetsEarly,
}

/// The answer of [`Behaviour::AnswersEarly`].
pub const EARLY_ANSWER: &[u8] =
    b"HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 9\r\n\r\ntoo large";

impl Behaviour {
    /// The body of [`Behaviour::Answers`].
    pub fn body(bytes: usize) -> String {
        "0123456789abcdef".chars().cycle().take(bytes).collect()
    }
}

/// Makes an IO whose connections reach a server with a given behaviour.
pub trait Harness {
    /// The implementation under test.
    type Io: Io<Error: Debug>;

    /// Whether a connection can be broken off with nothing unread.
    const RESETS: bool = true;

    /// A fresh server, which is sent `request` again and again, and the IO to reach it, for `connections` connections.
    fn start(&mut self, behaviour: &Behaviour, connections: u32, request: &[u8]) -> Self::Io;
}

/// A port that is given to nobody who asks for any: where a connection is refused. One that was just free may be another
/// test's by the time it is asked.
pub const REFUSING_PORT: u16 = 1;

/// Runs every case. Panics with the case's name where an implementation does not conform.
pub fn suite(harness: &mut impl Harness) {
    for framing in Answer::ALL {
        for (body_bytes, piece_bytes) in [(5, 1 << 20), (0, 1 << 20), (300, 7), (1_000_000, 1 << 20)] {
            answers_are_whole(harness, &Behaviour::Answers { framing, body_bytes, piece_bytes });
        }
    }
    bodies_that_nobody_looks_at_are_counted(harness);
    announced_closes_cost_no_request(harness);
    failures_have_their_own_outcome(harness);
    timeouts_end_at_their_bound(harness);
    large_requests_are_sent_whole(harness);
    early_answers_are_answers(harness);
    fresh_connections_are_fresh(harness);
}

struct Seen {
    samples: Vec<Sample>,
    connections_opened: u64,
}

impl Seen {
    fn outcomes(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for sample in &self.samples {
            *counts.entry(sample.outcome.name()).or_default() += 1;
        }
        counts
    }
}

/// A load of `requests` over `connections`, bounded to 20 s.
fn load(connections: u32, requests: u64, body: String) -> Scenario {
    let mut server = ServerPlan::healthy(1000, Duration::ZERO);
    server.body = body;
    let mut scenario = Scenario::closed(connections, Duration::from_secs(20), server);
    scenario.config.stop.requests = NonZeroU64::new(requests);
    scenario
}

/// Keeps all samples.
struct Kept(Vec<Sample>);

impl Sink for Kept {
    fn record(&mut self, sample: &Sample) {
        self.0.push(*sample);
    }
}

/// Users who all send the same, each from memory of its own that holds something else as soon as its request is over.
struct FromOwnMemory {
    request: Arc<[u8]>,
    own: Vec<Vec<u8>>,
}

impl Script for FromOwnMemory {
    fn next(&mut self, user: u32, now: Instant) -> Next {
        self.own[user as usize].copy_from_slice(&self.request);
        Next::Send(Due { intended: now, kind: RequestKind::Ordinary, target: user, waits: Waits::OF_LOAD })
    }

    fn ask(&mut self, user: u32, _: u32, _: &mut Http1, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.own[user as usize]);
    }

    fn ended(&mut self, user: u32, _: &Sample, response: Option<&Response>) -> bool {
        self.own[user as usize].fill(b'!');
        response.is_some_and(|response| response.status == 200)
    }
}

/// What comes of the scenario where all connections share their request, and where each has its own.
fn run_both(harness: &mut impl Harness, behaviour: &Behaviour, scenario: &Scenario) -> [Seen; 2] {
    let own = |config: Config, sink, start| {
        let request = Arc::clone(&config.request.bytes);
        let own = vec![request.to_vec(); config.connections.get() as usize];
        Engine::scripted(config, sink, FromOwnMemory { request, own }, start)
    };
    [run(harness, behaviour, scenario), run_engine(harness, behaviour, scenario, own)]
}

fn run(harness: &mut impl Harness, behaviour: &Behaviour, scenario: &Scenario) -> Seen {
    run_engine(harness, behaviour, scenario, Engine::new)
}

fn run_engine<P: Script>(
    harness: &mut impl Harness,
    behaviour: &Behaviour,
    scenario: &Scenario,
    make: impl FnOnce(Config, Kept, Instant) -> Engine<Kept, P>,
) -> Seen {
    let config = scenario.config.clone();
    let mut io = harness.start(behaviour, config.connections.get(), &config.request.bytes);
    let start = io.now();
    let mut engine = make(config, Kept(Vec::new()), start);
    drive(&mut engine, &mut io, |_, _| None).expect("the IO works");
    let connections_opened = engine.counters().connections_opened;
    assert_eq!(engine.outstanding(), 0, "{behaviour:?}: requests without an outcome");
    let Kept(samples) = engine.into_sink();
    for sample in &samples {
        let sent = sample.sent.unwrap_or(sample.done);
        let in_order = sample.intended <= sample.ready && sent <= sample.done;
        assert!(in_order && (sample.sent.is_none() || sample.ready <= sent), "{behaviour:?}: {sample:?}");
    }
    Seen { samples, connections_opened }
}

fn answers_are_whole(harness: &mut impl Harness, behaviour: &Behaviour) {
    let Behaviour::Answers { framing, body_bytes, .. } = behaviour else { return };
    let seen = run(harness, behaviour, &load(3, 30, Behaviour::body(*body_bytes)));
    assert_eq!(seen.outcomes(), BTreeMap::from([("answered", 30)]), "{behaviour:?}");
    let all_expected = seen
        .samples
        .iter()
        .all(|sample| matches!(sample.outcome, engine::Outcome::Answered { status: 200, expected: true }));
    assert!(all_expected, "{behaviour:?}: a body was not the expected one");
    let kept = *framing != Answer::CloseDelimited;
    assert_eq!(seen.connections_opened, if kept { 3 } else { 30 }, "{behaviour:?}: connections");
}

fn bodies_that_nobody_looks_at_are_counted(harness: &mut impl Harness) {
    for (body_bytes, piece_bytes) in [(100_000, 1 << 20), (1_000_000, 70_000), (40_000, 20_000)] {
        let framing = Answer::ContentLength;
        let mut scenario = load(40, 200, String::new());
        scenario.config.expect.body = None;
        let seen = run(harness, &Behaviour::Answers { framing, body_bytes, piece_bytes }, &scenario);
        assert_eq!(seen.outcomes(), BTreeMap::from([("answered", 200)]), "{body_bytes} bytes");
        let whole = framing.bytes(200, &Behaviour::body(body_bytes), false).len() as u64;
        let all_whole = seen.samples.iter().all(|sample| sample.received_bytes == whole);
        assert!(all_whole, "{body_bytes} bytes: not all of each answer is counted");
        assert_eq!(seen.connections_opened, 40, "{body_bytes} bytes: the connections are reusable");
    }
}

fn announced_closes_cost_no_request(harness: &mut impl Harness) {
    let seen = run(harness, &Behaviour::ClosesEvery(4), &load(2, 40, "hello".into()));
    assert_eq!(seen.outcomes(), BTreeMap::from([("answered", 40)]));
    // The two users need not make twenty requests each, so the last connection of each may be shorter.
    assert!((10..=11).contains(&seen.connections_opened), "{} connections", seen.connections_opened);
}

fn failures_have_their_own_outcome<T: Harness>(harness: &mut T) {
    for (behaviour, outcome) in [
        (Behaviour::Resets, "reset"),
        (Behaviour::ClosesWithin, "closed_early"),
        (Behaviour::Garbage, "malformed"),
        (Behaviour::Refuses, "connect_failed"),
    ] {
        if behaviour == Behaviour::Resets && !T::RESETS {
            continue;
        }
        let seen = run(harness, &behaviour, &load(2, 6, "hello".into()));
        assert_eq!(seen.outcomes(), BTreeMap::from([(outcome, 6)]), "{behaviour:?}");
    }
}

fn timeouts_end_at_their_bound(harness: &mut impl Harness) {
    let mut scenario = load(3, 6, "hello".into());
    scenario.config.timeouts.request = Duration::from_millis(30);
    let bound = scenario.config.timeouts.request;
    for seen in run_both(harness, &Behaviour::NeverAnswers, &scenario) {
        assert_eq!(seen.outcomes(), BTreeMap::from([("timed_out", 6)]));
        let at_bound = seen.samples.iter().all(|sample| sample.service_time() == Some(bound));
        assert!(at_bound, "a timed-out request lasts exactly its bound");
    }
}

/// A request with a body of so many bytes.
fn post(body_bytes: usize) -> Arc<[u8]> {
    let head = format!("POST / HTTP/1.1\r\nContent-Length: {body_bytes}\r\n\r\n");
    [head.as_bytes(), &vec![b'x'; body_bytes]].concat().into()
}

/// Whoever sends finds the connection reset; what the server said before that is the answer all the same.
fn early_answers_are_answers(harness: &mut impl Harness) {
    for body_bytes in [100_000, 8 << 20] {
        let mut scenario = load(2, 40, "hello".into());
        scenario.config.request.bytes = post(body_bytes);
        for seen in run_both(harness, &Behaviour::AnswersEarly, &scenario) {
            assert_eq!(seen.outcomes(), BTreeMap::from([("answered", 40)]), "{body_bytes} bytes");
            let refused = engine::Outcome::Answered { status: 413, expected: false };
            assert!(seen.samples.iter().all(|sample| sample.outcome == refused), "{body_bytes} bytes");
            assert_eq!(seen.connections_opened, 40, "{body_bytes} bytes: no connection is used again");
        }
        for seen in run_both(harness, &Behaviour::ResetsEarly, &scenario) {
            assert_eq!(seen.outcomes(), BTreeMap::from([("reset", 40)]), "{body_bytes} bytes");
        }
    }
}

fn large_requests_are_sent_whole(harness: &mut impl Harness) {
    let mut scenario = load(2, 4, "hello".into());
    scenario.config.request.bytes = post(8 << 20);
    let behaviour =
        Behaviour::Answers { framing: Answer::ContentLength, body_bytes: 5, piece_bytes: 1 << 20 };
    scenario.config.expect.body = Some(Behaviour::body(5).into_bytes().into());
    for seen in run_both(harness, &behaviour, &scenario) {
        assert_eq!(seen.outcomes(), BTreeMap::from([("answered", 4)]), "requests of 8 MiB");
        assert_eq!(seen.connections_opened, 2, "the connection is reusable once the request is written");
    }
}

fn fresh_connections_are_fresh(harness: &mut impl Harness) {
    let mut scenario = load(2, 12, "hello".into());
    scenario.config.reuse = Reuse::FreshConnection;
    let behaviour =
        Behaviour::Answers { framing: Answer::ContentLength, body_bytes: 5, piece_bytes: 1 << 20 };
    scenario.config.expect.body = Some(Behaviour::body(5).into_bytes().into());
    let seen = run(harness, &behaviour, &scenario);
    assert_eq!(seen.outcomes(), BTreeMap::from([("answered", 12)]));
    assert_eq!(seen.connections_opened, 12);
}
