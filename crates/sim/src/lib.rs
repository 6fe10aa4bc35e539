//! A seeded clock, network and server that drive the same engine as the real sockets do.
//!
//! Virtual time: nothing sleeps, so a second of load takes as long as its requests take to compute, and the
//! same seed gives the same bytes, actions and samples for ever. [`SimIo`] also holds the engine to the
//! protocol of [`engine::Io`]: an action that makes no sense panics with its seed.
#![forbid(unsafe_code)]

pub mod conformance;
mod fault;
mod io;
mod scenario;
pub mod seeds;
mod server;

pub use fault::{Answer, Fault, Faults};
pub use io::SimIo;
pub use scenario::{Outcome, Scenario, drive_until, run, run_over};
pub use server::{ServerPlan, Stall};
