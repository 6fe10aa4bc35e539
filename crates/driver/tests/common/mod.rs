//! A load and a server for tests of drivers.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

use driver::Route;
use engine::{Config, Expect, Load, Request, Reuse, Share, Stop, Timeouts};
use http::{Limits, RequestKind};
use units::{Duration, Seed};

/// What is sent.
pub const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// A closed load of `connections` users for two seconds at most.
pub fn config(connections: u32) -> Config {
    let second = Duration::from_secs(1);
    Config {
        connections: connections.try_into().expect("one connection at least"),
        load: Load::SATURATING,
        stop: Stop { duration: second + second, requests: None },
        warm_up: Duration::ZERO,
        timeouts: Timeouts { connect: second, request: second + second, idle: Duration::MAX, drain: second },
        reuse: Reuse::KeepAlive,
        request: Request { bytes: REQUEST.into(), kind: RequestKind::Ordinary },
        expect: Expect::default(),
        limits: Limits::default(),
        seed: Seed(1),
        share: Share::WHOLE,
    }
}

/// Answers each request with 500 bytes, a thread a connection.
pub struct Answering(SocketAddr);

impl Answering {
    /// On a free port. It ends with the test process.
    pub fn start() -> Self {
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
    pub fn route(&self) -> Route {
        Route::new(vec![self.0], 0).expect("one target")
    }
}

/// Until the client closes.
fn serve(mut stream: TcpStream) {
    let answer = [&b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"[..], &[b'x'; 500]].concat();
    let mut request = [0; REQUEST.len()];
    while stream.read_exact(&mut request).is_ok() && stream.write_all(&answer).is_ok() {}
}

/// The way to a server that resets every connection it accepts. It ends with the test process.
pub fn resetting() -> Route {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound address");
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            // Closing with a linger of zero sends RST instead of FIN.
            let linger = Some(std::time::Duration::ZERO);
            rustix::net::sockopt::set_socket_linger(&stream, linger).expect("a socket takes a linger time");
        }
    });
    Route::new(vec![address], 0).expect("one target")
}
