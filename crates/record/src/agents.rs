//! The machines that carried a load in shares, each as it was.

use serde::{Deserialize, Serialize};

/// One of them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AgentResult {
    /// As it was asked for: a host.
    pub name: String,
    /// What the machine calls itself.
    pub node: String,
    /// Cores that its load threads might run on.
    pub cores: u32,
    /// Its load threads.
    pub threads: u32,
    /// What carried its share: `io_uring` or `epoll`.
    pub io: String,
    /// Connections of its share.
    pub connections: u32,
    /// Requests intended within the window that it told of.
    pub intended: u64,
    /// Share of the window that its busiest load thread was on a CPU, 0 to 1; absent of one that was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_share: Option<f64>,
    /// For how long its threads were kept from running by a CPU quota, of the window, seconds; absent where that can't be
    /// seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_s: Option<f64>,
    /// How late its requests went out by its own fault, 99th percentile, µs; absent where it sent none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator_lag_p99_us: Option<f64>,
    /// How late it saw the window open, the latest of its threads, µs; absent of one that was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin_late_us: Option<f64>,
    /// Within how much of the agreed instant its clock can have begun, µs.
    pub clock_bound_us: f64,
    /// Whether its clock went otherwise than a clock may, so that the bound does not hold.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clock_jumped: bool,
    /// How much of the window it had loaded when it ended its load by itself, seconds; absent of one that did not. An agent does so
    /// that does not hear of whoever conducts it for half a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_early_s: Option<f64>,
    /// How it was lost, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<AgentLost>,
}

/// How an agent was lost.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct AgentLost {
    /// Up to when it told what it did, from the start of the window on, seconds.
    pub told_to_s: f64,
    /// What was seen of it.
    pub why: String,
    /// Requests of its share that are counted as lost.
    pub requests: u64,
}
