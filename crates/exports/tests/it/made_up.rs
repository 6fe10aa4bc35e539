//! Runs as they would have been recorded.

use exports::{ExportedRun, Family, of_run};
use record::{Machine, Manifest, Trial};
use serde_json::{Value, json};
use units::Duration;

pub fn manifest(title: &str) -> Manifest {
    Manifest {
        version: 1,
        proofload: "0.1.0".into(),
        title: title.into(),
        started: "2026-01-01T00:00:00Z".into(),
        machine: Machine {
            cores: 2,
            kernel: Some("6.12".into()),
            cpu: Some("a CPU".into()),
            ..Machine::default()
        },
        ..Manifest::default()
    }
}

/// Times of `count` samples about `us`; with censored ones, the tail is a bound.
fn times(count: u64, censored: u64, us: f64) -> Value {
    let lower_bounds =
        if censored > 0 { json!(["mean", "p99", "p99_9", "p99_99", "max"]) } else { json!([]) };
    json!({
        "count": count, "censored": censored, "lower_bounds": lower_bounds, "mean": us, "p50": us, "p75": us, "p90": us,
        "p95": us, "p99": us * 2.0, "p99_9": us * 3.0, "p99_99": us * 3.0, "max": us * 3.0,
    })
}

/// What a load of 50 connections came to, `timed_out` of its 1000 requests without an answer.
pub fn load(per_s: f64, timed_out: u64) -> Value {
    let all = || times(1000, timed_out, 50.0 / per_s * 1e6);
    json!({
        "version": 1, "url": "http://127.0.0.1:1/hello?token=secret", "interrupted": false, "intended": 1000,
        "load": {
            "label": "50 connections", "model": "closed", "connections": 50, "threads": 1, "keep_alive": true,
            "warm_up_s": 1.0, "duration_s": 30.0, "timeout_s": 2.0, "seed": 1, "io": "epoll", "rate_per_s": 2000.0,
        },
        "window": { "start_monotonic_ns": 1, "duration_s": 30.0 },
        "outcomes": {
            "answered": 1000 - timed_out, "timed_out": timed_out, "connect_failed": 0, "reset": 0, "closed_early": 0,
            "malformed": 0, "unsent": 0, "backlog_overflow": 0, "in_flight": 0,
        },
        "answered_as_expected": 1000 - timed_out, "statuses": { "200": 1000 - timed_out },
        "connect_failures": { "refused": 3 }, "tls_failures": { "certificate": 1 }, "malformations": { "bad_status_line": 2 },
        "goodput_per_s": per_s, "throughput_per_s": per_s, "received_bytes_per_s": per_s * 100.0,
        "service_time_us": all(), "first_byte_us": all(), "response_time_us": all(), "lag_us": all(), "generator_lag_us": all(),
        "receive_lag_us": all(), "cpu_us_per_request": 5.0, "generator": { "busy_share": 0.1, "cpu_s": 3.0 },
        "connections": {
            "opened": 50, "opening_failures": 0, "closed_by_server": 0, "unsolicited": 0, "backlog_peak": 0,
            "backlog_overflow": 0,
        },
        "littles_law": { "users": 50.0, "throughput_per_s": per_s, "mean_response_s": 50.0 / per_s, "gap": 0.0 },
        "tls": {
            "agreed_otherwise": 0, "verified": true, "full_handshakes": 40, "resumed_handshakes": 10,
            "failed_handshakes": { "certificate": 1 }, "connect_us": times(50, 0, 100.0),
            "handshake_us": times(50, 0, 900.0),
        },
        "steps": [{ "label": "log in", "transaction": false, "failed": 1, "response_time_us": all() }],
    })
}

pub fn measured(block: u32, stack: &str, role: &str, timed_out: u64) -> Trial {
    let server = || {
        json!({
            "command": [], "jvm_flags": [], "boot_s": 1.0, "cpu_us_per_request": 100.0, "cpu_cores": 1.0,
            "rss_bytes_max": 1 << 30, "threads_max": 9, "thread_groups": {}, "usage": [], "stop_forced": false,
        })
    };
    let contract = json!({
        "status": 200, "head": "", "framing": "length", "wire_bytes": 100, "kept_alive": true,
        "idle_service_time_us": 100.0, "tries": 1,
    });
    let upstreams = json!([{ "stack": "origin", "server": server() }]);
    let result = json!({
        "load": load(1000.0 + f64::from(block), timed_out), "server": server(), "upstreams": upstreams,
        "contract": contract,
    });
    trial(block, stack, role, &json!({ "measured": result }))
}

pub fn failed(block: u32, stack: &str) -> Trial {
    trial(block, stack, "stack", &json!({ "failed": { "error": "it did not\ncome \"up\"" } }))
}

fn trial(block: u32, stack: &str, role: &str, result: &Value) -> Trial {
    let mut trial = json!({
        "version": 1, "index": block, "block": block, "round": "hello", "stack": stack, "role": role,
        "load": "50 connections", "started": "2026-01-01T00:00:10Z",
    });
    let all = trial.as_object_mut().unwrap();
    all.extend(result.as_object().unwrap().clone());
    serde_json::from_value(trial).expect("it is a trial")
}

/// The families of a run whose measured trials have a log with one time and one bound.
pub fn families(title: &str, trials: &[Trial]) -> Vec<Family> {
    let manifest = manifest(title);
    of_run(&ExportedRun { manifest: &manifest, trials }, &mut |_| {
        let mut times = stats::Distribution::default();
        times.record(Duration::from_millis(3));
        times.record_censored(Duration::from_secs(2));
        Some(times)
    })
}
