//! A generator that is held up for longer than its timeout finds answers that came meanwhile.

use std::io::{Read, Write};
use std::net::TcpListener;

use driver::{EpollIo, RingSizes, Route, UringIo, probe_uring};
use engine::{Completion, Conn, Engine, Event, Io, Outcome, Outgoing, Sample, Sending, drive};
use rustix::io::Errno;
use units::{Duration, Instant};

use crate::common;

/// Answers soon, and leaves the cores to other tests. It ends with the test process.
fn prompt() -> Route {
    answering_after(std::time::Duration::from_millis(1))
}

/// Answers a good while before anybody gives up.
fn after_a_moment() -> Route {
    answering_after(std::time::Duration::from_millis(100))
}

fn answering_after(moment: std::time::Duration) -> Route {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                let mut request = [0; common::REQUEST.len()];
                let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                while stream.read_exact(&mut request).is_ok() {
                    std::thread::sleep(moment);
                    if stream.write_all(answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    Route::new(vec![address], 0).expect("one target")
}

/// A ring, where this machine has them.
fn io_uring(route: Route) -> Option<UringIo> {
    if let Err(refused) = probe_uring(2) {
        eprintln!("not tried: {refused}");
        return None;
    }
    Some(UringIo::new(route, 2, RingSizes::default()).expect("io_uring"))
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
    let Some(mut io) = io_uring(prompt()) else { return };
    // A request may be queued when the pause begins, and goes out when it is over: its answer is late by its stamp, too.
    a_late_look_is_told_from_a_late_answer(&mut io, 1..=2);
}

/// An `Io` whose thread is held up once while requests are under way, as by a signal that ends the wait after the process was
/// stopped: the wait tells of nothing, and what came meanwhile lies in the kernel.
struct HeldUp<I> {
    io: I,
    /// The connection with stamps has just sent.
    is_sent: bool,
    may_be: bool,
    for_how_long: Option<std::time::Duration>,
}

impl<I: Io> Io for HeldUp<I> {
    type Error = I::Error;
    const SENDS_A_STAMP: u32 = I::SENDS_A_STAMP;

    fn now(&self) -> Instant {
        self.io.now()
    }

    fn connect(&mut self, conn: Conn, target: Option<u32>) -> Option<Event<'static>> {
        self.io.connect(conn, target)
    }

    fn send(&mut self, conn: Conn, bytes: Outgoing<'_>) -> Sending {
        self.is_sent |= conn.slot == 0;
        self.io.send(conn, bytes)
    }

    fn skip(&mut self, conn: Conn, bytes: u64) {
        self.io.skip(conn, bytes);
    }

    fn close(&mut self, conn: Conn) {
        self.io.close(conn);
    }

    fn wait(&mut self, until: Option<Instant>) -> Result<(), I::Error> {
        let is_sent = std::mem::take(&mut self.is_sent);
        if is_sent
            && self.may_be
            && let Some(pause) = self.for_how_long.take()
        {
            // What is queued goes out.
            let now = self.now();
            self.io.wait(Some(now))?;
            std::thread::sleep(pause);
            return Ok(());
        }
        self.io.wait(until)
    }

    fn next(&mut self) -> Option<(Instant, Completion<'_>)> {
        let (now, completion) = self.io.next()?;
        let is_stamped = completion.arrived.is_some();
        self.may_be |= is_stamped;
        Some((now, completion))
    }

    fn has_more(&self) -> bool {
        self.io.has_more()
    }
}

/// An answer that came while this thread was held up behind its wait is in time where the kernel says so.
fn who_is_held_up_behind_the_wait_looks_again(io: impl Io<Error = Errno>) {
    let timeout = Duration::from_millis(500);
    let mut config = common::config(2);
    config.stop.duration = Duration::from_millis(2500);
    config.timeouts.request = timeout;
    let mut samples = Vec::new();
    let start = io.now();
    let pause = std::time::Duration::from_millis(650);
    let mut io = HeldUp { io, is_sent: false, may_be: false, for_how_long: Some(pause) };
    let mut engine = Engine::new(config, |sample: &Sample| samples.push(*sample), start);
    drive(&mut engine, &mut io, |_, _| None).expect("the IO works");
    drop(engine);
    assert_eq!(io.for_how_long, None, "it was held up");
    let in_time = samples.iter().filter(|it| it.outcome.is_answered() && it.receive_lag() >= Some(timeout));
    assert!(in_time.count() >= 1, "the answer that the kernel stamped was there all the time");
    let timed_out = samples.iter().filter(|it| it.outcome == Outcome::TimedOut).count();
    assert!(timed_out <= 1, "{timed_out} timed out, and one connection has stamps");
}

#[test]
fn over_epoll_who_is_held_up_behind_the_wait_looks_again() {
    who_is_held_up_behind_the_wait_looks_again(EpollIo::new(after_a_moment(), 2).expect("epoll"));
}

#[test]
fn over_io_uring_who_is_held_up_behind_the_wait_looks_again() {
    let Some(io) = io_uring(after_a_moment()) else { return };
    who_is_held_up_behind_the_wait_looks_again(io);
}
