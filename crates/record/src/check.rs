//! What a stack is without load: `proofload check --json` prints a list of these.

use serde::{Deserialize, Serialize};

use crate::trial::Contract;

/// Version of [`StackCheck`].
pub const CHECK_VERSION: u32 = 1;

/// One stack that was checked, or why it was not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StackCheck {
    /// [`CHECK_VERSION`] of the writer.
    pub version: u32,
    /// Which stack.
    pub stack: String,
    /// Its title.
    pub title: String,
    /// Which generation of its family.
    pub generation: String,
    /// The stack right behind it, where it forwards to one.
    pub upstream: Option<String>,
    /// What came of it.
    #[serde(flatten)]
    pub result: CheckResult,
}

/// What came of a check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckResult {
    /// It came up, answered and went.
    Checked(Box<Checked>),
    /// Something it needs is not on this machine.
    LeftOut {
        /// What, and how to get it.
        why: String,
    },
    /// It did not build, come up, answer or go.
    Failed {
        /// Why, with what to do.
        error: String,
    },
}

/// What was seen of a stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// Why nothing is known of it but its answers, where that is so: it was running already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_measured: Option<String>,
    /// From the start of its process to its first right answer, seconds; absent of what was running already.
    pub boot_s: Option<f64>,
    /// Resident memory after that, bytes; likewise.
    pub rss_bytes: Option<u64>,
    /// Threads after that; likewise.
    pub threads: Option<u32>,
    /// What each endpoint answered.
    pub endpoints: Vec<EndpointCheck>,
    /// After how many requests the server closes a connection; `None` where it had not after `requests_tried`.
    pub requests_per_connection: Option<u32>,
    /// Requests that were tried on one connection.
    pub requests_tried: u32,
    /// The most connections it held to its upstream while many clients asked at once, where its manifest sets a
    /// bound.
    pub upstream_connections_max: Option<u32>,
    /// What is not as its manifest says.
    pub deviations: Vec<String>,
    /// From the request to stop to its last process's end, seconds; likewise.
    pub stop_s: Option<f64>,
    /// Whether it had to be killed.
    pub stop_forced: bool,
}

/// What an endpoint answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EndpointCheck {
    /// Its name; stacks that have an endpoint of one name are asked for the same work.
    pub name: String,
    /// Its path.
    pub path: String,
    /// The answer's body; what is not UTF-8 is replaced.
    pub body: String,
    /// The rest of the answer.
    pub contract: Contract,
}
