//! The conformance suite with TLS over every driver and real sockets.

use std::net::TcpListener;
use std::sync::Arc;

use driver::{EpollIo, RingSizes, Route, UringIo};
use engine::Io;
use sim::conformance::{Behaviour, Harness, Peer, REFUSING_PORT, serve, suite};
use tls::{Acceptor, TlsIo};

use crate::common::{Stream, acceptor, insecure, peers};

/// Real servers, reached through the IO that `make` makes.
struct Sockets<F> {
    acceptor: Acceptor,
    make: F,
}

impl<T: Io<Error: std::fmt::Debug>, F: Fn(Route, u32) -> T> Harness for Sockets<F> {
    type Io = TlsIo<T>;

    fn start(&mut self, behaviour: &Behaviour, connections: u32, request: &[u8]) -> TlsIo<T> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let mut address = listener.local_addr().expect("a bound address");
        if *behaviour == Behaviour::Refuses {
            address.set_port(REFUSING_PORT);
        } else {
            let (behaviour, acceptor, request_bytes) =
                (behaviour.clone(), self.acceptor.clone(), request.len());
            // Ends with the test process: it blocks in `accept` and holds nothing of value.
            std::thread::spawn(move || accept(&listener, &behaviour, &acceptor, request_bytes));
        }
        let route = Route::new(vec![address], 0).expect("a target");
        TlsIo::new((self.make)(route, connections), peers(&insecure()), connections)
    }
}

fn accept(listener: &TcpListener, behaviour: &Behaviour, acceptor: &Acceptor, request_bytes: usize) {
    let answer = behaviour.answer();
    while let Ok((stream, _)) = listener.accept() {
        let (behaviour, answer) = (behaviour.clone(), Arc::clone(&answer));
        let stream = Stream::new(stream, acceptor);
        std::thread::spawn(move || serve(stream, &behaviour, &answer, request_bytes));
    }
}

impl Peer for Stream {
    fn finish(self) {
        self.end();
    }

    /// Closing with a linger of zero sends RST instead of FIN.
    fn reset(self) {
        let linger = Some(std::time::Duration::ZERO);
        rustix::net::sockopt::set_socket_linger(&self.socket, linger).expect("a socket takes a linger time");
    }
}

#[test]
fn tls_over_epoll_conforms() {
    let make = |route, connections| EpollIo::new(route, connections).expect("epoll");
    suite(&mut Sockets { acceptor: acceptor(), make });
}

#[test]
#[ignore = "slow: seconds of handshakes; the same suite over epoll is with every change"]
fn tls_over_io_uring_conforms() {
    if let Err(refused) = driver::probe_uring(1) {
        eprintln!("not tried: {refused}");
        return;
    }
    let make = |route, connections| UringIo::new(route, connections, RingSizes::default()).expect("io_uring");
    suite(&mut Sockets { acceptor: acceptor(), make });
}
