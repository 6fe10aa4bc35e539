//! However what is received is cut, and whether sends are done at once or later: the same comes of it.

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
        Self { acceptor, sessions, cut, is_slow, now, happened: VecDeque::new(), lent: Vec::new() }
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
        session.receive(bytes.bytes(), &mut plain, &mut out);
        assert!(plain.len().is_multiple_of(REQUEST.len()), "requests arrive whole");
        for request in plain.chunks(REQUEST.len()) {
            assert_eq!(request, REQUEST);
            session.seal(&ANSWER[..20], &mut out);
            session.seal(&ANSWER[20..], &mut out);
        }
        if self.is_slow {
            self.happened.push_back((conn, What::Sent));
        }
        self.happened.extend(out.chunks(self.cut).map(|piece| (conn, What::Bytes(piece.to_vec()))));
        if self.is_slow { Sending::UnderWay } else { Sending::Done }
    }

    fn close(&mut self, conn: Conn) {
        self.sessions[conn.slot as usize] = None;
        self.happened.retain(|(other, _)| *other != conn);
    }

    fn wait(&mut self, until: Option<Instant>) -> Result<(), Infallible> {
        let soon = self.now + Duration::from_micros(10);
        self.now = until.map_or(soon, |until| until.min(soon)).max(self.now);
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
