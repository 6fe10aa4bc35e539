//! Agents in the pods of one Kubernetes Job: it is created, its pods are waited for, each is reached by port-forward, and all
//! of it is deleted. The pods of the server are watched meanwhile, where that is asked for: by metrics-server (`watch`), or from
//! within (`within`).
//!
//! What is asked of the cluster is asked here; what its answers mean is told by pure functions (`reasons`, `error`, `metrics`,
//! `samples`). The client is asynchronous and has a thread of its own; whoever uses this crate has threads that wait.
//!
//! Invariants: nothing but the Job is created, and where it is asked for a container in each pod of the server, which ends by
//! itself; the Job is deleted on every end, and ends by itself where we don't see ours; every wait has a bound; an error says
//! what to do, and before a load that nothing was sent.
#![forbid(unsafe_code)]

mod cluster;
mod error;
mod inside;
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
mod within;

pub use cluster::Cluster;
pub use error::{Error, Role};
pub use job::{AGENT_PORT, Wanted};
pub use pods::Pods;
pub use stream::{Broken, Reader, Writer};
pub use streams::Streams;
pub use watch::{Watch, Watching};
pub use within::{Found, LOOKED_AT_WITHIN, Looking};

/// Who may look at a server from within its pods: what `kubectl apply` takes.
pub const RBAC_WATCH_PODS: &str = include_str!("../rbac-watch-pods.yaml");
/// Who may start agents in a namespace: the same.
pub const RBAC: &str = include_str!("../rbac.yaml");
