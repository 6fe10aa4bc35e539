//! A generator that is held up for longer than its timeout finds answers that came meanwhile.

use std::io::{Read, Write};
use std::net::TcpListener;

use driver::{EpollIo, RingSizes, Route, UringIo, probe_uring};
use engine::{Engine, Io, Outcome, Sample, drive};
use rustix::io::Errno;
use units::Duration;

use crate::common;

/// Answers at once. It ends with the test process.
fn prompt() -> Route {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                let mut request = [0; common::REQUEST.len()];
                let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                while stream.read_exact(&mut request).is_ok() && stream.write_all(answer).is_ok() {}
            });
        }
    });
    Route::new(vec![address], 0).expect("one target")
}

/// Where the kernel says when an answer came it was in time; of the others nobody knows.
/// `may_time_out` is how many of the two requests that meet the pause may end so.
fn a_late_look_is_told_from_a_late_answer(
    io: &mut impl Io<Error = Errno>,
    may_time_out: std::ops::RangeInclusive<usize>,
) {
    // What else holds this thread up is shorter.
    let timeout = Duration::from_millis(500);
    // The first connection of sixteen has stamps.
    let mut config = common::config(2);
    config.stop.duration = Duration::from_millis(2500);
    config.timeouts.request = timeout;
    let mut samples = Vec::new();
    let start = io.now();
    let is_stamped = std::cell::Cell::new(false);
    let take = |sample: &Sample| {
        is_stamped.set(is_stamped.get() || sample.receive_lag().is_some());
        samples.push(*sample);
    };
    let mut engine = Engine::new(config, take, start);
    let mut held_up = false;
    drive(&mut engine, io, |engine, now| {
        // Stamps begin a moment after the first socket asked for them, and on a busy machine a longer one.
        let since = now.since(engine.window().start);
        let in_the_middle = since > Duration::from_millis(200) && is_stamped.get();
        if (in_the_middle || since > Duration::from_millis(1200)) && !std::mem::replace(&mut held_up, true) {
            std::thread::sleep(std::time::Duration::from_millis(650));
        }
        None
    })
    .expect("the IO works");
    drop(engine);
    let late: Vec<&Sample> = samples.iter().filter(|it| it.service_time() >= Some(timeout)).collect();
    assert_eq!(late.len(), 2, "a request of each connection met the pause: {late:?}");
    for sample in late {
        if sample.outcome.is_answered() {
            let lay = sample.receive_lag().expect("only a stamp says that it came in time");
            assert!(lay >= timeout, "{sample:?}");
        } else {
            assert_eq!((sample.outcome, sample.service_time()), (Outcome::TimedOut, Some(timeout)));
        }
    }
    let timed_out = samples.iter().filter(|it| it.outcome == Outcome::TimedOut).count();
    assert!(
        may_time_out.contains(&timed_out),
        "{timed_out} timed out, one of them on the connection without stamps"
    );
}

#[test]
fn over_epoll_a_late_look_is_told_from_a_late_answer() {
    a_late_look_is_told_from_a_late_answer(&mut EpollIo::new(prompt(), 2).expect("epoll"), 1..=1);
}

#[test]
fn over_io_uring_a_late_look_is_told_from_a_late_answer() {
    if let Err(refused) = probe_uring(2) {
        eprintln!("not tried: {refused}");
        return;
    }
    let ring = UringIo::new(prompt(), 2, RingSizes::default());
    // A request may be queued when the pause begins, and goes out when it is over: its answer is late by its stamp, too.
    a_late_look_is_told_from_a_late_answer(&mut ring.expect("io_uring"), 1..=2);
}
