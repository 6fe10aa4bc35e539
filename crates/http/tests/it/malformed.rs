//! Responses that are refused, one named row a rule; and the nasty ones by name.

use std::collections::HashSet;

use http::{Limits, Malformed, RequestKind};

use crate::support::{End, observe};

/// Pushes `wire` whole and byte by byte; both must be refused for the same reason.
#[track_caller]
fn refuses(wire: &[u8], reason: Malformed) {
    let limits = Limits::default();
    let whole = observe(&limits, |_| RequestKind::Ordinary, [wire]);
    assert_eq!(whole.end, End::Malformed(reason), "{:?}", String::from_utf8_lossy(wire));
    assert_eq!(whole, observe(&limits, |_| RequestKind::Ordinary, wire.chunks(1)), "byte by byte");
}

#[track_caller]
fn refuses_field(field: &str, reason: Malformed) {
    refuses(format!("HTTP/1.1 200 OK\r\nServer: x\r\n{field}\r\n\r\nhello").as_bytes(), reason);
}

#[track_caller]
fn refuses_chunks(chunks: &str, reason: Malformed) {
    let wire = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}");
    refuses(wire.as_bytes(), reason);
}

#[test]
fn status_lines() {
    for (line, reason) in [
        ("hello", Malformed::StatusLine),
        ("<html>", Malformed::StatusLine),
        ("HTTX/1.1 200 OK", Malformed::StatusLine),
        ("http/1.1 200 OK", Malformed::StatusLine),
        ("HTTP/2 200 OK", Malformed::Version),
        ("HTTP/1,1 200 OK", Malformed::Version),
        ("HTTP/1.2 200 OK", Malformed::Version),
        ("HTTP/1.11 200 OK", Malformed::Version),
        ("HTTP/1.1", Malformed::Version),
        ("HTTP/1.1  200 OK", Malformed::StatusLine),
        ("HTTP/1.1 20 OK", Malformed::StatusLine),
        ("HTTP/1.1 2000 OK", Malformed::StatusLine),
        ("HTTP/1.1 +20 OK", Malformed::StatusLine),
        ("HTTP/1.1 099 OK", Malformed::StatusLine),
        ("HTTP/1.1 000 OK", Malformed::StatusLine),
        ("HTTP/1.1 200 O\0K", Malformed::StatusLine),
        ("HTTP/1.1 200 O\rK", Malformed::StatusLine),
    ] {
        refuses(format!("{line}\r\nContent-Length: 0\r\n\r\n").as_bytes(), reason);
    }
}

#[test]
fn what_is_no_http_is_refused_at_once() {
    // A TLS alert, the SETTINGS of HTTP/2 and an SSH banner: none of them ever sends an empty line.
    refuses(b"\x15\x03\x01\x00\x02\x02\x16", Malformed::StatusLine);
    refuses(b"\x00\x00\x06\x04\x00\x00\x00\x00\x00", Malformed::StatusLine);
    refuses(b"SSH-2.0-OpenSSH_9.6\r\n", Malformed::StatusLine);
    refuses(b"HTTP/3", Malformed::Version);
}

#[test]
fn empty_lines_before_the_status_line() {
    refuses(b"\r\n\r\n\r\n\r\n\r\nHTTP/1.1 204 X\r\n\r\n", Malformed::EmptyLines);
    refuses(b"\rHTTP/1.1 204 X\r\n\r\n", Malformed::LineEnd);
    refuses(b"\r\r\nHTTP/1.1 204 X\r\n\r\n", Malformed::LineEnd);
}

#[test]
fn header_fields() {
    for (field, reason) in [
        ("A B: c", Malformed::HeaderName),
        ("A : c", Malformed::HeaderName),
        (": c", Malformed::HeaderName),
        ("no colon", Malformed::HeaderName),
        ("Á: c", Malformed::HeaderName),
        ("A\0: c", Malformed::HeaderName),
        ("A: b\0c", Malformed::HeaderValue),
        ("A: b\x07c", Malformed::HeaderValue),
        ("A: b\x7fc", Malformed::HeaderValue),
        ("A: b\rc", Malformed::HeaderValue),
        ("A: b\r\r", Malformed::HeaderValue),
        ("\rA: b", Malformed::LineEnd),
    ] {
        refuses_field(field, reason);
    }
    refuses(b"HTTP/1.1 200 OK\r\n folded: first\r\n\r\n", Malformed::HeaderName);
}

#[test]
fn content_lengths() {
    for value in [
        "",
        "-1",
        "+5",
        "0x5",
        "5.0",
        "5 5",
        "5;5",
        "5,",
        ",5",
        "5, 6",
        "5\r\nContent-Length: 6",
        "٣",
        "five",
        "18446744073709551616",
        "99999999999999999999999999",
        "5\r\n 5",
    ] {
        refuses_field(&format!("Content-Length: {value}"), Malformed::ContentLength);
    }
}

#[test]
fn transfer_encodings() {
    for value in [
        "",
        ",",
        "chunked, chunked",
        "chunked, gzip, chunked",
        "chunked;q=1",
        "chun ked",
        "chun\r\n ked",
        "\"chunked\"",
    ] {
        refuses_field(&format!("Transfer-Encoding: {value}"), Malformed::TransferEncoding);
    }
    refuses_field("Transfer-Encoding: chunked\r\ntransfer-encoding: chunked", Malformed::TransferEncoding);
}

#[test]
fn chunk_sizes() {
    for size in [
        "",
        " 5",
        "+5",
        "-5",
        "0x5",
        "5g",
        "g",
        "5 5",
        "5\0",
        "\r",
        ";a",
        "FFFFFFFFFFFFFFFFF",
        "10000000000000000",
        "00000FFFFFFFFFFFFFFFFF",
        "\u{665}",
    ] {
        refuses_chunks(&format!("{size}\r\nhello\r\n0\r\n\r\n"), Malformed::ChunkSize);
    }
}

#[test]
fn chunk_extensions_and_ends() {
    for (chunks, reason) in [
        ("5;a\0b\r\nhello\r\n0\r\n\r\n", Malformed::ChunkExtension),
        ("5;a\rb\r\nhello\r\n0\r\n\r\n", Malformed::LineEnd),
        ("5\rhello\r\n0\r\n\r\n", Malformed::LineEnd),
        ("5\r\nhelloo\r\n0\r\n\r\n", Malformed::ChunkTerminator),
        ("5\r\nhello0\r\n\r\n", Malformed::ChunkTerminator),
        ("5\r\nhello\r0\r\n\r\n", Malformed::ChunkTerminator),
        ("6\r\nhell\r\n0\r\n\r\n", Malformed::ChunkTerminator),
        ("0\r\n\rX", Malformed::Trailer),
        ("0\r\nHTTP/1.1 200 OK\r\n\r\n", Malformed::Trailer),
        ("0\r\n folded: first\r\n\r\n", Malformed::Trailer),
        ("0\r\nA b: c\r\n\r\n", Malformed::Trailer),
        ("0\r\n: c\r\n\r\n", Malformed::Trailer),
        ("0\r\nA\r\n\r\n", Malformed::Trailer),
        ("0\r\nA: b\0\r\n\r\n", Malformed::Trailer),
        ("0\r\nA: b\rc\r\n\r\n", Malformed::Trailer),
    ] {
        refuses_chunks(chunks, reason);
    }
}

/// The largest chunk there can be is awaited, not added up.
#[test]
fn a_chunk_of_2_to_the_64_minus_1_bytes_is_only_incomplete() {
    let wire = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\nhello";
    let observed = observe(&Limits::default(), |_| RequestKind::Ordinary, [&wire[..]]);
    assert_eq!(
        (observed.end, &observed.last_body[..]),
        (End::Closed(http::EndOfStream::Truncated), &b"hello"[..])
    );
    let wire = b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nhello";
    let observed = observe(&Limits::default(), |_| RequestKind::Ordinary, [&wire[..]]);
    assert_eq!(
        (observed.end, &observed.last_body[..]),
        (End::Closed(http::EndOfStream::Truncated), &b"hello"[..])
    );
}

#[test]
fn every_reason_has_its_own_name_and_term() {
    let names: HashSet<_> = Malformed::ALL.iter().map(|reason| reason.name()).collect();
    let terms: HashSet<_> = Malformed::ALL.iter().map(ToString::to_string).collect();
    assert_eq!((names.len(), terms.len()), (Malformed::ALL.len(), Malformed::ALL.len()));
    for name in names {
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
    }
    for (index, reason) in Malformed::ALL.iter().enumerate() {
        assert_eq!(*reason as usize, index, "{reason}");
    }
}
