//! Five thousand connections to a server that answers, closes, resets, stops half-way and falls silent at random, so
//! that operations are cancelled in every state they can be in; then some to one that never reads, with requests of
//! megabytes. Afterwards no descriptor, buffer, socket or slot is missing, and memory has not grown.
//!
//!     cargo run --release -p proofload-driver --example stress -- [SECONDS A DRIVER, default 300]

use std::collections::{BTreeMap, VecDeque};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration as StdDuration, Instant};

use driver::{EpollIo, RingSizes, Route, UringIo, probe_uring};
use engine::{Config, Engine, Expect, Io, Sample, Timeouts, drive};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use sim::{Scenario, ServerPlan};
use units::Duration;

const CONNECTIONS: u32 = 5000;
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
/// Connections to the server that never reads: each fills the kernel's buffers of both ends.
const UNREAD_CONNECTIONS: u32 = 32;
/// More than those buffers take.
const UNREAD_BODY_BYTES: usize = 16 << 20;
/// How long that server keeps a connection, of which it reads nothing.
const UNREAD_KEPT: StdDuration = StdDuration::from_millis(300);
/// Growth of resident memory, after the first fifth of the time, that is still taken for noise.
const GROWTH_KIB_MAX: u64 = 4096;

fn main() {
    let seconds = std::env::args().nth(1).map_or(300, |text| text.parse().expect("a number of seconds"));
    let span = Duration::from_secs(seconds);
    driver_under_stress("epoll", span, |route| EpollIo::new(route, CONNECTIONS), |_| 0);
    requests_that_nobody_reads("epoll", span / 10, |route| EpollIo::new(route, UNREAD_CONNECTIONS));
    match probe_uring(CONNECTIONS) {
        Ok(()) => {
            driver_under_stress(
                "io_uring",
                span,
                |route| UringIo::new(route, CONNECTIONS, RingSizes::default()),
                UringIo::buffers_out,
            );
            requests_that_nobody_reads("io_uring", span / 10, |route| {
                UringIo::new(route, UNREAD_CONNECTIONS, RingSizes::default())
            });
        }
        Err(refused) => println!("io_uring: not tried, {refused}"),
    }
}

/// Runs one driver, and panics where something is missing afterwards.
fn driver_under_stress<I: Io<Error = Errno>>(
    name: &str,
    span: Duration,
    make: impl FnOnce(Route) -> Result<I, Errno>,
    buffers_out: impl FnOnce(&I) -> u32,
) {
    let before = open_files();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let route = Route::new(vec![listener.local_addr().expect("an address")], 0).expect("one target");
    let (stop, stopped) = std::sync::mpsc::channel();
    let server = std::thread::spawn(move || serve(&listener, &stopped));
    let mut io = make(route).expect("the driver starts");
    let mut outcomes: BTreeMap<&str, u64> = BTreeMap::new();
    let start = io.now();
    let mut engine = Engine::new(
        config(span),
        |sample: &Sample| *outcomes.entry(sample.outcome.name()).or_default() += 1,
        start,
    );
    let mut settled_kib = None;
    drive(&mut engine, &mut io, |_, now| {
        if settled_kib.is_none() && now.since(start).as_nanos() > span.as_nanos() / 5 {
            settled_kib = Some(resident_kib());
        }
        None
    })
    .expect("the driver works");
    assert_eq!(engine.outstanding(), 0, "{name}: requests without an outcome");
    let opened = engine.counters().connections_opened;
    drop(engine);
    let grown_kib = resident_kib().saturating_sub(settled_kib.unwrap_or(u64::MAX));
    assert_eq!(buffers_out(&io), 0, "{name}: buffers that were not given back");
    drop(io);
    drop(stop);
    server.join().expect("the server ends");
    assert_eq!(open_files(), before, "{name}: descriptors that were not closed");
    assert!(grown_kib < GROWTH_KIB_MAX, "{name}: memory grew by {grown_kib} KiB");
    println!("{name}: {span}, {opened} connections, memory grew by {grown_kib} KiB, {outcomes:?}");
}

fn post() -> Vec<u8> {
    let head = format!("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {UNREAD_BODY_BYTES}\r\n\r\n");
    [head.as_bytes(), &vec![b'x'; UNREAD_BODY_BYTES]].concat()
}

/// Requests of megabytes that all time out half-sent. Panics where the driver holds more sockets than it has connections,
/// or any afterwards.
fn requests_that_nobody_reads<I: Io<Error = Errno>>(
    name: &str,
    span: Duration,
    make: impl FnOnce(Route) -> Result<I, Errno>,
) {
    let before = open_files();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let route = Route::new(vec![address], 0).expect("one target");
    let (stop, stopped) = std::sync::mpsc::channel();
    let server = std::thread::spawn(move || keep_unread(&listener, &stopped));
    let mut io = make(route).expect("the driver starts");
    let mut config = Config { connections: UNREAD_CONNECTIONS.try_into().expect("some"), ..config(span) };
    config.timeouts.request = Duration::from_millis(100);
    config.request.bytes = post().into();
    let (mut outcomes, mut most_held) = (BTreeMap::<&str, u64>::new(), 0);
    let sink = |sample: &Sample| *outcomes.entry(sample.outcome.name()).or_default() += 1;
    let start = io.now();
    let mut engine = Engine::new(config, sink, start);
    drive(&mut engine, &mut io, |_, _| {
        most_held = most_held.max(held(address.port()));
        None
    })
    .expect("the driver works");
    drop(engine);
    io.wait(Some(io.now() + Duration::from_millis(100))).expect("the driver works");
    assert_eq!(held(address.port()), 0, "{name}: sockets that were not let go");
    assert!(most_held <= 2 * UNREAD_CONNECTIONS as usize, "{name}: {most_held} sockets at one time");
    drop(io);
    drop(stop);
    server.join().expect("the server ends");
    assert_eq!(open_files(), before, "{name}: descriptors that were not closed");
    println!("{name}: {span} of requests that nobody reads, {most_held} sockets at the most, {outcomes:?}");
}

/// Keeps each connection for [`UNREAD_KEPT`], and reads nothing, until the other end of `stopped` is dropped.
fn keep_unread(listener: &TcpListener, stopped: &std::sync::mpsc::Receiver<()>) {
    listener.set_nonblocking(true).expect("a listener can be non-blocking");
    let mut streams = VecDeque::new();
    while stopped.try_recv() != Err(std::sync::mpsc::TryRecvError::Disconnected) {
        while let Ok((stream, _)) = listener.accept() {
            streams.push_back((Instant::now(), stream));
        }
        while streams.front().is_some_and(|(since, _): &(Instant, TcpStream)| since.elapsed() > UNREAD_KEPT) {
            streams.pop_front();
        }
        std::thread::sleep(StdDuration::from_millis(1));
    }
}

/// Sockets connected to `port` that this process still holds: the kernel gets rid of the others.
fn held(port: u16) -> usize {
    let table = std::fs::read_to_string("/proc/self/net/tcp").expect("proc is mounted");
    let remote = format!(":{port:04X}");
    let is_held = |line: &&str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        fields.len() > 9 && fields[2].ends_with(&remote) && fields[9] != "0"
    };
    table.lines().filter(is_held).count()
}

fn config(span: Duration) -> Config {
    let second = Duration::from_secs(1);
    let mut config = Scenario::closed(CONNECTIONS, span, ServerPlan::healthy(1, Duration::ZERO)).config;
    // Short, so that silence ends in a cancellation rather than in a wait.
    config.timeouts = Timeouts { connect: second, request: second, idle: Duration::MAX, drain: second };
    config.request.bytes = REQUEST.into();
    config.expect = Expect::default();
    config
}

/// One thread for all connections, until the other end of `stopped` is dropped and all of them are closed.
fn serve(listener: &TcpListener, stopped: &std::sync::mpsc::Receiver<()>) {
    listener.set_nonblocking(true).expect("a listener can be non-blocking");
    let set = epoll::create(epoll::CreateFlags::CLOEXEC).expect("an epoll set");
    let mut streams: Vec<Option<TcpStream>> = Vec::new();
    let mut chance = Chance(1);
    let mut events = Vec::with_capacity(256);
    loop {
        while let Ok((stream, _)) = listener.accept() {
            stream.set_nonblocking(true).expect("a stream can be non-blocking");
            let place = streams.iter().position(Option::is_none).unwrap_or(streams.len());
            epoll::add(&set, &stream, EventData::new_u64(place as u64), EventFlags::IN).expect("room");
            if place == streams.len() {
                streams.push(Some(stream));
            } else {
                streams[place] = Some(stream);
            }
        }
        let over = stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Disconnected);
        if over {
            return;
        }
        let wait = rustix::event::Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
        events.clear();
        let _ = epoll::wait(&set, rustix::buffer::spare_capacity(&mut events), Some(&wait));
        for event in &events {
            let place = event.data.u64() as usize;
            let Some(stream) = &mut streams[place] else { continue };
            if !answer(stream, &mut chance) {
                streams[place] = None;
            }
        }
    }
}

/// Does something with a request; whether the connection stays.
fn answer(stream: &mut TcpStream, chance: &mut Chance) -> bool {
    let mut request = [0; 256];
    match stream.read(&mut request) {
        Ok(0) => return false,
        Ok(_) => {}
        Err(error) => return error.kind() == std::io::ErrorKind::WouldBlock,
    }
    let body = vec![b'x'; chance.below(3000)];
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    let whole = [head.as_bytes(), &body].concat();
    let half = &whole[..whole.len() / 2];
    match chance.below(1000) {
        0..970 => stream.write_all(&whole).is_ok(),
        970..980 => stream.write_all(&whole).is_ok() && chance.below(2) == 0,
        980..986 => {
            // Closing with a linger of zero sends RST instead of FIN.
            let _ = rustix::net::sockopt::set_socket_linger(&*stream, Some(StdDuration::ZERO));
            false
        }
        986..992 => stream.write_all(half).is_ok() && chance.below(2) == 0,
        _ => true,
    }
}

/// Repeatable chance; its quality does not matter here (Marsaglia's xorshift, 64 bits).
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("proc is mounted").count()
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("proc is mounted");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a resident size");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}
