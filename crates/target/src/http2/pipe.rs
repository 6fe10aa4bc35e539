//! The two directions of a connection as memory, between a protocol that wants to be awaited and a loop that never waits.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::frames::Frames;

/// What waits for the kernel at most, and a frame.
const OUT_BYTES_MAX: usize = 256 * 1024;

/// Both directions, and which answers end where.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    /// Received, and not read by the protocol.
    pub(super) received: Vec<u8>,
    /// Written by the protocol, and not the kernel's yet.
    pub(super) out: Vec<u8>,
    /// How many bytes the protocol has written, from the connection's start.
    written: u64,
    frames: Frames,
    /// Streams whose last frame was written, and behind how many bytes it ends.
    ended: VecDeque<(u64, u32)>,
}

impl Pipe {
    /// The next stream whose last byte is the kernel's, which has `taken` so many.
    pub(super) fn next_ended(&mut self, taken: u64) -> Option<u32> {
        let (_, stream) = *self.ended.front().filter(|(end, _)| *end <= taken)?;
        self.ended.pop_front();
        Some(stream)
    }
}

/// The protocol's end of it.
#[derive(Debug, Clone, Default)]
pub(super) struct End(pub(super) Rc<RefCell<Pipe>>);

impl AsyncRead for End {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut pipe = self.0.borrow_mut();
        if pipe.received.is_empty() {
            // Whoever puts bytes in comes and asks again.
            return Poll::Pending;
        }
        let count = pipe.received.len().min(into.remaining());
        into.put_slice(&pipe.received[..count]);
        pipe.received.drain(..count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for End {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut pipe = self.0.borrow_mut();
        if pipe.out.len() >= OUT_BYTES_MAX {
            return Poll::Pending;
        }
        let Pipe { out, written, frames, ended, .. } = &mut *pipe;
        out.extend_from_slice(bytes);
        frames.see(bytes, *written, |end, stream| ended.push_back((end, stream)));
        *written += bytes.len() as u64;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
