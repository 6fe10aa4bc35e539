//! Attacks that a server can make on its clients: each ends in a named fault, in bounded memory.

use h2::{IDLE_FRAMES_MAX, Kind, UNREAD_ACKS_MAX, flag, hpack};
use http::{Failure, Malformed, RequestKind};

use crate::support::{Client, Told, data, frame, head, settings};

const KIND: RequestKind = RequestKind::Ordinary;
/// More than enough.
const MANY: u32 = 3 * IDLE_FRAMES_MAX;

/// What a connection with one stream makes of frames that come again and again, and how many bytes it had to send.
fn flood(first: &[u8], again: &[u8]) -> (Vec<Told>, usize) {
    let mut client = Client::greeted(2, &[]);
    client.ask(0, KIND);
    client.ask(1, KIND);
    client.out.clear();
    client.feed(first);
    client.told.clear();
    for _ in 0..MANY {
        client.feed(again);
    }
    (client.told, client.out.len())
}

#[test]
fn frames_that_bring_nothing_are_bounded() {
    let status = head(1, false, &[(":status", "200")]);
    for (first, again) in [
        (Vec::new(), frame(Kind::Ping, 0, 0, &[0; 8])),
        (Vec::new(), settings(&[(4, 100_000)])),
        (Vec::new(), frame(Kind::Settings, flag::ACK, 0, b"")),
        (Vec::new(), frame(Kind::Priority, 0, 1, &[0; 5])),
        (Vec::new(), frame(Kind::Unknown(77), 0, 0, b"")),
        (Vec::new(), frame(Kind::WindowUpdate, 0, 0, &[0, 0, 0, 1])),
        (status.clone(), data(1, false, b"")),
        (status, frame(Kind::Data, flag::PADDED, 1, &[3, 0, 0, 0])),
        (frame(Kind::Headers, 0, 1, b""), frame(Kind::Continuation, 0, 1, b"")),
        (frame(Kind::ResetStream, 0, 1, &[0; 4]), frame(Kind::ResetStream, 0, 1, &[0; 4])),
        (frame(Kind::ResetStream, 0, 1, &[0; 4]), data(1, false, b"")),
        (Vec::new(), frame(Kind::GoAway, 0, 0, &[0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0])),
    ] {
        let (told, sent) = flood(&first, &again);
        assert_eq!(told, [Told::Fault(Malformed::Flood)], "{again:?}");
        assert!(sent < 20 * IDLE_FRAMES_MAX as usize, "{sent} bytes for {again:?}");
    }
}

#[test]
fn a_server_that_answers_may_ping_as_often_as_it_likes() {
    let mut client = Client::greeted(1, &[]);
    for answer in 0..50 {
        client.ask(0, KIND);
        for _ in 0..1000 {
            client.feed(&frame(Kind::Ping, 0, 0, &[0; 8]));
        }
        client.feed(&head(1 + 2 * answer, true, &[(":status", "200")]));
        client.out.clear();
    }
    assert!(client.told.len() == 50 && client.told.iter().all(|told| matches!(told, Told::Ended(0, _))));
}

/// Each piece of a body brings its request nearer to its end, and what was asked for meanwhile waits in memory all the same.
#[test]
fn what_a_server_asks_for_and_does_not_read_is_bounded() {
    let mut client = Client::greeted(1, &[]);
    client.ask(0, KIND);
    client.feed(&head(1, false, &[(":status", "200")]));
    for _ in 0..3 * UNREAD_ACKS_MAX / 100 {
        for _ in 0..100 {
            client.feed(&frame(Kind::Ping, 0, 0, &[0; 8]));
        }
        client.feed(&data(1, false, b"x"));
    }
    assert_eq!(client.told.last(), Some(&Told::Fault(Malformed::Flood)));
    assert!(client.out.len() < 20 * UNREAD_ACKS_MAX as usize, "{} bytes", client.out.len());
}

#[test]
fn a_head_in_endless_parts_is_too_large() {
    let part = hpack_of("x", &"y".repeat(100));
    let (told, _) = flood(&frame(Kind::Headers, 0, 1, b""), &frame(Kind::Continuation, 0, 1, &part));
    assert_eq!(told, [Told::Fault(Malformed::HeadTooLarge)]);
}

#[test]
fn a_small_block_that_says_much_is_too_large() {
    let mut client = Client::greeted(2, &[]);
    client.ask(0, KIND);
    client.ask(1, KIND);
    let mut bomb = vec![0x88];
    hpack::literal(&mut bomb, "x", &"~".repeat(3000), true);
    bomb.extend([0xbe; 5000]);
    client.feed(&frame(Kind::Headers, flag::END_HEADERS | flag::END_STREAM, 1, &bomb));
    assert_eq!(client.told, [Told::Failed(0, Failure::Malformed(Malformed::HeadTooLarge))]);
    client.feed(&frame(Kind::Headers, flag::END_HEADERS | flag::END_STREAM, 3, &[0x88, 0xbe]));
    assert!(
        matches!(client.told[1..], [Told::Ended(1, _)]),
        "the other stream and the table are as they were"
    );
}

fn hpack_of(name: &str, value: &str) -> Vec<u8> {
    let mut out = Vec::new();
    hpack::literal(&mut out, name, value, false);
    out
}

/// Servers give both windows back in pairs, piece by piece: the first of a pair lets nothing out where both were used up.
#[test]
fn a_large_upload_to_a_server_that_gives_windows_back_in_pairs_is_no_flood() {
    const PIECE: usize = 1000;
    let body = vec![b'x'; 65_535 + PIECE * (IDLE_FRAMES_MAX as usize + 10)];
    let mut client = Client::greeted(1, &[]);
    client.send(0, KIND, &crate::support::request(&body));
    let more = (PIECE as u32).to_be_bytes();
    for _ in 0..IDLE_FRAMES_MAX + 10 {
        client.feed(&frame(Kind::WindowUpdate, 0, 0, &more));
        client.feed(&frame(Kind::WindowUpdate, 0, 1, &more));
        client.out.clear();
    }
    client.feed(&head(1, true, &[(":status", "200")]));
    assert!(matches!(client.told[..], [Told::Ended(0, _)]), "{:?}", client.told.first());
}
