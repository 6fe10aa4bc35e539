//! Responses that are taken, one named row a rule.

use http::{EndOfStream, Framing, Limits, Malformed, Progress, RequestKind, Response, ResponseParser};

use crate::support::{End, observe};

use Framing::{Chunked, CloseDelimited, ContentLength, None as NoBody};
use RequestKind::{Head, Ordinary};

/// Pushes `wire` whole and byte by byte; both must end in this one response.
#[track_caller]
fn takes(
    wire: &str,
    kind: RequestKind,
    status: u16,
    keep_alive: bool,
    framing: Framing,
    body: &str,
) -> Response {
    let wire = wire.as_bytes();
    let limits = Limits::default();
    let whole = observe(&limits, |_| kind, [wire]);
    assert_eq!(whole, observe(&limits, |_| kind, wire.chunks(1)), "byte by byte");
    let (response, seen) = match (&whole.end, &whole.responses[..]) {
        (End::Closed(EndOfStream::Untouched), [(response, seen)]) => (*response, seen),
        (End::Closed(EndOfStream::Complete(response)), []) => (*response, &whole.last_body),
        _ => panic!("{whole:?}"),
    };
    assert_eq!(
        (response.status, response.keep_alive, response.framing, std::str::from_utf8(seen)),
        (status, keep_alive, framing, Ok(body))
    );
    assert_eq!(response.body_bytes, body.len() as u64);
    assert_eq!(response.wire_bytes, wire.len() as u64);
    response
}

#[test]
fn content_length() {
    for (name, field, body) in [
        ("plain", "Content-Length: 5", "hello"),
        ("lower case", "content-length: 5", "hello"),
        ("no space after the colon", "Content-Length:5", "hello"),
        ("much space around the value", "Content-Length: \t 5 \t", "hello"),
        ("leading zeros", "Content-Length: 0000000000000000000000005", "hello"),
        ("an equal list", "Content-Length: 5, 5", "hello"),
        ("an equal list of other digits", "Content-Length: 5,05", "hello"),
        ("repeated", "Content-Length: 5\r\nContent-Length: 5", "hello"),
        ("folded", "Content-Length:\r\n 5", "hello"),
        ("zero", "Content-Length: 0", ""),
    ] {
        println!("{name}");
        takes(&format!("HTTP/1.1 200 OK\r\n{field}\r\n\r\n{body}"), Ordinary, 200, true, ContentLength, body);
    }
}

#[test]
fn chunked() {
    for (name, wire, body) in [
        ("one chunk", "5\r\nhello\r\n0\r\n\r\n", "hello"),
        ("two chunks", "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", "hello"),
        ("no data", "0\r\n\r\n", ""),
        ("upper and lower hex", "A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789"),
        ("leading zeros", "00000000000000000000000005\r\nhello\r\n000\r\n\r\n", "hello"),
        ("an extension", "5;name=value\r\nhello\r\n0\r\n\r\n", "hello"),
        ("a quoted extension", "5 ; name=\"a;b\"; c\r\nhello\r\n0;last\r\n\r\n", "hello"),
        ("padding after the size", "5  \r\nhello\r\n0 \r\n\r\n", "hello"),
        ("a trailer", "5\r\nhello\r\n0\r\nDigest: x\r\n\r\n", "hello"),
        ("trailers without space or value", "5\r\nhello\r\n0\r\nA:b\r\nB:\r\n\r\n", "hello"),
        ("a folded trailer", "5\r\nhello\r\n0\r\nA: b\r\n\tc\r\n\r\n", "hello"),
        ("LF only", "5\nhello\n0\nA: b\n\n", "hello"),
        // What it costs to take LF for a line end: data one byte short of its CRLF passes.
        ("the CR counted as data", "5\r\nhell\r\n0\r\n\r\n", "hell\r"),
        ("line ends in the data", "4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n"),
    ] {
        println!("{name}");
        let wire = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{wire}");
        takes(&wire, Ordinary, 200, true, Chunked, body);
    }
}

#[test]
fn transfer_encodings() {
    let chunks = "2\r\nok\r\n0\r\n\r\n";
    for (name, fields, keep_alive, framing) in [
        ("mixed case", "transfer-encoding:Chunked", true, Chunked),
        ("chunked last", "Transfer-Encoding: gzip, chunked", true, Chunked),
        (
            "chunked last over two lines",
            "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
            true,
            Chunked,
        ),
        ("empty elements", "Transfer-Encoding: , chunked ,", true, Chunked),
        ("with a length: chunked wins", "Content-Length: 3\r\nTransfer-Encoding: chunked", false, Chunked),
        ("with a bad length", "Transfer-Encoding: chunked\r\nContent-Length: x", false, Chunked),
        ("chunked not last", "Transfer-Encoding: chunked, gzip", false, CloseDelimited),
        ("no chunked", "Transfer-Encoding: gzip;q=1", false, CloseDelimited),
        ("no chunked, with a length", "Content-Length: 2\r\nTransfer-Encoding: gzip", false, CloseDelimited),
    ] {
        println!("{name}");
        let body = if framing == Chunked { "ok" } else { chunks };
        let wire = format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n{chunks}");
        takes(&wire, Ordinary, 200, keep_alive, framing, body);
    }
    let wire =
        format!("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}");
    takes(&wire, Ordinary, 200, false, Chunked, "ok");
}

#[test]
fn no_body_whatever_the_fields_say() {
    for (name, kind, status) in
        [("HEAD", Head, 200), ("HEAD of an error", Head, 404), ("204", Ordinary, 204), ("304", Ordinary, 304)]
    {
        for fields in ["", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "Content-Length: x\r\n"]
        {
            println!("{name} with {fields:?}");
            takes(&format!("HTTP/1.1 {status} X\r\n{fields}\r\n"), kind, status, true, NoBody, "");
        }
    }
}

#[test]
fn close_delimited() {
    takes("HTTP/1.1 200 OK\r\n\r\n", Ordinary, 200, false, CloseDelimited, "");
    takes("HTTP/1.1 200 OK\r\n\r\nhello", Ordinary, 200, false, CloseDelimited, "hello");
    takes(
        "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\nhello",
        Ordinary,
        200,
        false,
        CloseDelimited,
        "hello",
    );
}

#[test]
fn interim_responses_are_skipped() {
    let last = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";
    let wire = format!(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 9\r\n\r\n{last}ok"
    );
    let response = takes(&wire, Ordinary, 200, true, ContentLength, "ok");
    assert_eq!(response.head_bytes as usize, last.len());
    takes(&format!("HTTP/1.1 100\n\n{last}ok"), Ordinary, 200, true, ContentLength, "ok");
    let wire = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n";
    takes(wire, Head, 204, true, NoBody, "");
}

#[test]
fn switching_protocols_is_final() {
    let wire = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n";
    takes(wire, Ordinary, 101, false, NoBody, "");
}

#[test]
fn keep_alive() {
    for (name, version, fields, keep_alive) in [
        ("1.1 by default", "1.1", "", true),
        ("1.1 close", "1.1", "Connection: close\r\n", false),
        ("1.1 Close", "1.1", "connection:Close\r\n", false),
        ("1.1 close in a list", "1.1", "Connection: foo , CLOSE, bar\r\n", false),
        ("1.1 close on a second line", "1.1", "Connection: foo\r\nConnection: close\r\n", false),
        ("1.1 a word that has close in it", "1.1", "Connection: closed, xclose\r\n", true),
        ("1.1 both", "1.1", "Connection: keep-alive, close\r\n", false),
        ("1.0 by default", "1.0", "", false),
        ("1.0 keep-alive", "1.0", "Connection: keep-alive\r\n", true),
        ("1.0 Keep-Alive in a list", "1.0", "Connection: foo,Keep-Alive\r\n", true),
        ("1.0 both", "1.0", "Connection: keep-alive, close\r\n", false),
        ("1.0 another option", "1.0", "Connection: upgrade\r\n", false),
    ] {
        println!("{name}");
        let wire = format!("HTTP/{version} 200 OK\r\n{fields}Content-Length: 0\r\n\r\n");
        takes(&wire, Ordinary, 200, keep_alive, ContentLength, "");
    }
}

#[test]
fn loose_heads_are_taken() {
    for (name, head) in [
        ("LF only", "HTTP/1.1 200 OK\nContent-Length: 2\n\n"),
        ("LF and CRLF mixed", "HTTP/1.1 200 OK\nContent-Length: 2\r\n\n"),
        ("no reason", "HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\n"),
        ("no reason and no space", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n"),
        ("a reason in UTF-8", "HTTP/1.1 200 Dobře\r\nContent-Length: 2\r\n\r\n"),
        ("a value in UTF-8", "HTTP/1.1 200 OK\r\nX: ž\r\nContent-Length: 2\r\n\r\n"),
        ("an empty value", "HTTP/1.1 200 OK\r\nX:\r\nContent-Length: 2\r\n\r\n"),
        ("a folded value", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\tc\r\nContent-Length: 2\r\n\r\n"),
        ("a fold with nothing on it", "HTTP/1.1 200 OK\r\nX: a\r\n \r\nContent-Length: 2\r\n\r\n"),
        ("an empty line before", "\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"),
        ("empty lines before", "\r\n\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"),
    ] {
        println!("{name}");
        takes(&format!("{head}ok"), Ordinary, 200, true, ContentLength, "ok");
    }
}

#[test]
fn unknown_statuses_are_taken() {
    for status in [200, 299, 418, 599, 600, 999] {
        takes(
            &format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n"),
            Ordinary,
            status,
            true,
            ContentLength,
            "",
        );
    }
}

#[test]
fn a_pipelined_remainder_is_left_to_the_caller() {
    let first = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let second = b"HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n";
    let third = b"HTTP/1.1 304 Not Modified\r\n\r\n";
    let wire = [&first[..], second, third].concat();
    let observed = observe(&Limits::default(), |_| Ordinary, [&wire[..]]);
    let seen: Vec<_> = observed
        .responses
        .iter()
        .map(|(response, body)| (response.status, response.wire_bytes as usize, &body[..]))
        .collect();
    assert_eq!(seen, [(200, first.len(), &b"ok"[..]), (404, second.len(), b"no"), (304, third.len(), b"")]);
    assert_eq!(observed.end, End::Closed(EndOfStream::Untouched));
}

#[test]
fn bytes_beyond_a_response_are_not_consumed() {
    let mut parser = ResponseParser::new();
    parser.begin(Ordinary);
    let wire = b"HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\njunk";
    let Ok(Progress::Complete { consumed, .. }) = parser.push(&Limits::default(), wire, |_| ()) else {
        panic!("not complete");
    };
    assert_eq!(&wire[consumed..], b"junk");
}

#[test]
fn unasked_bytes_are_named() {
    let mut parser = ResponseParser::default();
    assert_eq!(parser.push(&Limits::default(), b"", |_| ()), Ok(Progress::NeedMore));
    assert_eq!(parser.push(&Limits::default(), b"HTTP/1.1 408", |_| ()), Err(Malformed::Unsolicited));
    parser.begin(Ordinary);
    let whole = b"HTTP/1.1 204 No Content\r\n\r\n";
    assert!(matches!(parser.push(&Limits::default(), whole, |_| ()), Ok(Progress::Complete { .. })));
    assert_eq!(parser.push(&Limits::default(), whole, |_| ()), Err(Malformed::Unsolicited));
}

#[test]
fn begin_forgets_what_came_before() {
    let limits = Limits::default();
    let mut parser = ResponseParser::new();
    for before in ["HTTP/1.1 2", "garbage", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", "\r"] {
        parser.begin(Head);
        let _ = parser.push(&limits, before.as_bytes(), |_| ());
        parser.begin(Ordinary);
        let wire = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        let Ok(Progress::Complete { consumed, response }) = parser.push(&limits, wire, |_| ()) else {
            panic!("{before:?}");
        };
        assert_eq!((consumed, response.wire_bytes as usize), (wire.len(), wire.len()));
    }
}

#[test]
fn end_of_stream() {
    for (wire, untouched) in [
        ("", true),
        ("\r\n", true),
        ("H", false),
        ("HTTP/1.1 200 OK\r\n", false),
        ("HTTP/1.1 100 Continue\r\n\r\n", false),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", false),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", false),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", false),
        ("garbage", false),
    ] {
        let mut parser = ResponseParser::new();
        parser.begin(Ordinary);
        let _ = parser.push(&Limits::default(), wire.as_bytes(), |_| ());
        let expected = if untouched { EndOfStream::Untouched } else { EndOfStream::Truncated };
        assert_eq!(parser.end_of_stream(), expected, "{wire:?}");
        assert_eq!(parser.end_of_stream(), EndOfStream::Untouched, "nothing is expected after {wire:?}");
    }
    assert_eq!(ResponseParser::new().end_of_stream(), EndOfStream::Untouched);
}
