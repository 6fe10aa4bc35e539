//! Requests on their way out: their header blocks, and as much of their bodies as the server has room for.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::H2;
use crate::frame::{self, FRAME_HEAD_BYTES, FrameHead, Kind, TABLE_BYTES_START, flag};
use crate::hpack;
use crate::request::Request;
use crate::streams::{Stream, Unsent};

/// Of bodies no more is put into what is to go out once that is as long as this; the rest follows when it is on its way.
const AHEAD_BYTES_MAX: usize = 256 << 10;

/// What the server's table of header fields has of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    /// Nothing yet.
    Empty,
    /// What the first block of the request puts there.
    Filled,
    /// The server has too little room for one, was told that it is not used, and gets literal blocks.
    Unused,
}

impl H2 {
    pub(super) fn send_request(&mut self, place: u32, encoded: &Arc<[u8]>, out: &mut Vec<u8>) {
        let request = Request::read(encoded);
        let id = self.next_id;
        self.next_id += 2;
        self.send_head(id, request, out);
        self.head_bytes = FRAME_HEAD_BYTES + request.literal.len();
        let window = i64::from(self.settings.window_bytes());
        let stream = self.streams.open_at(place, id, window, self.peer.window_bytes);
        if !request.body.is_empty() {
            let from = encoded.len() - request.body.len();
            stream.unsent = Some(Unsent { request: Arc::clone(encoded), from, has_waited: false });
            self.unsent += 1;
            self.send_unsent_of(place, out);
        }
    }

    fn send_head(&mut self, id: u32, request: Request<'_>, out: &mut Vec<u8>) {
        let ends = if request.body.is_empty() { flag::END_STREAM } else { 0 };
        if self.peer.table_bytes_least < TABLE_BYTES_START && self.table != Table::Unused {
            self.table = Table::Unused;
            let mut block = Vec::new();
            hpack::resize(&mut block, 0);
            block.extend_from_slice(request.literal);
            return self.send_block(id, ends, &block, out);
        }
        let block = match self.table {
            Table::Empty if !request.first.is_empty() => {
                self.table = Table::Filled;
                request.first
            }
            Table::Filled => request.again,
            Table::Empty | Table::Unused => request.literal,
        };
        self.send_block(id, ends, block, out);
    }

    fn send_block(&self, id: u32, ends: u8, block: &[u8], out: &mut Vec<u8>) {
        let most = self.peer.frame_bytes_max as usize;
        if block.len() <= most {
            return frame::put(out, Kind::Headers, ends | flag::END_HEADERS, id, block);
        }
        let count = block.len().div_ceil(most);
        for (at, part) in block.chunks(most).enumerate() {
            let (kind, flags) = if at == 0 { (Kind::Headers, ends) } else { (Kind::Continuation, 0) };
            let last = if at + 1 == count { flag::END_HEADERS } else { 0 };
            frame::put(out, kind, flags | last, id, part);
        }
    }

    /// Sends of all requests what the windows allow and there is room for.
    pub(super) fn send_unsent(&mut self, out: &mut Vec<u8>) {
        if self.unsent == 0 {
            return;
        }
        for place in 0..self.settings.streams {
            self.send_unsent_of(place, out);
        }
    }

    /// Sends of the request at `place` what the windows allow and there is room for.
    pub(super) fn send_unsent_of(&mut self, place: u32, out: &mut Vec<u8>) {
        let stream = self.streams.at(place);
        let Some(mut unsent) = stream.unsent.take() else { return };
        let put = put_body(stream, &mut unsent, &mut self.send_window, self.peer.frame_bytes_max, out);
        if put == Put::UpToWindow && !core::mem::replace(&mut unsent.has_waited, true) {
            self.window_waits += 1;
        }
        if put == Put::All {
            self.unsent -= 1;
        } else {
            stream.unsent = Some(unsent);
        }
    }
}

/// How far a body was put into what is to go out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Put {
    All,
    UpToWindow,
    /// There was no more room.
    UpToRoom,
}

/// Puts the rest of the stream's request into `out`, as far as may be.
fn put_body(
    stream: &mut Stream,
    unsent: &mut Unsent,
    connection_window: &mut i64,
    frame_bytes_max: u32,
    out: &mut Vec<u8>,
) -> Put {
    loop {
        let rest = &unsent.request[unsent.from..];
        if rest.is_empty() {
            return Put::All;
        }
        if out.len() >= AHEAD_BYTES_MAX {
            return Put::UpToRoom;
        }
        let window = stream.send_window.min(*connection_window).min(i64::from(frame_bytes_max));
        let Some(bytes) = usize::try_from(window).ok().filter(|bytes| *bytes > 0) else {
            return Put::UpToWindow;
        };
        let part = &rest[..bytes.min(rest.len()).min(AHEAD_BYTES_MAX)];
        let flags = if part.len() == rest.len() { flag::END_STREAM } else { 0 };
        let (kind, payload_bytes) = (Kind::Data, part.len() as u32);
        FrameHead { payload_bytes, kind, flags, stream: stream.id }.write(out);
        out.extend_from_slice(part);
        stream.send_window -= i64::from(payload_bytes);
        *connection_window -= i64::from(payload_bytes);
        unsent.from += part.len();
    }
}
