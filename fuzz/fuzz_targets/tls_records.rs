//! Any harm to what a TLS server sends, anywhere and however it is cut: nothing panics, what is kept is bounded, and no plain
//! byte comes out that the server did not put in.
//!
//! Run: `cargo +nightly fuzz run tls_records fuzz/corpus/tls_records -- -max_total_time=60`. Keys differ from run to run, so
//! that a find may need its input several times; make it a named test in `crates/tls/tests/it`.
#![no_main]

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::LazyLock;

use engine::{Completion, Conn, Event, Io, Outgoing, Sending};
use libfuzzer_sys::fuzz_target;
use tls::{Acceptor, Client, HTTP_1_1, Session, Settings, TlsIo, Version};
use units::Instant;

const ASKED: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
const CONN: Conn = Conn { slot: 0, generation: 1 };
/// Requests that are made at most.
const REQUESTS_MAX: usize = 8;

static ACCEPTOR: LazyLock<Acceptor> =
    LazyLock::new(|| Acceptor::self_signed(&["localhost".to_owned()], &[HTTP_1_1]).expect("a certificate"));

fuzz_target!(|input: &[u8]| {
    let Some(([version, cut, slow], harm)) = input.split_first_chunk::<3>() else { return };
    let version_max = if version % 2 == 0 { Version::Tls13 } else { Version::Tls12 };
    let settings = Settings { insecure: true, version_max, ..Settings::default() };
    let peers = Client::new(&settings).and_then(|it| it.peer("localhost")).expect("good settings");
    let server = Server {
        session: ACCEPTOR.session().expect("a session"),
        cut: usize::from(*cut).max(1),
        is_slow: slow % 2 == 1,
        harm,
        happened: VecDeque::new(),
        lent: Vec::new(),
    };
    let mut io = TlsIo::new(server, peers, 1);
    let (mut plain, mut asked) = (Vec::new(), 0);
    let mut came = io.connect(CONN, None);
    loop {
        let event = match came.take() {
            Some(event) => Some(event),
            None => match io.next() {
                None => break,
                Some((_, Completion { event: Event::Received(bytes), .. })) => {
                    plain.extend_from_slice(bytes);
                    None
                }
                Some((_, Completion { event: Event::Connected, .. })) => Some(Event::Connected),
                Some((_, Completion { event: Event::Sent | Event::Securing, .. })) => None,
                Some(_) => break,
            },
        };
        let wants_more = event.is_some() || plain.len() == asked * ANSWER.len();
        if matches!(event, Some(Event::ConnectFailed(_) | Event::Reset)) {
            break;
        }
        if wants_more && asked < REQUESTS_MAX && (event == Some(Event::Connected) || asked > 0) {
            asked += 1;
            if io.send(CONN, Outgoing::Own(ASKED)) == Sending::Broken {
                break;
            }
        }
    }
    io.close(CONN);
    let sent = ANSWER.repeat(asked);
    assert!(sent.starts_with(&plain), "plain bytes that nobody sealed");
});

/// A server in memory, whose bytes come to harm.
struct Server<'a> {
    session: Session,
    /// Bytes a read at most.
    cut: usize,
    /// Whether sends are told of later.
    is_slow: bool,
    /// For each flight of the server: where, and what is changed there, or bytes that are added.
    harm: &'a [u8],
    happened: VecDeque<What>,
    lent: Vec<u8>,
}

enum What {
    Sent,
    Bytes(Vec<u8>),
    Closed,
}

impl Server<'_> {
    fn befall(&mut self, out: &mut Vec<u8>) {
        let Some(([kind, at, with], rest)) = self.harm.split_first_chunk::<3>() else { return };
        self.harm = rest;
        let place = if out.is_empty() { 0 } else { usize::from(*at) * out.len() / 256 };
        match kind % 5 {
            0 => {
                if let Some(byte) = out.get_mut(place) {
                    *byte ^= with;
                }
            }
            1 => out.truncate(place),
            2 => out.insert(place, *with),
            3 => out.extend(std::iter::repeat_n(*with, usize::from(*at) * 64)),
            // Nothing for once.
            _ => {}
        }
    }
}

impl Io for Server<'_> {
    type Error = Infallible;

    fn now(&self) -> Instant {
        Instant::ORIGIN
    }

    fn connect(&mut self, _: Conn, _: Option<u32>) -> Option<Event<'static>> {
        Some(Event::Connected)
    }

    fn send(&mut self, _: Conn, bytes: Outgoing<'_>) -> Sending {
        let (mut plain, mut out) = (Vec::new(), Vec::new());
        let goes_on = self.session.receive(bytes.bytes(), &mut plain, &mut out);
        for _ in 0..plain.len() / ASKED.len() {
            self.session.seal(ANSWER, &mut out);
        }
        if self.is_slow {
            self.happened.push_back(What::Sent);
        }
        self.befall(&mut out);
        self.happened.extend(out.chunks(self.cut).map(|piece| What::Bytes(piece.to_vec())));
        if !goes_on {
            self.happened.push_back(What::Closed);
        }
        if self.is_slow { Sending::UnderWay } else { Sending::Done }
    }

    fn close(&mut self, _: Conn) {
        self.happened.clear();
    }

    fn wait(&mut self, _: Option<Instant>) -> Result<(), Infallible> {
        Ok(())
    }

    fn next(&mut self) -> Option<(Instant, Completion<'_>)> {
        let event = match self.happened.pop_front()? {
            What::Sent => Event::Sent,
            What::Closed => Event::PeerClosed,
            What::Bytes(bytes) => {
                self.lent = bytes;
                Event::Received(&self.lent)
            }
        };
        Some((Instant::ORIGIN, Completion { conn: CONN, event, arrived: None }))
    }
}
