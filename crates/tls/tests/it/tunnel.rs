//! The conformance suite through a tunnel of SOCKS, over every driver and real sockets: behind it, bytes are as they are.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use driver::{EpollIo, RingSizes, Route, UringIo};
use engine::Io;
use sim::conformance::{Behaviour, Harness, Peer, REFUSING_PORT, serve, suite};
use tls::{Client, TlsIo, Tunnel};

use crate::common::insecure;

/// Real servers that are their own proxies, reached through the IO that `make` makes.
struct Tunnelled<F> {
    make: F,
}

impl<T: Io<Error: std::fmt::Debug>, F: Fn(Route, u32) -> T> Harness for Tunnelled<F> {
    type Io = TlsIo<T>;

    fn start(&mut self, behaviour: &Behaviour, connections: u32, request: &[u8]) -> TlsIo<T> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let mut address = listener.local_addr().expect("a bound address");
        if *behaviour == Behaviour::Refuses {
            address.set_port(REFUSING_PORT);
        } else {
            let (behaviour, request_bytes) = (behaviour.clone(), request.len());
            // Ends with the test process: it blocks in `accept` and holds nothing of value.
            std::thread::spawn(move || accept(&listener, &behaviour, request_bytes));
        }
        let peers = Client::new(&insecure()).and_then(|client| client.peers(&[None]));
        let tunnel = Tunnel::socks("127.0.0.1", address.port(), Some(("me", "secret"))).expect("it is short");
        let peers = peers.expect("the settings are good").through(tunnel);
        let route = Route::new(vec![address], 0).expect("a target");
        TlsIo::new((self.make)(route, connections), peers, connections)
    }
}

fn accept(listener: &TcpListener, behaviour: &Behaviour, request_bytes: usize) {
    let answer = behaviour.answer();
    while let Ok((mut stream, _)) = listener.accept() {
        let (behaviour, answer) = (behaviour.clone(), Arc::clone(&answer));
        std::thread::spawn(move || {
            // Where the client goes before there is a tunnel, nobody is left to serve.
            if open(&mut stream).is_ok() {
                serve(Plain(stream), &behaviour, &answer, request_bytes);
            }
        });
    }
}

/// The proxy's side of a tunnel to an IPv4 address, with a login.
fn open(stream: &mut TcpStream) -> io::Result<()> {
    let said: [(usize, &[u8]); 3] =
        [(4, &[5, 2]), (1 + 1 + 2 + 1 + 6, &[1, 0]), (10, &[5, 0, 0, 1, 127, 0, 0, 1, 0, 0])];
    for (bytes, answer) in said {
        stream.read_exact(&mut vec![0; bytes])?;
        stream.write_all(answer)?;
    }
    Ok(())
}

struct Plain(TcpStream);

impl Read for Plain {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
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

#[test]
#[ignore = "slow: seconds of handshakes; without a tunnel the suite is with every change"]
fn a_tunnel_over_epoll_conforms() {
    let make = |route, connections| EpollIo::new(route, connections).expect("epoll");
    suite(&mut Tunnelled { make });
}

#[test]
#[ignore = "slow: seconds of handshakes; the same suite over epoll is with every change"]
fn a_tunnel_over_io_uring_conforms() {
    if let Err(refused) = driver::probe_uring(1) {
        eprintln!("not tried: {refused}");
        return;
    }
    let make = |route, connections| UringIo::new(route, connections, RingSizes::default()).expect("io_uring");
    suite(&mut Tunnelled { make });
}
