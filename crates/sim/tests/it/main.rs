//! The engine over the simulated network.

mod blocks;
mod conformance;
mod laws;
mod scripted;
mod seeds;
