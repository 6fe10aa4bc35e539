//! wrk's Lua scripts: the `setup`, `init`, `delay`, `request`, `response` and `done` hooks.
//!
//! As in wrk each load thread has a state of its own ([`Environment`]), and one more, the main one ([`Main`]), runs
//! `setup` before and `done` after the load. The engine asks a thread's state through [`Hooks`], an [`engine::Script`].
//! Lua is LuaJIT, as wrk's is, so that scripts written for wrk run unchanged.
//!
//! Invariants: a script that can't be run is an error before anything is sent; one that fails in the middle ends the
//! load with its message and line; nothing a script does makes us panic.
#![forbid(unsafe_code)]

mod environment;
mod hooks;
mod main_state;
mod transfer;

pub use environment::{Environment, ScriptError, Url};
pub use hooks::Hooks;
pub use main_state::{Errors, Latency, Main, Summary};
