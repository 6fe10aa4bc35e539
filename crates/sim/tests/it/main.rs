//! The engine over the simulated network.

mod blocks;
mod conformance;
mod gate;
mod lanes;
mod laws;
mod opening;
mod scripted;
mod streams;
