//! The usual answer, in one step.

use http::{Fed, Listener, RequestKind, Response};

use super::{H2, H2Shared};
use crate::frame::{self, FRAME_BYTES_DEFAULT, FRAME_HEAD_BYTES, Sort};
use crate::hpack::KnownBlocks;
use crate::streams::framing_of_body;

impl H2 {
    /// Takes an answer that is a head which was seen before, in one frame, and all of its body in the next, if `input` begins
    /// with one: most servers send little else. It comes to the same as one frame after another; where there is more to it,
    /// what is left in `input` is for these.
    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    pub(super) fn usual_answer<L: Listener>(
        &mut self,
        shared: &mut H2Shared,
        input: &mut &[u8],
        listener: &mut L,
    ) -> Option<Fed> {
        if L::HEADS || !self.is_between_frames() {
            return None;
        }
        let (id, block, behind_head) = frame::whole_of(Sort::WHOLE_HEAD, input)?;
        let (id_of_data, body, behind_body) = frame::whole_of(Sort::LAST_DATA, behind_head)?;
        if id_of_data != id || block.len().max(body.len()) > FRAME_BYTES_DEFAULT as usize {
            return None;
        }
        let (place, stream) = self.streams.usual(id)?;
        if stream.has_head() || stream.is_unsent() || stream.kind != RequestKind::Ordinary {
            return None;
        }
        let said =
            KnownBlocks { shared: &mut shared.known, own: &mut self.known }.find(block, &mut self.decoder)?;
        self.idle_frames = 0;
        let head_bytes = (FRAME_HEAD_BYTES + block.len()) as u64;
        let body_bytes = body.len() as u64;
        // One that is too short or too long, or has a body where there is none, is told as far as it is right, and a window that is
        // half used is given back.
        let is_whole = said.has_body() && said.content_length.is_none_or(|due| due == body_bytes);
        let taken = self.taken + body.len() as u32;
        if !is_whole || taken > self.window_bytes / 2 || body.len() as u32 > self.stream_window_bytes / 2 {
            *input = behind_head;
            stream.begin_answer(said, head_bytes);
            listener.begun(place);
            return None;
        }
        *input = behind_body;
        self.taken = taken;
        let response = Response {
            status: said.status,
            keep_alive: true,
            framing: framing_of_body(said.content_length.is_some()),
            head_bytes: head_bytes as u32,
            body_bytes,
            wire_bytes: stream.wire_bytes + head_bytes + FRAME_HEAD_BYTES as u64 + body_bytes,
        };
        stream.end();
        self.streams.count_ended();
        if !body.is_empty() {
            listener.body(place, body);
        }
        Some(Fed::Ended { place, response, surplus: false })
    }

    /// Whether what comes next is the start of a frame, and nothing is to be told before it.
    #[inline]
    fn is_between_frames(&self) -> bool {
        let is_frame_over = self.partial.is_empty() && self.data.is_none();
        is_frame_over && self.block.is_none() && self.unprocessed_from.is_none()
    }
}
