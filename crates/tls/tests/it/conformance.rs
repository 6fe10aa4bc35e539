//! The conformance suite with TLS over every driver and real sockets.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use driver::{EpollIo, RingSizes, Route, UringIo};
use engine::Io;
use sim::Answer;
use sim::conformance::{Behaviour, EARLY_ANSWER, Harness, suite};
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
        let address = listener.local_addr().expect("a bound address");
        if *behaviour == Behaviour::Refuses {
            drop(listener);
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
    let answer: Arc<[u8]> = match behaviour {
        Behaviour::Answers { framing, body_bytes, .. } => {
            framing.bytes(200, &Behaviour::body(*body_bytes), false).into()
        }
        _ => Arc::default(),
    };
    while let Ok((stream, _)) = listener.accept() {
        let (behaviour, answer) = (behaviour.clone(), Arc::clone(&answer));
        let stream = Stream::new(stream, acceptor);
        std::thread::spawn(move || serve(stream, &behaviour, &answer, request_bytes));
    }
}

/// Serves one connection. IO errors end it: the client has closed.
fn serve(mut stream: Stream, behaviour: &Behaviour, answer: &[u8], request_bytes: usize) {
    if matches!(behaviour, Behaviour::AnswersEarly | Behaviour::ResetsEarly) {
        let _ = stream.read(&mut [0; 256]);
        if *behaviour == Behaviour::ResetsEarly {
            return reset(&stream.socket);
        }
        let _ = stream.write_all(EARLY_ANSWER);
        // What it has not read turns the close into a reset.
        return;
    }
    let mut request = vec![0; request_bytes];
    let mut answers = 0;
    while stream.read_exact(&mut request).is_ok() {
        answers += 1;
        let good = |close| Answer::ContentLength.bytes(200, "hello", close);
        let written = match behaviour {
            Behaviour::Answers { framing, piece_bytes, .. } => {
                let written = answer.chunks(*piece_bytes).try_for_each(|piece| stream.write_all(piece));
                if *framing == Answer::CloseDelimited {
                    return stream.finish();
                }
                written
            }
            Behaviour::ClosesEvery(count) if answers % count == 0 => {
                let _ = stream.write_all(&good(true));
                return stream.finish();
            }
            Behaviour::ClosesEvery(_) => stream.write_all(&good(false)),
            Behaviour::Resets => return reset(&stream.socket),
            Behaviour::ClosesWithin => {
                let _ = stream.write_all(&good(false)[..20]);
                return stream.finish();
            }
            Behaviour::NeverAnswers => Ok(()),
            Behaviour::Garbage => stream.write_all(b"\x16\x03\x01 not HTTP\r\n\r\n"),
            Behaviour::Refuses | Behaviour::AnswersEarly | Behaviour::ResetsEarly => return,
        };
        if written.is_err() {
            return;
        }
    }
}

/// Closing with a linger of zero sends RST instead of FIN.
fn reset(stream: &TcpStream) {
    let linger = Some(std::time::Duration::ZERO);
    rustix::net::sockopt::set_socket_linger(stream, linger).expect("a socket takes a linger time");
}

#[test]
fn tls_over_epoll_conforms() {
    let make = |route, connections| EpollIo::new(route, connections).expect("epoll");
    suite(&mut Sockets { acceptor: acceptor(), make });
}

#[test]
fn tls_over_io_uring_conforms() {
    if let Err(refused) = driver::probe_uring(1) {
        eprintln!("not tried: {refused}");
        return;
    }
    let make = |route, connections| UringIo::new(route, connections, RingSizes::default()).expect("io_uring");
    suite(&mut Sockets { acceptor: acceptor(), make });
}
