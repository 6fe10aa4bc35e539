//! A connection of HTTP/2, from its preface to its end.

mod body;
mod control;
mod frames;
mod headers;
mod sending;
mod usual;

use alloc::sync::Arc;
use alloc::vec::Vec;

use http::{
    EndOfStream, Failure, Fed, Limits, Listener, Malformed, Protocol, RequestKind, RequestSpec, Response,
};

use self::body::Data;
use self::frames::Partial;
use self::headers::Block;
use self::sending::Table;
use crate::frame::{self, Kind, TABLE_BYTES_START};
use crate::head::{Head, Kept};
use crate::hpack::{self, Decoder, Known, Scratch};
use crate::peer::Peer;
use crate::request::Scheme;
use crate::settings::{Settings, WINDOW_BYTES_START};
use crate::streams::Streams;

/// Frames in a row that bring no request any nearer to its end: pings, settings, updates, empty ones, those of streams that
/// are over. So many are a server's way to keep a client busy, and no answer.
pub const IDLE_FRAMES_MAX: u32 = 10_000;

/// Frames of a stream that was reset which may come before its server hears of that: the head and the end of an answer that
/// nobody waits for any more, a window that is given back, a reset in turn. Of all such streams together no more than
/// [`IDLE_FRAMES_MAX`] are let pass at one time.
const LATE_FRAMES_MAX: u32 = 4;

/// The number of the first stream, and the last that there may be.
const STREAM_FIRST: u32 = 1;
const STREAM_LAST: u32 = (1 << 31) - 1;

/// Why a stream is reset, or a connection ended (RFC 9113 7).
mod code {
    pub(super) const NO_ERROR: u32 = 0;
    pub(super) const PROTOCOL_ERROR: u32 = 1;
    pub(super) const FLOW_CONTROL_ERROR: u32 = 3;
    pub(super) const REFUSED_STREAM: u32 = 7;
    pub(super) const CANCEL: u32 = 8;
}

/// What may wait to be sent on a connection, beside a request for each of its streams. A server of which more waits does not
/// read: it asks for answers, has requests time out, or answers what it has not seen.
pub const UNREAD_BYTES_MAX: usize = 1 << 20;

/// What connections of HTTP/2 have in common.
#[derive(Debug)]
pub struct H2Shared {
    limits: Limits,
    settings: Settings,
    /// The head that servers send again and again.
    known: Known<Head>,
    scratch: Scratch,
    kept: Kept,
}

/// A connection of HTTP/2.
#[derive(Debug)]
pub struct H2 {
    settings: Settings,
    peer: Peer,
    /// Whether the server's first SETTINGS came, and whether exchanges may be asked for.
    greeted: bool,
    ready: bool,
    streams: Streams,
    /// How many there may be: none before the server is ready, and once it takes no more.
    streams_max: u32,
    /// The number that the next stream has.
    next_id: u32,
    /// The last stream that the server will look at, once it said so.
    last_id: Option<u32>,
    /// Why it ends the connection, likewise.
    end_code: Option<u32>,
    /// Whether it is to carry no more streams, though the server would take some.
    is_retired: bool,
    /// The place from which on streams above it are still to be told of.
    unprocessed_from: Option<u32>,
    idle_frames: u32,
    /// So many frames of streams that were reset may still be on their way.
    late_frames: u32,

    decoder: Decoder,
    /// The head that refers to this connection's table.
    known: Known<Head>,
    /// What came of a frame so far.
    partial: Partial,
    /// The body frame that is coming in.
    data: Option<Data>,
    /// The header block whose end is still to come.
    block: Option<Block>,

    /// What the server may send before it hears that it came: in all, and on a stream.
    window_bytes: u32,
    stream_window_bytes: u32,
    /// What it sent in all since it was told so last.
    taken: u32,
    /// What we may still send in all.
    send_window: i64,
    /// Streams whose request is not sent to its end.
    unsent: u32,
    /// The place of which more is sent first: what all share was used up when it was its turn.
    unsent_from: u32,
    /// Those of them that wait for the server's windows.
    held_back: u32,
    /// How many there have been, earlier lives included.
    window_waits: u64,
    table: Table,
    /// What is in it where requests are not all the same.
    sent: hpack::Table,
    /// More than this waits to be sent only where the server does not read.
    unread_bytes_max: usize,
}

impl Protocol for H2 {
    const MULTIPLEXED: bool = true;

    type Settings = Settings;
    type Shared = H2Shared;

    fn shared(limits: Limits, _: RequestKind, settings: Settings) -> H2Shared {
        H2Shared { limits, settings, known: Known::new(), scratch: Scratch::default(), kept: Kept::default() }
    }

    fn room(shared: &H2Shared) -> u32 {
        shared.settings.streams
    }

    fn new(shared: &H2Shared) -> Self {
        let settings = shared.settings;
        Self {
            settings,
            peer: Peer::START,
            greeted: false,
            ready: false,
            streams: Streams::new(settings.streams),
            streams_max: 0,
            next_id: STREAM_FIRST,
            last_id: None,
            end_code: None,
            is_retired: false,
            unprocessed_from: None,
            idle_frames: 0,
            late_frames: 0,
            decoder: Decoder::new(settings.header_table_bytes),
            known: Known::new(),
            partial: Partial::default(),
            data: None,
            block: None,
            window_bytes: settings.connection_window_bytes(),
            stream_window_bytes: settings.window_bytes(),
            taken: 0,
            send_window: i64::from(WINDOW_BYTES_START),
            unsent: 0,
            unsent_from: 0,
            held_back: 0,
            window_waits: 0,
            table: Table::Empty,
            sent: hpack::Table::new(TABLE_BYTES_START),
            unread_bytes_max: UNREAD_BYTES_MAX,
        }
    }

    /// Its memory is used again.
    fn begin(&mut self, shared: &H2Shared, out: &mut Vec<u8>) -> bool {
        self.peer = Peer::START;
        (self.greeted, self.ready) = (false, false);
        self.streams.close_all();
        self.streams_max = 0;
        (self.next_id, self.last_id, self.unprocessed_from) = (STREAM_FIRST, None, None);
        self.end_code = None;
        self.is_retired = false;
        (self.idle_frames, self.late_frames) = (0, 0);
        self.decoder.reset(self.settings.header_table_bytes);
        self.known.clear();
        self.partial.clear();
        (self.data, self.block) = (None, None);
        self.taken = 0;
        self.send_window = i64::from(WINDOW_BYTES_START);
        (self.unsent, self.unsent_from, self.held_back) = (0, 0, 0);
        self.table = Table::Empty;
        self.sent.reset(TABLE_BYTES_START);
        self.settings.put(shared.limits.head_bytes_max, out);
        false
    }

    #[inline]
    fn has_room(&self) -> bool {
        self.streams.open() < self.streams_max && self.next_id <= STREAM_LAST
    }

    /// None is open, and none will be.
    fn is_over(&self) -> bool {
        // A server that allows none for now may allow some again (RFC 9113 6.5.2).
        let takes_none = self.last_id.is_some() || self.is_retired || self.next_id > STREAM_LAST;
        self.ready && takes_none && self.streams.open() == 0
    }

    /// Else it was retired, or has no number left for another stream.
    fn is_ended_by_peer(&self) -> bool {
        self.last_id.is_some()
    }

    fn end_code(&self) -> Option<u32> {
        self.end_code
    }

    fn retire(&mut self) {
        self.is_retired = true;
        self.bound_streams();
    }

    fn window_waits(&self) -> u64 {
        self.window_waits
    }

    fn held_back(&self) -> u32 {
        self.held_back
    }

    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    fn ask(&mut self, place: u32, request: &Arc<[u8]>, out: &mut Vec<u8>) {
        self.send_request(place, request, out);
    }

    fn ask_for(&mut self, place: u32, request: &RequestSpec<'_>, is_secured: bool, out: &mut Vec<u8>) -> u64 {
        let scheme = if is_secured { Scheme::Https } else { Scheme::Http };
        self.send_other(place, request, scheme, out)
    }

    fn resume(&mut self, out: &mut Vec<u8>) {
        self.send_unsent(out);
        if !out.is_empty() {
            self.idle_frames = 0;
        }
    }

    #[inline]
    fn expect(&mut self, place: u32, kind: RequestKind) {
        self.streams.at(place).kind = kind;
    }

    /// The stream is reset, and the others go on, unless the server has stopped to read.
    fn cancel(&mut self, place: u32, out: &mut Vec<u8>) -> bool {
        self.reset(place, code::CANCEL, out);
        !self.is_unread(out)
    }

    fn forget(&mut self, place: u32) {
        self.streams.at(place).waited_before = false;
    }

    fn whole<'a>(_: &'a H2Shared, _: &[u8]) -> Option<&'a Response> {
        None
    }

    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    fn feed(
        &mut self,
        shared: &mut H2Shared,
        input: &mut &[u8],
        listener: &mut impl Listener,
        out: &mut Vec<u8>,
    ) -> Result<Fed, Malformed> {
        if !self.is_unread(out)
            && let Some(answer) = self.usual_answer(shared, input, listener)
        {
            return Ok(answer);
        }
        self.feed_frames(shared, input, listener, out)
    }

    fn body_bytes_to_come(&self) -> u64 {
        0
    }

    fn skip(&mut self, _: u64) -> Result<Fed, Malformed> {
        Err(Malformed::Unsolicited)
    }

    fn end_of_stream(&mut self) -> EndOfStream {
        EndOfStream::Truncated
    }
}

impl H2 {
    /// Takes in frames up to the first that has something to tell.
    #[inline(never)]
    fn feed_frames(
        &mut self,
        shared: &mut H2Shared,
        input: &mut &[u8],
        listener: &mut impl Listener,
        out: &mut Vec<u8>,
    ) -> Result<Fed, Malformed> {
        loop {
            if self.unprocessed_from.is_some() {
                if let Some(place) = self.next_unprocessed() {
                    return Ok(Fed::Failed { place, failure: Failure::Unprocessed });
                }
                self.unprocessed_from = None;
            }
            if input.is_empty() {
                return Ok(Fed::NeedMore);
            }
            if self.is_unread(out) {
                return Err(Malformed::Unread);
            }
            let fed = match self.data {
                Some(data) => self.data_rest(data, input, listener, out),
                None => self.take_frame(shared, input, listener, out),
            };
            match fed? {
                Fed::NeedMore => {}
                told => return Ok(told),
            }
        }
    }

    /// Whether so much waits to be sent that the server does not read.
    #[inline]
    fn is_unread(&self, out: &[u8]) -> bool {
        out.len() > self.unread_bytes_max
    }

    /// A frame came that brings no request nearer to its end.
    fn count_idle_frame(&mut self) -> Result<(), Malformed> {
        self.idle_frames += 1;
        if self.idle_frames > IDLE_FRAMES_MAX { Err(Malformed::Flood) } else { Ok(()) }
    }

    /// A frame came of a stream that is over. One of a stream that was reset may have been on its way.
    #[cold]
    fn count_late_frame(&mut self) -> Result<(), Malformed> {
        if self.late_frames == 0 {
            return self.count_idle_frame();
        }
        self.late_frames -= 1;
        Ok(())
    }

    /// A stream that the server will not look at, of those that it was asked for; it is closed.
    fn next_unprocessed(&mut self) -> Option<u32> {
        let place = self.streams.above(self.last_id?, self.unprocessed_from?)?;
        self.unprocessed_from = Some(place + 1);
        let stream = self.streams.at(place);
        stream.waited_before = stream.waited == stream.id;
        self.close(place);
        Some(place)
    }

    /// Ends the stream at `place` on this side.
    #[inline]
    fn close(&mut self, place: u32) {
        if let Some(unsent) = self.streams.close(place) {
            self.unsent -= 1;
            self.held_back -= u32::from(unsent.is_held_back);
        }
    }

    /// Ends the stream at `place`, if it is open, and tells the server.
    #[cold]
    fn reset(&mut self, place: u32, code: u32, out: &mut Vec<u8>) {
        let id = self.streams.at(place).id;
        if self.streams.at(place).is_open() {
            self.close(place);
            self.late_frames = (self.late_frames + LATE_FRAMES_MAX).min(IDLE_FRAMES_MAX);
            frame::put(out, Kind::ResetStream, 0, id, &code.to_be_bytes());
        }
    }

    /// The answer at `place` is none: its stream alone ends.
    #[cold]
    fn fail(&mut self, place: u32, why: Malformed, out: &mut Vec<u8>) -> Fed {
        let code =
            if why == Malformed::FlowControl { code::FLOW_CONTROL_ERROR } else { code::PROTOCOL_ERROR };
        self.fail_with(place, (why, code), out)
    }

    /// The same, and which code the server is told.
    #[cold]
    fn fail_with(&mut self, place: u32, (why, code): (Malformed, u32), out: &mut Vec<u8>) -> Fed {
        self.idle_frames = 0;
        self.reset(place, code, out);
        Fed::Failed { place, failure: Failure::Malformed(why) }
    }

    /// The answer at `place` is whole.
    fn end(&mut self, place: u32, out: &mut Vec<u8>) -> Fed {
        let stream = self.streams.at(place);
        if stream.body_bytes_due.is_some_and(|due| due != stream.body_bytes) {
            return self.fail(place, Malformed::BodyLength, out);
        }
        let response = stream.response();
        if stream.is_unsent() {
            // The server has no need of the rest (RFC 9113 8.1).
            self.reset(place, code::NO_ERROR, out);
        } else {
            self.close(place);
        }
        Fed::Ended { place, response, surplus: false }
    }
}

#[cfg(test)]
mod tests {
    use http::Bodies;

    use super::*;
    use crate::frame::flag;

    /// More streams than any test opens, and no more than a long load does.
    #[test]
    fn a_connection_that_has_no_number_for_another_stream_is_over_once_the_last_has_ended() {
        let settings = Settings { streams: 2, ..Settings::default() };
        let mut shared = H2::shared(Limits::default(), RequestKind::Ordinary, settings);
        let (mut client, mut out) = (H2::new(&shared), Vec::new());
        client.begin(&shared, &mut out);
        let mut come = |client: &mut H2, kind: Kind, flags: u8, stream: u32, payload: &[u8]| {
            let (mut bytes, mut bodies) = (Vec::new(), Bodies(|_: u32, _: &[u8]| {}));
            frame::put(&mut bytes, kind, flags, stream, payload);
            client.feed(&mut shared, &mut &bytes[..], &mut bodies, &mut Vec::new())
        };
        assert_eq!(come(&mut client, Kind::Settings, 0, 0, &[]), Ok(Fed::Ready));
        client.next_id = STREAM_LAST;
        let spec =
            RequestSpec { method: "GET", target: "/", host: "a", headers: &[], body: b"", close: false };
        let request = crate::encode(&spec, Scheme::Http).expect("a request");
        client.ask(0, &request.into(), &mut out);
        client.expect(0, RequestKind::Ordinary);
        assert!(!client.has_room() && !client.is_over(), "its answer is awaited");
        // The eighth field of the static table: a status of 200.
        let flags = flag::END_HEADERS | flag::END_STREAM;
        let ended = come(&mut client, Kind::Headers, flags, STREAM_LAST, &[0x88]);
        assert!(matches!(ended, Ok(Fed::Ended { place: 0, .. })), "{ended:?}");
        assert!(client.is_over() && !client.is_ended_by_peer());
    }
}
