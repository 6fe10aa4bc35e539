//! What can go wrong between a driver and the kernel is provoked, made up for, and counted under its own name.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroU64;
use std::sync::mpsc::{Sender, channel};

use driver::{EpollIo, RingSizes, Route, UringIo, UringRefused, probe_uring};
use engine::{Conn, Engine, Io, Outcome, Outgoing, Sample, drive};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use units::Duration;

use crate::common;

/// Answers each request with 500 bytes, a thread a connection.
struct Answering(SocketAddr);

impl Answering {
    /// On a free port. It ends with the test process.
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("a bound address");
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                std::thread::spawn(move || serve(stream));
            }
        });
        Self(address)
    }

    /// The way to it.
    fn route(&self) -> Route {
        Route::new(vec![self.0], 0).expect("one target")
    }
}

/// Until the client closes.
fn serve(mut stream: TcpStream) {
    let answer = [&b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"[..], &[b'x'; 500]].concat();
    let mut request = [0; common::REQUEST.len()];
    while stream.read_exact(&mut request).is_ok() && stream.write_all(&answer).is_ok() {}
}

/// The way to a server that resets each connection when it is told to, one by one. It ends with the test process.
fn resetting() -> (Route, Sender<()>) {
    let (reset, told) = channel();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound address");
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            if told.recv().is_err() {
                return;
            }
            // Closing with a linger of zero sends RST instead of FIN.
            let linger = Some(std::time::Duration::ZERO);
            rustix::net::sockopt::set_socket_linger(&stream, linger).expect("a socket takes a linger time");
        }
    });
    (Route::new(vec![address], 0).expect("one target"), reset)
}

/// Whether io_uring can be tried here; says so where it can't.
fn has_uring() -> bool {
    probe_uring(1).inspect_err(|refused| eprintln!("not tried: {refused}")).is_ok()
}

/// Makes 2000 requests over `io` and gives their outcomes by name.
fn outcomes(io: &mut impl Io<Error = Errno>, connections: u32) -> BTreeMap<&'static str, usize> {
    let mut config = common::config(connections);
    config.stop.requests = NonZeroU64::new(2000);
    let mut counts = BTreeMap::new();
    let sink = |sample: &Sample| *counts.entry(sample.outcome.name()).or_default() += 1;
    let start = io.now();
    let mut engine = Engine::new(config, sink, start);
    drive(&mut engine, io, |_, _| None).expect("the IO works");
    drop(engine);
    counts
}

#[test]
fn a_ring_without_free_buffers_starts_its_receives_again() {
    if !has_uring() {
        return;
    }
    let server = Answering::start();
    // An answer takes two or three of these, and forty come at one time.
    let sizes = RingSizes { buffers: 2, buffer_bytes: 256, ..RingSizes::default() };
    let mut io = UringIo::new(server.route(), 40, sizes).unwrap();
    assert_eq!(outcomes(&mut io, 40), BTreeMap::from([("answered", 2000)]));
    assert!(io.incidents().no_buffer > 0, "{:?}", io.incidents());
    assert_eq!(io.buffers_out(), 0);
}

#[test]
fn completions_that_the_ring_has_no_room_for_are_not_lost() {
    const CONNECTIONS: u32 = 1500;
    if !has_uring() {
        return;
    }
    let conns = || (0..CONNECTIONS).map(|slot| Conn { slot, generation: 1 });
    let sizes = RingSizes { completions: std::num::NonZeroU32::MIN, ..RingSizes::default() };
    let (route, reset) = resetting();
    let mut io = UringIo::new(route, CONNECTIONS, sizes).unwrap();
    for conn in conns() {
        assert_eq!(io.connect(conn, None), None);
        await_events(&mut io, 1);
        // Sooner, it might come before the news that the connection is up, and alone.
        reset.send(()).unwrap();
        await_events(&mut io, 1);
    }
    // A send on a connection that was reset fails when it is submitted, whether or not anybody looks.
    let request = common::REQUEST.into();
    for conn in conns() {
        io.send(conn, Outgoing::Shared(&request));
    }
    await_events(&mut io, CONNECTIONS);
    assert!(io.incidents().completions_held_back > 0, "{:?}", io.incidents());
}

/// Waits for so many events; panics where they do not come.
fn await_events(io: &mut UringIo, count: u32) {
    let mut seen = 0;
    while seen < count {
        io.wait(Some(io.now() + Duration::from_secs(10))).unwrap();
        let before = seen;
        while io.next().is_some() {
            seen += 1;
        }
        assert!(seen > before, "{seen} of {count} events came, and no more do");
    }
}

#[test]
fn a_table_beyond_the_limit_of_open_files_is_refused_with_its_reason() {
    if !has_uring() {
        return;
    }
    let limit = getrlimit(Resource::Nofile).current.expect("a limit of open files");
    let refused = probe_uring(limit as u32 + 1).unwrap_err();
    assert_eq!(refused, UringRefused(Errno::MFILE));
    assert!(refused.to_string().contains("ulimit -n"), "{refused}");
}

/// The limit is the whole process's, so the driver that meets it is run in a process of its own.
#[test]
fn connections_beyond_the_open_files_fail_under_their_own_name() {
    const ROLE: &str = "PROOFLOAD_TEST_FEW_FILES";
    if std::env::var_os(ROLE).is_none() {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "incidents::connections_beyond_the_open_files_fail_under_their_own_name"])
            .env(ROLE, "1")
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        // A name that is no test's would be a success, too.
        assert!(output.status.success() && told.contains("1 passed"), "{told}");
        return;
    }
    // It accepts nothing, which would take files, too.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let route = Route::new(vec![listener.local_addr().unwrap()], 0).unwrap();
    let mut io = EpollIo::new(route, 60).unwrap();
    let hard = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(40), maximum: hard }).unwrap();
    let mut config = common::config(60);
    config.stop.duration = Duration::from_millis(300);
    let mut failures = BTreeMap::new();
    let sink = |sample: &Sample| {
        if let Outcome::ConnectFailed(why) = sample.outcome {
            *failures.entry(why.name()).or_insert(0) += 1;
        }
    };
    let start = io.now();
    let mut engine = Engine::new(config, sink, start);
    drive(&mut engine, &mut io, |_, _| None).expect("the IO works");
    drop(engine);
    assert_eq!(failures.keys().copied().collect::<Vec<_>>(), ["no_free_descriptor"], "{failures:?}");
}
