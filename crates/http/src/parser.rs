//! The response parser: one a connection.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::chunked::{Chunked, take};
use crate::head::{self, Body, Head};
use crate::{
    Bodies, EndOfStream, Framing, KnownHead, LEADING_EMPTY_BYTES_MAX, Limits, Listener, Malformed, Progress,
    RequestKind, Response,
};

/// Reads the responses of one connection, one [`ResponseParser::begin`] each, however the bytes arrive.
///
/// There is one of these for each of very many connections: at most 64 bytes, and no memory elsewhere
/// but for a head that came in pieces.
#[derive(Debug)]
pub struct ResponseParser {
    state: State,
    /// The head so far, if it was split over pushes; at most `head_bytes_max` bytes.
    left_over: Option<Box<LeftOver>>,
    body_bytes: u64,
    wire_bytes: u64,
    head_bytes: u32,
    status: u16,
    keep_alive: bool,
    framing: Framing,
    kind: RequestKind,
    interim_responses: u8,
    leading_bytes: u8,
}

const _: () = assert!(size_of::<ResponseParser>() <= 64);

#[derive(Debug)]
enum State {
    /// No response is expected.
    Idle,
    /// The response was refused; stays until the next `begin`.
    Failed(Malformed),
    /// Before a status line, among empty lines if there are any.
    Leading {
        after_cr: bool,
    },
    /// In a head, whose bytes so far, if any, are the left-over.
    Head,
    Length {
        remaining: u64,
    },
    Chunked(Chunked),
    UntilClose,
}

#[derive(Debug, Default)]
struct LeftOver {
    bytes: Vec<u8>,
}

/// Whether the response ended within the input.
enum Step {
    NeedMore,
    Complete,
}

impl ResponseParser {
    /// A parser that expects nothing yet.
    pub const fn new() -> Self {
        Self {
            state: State::Idle,
            left_over: None,
            body_bytes: 0,
            wire_bytes: 0,
            head_bytes: 0,
            status: 0,
            keep_alive: false,
            framing: Framing::None,
            kind: RequestKind::Ordinary,
            interim_responses: 0,
            leading_bytes: 0,
        }
    }

    /// Expects the next response. Whatever was left of an earlier one is forgotten, so this also readies
    /// the parser for a new connection.
    pub fn begin(&mut self, kind: RequestKind) {
        *self = Self { state: State::Leading { after_cr: false }, kind, ..Self::new() };
    }

    /// Takes the next bytes from the wire, and gives `on_body` the body among them as slices of `input`,
    /// none of them empty.
    ///
    /// After an error the parser repeats it until the next `begin`; body bytes before the fault have been
    /// given. After [`Progress::Complete`] it expects nothing: call `begin`, then push the rest of `input`
    /// if the next request is already out.
    pub fn push(
        &mut self,
        limits: &Limits,
        input: &[u8],
        mut on_body: impl FnMut(&[u8]),
    ) -> Result<Progress, Malformed> {
        self.push_with(limits, None, input, &mut Bodies(|_, piece: &[u8]| on_body(piece)))
    }

    /// The same, and quicker where the head is the `known` one, which is learnt from the others. A whole response is
    /// known more quickly still by [`KnownHead::whole`].
    pub fn push_known(
        &mut self,
        limits: &Limits,
        known: &mut KnownHead,
        input: &[u8],
        mut on_body: impl FnMut(&[u8]),
    ) -> Result<Progress, Malformed> {
        self.push_with(limits, Some(known), input, &mut Bodies(|_, piece: &[u8]| on_body(piece)))
    }

    /// The same for a listener. Where it wants heads, all are parsed.
    pub(crate) fn push_told(
        &mut self,
        limits: &Limits,
        known: &mut KnownHead,
        input: &[u8],
        listener: &mut impl Listener,
    ) -> Result<Progress, Malformed> {
        self.push_with(limits, Some(known), input, listener)
    }

    fn push_with<L: Listener>(
        &mut self,
        limits: &Limits,
        known: Option<&mut KnownHead>,
        input: &[u8],
        listener: &mut L,
    ) -> Result<Progress, Malformed> {
        let mut rest = input;
        let known = known.filter(|_| !L::HEADS);
        let step = self.advance(limits, known, &mut rest, listener);
        let consumed = input.len() - rest.len();
        self.wire_bytes = self.wire_bytes.saturating_add(consumed as u64);
        match step {
            Ok(Step::NeedMore) => Ok(Progress::NeedMore),
            Ok(Step::Complete) => {
                self.state = State::Idle;
                Ok(Progress::Complete { consumed, response: self.response() })
            }
            Err(malformed) => {
                self.state = State::Failed(malformed);
                self.left_over = None;
                Err(malformed)
            }
        }
    }

    /// How many bytes of the body are still to come, where that is known: the next so many bytes on the wire are body
    /// and nothing else.
    pub const fn body_bytes_to_come(&self) -> u64 {
        if let State::Length { remaining } = self.state { remaining } else { 0 }
    }

    /// The next `bytes` bytes of the body came and were thrown away unseen; at most those of
    /// [`ResponseParser::body_bytes_to_come`], and more than none.
    pub fn skip(&mut self, bytes: u64) -> Result<Progress, Malformed> {
        let State::Length { remaining } = &mut self.state else { return Err(Malformed::Unsolicited) };
        let Some(rest) = remaining.checked_sub(bytes) else { return Err(Malformed::Unsolicited) };
        *remaining = rest;
        self.body_bytes = self.body_bytes.saturating_add(bytes);
        self.wire_bytes = self.wire_bytes.saturating_add(bytes);
        if rest > 0 {
            return Ok(Progress::NeedMore);
        }
        self.state = State::Idle;
        Ok(Progress::Complete { consumed: 0, response: self.response() })
    }

    /// The peer closed the connection. The parser expects nothing afterwards.
    pub fn end_of_stream(&mut self) -> EndOfStream {
        self.left_over = None;
        match core::mem::replace(&mut self.state, State::Idle) {
            State::Idle => EndOfStream::Untouched,
            State::Leading { .. } if self.interim_responses == 0 => EndOfStream::Untouched,
            State::UntilClose => EndOfStream::Complete(self.response()),
            State::Leading { .. }
            | State::Failed(_)
            | State::Head
            | State::Length { .. }
            | State::Chunked(_) => EndOfStream::Truncated,
        }
    }

    const fn response(&self) -> Response {
        Response {
            status: self.status,
            keep_alive: self.keep_alive,
            framing: self.framing,
            head_bytes: self.head_bytes,
            body_bytes: self.body_bytes,
            wire_bytes: self.wire_bytes,
        }
    }

    /// Goes through the states until the response or `rest` ends.
    fn advance(
        &mut self,
        limits: &Limits,
        mut known: Option<&mut KnownHead>,
        rest: &mut &[u8],
        listener: &mut impl Listener,
    ) -> Result<Step, Malformed> {
        if let State::Failed(malformed) = self.state {
            return Err(malformed);
        }
        while !rest.is_empty() {
            match &mut self.state {
                State::Idle => return Err(Malformed::Unsolicited),
                State::Failed(malformed) => return Err(*malformed),
                State::Leading { .. } => self.skip_empty_lines(rest)?,
                State::Head => {
                    let Some(head) = self.take_head(limits, known.as_deref_mut(), rest, listener)? else {
                        continue;
                    };
                    if let Step::Complete = self.enter_body(limits, head)? {
                        return Ok(Step::Complete);
                    }
                }
                State::Length { remaining } => {
                    let (data, after) = take(rest, *remaining);
                    *rest = after;
                    *remaining -= data.len() as u64;
                    self.body_bytes = self.body_bytes.saturating_add(data.len() as u64);
                    listener.body(0, data);
                    if *remaining == 0 {
                        return Ok(Step::Complete);
                    }
                }
                State::Chunked(chunked) => {
                    let body_bytes = &mut self.body_bytes;
                    let decoded = chunked.push(limits, rest, &mut |data: &[u8]| {
                        *body_bytes = body_bytes.saturating_add(data.len() as u64);
                        listener.body(0, data);
                    })?;
                    *rest = &rest[decoded.consumed..];
                    if decoded.is_complete {
                        return Ok(Step::Complete);
                    }
                }
                State::UntilClose => {
                    self.body_bytes = self.body_bytes.saturating_add(rest.len() as u64);
                    listener.body(0, core::mem::take(rest));
                }
            }
        }
        Ok(Step::NeedMore)
    }

    /// Goes on to the head at the first byte that is not of an empty line.
    fn skip_empty_lines(&mut self, rest: &mut &[u8]) -> Result<(), Malformed> {
        let State::Leading { after_cr } = &mut self.state else { return Ok(()) };
        while let Some((byte, after)) = rest.split_first() {
            match (*after_cr, byte) {
                (_, b'\n') => *after_cr = false,
                (false, b'\r') => *after_cr = true,
                (true, _) => return Err(Malformed::LineEnd),
                (false, _) => {
                    self.state = State::Head;
                    return Ok(());
                }
            }
            if self.leading_bytes >= LEADING_EMPTY_BYTES_MAX {
                return Err(Malformed::EmptyLines);
            }
            self.leading_bytes += 1;
            *rest = after;
        }
        Ok(())
    }

    /// The head, if its end is in `rest`; otherwise takes all of `rest` into the left-over.
    fn take_head(
        &mut self,
        limits: &Limits,
        known: Option<&mut KnownHead>,
        rest: &mut &[u8],
        listener: &mut impl Listener,
    ) -> Result<Option<Head>, Malformed> {
        if self.left_over.is_none()
            && let Some(head) = self.head_in_place(limits, known, rest, listener)?
        {
            *rest = &rest[head.bytes..];
            return Ok(Some(head));
        }
        let left_over = self.left_over.get_or_insert_default();
        if !left_over.gather(limits.head_bytes_max as usize, rest)? {
            return Ok(None);
        }
        let head =
            head::parse(&left_over.bytes, self.kind, limits.headers_max, |head| listener.head(0, head))?;
        self.left_over = None;
        // An empty line and yet no end: unreachable as httparse stands, and no reason to panic.
        head.ok_or(Malformed::StatusLine).map(Some)
    }

    /// The fast path: a head that lies in `rest` as a whole, recognised or parsed there.
    fn head_in_place(
        &self,
        limits: &Limits,
        known: Option<&mut KnownHead>,
        rest: &[u8],
        listener: &mut impl Listener,
    ) -> Result<Option<Head>, Malformed> {
        let window = &rest[..rest.len().min(limits.head_bytes_max as usize)];
        if let Some(head) = known.as_ref().and_then(|known| known.find(window, self.kind)) {
            return Ok(Some(head));
        }
        head::check_start(window)?;
        match head::parse(window, self.kind, limits.headers_max, |head| listener.head(0, head)) {
            Ok(Some(head)) => {
                if let Some(known) = known {
                    known.learn(window, self.kind, head);
                }
                Ok(Some(head))
            }
            Err(malformed) if head::has_end(window) => Err(malformed),
            // No end of the head yet: for `gather` to keep, or to refuse as too large.
            Ok(None) | Err(_) => Ok(None),
        }
    }

    /// Notes what the head said, and goes on to what follows it.
    fn enter_body(&mut self, limits: &Limits, head: Head) -> Result<Step, Malformed> {
        self.status = head.status;
        self.keep_alive = head.keep_alive;
        self.framing = head.body.framing();
        self.head_bytes = u32::try_from(head.bytes).unwrap_or(u32::MAX);
        self.state = match head.body {
            Body::None | Body::Length(0) => return Ok(Step::Complete),
            Body::Length(remaining) => State::Length { remaining },
            Body::Chunked => State::Chunked(Chunked::new()),
            Body::UntilClose => State::UntilClose,
            Body::Interim => {
                if self.interim_responses >= limits.interim_responses_max {
                    return Err(Malformed::TooManyInterimResponses);
                }
                self.interim_responses += 1;
                State::Leading { after_cr: false }
            }
        };
        Ok(Step::NeedMore)
    }
}

impl Default for ResponseParser {
    fn default() -> Self {
        Self::new()
    }
}

impl LeftOver {
    /// Takes bytes of `rest` up to the end of the head; whether that was there.
    ///
    /// Goes line by line and looks back only at the end of each, so a head that trickles in byte by byte
    /// costs the same as one in large pieces.
    fn gather(&mut self, head_bytes_max: usize, rest: &mut &[u8]) -> Result<bool, Malformed> {
        while !rest.is_empty() {
            let line_bytes = rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |at| at + 1);
            let room = head_bytes_max.saturating_sub(self.bytes.len());
            let (line, after) = rest.split_at(line_bytes.min(room));
            self.bytes.extend_from_slice(line);
            *rest = after;
            head::check_start(&self.bytes)?;
            if head::ends_here(&self.bytes) {
                return Ok(true);
            }
            if self.bytes.len() >= head_bytes_max {
                return Err(Malformed::HeadTooLarge);
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_64_bytes_at_most() {
        assert!(size_of::<ResponseParser>() <= 64, "{}", size_of::<ResponseParser>());
    }

    #[test]
    fn memory_is_held_only_within_a_split_head() {
        let limits = Limits::default();
        let mut parser = ResponseParser::new();
        parser.begin(RequestKind::Ordinary);
        let response: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
        assert!(matches!(parser.push(&limits, response, |_| ()), Ok(Progress::Complete { .. })));
        assert!(parser.left_over.is_none(), "a whole head is parsed in place");

        parser.begin(RequestKind::Ordinary);
        let (first, second) = response.split_at(20);
        assert_eq!(parser.push(&limits, first, |_| ()), Ok(Progress::NeedMore));
        assert!(parser.left_over.is_some());
        assert_eq!(parser.push(&limits, &second[..19], |_| ()), Ok(Progress::NeedMore));
        assert!(parser.left_over.is_none(), "freed with the head, not with the body");

        parser.begin(RequestKind::Ordinary);
        assert_eq!(parser.push(&limits, first, |_| ()), Ok(Progress::NeedMore));
        assert_eq!(parser.end_of_stream(), EndOfStream::Truncated);
        assert!(parser.left_over.is_none());
    }

    #[test]
    fn a_body_that_nobody_looks_at_may_be_skipped() {
        let limits = Limits::default();
        let response: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nten bytes.";
        let mut skipping = ResponseParser::new();
        skipping.begin(RequestKind::Ordinary);
        assert_eq!(skipping.push(&limits, response, |_| ()), Ok(Progress::NeedMore));
        assert_eq!(skipping.body_bytes_to_come(), 90);
        assert_eq!(skipping.skip(60), Ok(Progress::NeedMore));
        let mut reading = ResponseParser::new();
        reading.begin(RequestKind::Ordinary);
        let whole = [response, &[b'x'; 90]].concat();
        let (read, skipped) = (reading.push(&limits, &whole, |_| ()), skipping.skip(30));
        let of = |progress| match progress {
            Ok(Progress::Complete { response, .. }) => Some(response),
            _ => None,
        };
        assert_eq!(of(read), of(skipped));
        assert!(of(skipped).is_some());
        assert_eq!(skipping.skip(1), Err(Malformed::Unsolicited));
        assert_eq!(skipping.body_bytes_to_come(), 0);
    }

    #[test]
    fn the_left_over_is_bounded() {
        let limits = Limits { head_bytes_max: 100, ..Limits::default() };
        let mut parser = ResponseParser::new();
        parser.begin(RequestKind::Ordinary);
        assert_eq!(parser.push(&limits, b"HTTP/1.1 200 OK\r\nA: ", |_| ()), Ok(Progress::NeedMore));
        for pushed in 21_usize.. {
            let verdict = parser.push(&limits, b"a", |_| ());
            let held = parser.left_over.as_ref().map_or(0, |left_over| left_over.bytes.len());
            assert!(held <= 100);
            if verdict == Err(Malformed::HeadTooLarge) {
                assert_eq!((pushed, held), (100, 0));
                break;
            }
        }
    }
}
