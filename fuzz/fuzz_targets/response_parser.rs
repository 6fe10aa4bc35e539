//! Any bytes, any bounds, any cuts: the response parser does not panic, keeps its promises, and comes to
//! the same responses, bodies and verdict however the bytes are cut.
//!
//! Run: `cargo +nightly fuzz run response_parser fuzz/corpus/response_parser fuzz/seeds/response_parser --
//! -max_total_time=60`. A new find goes to `fuzz/artifacts`; make it a named test in `crates/http/tests/it`.
#![no_main]

use http::{KnownHead, Limits, Progress, RequestKind, ResponseParser};
use libfuzzer_sys::fuzz_target;

// The tests' own harness, which asserts what holds for all input.
#[path = "../../crates/http/tests/it/support.rs"]
mod support;

/// Input bytes that steer; the rest is the wire.
const STEERING_BYTES: usize = 8;

fuzz_target!(|input: &[u8]| {
    let Some((steering, wire)) = input.split_first_chunk::<STEERING_BYTES>() else { return };
    let [head, headers, chunk_line, trailer, interim_and_heads, cuts @ ..] = *steering;
    // Zero keeps the default, so that corpus entries without steering go deep.
    let bound = |byte: u8, default: u32| if byte == 0 { default } else { u32::from(byte) - 1 };
    let default = Limits::default();
    let limits = Limits {
        head_bytes_max: bound(head, default.head_bytes_max),
        headers_max: bound(headers, default.headers_max.into()) as u16,
        chunk_line_bytes_max: bound(chunk_line, default.chunk_line_bytes_max),
        trailer_bytes_max: bound(trailer, default.trailer_bytes_max),
        interim_responses_max: bound(interim_and_heads & 0xf, default.interim_responses_max.into()) as u8,
    };
    // The high four bits say which of every four requests are HEAD.
    let kinds = |index: usize| {
        if interim_and_heads >> (4 + index % 4) & 1 == 1 { RequestKind::Head } else { RequestKind::Ordinary }
    };
    let whole = support::observe(&limits, kinds, [wire]);
    let lengths = cuts.map(usize::from);
    assert_eq!(support::observe(&limits, kinds, support::cut(wire, &lengths)), whole, "cut by {lengths:?}");
    assert_eq!(support::observe(&limits, kinds, support::cut(wire, &[1])), whole, "cut into bytes");
    known_heads_change_nothing(&limits, kinds(0), wire);
});

/// A head that was learnt from the same bytes says what parsing them does.
fn known_heads_change_nothing(limits: &Limits, kind: RequestKind, wire: &[u8]) {
    let read = |known: Option<&mut KnownHead>| {
        let (mut parser, mut body) = (ResponseParser::new(), Vec::new());
        parser.begin(kind);
        let on_body = |piece: &[u8]| body.extend_from_slice(piece);
        let progress = match known {
            Some(known) => parser.push_known(limits, known, wire, on_body),
            None => parser.push(limits, wire, on_body),
        };
        (progress, body)
    };
    let (mut known, parsed) = (KnownHead::new(kind), read(None));
    assert_eq!(read(Some(&mut known)), parsed, "learnt");
    assert_eq!(read(Some(&mut known)), parsed, "known");
    if let Some(response) = known.whole(wire) {
        assert_eq!(parsed.0, Ok(Progress::Complete { consumed: wire.len(), response: *response }), "known as a whole");
    }
}
