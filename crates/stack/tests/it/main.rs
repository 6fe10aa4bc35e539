//! Stacks as real processes.

mod bench;
mod checkout;
mod common;
mod life;
mod limits;
mod stacks;
