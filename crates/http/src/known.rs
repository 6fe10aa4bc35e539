//! A head that was parsed before.

use alloc::vec::Vec;

use crate::head::{Body, Head};
use crate::{Framing, RequestKind, Response};

/// Heads longer than this are not kept: copying them would cost more than it saves.
const BYTES_MAX: usize = 1024;

/// The last head that was parsed, and what it said.
///
/// Most servers send the same head again and again; a `Date` changes it once a second. Comparing a hundred bytes is
/// an order of magnitude cheaper than parsing them, some 1,100 instructions (callgrind), and a head that is the same to
/// the byte, its empty line included, says the same.
///
/// One for all connections of a load, whose [`crate::Limits`] and kind of request are the same.
#[derive(Debug)]
pub struct KnownHead {
    kind: RequestKind,
    bytes: Vec<u8>,
    said: Option<Head>,
    /// The response that it begins, if it said how long that is, and how long.
    whole: Response,
    whole_bytes: u64,
}

/// Longer than any response.
const UNKNOWN_BYTES: u64 = u64::MAX;

impl KnownHead {
    /// No head yet; of answers to requests of `kind`.
    pub const fn new(kind: RequestKind) -> Self {
        let whole = Response {
            status: 0,
            keep_alive: false,
            framing: Framing::None,
            head_bytes: 0,
            body_bytes: 0,
            wire_bytes: 0,
        };
        Self { kind, bytes: Vec::new(), said: None, whole, whole_bytes: UNKNOWN_BYTES }
    }

    /// The usual case in one step: a response whose head is the known one, and which is all of `input`, with nothing
    /// before or after it. It says what a parser that was pushed `input` right after its `begin` would.
    #[inline]
    pub fn whole(&self, input: &[u8]) -> Option<&Response> {
        (self.whole_bytes == input.len() as u64 && input.starts_with(&self.bytes)).then_some(&self.whole)
    }

    /// What the head that `window` begins with says, if it is the known one.
    #[inline]
    pub(crate) fn find(&self, window: &[u8], kind: RequestKind) -> Option<Head> {
        self.said.filter(|_| self.kind == kind && window.starts_with(&self.bytes))
    }

    /// Keeps the head that `window` begins with in place of the last one, if it answers a request of the kind.
    pub(crate) fn learn(&mut self, window: &[u8], kind: RequestKind, head: Head) {
        let Some(bytes) = window.get(..head.bytes).filter(|bytes| bytes.len() <= BYTES_MAX) else { return };
        if self.kind != kind {
            return;
        }
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
        self.said = Some(head);
        self.whole_bytes = UNKNOWN_BYTES;
        if let Some(whole) = whole(&head) {
            (self.whole, self.whole_bytes) = (whole, whole.wire_bytes);
        }
    }
}

/// The response that `head` begins, if it says how long that is.
fn whole(head: &Head) -> Option<Response> {
    let body_bytes = match head.body {
        Body::Length(bytes) => bytes,
        Body::None => 0,
        Body::Interim | Body::Chunked | Body::UntilClose => return None,
    };
    Some(Response {
        status: head.status,
        keep_alive: head.keep_alive,
        framing: head.body.framing(),
        head_bytes: u32::try_from(head.bytes).ok()?,
        body_bytes,
        wire_bytes: body_bytes.checked_add(head.bytes as u64)?,
    })
}
