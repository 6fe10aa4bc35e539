//! Header blocks: heads of answers and trailers.

use alloc::vec::Vec;

use http::{Fed, Listener, Malformed};

use super::{H2, H2Shared};
use crate::frame::{FrameHead, flag};
use crate::head::{Head, Reader};
use crate::hpack::KnownBlocks;

/// Bytes of a priority in front of a header block.
pub(super) const PRIORITY_BYTES: usize = 5;

/// A header block of which parts are still to come.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) id: u32,
    ends: bool,
    bytes: Vec<u8>,
    wire_bytes: u64,
}

/// A whole header block.
struct Whole<'a> {
    id: u32,
    /// Whether nothing follows on its stream.
    ends: bool,
    bytes: &'a [u8],
    wire_bytes: u64,
}

impl H2 {
    pub(super) fn on_headers(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        shared: &mut H2Shared,
        listener: &mut impl Listener,
        out: &mut Vec<u8>,
    ) -> Result<Fed, Malformed> {
        let bytes = fragment(head, payload)?;
        let (id, ends, wire_bytes) = (head.stream, head.has(flag::END_STREAM), head.wire_bytes());
        if head.has(flag::END_HEADERS) {
            return self.on_block(&Whole { id, ends, bytes, wire_bytes }, shared, listener, out);
        }
        self.block = Some(Block { id, ends, bytes: bytes.to_vec(), wire_bytes });
        Ok(Fed::NeedMore)
    }

    pub(super) fn on_continuation(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        shared: &mut H2Shared,
        listener: &mut impl Listener,
        out: &mut Vec<u8>,
    ) -> Result<Fed, Malformed> {
        self.count_idle_frame()?;
        let mut block = self.block.take().ok_or(Malformed::UnexpectedFrame)?;
        block.bytes.extend_from_slice(payload);
        block.wire_bytes += head.wire_bytes();
        if block.bytes.len() > shared.limits.head_bytes_max as usize {
            return Err(Malformed::HeadTooLarge);
        }
        if !head.has(flag::END_HEADERS) {
            self.block = Some(block);
            return Ok(Fed::NeedMore);
        }
        let Block { id, ends, bytes, wire_bytes } = &block;
        let whole = Whole { id: *id, ends: *ends, bytes, wire_bytes: *wire_bytes };
        self.on_block(&whole, shared, listener, out)
    }

    fn on_block<L: Listener>(
        &mut self,
        block: &Whole<'_>,
        shared: &mut H2Shared,
        listener: &mut L,
        out: &mut Vec<u8>,
    ) -> Result<Fed, Malformed> {
        let Some(place) = self.streams.place_of(block.id) else { return self.on_late_block(block, shared) };
        listener.begun(place);
        if self.streams.has_head(place) {
            return self.on_trailers(place, block, shared, out);
        }
        match self.read_head(block.bytes, shared, listener)? {
            Ok(head) => self.on_head(place, head, block, shared, listener, out),
            Err(why) => Ok(self.fail(place, why, out)),
        }
    }

    /// A block of a stream that is over: what it does to the table holds for those behind it.
    fn on_late_block(&mut self, block: &Whole<'_>, shared: &mut H2Shared) -> Result<Fed, Malformed> {
        self.decoder.decode(block.bytes, &mut shared.scratch, |_, _| {})?;
        self.count_late_frame().map(|()| Fed::NeedMore)
    }

    /// What the block says as a head. The outer error is of the connection, the inner one of its stream.
    fn read_head<L: Listener>(
        &mut self,
        block: &[u8],
        shared: &mut H2Shared,
        _: &L,
    ) -> Result<Result<Head, Malformed>, Malformed> {
        let H2Shared { limits, known, scratch, kept, .. } = shared;
        let mut known = KnownBlocks { shared: known, own: &mut self.known };
        if !L::HEADS
            && let Some(head) = known.find(block, &mut self.decoder)
        {
            return Ok(Ok(head));
        }
        kept.clear();
        let mut reader = Reader::new(limits);
        let did = self.decoder.decode(block, scratch, |name, value| {
            reader.field(name, value);
            if L::HEADS {
                kept.add(limits, name, value);
            }
        })?;
        let head = reader.head();
        if let Ok(head) = head
            && !head.is_interim()
        {
            known.learn(block, head, did, &self.decoder);
        }
        Ok(head)
    }

    fn on_head<L: Listener>(
        &mut self,
        place: u32,
        head: Head,
        block: &Whole<'_>,
        shared: &H2Shared,
        listener: &mut L,
        out: &mut Vec<u8>,
    ) -> Result<Fed, Malformed> {
        if head.is_interim() {
            let stream = self.streams.at(place);
            stream.wire_bytes += block.wire_bytes;
            stream.interim_responses = stream.interim_responses.saturating_add(1);
            if stream.interim_responses > shared.limits.interim_responses_max {
                return Ok(self.fail(place, Malformed::TooManyInterimResponses, out));
            }
            if block.ends {
                return Ok(self.fail(place, Malformed::UnexpectedFrame, out));
            }
            return self.count_idle_frame().map(|()| Fed::NeedMore);
        }
        if L::HEADS {
            shared.kept.tell(head.status, |head| listener.head(place, head));
        }
        self.idle_frames = 0;
        self.streams.at(place).begin_answer(head, block.wire_bytes);
        Ok(if block.ends { self.end(place, out) } else { Fed::NeedMore })
    }

    fn on_trailers(
        &mut self,
        place: u32,
        block: &Whole<'_>,
        shared: &mut H2Shared,
        out: &mut Vec<u8>,
    ) -> Result<Fed, Malformed> {
        let H2Shared { limits, scratch, .. } = shared;
        self.streams.at(place).wire_bytes += block.wire_bytes;
        let mut reader = Reader::new(limits);
        self.decoder.decode(block.bytes, scratch, |name, value| reader.field(name, value))?;
        Ok(match reader.trailers() {
            Ok(()) if block.ends => self.end(place, out),
            Ok(()) => self.fail(place, Malformed::UnexpectedFrame, out),
            Err(why) => self.fail(place, why, out),
        })
    }
}

/// The part of a header block that a HEADERS frame brings.
fn fragment(head: FrameHead, payload: &[u8]) -> Result<&[u8], Malformed> {
    let mut rest = payload;
    if head.has(flag::PADDED) {
        let (padding, behind) = rest.split_first().ok_or(Malformed::Padding)?;
        let bytes = behind.len().checked_sub(usize::from(*padding)).ok_or(Malformed::Padding)?;
        rest = &behind[..bytes];
    }
    if head.has(flag::PRIORITY) {
        rest = rest.get(PRIORITY_BYTES..).ok_or(Malformed::FrameSize)?;
    }
    Ok(rest)
}
