//! Servers, and the load that tests start from.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroU64;
use std::sync::Arc;

use driver::{Backend, Control, Finished, Route, run_engine};
use engine::{Config, Expect, GoodStatus, Outcome, Reuse, Sample, Sink};
use sim::{Scenario, ServerPlan};
use tls::{Acceptor, Client, Peers, Session, Settings};
use units::Duration;

/// What is sent.
pub const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
/// The answer to it.
pub const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// A server whose certificate is for `localhost` and `127.0.0.1`.
pub fn acceptor() -> Acceptor {
    Acceptor::self_signed(&["localhost".to_owned(), "127.0.0.1".to_owned()], &[tls::HTTP_1_1])
        .expect("a certificate is made")
}

/// Takes any certificate.
pub fn insecure() -> Settings {
    Settings { insecure: true, ..Settings::default() }
}

/// The server named `localhost`, as `settings` want it.
pub fn peers(settings: &Settings) -> Peers {
    Client::new(settings).and_then(|client| client.peer("localhost")).expect("the settings are good")
}

/// A server's side of a connection over a socket.
pub struct Stream {
    pub socket: TcpStream,
    session: Session,
    plain: Vec<u8>,
    out: Vec<u8>,
    is_over: bool,
}

impl Stream {
    pub fn new(socket: TcpStream, acceptor: &Acceptor) -> Self {
        let session = acceptor.session().expect("a session begins");
        // Else an answer waits until what was sent before it is acknowledged, and is lost where the connection is reset.
        socket.set_nodelay(true).expect("a socket takes it");
        Self { socket, session, plain: Vec::new(), out: Vec::new(), is_over: false }
    }

    /// Ends it as TLS wants it.
    pub fn end(mut self) {
        self.session.say_end(&mut self.out);
        let _ = self.flush();
    }

    /// The same, and waits for the client's end: whether that was as TLS wants it, too.
    pub fn end_and_hear(mut self) -> bool {
        self.session.say_end(&mut self.out);
        let _ = self.flush();
        let mut received = [0; 1024];
        while let Ok(count @ 1..) = self.socket.read(&mut received) {
            if !self.session.receive(&received[..count], &mut self.plain, &mut self.out) {
                return true;
            }
        }
        false
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }
}

impl Read for Stream {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let mut received = [0; 16 * 1024];
        while self.plain.is_empty() && !self.is_over {
            let count = self.socket.read(&mut received)?;
            let goes_on = self.session.receive(&received[..count], &mut self.plain, &mut self.out);
            self.is_over = count == 0 || !goes_on;
            self.flush()?;
        }
        let count = to.len().min(self.plain.len());
        to[..count].copy_from_slice(&self.plain[..count]);
        self.plain.drain(..count);
        Ok(count)
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.session.seal(bytes, &mut self.out);
        self.flush()?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Has `serve` serve each connection on a thread of its own. Ends with the test process.
pub fn listen(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound address");
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            let serve = Arc::clone(&serve);
            std::thread::spawn(move || serve(socket));
        }
    });
    address
}

/// Answers every request, over TLS.
pub fn answering(acceptor: Acceptor) -> SocketAddr {
    listen(move |socket| {
        let mut stream = Stream::new(socket, &acceptor);
        let mut request = vec![0; REQUEST.len()];
        while stream.read_exact(&mut request).is_ok() && stream.write_all(ANSWER).is_ok() {}
    })
}

/// A closed load of `connections` users and so many requests, for two seconds at most.
pub fn config(connections: u32, requests: u64) -> Config {
    let server = ServerPlan::healthy(1, Duration::ZERO);
    let mut config = Scenario::closed(connections, Duration::from_secs(20), server).config;
    config.request.bytes = REQUEST.into();
    config.expect = Expect { status: GoodStatus::Success, body: None };
    config.stop.requests = NonZeroU64::new(requests);
    config
}

/// The same with a connection for each request.
pub fn fresh(connections: u32, requests: u64) -> Config {
    Config { reuse: Reuse::FreshConnection, ..config(connections, requests) }
}

/// Keeps outcomes.
#[derive(Default)]
pub struct Outcomes(pub Vec<Outcome>);

impl Sink for Outcomes {
    fn record(&mut self, sample: &Sample) {
        let is_secured = !matches!(sample.outcome, Outcome::TlsFailed(_));
        assert_eq!(sample.sent.is_some(), is_secured, "nothing was sent where nothing could be: {sample:?}");
        self.0.push(sample.outcome);
    }
}

/// Loads `address` over epoll.
pub fn load(address: SocketAddr, peers: &Peers, config: Config) -> Finished<Outcomes> {
    let route = Route::new(vec![address], 0).expect("a target").secured(Some(peers.clone()));
    let control = Control::default();
    run_engine::<_, http::Http1>(config, (), route, Outcomes::default(), &control, None, Backend::Epoll)
        .expect("epoll works")
}

/// Whether all of so many were answered with 200.
pub fn all_answered(outcomes: &Outcomes, count: usize) -> bool {
    let is_good = |it: &Outcome| matches!(it, Outcome::Answered { status: 200, .. });
    outcomes.0.len() == count && outcomes.0.iter().all(is_good)
}
