//! A server that says more than its answer, at the end of a body that is skipped unread.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::num::NonZeroU64;

use driver::{EpollIo, RingSizes, Route, UringIo, probe_uring};
use engine::{Engine, Io, Outcome, Sample, drive};
use rustix::io::Errno;

use crate::common;

const REQUESTS: u64 = 50;
const BODY_BYTES: usize = 40_000;

/// Answers with a long body and one byte more. It ends with the test process.
fn talkative() -> Route {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound address");
    let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {BODY_BYTES}\r\n\r\n").into_bytes();
    answer.resize(answer.len() + BODY_BYTES + 1, b'x');
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut request = [0; common::REQUEST.len()];
            while stream.read_exact(&mut request).is_ok() && stream.write_all(&answer).is_ok() {}
        }
    });
    Route::new(vec![address], 0).expect("one target")
}

/// The byte is noticed, belongs to no answer, and costs the connection.
fn notices(io: &mut impl Io<Error = Errno>) {
    let mut config = common::config(1);
    config.stop.requests = NonZeroU64::new(REQUESTS);
    let mut answers = Vec::new();
    let sink = |sample: &Sample| {
        if let Outcome::Answered { .. } = sample.outcome {
            answers.push(sample.received_bytes);
        }
    };
    let start = io.now();
    let mut engine = Engine::new(config, sink, start);
    drive(&mut engine, io, |_, _| None).expect("the IO works");
    let counters = engine.counters();
    drop(engine);
    assert!(!answers.is_empty(), "{counters:?}");
    // It may come by itself, after the next request went out, and is malformed then.
    assert!(counters.unsolicited >= 1, "{counters:?}");
    assert!(counters.connections_opened >= 2, "{counters:?}");
    assert!(answers.iter().all(|bytes| *bytes >= BODY_BYTES as u64), "{answers:?}");
}

#[test]
fn epoll_notices_what_comes_after_a_skipped_body() {
    notices(&mut EpollIo::new(talkative(), 1).expect("epoll"));
}

#[test]
fn io_uring_notices_what_comes_after_a_long_body() {
    if let Err(refused) = probe_uring(1) {
        eprintln!("not tried: {refused}");
        return;
    }
    let ring = UringIo::new(talkative(), 1, RingSizes::default());
    notices(&mut ring.expect("io_uring"));
}
