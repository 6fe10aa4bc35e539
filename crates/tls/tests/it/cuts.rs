//! However what is received is cut, and whether sends are done at once or later: the same comes of it. Whatever is done to the
//! bytes, each request has its outcome.

use std::collections::VecDeque;
use std::convert::Infallible;

use engine::{Completion, Conn, Engine, Event, Io, Outgoing, Sample, Sending, drive};
use tls::{Acceptor, Report, Session, Settings, TlsIo, Version};
use units::{Duration, Instant};

use crate::common::{ANSWER, Outcomes, REQUEST, acceptor, all_answered, config, fresh, insecure, peers};

const CONNECTIONS: u32 = 3;
const REQUESTS: u64 = 30;

/// Connections in memory to a server that answers each request.
struct Memory {
    acceptor: Acceptor,
    sessions: Vec<Option<(Conn, Session)>>,
    /// Bytes a read at most.
    cut: usize,
    /// Whether sends are told of later.
    is_slow: bool,
    /// What harm is done to the server's bytes, if any is.
    harm: Option<Harm>,
    now: Instant,
    happened: VecDeque<(Conn, What)>,
    lent: Vec<u8>,
}

enum What {
    Connected,
    Sent,
    Bytes(Vec<u8>),
}

impl Memory {
    fn new(acceptor: Acceptor, cut: usize, is_slow: bool) -> Self {
        let sessions = (0..CONNECTIONS).map(|_| None).collect();
        let now = Instant::ORIGIN;
        Self {
            acceptor,
            sessions,
            cut,
            is_slow,
            harm: None,
            now,
            happened: VecDeque::new(),
            lent: Vec::new(),
        }
    }
}

impl Io for Memory {
    type Error = Infallible;

    fn now(&self) -> Instant {
        self.now
    }

    fn connect(&mut self, conn: Conn, _: Option<u32>) -> Option<Event<'static>> {
        let session = self.acceptor.session().expect("a session begins");
        self.sessions[conn.slot as usize] = Some((conn, session));
        if self.is_slow {
            self.happened.push_back((conn, What::Connected));
            None
        } else {
            Some(Event::Connected)
        }
    }

    fn send(&mut self, conn: Conn, bytes: Outgoing<'_>) -> Sending {
        let Some((_, session)) = &mut self.sessions[conn.slot as usize] else { return Sending::Broken };
        let (mut plain, mut out) = (Vec::new(), Vec::new());
        // A session that was told nonsense answers nothing more.
        let _ = session.receive(bytes.bytes(), &mut plain, &mut out);
        assert!(plain.len().is_multiple_of(REQUEST.len()), "requests arrive whole");
        for request in plain.chunks(REQUEST.len()) {
            assert_eq!(request, REQUEST);
            session.seal(&ANSWER[..20], &mut out);
            session.seal(&ANSWER[20..], &mut out);
        }
        if self.is_slow {
            self.happened.push_back((conn, What::Sent));
        }
        if let Some(harm) = &mut self.harm {
            harm.befall(&mut out);
        }
        self.happened.extend(out.chunks(self.cut).map(|piece| (conn, What::Bytes(piece.to_vec()))));
        if self.is_slow { Sending::UnderWay } else { Sending::Done }
    }

    fn close(&mut self, conn: Conn) {
        self.sessions[conn.slot as usize] = None;
        self.happened.retain(|(other, _)| *other != conn);
    }

    fn wait(&mut self, until: Option<Instant>) -> Result<(), Infallible> {
        // Nothing comes by itself: time goes on to whatever is waited for.
        let soon = self.now + Duration::from_micros(10);
        self.now = until.filter(|_| self.happened.is_empty()).unwrap_or(soon).max(self.now);
        Ok(())
    }

    fn next(&mut self) -> Option<(Instant, Completion<'_>)> {
        let (conn, what) = self.happened.pop_front()?;
        let event = match what {
            What::Connected => Event::Connected,
            What::Sent => Event::Sent,
            What::Bytes(bytes) => {
                self.lent = bytes;
                Event::Received(&self.lent)
            }
        };
        Some((self.now, Completion { conn, event, arrived: None }))
    }
}

/// Harm that follows from a seed.
struct Harm(u64);

impl Harm {
    /// A number below `bound`, by a linear congruence with Knuth's constants.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }

    /// Leaves three of four as they are; else a byte is another one, the end is missing, or all of it comes twice.
    fn befall(&mut self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() || self.below(4) > 0 {
            return;
        }
        let at = self.below(bytes.len());
        match self.below(4) {
            0 => bytes.truncate(at),
            1 => bytes.extend_from_within(..),
            2 => bytes[at.min(4)] ^= 1 << self.below(8),
            _ => bytes[at] ^= 1 << self.below(8),
        }
    }
}

fn run(acceptor: &Acceptor, settings: &Settings, cut: usize, is_slow: bool, is_fresh: bool) -> Report {
    let config = if is_fresh { fresh(CONNECTIONS, REQUESTS) } else { config(CONNECTIONS, REQUESTS) };
    let mut io = TlsIo::new(Memory::new(acceptor.clone(), cut, is_slow), peers(settings), CONNECTIONS);
    let mut outcomes = Outcomes::default();
    let mut engine = Engine::new(config, |sample: &Sample| outcomes.0.push(sample.outcome), Instant::ORIGIN);
    let Ok(()) = drive(&mut engine, &mut io, |_, _| None);
    drop(engine);
    assert!(all_answered(&outcomes, REQUESTS as usize), "cut {cut}, slow {is_slow}: {:?}", outcomes.0);
    io.into_parts().1
}

#[test]
fn other_cuts_and_slow_sends_change_nothing() {
    let acceptor = acceptor();
    for version_max in [Version::Tls12, Version::Tls13] {
        let settings = Settings { version_max, ..insecure() };
        for cut in [1, 2, 7, 100, 1000, 1 << 20] {
            for is_slow in [false, true] {
                for is_fresh in [false, true] {
                    let report = run(&acceptor, &settings, cut, is_slow, is_fresh);
                    let expected = if is_fresh { REQUESTS } else { u64::from(CONNECTIONS) };
                    assert_eq!((report.full, report.resumed, report.others()), (expected, 0, 0));
                    assert!(report.failed.is_empty() && report.broken.is_empty(), "{report:?}");
                }
            }
        }
    }
}

#[test]
fn whatever_is_done_to_the_bytes_each_request_has_one_outcome() {
    let acceptor = acceptor();
    let mut harmed = 0;
    for seed in 0..300 {
        let version_max = if seed % 2 == 0 { Version::Tls12 } else { Version::Tls13 };
        let (cut, is_slow) = ([1, 90, 1 << 20][seed as usize % 3], seed % 5 == 0);
        let config = if seed % 7 == 0 { fresh(CONNECTIONS, REQUESTS) } else { config(CONNECTIONS, REQUESTS) };
        let memory = Memory { harm: Some(Harm(seed)), ..Memory::new(acceptor.clone(), cut, is_slow) };
        let mut io = TlsIo::new(memory, peers(&Settings { version_max, ..insecure() }), CONNECTIONS);
        let mut outcomes = Outcomes::default();
        let mut engine =
            Engine::new(config, |sample: &Sample| outcomes.0.push(sample.outcome), Instant::ORIGIN);
        let Ok(()) = drive(&mut engine, &mut io, |_, _| None);
        let (outstanding, intended) = (engine.outstanding(), engine.counters().intended);
        drop(engine);
        let (inner, report) = io.into_parts();
        assert!(inner.sessions.iter().all(Option::is_none), "seed {seed}: a connection was left open");
        assert_eq!((outstanding, outcomes.0.len() as u64), (0, intended), "seed {seed}: {:?}", outcomes.0);
        harmed += u64::from(!report.failed.is_empty()) + u64::from(!report.broken.is_empty());
    }
    assert!(harmed > 100, "the harm was noticed {harmed} times");
}
