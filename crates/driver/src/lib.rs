//! Carries the engine's actions out on real sockets.
//!
//! Two implementations of [`engine::Io`] behind one conformance suite: [`UringIo`], and [`EpollIo`] for where
//! io_uring is refused. This is the only crate that may hold `unsafe`: for the ring, and for the stamps that the kernel
//! gives what it receives.
//!
//! Invariants: over epoll at most one `send` and one `recv` a request on a busy kept-alive connection, and no
//! `epoll_ctl` after a connection is set up; over io_uring one submission and one completion, and a system call for
//! many of them.

mod addresses;
#[expect(
    unsafe_code,
    reason = "no safe wrapper has the kernel's receive stamps; each block says why it is sound"
)]
mod arrival;
mod clock;
mod epoll;
mod gate;
mod incidents;
mod probe;
mod run;
mod socket;
mod unix;
mod unsent;
#[expect(unsafe_code, reason = "io_uring shares memory with the kernel; each block says why it is sound")]
mod uring;

pub use addresses::{CONNECTIONS_PER_SOURCE_MAX, Route, Target};
pub use clock::{monotonic_now, thread_cpu};
pub use epoll::EpollIo;
pub use gate::Gate;
pub use incidents::Incidents;
pub use probe::{UringRefused, probe_uring};
pub use run::{Backend, Control, DriveError, Finished, Usage, run_engine, run_scripted};
pub use unix::UnixSocket;
pub use uring::{RingSizes, UringIo};
