//! The conductor and its agents in virtual time.

mod garbage;
mod laws;
mod seed;
mod world;
