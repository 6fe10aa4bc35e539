//! [`engine::Io`] in virtual time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};
use std::convert::Infallible;

use engine::{Completion, Conn, ConnectFailure, Event, Io, Outgoing, Sending};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use units::{Duration, Instant, Seed};

use crate::fault::{Answer, Fault, below};
use crate::server::{Pool, ServerPlan};

/// Something that will happen, in order of time and then of creation.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pending {
    at: Instant,
    sequence: u64,
    slot: u32,
    generation: u32,
    what: What,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Connected,
    Refused,
    RequestArrives,
    WorkerDone,
    Bytes(Vec<u8>),
    PeerCloses,
    Resets,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    Connecting,
    Up,
    /// The peer has closed or reset; only `Close` may follow.
    Over,
}

/// A simulated network with one server behind it.
#[derive(Debug)]
pub struct SimIo {
    plan: ServerPlan,
    random: Xoshiro256PlusPlus,
    now: Instant,
    sequence: u64,
    pending: BinaryHeap<Reverse<Pending>>,
    ready: VecDeque<(Conn, What)>,
    links: HashMap<Conn, Link>,
    ever: HashSet<Conn>,
    answers: HashMap<Conn, u32>,
    pool: Pool,
    lent: Vec<u8>,
    actions: u64,
    fingerprint: u64,
}

impl SimIo {
    /// A network with `plan`'s server, all of whose chances come from `seed`.
    pub fn new(plan: ServerPlan, seed: Seed) -> Self {
        Self {
            plan,
            random: Xoshiro256PlusPlus::seed_from_u64(seed.0),
            now: Instant::ORIGIN,
            sequence: 0,
            pending: BinaryHeap::new(),
            ready: VecDeque::new(),
            links: HashMap::new(),
            ever: HashSet::new(),
            answers: HashMap::new(),
            pool: Pool::default(),
            lent: Vec::new(),
            actions: 0,
            fingerprint: 0xcbf2_9ce4_8422_2325,
        }
    }

    /// Everything the engine did and saw, folded into one number (FNV-1a): equal for equal runs.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Actions carried out.
    pub fn actions(&self) -> u64 {
        self.actions
    }

    /// Connections that were not closed.
    pub fn open_connections(&self) -> usize {
        self.links.len()
    }

    fn fold(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.fingerprint = (self.fingerprint ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Takes note of an action.
    fn note(&mut self, action: &str) {
        self.actions += 1;
        self.fold(format!("{action}@{}", self.now.as_nanos()).as_bytes());
    }

    fn schedule(&mut self, after: Duration, conn: Conn, what: What) {
        self.schedule_at(self.now + after, conn, what);
    }

    fn schedule_at(&mut self, at: Instant, conn: Conn, what: What) {
        self.sequence += 1;
        let Conn { slot, generation } = conn;
        self.pending.push(Reverse(Pending { at, sequence: self.sequence, slot, generation, what }));
    }

    fn request_arrives(&mut self, conn: Conn) {
        if self.pool.busy < self.plan.workers {
            self.pool.busy += 1;
            self.work_on(conn);
        } else {
            self.pool.waiting.push_back(conn);
        }
    }

    fn work_on(&mut self, conn: Conn) {
        let spread = below(&mut self.random, self.plan.service_spread.as_nanos() + 1);
        let done = self.now + self.plan.service_min + Duration::from_nanos(spread);
        let done = self.plan.after_stall(done);
        self.schedule_at(done, conn, What::WorkerDone);
    }

    fn worker_done(&mut self, conn: Conn) {
        self.pool.busy -= 1;
        if let Some(next) = self.pool.waiting.pop_front() {
            self.request_arrives(next);
        }
        let fault = self.plan.faults.draw(&mut self.random);
        self.answer(conn, fault);
    }

    /// Sends what `fault` leaves of the answer.
    fn answer(&mut self, conn: Conn, fault: Fault) {
        let count = self.answers.entry(conn).or_default();
        *count += 1;
        let last = self.plan.close_every.is_some_and(|every| count.is_multiple_of(every));
        let framing = self.plan.answer;
        let network = self.plan.network;
        let good = framing.bytes(200, &self.plan.body, last);
        let closes = last || framing == Answer::CloseDelimited;
        let half = good.len() / 2;
        let (delay, bytes, end) = match fault {
            Fault::None => (network, good, closes.then_some(What::PeerCloses)),
            Fault::Delay(delay) => (network + delay, good, closes.then_some(What::PeerCloses)),
            Fault::Reset => (network, Vec::new(), Some(What::Resets)),
            Fault::ResetWithin => (network, good[..half].to_vec(), Some(What::Resets)),
            Fault::HalfClose => (network, good[..half].to_vec(), Some(What::PeerCloses)),
            Fault::Garbage => (network, b"\x16\x03\x01 not HTTP\r\n\r\n".to_vec(), None),
            Fault::NeverAnswer => return,
            Fault::ErrorStatus => {
                (network, framing.bytes(500, "no", last), closes.then_some(What::PeerCloses))
            }
            Fault::WrongBody => {
                (network, framing.bytes(200, "other", last), closes.then_some(What::PeerCloses))
            }
            Fault::Surplus => (network, [good, b"surplus".to_vec()].concat(), None),
        };
        self.deliver(conn, delay, bytes, end);
    }

    fn deliver(&mut self, conn: Conn, delay: Duration, mut bytes: Vec<u8>, end: Option<What>) {
        let mut delay = delay;
        while self.plan.faults.split_reads && bytes.len() > 1 {
            let rest = bytes.split_off(1 + below(&mut self.random, bytes.len() as u64 - 1) as usize);
            self.schedule(delay, conn, What::Bytes(bytes));
            delay += Duration::from_nanos(below(&mut self.random, 2000));
            bytes = rest;
        }
        if !bytes.is_empty() {
            self.schedule(delay, conn, What::Bytes(bytes));
        }
        if let Some(end) = end {
            self.schedule(delay, conn, end);
        }
    }
}

impl Io for SimIo {
    type Error = Infallible;

    fn now(&self) -> Instant {
        self.now
    }

    /// All servers are the same one; which was named is part of the fingerprint.
    fn connect(&mut self, conn: Conn, target: Option<u32>) -> Option<Event<'static>> {
        self.note(&format!("Connect {conn:?} {target:?}"));
        assert!(self.ever.insert(conn), "{conn:?} connected twice");
        self.links.insert(conn, Link::Connecting);
        let chance = below(&mut self.random, 1000) as u32;
        let faults = &self.plan.faults;
        let round_trip = self.plan.network * 2;
        if chance < faults.refused_per_mille {
            self.schedule(round_trip, conn, What::Refused);
        } else if chance >= faults.refused_per_mille + faults.black_hole_per_mille {
            self.schedule(round_trip, conn, What::Connected);
        }
        None
    }

    fn send(&mut self, conn: Conn, bytes: Outgoing<'_>) -> Sending {
        self.note(&format!("Send {conn:?}"));
        self.fold(bytes.bytes());
        let link = self.links.get(&conn).copied();
        assert!(matches!(link, Some(Link::Up | Link::Over)), "{conn:?} sends while {link:?}");
        if link == Some(Link::Over) {
            return Sending::Broken;
        }
        if let Some(answer) = self.plan.early_answer {
            // Never sent: the rest of the request meets the reset.
            self.deliver(conn, self.plan.network * 2, answer.to_vec(), Some(What::Resets));
            return Sending::UnderWay;
        }
        self.schedule(self.plan.network, conn, What::RequestArrives);
        Sending::Done
    }

    // No `skip`: what comes may be reported as if it had not been said.

    fn close(&mut self, conn: Conn) {
        self.note(&format!("Close {conn:?}"));
        assert!(self.ever.contains(&conn), "{conn:?} closed and never opened");
        self.links.remove(&conn);
    }

    /// # Panics
    /// If nothing is pending and there is nothing to wait for: the load would hang for ever.
    fn wait(&mut self, until: Option<Instant>) -> Result<(), Infallible> {
        let next = self.pending.peek().map(|Reverse(pending)| pending.at);
        let to = [next, until].into_iter().flatten().min().expect("the engine waits for nothing");
        self.now = self.now.max(to);
        while let Some(Reverse(pending)) = self.pending.pop() {
            if pending.at > self.now {
                self.pending.push(Reverse(pending));
                break;
            }
            self.ready.push_back((Conn { slot: pending.slot, generation: pending.generation }, pending.what));
        }
        Ok(())
    }

    fn next(&mut self) -> Option<(Instant, Completion<'_>)> {
        let (conn, event) = loop {
            let (conn, what) = self.ready.pop_front()?;
            match what {
                What::RequestArrives => self.request_arrives(conn),
                What::WorkerDone => self.worker_done(conn),
                what => {
                    let Some(link) = self.links.get_mut(&conn) else { continue };
                    if *link == Link::Over {
                        continue;
                    }
                    *link = match what {
                        What::Connected | What::Bytes(_) => Link::Up,
                        _ => Link::Over,
                    };
                    let event = match what {
                        What::Connected => Event::Connected,
                        What::Refused => {
                            self.links.remove(&conn);
                            Event::ConnectFailed(ConnectFailure::Refused)
                        }
                        What::PeerCloses => Event::PeerClosed,
                        What::Resets => Event::Reset,
                        What::Bytes(bytes) => {
                            self.lent = bytes;
                            Event::Received(&[])
                        }
                        What::RequestArrives | What::WorkerDone => unreachable!("handled above"),
                    };
                    break (conn, event);
                }
            }
        };
        self.fold(format!("{conn:?}{event:?}@{}", self.now.as_nanos()).as_bytes());
        let event = match event {
            Event::Received(_) => Event::Received(&self.lent),
            other => other,
        };
        Some((self.now, Completion { conn, event, arrived: None }))
    }
}
