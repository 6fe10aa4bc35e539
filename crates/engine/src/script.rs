//! Loads whose requests depend on earlier answers: what each user sends is said by a [`Script`], one request at a
//! time, and everything else (connections, timeouts, outcomes, the window) stays the engine's.

use alloc::vec::Vec;

use http::{AnswerHead, Http1, Protocol, RequestKind, Response};
use units::{Duration, Instant};

use crate::config::Waits;
use crate::sample::Sample;

/// What a user does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// It sends the request that [`Script::request`] has for it.
    Send(Due),
    /// It does nothing for so long, and is asked again then.
    Pause(Duration),
    /// It does nothing until [`Script::released`] names it.
    Wait,
    /// It is gone; its connection is closed.
    Leave,
    /// The load ends: requests that are out may still be answered.
    EndLoad,
    /// The load ends at once: requests that are out are `in_flight`.
    EndNow,
}

/// A request that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// When it was meant to start, no later than the instant at which the script is asked.
    pub intended: Instant,
    /// Whether its answer has a body.
    pub kind: RequestKind,
    /// Which server it goes to, by its number. A user has one connection; another server's closes it.
    pub target: u32,
    /// How long to wait for it, where that is longer than for all.
    pub waits: Waits,
}

/// Decides what users send. Called on the load's own thread: it must be quick and must not block.
///
/// For each user the calls are: `next`, until it says [`Next::Send`]; then `ask`, if it gets to that; then, if an answer comes,
/// `begun` with its first bytes, `head`, and `body` for each piece of its body; then `ended`; then `next` again.
pub trait Script<H: Protocol = Http1> {
    /// Whether there is a script at all. Where there is none, the engine's usual path is compiled without one.
    const SCRIPTED: bool = true;

    /// What `user` does at `now`, which is the start of the load, the end of its pause or of its last request.
    fn next(&mut self, user: u32, now: Instant) -> Next;

    /// A user who pauses or waits, and is to be asked right away: looked for behind each `next`, until there is none. Whose pause is
    /// cut short in this way is asked once more at the instant at which it would have ended, unless a request of it is out then.
    fn released(&mut self) -> Option<u32> {
        None
    }

    /// Has `protocol` make the request of `user` at `place`, whatever is in `out` already: it goes out now. Called again where it
    /// goes out again, on another connection, and what came of an answer meanwhile is of none.
    fn ask(&mut self, user: u32, place: u32, protocol: &mut H, out: &mut Vec<u8>);

    /// The first bytes of the answer came; of an interim one, where the server sends such. Where exchanges share a connection,
    /// its head came.
    fn begun(&mut self, user: u32, now: Instant) {
        let _ = (user, now);
    }

    /// The answer's head is whole; interim ones are not told.
    fn head(&mut self, user: u32, head: &AnswerHead<'_>, now: Instant) {
        let _ = (user, head, now);
    }

    /// Bytes of the answer's body, without their framing.
    fn body(&mut self, user: u32, piece: &[u8]) {
        let _ = (user, piece);
    }

    /// The request is over. Says whether its answer, if one came, is a good one; in `sample` that is not decided yet.
    fn ended(&mut self, user: u32, sample: &Sample, response: Option<&Response>) -> bool;
}

/// No script: every request is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unscripted {}

impl<H: Protocol> Script<H> for Unscripted {
    const SCRIPTED: bool = false;

    fn next(&mut self, _: u32, _: Instant) -> Next {
        match *self {}
    }

    fn ask(&mut self, _: u32, _: u32, _: &mut H, _: &mut Vec<u8>) {
        match *self {}
    }

    fn ended(&mut self, _: u32, _: &Sample, _: Option<&Response>) -> bool {
        match *self {}
    }
}
