//! How exchanges share a connection: what whoever runs a load asks of a protocol, without IO.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Debug;

use crate::{AnswerHead, EndOfStream, Limits, Malformed, RequestKind, RequestSpec, Response};

/// One connection's side of a protocol. An *exchange* is a request and its answer; each has a place on its connection, from
/// 0 to [`Protocol::room`] − 1, and no two have the same at one time.
pub trait Protocol: Debug + Sized {
    /// Whether exchanges share a connection. A constant: where they do not, there is one place, and whoever runs the load is
    /// compiled without a trace of others. What is said below of a beginning, of asking and of room is then not asked.
    const MULTIPLEXED: bool;

    /// What the connections of a load are asked to be.
    type Settings: Debug + Clone;

    /// What they have in common.
    type Shared: Debug;

    /// That of a load whose requests are of `kind`, if they all are of one.
    fn shared(limits: Limits, kind: RequestKind, settings: Self::Settings) -> Self::Shared;

    /// Places of a connection: exchanges that it carries at one time at most. At least one, and the same for all of a load.
    fn room(shared: &Self::Shared) -> u32;

    /// A connection that has yet to begin.
    fn new(shared: &Self::Shared) -> Self;

    /// The connection is up. What is sent before any request goes into `out`. Whether requests may be made at once; else
    /// [`Fed::Ready`] says when.
    fn begin(&mut self, shared: &Self::Shared, out: &mut Vec<u8>) -> bool;

    /// Whether one more exchange may begin now: the peer may allow fewer than there are places, and for a while none.
    fn has_room(&self) -> bool;

    /// Whether no exchange is under way, and none will ever begin: the connection is to be closed. Where it has room for one, it is
    /// asked behind an answer to a request of its own.
    fn is_over(&self) -> bool;

    /// Whether it was the peer that ended it, where it is over.
    fn is_ended_by_peer(&self) -> bool {
        true
    }

    /// The code with which the peer said that it ends the connection, if it did: one of HTTP/2 (RFC 9113 7).
    fn end_code(&self) -> Option<u32> {
        None
    }

    /// No exchange is to begin any more; those under way go on. Asked where exchanges share a connection.
    fn retire(&mut self) {}

    /// Requests so far whose body had to wait until the peer said that it has room for more. One that was
    /// [`Failure::Unprocessed`] and goes out again is one.
    fn window_waits(&self) -> u64 {
        0
    }

    /// Requests whose body waits for that now.
    fn held_back(&self) -> u32 {
        0
    }

    /// What is sent to make `request`, which is encoded for this protocol, at `place`: after what is in `out` already. Called
    /// where there is room. What can't go out yet is held on to, and not copied.
    fn ask(&mut self, place: u32, request: &Arc<[u8]>, out: &mut Vec<u8>);

    /// The same of a request that may be another each time, and that was checked for this protocol: to a server that is reached
    /// over TLS or not. How many bytes it takes: those of its head as it goes out, and those of its body.
    fn ask_for(&mut self, place: u32, request: &RequestSpec<'_>, is_secured: bool, out: &mut Vec<u8>) -> u64;

    /// What was in `out` is on its way, and it is empty: what waited for that goes there.
    fn resume(&mut self, out: &mut Vec<u8>) {
        let _ = out;
    }

    /// The next answer at `place` is to a request of `kind`. Called before its first byte is fed; that there was one is not
    /// told where [`Protocol::whole`] knows all of it.
    fn expect(&mut self, place: u32, kind: RequestKind);

    /// Nobody waits for the answer at `place` any more, of a request that was asked for. What is sent to say so goes into
    /// `out`. Whether the connection can still be used, also for another exchange at this place; where exchanges share one,
    /// it can't if the server reads nothing of what is in `out`.
    fn cancel(&mut self, place: u32, out: &mut Vec<u8>) -> bool;

    /// The request at `place`, which was [`Failure::Unprocessed`], is over without an answer: what goes out there next is
    /// another.
    fn forget(&mut self, place: u32) {
        let _ = place;
    }

    /// The usual case in one step, where a connection has room for one: the whole answer that `bytes` are, and nothing
    /// beside it, if it is known without this connection's state.
    fn whole<'a>(shared: &'a Self::Shared, bytes: &[u8]) -> Option<&'a Response>;

    /// Takes bytes from the start of `input`, up to something that is to be told, or all of them. What has to be sent because of
    /// them goes into `out`. Where exchanges share a connection it is called until it needs more: what is to be told may be
    /// about several.
    ///
    /// # Errors
    /// The connection can't be used any more. [`Malformed::Unsolicited`]: nothing was expected, and by this protocol
    /// nothing may come then.
    fn feed(
        &mut self,
        shared: &mut Self::Shared,
        input: &mut &[u8],
        listener: &mut impl Listener,
        out: &mut Vec<u8>,
    ) -> Result<Fed, Malformed>;

    /// How many of the next bytes are of a body and of nothing else: whoever has no need of them may [`Protocol::skip`] them.
    fn body_bytes_to_come(&self) -> u64;

    /// So many bytes came and were thrown away unseen: as many as were to come at most, or else more came than were asked
    /// for.
    ///
    /// # Errors
    /// Nothing could be skipped.
    fn skip(&mut self, bytes: u64) -> Result<Fed, Malformed>;

    /// The peer closed the connection. What that means for the answer at the only place; where there are several, none is
    /// ended by it.
    fn end_of_stream(&mut self) -> EndOfStream;
}

/// What bytes came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fed {
    /// All were taken, and no answer has ended.
    NeedMore,
    /// An answer is whole.
    Ended {
        /// The number of its exchange on the connection, from 0.
        place: u32,
        /// Its status and its sizes.
        response: Response,
        /// Whether bytes came behind it that nobody had asked for: they are thrown away, and the connection is good for
        /// nothing more.
        surplus: bool,
    },
    /// The connection has begun: requests may be made.
    Ready,
    /// An exchange ended without an answer, and the connection goes on.
    Failed {
        /// Its number on the connection, from 0.
        place: u32,
        /// What the server sent in place of an answer, or what is wrong with it.
        failure: Failure,
    },
}

/// Why an exchange ended where its connection did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// What came is no answer.
    Malformed(Malformed),
    /// The server did nothing for it and says so: it has too much to do.
    RefusedStream,
    /// The server broke it off, with this code.
    StreamReset(u32),
    /// The server ends the connection, and did not look at the request any more.
    Unprocessed,
}

/// Who is told what is in answers as they come.
pub trait Listener {
    /// Whether heads are of interest. Where they are not, they need not be taken apart again and again.
    const HEADS: bool;

    /// The answer at `place` has begun: a head is there, interim or final. It may be told again of what comes later. Where
    /// connections are shared alone, and not of an answer that comes as a whole.
    fn begun(&mut self, place: u32) {
        let _ = place;
    }

    /// The head of the final answer at `place`; interim ones are not told.
    fn head(&mut self, place: u32, head: &AnswerHead<'_>) {
        let _ = (place, head);
    }

    /// A piece of the body at `place`, never empty and without its framing.
    fn body(&mut self, place: u32, piece: &[u8]);
}

/// Hears of bodies alone.
#[derive(Debug)]
pub struct Bodies<F>(pub F);

impl<F: FnMut(u32, &[u8])> Listener for Bodies<F> {
    const HEADS: bool = false;

    fn body(&mut self, place: u32, piece: &[u8]) {
        (self.0)(place, piece);
    }
}
