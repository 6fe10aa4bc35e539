//! Agents in the pods of one Kubernetes Job: it is created, its pods are waited for, each is reached by port-forward, and all
//! of it is deleted. The pods of the server are watched meanwhile, where that is asked for.
//!
//! What is asked of the cluster is asked here; what its answers mean is told by pure functions (`reasons`, `error`, `metrics`,
//! `samples`). The client is asynchronous and has a thread of its own; whoever uses this crate has threads that wait.
//!
//! Invariants: nothing but the Job is created; it is deleted on every end, and ends by itself where we don't see ours; every
//! wait has a bound; an error says what to do, and before a load that nothing was sent.
#![forbid(unsafe_code)]

mod cluster;
mod error;
mod job;
mod metrics;
mod pods;
mod quantity;
mod reasons;
mod rights;
mod samples;
mod stream;
mod streams;
mod watch;

pub use cluster::Cluster;
pub use error::Error;
pub use job::{AGENT_PORT, Wanted};
pub use pods::Pods;
pub use stream::{Broken, Reader, Writer};
pub use streams::Streams;
pub use watch::{Watch, Watching};

/// Who may start agents in a namespace: what `kubectl apply` takes.
pub const RBAC: &str = include_str!("../rbac.yaml");
