//! Builds, boots, checks, watches and stops a system under test.
//!
//! Invariant: whatever a stack starts ends with its [`Running`], and with the process that holds that, even
//! when it is killed. A supervisor process stands between us and the stack; it holds the other end of a pipe
//! and ends the whole tree when the pipe closes. See [`supervise`].
//!
//! What a stack needs is in its [`plan::stack::StackManifest`]; nothing here knows any stack by name.
#![forbid(unsafe_code)]

mod boot;
mod build;
mod cgroup;
mod client;
mod contract;
mod error;
mod listener;
mod log;
mod ports;
mod procs;
mod running;
mod supervise;
mod tools;

pub use boot::{BootOptions, boot};
pub use build::{BuildOutcome, build};
pub use contract::{ContractReport, Mismatch, check_contract};
pub use error::{LogEnd, StackError};
pub use running::{Running, StopReport, ThreadGroup, Usage};
pub use supervise::{EXIT_NO_GO, EXIT_NOT_STARTED, supervise};
pub use tools::{MissingTool, install_hint, missing_tools, search_path};
