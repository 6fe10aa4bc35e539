//! One load carried in shares by several machines: the protocol between the *conductor*, which has the plan and keeps
//! the books, and its *agents*, each of which carries a share.
//!
//! Sans-io: bytes and instants go in, messages and events come out ([`Conductor`], [`Agent`]). Nothing here opens a
//! stream or sends a request. `lab` runs both sides over pipes, sockets and port-forwards to pods; `tests/it`
//! runs them over streams that break, delay and repeat, with clocks that drift and agents that die.
//!
//! Invariants, tested over thousands of seeds:
//! - an interval counts once, whatever becomes of streams, and one that was acknowledged is in the books;
//! - an agent carries one load, and a conductor of another load can't affect it;
//! - nothing is sent before the agreed begin, nor by an agent that has not heard from its conductor for
//!   [`ORPHANED_AFTER`];
//! - the true offset of an agent's clock lies within the bounds that are reported for it;
//! - every message and every queue is bounded, and the worst that any bytes can cause is an error.
#![forbid(unsafe_code)]

mod assign;
mod bounds;
mod carrier;
mod check;
mod clock;
mod conductor;
mod error;
mod frame;
mod kinds;
mod message;
mod outbox;
mod peer;
mod places;
mod planned;
mod secured;
mod times;
mod told;

pub use assign::Assign;
pub use carrier::{Agent, KEPT_FOR, Leave, Misplaced, ORPHANED_AFTER, Step};
pub use clock::{Bounds, Clock, DRIFT_MAX_PPM};
pub use conductor::{
    Booked, COMES_BACK_WITHIN, Conductor, Event, Joined, Lost, SILENT_AFTER, STOPPED_WITHIN, Settings,
    TELLS_WITHIN,
};
pub use error::NotALoad;
pub use frame::{FRAME_BYTES_MAX, Frames, GREETING, StreamError, encode};
pub use message::{End, Hello, Ready, ThreadTotals, ToAgent, ToConductor};
pub use outbox::{Outbox, UNACKED_MAX, WINDOW};
pub use peer::{PeerState, Seen};
pub use planned::planned;
pub use secured::Handshakes;
pub use told::{NotAnInterval, Told};

/// Most agents of one load.
pub const AGENTS_MAX: u32 = 200;
