//! A connection with room for several exchanges: the laws hold for each of them, and one that fails takes nobody with it.
//!
//! The protocol is a made-up one, in frames of a lane, a kind and a length, so that nothing but the engine is tried.

use std::collections::HashMap;
use std::convert::Infallible;
use std::num::NonZeroU64;
use std::sync::Arc;

use engine::{
    Arrivals, Completion, Config, Conn, ConnectFailure, Engine, Event, Io, Load, Outgoing, Sample, Sending,
    Sink, UserStart,
};
use http::{
    EndOfStream, Fed, Framing, Limits, Listener, Malformed, Protocol, RequestKind, RequestSpec, Response,
};
use sim::{Scenario, ServerPlan, drive_until};
use units::{Duration, Instant, Rate, Seed};

use sim::seeds::{FEW, seeds};

use crate::common::Agenda;

const LANES: u32 = 4;
/// A lane, a kind, and how many bytes follow.
const HEAD_BYTES: usize = 3;

/// The kinds of frames.
const ASK: u8 = 1;
const CANCEL: u8 = 2;
const BODY: u8 = 3;
const END: u8 = 4;
/// From the server, of no lane: asks for a [`PONG`].
const PING: u8 = 5;
const PONG: u8 = 6;

fn frame(lane: u8, kind: u8, bytes: &[u8]) -> Vec<u8> {
    [&[lane, kind, bytes.len() as u8], bytes].concat()
}

/// The client's side.
#[derive(Debug)]
struct Lanes {
    /// What came of a frame so far.
    partial: Vec<u8>,
    /// Requests of each lane whose answers are still to come, the cancelled ones included.
    out: [u32; LANES as usize],
    /// Those of them that nobody waits for any more.
    cancelled: [u32; LANES as usize],
    body_bytes: [u64; LANES as usize],
}

impl Protocol for Lanes {
    const MULTIPLEXED: bool = true;

    type Settings = ();
    type Shared = ();

    fn shared(_: Limits, _: RequestKind, (): ()) {}

    fn room((): &()) -> u32 {
        LANES
    }

    fn new((): &()) -> Self {
        let none = [0; LANES as usize];
        Self { partial: Vec::new(), out: none, cancelled: none, body_bytes: [0; LANES as usize] }
    }

    fn begin(&mut self, (): &(), _: &mut Vec<u8>) -> bool {
        *self = Self::new(&());
        true
    }

    fn has_room(&self) -> bool {
        true
    }

    fn is_over(&self) -> bool {
        false
    }

    fn ask(&mut self, place: u32, request: &Arc<[u8]>, out: &mut Vec<u8>) {
        self.out[place as usize] += 1;
        out.extend(frame(place as u8, ASK, request));
    }

    fn ask_for(&mut self, place: u32, request: &RequestSpec<'_>, _: bool, out: &mut Vec<u8>) -> u64 {
        self.out[place as usize] += 1;
        out.extend(frame(place as u8, ASK, request.target.as_bytes()));
        request.target.len() as u64
    }

    fn expect(&mut self, place: u32, _: RequestKind) {
        assert_eq!(self.out[place as usize], self.cancelled[place as usize] + 1, "one request a lane");
    }

    fn cancel(&mut self, place: u32, out: &mut Vec<u8>) -> bool {
        self.cancelled[place as usize] += 1;
        out.extend(frame(place as u8, CANCEL, &[]));
        true
    }

    fn whole<'a>((): &'a (), _: &[u8]) -> Option<&'a Response> {
        None
    }

    fn feed(
        &mut self,
        (): &mut (),
        input: &mut &[u8],
        listener: &mut impl Listener,
        out: &mut Vec<u8>,
    ) -> Result<Fed, Malformed> {
        while let Some((byte, rest)) = input.split_first() {
            *input = rest;
            self.partial.push(*byte);
            let [lane, kind, length, body @ ..] = &self.partial[..] else { continue };
            if body.len() < usize::from(*length) {
                continue;
            }
            let (lane, kind, body) = (usize::from(*lane), *kind, body.to_vec());
            self.partial.clear();
            match kind {
                PING => out.extend(frame(0, PONG, &[])),
                // What a frame that was broken off leaves behind may be anything.
                _ if lane >= LANES as usize => return Err(Malformed::StatusLine),
                BODY | END if self.out[lane] == 0 => return Err(Malformed::Unsolicited),
                // The answers to cancelled requests come first.
                BODY if self.cancelled[lane] > 0 => {}
                END if self.cancelled[lane] > 0 => {
                    (self.cancelled[lane], self.out[lane]) = (self.cancelled[lane] - 1, self.out[lane] - 1);
                }
                BODY => {
                    self.body_bytes[lane] += body.len() as u64;
                    listener.body(lane as u32, &body);
                }
                END => {
                    self.out[lane] -= 1;
                    let body_bytes = std::mem::take(&mut self.body_bytes[lane]);
                    let response = Response {
                        status: 200,
                        keep_alive: true,
                        framing: Framing::ContentLength,
                        head_bytes: HEAD_BYTES as u32,
                        body_bytes,
                        wire_bytes: body_bytes + HEAD_BYTES as u64,
                    };
                    return Ok(Fed::Ended { place: lane as u32, response, surplus: false });
                }
                _ => return Err(Malformed::StatusLine),
            }
        }
        Ok(Fed::NeedMore)
    }

    fn body_bytes_to_come(&self) -> u64 {
        0
    }

    fn skip(&mut self, _: u64) -> Result<Fed, Malformed> {
        Err(Malformed::Unsolicited)
    }

    fn end_of_stream(&mut self) -> EndOfStream {
        EndOfStream::Truncated
    }
}

/// The server's side of one connection.
#[derive(Debug, Default)]
struct Link {
    up: bool,
    received: Vec<u8>,
    /// Whether what was sent last was reported as sent.
    sent: bool,
}

/// A server with chances: it answers after a while in lanes' own order, or not at all; it pings, closes and resets.
struct Server {
    seed: u64,
    drawn: u64,
    faults: bool,
    agenda: Agenda<(Conn, What)>,
    links: HashMap<Conn, Link>,
    lent: Vec<u8>,
    /// What it saw.
    seen: Seen,
}

#[derive(Debug, Default)]
struct Seen {
    asked: u64,
    cancelled: u64,
    pongs: u64,
    pings: u64,
    connects: u64,
    /// Requests that came with others in one send.
    together: u64,
}

#[derive(Debug)]
enum What {
    Connected,
    Refused,
    Sent,
    Bytes(Vec<u8>),
    Closes,
    Resets,
}

impl Server {
    fn new(seed: u64, faults: bool) -> Self {
        Self {
            seed,
            drawn: 0,
            faults,
            agenda: Agenda::default(),
            links: HashMap::new(),
            lent: Vec::new(),
            seen: Seen::default(),
        }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.drawn += 1;
        Seed(self.seed).derive(self.drawn).0 % bound
    }

    /// One time in so many, where there are faults at all.
    fn fails(&mut self, one_in: u64) -> bool {
        self.faults && self.below(one_in) == 0
    }

    fn later(&mut self, after_us: u64, conn: Conn, what: What) {
        // It takes a number as a draw does: what a seed gives depends on that.
        self.drawn += 1;
        self.agenda.later(Duration::from_micros(after_us), (conn, what));
    }

    fn answer(&mut self, conn: Conn, lane: u8) {
        let after_us = 50 + self.below(2_000);
        if self.fails(40) {
            return;
        }
        let mut bytes = [frame(lane, BODY, b"hel"), frame(lane, BODY, b"lo"), frame(lane, END, &[])].concat();
        if self.below(10) == 0 {
            self.seen.pings += 1;
            bytes = [frame(0, PING, b"?"), bytes].concat();
        }
        if self.fails(60) {
            bytes.truncate(7);
            let end = if self.below(2) == 0 { What::Closes } else { What::Resets };
            self.later(after_us + 1, conn, end);
        }
        let cut = self.below(bytes.len() as u64) as usize;
        let rest = bytes.split_off(cut);
        // The pieces of several lanes may not fall among each other's frames, so that both come at one instant.
        for piece in [bytes, rest].into_iter().filter(|piece| !piece.is_empty()) {
            self.later(after_us, conn, What::Bytes(piece));
        }
    }
}

impl Io for Server {
    type Error = Infallible;

    fn now(&self) -> Instant {
        self.agenda.now()
    }

    fn connect(&mut self, conn: Conn, _: Option<u32>) -> Option<Event<'static>> {
        self.seen.connects += 1;
        let what = if self.fails(8) { What::Refused } else { What::Connected };
        self.links.insert(conn, Link { sent: true, ..Link::default() });
        self.later(100, conn, what);
        // Whether or not there is a request.
        for after_us in [5_000, 9_000] {
            self.seen.pings += 1;
            self.later(after_us, conn, What::Bytes(frame(0, PING, b"?")));
        }
        None
    }

    fn send(&mut self, conn: Conn, bytes: Outgoing<'_>) -> Sending {
        let link = self.links.get_mut(&conn).expect("it was opened");
        assert!(link.up && link.sent, "one send after another, on a connection that is up");
        link.received.extend_from_slice(bytes.bytes());
        let mut lanes = Vec::new();
        while let [lane, kind, length, rest @ ..] = &link.received[..]
            && let Some(rest) = rest.get(usize::from(*length)..)
        {
            match *kind {
                ASK => lanes.push(*lane),
                CANCEL => self.seen.cancelled += 1,
                PONG => self.seen.pongs += 1,
                other => panic!("a client sends no {other}"),
            }
            link.received = rest.to_vec();
        }
        assert!(link.received.is_empty(), "whole frames are sent");
        // Sometimes the kernel takes its time.
        link.sent = false;
        let at_once = self.below(3) > 0;
        self.links.get_mut(&conn).expect("as before").sent = at_once;
        self.seen.asked += lanes.len() as u64;
        self.seen.together += lanes.len().saturating_sub(1) as u64;
        for lane in lanes {
            self.answer(conn, lane);
        }
        if !at_once {
            self.later(30, conn, What::Sent);
        }
        if at_once { Sending::Done } else { Sending::UnderWay }
    }

    fn close(&mut self, conn: Conn) {
        self.links.remove(&conn);
    }

    fn wait(&mut self, until: Option<Instant>) -> Result<(), Infallible> {
        self.agenda.pass(until);
        Ok(())
    }

    fn next(&mut self) -> Option<(Instant, Completion<'_>)> {
        let (conn, event) = loop {
            let (conn, what) = self.agenda.due()?;
            let Some(link) = self.links.get_mut(&conn) else { continue };
            if matches!(what, What::Closes | What::Resets | What::Bytes(_)) && !link.up {
                continue;
            }
            let event = match what {
                What::Connected => Event::Connected,
                What::Refused => {
                    self.links.remove(&conn);
                    break (conn, Event::ConnectFailed(ConnectFailure::Refused));
                }
                What::Sent => Event::Sent,
                What::Closes => Event::PeerClosed,
                What::Resets => Event::Reset,
                What::Bytes(bytes) => {
                    self.lent = bytes;
                    Event::Received(&[])
                }
            };
            link.up = matches!(event, Event::Connected | Event::Sent | Event::Received(_));
            link.sent |= event == Event::Sent;
            break (conn, event);
        };
        let event = if let Event::Received(_) = event { Event::Received(&self.lent) } else { event };
        Some((self.agenda.now(), Completion { conn, event, arrived: None }))
    }
}

#[derive(Default)]
struct Kept(Vec<Sample>);

impl Sink for Kept {
    fn record(&mut self, sample: &Sample) {
        self.0.push(*sample);
    }
}

struct Ran {
    samples: Vec<Sample>,
    seen: Seen,
    intended: u64,
    overflow: u64,
}

impl Ran {
    fn count(&self, outcome: &str) -> usize {
        self.samples.iter().filter(|sample| sample.outcome.name() == outcome).count()
    }
}

fn run(config: Config, seed: u64, faults: bool, interrupt_at: Option<Instant>) -> Ran {
    let mut io = Server::new(seed, faults);
    let mut engine = Engine::<_, _, Lanes>::over(config, (), Kept::default(), Instant::ORIGIN);
    drive_until(&mut engine, &mut io, interrupt_at);
    assert_eq!(engine.outstanding(), 0, "seed {seed}: requests without an outcome");
    assert!(io.links.is_empty(), "seed {seed}: connections left open");
    let (intended, overflow) = (engine.counters().intended, engine.counters().backlog_overflow);
    Ran { samples: engine.into_sink().0, seen: io.seen, intended, overflow }
}

fn closed(connections: u32, requests: u64) -> Config {
    let mut config =
        Scenario::closed(connections, Duration::from_secs(60), ServerPlan::healthy(1, Duration::ZERO)).config;
    config.stop.requests = NonZeroU64::new(requests);
    config.request.bytes = b"?"[..].into();
    config
}

#[test]
fn all_lanes_of_a_connection_are_used_and_what_is_sent_in_one_turn_goes_out_together() {
    let ran = run(closed(2, 2_000), 1, false, None);
    assert_eq!((ran.count("answered"), ran.seen.connects), (2_000, 2));
    let all_good = ran.samples.iter().all(|sample| {
        matches!(sample.outcome, engine::Outcome::Answered { status: 200, expected: true })
            && sample.received_bytes == 8
    });
    assert!(all_good, "each lane has its own body");
    assert!(ran.seen.together >= 6, "the first four of each connection at least: {:?}", ran.seen);
    assert!(ran.seen.pings > 50 && ran.seen.pongs >= ran.seen.pings - 2, "{:?}", ran.seen);
    // As many users as there are lanes: two connections' are never out at one time, eight are.
    let most = ran.samples.iter().map(|one| {
        let sent = one.sent.expect("all were sent");
        ran.samples.iter().filter(|it| it.sent.is_some_and(|at| at <= sent) && it.done > sent).count()
    });
    assert_eq!(most.max(), Some(2 * LANES as usize));
}

#[test]
fn a_request_that_times_out_costs_its_connection_nothing() {
    let mut config = closed(1, 400);
    // Of answers that take up to 2.05 ms, some are too late.
    config.timeouts.request = Duration::from_micros(1_900);
    let ran = run(config, 3, false, None);
    let late = ran.count("timed_out");
    assert!(late > 10, "{late} of 400");
    assert_eq!(ran.count("answered") + late, 400);
    assert_eq!(ran.seen.connects, 1, "all of it on one connection");
    // The last may be on their way when the load ends.
    let told = late as u64 - u64::from(LANES)..=late as u64;
    assert!(told.contains(&ran.seen.cancelled), "{:?} of {late}", ran.seen);
    let bound = Some(Duration::from_micros(1_900));
    let at_bound = |sample: &&Sample| sample.outcome.name() == "timed_out" && sample.service_time() == bound;
    assert_eq!(ran.samples.iter().filter(at_bound).count(), late);
}

#[test]
fn what_comes_on_an_idle_connection_is_the_protocols_business() {
    let mut config = closed(1, 3 * u64::from(LANES));
    // Each is answered after some 2 ms at most, and the next is due after the pings.
    let think = Duration::from_millis(20);
    config.load = Load::Closed { think, start: UserStart::WithWarmUp, requests_per_user: None };
    let ran = run(config, 1, false, None);
    assert_eq!(ran.count("answered"), 3 * LANES as usize);
    assert_eq!((ran.seen.connects, ran.seen.pongs), (1, ran.seen.pings), "{:?}", ran.seen);
}

#[test]
fn every_exchange_has_one_outcome_whatever_goes_wrong() {
    let (mut all, mut answered) = (0, 0);
    for seed in seeds(FEW) {
        let random = Scenario::from_seed(Seed(seed));
        let mut config = random.config;
        config.request.bytes = b"?"[..].into();
        config.expect.body = Some(b"hello"[..].into());
        if seed % 5 > 0 {
            config.reuse = engine::Reuse::KeepAlive;
        }
        if let Load::Open { arrivals, .. } = &mut config.load
            && seed % 3 == 0
        {
            *arrivals = Arrivals::Constant(Rate::per_sec(5_000.0).expect("above zero"));
        }
        let ran = run(config.clone(), seed, true, random.interrupt_at);
        assert_eq!(ran.samples.len() as u64, ran.intended, "seed {seed}: one sample a request");
        assert_eq!(ran.count("backlog_overflow") as u64, ran.overflow, "seed {seed}");
        for sample in &ran.samples {
            assert!(
                sample.intended <= sample.ready && sample.intended <= sample.done,
                "seed {seed}: {sample:?}"
            );
            if let Some(sent) = sample.sent {
                assert!(sample.ready <= sent && sent <= sample.done, "seed {seed}: {sample:?}");
                assert!(sample.done.since(sent) <= config.timeouts.request, "seed {seed}: {sample:?}");
            }
        }
        if let Load::Closed { requests_per_user: Some(each), .. } = config.load {
            let users = u64::from(config.connections.get() * LANES);
            assert!(ran.intended <= users * u64::from(each.get()), "seed {seed}");
        }
        (all, answered) = (all + ran.samples.len(), answered + ran.count("answered"));
    }
    assert!(answered * 2 > all, "the seeds hardly tried anything: {answered} of {all}");
}
