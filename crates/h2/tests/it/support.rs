//! The server's side, by hand: frames as bytes, and what a client makes of them. The fuzz target `h2_frames` uses it, too.

use h2::{FRAME_HEAD_BYTES, FrameHead, H2, H2Shared, Kind, PREFACE, Settings, flag, hpack};
use http::{Bodies, Failure, Fed, Limits, Malformed, Protocol, RequestKind, RequestSpec, Response};

/// A frame of the server's, or of a client's that has gone wrong.
pub fn frame(kind: Kind, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    FrameHead { payload_bytes: payload.len() as u32, kind, flags, stream }.write(&mut out);
    out.extend_from_slice(payload);
    out
}

/// SETTINGS of these names and values.
pub fn settings(all: &[(u16, u32)]) -> Vec<u8> {
    let payload: Vec<u8> = all
        .iter()
        .flat_map(|(name, value)| [&name.to_be_bytes()[..], &value.to_be_bytes()].concat())
        .collect();
    frame(Kind::Settings, 0, 0, &payload)
}

/// A header block of literal fields.
pub fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, value) in fields {
        hpack::literal(&mut out, name, value, false);
    }
    out
}

/// A head that ends its block.
pub fn head(stream: u32, ends: bool, fields: &[(&str, &str)]) -> Vec<u8> {
    let end = if ends { flag::END_STREAM } else { 0 };
    frame(Kind::Headers, flag::END_HEADERS | end, stream, &block(fields))
}

/// A piece of a body.
pub fn data(stream: u32, ends: bool, bytes: &[u8]) -> Vec<u8> {
    frame(Kind::Data, if ends { flag::END_STREAM } else { 0 }, stream, bytes)
}

/// A request, encoded.
pub fn request(body: &[u8]) -> Vec<u8> {
    let method = if body.is_empty() { "GET" } else { "POST" };
    let spec = RequestSpec { method, target: "/a?b", host: "a.test:80", headers: &[], body, close: false };
    h2::encode(&spec, h2::Scheme::Http).expect("a request")
}

/// What was told, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Told {
    Ready,
    Body(u32, Vec<u8>),
    Ended(u32, Response),
    Failed(u32, Failure),
    Fault(Malformed),
}

/// A connection, and all that came of it.
#[derive(Debug)]
pub struct Client {
    pub http: H2,
    pub shared: H2Shared,
    pub out: Vec<u8>,
    pub told: Vec<Told>,
    faulty: bool,
}

impl Client {
    /// One that has sent its preface.
    pub fn new(settings: Settings, limits: Limits) -> Self {
        let shared = H2::shared(limits, RequestKind::Ordinary, settings);
        let mut client =
            Self { http: H2::new(&shared), shared, out: Vec::new(), told: Vec::new(), faulty: false };
        assert!(!client.http.begin(&client.shared, &mut client.out), "it waits for the server");
        client
    }

    /// One that may have so many streams, and whose server has said `allows`.
    pub fn greeted(streams: u32, allows: &[(u16, u32)]) -> Self {
        let mut client = Self::new(Settings { streams, ..Settings::default() }, Limits::default());
        client.feed(&settings(allows));
        assert_eq!(client.told, [Told::Ready]);
        client.told.clear();
        client.out.clear();
        client
    }

    /// Asks at a place.
    pub fn ask(&mut self, place: u32, kind: RequestKind) {
        self.send(place, kind, &request(b""));
    }

    pub fn send(&mut self, place: u32, kind: RequestKind, encoded: &[u8]) {
        assert!(self.http.has_room(), "there is room");
        self.http.ask(place, &encoded.into(), &mut self.out);
        self.http.expect(place, kind);
    }

    /// Takes bytes, all of them or up to a fault.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while !self.faulty {
            let mut pieces = Vec::new();
            let mut listener = Bodies(|place, piece: &[u8]| pieces.push((place, piece.to_vec())));
            let fed = self.http.feed(&mut self.shared, &mut rest, &mut listener, &mut self.out);
            for (place, piece) in pieces {
                assert!(!piece.is_empty(), "no piece is empty");
                self.hear(place, &piece);
            }
            match fed {
                Ok(Fed::NeedMore) => {
                    assert!(rest.is_empty(), "all was taken");
                    return;
                }
                Ok(Fed::Ready) => self.told.push(Told::Ready),
                Ok(Fed::Ended { place, response, surplus }) => {
                    assert!(!surplus);
                    self.told.push(Told::Ended(place, response));
                }
                Ok(Fed::Failed { place, failure }) => self.told.push(Told::Failed(place, failure)),
                Err(why) => {
                    self.faulty = true;
                    self.told.push(Told::Fault(why));
                }
            }
        }
    }

    /// Pieces of one body in a row are one.
    fn hear(&mut self, place: u32, piece: &[u8]) {
        match self.told.last_mut() {
            Some(Told::Body(of, body)) if *of == place => body.extend_from_slice(piece),
            _ => self.told.push(Told::Body(place, piece.to_vec())),
        }
    }

    /// The frames that it sent since they were taken last.
    pub fn sent(&mut self) -> Vec<(FrameHead, Vec<u8>)> {
        let out = std::mem::take(&mut self.out);
        frames(out.strip_prefix(PREFACE).unwrap_or(&out))
    }
}

/// Whole frames.
pub fn frames(bytes: &[u8]) -> Vec<(FrameHead, Vec<u8>)> {
    let mut all = Vec::new();
    let mut rest = bytes;
    while let Some((head, behind)) = rest.split_first_chunk::<FRAME_HEAD_BYTES>() {
        let head = FrameHead::read(head);
        let (payload, behind) = behind.split_at(head.payload_bytes as usize);
        all.push((head, payload.to_vec()));
        rest = behind;
    }
    assert!(rest.is_empty(), "whole frames are sent");
    all
}

/// Several pieces of input as one.
pub fn wire(pieces: &[Vec<u8>]) -> Vec<u8> {
    pieces.concat()
}
