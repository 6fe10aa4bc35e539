//! The first answers that were not the expected ones: whoever is told that answers are wrong wants to see one, or some as they
//! came.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use http::{AnswerHead, Limits, RequestKind, Response, ResponseParser};
use units::Instant;

use crate::config::Expect;

/// So much of a wrong body is kept: enough to recognise an error page by.
const WRONG_BODY_BYTES_MAX: usize = 256;

/// So much of an answer is kept as it came, head and body.
pub const KEPT_ANSWER_BYTES_MAX: usize = 16 * 1024;

/// What a head begins with that came as no text: that of HTTP/2, as most tools write it.
const NO_TEXT_VERSION: &str = "HTTP/2";

/// An answer that was not a good one, as it came. Where heads are no text on the wire (HTTP/2), its head is written as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptAnswer {
    /// When the last of it came.
    pub at: Instant,
    /// Its head, and what its body begins with: [`KEPT_ANSWER_BYTES_MAX`] at most.
    pub bytes: Vec<u8>,
    /// Whether there was more of it.
    pub is_cut: bool,
}

/// An answer that was not the expected one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongAnswer {
    /// When the last of it came.
    pub at: Instant,
    /// As the server sent it; it may be a good one, where only the body differs.
    pub status: u16,
    /// The beginning of its body, at most 256 bytes of it; `None` where nobody looked at the body.
    pub body_start: Option<Vec<u8>>,
}

/// What is kept of wrong answers: the first, and as many as are asked for as they came. It costs nothing while answers are as
/// expected, unless some are asked for.
#[derive(Debug)]
pub(super) struct WrongAnswers {
    first: Option<WrongAnswer>,
    /// The beginning of a body that differs, until its answer is whole; of which exchange.
    begun: Option<(u32, Vec<u8>)>,
    /// How many are still to be kept as they come.
    wanted: u32,
    kept: Vec<KeptAnswer>,
    /// What came of the answer that is under way, by exchange; none where nothing is asked for, or nothing any more.
    under_way: Box<[UnderWay]>,
}

/// The answer that is under way.
#[derive(Debug, Default)]
struct UnderWay {
    /// What it begins with, up to the bound.
    bytes: Vec<u8>,
    /// How many came in all.
    came: u64,
}

impl UnderWay {
    fn clear(&mut self) {
        self.bytes.clear();
        self.came = 0;
    }

    fn add(&mut self, bytes: &[u8]) {
        self.came += bytes.len() as u64;
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(KEPT_ANSWER_BYTES_MAX - self.bytes.len())]);
    }
}

impl WrongAnswers {
    /// Keeps so many of the answers of so many exchanges as they come.
    pub(super) fn new(wanted: u32, exchanges: u32) -> Self {
        let count = if wanted > 0 { exchanges } else { 0 };
        let under_way = (0..count).map(|_| UnderWay::default()).collect();
        Self { first: None, begun: None, wanted, kept: Vec::new(), under_way }
    }

    /// Whether an answer that is not the expected one is to be read byte by byte. `body_matches` says whether it is its body.
    pub(super) fn wants(&self, body_matches: bool) -> bool {
        self.keeps() || (!body_matches && self.is_empty())
    }

    /// Whether answers are kept as they come.
    #[inline]
    pub(super) const fn keeps(&self) -> bool {
        self.wanted > 0
    }

    /// More of the exchange's answer has come; `is_first` says whether it is the beginning.
    #[cold]
    #[inline(never)]
    pub(super) fn came(&mut self, slot: u32, is_first: bool, bytes: &[u8]) {
        let Some(so_far) = self.under_way.get_mut(slot as usize) else { return };
        if is_first {
            so_far.clear();
        }
        so_far.add(bytes);
    }

    /// So many bytes of the exchange's answer came, and nobody looked at them.
    #[cold]
    #[inline(never)]
    pub(super) fn skipped(&mut self, slot: u32, bytes: u64) {
        if let Some(so_far) = self.under_way.get_mut(slot as usize) {
            so_far.came += bytes;
        }
    }

    /// The exchange's answer is over, or nobody waits for it any more.
    #[cold]
    #[inline(never)]
    pub(super) fn forget(&mut self, slot: u32) {
        if let Some(so_far) = self.under_way.get_mut(slot as usize) {
            so_far.clear();
        }
    }

    /// The head of the exchange's answer came, which was no text.
    pub(super) fn head_came(&mut self, slot: u32, head: &AnswerHead<'_>) {
        let Some(so_far) = self.under_way.get_mut(slot as usize) else { return };
        so_far.clear();
        so_far.add(format!("{NO_TEXT_VERSION} {}\r\n", head.status).as_bytes());
        for (name, value) in head.fields() {
            for part in [name.as_bytes(), b": ", value, b"\r\n"] {
                so_far.add(part);
            }
        }
        so_far.add(b"\r\n");
    }

    /// The exchange's answer is over, and no good one.
    #[cold]
    #[inline(never)]
    pub(super) fn keep_as_it_came(&mut self, slot: u32, at: Instant) {
        let so_far = self.under_way.get_mut(slot as usize).filter(|it| !it.bytes.is_empty());
        let Some(UnderWay { bytes, came }) = so_far.map(core::mem::take) else { return };
        if self.wanted > 0 {
            self.wanted -= 1;
            self.kept.push(KeptAnswer { at, is_cut: came > bytes.len() as u64, bytes });
        }
        if self.wanted == 0 {
            self.under_way = Box::default();
        }
    }

    pub(super) fn kept(&self) -> &[KeptAnswer] {
        &self.kept
    }

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

    /// The exchange's answer is whole since `at`, and not the expected one. `bytes` are all of it, or empty where it came in pieces,
    /// and `seen_bytes` how much of its body was compared.
    #[cold]
    #[inline(never)]
    pub(super) fn keep(
        &mut self,
        slot: u32,
        (response, at): (&Response, Instant),
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
        self.first = Some(WrongAnswer { at, status: response.status, body_start });
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
