//! Drives a parser over bytes cut into pieces and notes all that a caller can see of it. The fuzz target
//! includes this file too, so it knows no test framework.

use http::{EndOfStream, Limits, Malformed, Progress, RequestKind, Response, ResponseParser};

/// All that a caller can see of one stream.
#[derive(Debug, PartialEq, Eq)]
pub struct Observed {
    /// The complete responses, each with its body.
    pub responses: Vec<(Response, Vec<u8>)>,
    /// The body bytes of the response that the stream ended in.
    pub last_body: Vec<u8>,
    pub end: End,
}

/// How the stream ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    Malformed(Malformed),
    Closed(EndOfStream),
}

/// Feeds the concatenation of `pieces` as pipelined responses, the i-th to a request of `kinds(i)`, then
/// closes the stream.
///
/// # Panics
/// If the parser breaks a promise that holds for all input.
pub fn observe<'a>(
    limits: &Limits,
    kinds: impl Fn(usize) -> RequestKind,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Observed {
    let mut parser = ResponseParser::new();
    let mut responses = Vec::new();
    let mut body = Vec::new();
    let mut taken = 0_u64;
    parser.begin(kinds(0));
    for piece in pieces {
        let mut rest = piece;
        loop {
            match parser.push(limits, rest, |data| lend(rest, data, &mut body)) {
                Ok(Progress::NeedMore) => {
                    taken += rest.len() as u64;
                    break;
                }
                Ok(Progress::Complete { consumed, response }) => {
                    assert!(consumed > 0 && consumed <= rest.len(), "{consumed} of {}", rest.len());
                    taken += consumed as u64;
                    assert_eq!(response.wire_bytes, taken);
                    assert_eq!(response.body_bytes, body.len() as u64);
                    assert!(u64::from(response.head_bytes) + response.body_bytes <= response.wire_bytes);
                    responses.push((response, std::mem::take(&mut body)));
                    taken = 0;
                    parser.begin(kinds(responses.len()));
                    rest = &rest[consumed..];
                }
                Err(malformed) => {
                    assert_eq!(parser.push(limits, b"", |_| ()), Err(malformed), "the verdict stays");
                    return Observed { responses, last_body: body, end: End::Malformed(malformed) };
                }
            }
        }
    }
    Observed { responses, last_body: body, end: End::Closed(parser.end_of_stream()) }
}

/// Takes body data, after a look that it is what was promised: a slice of `input`, and not an empty one.
fn lend(input: &[u8], data: &[u8], body: &mut Vec<u8>) {
    assert!(!data.is_empty() && input.as_ptr_range().contains(&data.as_ptr()));
    body.extend_from_slice(data);
}

/// `bytes` cut into pieces whose lengths are those of `lengths`, over and over; a zero counts as one.
pub fn cut<'a>(bytes: &'a [u8], lengths: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = bytes;
    let mut lengths = lengths.iter().copied().chain([1]).cycle();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let length = lengths.next().unwrap_or(1).clamp(1, rest.len());
        let (piece, after) = rest.split_at(length);
        rest = after;
        Some(piece)
    })
}
