//! What a request is on the wire: the blocks of one connection, and bodies within the server's windows.

use std::sync::Arc;

use h2::{FrameHead, Kind, Settings, flag, hpack};
use http::{Failure, InvalidRequest, Limits, Malformed, Protocol, RequestKind, RequestSpec};

use crate::hpack::{decode, table};
use crate::support::{Client, Told, frame, head, request, settings};

const KIND: RequestKind = RequestKind::Ordinary;
/// Names of settings.
const TABLE: u16 = 1;
const WINDOW: u16 = 4;
const FRAME: u16 = 5;

fn text(fields: &[(Vec<u8>, Vec<u8>)]) -> Vec<(String, String)> {
    let text = |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).expect("text");
    fields.iter().map(|(name, value)| (text(name), text(value))).collect()
}

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// What the server is told of a request: the same, whichever block says it.
fn expected() -> Vec<(String, String)> {
    pairs(&[
        (":method", "GET"),
        (":scheme", "http"),
        (":authority", "a.test:80"),
        (":path", "/a?b"),
        ("user-agent", http::USER_AGENT),
    ])
}

#[test]
fn the_first_block_fills_the_servers_table_and_those_behind_it_refer_to_that() {
    let mut client = Client::greeted(4, &[]);
    (0..3).for_each(|place| client.ask(place, KIND));
    let sent = client.sent();
    let mut server = hpack::Decoder::new(4096);
    for (at, (head, block)) in sent.iter().enumerate() {
        let flags = flag::END_HEADERS | flag::END_STREAM;
        let stream = 1 + 2 * at as u32;
        assert_eq!(
            *head,
            FrameHead { payload_bytes: block.len() as u32, kind: Kind::Headers, flags, stream }
        );
        assert_eq!(text(&decode(&mut server, block).expect("a block")), expected(), "request {at}");
        assert_eq!(
            text(&table(&server)),
            pairs(&[("user-agent", http::USER_AGENT), (":authority", "a.test:80")])
        );
    }
    assert_eq!(sent.len(), 3);
    assert_eq!(sent[1].1, sent[2].1, "the same bytes again and again");
    assert!(sent[1].1.len() <= 10, "{:?}", sent[1]);
}

#[test]
fn a_server_without_a_table_is_told_that_it_is_not_used_and_gets_literal_blocks() {
    let mut client = Client::greeted(4, &[(TABLE, 0)]);
    (0..3).for_each(|place| client.ask(place, KIND));
    let mut server = hpack::Decoder::new(0);
    let sent = client.sent();
    for (at, (_, block)) in sent.iter().enumerate() {
        assert_eq!(text(&decode(&mut server, block).expect("a block")), expected());
        assert_eq!((block[0] == 0x20, server.table().len()), (at == 0, 0), "said once");
    }

    // One that makes it smaller later on.
    let mut client = Client::greeted(4, &[]);
    client.ask(0, KIND);
    client.feed(&settings(&[(TABLE, 100), (TABLE, 4096)]));
    client.ask(1, KIND);
    let mut server = hpack::Decoder::new(4096);
    for (head, block) in client.sent() {
        if head.kind == Kind::Headers {
            assert_eq!(text(&decode(&mut server, &block).expect("a block")), expected());
        }
    }
    assert_eq!(server.table().len(), 0);
}

#[test]
fn long_heads_go_out_in_parts() {
    let value = "~".repeat(40_000);
    let headers = [("x-long", &*value)];
    let spec =
        RequestSpec { method: "GET", target: "/", host: "a", headers: &headers, body: b"", close: false };
    let encoded = h2::encode(&spec, h2::Scheme::Https).expect("a request");
    let mut client = Client::greeted(2, &[]);
    for place in 0..2 {
        client.send(place, KIND, &encoded);
        let sent = client.sent();
        let kinds: Vec<(Kind, u8)> = sent.iter().map(|(head, _)| (head.kind, head.flags)).collect();
        let parts = [
            (Kind::Headers, flag::END_STREAM),
            (Kind::Continuation, 0),
            (Kind::Continuation, flag::END_HEADERS),
        ];
        assert_eq!(kinds, parts);
        let block: Vec<u8> = sent.into_iter().flat_map(|(_, part)| part).collect();
        let fields = text(&decode(&mut hpack::Decoder::new(4096), &block).expect("a block"));
        assert!(fields.contains(&("x-long".into(), value.clone())), "in full: it is too long for a table");
        assert!(fields.contains(&(":scheme".into(), "https".into())));
    }
}

/// Bytes of a body that were sent on a stream, and whether they were the last.
fn body(sent: &[(FrameHead, Vec<u8>)], stream: u32) -> (usize, bool) {
    let of_it = sent.iter().filter(|(head, _)| head.kind == Kind::Data && head.stream == stream);
    of_it.fold((0, false), |(bytes, _), (head, part)| (bytes + part.len(), head.has(flag::END_STREAM)))
}

#[test]
fn bodies_go_out_as_far_as_the_windows_allow() {
    let encoded = request(&vec![b'x'; 100_000]);
    let mut client = Client::greeted(3, &[(WINDOW, 40_000)]);
    (0..2).for_each(|place| client.send(place, KIND, &encoded));
    let sent = client.sent();
    assert!(sent.iter().all(|(head, _)| head.payload_bytes <= 16_384));
    // The connection's window is 65,535.
    assert_eq!((body(&sent, 1), body(&sent, 3)), ((40_000, false), (25_535, false)));

    let update = |stream, more: u32| frame(Kind::WindowUpdate, 0, stream, &more.to_be_bytes());
    client.feed(&update(1, 60_000));
    assert_eq!(body(&client.sent(), 1), (0, false), "the connection has no more");
    client.feed(&update(0, 10_000));
    let sent = client.sent();
    assert_eq!((body(&sent, 1), body(&sent, 3)), ((10_000, false), (0, false)));

    // Smaller windows: that of the second stream falls below zero.
    client.feed(&settings(&[(WINDOW, 20_000), (FRAME, 70_000)]));
    client.feed(&update(0, 1_000_000));
    let sent = client.sent();
    assert_eq!((body(&sent, 1), body(&sent, 3)), ((30_000, false), (0, false)));
    client.feed(&update(3, 5_536));
    assert_eq!(body(&client.sent(), 3), (1, false));
    client.feed(&settings(&[(WINDOW, 2_000_000)]));
    let sent = client.sent();
    assert_eq!((body(&sent, 1), body(&sent, 3)), ((20_000, true), (74_464, true)));
    assert!(sent.iter().any(|(head, _)| head.payload_bytes > 16_384), "longer frames, once they are allowed");
}

/// The window of the connection is as long as a body: who waits longest is first, and not who has the lowest place.
#[test]
fn who_waits_longest_for_the_window_of_the_connection_is_first() {
    let encoded = request(&vec![b'x'; 65_535]);
    let mut client = Client::greeted(3, &[(WINDOW, 1_000_000)]);
    (0..3).for_each(|place| client.send(place, KIND, &encoded));
    let update = frame(Kind::WindowUpdate, 0, 0, &65_535_u32.to_be_bytes());
    assert_eq!(body(&client.sent(), 1), (65_535, true));
    client.feed(&update);
    assert_eq!(body(&client.sent(), 3), (65_535, true));
    for (answered, place, asked, due) in [(1, 0, 7, 5), (3, 1, 9, 7), (5, 2, 11, 9)] {
        client.feed(&head(answered, true, &[(":status", "200")]));
        client.send(place, KIND, &encoded);
        client.feed(&update);
        let sent = client.sent();
        assert_eq!(body(&sent, due), (65_535, true), "{due} waits the longest");
        assert!(due == asked || body(&sent, asked) == (0, false), "{asked} has only just asked");
    }
}

/// A hundred streams that wait for the server's windows have a body of 100 MB in memory once.
#[test]
fn streams_that_wait_share_the_request() {
    let encoded: Arc<[u8]> = request(&vec![b'x'; 70_000]).into();
    let mut client = Client::greeted(3, &[]);
    for place in 0..3 {
        client.http.ask(place, &encoded, &mut client.out);
        client.http.expect(place, KIND);
    }
    assert_eq!(Arc::strong_count(&encoded), 4, "each stream holds on to it");
    client.feed(&frame(Kind::WindowUpdate, 0, 0, &1_000_000_u32.to_be_bytes()));
    for stream in [1, 3, 5] {
        client.feed(&frame(Kind::WindowUpdate, 0, stream, &1_000_000_u32.to_be_bytes()));
    }
    let sent = client.sent();
    assert_eq!([1, 3, 5].map(|stream| body(&sent, stream)), [(70_000, true); 3]);
    assert_eq!(Arc::strong_count(&encoded), 1, "what has gone out is nobody's any more");
}

#[test]
fn an_answer_before_the_end_of_its_request_ends_both() {
    let encoded = request(&vec![b'x'; 100_000]);
    let mut client = Client::greeted(1, &[]);
    client.send(0, KIND, &encoded);
    client.sent();
    client.feed(&head(1, true, &[(":status", "413")]));
    assert!(matches!(&client.told[..], [Told::Ended(0, response)] if response.status == 413));
    let sent = client.sent();
    assert!(
        matches!(&sent[..], [(FrameHead { kind: Kind::ResetStream, stream: 1, .. }, code)] if code[..] == [0; 4])
    );
    client.feed(&frame(Kind::WindowUpdate, 0, 0, &1_000_000_u32.to_be_bytes()));
    assert_eq!(client.sent(), [], "nothing of it goes out any more");
}

#[test]
fn windows_are_never_changed_by_nothing_or_beyond_their_bound() {
    let max = (1_u32 << 31) - 1;
    let update = |stream, more: u32| frame(Kind::WindowUpdate, 0, stream, &more.to_be_bytes());
    for (bytes, told) in [
        (update(0, 0), Told::Fault(Malformed::FlowControl)),
        (update(0, max), Told::Fault(Malformed::FlowControl)),
        (update(1, 0), Told::Failed(0, Failure::Malformed(Malformed::FlowControl))),
        (update(1, max), Told::Failed(0, Failure::Malformed(Malformed::FlowControl))),
        (
            [update(1, max - 65_535), settings(&[(WINDOW, 65_536)])].concat(),
            Told::Fault(Malformed::FlowControl),
        ),
        (settings(&[(WINDOW, max + 1)]), Told::Fault(Malformed::FlowControl)),
    ] {
        let mut client = Client::greeted(1, &[]);
        client.ask(0, KIND);
        client.feed(&bytes);
        assert_eq!(client.told, [told], "{bytes:?}");
    }
    // PROTOCOL_ERROR and FLOW_CONTROL_ERROR.
    for (more, code) in [(0, 1_u32), (max, 3)] {
        let mut client = Client::greeted(1, &[]);
        client.ask(0, KIND);
        client.sent();
        client.feed(&update(1, more));
        let sent = client.sent();
        let [(FrameHead { kind: Kind::ResetStream, stream: 1, .. }, why)] = &sent[..] else {
            panic!("{sent:?}")
        };
        assert_eq!(why[..], code.to_be_bytes(), "{more} more");
    }
}

#[test]
fn what_a_client_says_first_is_what_it_was_asked_to_be() {
    let asked = Settings { streams: 1, window_bits: 14, connection_window_bits: 20, header_table_bytes: 128 };
    let sent = Client::new(asked, Limits::default()).sent();
    let settings: Vec<u32> =
        sent[0].1.chunks(6).map(|it| u32::from_be_bytes([it[2], it[3], it[4], it[5]])).collect();
    assert_eq!(settings, [128, 0, 16_383, 65_536], "table, push, window, heads");
    assert!(
        matches!(&sent[1], (FrameHead { kind: Kind::WindowUpdate, stream: 0, .. }, more) if more[..] == 983_040_u32.to_be_bytes())
    );
    let small = Settings { connection_window_bits: 10, ..asked };
    assert_eq!(
        Client::new(small, Limits::default()).sent().len(),
        1,
        "no connection's window is below 65,535 bytes"
    );
}

#[test]
fn fields_that_http_2_has_no_place_for_are_refused() {
    let encode = |headers: &[(&str, &str)]| {
        h2::encode(
            &RequestSpec { method: "GET", target: "/", host: "a", headers, body: b"", close: false },
            h2::Scheme::Http,
        )
    };
    for name in ["Connection", "keep-alive", "Upgrade", "Proxy-Connection"] {
        assert_eq!(encode(&[(name, "x")]), Err(InvalidRequest::ConnectionField(name.to_ascii_lowercase())));
    }
    assert!(encode(&[("TE", "gzip")]).is_err() && encode(&[("TE", "trailers")]).is_ok());
    assert_eq!(encode(&[("a b", "x")]), Err(InvalidRequest::HeaderName("a b".into())));
    let mut client = Client::greeted(1, &[]);
    client.send(0, KIND, &encode(&[("Host", "b.test"), ("X-One", "1")]).expect("a request"));
    let (_, block) = client.sent().remove(0);
    let fields = text(&decode(&mut hpack::Decoder::new(4096), &block).expect("a block"));
    assert!(fields.contains(&(":authority".into(), "b.test".into())), "{fields:?}");
    assert!(fields.contains(&("x-one".into(), "1".into())), "{fields:?}");
    assert!(!fields.iter().any(|(name, _)| name == "host"), "{fields:?}");
}

/// Whoever takes values from answers or recordings may have such: a server would break the stream off.
#[test]
fn values_go_out_without_the_white_space_around_them() {
    let headers = [("Host", " b.test\t"), ("X-One", "\t one two "), ("X-None", " ")];
    let spec =
        RequestSpec { method: "GET", target: "/", host: "a", headers: &headers, body: b"", close: false };
    let mut always = Client::greeted(1, &[]);
    always.send(0, KIND, &h2::encode(&spec, h2::Scheme::Http).expect("a request"));
    let mut other = Client::greeted(1, &[]);
    other.http.ask_for(0, &spec, false, &mut other.out);
    for mut client in [always, other] {
        let (_, block) = client.sent().remove(0);
        let fields = text(&decode(&mut hpack::Decoder::new(4096), &block).expect("a block"));
        let own = pairs(&[("x-one", "one two"), ("x-none", "")]);
        assert_eq!(fields[fields.len() - 2..], own, "{fields:?}");
        assert!(fields.contains(&(":authority".into(), "b.test".into())), "{fields:?}");
    }
}

#[test]
fn of_an_encoded_request_method_names_and_the_length_of_its_body_can_be_told() {
    let long = "~".repeat(5000);
    let headers = [("Authorization", "Bearer x"), ("X-Long", &*long)];
    for (method, body) in [("GET", &b""[..]), ("PATCH", &b"abc"[..])] {
        let spec = RequestSpec { method, target: "/", host: "a", headers: &headers, body, close: false };
        let encoded = h2::encode(&spec, h2::Scheme::Http).expect("a request");
        let mut names = Vec::new();
        let told = h2::named(&encoded, |name| names.push(String::from_utf8_lossy(name).into_owned()));
        assert_eq!(told, Some((method.as_bytes().to_vec(), body.len())));
        names.retain(|name| name != "content-length");
        assert_eq!(names, ["user-agent", "authorization", "x-long"]);
    }
    for no_request in [&b""[..], b"GET / HTTP/1.1\r\n\r\n", &[0; 12]] {
        assert_eq!(h2::named(no_request, |_| ()), None);
    }
}

/// One that goes out again, on the next connection, is the same request, unless it is over before that.
#[test]
fn a_request_that_waits_for_windows_on_two_connections_is_one() {
    let large = request(&vec![b'x'; 100_000]);
    for (is_over, waits) in [(false, 1), (true, 2)] {
        let mut client = Client::greeted(1, &[]);
        client.send(0, KIND, &large);
        assert_eq!(client.http.window_waits(), 1);
        client.feed(&frame(Kind::GoAway, 0, 0, &[0; 8]));
        assert_eq!(client.told, [Told::Failed(0, Failure::Unprocessed)]);
        if is_over {
            client.http.forget(0);
        }
        client.http.begin(&client.shared, &mut client.out);
        client.feed(&settings(&[]));
        client.send(0, KIND, &large);
        assert_eq!(client.http.window_waits(), waits, "over before that: {is_over}");
        client.feed(&head(1, true, &[(":status", "200")]));
        client.send(0, KIND, &large);
        assert_eq!(client.http.window_waits(), waits + 1, "the next request waits by itself");
    }
}
