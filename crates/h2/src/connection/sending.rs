//! Requests on their way out: their header blocks, and as much of their bodies as the server has room for.

use alloc::sync::Arc;
use alloc::vec::Vec;

use http::RequestSpec;

use super::{H2, UNREAD_BYTES_MAX};
use crate::frame::{self, FRAME_HEAD_BYTES, FrameHead, Kind, flag};
use crate::hpack;
use crate::request::{self, Request, Scheme};
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
    /// The server has too little room for one, and is to be told that it is not used.
    Refused,
    /// It was told, and gets literal blocks.
    Unused,
}

impl H2 {
    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    pub(super) fn send_request(&mut self, place: u32, encoded: &Arc<[u8]>, out: &mut Vec<u8>) {
        let request = Request::new(encoded);
        let id = self.next_id;
        self.next_id += 2;
        match self.table {
            Table::Filled => self.put_head(id, request.again(), out),
            _ => self.put_other_head(id, request, out),
        }
        self.streams.open_at(place, id, self.peer.window_bytes);
        let from = request.body_at();
        if from < encoded.len() {
            let request = Arc::clone(encoded);
            self.begin_body(place, Unsent { request, from, is_held_back: false }, out);
        }
    }

    /// The first head on a connection, and those for a server without a table.
    #[inline(never)]
    fn put_other_head(&mut self, id: u32, request: Request<'_>, out: &mut Vec<u8>) {
        self.unread_bytes_max = UNREAD_BYTES_MAX + self.settings.streams as usize * request.literal().len();
        match self.table {
            Table::Empty if !request.first().is_empty() => {
                self.table = Table::Filled;
                self.put_head(id, request.first(), out);
            }
            Table::Refused => {
                self.table = Table::Unused;
                let (head, block) = frame::split(request.literal());
                let mut resized = Vec::new();
                hpack::resize(&mut resized, 0);
                resized.extend_from_slice(block);
                self.put_parts(id, head.flags, &resized, out);
            }
            _ => self.put_head(id, request.literal(), out),
        }
    }

    /// A request that may be another each time: its head is put together for this connection, whose table of ours is `sent`.
    #[inline(never)]
    pub(super) fn send_other(
        &mut self,
        place: u32,
        spec: &RequestSpec<'_>,
        scheme: Scheme,
        out: &mut Vec<u8>,
    ) -> u64 {
        let id = self.next_id;
        self.next_id += 2;
        let mut block = Vec::new();
        if self.table == Table::Refused {
            self.table = Table::Unused;
            self.sent.reset(0);
            hpack::resize(&mut block, 0);
        }
        let sent = &mut self.sent;
        request::fields(spec, scheme, |name, value, is_kept| {
            hpack::field(&mut block, sent, name, value, is_kept);
        });
        let most = UNREAD_BYTES_MAX + self.settings.streams as usize * (FRAME_HEAD_BYTES + block.len());
        self.unread_bytes_max = self.unread_bytes_max.max(most);
        let ends = if spec.body.is_empty() { flag::END_STREAM } else { 0 };
        let before = out.len();
        self.put_parts(id, flag::END_HEADERS | ends, &block, out);
        let head_bytes = out.len() - before;
        self.streams.open_at(place, id, self.peer.window_bytes);
        if !spec.body.is_empty() {
            let request = Arc::from(spec.body);
            self.begin_body(place, Unsent { request, from: 0, is_held_back: false }, out);
        }
        (head_bytes + spec.body.len()) as u64
    }

    /// A head that lies ready as one frame.
    #[inline]
    fn put_head(&self, id: u32, ready: &[u8], out: &mut Vec<u8>) {
        if ready.len() <= FRAME_HEAD_BYTES + self.peer.frame_bytes_max as usize {
            return frame::put_ready(out, ready, id);
        }
        let (head, block) = frame::split(ready);
        self.put_parts(id, head.flags, block, out);
    }

    /// A head in as many frames as it takes. `flags` are those of one alone.
    #[inline(never)]
    fn put_parts(&self, id: u32, flags: u8, block: &[u8], out: &mut Vec<u8>) {
        let parts = block.chunks(self.peer.frame_bytes_max as usize);
        let last = parts.len() - 1;
        for (at, part) in parts.enumerate() {
            let kind = if at == 0 { Kind::Headers } else { Kind::Continuation };
            let first = if at == 0 { flags & !flag::END_HEADERS } else { 0 };
            let end = if at == last { flag::END_HEADERS } else { 0 };
            frame::put(out, kind, first | end, id, part);
        }
    }

    #[inline(never)]
    fn begin_body(&mut self, place: u32, unsent: Unsent, out: &mut Vec<u8>) {
        let stream = self.streams.at(place);
        if core::mem::take(&mut stream.waited_before) {
            stream.waited = stream.id;
        }
        stream.unsent = Some(unsent);
        self.unsent += 1;
        self.send_unsent_of(place, out);
    }

    /// Sends of all requests what the windows allow and there is room for.
    pub(super) fn send_unsent(&mut self, out: &mut Vec<u8>) {
        if self.unsent == 0 {
            return;
        }
        // In turns: who asks anew is behind those that wait, whichever place it has.
        let (first, places) = (self.unsent_from, self.settings.streams);
        let mut is_stopped = false;
        for at in 0..places {
            let place = (first + at) % places;
            self.send_unsent_of(place, out);
            let is_used_up = self.send_window <= 0 || out.len() >= AHEAD_BYTES_MAX;
            if !is_stopped && is_used_up && self.streams.at(place).is_unsent() {
                (is_stopped, self.unsent_from) = (true, place);
            }
        }
    }

    /// Sends of the request at `place` what the windows allow and there is room for.
    pub(super) fn send_unsent_of(&mut self, place: u32, out: &mut Vec<u8>) {
        let stream = self.streams.at(place);
        let Some(mut unsent) = stream.unsent.take() else { return };
        let put = put_body(stream, &mut unsent, &mut self.send_window, self.peer.frame_bytes_max, out);
        let is_held_back = put == Put::UpToWindow;
        if is_held_back && core::mem::replace(&mut stream.waited, stream.id) != stream.id {
            self.window_waits += 1;
        }
        self.held_back += u32::from(is_held_back);
        self.held_back -= u32::from(core::mem::replace(&mut unsent.is_held_back, is_held_back));
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
