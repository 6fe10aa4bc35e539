//! Bodies, and the windows that they are sent in.

use alloc::vec::Vec;

use http::{Fed, Listener, Malformed};

use super::H2;
use crate::frame::{self, FrameHead, Kind, flag};

/// A DATA frame that is coming in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Data {
    id: u32,
    /// Its place, if anybody waits for it.
    place: Option<u32>,
    /// Whether the next byte says how much padding there is.
    is_padding_due: bool,
    /// Bytes of the body, and of the padding while that is unknown.
    bytes_left: u32,
    padding_left: u32,
    ends: bool,
}

impl Data {
    fn is_over(self) -> bool {
        !self.is_padding_due && self.bytes_left == 0 && self.padding_left == 0
    }
}

impl H2 {
    /// The head of a DATA frame: all of its bytes count into the windows, also those of padding and of streams that are over.
    #[inline]
    pub(super) fn begin_data(&mut self, head: FrameHead, out: &mut Vec<u8>) -> Result<Fed, Malformed> {
        self.take_from_window(head.payload_bytes, out)?;
        let is_padded = head.has(flag::PADDED);
        let Some(bytes_left) = head.payload_bytes.checked_sub(u32::from(is_padded)) else {
            return Err(Malformed::Padding);
        };
        let place = self.streams.place_of(head.stream);
        let ends = head.has(flag::END_STREAM);
        let data =
            Data { id: head.stream, place, is_padding_due: is_padded, bytes_left, padding_left: 0, ends };
        if head.payload_bytes > 0 {
            self.data = Some(data);
        }
        let Some(place) = place else {
            return if bytes_left == 0 {
                self.count_idle_frame().map(|()| Fed::NeedMore)
            } else {
                Ok(Fed::NeedMore)
            };
        };
        if let Err(why) = self.take_from_stream(place, head, out) {
            return Ok(self.fail(place, why, out));
        }
        if head.payload_bytes > 0 {
            return Ok(Fed::NeedMore);
        }
        if !ends {
            self.count_idle_frame()?;
        }
        Ok(self.end_data(data, out))
    }

    /// The window of the connection.
    fn take_from_window(&mut self, bytes: u32, out: &mut Vec<u8>) -> Result<(), Malformed> {
        self.window -= i64::from(bytes);
        if self.window < 0 {
            return Err(Malformed::FlowControl);
        }
        self.taken += bytes;
        if self.taken > self.settings.connection_window_bytes() / 2 {
            frame::put(out, Kind::WindowUpdate, 0, 0, &self.taken.to_be_bytes());
            self.window += i64::from(core::mem::take(&mut self.taken));
        }
        Ok(())
    }

    /// The window of a stream. It is not raised where what is still to come fits in it.
    fn take_from_stream(&mut self, place: u32, head: FrameHead, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let stream = self.streams.at(place);
        stream.wire_bytes += head.wire_bytes();
        stream.window -= i64::from(head.payload_bytes);
        if !stream.has_head() {
            return Err(Malformed::UnexpectedFrame);
        }
        if stream.window < 0 {
            return Err(Malformed::FlowControl);
        }
        stream.taken += head.payload_bytes;
        if head.has(flag::END_STREAM) || stream.taken <= self.settings.window_bytes() / 2 {
            return Ok(());
        }
        let to_come = stream.body_bytes_due.map_or(u64::MAX, |due| {
            due.saturating_sub(stream.body_bytes).saturating_sub(u64::from(head.payload_bytes))
        });
        // How much of the frame is padding is not known yet, so neither is what is still to come.
        if !head.has(flag::PADDED) && i64::try_from(to_come).is_ok_and(|to_come| to_come <= stream.window) {
            return Ok(());
        }
        frame::put(out, Kind::WindowUpdate, 0, head.stream, &stream.taken.to_be_bytes());
        stream.window += i64::from(core::mem::take(&mut stream.taken));
        Ok(())
    }

    /// More of a DATA frame.
    #[inline]
    pub(super) fn data_piece(
        &mut self,
        mut data: Data,
        input: &mut &[u8],
        listener: &mut impl Listener,
        out: &mut Vec<u8>,
    ) -> Result<Fed, Malformed> {
        if data.is_padding_due
            && let Some((padding, rest)) = input.split_first()
        {
            *input = rest;
            data.is_padding_due = false;
            data.padding_left = u32::from(*padding);
            data.bytes_left = data.bytes_left.checked_sub(data.padding_left).ok_or(Malformed::Padding)?;
            if data.bytes_left == 0 {
                self.count_idle_frame()?;
            }
        }
        let piece = take(input, &mut data.bytes_left);
        let mut fed = Fed::NeedMore;
        if !piece.is_empty()
            && let Some(place) = data.place
            && self.streams.at(place).id == data.id
            && !self.on_body(place, piece, listener)
        {
            fed = self.fail(place, Malformed::BodyLength, out);
        }
        take(input, &mut data.padding_left);
        if data.is_over() {
            self.data = None;
            if fed == Fed::NeedMore {
                return Ok(self.end_data(data, out));
            }
        } else {
            self.data = Some(data);
        }
        Ok(fed)
    }

    /// A piece of a body. Whether it was to be as long as that; what is beyond is not told.
    fn on_body(&mut self, place: u32, piece: &[u8], listener: &mut impl Listener) -> bool {
        self.idle_frames = 0;
        let stream = self.streams.at(place);
        let due = stream.body_bytes_due.map_or(u64::MAX, |due| due - stream.body_bytes);
        let told = &piece[..usize::try_from(due).map_or(piece.len(), |due| due.min(piece.len()))];
        stream.body_bytes += told.len() as u64;
        if !told.is_empty() {
            listener.body(place, told);
        }
        told.len() == piece.len()
    }

    /// All of a DATA frame came.
    fn end_data(&mut self, data: Data, out: &mut Vec<u8>) -> Fed {
        match data.place {
            Some(place) if data.ends && self.streams.at(place).id == data.id => self.end(place, out),
            _ => Fed::NeedMore,
        }
    }
}

/// Takes up to `left` bytes from the start of `input`.
fn take<'a>(input: &mut &'a [u8], left: &mut u32) -> &'a [u8] {
    let (taken, rest) = input.split_at((*left as usize).min(input.len()));
    *left -= taken.len() as u32;
    *input = rest;
    taken
}
