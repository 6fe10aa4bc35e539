//! Stacks as real processes.

mod bench;
mod common;
mod life;
mod limits;
mod stacks;
