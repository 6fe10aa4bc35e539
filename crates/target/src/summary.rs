//! What a server did, from its start to its stop.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use units::{Duration, Instant};

use crate::config::Config;
use crate::delay::Delay;
use crate::planted::Planted;

/// What a server did, from its start to its stop. `requests` = all of `answers` + `unanswered`.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// When it began to listen.
    pub started: Instant,
    /// When it was told to stop.
    pub stopped: Instant,
    /// Requests whose head arrived, and what was refused as none.
    pub requests: u64,
    /// Answers handed to the kernel whole, by status.
    pub answers: BTreeMap<u16, u64>,
    /// Requests without an answer: silence was asked for, the client left, or the server stopped.
    pub unanswered: u64,
    /// Connections accepted.
    pub connections: u64,
    /// Connections that could not be accepted or served, for want of descriptors, memory or threads.
    pub connections_failed: u64,
    /// When it stood still, as (begin, end), oldest first; the first 10 000.
    pub stalls: Vec<(Instant, Instant)>,
    /// The stalls that found no place in the list.
    pub stalls_unlisted: u64,
    /// What it was asked to do.
    pub config: Config,
}

impl Summary {
    /// As written beside the truth file. Times are in nanoseconds, sizes in bytes.
    pub fn to_json(&self) -> Value {
        let stalls: Vec<_> = self.stalls.iter().map(|(from, to)| [from.as_nanos(), to.as_nanos()]).collect();
        let answers: BTreeMap<String, u64> =
            self.answers.iter().map(|(status, count)| (status.to_string(), *count)).collect();
        json!({
            "started_ns": self.started.as_nanos(),
            "stopped_ns": self.stopped.as_nanos(),
            "requests": self.requests,
            "answers": answers,
            "unanswered": self.unanswered,
            "connections": self.connections,
            "connections_failed": self.connections_failed,
            "stalls_ns": stalls,
            "stalls_unlisted": self.stalls_unlisted,
            "config": config_json(&self.config),
        })
    }
}

fn config_json(config: &Config) -> Value {
    let paths: BTreeMap<&str, Value> =
        config.paths.iter().map(|rule| (rule.path.as_str(), delay_json(rule.delay))).collect();
    json!({
        "listen": config.listen.to_string(),
        "model": config.model.to_string(),
        "pool_threads": config.pool_threads,
        "backlog": config.backlog,
        "path_delays_ns": paths,
        "body_bytes": config.body_bytes.map(|bytes| bytes.0),
        "stall_for_ns": config.stall.map(|stall| stall.for_.as_nanos()),
        "stall_every_ns": config.stall.map(|stall| stall.every.as_nanos()),
        "close_every": config.close_every,
        "error_share": config.error_share,
        "never_answer": config.never_answer,
        "seed": config.seed.0,
        "tls": config.tls.is_some(),
        "http2": config.http2,
        "streams_max": config.streams_max,
        "planted": planted_json(&config.planted),
    })
}

/// What is not planted is null.
fn planted_json(planted: &Planted) -> Value {
    json!({
        "serial_ns": planted.serial.map(Duration::as_nanos),
        "burn_ns": planted.burn.map(|burn| burn.per_request.as_nanos()),
        "burn_under_lock": planted.burn.map(|burn| burn.under_lock),
        "block_loop_ns": planted.block_loop.map(Duration::as_nanos),
        "accept_pause_ns": planted.accept_pause.map(Duration::as_nanos),
        "log_bytes": planted.log.as_ref().map(|log| log.bytes_per_request.0),
        "log_sync": planted.log.as_ref().map(|log| log.sync),
        "warm_up_ns": planted.warm_up.map(|warm_up| warm_up.over.as_nanos()),
        "warm_up_burn_ns": planted.warm_up.map(|warm_up| warm_up.burn_at_first.as_nanos()),
        "leak_bytes": planted.leak.map(|leak| leak.bytes_per_request.0),
        "leak_bytes_max": planted.leak.map(|leak| leak.bytes_max.0),
        "fail_fast": planted.fail_fast,
        "split_answer": planted.split_answer,
    })
}

/// A fixed delay is a number, as it always was; a distribution is an object with its name.
fn delay_json(delay: Delay) -> Value {
    match delay {
        Delay::Fixed(delay) => json!(delay.as_nanos()),
        Delay::Exponential { mean } => json!({ "exponential": { "mean": mean.as_nanos() } }),
        Delay::Bimodal { fast, slow, slow_share } => {
            let (fast, slow) = (fast.as_nanos(), slow.as_nanos());
            json!({ "bimodal": { "fast": fast, "slow": slow, "slow_share": slow_share } })
        }
    }
}
