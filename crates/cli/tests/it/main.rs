//! The real binary against real servers.

mod bad_input;
mod common;
mod experiment;
mod hit;
