//! The server's side of one connection: what it knows of its client, which it holds to the rules.

use std::collections::BTreeMap;

use h2::{FRAME_HEAD_BYTES, FrameHead, Kind, PREFACE, flag, hpack};

/// Names of settings.
pub const TABLE: u16 = 1;
pub const STREAMS: u16 = 3;
pub const WINDOW: u16 = 4;

/// A stream as the server sees it.
#[derive(Debug)]
pub struct Stream {
    /// Bytes of the request's body that may still come, before it is told that there may be more.
    pub given: i64,
    pub asked: bool,
    /// What the client allows on it.
    pub window: i64,
    pub sent_head: bool,
    pub left: usize,
    /// What it asked for.
    pub path: String,
}

/// What came of bytes that a client sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Came {
    Asked(u32),
    Cancelled(u32),
    Pong,
}

/// A connection.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub struct Link {
    pub up: bool,
    /// Which server it goes to, where that was said.
    pub target: Option<u32>,
    /// Whether what was sent last was reported as sent.
    pub sent: bool,
    received: Vec<u8>,
    greeted: bool,
    decoder: hpack::Decoder,
    pub streams: BTreeMap<u32, Stream>,
    last: u32,
    /// What the client allows in all, and on each new stream.
    pub window: i64,
    pub client_window: i64,
    /// The most that its table of header fields may count for.
    client_table: u32,
    /// The same the other way round, and what the SETTINGS that it has not acknowledged yet will make of it.
    given: i64,
    stream_given: i64,
    limit: u32,
    unacked: Vec<(Option<u32>, Option<i64>)>,
    /// The last stream that is looked at, once it was said; and whether the client has been told, and had nothing on its way.
    pub gone: Option<u32>,
    pub told_gone: bool,
    /// How heads are compressed on this connection, and how many went out.
    pub style: u64,
    pub heads: u32,
}

impl Link {
    pub fn new(style: u64, target: Option<u32>) -> Self {
        Self {
            up: false,
            target,
            sent: true,
            received: Vec::new(),
            greeted: false,
            decoder: hpack::Decoder::new(4096),
            streams: BTreeMap::new(),
            last: 0,
            window: 65_535,
            client_window: 65_535,
            client_table: 4096,
            given: 65_535,
            stream_given: 65_535,
            limit: u32::MAX,
            unacked: Vec::new(),
            gone: None,
            told_gone: false,
            style,
            heads: 0,
        }
    }

    /// SETTINGS with these values, if any.
    pub fn settings(&mut self, limit: Option<u32>, window: Option<i64>) -> Vec<u8> {
        self.unacked.push((limit, window));
        let all = [(STREAMS, limit.map(i64::from)), (WINDOW, window)];
        let given = all.into_iter().filter_map(|(name, value)| Some((name, value? as u32)));
        let payload: Vec<u8> = given
            .flat_map(|(name, value)| [&name.to_be_bytes()[..], &value.to_be_bytes()].concat())
            .collect();
        frame(Kind::Settings, 0, 0, &payload)
    }

    /// The most streams that the client may believe there may be.
    fn limit_believed(&self) -> u32 {
        self.unacked.iter().filter_map(|(limit, _)| *limit).chain([self.limit]).max().unwrap_or(u32::MAX)
    }

    /// Takes in what the client sent. What breaks a rule panics.
    pub fn receive(&mut self, bytes: &[u8]) -> Vec<Came> {
        self.received.extend_from_slice(bytes);
        let mut came = Vec::new();
        if !self.greeted {
            let rest = self.received.strip_prefix(PREFACE).expect("the preface comes first").to_vec();
            self.received = rest;
            self.greeted = true;
        }
        while let Some((head, rest)) = self.received.split_first_chunk::<FRAME_HEAD_BYTES>() {
            let head = FrameHead::read(head);
            let (payload, rest) = rest.split_at(head.payload_bytes as usize);
            let (payload, rest) = (payload.to_vec(), rest.to_vec());
            self.received = rest;
            came.extend(self.on_frame(head, &payload));
        }
        assert!(self.received.is_empty(), "whole frames are sent");
        came
    }

    fn on_frame(&mut self, head: FrameHead, payload: &[u8]) -> Option<Came> {
        let number = || u32::from_be_bytes(payload[..4].try_into().expect("four bytes"));
        match head.kind {
            Kind::Headers => return self.on_headers(head, payload),
            Kind::Data => {
                self.given -= i64::from(head.payload_bytes);
                assert!(self.given >= 0, "the connection's window is kept");
                let ends = head.has(flag::END_STREAM);
                let stream = self.streams.get_mut(&head.stream)?;
                stream.given -= i64::from(head.payload_bytes);
                assert!(stream.given >= 0, "a stream's window is kept: {head:?}");
                stream.asked |= ends;
                return ends.then_some(Came::Asked(head.stream));
            }
            Kind::Settings if head.has(flag::ACK) => {
                let (limit, window) = self.unacked.remove(0);
                self.limit = limit.unwrap_or(self.limit);
                if let Some(window) = window {
                    let more = window - std::mem::replace(&mut self.stream_given, window);
                    self.streams.values_mut().for_each(|stream| stream.given += more);
                }
            }
            Kind::Settings => {
                for setting in payload.chunks(6) {
                    let value = u32::from_be_bytes(setting[2..].try_into().expect("four bytes"));
                    if setting[..2] == TABLE.to_be_bytes() {
                        self.client_table = value;
                    }
                    if setting[..2] == WINDOW.to_be_bytes() {
                        self.client_window = i64::from(value);
                    }
                }
            }
            Kind::WindowUpdate if head.stream == 0 => self.window += i64::from(number()),
            Kind::WindowUpdate => {
                let stream = self.streams.get_mut(&head.stream)?;
                stream.window += i64::from(number());
            }
            Kind::ResetStream => {
                assert!(head.stream <= self.last, "no stream is reset before it is opened");
                return self.streams.remove(&head.stream).map(|_| Came::Cancelled(head.stream));
            }
            Kind::Ping => return head.has(flag::ACK).then_some(Came::Pong),
            other => panic!("no client of a load sends {other:?}"),
        }
        None
    }

    fn on_headers(&mut self, head: FrameHead, block: &[u8]) -> Option<Came> {
        assert!(head.stream % 2 == 1 && head.stream > self.last, "numbers are odd and rise: {head:?}");
        self.last = head.stream;
        let (mut fields, mut path) = (0, String::new());
        self.decoder
            .decode(block, &mut hpack::Scratch::default(), |name, value| {
                fields += 1;
                if name == b":path" {
                    path = String::from_utf8(value.to_vec()).expect("text");
                }
            })
            .expect("a block that can be decoded");
        if let Some(target) = self.target {
            assert!(path.starts_with(&format!("/{target}/")), "{path} came to server {target}");
        }
        assert!(fields >= 5, "a request has its fields: {fields}");
        assert!(!self.told_gone, "no stream is opened once the client knows that the connection ends");
        if self.gone.is_some_and(|last| head.stream > last) {
            return None;
        }
        let asked = head.has(flag::END_STREAM);
        let (given, window) = (self.stream_given, self.client_window);
        self.streams.insert(head.stream, Stream { given, asked, window, sent_head: false, left: 0, path });
        let (open, limit) = (self.streams.len(), self.limit_believed());
        assert!(open <= limit as usize, "{open} streams are open, and {limit} may be");
        asked.then_some(Came::Asked(head.stream))
    }

    /// Gives the client room for more of its requests' bodies.
    pub fn give(&mut self, stream: u32, bytes: u32) -> Vec<u8> {
        match self.streams.get_mut(&stream) {
            _ if stream == 0 => self.given += i64::from(bytes),
            Some(stream) => stream.given += i64::from(bytes),
            None => return Vec::new(),
        }
        frame(Kind::WindowUpdate, 0, stream, &bytes.to_be_bytes())
    }

    /// A head's block: in the words of nginx, which inserts each time, of Go, which refers to what it inserted, or in plain ones.
    /// Where there are several servers it says which request it is of.
    pub fn block(&mut self, stream: u32, body_bytes: usize, now_ms: u64) -> Vec<u8> {
        let mut out = Vec::new();
        self.heads += 1;
        if self.heads == 1 && self.client_table < 4096 {
            hpack::resize(&mut out, self.client_table);
        }
        hpack::indexed(&mut out, 8);
        // Without a table there is nothing to refer to.
        let style = if self.client_table == 0 && self.style % 3 == 1 { 2 } else { self.style };
        match style % 3 {
            0 => {
                hpack::literal_of(&mut out, 54, "nginx/1.22.1", true);
                hpack::literal_of(&mut out, 33, &format!("date {}", now_ms / 7), true);
                hpack::literal_of(&mut out, 28, &body_bytes.to_string(), true);
            }
            1 if self.heads == 1 => hpack::literal_of(&mut out, 28, &body_bytes.to_string(), true),
            1 => hpack::indexed(&mut out, 62),
            _ => hpack::literal_of(&mut out, 54, "plain", false),
        }
        if self.target.is_some() {
            hpack::literal(&mut out, "x-path", &self.streams[&stream].path, false);
        }
        out
    }
}

pub fn frame(kind: Kind, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    FrameHead { payload_bytes: payload.len() as u32, kind, flags, stream }.write(&mut out);
    out.extend_from_slice(payload);
    out
}
