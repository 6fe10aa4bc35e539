//! What holds for all responses and for all bytes.

use http::{EndOfStream, KnownHead, Limits, Malformed, Progress, RequestKind, ResponseParser};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::model::{Model, response};
use crate::support::{End, cut, observe};

/// How a stream is cut: mostly into small pieces, for that is where the seams are.
fn lengths() -> impl Strategy<Value = Vec<usize>> {
    vec(prop_oneof![3 => 1..8_usize, 1 => 1..300_usize], 1..12)
}

/// Bounds small enough to be met by short input.
fn small_limits() -> impl Strategy<Value = Limits> {
    (0..200_u32, 0..6_u16, 0..20_u32, 0..30_u32, 0..3_u8).prop_map(
        |(head_bytes_max, headers_max, chunk_line_bytes_max, trailer_bytes_max, interim_responses_max)| {
            Limits {
                head_bytes_max,
                headers_max,
                chunk_line_bytes_max,
                trailer_bytes_max,
                interim_responses_max,
            }
        },
    )
}

/// Any bytes, and bytes put together from pieces of responses, which get further than the former.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    const SCRAPS: &[&str] = &[
        "HTTP/1.1 200 OK",
        "HTTP/1.0 200",
        "HTTP/1.1 100 C",
        "HTTP/1.1 204 X",
        "HTTP/",
        "\r\n",
        "\r\n",
        "\r\n",
        "\n",
        "\r",
        "Content-Length: ",
        "Transfer-Encoding: chunked",
        "Connection: close",
        "A: b",
        ":",
        " ",
        "\0",
        ";a=b",
        "5",
        "0",
        "FFFFFFFFFFFFFFFF",
        "hello",
        "-",
        ",",
        "\t",
    ];
    let scraps = vec(prop::sample::select(SCRAPS), 0..40).prop_map(|scraps| scraps.concat().into_bytes());
    let after_head = scraps
        .clone()
        .prop_map(|tail| [&b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"[..], &tail].concat());
    prop_oneof![1 => vec(any::<u8>(), 0..300), 3 => scraps, 2 => after_head]
}

/// A valid response with some bytes changed.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let damage = vec((any::<prop::sample::Index>(), prop::sample::select(&b"\0\r\n :;,05aA\x80"[..])), 0..4);
    (response(true), damage).prop_map(|(model, damage)| {
        let mut wire = model.wire;
        for (index, byte) in damage {
            let at = index.index(wire.len());
            wire[at] = byte;
        }
        wire
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    /// A stream of valid responses means what its description says, however it is cut.
    #[test]
    fn valid_responses_mean_what_they_say(
        mut models in vec(response(false), 0..3),
        last in response(true),
        lengths in lengths(),
    ) {
        models.push(last);
        let wire: Vec<u8> = models.iter().flat_map(|model| model.wire.clone()).collect();
        let kinds = |index: usize| models.get(index).map_or(RequestKind::Ordinary, |model| model.kind);
        let pieces = observe(&Limits::default(), kinds, cut(&wire, &lengths));
        prop_assert_eq!(&pieces, &observe(&Limits::default(), kinds, [&wire[..]]));

        let mut seen = pieces.responses;
        match pieces.end {
            End::Closed(EndOfStream::Complete(response)) => seen.push((response, pieces.last_body)),
            end => prop_assert_eq!(end, End::Closed(EndOfStream::Untouched)),
        }
        prop_assert_eq!(seen.len(), models.len());
        for ((response, body), Model { wire, status, keep_alive, framing, head_bytes, body: sent, .. }) in
            seen.iter().zip(&models)
        {
            prop_assert_eq!((response.status, response.keep_alive), (*status, *keep_alive));
            prop_assert_eq!((response.framing, response.head_bytes), (*framing, *head_bytes));
            prop_assert_eq!(response.wire_bytes, wire.len() as u64);
            prop_assert_eq!(body, sent);
        }
    }

    /// Whatever the bytes and the bounds: no panic, and the same verdict however they are cut.
    #[test]
    fn cuts_change_nothing(
        wire in prop_oneof![bytes(), damaged()],
        limits in prop_oneof![Just(Limits::default()), small_limits()],
        lengths in lengths(),
        is_head in any::<[bool; 4]>(),
    ) {
        let kinds = |index: usize| if is_head[index % 4] { RequestKind::Head } else { RequestKind::Ordinary };
        let whole = observe(&limits, kinds, [&wire[..]]);
        prop_assert_eq!(&observe(&limits, kinds, cut(&wire, &lengths)), &whole);
        prop_assert_eq!(&observe(&limits, kinds, cut(&wire, &[1])), &whole);
    }

    /// Head by head, and where a whole response is known in one step.
    #[test]
    fn a_known_head_says_what_a_parsed_one_does(
        first in response(true),
        others in vec(prop_oneof![response(true).prop_map(|model| model.wire), damaged(), bytes()], 1..5),
        repeats in 1..3_usize,
    ) {
        let limits = Limits::default();
        let mut known = KnownHead::new(RequestKind::Ordinary);
        let all = others.iter().flat_map(|other| std::iter::repeat_n(&first.wire, repeats).chain([other]));
        for wire in all {
            let read = |known: Option<&mut KnownHead>| {
                let (mut parser, mut body) = (ResponseParser::new(), Vec::new());
                parser.begin(RequestKind::Ordinary);
                let on_body = |piece: &[u8]| body.extend_from_slice(piece);
                let progress = match known {
                    Some(known) => parser.push_known(&limits, known, wire, on_body),
                    None => parser.push(&limits, wire, on_body),
                };
                (progress, body)
            };
            let parsed = read(None);
            prop_assert_eq!(&read(Some(&mut known)), &parsed);
            if let Some(response) = known.whole(wire) {
                prop_assert_eq!(parsed.0, Ok(Progress::Complete { consumed: wire.len(), response: *response }));
            }
        }
    }

    /// A prefix of a valid response is never refused: more bytes are needed, and that is no error.
    #[test]
    fn a_prefix_is_never_an_error(model in response(true), at in any::<prop::sample::Index>()) {
        let prefix = &model.wire[..at.index(model.wire.len())];
        let observed = observe(&Limits::default(), |_| model.kind, [prefix]);
        prop_assert!(matches!(observed.end, End::Closed(_)), "{:?}", observed);
    }

    /// httparse, asked about the same bytes, sees the same head: its length, its status, its refusal.
    #[test]
    fn heads_agree_with_httparse(wire in prop_oneof![bytes(), damaged()]) {
        let wire = &wire[wire.iter().position(|byte| !b"\r\n".contains(byte)).unwrap_or(wire.len())..];
        let mut headers = [httparse::EMPTY_HEADER; 100];
        let mut theirs = httparse::Response::new(&mut headers);
        let verdict = httparse::ParserConfig::default()
            .allow_obsolete_multiline_headers_in_responses(true)
            .parse_response(&mut theirs, wire);
        // To HEAD, so that the response ends where its head does.
        let mut parser = ResponseParser::new();
        parser.begin(RequestKind::Head);
        let ours = parser.push(&Limits::default(), wire, |_| ());
        match (verdict, theirs.code) {
            (Ok(httparse::Status::Complete(_)), Some(0..100)) => {
                prop_assert_eq!(ours, Err(Malformed::StatusLine));
            }
            // Interim: ours goes on to the next head.
            (Ok(httparse::Status::Complete(_)), Some(100 | 102..200)) => {}
            (Ok(httparse::Status::Complete(bytes)), code) => {
                let ours = ours.map(|progress| match progress {
                    Progress::Complete { consumed, response } => (consumed, Some(response.status)),
                    Progress::NeedMore => (0, None),
                });
                prop_assert_eq!(ours, Ok((bytes, code)));
            }
            // Ours may refuse the first bytes sooner.
            (Ok(httparse::Status::Partial) | Err(_), _) => {
                prop_assert!(!matches!(ours, Ok(Progress::Complete { .. })), "{:?}", ours);
            }
        }
    }
}
