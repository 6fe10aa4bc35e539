//! A seeded clock, network and server that drive the same engine as the real sockets do; and the conformance suite that
//! the simulator and both drivers pass ([`conformance`]). For tests alone: the product does not use it.
//!
//! Invariants: time is virtual. Nothing sleeps, so a second of load takes as long as its requests take to compute, and
//! the same seed always gives the same bytes, actions and samples. [`SimIo`] also holds the engine to the contract of
//! [`engine::Io`]: an action that makes no sense panics with its seed.
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
