//! Quantities with their unit in the type: what every other crate says "how long", "how often" and
//! "how much" with.
//!
//! Invariant: nothing here reads a clock, and nothing here allocates except to parse or display. Both
//! instants and durations are whole nanoseconds in a `u64`, which lasts 584 years and never rounds.
#![no_std]
#![forbid(unsafe_code)]

mod bytes;
mod parse;
mod rate;
mod seed;
mod share;
mod time;

pub use bytes::Bytes;
pub use parse::{ParseError, whole};
pub use rate::Rate;
pub use seed::Seed;
pub use share::Share;
pub use time::{Duration, InFull, Instant};
