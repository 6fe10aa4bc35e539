//! A head that was parsed before.

use alloc::vec::Vec;

use crate::RequestKind;
use crate::head::Head;

/// Heads longer than this are not kept: copying them would cost more than it saves.
const BYTES_MAX: usize = 1024;

/// The last head that was parsed, and what it said.
///
/// Most servers send the same head again and again; a `Date` changes it once a second. Comparing a hundred bytes is
/// an order of magnitude cheaper than parsing them, some 1,100 instructions (callgrind), and a head that is the same to
/// the byte, its empty line included, says the same.
///
/// One for all connections of a load, whose [`crate::Limits`] are the same.
#[derive(Debug, Default)]
pub struct KnownHead {
    bytes: Vec<u8>,
    /// What it said, as the answer to a request of this kind.
    said: Option<(RequestKind, Head)>,
}

impl KnownHead {
    /// What the head that `window` begins with says, if it is the known one.
    #[inline]
    pub(crate) fn find(&self, window: &[u8], kind: RequestKind) -> Option<Head> {
        let (known_kind, head) = self.said?;
        (known_kind == kind && window.starts_with(&self.bytes)).then_some(head)
    }

    /// Keeps the head that `window` begins with in place of the last one.
    pub(crate) fn learn(&mut self, window: &[u8], kind: RequestKind, head: Head) {
        if let Some(bytes) = window.get(..head.bytes).filter(|bytes| bytes.len() <= BYTES_MAX) {
            self.bytes.clear();
            self.bytes.extend_from_slice(bytes);
            self.said = Some((kind, head));
        }
    }
}
