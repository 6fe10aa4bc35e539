//! Attacks that a server can make on its clients: each ends in a named fault, in bounded memory.

use h2::{IDLE_FRAMES_MAX, Kind, UNREAD_BYTES_MAX, flag, hpack};
use http::{Failure, Malformed, Protocol, RequestKind};

use crate::support::{Client, Told, data, frame, head, settings, wire};

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
    let ping = frame(Kind::Ping, 0, 0, &[0; 8]);
    for _ in 0..2 * UNREAD_BYTES_MAX / ping.len() / 100 {
        for _ in 0..100 {
            client.feed(&ping);
        }
        client.feed(&data(1, false, b"x"));
    }
    assert_eq!(client.told.last(), Some(&Told::Fault(Malformed::Unread)));
    assert!(client.out.len() < UNREAD_BYTES_MAX + 1000, "{} bytes", client.out.len());
}

/// A server that answers whatever is asked next, and reads none of it.
#[test]
fn answers_of_a_server_that_reads_nothing_are_bounded() {
    let mut client = Client::greeted(1, &[]);
    let mut stream = 1;
    while !matches!(client.told.last(), Some(Told::Fault(_))) {
        client.ask(0, KIND);
        client.feed(&head(stream, true, &[(":status", "200")]));
        stream += 2;
        assert!(client.out.len() < UNREAD_BYTES_MAX + 1000, "{} bytes", client.out.len());
    }
    assert_eq!(client.told.last(), Some(&Told::Fault(Malformed::Unread)));
}

/// Each is reset, and the next one asked.
#[test]
fn requests_that_time_out_on_a_server_that_reads_nothing_end_its_connection() {
    let mut client = Client::greeted(1, &[]);
    client.ask(0, KIND);
    while client.http.cancel(0, &mut client.out) {
        client.ask(0, KIND);
        assert!(client.out.len() < UNREAD_BYTES_MAX + 1000, "{} bytes", client.out.len());
    }
    assert!(client.out.len() > UNREAD_BYTES_MAX);
}

/// However far the server's windows reach.
#[test]
fn bodies_wait_while_others_are_on_their_way() {
    let most = (1_u32 << 31) - 1;
    let body = vec![b'x'; 2_000_000];
    let mut client = Client::greeted(3, &[(4, most)]);
    client.feed(&frame(Kind::WindowUpdate, 0, 0, &(most - 65_535).to_be_bytes()));
    (0..3).for_each(|place| client.send(place, KIND, &crate::support::request(&body)));
    let mut sent_bytes = 0;
    while !client.out.is_empty() {
        assert!(client.out.len() < UNREAD_BYTES_MAX / 2, "{} bytes wait", client.out.len());
        let sent = client.sent();
        sent_bytes += sent
            .iter()
            .filter(|(head, _)| head.kind == Kind::Data)
            .map(|(_, part)| part.len())
            .sum::<usize>();
        client.http.resume(&mut client.out);
    }
    assert_eq!((sent_bytes, client.http.window_waits()), (3 * body.len(), 0), "no window was waited for");
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

/// They were on their way when their requests were given up. What comes again and again behind them is a flood all the same.
#[test]
fn late_answers_to_requests_that_were_given_up_are_no_flood() {
    let mut client = Client::greeted(1, &[]);
    for request in 0..IDLE_FRAMES_MAX {
        let stream = 1 + 2 * request;
        client.ask(0, KIND);
        assert!(client.http.cancel(0, &mut client.out), "the server reads");
        client.out.clear();
        client.feed(&wire(&[
            head(stream, false, &[(":status", "200")]),
            data(stream, false, b"late"),
            data(stream, true, b""),
        ]));
    }
    assert!(client.told.is_empty(), "{:?}", client.told);
    for _ in 0..MANY {
        client.feed(&data(1, false, b""));
    }
    assert_eq!(client.told, [Told::Fault(Malformed::Flood)]);
}

/// The server takes each body and gives its windows back before that.
#[test]
fn requests_that_are_broken_off_one_after_another_are_no_flood() {
    let mut client = Client::greeted(1, &[]);
    for request in 0..IDLE_FRAMES_MAX {
        let stream = 1 + 2 * request;
        client.send(0, KIND, &crate::support::request(b"x"));
        client.out.clear();
        client.feed(&wire(&[
            frame(Kind::WindowUpdate, 0, 0, &[0, 0, 0, 1]),
            frame(Kind::WindowUpdate, 0, stream, &[0, 0, 0, 1]),
            frame(Kind::ResetStream, 0, stream, &[0, 0, 0, 2]),
        ]));
    }
    assert_eq!(client.told.len(), IDLE_FRAMES_MAX as usize);
    assert!(client.told.iter().all(|told| *told == Told::Failed(0, Failure::StreamReset(2))));
}
