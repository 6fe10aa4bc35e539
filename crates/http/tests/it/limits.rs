//! Each bound at its edge: the last byte or field that fits, and the first that does not.

use http::{EndOfStream, HEADERS_CAP, LEADING_EMPTY_BYTES_MAX, Limits, Malformed, RequestKind};

use crate::support::{End, Observed, cut, observe};

/// How `wire` ends under `limits`, which must be the same however it is cut.
#[track_caller]
fn end(limits: &Limits, wire: &[u8]) -> End {
    let whole = observe(limits, |_| RequestKind::Ordinary, [wire]);
    for lengths in [&[1][..], &[7], &[1, 1000]] {
        let pieces: Observed = observe(limits, |_| RequestKind::Ordinary, cut(wire, lengths));
        assert_eq!(pieces, whole, "cut by {lengths:?}");
    }
    whole.end
}

const FITS: End = End::Closed(EndOfStream::Untouched);

#[test]
fn head_bytes() {
    let head = b"HTTP/1.1 204 No Content\r\nServer: x\r\n\r\n";
    let exact = Limits { head_bytes_max: head.len() as u32, ..Limits::default() };
    assert_eq!(end(&exact, head), FITS);
    for head_bytes_max in [0, 1, 8, 30, head.len() as u32 - 1] {
        let limits = Limits { head_bytes_max, ..Limits::default() };
        assert_eq!(end(&limits, head), End::Malformed(Malformed::HeadTooLarge), "{head_bytes_max}");
    }
}

/// 64 KiB, a byte at a time: what is already gathered may not be searched again for each.
#[test]
fn a_head_that_trickles_in() {
    let value = "a".repeat(650);
    let fields: String =
        (10..109).map(|index| ["X-", &index.to_string(), ": ", &value, "\r\n"].concat()).collect();
    let head = ["HTTP/1.1 204 No Content\r\n", &fields, "\r\n"].concat();
    assert!(head.len() > 65_000 && head.len() <= 65_536, "{}", head.len());
    assert_eq!(end(&Limits::default(), head.as_bytes()), FITS);
}

#[test]
fn a_head_without_end() {
    let mut wire = b"HTTP/1.1 200 OK\r\nX: ".to_vec();
    wire.resize(200_000, b'a');
    assert_eq!(end(&Limits::default(), &wire), End::Malformed(Malformed::HeadTooLarge));
    let wire = [&b"HTTP/1.1 200 OK\r\n"[..], &b"X: y\r\n".repeat(50_000)].concat();
    assert_eq!(end(&Limits::default(), &wire), End::Malformed(Malformed::HeadTooLarge));
}

#[test]
fn headers() {
    let head = |count: u16| format!("HTTP/1.1 204 X\r\n{}\r\n", "A: b\r\n".repeat(usize::from(count)));
    for (headers_max, fits) in
        [(0, 0), (1, 1), (100, 100), (HEADERS_CAP, HEADERS_CAP), (u16::MAX, HEADERS_CAP)]
    {
        let limits = Limits { headers_max, ..Limits::default() };
        assert_eq!(end(&limits, head(fits).as_bytes()), FITS, "{headers_max}");
        let verdict = End::Malformed(Malformed::TooManyHeaders);
        assert_eq!(end(&limits, head(fits + 1).as_bytes()), verdict, "{headers_max}");
    }
}

#[test]
fn leading_empty_lines() {
    for line_end in ["\n", "\r\n"] {
        let fits = usize::from(LEADING_EMPTY_BYTES_MAX) / line_end.len();
        let wire = |lines| format!("{}HTTP/1.1 204 X\r\n\r\n", line_end.repeat(lines));
        assert_eq!(end(&Limits::default(), wire(fits).as_bytes()), FITS);
        let verdict = End::Malformed(Malformed::EmptyLines);
        assert_eq!(end(&Limits::default(), wire(fits + 1).as_bytes()), verdict);
    }
}

const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

#[test]
fn chunk_lines() {
    let limits = Limits { chunk_line_bytes_max: 10, ..Limits::default() };
    let wire = |extension: &str| format!("{CHUNKED}2;{extension}\r\nok\r\n0\r\n\r\n");
    assert_eq!(end(&limits, wire("123456").as_bytes()), FITS);
    let verdict = End::Malformed(Malformed::ChunkExtensionTooLarge);
    assert_eq!(end(&limits, wire("1234567").as_bytes()), verdict);
}

#[test]
fn chunk_line_floods() {
    let verdict = End::Malformed(Malformed::ChunkExtensionTooLarge);
    for flood in
        [format!("5;{}", "a".repeat(100_000)), "0".repeat(100_000), format!("5{}", " ".repeat(100_000))]
    {
        assert_eq!(end(&Limits::default(), format!("{CHUNKED}{flood}").as_bytes()), verdict);
    }
}

/// The bound is on each line, not on all of them: many small chunks are a usual body.
#[test]
fn chunk_lines_are_counted_one_by_one() {
    let wire = format!("{CHUNKED}{}0\r\n\r\n", "1;extension\r\nx\r\n".repeat(5000));
    assert_eq!(end(&Limits::default(), wire.as_bytes()), FITS);
}

#[test]
fn trailers() {
    let limits = Limits { trailer_bytes_max: 12, ..Limits::default() };
    assert_eq!(end(&limits, format!("{CHUNKED}0\r\nA: b\r\nC: d\r\n\r\n").as_bytes()), FITS);
    let verdict = End::Malformed(Malformed::TrailerTooLarge);
    assert_eq!(end(&limits, format!("{CHUNKED}0\r\nA: b\r\nC: de\r\n\r\n").as_bytes()), verdict);
    let none = Limits { trailer_bytes_max: 0, ..Limits::default() };
    assert_eq!(end(&none, format!("{CHUNKED}0\r\n\r\n").as_bytes()), FITS);
}

#[test]
fn trailer_floods() {
    let wire = format!("{CHUNKED}0\r\n{}", "A: b\r\n".repeat(20_000));
    assert_eq!(end(&Limits::default(), wire.as_bytes()), End::Malformed(Malformed::TrailerTooLarge));
}

#[test]
fn interim_responses() {
    let storm = |count| format!("{}HTTP/1.1 204 X\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n".repeat(count));
    assert_eq!(end(&Limits::default(), storm(16).as_bytes()), FITS);
    let verdict = End::Malformed(Malformed::TooManyInterimResponses);
    assert_eq!(end(&Limits::default(), storm(17).as_bytes()), verdict);
    assert_eq!(end(&Limits::default(), storm(10_000).as_bytes()), verdict);
    let none = Limits { interim_responses_max: 0, ..Limits::default() };
    assert_eq!(end(&none, storm(1).as_bytes()), verdict);
}
