//! The load engine: decides what is due when, follows every connection, and gives every intended request
//! exactly one outcome.
//!
//! Completion-style and pure. The engine never does anything: it is told what happened
//! ([`Engine::handle_completion`], [`Engine::handle_timeout`]), says what it wants done
//! ([`Engine::poll_action`]) and when it wants to be woken ([`Engine::poll_timeout`]), and hands finished
//! requests to its [`Sink`]. `driver` runs it over real sockets, `sim` in virtual time.
//!
//! Invariants, tested in `sim` over thousands of seeds:
//! - the engine knows no clock, no socket, no thread and no allocation a request;
//! - every intended request ends in exactly one [`Outcome`], and the outcomes add up;
//! - same configuration, same completions, same instants: same actions, same samples;
//! - every queue has a named bound, and what overflows it is counted under its own name.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod config;
mod connection;
mod engine;
mod go_away;
mod io;
mod places;
mod queue;
mod rounds;
mod sample;
mod schedule;
mod script;
mod timers;
mod tls;

pub use config::{
    Arrivals, Begin, Config, Expect, GoodStatus, Load, Request, Reuse, Share, Stop, Timeouts, UserStart,
    Waits,
};
pub use connection::{Action, Completion, Conn, ConnectFailure, Event, Outgoing, Sending};
pub use engine::{Counters, Engine, KEPT_ANSWER_BYTES_MAX, KeptAnswer, RETRY_PAUSE, Stage, WrongAnswer};
pub use go_away::{GO_AWAY_KINDS, GoAways};
pub use io::{Io, drive};
pub use sample::{Outcome, Sample, Sink, Window};
pub use schedule::Schedule;
pub use script::{Due, Next, Script, Unscripted};
pub use tls::TlsFailure;
