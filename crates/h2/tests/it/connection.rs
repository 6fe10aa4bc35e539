//! What a server may do on a connection, and what comes of it.

use h2::{FrameHead, Kind, PREFACE, Settings, flag, hpack};
use http::{Failure, Framing, Limits, Malformed, Protocol, RequestKind, Response};
use proptest::prelude::*;

use crate::support::{Client, Told, data, frame, head, settings, wire};

const KIND: RequestKind = RequestKind::Ordinary;
const STREAMS: u16 = 3;

fn ok(status: u16, framing: Framing, body_bytes: u64) -> impl Fn(&Response) -> bool {
    move |it| (it.status, it.framing, it.body_bytes, it.keep_alive) == (status, framing, body_bytes, true)
}

#[test]
fn nothing_may_be_asked_before_the_server_has_spoken() {
    let mut client = Client::new(Settings { streams: 8, ..Settings::default() }, Limits::default());
    assert!(client.out.starts_with(PREFACE) && !client.http.has_room());
    client.sent();
    client.feed(&settings(&[(STREAMS, 0)]));
    assert_eq!((client.told.len(), client.http.has_room()), (0, false), "it allows none yet");
    client.feed(&settings(&[(STREAMS, 2)]));
    assert_eq!(client.told, [Told::Ready]);
    let acks = client.sent();
    assert!(
        acks.iter().all(|(head, _)| head.kind == Kind::Settings && head.flags == flag::ACK)
            && acks.len() == 2
    );
    client.ask(0, KIND);
    client.ask(5, KIND);
    assert!(!client.http.has_room(), "it allows two of the eight");
    client.feed(&settings(&[(STREAMS, 3)]));
    assert!(client.http.has_room());
}

/// That is nothing special (RFC 9113 6.5.2): it may allow some again.
#[test]
fn a_server_that_allows_no_streams_for_a_while_ends_nothing_with_that() {
    let mut client = Client::greeted(2, &[]);
    client.ask(0, KIND);
    client.feed(&settings(&[(STREAMS, 0)]));
    client.feed(&head(1, true, &[(":status", "200")]));
    assert!(matches!(client.told[..], [Told::Ended(0, _)]), "{:?}", client.told);
    assert!(!client.http.has_room() && !client.http.is_over());
    client.feed(&settings(&[(STREAMS, 1)]));
    assert!(client.http.has_room() && client.told.len() == 1, "it is ready once");
}

#[test]
fn answers_come_in_any_order_and_in_pieces_of_each_other() {
    let mut client = Client::greeted(3, &[]);
    (0..3).for_each(|place| client.ask(place, KIND));
    client.feed(&wire(&[
        head(5, false, &[(":status", "200"), ("content-length", "4")]),
        head(1, false, &[(":status", "103"), ("link", "</a>")]),
        data(5, false, b"th"),
        head(1, false, &[(":status", "404")]),
        data(1, false, b"first"),
        head(3, true, &[(":status", "204")]),
        data(5, true, b"ir"),
        data(1, true, b""),
    ]));
    let told: Vec<String> = client
        .told
        .iter()
        .map(|told| match told {
            Told::Body(place, bytes) => format!("{place} {}", String::from_utf8_lossy(bytes)),
            Told::Ended(place, response) => format!("{place} {} {:?}", response.status, response.framing),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(told, ["2 th", "0 first", "1 204 None", "2 ir", "2 200 ContentLength", "0 404 EndOfStream"]);
}

#[test]
fn padding_priorities_trailers_and_unknown_frames_change_nothing() {
    let mut client = Client::greeted(1, &[]);
    client.ask(0, KIND);
    let mut block = vec![3, 0, 0, 0, 0, 9];
    block.extend(crate::support::block(&[(":status", "200")]));
    block.extend([0; 3]);
    let of_stream = [
        frame(Kind::Headers, flag::END_HEADERS | flag::PADDED | flag::PRIORITY, 1, &block),
        frame(Kind::Data, flag::PADDED, 1, b"\x02ab\0\0"),
        frame(Kind::Data, flag::PADDED, 1, b"\0cd"),
        head(1, true, &[("x-checksum", "1")]),
    ];
    client.feed(&frame(Kind::Unknown(0xfa), 0xff, 77, b"?"));
    client.feed(&of_stream[0]);
    client.feed(&frame(Kind::Priority, 0, 9, &[0; 5]));
    client.feed(&wire(&of_stream[1..]));
    let [Told::Body(0, body), Told::Ended(0, response)] = &client.told[..] else {
        panic!("{:?}", client.told)
    };
    assert_eq!(body, b"abcd");
    assert!(ok(200, Framing::EndOfStream, 4)(response), "{response:?}");
    assert_eq!(response.wire_bytes, wire(&of_stream).len() as u64, "{response:?}");
    assert_eq!(response.head_bytes as usize, of_stream[0].len());
}

#[test]
fn a_head_may_come_in_parts_and_nothing_between_them() {
    let block = crate::support::block(&[(":status", "200"), ("x-a", "b")]);
    let parts = |between: &[u8]| {
        wire(&[
            frame(Kind::Headers, flag::END_STREAM, 1, &block[..5]),
            between.to_vec(),
            frame(Kind::Continuation, 0, 1, &block[5..7]),
            frame(Kind::Continuation, flag::END_HEADERS, 1, &block[7..]),
        ])
    };
    let mut client = Client::greeted(2, &[]);
    client.ask(0, KIND);
    client.feed(&parts(b""));
    assert!(
        matches!(&client.told[..], [Told::Ended(0, response)] if ok(200, Framing::EndOfStream, 0)(response))
    );
    for between in
        [frame(Kind::Ping, 0, 0, &[0; 8]), data(1, false, b"x"), frame(Kind::Continuation, 0, 3, b"")]
    {
        let mut client = Client::greeted(2, &[]);
        client.ask(0, KIND);
        client.ask(1, KIND);
        client.feed(&parts(&between));
        assert_eq!(client.told, [Told::Fault(Malformed::UnexpectedFrame)], "{between:?}");
    }
}

#[test]
fn pings_and_settings_are_answered_at_once() {
    let mut client = Client::greeted(1, &[]);
    client.feed(&wire(&[
        frame(Kind::Ping, 0, 0, b"12345678"),
        settings(&[(6, 1), (99, 1)]),
        frame(Kind::Ping, flag::ACK, 0, b"unasked!"),
        frame(Kind::Settings, flag::ACK, 0, b""),
    ]));
    let sent = client.sent();
    assert_eq!(sent.len(), 2);
    assert!(
        matches!(&sent[0], (FrameHead { kind: Kind::Ping, flags: flag::ACK, .. }, echo) if echo == b"12345678")
    );
    assert!(
        matches!(&sent[1], (FrameHead { kind: Kind::Settings, flags: flag::ACK, .. }, none) if none.is_empty())
    );
}

#[test]
fn what_is_above_the_last_of_a_goaway_was_not_processed_and_the_rest_goes_on() {
    let mut client = Client::greeted(4, &[]);
    (0..3).for_each(|place| client.ask(place, KIND));
    client.feed(&frame(Kind::GoAway, 0, 0, &[0, 0, 0, 3, 0, 0, 0, 0, b'?']));
    assert_eq!(client.told, [Told::Failed(2, Failure::Unprocessed)]);
    assert!(!client.http.has_room() && !client.http.is_over());
    client.feed(&wire(&[
        head(1, true, &[(":status", "200")]),
        frame(Kind::GoAway, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 2]),
    ]));
    assert!(matches!(client.told[1..], [Told::Ended(0, _), Told::Failed(1, Failure::Unprocessed)]));
    assert!(client.http.is_over());
}

/// All 32 bits of a code mean something, and text may follow it. A server that asks to be left may find an error later.
#[test]
fn a_goaway_says_why_and_the_next_life_of_the_connection_knows_nothing_of_it() {
    let mut client = Client::greeted(1, &[]);
    assert_eq!(client.http.end_code(), None);
    client.feed(&frame(Kind::GoAway, 0, 0, &[0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]));
    assert_eq!(client.http.end_code(), Some(0));
    client.feed(&frame(Kind::GoAway, 0, 0, b"\0\0\0\x01\x80\0\0\x0bcalm"));
    assert_eq!(client.http.end_code(), Some(0x8000_000b));
    client.http.begin(&client.shared, &mut client.out);
    assert_eq!(client.http.end_code(), None);
}

/// As after a GOAWAY, but for who has ended it; and its next life is as any other.
#[test]
fn a_connection_that_is_retired_carries_what_is_under_way_and_nothing_new() {
    let mut client = Client::greeted(3, &[]);
    client.ask(0, KIND);
    client.http.retire();
    client.feed(&settings(&[(STREAMS, 2)]));
    assert!(!client.http.has_room() && !client.http.is_over(), "it owes an answer");
    client.feed(&head(1, true, &[(":status", "200")]));
    assert!(matches!(client.told[..], [Told::Ended(0, _)]), "{:?}", client.told);
    assert!(client.http.is_over() && !client.http.is_ended_by_peer());
    client.feed(&frame(Kind::GoAway, 0, 0, &[0; 8]));
    assert!(client.http.is_over() && client.http.is_ended_by_peer());
    client.http.begin(&client.shared, &mut client.out);
    client.feed(&settings(&[]));
    assert!(client.http.has_room() && !client.http.is_over());
}

#[test]
fn a_stream_that_is_reset_is_the_only_one_that_ends() {
    let mut client = Client::greeted(4, &[]);
    (0..3).for_each(|place| client.ask(place, KIND));
    let reset = |stream, code: u32| frame(Kind::ResetStream, 0, stream, &code.to_be_bytes());
    client.feed(&wire(&[
        reset(3, 7),
        reset(3, 7),
        reset(5, 0xdead_beef),
        head(1, true, &[(":status", "200")]),
    ]));
    assert!(matches!(
        client.told[..],
        [
            Told::Failed(1, Failure::RefusedStream),
            Told::Failed(2, Failure::StreamReset(0xdead_beef)),
            Told::Ended(0, _)
        ]
    ));
    assert!(!client.http.is_over() && client.http.has_room());
}

#[test]
fn a_cancelled_stream_is_reset_and_what_still_comes_of_it_counts_into_the_window_alone() {
    let asked = Settings { streams: 2, window_bits: 30, connection_window_bits: 16, ..Settings::default() };
    let mut client = Client::new(asked, Limits::default());
    client.feed(&settings(&[]));
    client.ask(0, KIND);
    client.ask(1, KIND);
    client.told.clear();
    client.sent();
    client
        .feed(&[&head(1, false, &[(":status", "200")])[..], &data(1, false, &[b'x'; 1000])[..500]].concat());
    assert!(client.http.cancel(0, &mut client.out), "the connection goes on");
    assert!(matches!(client.sent()[..], [(FrameHead { kind: Kind::ResetStream, stream: 1, .. }, _)]));
    client.ask(0, KIND);
    client.sent();
    client.feed(&data(1, false, &[b'x'; 1000])[500..]);
    for _ in 0..2 {
        client.feed(&data(1, false, &[b'x'; 16_000]));
    }
    client.feed(&wire(&[head(1, true, &[("x-late", "trailer")]), head(5, true, &[(":status", "200")])]));
    assert!(matches!(client.told[..], [Told::Body(0, _), Told::Ended(0, _)]), "{:?}", client.told);
    let sent = client.sent();
    let [(FrameHead { kind: Kind::WindowUpdate, stream: 0, .. }, more)] = &sent[..] else {
        panic!("{sent:?}")
    };
    assert_eq!(more[..], 33_000_u32.to_be_bytes(), "at half of the 65,535");
}

#[test]
fn a_stream_that_is_about_to_end_gets_no_more_window() {
    let asked = Settings { streams: 2, window_bits: 10, ..Settings::default() };
    let mut client = Client::new(asked, Limits::default());
    client.feed(&settings(&[]));
    client.ask(0, KIND);
    client.ask(1, KIND);
    client.sent();
    client.feed(&wire(&[
        head(1, false, &[(":status", "200"), ("content-length", "1000")]),
        data(1, false, &[0; 900]),
    ]));
    assert_eq!(client.sent(), [], "what is to come has room");
    client.feed(&wire(&[
        head(3, false, &[(":status", "200"), ("content-length", "3000")]),
        data(3, false, &[0; 900]),
    ]));
    let sent = client.sent();
    assert!(
        matches!(&sent[..], [(FrameHead { kind: Kind::WindowUpdate, stream: 3, .. }, more)] if more[..] == 900_u32.to_be_bytes())
    );
    client.told.clear();
    client.feed(&data(3, false, &[0; 1024]));
    assert_eq!(
        client.told,
        [Told::Failed(1, Failure::Malformed(Malformed::FlowControl))],
        "one byte too many"
    );
    let sent = client.sent();
    assert!(
        matches!(&sent[..], [(FrameHead { kind: Kind::ResetStream, stream: 3, .. }, code)] if code[..] == [0, 0, 0, 3]),
        "FLOW_CONTROL_ERROR: {sent:?}"
    );
}

/// What is wrong with one answer alone.
#[test]
fn an_answer_that_is_none_ends_its_stream() {
    let status = (":status", "200");
    for (bytes, why) in [
        (head(1, true, &[("x", "y")]), Malformed::PseudoHeader),
        (head(1, true, &[("x", "y"), status]), Malformed::PseudoHeader),
        (head(1, true, &[status, status]), Malformed::PseudoHeader),
        (head(1, true, &[status, (":path", "/")]), Malformed::PseudoHeader),
        (head(1, true, &[(":status", "2000")]), Malformed::PseudoHeader),
        (head(1, true, &[(":status", "101")]), Malformed::PseudoHeader),
        (head(1, true, &[(":status", "103")]), Malformed::UnexpectedFrame),
        (head(1, true, &[status, ("X-Upper", "y")]), Malformed::HeaderName),
        (head(1, true, &[status, ("", "y")]), Malformed::HeaderName),
        (head(1, true, &[status, ("x", "a\nb")]), Malformed::HeaderValue),
        (head(1, true, &[status, ("connection", "close")]), Malformed::ConnectionField),
        (head(1, true, &[status, ("transfer-encoding", "chunked")]), Malformed::ConnectionField),
        (head(1, true, &[status, ("content-length", "5x")]), Malformed::ContentLength),
        (
            head(1, true, &[status, ("content-length", "5"), ("content-length", "6")]),
            Malformed::ContentLength,
        ),
        (head(1, true, &[status, ("content-length", "5")]), Malformed::BodyLength),
        (
            wire(&[head(1, false, &[status, ("content-length", "5")]), data(1, true, b"four")]),
            Malformed::BodyLength,
        ),
        (
            wire(&[head(1, false, &[status, ("content-length", "2")]), data(1, true, b"")]),
            Malformed::BodyLength,
        ),
        (data(1, true, b"before its head"), Malformed::UnexpectedFrame),
        (wire(&[head(1, false, &[status]), head(1, false, &[("x", "y")])]), Malformed::UnexpectedFrame),
        (wire(&[head(1, false, &[status]), head(1, true, &[status])]), Malformed::Trailer),
        (wire(&[head(1, false, &[status]), head(1, true, &[("X", "y")])]), Malformed::Trailer),
        (
            head(1, true, &vec![("x", "y"); 101].into_iter().chain([status]).rev().collect::<Vec<_>>()),
            Malformed::TooManyHeaders,
        ),
        (wire(&vec![head(1, false, &[(":status", "100")]); 17]), Malformed::TooManyInterimResponses),
    ] {
        let mut client = Client::greeted(2, &[]);
        client.ask(0, KIND);
        client.ask(1, KIND);
        client.sent();
        client.feed(&bytes);
        client.told.retain(|told| !matches!(told, Told::Body(..)));
        assert_eq!(client.told, [Told::Failed(0, Failure::Malformed(why))], "{bytes:?}");
        assert!(matches!(client.sent()[..], [(FrameHead { kind: Kind::ResetStream, stream: 1, .. }, _)]));
        client.feed(&head(3, true, &[status]));
        assert!(matches!(client.told[1..], [Told::Ended(1, _)]), "the other goes on");
    }
}

/// What is wrong with all of it.
#[test]
fn what_breaks_the_rules_of_a_connection_ends_it() {
    let mut bad_block = frame(Kind::Headers, flag::END_HEADERS, 1, &[0x80]);
    bad_block.extend(head(3, true, &[(":status", "200")]));
    for (bytes, why) in [
        (bad_block, Malformed::HeaderCompression),
        (head(5, true, &[(":status", "200")]), Malformed::UnexpectedFrame),
        (head(2, true, &[(":status", "200")]), Malformed::UnexpectedFrame),
        (head(0, true, &[(":status", "200")]), Malformed::UnexpectedFrame),
        (data(0, true, b""), Malformed::UnexpectedFrame),
        (data(7, true, b""), Malformed::UnexpectedFrame),
        (frame(Kind::PushPromise, flag::END_HEADERS, 1, &[0, 0, 0, 2]), Malformed::UnexpectedFrame),
        (frame(Kind::Continuation, flag::END_HEADERS, 1, b""), Malformed::UnexpectedFrame),
        (frame(Kind::ResetStream, 0, 9, &[0; 4]), Malformed::UnexpectedFrame),
        (frame(Kind::ResetStream, 0, 1, &[0; 5]), Malformed::FrameSize),
        (frame(Kind::Ping, 0, 0, &[0; 7]), Malformed::FrameSize),
        (frame(Kind::Ping, 0, 1, &[0; 8]), Malformed::UnexpectedFrame),
        (frame(Kind::GoAway, 0, 0, &[0; 7]), Malformed::FrameSize),
        (frame(Kind::Settings, 0, 0, &[0; 5]), Malformed::FrameSize),
        (frame(Kind::Settings, flag::ACK, 0, &[0; 6]), Malformed::UnexpectedFrame),
        (settings(&[(2, 1)]), Malformed::Settings),
        (settings(&[(5, 16_383)]), Malformed::Settings),
        (settings(&[(5, 1 << 24)]), Malformed::Settings),
        (frame(Kind::Headers, flag::PADDED, 1, b""), Malformed::Padding),
        (frame(Kind::Headers, flag::PADDED, 1, b"\x02a"), Malformed::Padding),
        (frame(Kind::Headers, flag::PRIORITY, 1, b"1234"), Malformed::FrameSize),
        (frame(Kind::Data, flag::PADDED, 1, b""), Malformed::Padding),
        (
            wire(&[head(1, false, &[(":status", "200")]), frame(Kind::Data, flag::PADDED, 1, b"\x02a")]),
            Malformed::Padding,
        ),
        (frame(Kind::Unknown(99), 0, 0, &vec![0; 16_385]), Malformed::FrameSize),
    ] {
        let mut client = Client::greeted(2, &[]);
        client.ask(0, KIND);
        client.ask(1, KIND);
        client.feed(&bytes);
        assert_eq!(client.told, [Told::Fault(why)], "{:?}", &bytes[..bytes.len().min(40)]);
    }
}

#[test]
fn a_server_of_another_protocol_is_recognised_by_its_first_bytes() {
    for bytes in [
        &b"HTTP/1.1 400 Bad Request\r\n"[..],
        &frame(Kind::Ping, 0, 0, &[0; 8]),
        &frame(Kind::Settings, flag::ACK, 0, b""),
    ] {
        let mut client = Client::new(Settings::default(), Limits::default());
        client.feed(bytes);
        assert_eq!(client.told, [Told::Fault(Malformed::NotHttp2)]);
    }
}

#[test]
fn head_and_answers_without_a_body_have_none_whatever_their_length_says() {
    for (kind, status) in [(RequestKind::Head, "200"), (KIND, "304")] {
        let mut client = Client::greeted(1, &[]);
        client.ask(0, kind);
        client.feed(&head(1, true, &[(":status", status), ("content-length", "500")]));
        assert!(matches!(&client.told[..], [Told::Ended(0, response)] if response.framing == Framing::None));
    }
}

/// What a server might send, in frames, with the streams that were asked for on its side.
fn a_frame() -> impl Strategy<Value = Vec<u8>> {
    let stream = prop_oneof![Just(1_u32), Just(3), Just(5), Just(0), Just(7)];
    let status = prop_oneof![Just("200"), Just("404"), Just("103")];
    prop_oneof![
        4 => (stream.clone(), any::<bool>(), status).prop_map(|(stream, ends, status)| head(stream, ends, &[(":status", status), ("server", "s")])),
        4 => (stream.clone(), any::<bool>(), prop::collection::vec(any::<u8>(), 0..40)).prop_map(|(stream, ends, bytes)| data(stream, ends, &bytes)),
        1 => (stream.clone(), 0..12_u8, prop::collection::vec(any::<u8>(), 1..40)).prop_map(|(stream, padding, mut bytes)| {
            bytes[0] = padding;
            frame(Kind::Data, flag::PADDED, stream, &bytes)
        }),
        1 => (0..4_u32, 0..70_000_u32).prop_map(|(name, value)| settings(&[(name as u16 + 1, value)])),
        1 => Just(frame(Kind::Ping, 0, 0, b"12345678")),
        1 => (stream.clone(), any::<u32>()).prop_map(|(stream, code)| frame(Kind::ResetStream, 0, stream, &code.to_be_bytes())),
        1 => (stream.clone(), 0..1000_u32).prop_map(|(stream, more)| frame(Kind::WindowUpdate, 0, stream, &more.to_be_bytes())),
        1 => (0..6_u32).prop_map(|last| frame(Kind::GoAway, 0, 0, &[last.to_be_bytes(), [0; 4]].concat())),
        1 => (any::<u8>(), any::<u8>(), stream, prop::collection::vec(any::<u8>(), 0..20)).prop_map(|(kind, flags, stream, bytes)| frame(Kind::Unknown(kind), flags, stream, &bytes)),
    ]
}

fn observe(pieces: &[&[u8]]) -> (Vec<Told>, Vec<u8>) {
    let mut client = Client::greeted(3, &[]);
    (0..3).for_each(|place| client.ask(place, KIND));
    client.out.clear();
    for piece in pieces {
        client.feed(piece);
    }
    (client.told, client.out)
}

proptest! {
    #[test]
    fn cutting_the_same_bytes_at_other_places_changes_nothing(
        frames in prop::collection::vec(a_frame(), 1..12),
        cuts in prop::collection::vec(1..30_usize, 1..60),
    ) {
        let wire = frames.concat();
        let whole = observe(&[&wire]);
        prop_assert_eq!(&observe(&wire.chunks(1).collect::<Vec<_>>()), &whole);
        let (mut rest, mut pieces) = (&wire[..], Vec::new());
        for cut in cuts {
            let (piece, behind) = rest.split_at(cut.min(rest.len()));
            pieces.push(piece);
            rest = behind;
        }
        pieces.push(rest);
        prop_assert_eq!(&observe(&pieces), &whole);
    }
}

/// The table is kept whatever becomes of the streams whose blocks fill it.
#[test]
fn a_block_of_a_stream_that_is_over_still_counts_for_the_table() {
    let mut client = Client::greeted(2, &[]);
    client.ask(0, KIND);
    client.ask(1, KIND);
    assert!(client.http.cancel(0, &mut client.out));
    let mut late = Vec::new();
    hpack::indexed(&mut late, 8);
    hpack::literal(&mut late, "content-length", "2", true);
    client.feed(&frame(Kind::Headers, flag::END_HEADERS, 1, &late));
    client.feed(&frame(Kind::Headers, flag::END_HEADERS, 3, &[0x88, 0xbe]));
    client.feed(&data(3, true, b"no!"));
    assert!(matches!(
        client.told[..],
        [Told::Body(1, _), Told::Failed(1, Failure::Malformed(Malformed::BodyLength))]
    ));
}

/// What is still to come is not known while it is not known how much of a frame is padding: the window is given back then.
#[test]
fn padding_that_uses_up_a_window_stalls_nothing() {
    let settings = Settings { streams: 1, window_bits: 10, ..Settings::default() };
    let mut client = Client::new(settings, Limits::default());
    client.feed(&crate::support::settings(&[]));
    client.ask(0, RequestKind::Ordinary);
    client.out.clear();
    client.told.clear();
    let padding = 100;
    let first = 1023 - 1 - padding;
    let mut payload = vec![padding as u8];
    payload.extend(vec![b'x'; first]);
    payload.extend(vec![0; padding]);
    client.feed(&head(1, false, &[(":status", "200"), ("content-length", "1023")]));
    client.feed(&frame(Kind::Data, flag::PADDED, 1, &payload));
    let (update, more) = client.sent().pop().expect("an update");
    assert_eq!((update.kind, update.stream, more), (Kind::WindowUpdate, 1, 1023_u32.to_be_bytes().to_vec()));
    client.feed(&data(1, true, &vec![b'x'; 1023 - first]));
    assert!(matches!(client.told[..], [.., Told::Ended(0, _)]), "{:?}", client.told);
}
