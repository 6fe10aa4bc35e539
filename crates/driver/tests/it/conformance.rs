//! The conformance suite against every driver and real sockets.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;

use driver::{EpollIo, RingSizes, Route, UnixSocket, UringIo};
use engine::Io;
use sim::conformance::{Behaviour, Harness, Peer, REFUSING_PORT, serve, suite};

/// Real servers, reached through the IO that `0` makes.
struct Sockets<F>(F);

impl<T: Io<Error: std::fmt::Debug>, F: Fn(Route, u32) -> T> Harness for Sockets<F> {
    type Io = T;

    fn start(&mut self, behaviour: &Behaviour, connections: u32, request: &[u8]) -> T {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let mut address = listener.local_addr().expect("a bound address");
        if *behaviour == Behaviour::Refuses {
            address.set_port(REFUSING_PORT);
        } else {
            let behaviour = behaviour.clone();
            let request_bytes = request.len();
            // Ends with the test process: it blocks in `accept` and holds nothing of value.
            std::thread::spawn(move || accept(&listener, &behaviour, request_bytes));
        }
        let route = Route::new(vec![address], 0).expect("a target");
        (self.0)(route, connections)
    }
}

fn accept(listener: &TcpListener, behaviour: &Behaviour, request_bytes: usize) {
    let answer = behaviour.answer();
    while let Ok((stream, _)) = listener.accept() {
        let (behaviour, answer) = (behaviour.clone(), Arc::clone(&answer));
        std::thread::spawn(move || serve(Plain(stream), &behaviour, &answer, request_bytes));
    }
}

/// A connection without anything around it.
struct Plain(TcpStream);

impl Read for Plain {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.0.read(to)
    }
}

impl Write for Plain {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Peer for Plain {
    fn finish(self) {}

    /// Closing with a linger of zero sends RST instead of FIN.
    fn reset(self) {
        let linger = Some(std::time::Duration::ZERO);
        rustix::net::sockopt::set_socket_linger(&self.0, linger).expect("a socket takes a linger time");
    }
}

/// Real servers at sockets of this machine, each in a folder of its own, reached through the IO that `make` makes.
struct LocalSockets<F> {
    make: F,
    folders: Vec<tempfile::TempDir>,
}

impl<F> LocalSockets<F> {
    fn new(make: F) -> Self {
        Self { make, folders: Vec::new() }
    }
}

impl<T: Io<Error: std::fmt::Debug>, F: Fn(Route, u32) -> T> Harness for LocalSockets<F> {
    type Io = T;

    /// A socket of this machine knows no reset: who closes with nothing unread has ended in good order.
    const RESETS: bool = false;

    fn start(&mut self, behaviour: &Behaviour, connections: u32, request: &[u8]) -> T {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("server.sock");
        let listener = UnixListener::bind(&path).expect("a free path");
        if *behaviour == Behaviour::Refuses {
            drop(listener);
        } else {
            let behaviour = behaviour.clone();
            let request_bytes = request.len();
            std::thread::spawn(move || accept_local(&listener, &behaviour, request_bytes));
        }
        self.folders.push(folder);
        let socket = UnixSocket::new(&path).expect("a path that is short enough");
        (self.make)(Route::local(socket), connections)
    }
}

fn accept_local(listener: &UnixListener, behaviour: &Behaviour, request_bytes: usize) {
    let answer = behaviour.answer();
    while let Ok((stream, _)) = listener.accept() {
        let (behaviour, answer) = (behaviour.clone(), Arc::clone(&answer));
        std::thread::spawn(move || serve(Local(stream), &behaviour, &answer, request_bytes));
    }
}

/// A connection of a socket of this machine.
struct Local(UnixStream);

impl Read for Local {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.0.read(to)
    }
}

impl Write for Local {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Peer for Local {
    fn finish(self) {}

    /// What is unread then makes it a reset; where nothing is, it is none.
    fn reset(self) {}
}

#[test]
fn epoll_conforms_over_sockets_of_this_machine() {
    suite(&mut LocalSockets::new(|route, connections| EpollIo::new(route, connections).expect("epoll")));
}

#[test]
fn io_uring_conforms_over_sockets_of_this_machine() {
    if let Err(refused) = driver::probe_uring(1) {
        eprintln!("not tried: {refused}");
        return;
    }
    suite(&mut LocalSockets::new(|route, connections| {
        UringIo::new(route, connections, RingSizes::default()).expect("io_uring")
    }));
}

#[test]
fn epoll_conforms() {
    suite(&mut Sockets(|route, connections| EpollIo::new(route, connections).expect("epoll")));
}

#[test]
fn io_uring_conforms() {
    if let Err(refused) = driver::probe_uring(1) {
        eprintln!("not tried: {refused}");
        return;
    }
    suite(&mut Sockets(|route, connections| {
        UringIo::new(route, connections, RingSizes::default()).expect("io_uring")
    }));
}
