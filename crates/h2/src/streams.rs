//! The streams of a connection: one for each place that has an exchange.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use http::{Framing, RequestKind, Response};

use crate::head::Head;

/// The number of no stream.
const NONE: u32 = 0;

/// An exchange under way.
#[derive(Debug)]
pub(crate) struct Stream {
    /// Odd, and rising from one exchange to the next; [`NONE`] where there is none.
    pub(crate) id: u32,
    pub(crate) kind: RequestKind,
    /// Of the final head, or 0 before it.
    pub(crate) status: u16,
    pub(crate) interim_responses: u8,
    pub(crate) head_bytes: u32,
    pub(crate) body_bytes: u64,
    pub(crate) wire_bytes: u64,
    /// How long the body must be, where that is known.
    pub(crate) body_bytes_due: Option<u64>,
    /// Whether a length of the body was given.
    pub(crate) has_length: bool,
    /// What the server sent of its window since it was told so last.
    pub(crate) taken: u32,
    /// What we may still send.
    pub(crate) send_window: i64,
    /// What of its request is still to be sent, if anything.
    pub(crate) unsent: Option<Unsent>,
    /// The last stream here whose request had to wait for windows; [`NONE`] if there was none on this connection.
    pub(crate) waited: u32,
    /// Whether the request had to, which was not looked at and goes out again.
    pub(crate) waited_before: bool,
}

/// The rest of a request, which all streams of a load have in common.
#[derive(Debug)]
pub(crate) struct Unsent {
    pub(crate) request: Arc<[u8]>,
    /// Where the rest begins.
    pub(crate) from: usize,
    /// Whether it waits for the server's windows now.
    pub(crate) is_held_back: bool,
}

impl Stream {
    const fn new() -> Self {
        Self {
            id: NONE,
            kind: RequestKind::Ordinary,
            status: 0,
            interim_responses: 0,
            head_bytes: 0,
            body_bytes: 0,
            wire_bytes: 0,
            body_bytes_due: None,
            has_length: false,
            taken: 0,
            send_window: 0,
            unsent: None,
            waited: NONE,
            waited_before: false,
        }
    }

    /// Makes it that of a new exchange.
    fn begin(&mut self, id: u32, send_window: i64) {
        (self.id, self.send_window) = (id, send_window);
        (self.status, self.interim_responses, self.head_bytes, self.taken) = (0, 0, 0, 0);
        (self.body_bytes, self.wire_bytes) = (0, 0);
        (self.body_bytes_due, self.has_length) = (None, false);
    }

    /// The final head came, in frames of so many bytes.
    pub(crate) fn begin_answer(&mut self, head: Head, wire_bytes: u64) {
        self.wire_bytes += wire_bytes;
        self.status = head.status;
        self.head_bytes = wire_bytes as u32;
        self.body_bytes_due = head.body_bytes(self.kind);
        self.has_length = head.content_length.is_some();
    }

    /// The answer, all of which came.
    pub(crate) fn response(&self) -> Response {
        Response {
            status: self.status,
            keep_alive: true,
            framing: framing(self.kind, self.status, self.has_length),
            head_bytes: self.head_bytes,
            body_bytes: self.body_bytes,
            wire_bytes: self.wire_bytes,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.id != NONE
    }

    /// Whether the final head came.
    pub(crate) fn has_head(&self) -> bool {
        self.status > 0
    }

    /// Its answer is whole, and all of its request was sent.
    #[inline]
    pub(crate) fn end(&mut self) {
        self.id = NONE;
    }

    /// Whether a part of its request is still to be sent.
    pub(crate) fn is_unsent(&self) -> bool {
        self.unsent.is_some()
    }
}

/// How the end of an answer was known.
const fn framing(kind: RequestKind, status: u16, has_length: bool) -> Framing {
    match (kind, status) {
        (RequestKind::Head, _) | (_, 204 | 304) => Framing::None,
        _ => framing_of_body(has_length),
    }
}

/// How the end of a body was known.
#[inline]
pub(crate) const fn framing_of_body(has_length: bool) -> Framing {
    if has_length { Framing::ContentLength } else { Framing::EndOfStream }
}

/// All streams of a connection.
#[derive(Debug)]
pub(crate) struct Streams {
    /// By place.
    all: Box<[Stream]>,
    /// Places by the number of their stream, modulo the length: of two streams that fall together it has the later one. Numbers
    /// rise by two, so that only a stream that outlives as many others as this is long is not found here.
    by_id: Box<[u32]>,
    /// Places of those.
    outlived: BTreeMap<u32, u32>,
    open: u32,
}

impl Streams {
    /// So many places.
    pub(crate) fn new(places: u32) -> Self {
        let slots = (places as usize).saturating_mul(2).next_power_of_two();
        Self {
            all: (0..places).map(|_| Stream::new()).collect(),
            by_id: (0..slots).map(|_| 0).collect(),
            outlived: BTreeMap::new(),
            open: 0,
        }
    }

    /// How many are open.
    pub(crate) fn open(&self) -> u32 {
        self.open
    }

    #[inline]
    pub(crate) fn at(&mut self, place: u32) -> &mut Stream {
        &mut self.all[place as usize]
    }

    /// Whether the final head of the stream at `place` came.
    #[inline]
    pub(crate) fn has_head(&self, place: u32) -> bool {
        self.all[place as usize].has_head()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Stream> {
        self.all.iter_mut().filter(|stream| stream.is_open())
    }

    #[inline]
    fn slot(&self, id: u32) -> usize {
        (id >> 1) as usize & (self.by_id.len() - 1)
    }

    /// Opens stream `id` at `place`.
    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    pub(crate) fn open_at(&mut self, place: u32, id: u32, send_window: i64) -> &mut Stream {
        let slot = self.slot(id);
        let before = core::mem::replace(&mut self.by_id[slot], place);
        let other = self.all[before as usize].id;
        if other != NONE && self.slot(other) == slot {
            self.outlived.insert(other, before);
        }
        self.open += 1;
        let stream = &mut self.all[place as usize];
        stream.begin(id, send_window);
        stream
    }

    /// Where stream `id` is, if it is open.
    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    pub(crate) fn place_of(&self, id: u32) -> Option<u32> {
        let place = self.by_id[self.slot(id)];
        if self.all[place as usize].id == id {
            return Some(place);
        }
        self.outlived.get(&id).copied()
    }

    /// Stream `id` and where it is, if it is open and where one looks first. One that outlived another stream's place in the table
    /// is found by [`Streams::place_of`].
    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    pub(crate) fn usual(&mut self, id: u32) -> Option<(u32, &mut Stream)> {
        let place = self.by_id[self.slot(id)];
        let stream = &mut self.all[place as usize];
        // Places without a stream have none's number, which is that of the connection itself.
        (id != NONE && stream.id == id).then_some((place, stream))
    }

    /// One of [`Streams::usual`] was ended: it is none that outlived another.
    #[inline]
    pub(crate) fn count_ended(&mut self) {
        self.open -= 1;
    }

    /// The first place, `from` that one on, whose stream has a number above `last`.
    pub(crate) fn above(&self, last: u32, from: u32) -> Option<u32> {
        let rest = self.all.get(from as usize..)?;
        rest.iter().position(|stream| stream.id > last).map(|place| from + place as u32)
    }

    /// Ends the stream at `place`. What of its request was still to be sent.
    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    pub(crate) fn close(&mut self, place: u32) -> Option<Unsent> {
        let stream = &mut self.all[place as usize];
        if !stream.is_open() {
            return None;
        }
        if !self.outlived.is_empty() {
            self.outlived.remove(&stream.id);
        }
        stream.id = NONE;
        self.open -= 1;
        stream.unsent.take()
    }

    /// Ends all of them.
    pub(crate) fn close_all(&mut self) {
        for place in 0..self.all.len() {
            self.close(place as u32);
            self.all[place].waited = NONE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_outlives_many_others_is_found() {
        let mut streams = Streams::new(2);
        streams.open_at(0, 1, 0);
        for id in (3..99).step_by(2) {
            streams.open_at(1, id, 0);
            assert_eq!((streams.place_of(1), streams.place_of(id)), (Some(0), Some(1)), "{id}");
            streams.close(1);
            assert_eq!(streams.place_of(id), None);
        }
        streams.close(0);
        assert_eq!((streams.place_of(1), streams.open()), (None, 0));
        assert!(streams.outlived.is_empty());
    }
}
