//! The engine over the simulated network.

mod blocks;
mod common;
mod conformance;
mod counted;
mod gate;
mod lanes;
mod laws;
mod opening;
mod scripted;
mod streams;
