//! A server with chances, in virtual time.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::convert::Infallible;

use engine::{Completion, Conn, ConnectFailure, Event, Io, Outgoing, Sending};
use h2::{Kind, flag};
use units::{Duration, Instant, Seed};

use super::link::{Came, Link, frame};
use crate::common::Agenda;

/// The body of each answer: larger than the smallest window, and no piece of it is like the next.
pub const BODY: &[u8] = &body();

const fn body() -> [u8; 3000] {
    let mut bytes = [0; 3000];
    let mut at = 0;
    while at < bytes.len() {
        bytes[at] = b'a' + (at % 23) as u8;
        at += 1;
    }
    bytes
}

/// How often, in a thousand, what happens to a request or a connection.
#[derive(Debug, Clone, Copy, Default)]
pub struct Chances {
    pub silent: u64,
    pub reset_stream: u64,
    pub refused: u64,
    pub go_away: u64,
    pub closes: u64,
    pub resets: u64,
    pub garbage: u64,
    pub connect_refused: u64,
    pub other_protocol: u64,
    /// Settings that change within the load.
    pub settings: u64,
}

/// What it saw.
#[derive(Debug, Default)]
pub struct Seen {
    /// Requests that came whole and were looked at.
    pub asked: u64,
    /// The same by the number of their connection.
    pub asked_on: BTreeMap<u32, u64>,
    pub cancelled: u64,
    pub connects: u64,
    pub go_aways: u64,
    pub broken_off: u64,
    pub refused: u64,
    pub pings: u64,
    pub pongs: u64,
    pub stalls: u64,
}

#[derive(Debug)]
enum What {
    Connected,
    Refused,
    Sent,
    Bytes(Vec<u8>, bool),
    /// The next frame of a stream's answer is ready.
    Step(u32),
    Closes,
    Resets,
}

/// The server and the network.
pub struct Server {
    seed: u64,
    drawn: u64,
    chances: Chances,
    /// Streams that it allows from the start.
    limit: u32,
    /// Windows that it gives.
    window: i64,
    agenda: Agenda<(Conn, What)>,
    pub links: HashMap<Conn, Link>,
    ready: VecDeque<(Conn, What)>,
    lent: Vec<u8>,
    pub seen: Seen,
}

impl Server {
    pub fn new(seed: u64, chances: Chances, limit: u32, window: i64) -> Self {
        Self {
            seed,
            drawn: 0,
            chances,
            limit,
            window,
            agenda: Agenda::default(),
            links: HashMap::new(),
            ready: VecDeque::new(),
            lent: Vec::new(),
            seen: Seen::default(),
        }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.drawn += 1;
        Seed(self.seed).derive(self.drawn).0 % bound
    }

    fn happens(&mut self, per_mille: u64) -> bool {
        per_mille > 0 && self.below(1000) < per_mille
    }

    fn later(&mut self, after_us: u64, conn: Conn, what: What) {
        // It takes a number as a draw does: what a seed gives depends on that.
        self.drawn += 1;
        self.agenda.later(Duration::from_micros(after_us), (conn, what));
    }

    /// Puts frames on the wire: all of a connection's take equally long, so that their order is kept, and are cut anywhere.
    fn deliver(&mut self, conn: Conn, mut bytes: Vec<u8>, tells_gone: bool) {
        while bytes.len() > 1 && self.below(3) == 0 {
            let rest = bytes.split_off(1 + self.below(bytes.len() as u64 - 1) as usize);
            self.later(LATENCY_US, conn, What::Bytes(bytes, false));
            bytes = rest;
        }
        self.later(LATENCY_US, conn, What::Bytes(bytes, tells_gone));
    }

    fn on_came(&mut self, conn: Conn, came: Came) {
        match came {
            Came::Pong => self.seen.pongs += 1,
            Came::Cancelled(_) => self.seen.cancelled += 1,
            Came::Asked(stream) => self.on_asked(conn, stream),
        }
    }

    fn on_asked(&mut self, conn: Conn, stream: u32) {
        self.seen.asked += 1;
        *self.seen.asked_on.entry(conn.slot).or_default() += 1;
        let Chances { silent, reset_stream, refused, go_away, closes, resets, garbage, settings, .. } =
            self.chances;
        let after_us = 30 + self.below(1500);
        if self.happens(silent) {
            return;
        }
        if self.happens(reset_stream) {
            return self.break_off(conn, stream, 2);
        }
        if self.happens(refused) {
            return self.break_off(conn, stream, 7);
        }
        if self.happens(go_away) {
            self.go_away(conn);
        }
        if self.happens(closes) {
            self.later(LATENCY_US, conn, What::Closes);
        }
        if self.happens(resets) {
            self.later(LATENCY_US, conn, What::Resets);
        }
        if self.happens(garbage) {
            self.deliver(conn, b"this is no frame, and too long for one".to_vec(), false);
        }
        if self.happens(settings) {
            let (limit, window) = (1 + self.below(6) as u32, 1000 + i64::from(self.below(100_000) as u32));
            let bytes = self.links.get_mut(&conn).map(|link| link.settings(Some(limit), Some(window)));
            self.deliver(conn, bytes.unwrap_or_default(), false);
        }
        if self.below(8) == 0 {
            self.seen.pings += 1;
            let noise =
                [frame(Kind::Ping, 0, 0, b"12345678"), frame(Kind::Unknown(200), 9, 0, b"?")].concat();
            self.deliver(conn, noise, false);
        }
        self.later(after_us, conn, What::Step(stream));
    }

    fn break_off(&mut self, conn: Conn, stream: u32, code: u32) {
        let Some(link) = self.links.get_mut(&conn) else { return };
        link.streams.remove(&stream);
        *(if code == 7 { &mut self.seen.refused } else { &mut self.seen.broken_off }) += 1;
        self.deliver(conn, frame(Kind::ResetStream, 0, stream, &code.to_be_bytes()), false);
    }

    /// Sometimes without a look at the last few requests.
    fn go_away(&mut self, conn: Conn) {
        let back = self.below(3) as usize;
        let Some(link) = self.links.get_mut(&conn).filter(|link| link.gone.is_none()) else { return };
        let mut open: Vec<u32> =
            link.streams.iter().filter(|(_, it)| !it.sent_head).map(|(id, _)| *id).collect();
        let dropped = open.split_off(open.len().saturating_sub(back));
        let highest = link.streams.keys().copied().filter(|id| !dropped.contains(id)).max();
        let last = highest.unwrap_or(0);
        link.streams.retain(|id, _| *id <= last);
        link.gone = Some(last);
        self.seen.go_aways += 1;
        self.deliver(conn, frame(Kind::GoAway, 0, 0, &[last.to_be_bytes(), [0; 4]].concat()), true);
    }

    /// The next frame of an answer, as large as the windows allow.
    fn step(&mut self, conn: Conn, stream: u32) {
        let now_ms = self.agenda.now().as_nanos() / 1_000_000;
        let wanted = 1 + self.below(BODY.len() as u64) as usize;
        let (coin, next_us) = (self.below(4), self.below(400));
        let Some(link) = self.links.get_mut(&conn) else { return };
        if !link.streams.contains_key(&stream) {
            return;
        }
        let bytes = if link.streams[&stream].sent_head {
            let window = link.window.min(link.streams[&stream].window);
            let of = link.streams.get_mut(&stream).expect("as before");
            let size = wanted.min(of.left).min(usize::try_from(window).unwrap_or(0));
            if size == 0 {
                // Until there is room: the client tells it in time, or the request times out.
                self.seen.stalls += 1;
                return self.later(50, conn, What::Step(stream));
            }
            let from = BODY.len() - of.left;
            of.left -= size;
            of.window -= i64::from(size as u32);
            link.window -= i64::from(size as u32);
            let is_last = of.left == 0;
            if is_last {
                link.streams.remove(&stream);
            }
            last_piece(stream, &BODY[from..from + size], is_last, coin)
        } else {
            let mut bytes = Vec::new();
            if coin == 0 {
                bytes = frame(Kind::Headers, flag::END_HEADERS, stream, &[0x08, 3, b'1', b'0', b'3']);
            }
            let block = link.block(stream, BODY.len(), now_ms);
            let of = link.streams.get_mut(&stream).expect("as before");
            (of.sent_head, of.left) = (true, BODY.len());
            let cut = if coin == 1 { 1 + wanted % (block.len() - 1).max(1) } else { block.len() };
            let (first, rest) = block.split_at(cut.min(block.len()));
            let ends = if rest.is_empty() { flag::END_HEADERS } else { 0 };
            bytes.extend(frame(Kind::Headers, ends, stream, first));
            if !rest.is_empty() {
                bytes.extend(frame(Kind::Continuation, flag::END_HEADERS, stream, rest));
            }
            bytes
        };
        self.deliver(conn, bytes, false);
        self.later(next_us, conn, What::Step(stream));
    }

    /// More room for requests, a while after they came.
    fn give(&mut self, conn: Conn, bytes: usize) {
        let Some(link) = self.links.get_mut(&conn) else { return };
        let waiting: Vec<u32> = link.streams.iter().filter(|(_, it)| !it.asked).map(|(id, _)| *id).collect();
        let mut updates = link.give(0, bytes as u32 + 1);
        for stream in waiting {
            updates.extend(link.give(stream, 700));
        }
        self.deliver(conn, updates, false);
    }
}

/// The way from the server to its client.
const LATENCY_US: u64 = 120;

/// A piece of a body; the last one ends its stream in one of the ways there are.
fn last_piece(stream: u32, piece: &[u8], is_last: bool, coin: u64) -> Vec<u8> {
    let end = if is_last { flag::END_STREAM } else { 0 };
    match coin {
        0 if is_last => {
            [frame(Kind::Data, 0, stream, piece), frame(Kind::Data, flag::END_STREAM, stream, b"")].concat()
        }
        1 if is_last => {
            let trailers =
                frame(Kind::Headers, flag::END_HEADERS | flag::END_STREAM, stream, b"\0\x01x\x01y");
            [frame(Kind::Data, 0, stream, piece), trailers].concat()
        }
        _ => frame(Kind::Data, end, stream, piece),
    }
}

impl Io for Server {
    type Error = Infallible;

    fn now(&self) -> Instant {
        self.agenda.now()
    }

    fn connect(&mut self, conn: Conn, target: Option<u32>) -> Option<Event<'static>> {
        self.seen.connects += 1;
        let style = self.below(3);
        let mut link = Link::new(style, target);
        let greeting = link.settings(Some(self.limit), Some(self.window));
        self.links.insert(conn, link);
        let refused = self.chances.connect_refused;
        if self.happens(refused) {
            self.later(LATENCY_US, conn, What::Refused);
            return None;
        }
        self.later(LATENCY_US, conn, What::Connected);
        let other = self.chances.other_protocol;
        let greeting =
            if self.happens(other) { b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec() } else { greeting };
        let at_us = LATENCY_US + self.below(100);
        self.later(at_us, conn, What::Bytes(greeting, false));
        None
    }

    fn send(&mut self, conn: Conn, bytes: Outgoing<'_>) -> Sending {
        let link = self.links.get_mut(&conn).expect("it was opened");
        assert!(link.up && link.sent, "one send after another, on a connection that is up");
        let came = link.receive(bytes.bytes());
        let is_waiting = link.streams.values().any(|stream| !stream.asked);
        let at_once = self.below(3) > 0;
        self.links.get_mut(&conn).expect("as before").sent = at_once;
        for it in came {
            self.on_came(conn, it);
        }
        if is_waiting {
            self.give(conn, bytes.bytes().len());
        }
        if !at_once {
            self.later(30, conn, What::Sent);
        }
        if at_once { Sending::Done } else { Sending::UnderWay }
    }

    fn close(&mut self, conn: Conn) {
        self.links.remove(&conn);
    }

    fn wait(&mut self, until: Option<Instant>) -> Result<(), Infallible> {
        self.agenda.pass(until);
        while let Some((conn, what)) = self.agenda.due() {
            match what {
                What::Step(stream) => self.step(conn, stream),
                what => self.ready.push_back((conn, what)),
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Option<(Instant, Completion<'_>)> {
        let (conn, event) = loop {
            let (conn, what) = self.ready.pop_front()?;
            let Some(link) = self.links.get_mut(&conn) else { continue };
            let needs_link = matches!(what, What::Closes | What::Resets | What::Bytes(..));
            if needs_link && !link.up {
                continue;
            }
            let event = match what {
                What::Connected => Event::Connected,
                What::Refused => {
                    self.links.remove(&conn);
                    break (conn, Event::ConnectFailed(ConnectFailure::Refused));
                }
                What::Sent => Event::Sent,
                What::Closes => Event::PeerClosed,
                What::Resets => Event::Reset,
                What::Bytes(bytes, tells_gone) => {
                    if bytes.is_empty() {
                        continue;
                    }
                    // What is on its way already, nobody can take back.
                    link.told_gone |= tells_gone && link.sent;
                    self.lent = bytes;
                    Event::Received(&[])
                }
                What::Step(_) => continue,
            };
            link.up = matches!(event, Event::Connected | Event::Sent | Event::Received(_));
            link.sent |= event == Event::Sent;
            break (conn, event);
        };
        let event = if let Event::Received(_) = event { Event::Received(&self.lent) } else { event };
        Some((self.agenda.now(), Completion { conn, event, arrived: None }))
    }
}
