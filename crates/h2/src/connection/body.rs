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
    /// A DATA frame, or as much of it as there is: all of its bytes count into the windows, also those of padding and of streams
    /// that are over.
    #[inline]
    pub(super) fn on_data(
        &mut self,
        head: FrameHead,
        input: &mut &[u8],
        listener: &mut impl Listener,
        out: &mut Vec<u8>,
    ) -> Result<Fed, Malformed> {
        self.take_from_window(head.payload_bytes, out)?;
        let is_padded = head.has(flag::PADDED);
        let Some(bytes_left) = head.payload_bytes.checked_sub(u32::from(is_padded)) else {
            return Err(Malformed::Padding);
        };
        let place = self.streams.place_of(head.stream);
        let ends = head.has(flag::END_STREAM);
        let data =
            Data { id: head.stream, place, is_padding_due: is_padded, bytes_left, padding_left: 0, ends };
        if let Some(place) = place
            && let Err(why) = self.take_from_stream(place, head, out)
        {
            // Its stream is over with that: of what is still to come nobody is told.
            self.data = (head.payload_bytes > 0).then_some(data);
            return Ok(self.fail(place, why, out));
        }
        if head.payload_bytes == 0 {
            match place {
                None => self.count_late_frame()?,
                Some(_) if !ends => self.count_idle_frame()?,
                Some(_) => {}
            }
            return Ok(self.end_data(data, out));
        }
        self.data_piece(data, input, listener, out)
    }

    /// The window of the connection.
    fn take_from_window(&mut self, bytes: u32, out: &mut Vec<u8>) -> Result<(), Malformed> {
        self.taken += bytes;
        if self.taken > self.window_bytes / 2 { self.give_back(out) } else { Ok(()) }
    }

    /// Tells the server that half of the connection's window came.
    fn give_back(&mut self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        if self.taken > self.window_bytes {
            return Err(Malformed::FlowControl);
        }
        let taken = core::mem::take(&mut self.taken);
        frame::put(out, Kind::WindowUpdate, 0, 0, &taken.to_be_bytes());
        Ok(())
    }

    /// The window of a stream.
    fn take_from_stream(&mut self, place: u32, head: FrameHead, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let stream = self.streams.at(place);
        stream.wire_bytes += head.wire_bytes();
        if !stream.has_head() {
            return Err(Malformed::UnexpectedFrame);
        }
        stream.taken += head.payload_bytes;
        if stream.taken > self.stream_window_bytes / 2 { self.give_back_of(place, head, out) } else { Ok(()) }
    }

    /// Tells the server that half of a stream's window came, unless what is still to come fits in the rest.
    fn give_back_of(&mut self, place: u32, head: FrameHead, out: &mut Vec<u8>) -> Result<(), Malformed> {
        let stream = self.streams.at(place);
        let window = self.stream_window_bytes.checked_sub(stream.taken).ok_or(Malformed::FlowControl)?;
        let to_come = stream.body_bytes_due.map_or(u64::MAX, |due| {
            due.saturating_sub(stream.body_bytes).saturating_sub(u64::from(head.payload_bytes))
        });
        // How much of the frame is padding is not known yet, so neither is what is still to come.
        let fits = !head.has(flag::PADDED) && to_come <= u64::from(window);
        if !fits && !head.has(flag::END_STREAM) {
            let taken = core::mem::take(&mut stream.taken);
            frame::put(out, Kind::WindowUpdate, 0, head.stream, &taken.to_be_bytes());
        }
        Ok(())
    }

    /// More of a DATA frame that did not come as a whole.
    pub(super) fn data_rest(
        &mut self,
        data: Data,
        input: &mut &[u8],
        listener: &mut impl Listener,
        out: &mut Vec<u8>,
    ) -> Result<Fed, Malformed> {
        self.data = None;
        self.data_piece(data, input, listener, out)
    }

    /// As much of a DATA frame as there is; its rest is kept for the next piece.
    #[inline]
    fn data_piece(
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
        if !data.is_over() {
            self.data = Some(data);
        } else if fed == Fed::NeedMore {
            return Ok(self.end_data(data, out));
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
#[inline]
fn take<'a>(input: &mut &'a [u8], left: &mut u32) -> &'a [u8] {
    let (taken, rest) = input.split_at((*left as usize).min(input.len()));
    *left -= taken.len() as u32;
    *input = rest;
    taken
}
