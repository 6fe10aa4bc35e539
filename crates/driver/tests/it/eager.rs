//! A server that answers before it is asked, as one does that never reads its request.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::num::NonZeroU64;

use driver::{EpollIo, RingSizes, Route, UringIo, probe_uring};
use engine::{Engine, Io, Outcome, Reuse, Sample, drive};
use rustix::io::Errno;

use crate::common;

const REQUESTS: u64 = 300;

/// Writes its answer as soon as a connection is there, and waits for the client to close. It ends with the test process.
fn eager() -> Route {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
            std::thread::spawn(move || stream.read_to_end(&mut Vec::new()));
        }
    });
    Route::new(vec![address], 0).expect("one target")
}

/// Every request is answered, and none is tried on more than one connection.
fn takes_the_answer(io: &mut impl Io<Error = Errno>) {
    let mut config = common::config(8);
    config.reuse = Reuse::FreshConnection;
    config.stop.requests = NonZeroU64::new(REQUESTS);
    let mut answered = 0;
    let sink = |sample: &Sample| answered += u64::from(matches!(sample.outcome, Outcome::Answered { .. }));
    let start = io.now();
    let mut engine = Engine::new(config, sink, start);
    drive(&mut engine, io, |_, _| None).expect("the IO works");
    let counters = engine.counters();
    drop(engine);
    assert_eq!((answered, counters.connections_opened, counters.unsolicited), (REQUESTS, REQUESTS, 0));
}

#[test]
fn epoll_takes_the_answer_of_an_eager_server() {
    takes_the_answer(&mut EpollIo::new(eager(), 8).expect("epoll"));
}

#[test]
fn io_uring_takes_the_answer_of_an_eager_server() {
    if let Err(refused) = probe_uring(8) {
        eprintln!("not tried: {refused}");
        return;
    }
    let ring = UringIo::new(eager(), 8, RingSizes::default());
    takes_the_answer(&mut ring.expect("io_uring"));
}
