//! Run directories as a run would have written them.

use std::path::{Path, PathBuf};

use record::{MANIFEST_VERSION, Machine, Manifest, RunDir, StackManifest, TRIAL_VERSION, Trial};
use serde_json::json;

/// What a made-up run was asked for.
pub const EXPERIMENT: &str = "title = \"made up\"\nblocks = 6\n";

/// A folder with runs in it.
pub struct Runs {
    dir: tempfile::TempDir,
}

impl Runs {
    pub fn new() -> Self {
        Self { dir: tempfile::Builder::new().prefix("proofload-runs-").tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a run with these trials, and says where it is.
    pub fn write(&self, name: &str, manifest: &Manifest, experiment: &str, trials: &[Trial]) -> String {
        let path = self.path(name);
        let mut run = RunDir::create(&path, experiment).unwrap();
        run.write_manifest(manifest).unwrap();
        for trial in trials {
            run.append(trial).unwrap();
        }
        path.display().to_string()
    }

    /// A run of six blocks of `gin` about this rate.
    pub fn of_rate(&self, name: &str, per_s: f64) -> String {
        self.write(name, &manifest("2026-01-01T00:00:00Z"), EXPERIMENT, &blocks("gin", per_s, 6))
    }
}

pub fn manifest(started: &str) -> Manifest {
    let gin = StackManifest { inputs: Some("abc".into()), ..StackManifest::default() };
    Manifest {
        version: MANIFEST_VERSION,
        proofload: "0.1.0".into(),
        title: "made up".into(),
        started: started.into(),
        seed: 1,
        blocks: 6,
        trials: 6,
        stacks: [("gin".to_owned(), gin)].into(),
        machine: Machine { cores: 2, ..Machine::default() },
        ..Manifest::default()
    }
}

/// Trials of a stack in so many blocks, each at about this rate and none at quite the same.
pub fn blocks(stack: &str, per_s: f64, count: u32) -> Vec<Trial> {
    let noise = |block: u32| 1.0 + 0.003 * f64::from((block * 5 + stack.len() as u32) % 7);
    (0..count).map(|block| at(block, stack, per_s * noise(block))).collect()
}

/// A trial of 50 users whose requests all take as long as the rate leaves them.
pub fn at(block: u32, stack: &str, per_s: f64) -> Trial {
    let (count, us) = ((per_s * 30.0) as u64, 50.0 / per_s * 1e6);
    let times = |us: f64| {
        json!({
            "count": count, "censored": 0, "lower_bounds": [], "mean": us, "p50": us, "p75": us, "p90": us, "p95": us,
            "p99": us * 2.0, "p99_9": us * 3.0, "p99_99": us * 3.0, "max": us * 3.0,
        })
    };
    let none_failed = json!({
        "answered": count, "timed_out": 0, "connect_failed": 0, "reset": 0, "closed_early": 0, "malformed": 0,
        "unsent": 0, "in_flight": 0,
    });
    let load = json!({
        "version": 1, "url": "http://127.0.0.1:1/hello", "interrupted": false, "intended": count,
        "load": {
            "label": "50 connections", "model": "closed", "connections": 50, "threads": 1, "keep_alive": true,
            "warm_up_s": 1.0, "duration_s": 30.0, "timeout_s": 2.0, "seed": 1, "io": "epoll",
        },
        "window": { "start_monotonic_ns": 1, "duration_s": 30.0 },
        "outcomes": none_failed, "answered_as_expected": count,
        "statuses": { "200": count }, "connect_failures": {}, "malformations": {},
        "goodput_per_s": per_s, "throughput_per_s": per_s, "received_bytes_per_s": per_s * 100.0,
        "service_time_us": times(us), "response_time_us": times(us),
        "lag_us": times(1.0), "generator_lag_us": times(1.0),
        "cpu_us_per_request": 5.0, "generator": { "busy_share": 0.1, "cpu_s": 3.0 },
        "connections": {
            "opened": 50, "opening_failures": 0, "closed_by_server": 0, "unsolicited": 0, "backlog_peak": 0,
            "backlog_overflow": 0,
        },
        "littles_law": { "users": 50.0, "throughput_per_s": per_s, "mean_response_s": us / 1e6, "gap": 0.0 },
    });
    let server = json!({
        "command": [], "jvm_flags": [], "boot_s": 1.0, "cpu_us_per_request": 1e6 / per_s, "cpu_cores": 1.0,
        "rss_bytes_max": 1, "threads_max": 1, "thread_groups": {}, "usage": [], "stop_forced": false,
    });
    let contract = json!({
        "status": 200, "head": "", "framing": "length", "wire_bytes": 100, "kept_alive": true,
        "idle_service_time_us": 100.0, "tries": 1,
    });
    trial(block, stack, &json!({ "measured": { "load": load, "server": server, "contract": contract } }))
}

pub fn failed(block: u32, stack: &str) -> Trial {
    trial(block, stack, &json!({ "failed": { "error": "it did not come up" } }))
}

fn trial(block: u32, stack: &str, result: &serde_json::Value) -> Trial {
    let mut trial = json!({
        "version": TRIAL_VERSION, "index": block, "block": block, "round": "hello", "stack": stack,
        "load": "50 connections", "started": "2026-01-01T00:00:00Z",
    });
    let all = trial.as_object_mut().unwrap();
    all.extend(result.as_object().unwrap().clone());
    serde_json::from_value(trial).expect("it is a trial")
}
