//! Carries the engine's actions out on real sockets.
//!
//! Two implementations of [`engine::Io`] are foreseen behind one conformance suite: epoll, here, and
//! io_uring. This is the only crate that may hold `unsafe`; epoll needs none.
//!
//! Invariant: at most one `send` and one `recv` a request on a busy kept-alive connection, and no
//! `epoll_ctl` after a connection is set up.

mod addresses;
mod epoll;
mod run;

pub use addresses::{CONNECTIONS_PER_SOURCE_MAX, Route};
pub use epoll::EpollIo;
pub use run::{Control, DriveError, Finished, Usage, monotonic_now, run_engine, thread_cpu};
