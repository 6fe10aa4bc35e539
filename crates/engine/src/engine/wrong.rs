//! The first answer that was not the expected one: whoever is told that answers are wrong wants to see one.

use alloc::vec::Vec;

use http::{Limits, RequestKind, Response, ResponseParser};

use crate::config::Expect;

/// So much of a wrong body is kept: enough to recognise an error page by.
const WRONG_BODY_BYTES_MAX: usize = 256;

/// An answer that was not the expected one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongAnswer {
    /// As the server sent it; it may be a good one, where only the body differs.
    pub status: u16,
    /// The beginning of its body, at most 256 bytes of it; `None` where nobody looked at the body.
    pub body_start: Option<Vec<u8>>,
}

/// What is kept of wrong answers: the first. It costs nothing while answers are as expected.
#[derive(Debug, Default)]
pub(super) struct WrongAnswers {
    first: Option<WrongAnswer>,
    /// The beginning of a body that differs, until its answer is whole; of which exchange.
    begun: Option<(u32, Vec<u8>)>,
}

impl WrongAnswers {
    /// Whether none was kept yet.
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    pub(super) fn first(&self) -> Option<&WrongAnswer> {
        self.first.as_ref()
    }

    /// The exchange's body is not the expected one. `matched` is what came before `piece`, if that is the first to differ.
    #[cold]
    #[inline(never)]
    pub(super) fn go_on(&mut self, slot: u32, matched: Option<&[u8]>, piece: &[u8]) {
        if !self.is_empty() {
            return;
        }
        if let Some(matched) = matched {
            self.begun = Some((slot, matched.to_vec()));
        }
        if let Some((of, start)) = &mut self.begun
            && *of == slot
        {
            add_up_to_bound(start, piece);
        }
    }

    /// The exchange's answer is whole and not the expected one. `bytes` are all of it, or empty where it came in pieces, and
    /// `seen_bytes` how much of its body was compared.
    #[cold]
    #[inline(never)]
    pub(super) fn keep(
        &mut self,
        slot: u32,
        response: &Response,
        (kind, expect): (RequestKind, &Expect),
        bytes: &[u8],
        seen_bytes: u64,
    ) {
        if !self.is_empty() {
            return;
        }
        let begun = self.begun.take().filter(|(of, _)| *of == slot).map(|(_, start)| start);
        let body_start = begun
            .or_else(|| expect.body.as_ref().map(|expected| start_of(expected, seen_bytes).to_vec()))
            .or_else(|| (!bytes.is_empty()).then(|| body_of(kind, bytes)));
        self.first = Some(WrongAnswer { status: response.status, body_start });
    }
}

/// What is kept of a body that was as `expected` for so many bytes.
pub(super) fn start_of(expected: &[u8], matched_bytes: u64) -> &[u8] {
    let matched = usize::try_from(matched_bytes).unwrap_or(usize::MAX);
    &expected[..matched.min(expected.len()).min(WRONG_BODY_BYTES_MAX)]
}

fn add_up_to_bound(start: &mut Vec<u8>, piece: &[u8]) {
    start.extend_from_slice(&piece[..piece.len().min(WRONG_BODY_BYTES_MAX - start.len())]);
}

/// The beginning of the body in `bytes`, a whole answer.
fn body_of(kind: RequestKind, bytes: &[u8]) -> Vec<u8> {
    let mut start = Vec::new();
    let mut parser = ResponseParser::new();
    parser.begin(kind);
    // It was read before; that it can't be read again would leave the body out and nothing else.
    let _ = parser.push(&Limits::default(), bytes, |piece| add_up_to_bound(&mut start, piece));
    start
}
