//! Scripted users over real sockets: each sends its own request to the server it names.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroU32;

use driver::{Backend, Control, Route, probe_uring, run_scripted};
use engine::{
    Begin, Config, Due, Expect, Load, Next, Request, Reuse, Sample, Script, Share, Stop, Timeouts, Waits,
};
use http::{Http1, Limits, RequestKind, Response};
use units::{Duration, Instant, Seed};

/// A server that answers each request with its own name and what it was asked for.
fn server(name: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("accepts");
            std::thread::spawn(move || {
                let mut lines = BufReader::new(stream.try_clone().expect("clones")).lines();
                while let Some(Ok(asked)) = lines.next() {
                    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
                    let body = format!("{name} {asked}");
                    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
                    if stream.write_all(answer.as_bytes()).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

/// Each user asks the two servers in turn, for a path of its own; each tenth request is a long one.
struct Turns {
    made: Vec<u32>,
    requests: Vec<Vec<u8>>,
    bodies: Vec<Vec<u8>>,
}

const EACH: u32 = 30;

impl Script for Turns {
    fn next(&mut self, user: u32, now: Instant) -> Next {
        let made = &mut self.made[user as usize];
        if *made == EACH {
            return Next::Leave;
        }
        *made += 1;
        let padding = if (*made).is_multiple_of(10) { "x".repeat(3_000_000) } else { String::new() };
        self.requests[user as usize] =
            format!("GET /{user}/{made} HTTP/1.1\r\nX: {padding}\r\n\r\n").into_bytes();
        self.bodies[user as usize].clear();
        let target = *made % 2;
        Next::Send(Due { intended: now, kind: RequestKind::Ordinary, target, waits: Waits::OF_LOAD })
    }

    fn ask(&mut self, user: u32, _: u32, _: &mut Http1, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.requests[user as usize]);
    }

    fn body(&mut self, user: u32, piece: &[u8]) {
        self.bodies[user as usize].extend_from_slice(piece);
    }

    fn ended(&mut self, user: u32, sample: &Sample, _: Option<&Response>) -> bool {
        let made = self.made[user as usize];
        let name = ["even", "odd"][made as usize % 2];
        let expected = format!("{name} GET /{user}/{made} HTTP/1.1");
        let body = String::from_utf8_lossy(&self.bodies[user as usize]);
        assert_eq!(body, expected, "{sample:?}");
        true
    }
}

/// Every answer says which request it is of, and the script looks at each.
fn each_user_sends_its_own(backend: Backend) {
    let users = 4;
    let route = Route::new(vec![server("even"), server("odd")], 0).expect("two targets");
    let config = Config {
        connections: NonZeroU32::new(users).expect("some"),
        load: Load::Scripted { users: NonZeroU32::new(users).expect("some") },
        stop: Stop { duration: Duration::from_secs(60), requests: None },
        warm_up: Duration::ZERO,
        begin: Begin::WhenOpen,
        timeouts: Timeouts {
            connect: Duration::from_secs(20),
            request: Duration::from_secs(20),
            idle: Duration::MAX,
            drain: Duration::from_secs(20),
        },
        reuse: Reuse::KeepAlive,
        request: Request { bytes: [].into(), kind: RequestKind::Ordinary },
        expect: Expect::default(),
        keep_wrong: 0,
        limits: Limits::default(),
        seed: Seed(1),
        share: Share::WHOLE,
        requests_of_all: None,
    };
    let script = Turns {
        made: vec![0; users as usize],
        requests: vec![Vec::new(); users as usize],
        bodies: vec![Vec::new(); users as usize],
    };
    let answered = std::cell::Cell::new(0);
    let sink = |sample: &Sample| answered.set(answered.get() + u32::from(sample.outcome.is_answered()));
    let (finished, script) =
        run_scripted::<_, _, Http1>(config, (), route, sink, script, (&Control::default(), None), backend)
            .expect("the IO works");
    assert_eq!(finished.counters.intended, u64::from(users * EACH));
    assert_eq!(script.made, vec![EACH; users as usize]);
    assert_eq!(answered.get(), users * EACH);
}

#[test]
fn over_epoll_each_user_sends_its_own_requests_to_the_server_it_names() {
    each_user_sends_its_own(Backend::Epoll);
}

#[test]
fn over_io_uring_each_user_sends_its_own_requests_to_the_server_it_names() {
    if let Err(refused) = probe_uring(4) {
        eprintln!("not tried: {refused}");
        return;
    }
    each_user_sends_its_own(Backend::Uring);
}
