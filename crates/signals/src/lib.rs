//! What Linux tells of processes, sockets and the machine, and a sampler that reads it while a load goes on.
//!
//! Nothing here changes what it looks at: no agent, no debugger. Everything is read from `/proc`, control groups, the
//! JVM's own counters and the kernel's socket diagnosis. One thing does disturb a server, and so it comes after the load:
//! [`java_thread_names`] asks a JVM's own `jcmd`, which stops that JVM for a moment. What can't be read is absent, and
//! that is said.
//!
//! `/proc` is parsed here and not by the `procfs` crate, which turns every field of a file into a value: of the 52 of a
//! process's `stat`, read ten times a second for each process, eight are wanted. The files of control groups, the JVM's
//! counters and the socket diagnosis would be ours to read all the same.
//!
//! Invariant: the sampler paces what is expensive (threads one by one, sockets one by one) by what it cost the last time,
//! so that watching stays within [`BUDGET_CORES`] however many of them there are.
#![forbid(unsafe_code)]

mod accounting;
mod asked;
mod clock;
mod cpu;
mod diag;
mod group_name;
mod groups;
mod jvm;
mod jvm_events;
mod links;
pub mod listener;
mod machine;
mod network;
mod open_files;
mod others;
mod pauses;
pub mod process;
mod process_set;
mod quota;
mod runtime;
mod sampler;
mod summary;
mod thread_names;
mod threads;
mod tool;
pub mod watcher;

pub use accounting::MachineCores;
pub use cpu::{CpuReading, cpu_now};
pub use group_name::is_group_of;
pub use jvm::jit_busy;
pub use jvm_events::JvmEvents;
pub use others::OtherProcesses;
pub use pauses::pauses_by_second;
pub use process_set::{ProcessSet, cgroup_pids};
pub use quota::throttled_s_of_this_process;
pub use sampler::{BUDGET_CORES, Sampled, Sampler, Subject};
pub use summary::{GeneratorUse, ServerSummary, Summary, WholeNames, summarise};
pub use thread_names::java_thread_names;
