//! Bytes that the kernel has yet to take.

use std::sync::Arc;

use engine::Outgoing;

/// What is left of a send, kept until the kernel has all of it.
#[derive(Debug)]
pub(crate) struct Unsent {
    kept: Kept,
    /// So many of its bytes are the kernel's.
    sent_bytes: usize,
}

#[derive(Debug)]
enum Kept {
    Shared(Arc<[u8]>),
    Own(Box<[u8]>),
}

impl Unsent {
    /// All of `bytes`.
    pub(crate) fn new(bytes: Outgoing<'_>) -> Self {
        let kept = match bytes {
            Outgoing::Shared(bytes) => Kept::Shared(Arc::clone(bytes)),
            Outgoing::Own(bytes) => Kept::Own(bytes.into()),
        };
        Self { kept, sent_bytes: 0 }
    }

    /// What is left.
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.kept {
            Kept::Shared(bytes) => &bytes[self.sent_bytes..],
            Kept::Own(bytes) => &bytes[self.sent_bytes..],
        }
    }

    /// The kernel has taken so many more.
    pub(crate) fn advance(&mut self, bytes: usize) {
        self.sent_bytes += bytes;
    }
}
