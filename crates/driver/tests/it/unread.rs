//! Large requests to a server that reads nothing: each ends with most of it still to be sent, and leaves nothing.

use std::collections::BTreeSet;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroU64;

use driver::{EpollIo, RingSizes, Route, UringIo, probe_uring};
use engine::{Due, Engine, Io, Next, Outcome, Sample, Script, Sink, Waits, drive};
use http::{Http1, RequestKind, Response};
use rustix::io::Errno;
use units::{Duration, Instant};

use crate::common;

const CONNECTIONS: u32 = 4;
const REQUESTS: u64 = 40;

/// Takes connections, does `first` with each, and reads nothing. It ends with the test process.
fn unreading(first: impl Fn(&TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound address");
    std::thread::spawn(move || {
        let mut streams = Vec::new();
        streams.extend(listener.incoming().map_while(Result::ok).inspect(first));
    });
    address
}

fn request() -> Vec<u8> {
    // More than the buffers of both ends take.
    let body = vec![b'x'; 16 << 20];
    let head = format!("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), &body].concat()
}

/// Sockets connected to `port` that somebody still holds: not those that the kernel is to get rid of. Read to its end while
/// other processes open sockets, the table tells of some more than once: each counts once.
fn held(port: u16) -> usize {
    let table = std::fs::read_to_string("/proc/self/net/tcp").expect("proc is mounted");
    let remote = format!(":{port:04X}");
    let inode = |line: &'_ str| -> Option<u64> {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let of_held = fields.len() > 9 && fields[2].ends_with(&remote) && fields[9] != "0";
        if of_held { fields[9].parse().ok() } else { None }
    };
    table.lines().filter_map(inode).collect::<BTreeSet<_>>().len()
}

/// Users who each send the request from memory of their own.
struct FromOwnMemory(Vec<u8>);

impl Script for FromOwnMemory {
    fn next(&mut self, _: u32, now: Instant) -> Next {
        Next::Send(Due { intended: now, kind: RequestKind::Ordinary, target: 0, waits: Waits::OF_LOAD })
    }

    fn ask(&mut self, _: u32, _: u32, _: &mut Http1, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
    }

    fn ended(&mut self, _: u32, _: &Sample, _: Option<&Response>) -> bool {
        false
    }
}

/// Where all connections share the request, and where each has its own. `kept` is what the IO keeps of sends whose
/// connections are closed.
fn leaves_nothing<T: Io<Error = Errno>>(make: impl Fn(Route) -> T, kept: impl Fn(&T) -> usize) {
    leaves_nothing_of(&make, &kept, Engine::new);
    leaves_nothing_of(&make, &kept, |config, outcomes, start| {
        Engine::scripted(config, outcomes, FromOwnMemory(request()), start)
    });
}

/// Takes note of outcomes.
#[derive(Default)]
struct Outcomes(Vec<Outcome>);

impl Sink for Outcomes {
    fn record(&mut self, sample: &Sample) {
        self.0.push(sample.outcome);
    }
}

/// `IO` is alive all the while: what it holds does not go with it.
fn leaves_nothing_of<T: Io<Error = Errno>, P: Script>(
    make: impl Fn(Route) -> T,
    kept: impl Fn(&T) -> usize,
    engine: impl FnOnce(engine::Config, Outcomes, Instant) -> Engine<Outcomes, P>,
) {
    let address = unreading(|_| ());
    let mut io = make(Route::new(vec![address], 0).expect("one target"));
    let mut config = common::config(CONNECTIONS);
    config.stop = engine::Stop { duration: Duration::from_secs(60), requests: NonZeroU64::new(REQUESTS) };
    config.timeouts.request = Duration::from_millis(20);
    config.request.bytes = request().into();
    let mut most_held = 0;
    let mut engine = engine(config, Outcomes::default(), io.now());
    drive(&mut engine, &mut io, |_, _| {
        most_held = most_held.max(held(address.port()));
        None
    })
    .expect("the IO works");
    assert_eq!(engine.into_sink().0, [Outcome::TimedOut; REQUESTS as usize]);
    // What a turn closes goes to the kernel with its wait.
    io.wait(Some(io.now() + Duration::from_millis(20))).expect("the IO works");
    while io.next().is_some() {}
    assert_eq!(held(address.port()), 0, "sockets of requests that timed out are still held");
    assert_eq!(kept(&io), 0, "requests that timed out are still in memory");
    let bound = 2 * CONNECTIONS as usize;
    assert!(most_held <= bound, "{most_held} sockets were held at one time, for {CONNECTIONS} connections");
}

#[test]
fn epoll_lets_a_socket_go_whose_request_timed_out() {
    leaves_nothing(|route| EpollIo::new(route, CONNECTIONS).expect("epoll"), |_| 0);
}

#[test]
#[ignore = "slow: forty requests of 16 MiB; over epoll it is with every change"]
fn io_uring_lets_a_socket_go_whose_request_timed_out() {
    if let Err(refused) = probe_uring(CONNECTIONS) {
        eprintln!("not tried: {refused}");
        return;
    }
    let make = |route| UringIo::new(route, CONNECTIONS, RingSizes::default()).expect("io_uring");
    leaves_nothing(make, UringIo::sends_kept);
}

/// A server that says nothing more, while most of the request is still to be sent, has closed early. Whether it will
/// read the rest is its own affair: that it says no more is known at once.
fn has_closed_early<T: Io<Error = Errno>>(make: impl Fn(Route) -> T) {
    let address = unreading(|stream| stream.shutdown(Shutdown::Write).expect("an open connection"));
    let mut io = make(Route::new(vec![address], 0).expect("one target"));
    let mut config = common::config(CONNECTIONS);
    config.stop = engine::Stop { duration: Duration::from_secs(60), requests: NonZeroU64::new(REQUESTS) };
    config.timeouts.request = Duration::from_secs(5);
    config.request.bytes = request().into();
    let mut engine = Engine::new(config, Outcomes::default(), io.now());
    drive(&mut engine, &mut io, |_, _| None).expect("the IO works");
    assert_eq!(engine.into_sink().0, [Outcome::ClosedEarly; REQUESTS as usize]);
}

#[test]
fn epoll_hears_at_once_of_a_server_that_says_no_more() {
    has_closed_early(|route| EpollIo::new(route, CONNECTIONS).expect("epoll"));
}

#[test]
fn io_uring_hears_at_once_of_a_server_that_says_no_more() {
    if let Err(refused) = probe_uring(CONNECTIONS) {
        eprintln!("not tried: {refused}");
        return;
    }
    has_closed_early(|route| UringIo::new(route, CONNECTIONS, RingSizes::default()).expect("io_uring"));
}
