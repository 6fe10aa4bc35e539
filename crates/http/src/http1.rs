//! HTTP/1.1 as a [`Protocol`]: one exchange at a time.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::{
    EndOfStream, Fed, KnownHead, Limits, Listener, Malformed, Progress, Protocol, RequestKind, RequestSpec,
    Response, ResponseParser, asks_to_close, put,
};

/// A connection of HTTP/1.1. A request without an answer leaves it useless, and bytes that nobody asked for are a fault.
#[derive(Debug)]
pub struct Http1 {
    parser: ResponseParser,
    /// Whether the request of its own that went out last asks the server to close it.
    is_last: bool,
}

/// What connections of HTTP/1.1 have in common.
#[derive(Debug)]
pub struct Http1Shared {
    limits: Limits,
    /// The head that the server sends again and again.
    known: KnownHead,
}

impl Http1 {
    /// As [`Protocol::ask_for`], of a request that somebody else has written.
    pub fn ask_as_written(&mut self, request: &[u8], out: &mut Vec<u8>) {
        self.is_last = asks_to_close(request);
        out.extend_from_slice(request);
    }
}

impl Protocol for Http1 {
    const MULTIPLEXED: bool = false;

    type Settings = ();
    type Shared = Http1Shared;

    fn shared(limits: Limits, kind: RequestKind, (): ()) -> Http1Shared {
        Http1Shared { limits, known: KnownHead::new(kind) }
    }

    fn room(_: &Http1Shared) -> u32 {
        1
    }

    fn new(_: &Http1Shared) -> Self {
        Self { parser: ResponseParser::new(), is_last: false }
    }

    fn begin(&mut self, _: &Http1Shared, _: &mut Vec<u8>) -> bool {
        *self = Self { parser: ResponseParser::new(), is_last: false };
        true
    }

    fn has_room(&self) -> bool {
        true
    }

    fn is_over(&self) -> bool {
        self.is_last
    }

    fn ask(&mut self, _: u32, request: &Arc<[u8]>, out: &mut Vec<u8>) {
        out.extend_from_slice(request);
    }

    fn ask_for(&mut self, _: u32, request: &RequestSpec<'_>, _: bool, out: &mut Vec<u8>) -> u64 {
        let before = out.len();
        self.is_last = request.asks_to_close();
        put(request, out);
        (out.len() - before) as u64
    }

    fn expect(&mut self, _: u32, kind: RequestKind) {
        self.parser.begin(kind);
    }

    /// The rest of the answer may still come, and nothing tells it from the next.
    fn cancel(&mut self, _: u32, _: &mut Vec<u8>) -> bool {
        false
    }

    #[inline]
    fn whole<'a>(shared: &'a Http1Shared, bytes: &[u8]) -> Option<&'a Response> {
        shared.known.whole(bytes)
    }

    fn feed(
        &mut self,
        shared: &mut Http1Shared,
        input: &mut &[u8],
        listener: &mut impl Listener,
        _: &mut Vec<u8>,
    ) -> Result<Fed, Malformed> {
        let input = core::mem::take(input);
        let progress = self.parser.push_told(&shared.limits, &mut shared.known, input, listener)?;
        Ok(fed(progress, input.len()))
    }

    fn body_bytes_to_come(&self) -> u64 {
        self.parser.body_bytes_to_come()
    }

    fn skip(&mut self, bytes: u64) -> Result<Fed, Malformed> {
        let to_come = self.parser.body_bytes_to_come();
        let progress = self.parser.skip(bytes.min(to_come))?;
        Ok(match fed(progress, 0) {
            Fed::Ended { place, response, .. } => Fed::Ended { place, response, surplus: bytes > to_come },
            other => other,
        })
    }

    fn end_of_stream(&mut self) -> EndOfStream {
        self.parser.end_of_stream()
    }
}

fn fed(progress: Progress, input_bytes: usize) -> Fed {
    match progress {
        Progress::NeedMore => Fed::NeedMore,
        Progress::Complete { consumed, response } => {
            Fed::Ended { place: 0, response, surplus: consumed < input_bytes }
        }
    }
}
