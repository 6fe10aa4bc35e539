//! Checks out, builds, boots, checks and stops a system under test, and asks it single requests while it is idle. It
//! makes no load: that is for `lab`, and the sampling of processes under load for `signals`.
//!
//! Invariant: whatever a stack starts ends with its [`Running`], and with the process that holds that, even
//! when it is killed. A supervisor process stands between us and the stack; it holds the other end of a pipe
//! and ends the whole tree when the pipe closes. See [`supervise`].
//!
//! What a stack needs is in its [`plan::stack::StackManifest`]; nothing here knows any stack by name.
#![forbid(unsafe_code)]

mod attach;
mod boot;
mod build;
mod cgroup;
mod chain;
mod check;
mod checkout;
mod client;
mod contract;
mod cpus;
mod error;
mod idle;
mod interrupt;
mod jdk;
mod kill;
mod limits;
mod lock;
mod log;
mod needs;
mod physical;
mod ports;
mod program;
mod ready;
mod running;
mod started;
mod supervise;

pub use attach::reach;
pub use boot::{BootOptions, boot};
pub use build::{BuildOptions, BuildOutcome, build, fingerprint};
pub use chain::{Chain, ChainOptions};
pub use check::{REQUESTS_MAX, StackReport, check};
pub use checkout::{CHECKOUTS_PREFIX, Checkout, CheckoutError, Repository, Revision, git_in};
pub use client::{OneAnswer, ask_once};
pub use contract::{Afterwards, ConnectionCap, ContractReport, Mismatch, check_contract};
pub use cpus::Cpus;
pub use error::{Listening, LogEnd, StackError};
pub use idle::{BURST_MAX, IdleAsking, burst_answers, idle_answers, kept_answers};
pub use interrupt::Interrupt;
pub use lock::Shared;
pub use needs::{
    Missing, find_program, has_library, install_hint, java_from, java_version, jdk_from, missing, search_path,
};
pub use physical::{PhysicalCores, UnlikeCores};
pub use ports::ephemeral_range;
pub use program::{Program, ProgramEnd, ProgramOptions, command_of};
pub use running::Running;
pub use started::{StopReport, ThreadGroup, Usage};
pub use supervise::{EXIT_NO_GO, EXIT_NOT_STARTED, supervise};
