//! Answers as servers send them again and again, a head and a body together: they come to what their frames come to one by one.

use h2::{Kind, Settings, flag, hpack};
use http::{Limits, Malformed, RequestKind};
use proptest::prelude::*;

use crate::support::{Client, Told, data, frame, settings};

const PLACES: u32 = 4;

/// An answer to one request.
#[derive(Debug, Clone)]
struct Answer {
    kind: RequestKind,
    status: &'static str,
    /// What its length is said to be, above what it is.
    length_off: Option<isize>,
    /// Whether its fields go into the table of the connection, and whether one is that which went there last.
    inserts: bool,
    refers: bool,
    body_bytes: usize,
    /// A ping comes between head and body.
    is_parted: bool,
}

fn an_answer() -> impl Strategy<Value = Answer> {
    let often = |rare: u32| prop::bool::weighted(1.0 / f64::from(rare));
    let length_off =
        prop_oneof![6 => Just(Some(0)), 2 => Just(None), 1 => Just(Some(-2)), 1 => Just(Some(3))];
    let status = prop_oneof![6 => Just("200"), 1 => Just("404"), 1 => Just("204")];
    let body_bytes =
        prop_oneof![1 => Just(0_usize), 4 => Just(5), 1 => Just(600), 1 => Just(1000), 1 => Just(1030)];
    let table = (any::<bool>(), often(3));
    (often(8), status, length_off, table, body_bytes, often(6)).prop_map(
        |(is_head, status, length_off, (inserts, refers), body_bytes, is_parted)| Answer {
            kind: if is_head { RequestKind::Head } else { RequestKind::Ordinary },
            status,
            length_off,
            inserts,
            refers,
            body_bytes,
            is_parted,
        },
    )
}

impl Answer {
    /// On the wire, where the table has something that it can refer to or has not.
    fn frames(&self, stream: u32, can_refer: bool) -> Vec<u8> {
        let mut block = Vec::new();
        hpack::literal(&mut block, ":status", self.status, false);
        if let Some(off) = self.length_off {
            let said = self.body_bytes.saturating_add_signed(off).to_string();
            hpack::literal(&mut block, "content-length", &said, false);
        }
        if self.refers && can_refer {
            hpack::indexed(&mut block, 62);
        }
        hpack::literal(&mut block, "server", "one", self.inserts);
        let head = frame(Kind::Headers, flag::END_HEADERS, stream, &block);
        let ping = if self.is_parted { frame(Kind::Ping, 0, 0, b"12345678") } else { Vec::new() };
        [head, ping, data(stream, true, &vec![b'x'; self.body_bytes])].concat()
    }
}

/// What a connection with small windows makes of the answers, in pieces of so many bytes at most.
fn observe(answers: &[Answer], piece_bytes: usize) -> (Vec<Told>, Vec<u8>) {
    let asked =
        Settings { streams: PLACES, window_bits: 10, connection_window_bits: 16, ..Settings::default() };
    let mut client = Client::new(asked, Limits::default());
    client.feed(&settings(&[]));
    let (mut stream, mut can_refer) = (1, false);
    for turn in answers.chunks(PLACES as usize) {
        let mut wire = Vec::new();
        for (place, answer) in turn.iter().enumerate() {
            client.ask(place as u32, answer.kind);
            wire.extend(answer.frames(stream, can_refer));
            can_refer |= answer.inserts;
            stream += 2;
        }
        for piece in wire.chunks(piece_bytes) {
            client.feed(piece);
        }
    }
    (client.told, client.out)
}

/// A place without a stream has the number of the connection itself.
#[test]
fn nobody_is_answered_on_the_connection_itself() {
    let kind = RequestKind::Ordinary;
    let answer = Answer {
        kind,
        status: "200",
        length_off: None,
        inserts: false,
        refers: false,
        body_bytes: 2,
        is_parted: false,
    };
    for piece_bytes in [usize::MAX, 1] {
        let mut client = Client::greeted(1, &[]);
        for stream in [1, 3] {
            client.ask(0, kind);
            client.feed(&answer.frames(stream, false));
        }
        answer.frames(0, false).chunks(piece_bytes).for_each(|piece| client.feed(piece));
        assert_eq!(client.told.last(), Some(&Told::Fault(Malformed::UnexpectedFrame)), "{:?}", client.told);
    }
}

proptest! {
    #[test]
    fn an_answer_at_once_is_as_its_frames_one_by_one(
        answers in prop::collection::vec(an_answer(), 1..80),
        piece_bytes in 1..40_usize,
    ) {
        let at_once = observe(&answers, usize::MAX);
        prop_assert_eq!(&observe(&answers, 1), &at_once);
        prop_assert_eq!(&observe(&answers, piece_bytes), &at_once);
    }
}
