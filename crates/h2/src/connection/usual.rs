//! The usual answer, in one step.

use http::{Fed, Listener, Response};

use super::{H2, H2Shared};
use crate::frame::{self, FRAME_BYTES_DEFAULT};
use crate::hpack::KnownBlocks;
use crate::streams::framing;

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
        let (head, block, behind_head) = frame::whole(input)?;
        let (data, body, behind_body) = frame::whole(behind_head)?;
        let are_these = head.is_whole_head() && data.is_last_data() && data.stream == head.stream;
        if !are_these || head.payload_bytes.max(data.payload_bytes) > FRAME_BYTES_DEFAULT {
            return None;
        }
        let place = self.streams.place_of(head.stream)?;
        let stream = self.streams.at(place);
        if stream.has_head() || stream.is_unsent() {
            return None;
        }
        let said =
            KnownBlocks { shared: &mut shared.known, own: &mut self.known }.find(block, &mut self.decoder)?;
        self.idle_frames = 0;
        let body_bytes = body.len() as u64;
        // One that is too short or too long is told as far as it is right, and a window that is half used is given back.
        let is_whole = said.body_bytes(stream.kind).is_none_or(|due| due == body_bytes);
        let taken = self.taken + data.payload_bytes;
        if !is_whole || taken > self.window_bytes / 2 || data.payload_bytes > self.stream_window_bytes / 2 {
            *input = behind_head;
            stream.begin_answer(said, head.wire_bytes());
            return None;
        }
        *input = behind_body;
        self.taken = taken;
        let response = Response {
            status: said.status,
            keep_alive: true,
            framing: framing(stream.kind, said.status, said.content_length.is_some()),
            head_bytes: head.wire_bytes() as u32,
            body_bytes,
            wire_bytes: stream.wire_bytes + head.wire_bytes() + data.wire_bytes(),
        };
        if !body.is_empty() {
            listener.body(place, body);
        }
        self.streams.close(place);
        Some(Fed::Ended { place, response, surplus: false })
    }

    /// Whether what comes next is the start of a frame, and nothing is to be told before it.
    #[inline]
    fn is_between_frames(&self) -> bool {
        let is_frame_over = self.partial.is_empty() && self.data.is_none();
        is_frame_over && self.block.is_none() && self.unprocessed_from.is_none()
    }
}
