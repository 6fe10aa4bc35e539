//! A simulated server of HTTP/2, which allows so many streams a connection and serves so many requests at a time, asked by users
//! who share connections: how often what limits it is named, and how often the other.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use explain::VerdictKind;
use record::{IdleAnswers, Measured};
use units::Duration;

use crate::reasons::{kind, signals};
use crate::samples::times;
use crate::simulated::{Chance, NEIGHBOURS, NOBODY, Others};
use crate::workers::{all, node};

const TRIES: u64 = 40;
const ANSWERS: u64 = 2_000;
const IDLE_ANSWERS: u32 = 100;
/// What a client does between one answer and the next request, µs.
const CLIENT_US: f64 = 150.0;

#[derive(Clone, Copy)]
struct Server {
    users: u32,
    connections: u32,
    /// Streams of a connection at a time.
    allowed: u32,
    /// Requests that are served at a time, of all connections.
    inside: u32,
    /// How long each is, µs; of `spread` of that, evenly, it may be more or less.
    held_us: f64,
    spread: f64,
}

impl Server {
    fn takes_us(self, others: Others, chance: &mut Chance) -> f64 {
        self.held_us * (1.0 + self.spread * (2.0 * chance.share() - 1.0)) + others.delay_us(chance)
    }
}

/// What happens at an instant, ns.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    /// A user of this connection asks.
    Asks(u32),
    /// The answer is there to what has had a stream of this connection from that instant on.
    Answered(u32, u64),
}

/// A load that never ends, under way.
struct Load {
    server: Server,
    others: Others,
    chance: Chance,
    next: BinaryHeap<Reverse<(u64, Next)>>,
    /// Streams of each connection.
    open: Vec<u32>,
    /// Who waits for one of each connection, and since when.
    waiting: Vec<VecDeque<u64>>,
    served: u32,
    /// Who waits to be served: on which connection, and since when with a stream.
    queued: VecDeque<(u32, u64)>,
    waits: u64,
    wait_ns: u64,
    service_ns: u64,
}

fn ns(us: f64) -> u64 {
    (us * 1e3) as u64
}

impl Load {
    fn new(server: Server, others: Others, chance: Chance) -> Self {
        let count = server.connections as usize;
        let next = (0..server.users).map(|user| Reverse((0, Next::Asks(user % server.connections))));
        Self {
            server,
            others,
            chance,
            next: next.collect(),
            open: vec![0; count],
            waiting: vec![VecDeque::new(); count],
            served: 0,
            queued: VecDeque::new(),
            waits: 0,
            wait_ns: 0,
            service_ns: 0,
        }
    }

    /// Goes on until so many were answered; says when that is.
    fn run(&mut self, answers: u64) -> u64 {
        let mut answered = 0;
        while let Some(Reverse((now, next))) = self.next.pop() {
            match next {
                Next::Asks(on) if self.open[on as usize] < self.server.allowed => {
                    self.open[on as usize] += 1;
                    self.enter(on, now, now);
                }
                Next::Asks(on) => {
                    self.waits += 1;
                    self.waiting[on as usize].push_back(now);
                }
                Next::Answered(on, since) => {
                    self.service_ns += now - since;
                    self.leave(on, now);
                    answered += 1;
                    if answered == answers {
                        return now;
                    }
                }
            }
        }
        unreachable!("users ask again")
    }

    /// Has what has a stream served, or wait for that.
    fn enter(&mut self, on: u32, since: u64, now: u64) {
        if self.served == self.server.inside {
            return self.queued.push_back((on, since));
        }
        self.served += 1;
        let takes_us = self.server.takes_us(self.others, &mut self.chance);
        self.next.push(Reverse((now + ns(takes_us), Next::Answered(on, since))));
    }

    /// What was served leaves its place and its stream to the next, and its user asks again.
    fn leave(&mut self, on: u32, now: u64) {
        self.served -= 1;
        if let Some((on, since)) = self.queued.pop_front() {
            self.enter(on, since, now);
        }
        match self.waiting[on as usize].pop_front() {
            Some(since) => {
                self.wait_ns += now - since;
                self.enter(on, now, now);
            }
            None => self.open[on as usize] -= 1,
        }
        self.next.push(Reverse((now + ns(CLIENT_US), Next::Asks(on))));
    }
}

/// What `server` shows of itself.
fn asked(server: Server, others: Others, seed: u64) -> Measured {
    let mut load = Load::new(server, others, Chance(seed));
    let lasted_s = load.run(ANSWERS) as f64 / 1e9;
    let rate = ANSWERS as f64 / lasted_s;
    let idle = || Duration::from_secs_f64(server.takes_us(others, &mut load.chance) / 1e6);
    let idle: Vec<Duration> = std::iter::repeat_with(idle).take(IDLE_ANSWERS as usize).collect();
    let idle = IdleAnswers::of(&idle).unwrap();
    let mut trial = node(rate, 0.05);
    signals(&mut trial).connections = Some(all(server.connections));
    signals(&mut trial).unread = Some(all(0));
    (trial.contract.idle_service_time_us, trial.contract.idle_answers) = (idle.shortest_us, Some(idle));
    let told = &mut trial.load;
    (told.load.connections, told.load.streams) =
        (server.connections, Some(server.users / server.connections));
    (told.load.warm_up_s, told.window.duration_s) = (0.0, lasted_s);
    (told.connections.stream_waits, told.connections.stream_wait_us) = (load.waits, load.wait_ns / 1_000);
    let service_us = load.service_ns as f64 / 1e3 / ANSWERS as f64;
    told.service_time_us = times(ANSWERS, service_us);
    told.response_time_us = times(ANSWERS, f64::from(server.users) / rate * 1e6);
    trial
}

#[test]
fn streams_are_no_limit_inside_and_a_limit_inside_is_no_lack_of_streams() {
    use VerdictKind::{LimitInside, StreamLimit};
    let server = |users, connections, allowed, inside, held_us, spread| Server {
        users,
        connections,
        allowed,
        inside,
        held_us,
        spread,
    };
    let cases = [
        ("4 streams on each of 4 connections", server(64, 4, 4, u32::MAX, 50_000.0, 0.0), StreamLimit),
        ("10 streams on one, more or less", server(32, 1, 10, u32::MAX, 20_000.0, 0.5), StreamLimit),
        ("one stream on each of 2", server(16, 2, 1, u32::MAX, 30_000.0, 0.2), StreamLimit),
        ("6 inside of 32 with a stream", server(64, 2, 16, 6, 50_000.0, 0.0), LimitInside),
        ("20 inside of 24 with a stream", server(64, 1, 24, 20, 40_000.0, 0.0), LimitInside),
    ];
    for (name, server, right) in cases {
        let wrong = if right == StreamLimit { LimitInside } else { StreamLimit };
        for (others, right_min, wrong_max) in [(NOBODY, 0.95, 0.01), (NEIGHBOURS, 0.6, 0.03)] {
            let kinds: Vec<VerdictKind> =
                (0..TRIES).map(|seed| kind(&asked(server, others, 1 + seed * 7_919))).collect();
            let share = |of| kinds.iter().filter(|it| **it == of).count() as f64 / TRIES as f64;
            let (named, misnamed, beside) = (share(right), share(wrong), others.share);
            assert!(misnamed <= wrong_max, "{name}, {beside}: misnamed {misnamed}, named {named}");
            assert!(named >= right_min, "{name}, {beside}: named {named}");
        }
    }
}
