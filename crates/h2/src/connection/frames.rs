//! From bytes to frames, and what each type of them must look like.

use alloc::vec::Vec;

use http::{Fed, Listener, Malformed};

use super::headers::PRIORITY_BYTES;
use super::{H2, H2Shared};
use crate::frame::{FRAME_BYTES_DEFAULT, FRAME_HEAD_BYTES, FrameHead, Kind, SETTING_BYTES, flag};

/// Payloads (RFC 9113 6): what a PING carries, the number that is all of a RST_STREAM or a WINDOW_UPDATE, and the two that a
/// GOAWAY begins with.
const PING_BYTES: u32 = 8;
const NUMBER_BYTES: u32 = 4;
const GO_AWAY_BYTES_MIN: u32 = 2 * NUMBER_BYTES;
/// Memory that is kept for the next frame that comes in pieces.
const KEPT_BYTES_MAX: usize = 1024;

/// The start of a frame whose end is still to come. Those with pieces of a body are never kept.
#[derive(Debug, Default)]
pub(super) struct Partial(Vec<u8>);

impl Partial {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
        self.0.shrink_to(KEPT_BYTES_MAX);
    }

    /// Takes bytes from the start of `input` until there are so many. Whether there are.
    fn fill(&mut self, bytes: usize, input: &mut &[u8]) -> bool {
        let missing = bytes.saturating_sub(self.0.len());
        let (taken, rest) = input.split_at(missing.min(input.len()));
        self.0.extend_from_slice(taken);
        *input = rest;
        self.0.len() >= bytes
    }
}

impl H2 {
    /// Takes a frame from the start of `input`, or as much of it as there is.
    #[inline]
    pub(super) fn take_frame(
        &mut self,
        shared: &mut H2Shared,
        input: &mut &[u8],
        listener: &mut impl Listener,
        out: &mut Vec<u8>,
    ) -> Result<Fed, Malformed> {
        if self.partial.is_empty()
            && let Some((head, rest)) = input.split_first_chunk::<FRAME_HEAD_BYTES>()
        {
            let head = FrameHead::read(head);
            self.check(head)?;
            if head.kind == Kind::Data {
                *input = rest;
                return self.on_data(head, input, listener, out);
            }
            if let Some((payload, rest)) = rest.split_at_checked(head.payload_bytes as usize) {
                *input = rest;
                return self.frame(head, payload, shared, listener, out);
            }
        }
        self.take_piece(shared, input, listener, out)
    }

    /// The same where the frame does not come in one piece.
    #[inline(never)]
    fn take_piece(
        &mut self,
        shared: &mut H2Shared,
        input: &mut &[u8],
        listener: &mut impl Listener,
        out: &mut Vec<u8>,
    ) -> Result<Fed, Malformed> {
        if !self.partial.fill(FRAME_HEAD_BYTES, input) {
            return Ok(Fed::NeedMore);
        }
        let Some(head) = self.partial.0.first_chunk().map(FrameHead::read) else { return Ok(Fed::NeedMore) };
        self.check(head)?;
        if head.kind == Kind::Data {
            self.partial.clear();
            return self.on_data(head, input, listener, out);
        }
        if !self.partial.fill(FRAME_HEAD_BYTES + head.payload_bytes as usize, input) {
            return Ok(Fed::NeedMore);
        }
        let bytes = core::mem::take(&mut self.partial);
        let fed = self.frame(head, &bytes.0[FRAME_HEAD_BYTES..], shared, listener, out);
        self.partial = bytes;
        self.partial.clear();
        fed
    }

    fn frame(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        shared: &mut H2Shared,
        listener: &mut impl Listener,
        out: &mut Vec<u8>,
    ) -> Result<Fed, Malformed> {
        match head.kind {
            Kind::Headers => self.on_headers(head, payload, shared, listener, out),
            Kind::Continuation => self.on_continuation(head, payload, shared, listener, out),
            Kind::Settings => self.on_settings(head, payload, out),
            Kind::Ping => self.on_ping(head, payload, out),
            Kind::ResetStream => self.on_reset_stream(head, payload),
            Kind::WindowUpdate => self.on_window_update(head, payload, out),
            Kind::GoAway => self.on_go_away(payload),
            Kind::Data | Kind::Priority | Kind::PushPromise | Kind::Unknown(_) => {
                self.count_idle_frame().map(|()| Fed::NeedMore)
            }
        }
    }

    /// Refuses a frame by its head, before any of its payload is kept.
    fn check(&self, head: FrameHead) -> Result<(), Malformed> {
        if !self.greeted && (head.kind != Kind::Settings || head.has(flag::ACK) || head.stream != 0) {
            return Err(Malformed::NotHttp2);
        }
        if head.payload_bytes > FRAME_BYTES_DEFAULT {
            return Err(Malformed::FrameSize);
        }
        // Nothing may come between the parts of a header block (RFC 9113 6.10).
        let continued = self.block.as_ref().map(|block| block.id);
        if (head.kind == Kind::Continuation || continued.is_some()) && continued != Some(head.stream) {
            return Err(Malformed::UnexpectedFrame);
        }
        if continued.is_some() && head.kind != Kind::Continuation {
            return Err(Malformed::UnexpectedFrame);
        }
        let of_connection = head.stream == 0;
        let fits = match head.kind {
            Kind::Settings => of_connection && (!head.has(flag::ACK) || head.payload_bytes == 0),
            Kind::Ping | Kind::GoAway => of_connection,
            Kind::Data | Kind::Headers | Kind::Continuation | Kind::ResetStream => {
                self.was_opened(head.stream)
            }
            Kind::WindowUpdate => of_connection || self.was_opened(head.stream),
            Kind::Priority => !of_connection,
            // Our SETTINGS say that there are none.
            Kind::PushPromise => false,
            Kind::Unknown(_) => true,
        };
        if !fits {
            return Err(Malformed::UnexpectedFrame);
        }
        let is_right_size = match head.kind {
            Kind::Ping => head.payload_bytes == PING_BYTES,
            Kind::ResetStream | Kind::WindowUpdate => head.payload_bytes == NUMBER_BYTES,
            Kind::Priority => head.payload_bytes == PRIORITY_BYTES as u32,
            Kind::GoAway => head.payload_bytes >= GO_AWAY_BYTES_MIN,
            Kind::Settings => head.payload_bytes.is_multiple_of(SETTING_BYTES as u32),
            _ => true,
        };
        if is_right_size { Ok(()) } else { Err(Malformed::FrameSize) }
    }

    /// Whether a stream of this number was ever asked for.
    fn was_opened(&self, stream: u32) -> bool {
        stream % 2 == 1 && stream < self.next_id
    }
}
