//! An experiment of its own, with stacks of its own, for the real binary.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::common::{processes_with, proofload};

/// A folder of its own with stacks, an experiment and runs. Its path is on the command line of every
/// process that its stacks start, so that none can hide.
pub struct Lab {
    dir: tempfile::TempDir,
}

impl Lab {
    pub fn new(experiment: &str, stacks: &[(&str, &str)]) -> Self {
        let dir = tempfile::Builder::new().prefix("proofload-lab-").tempdir().unwrap();
        for (id, manifest) in stacks {
            let folder = dir.path().join("stacks").join(id);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("stack.toml"), manifest).unwrap();
        }
        fs::write(dir.path().join("test.toml"), experiment).unwrap();
        Self { dir }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn command(&self) -> Command {
        let mut command = proofload();
        command.arg("run").arg("--stacks").arg(self.path("stacks")).arg("--runs").arg(self.path("runs"));
        command
    }

    pub fn run(&self) -> Output {
        self.command().arg(self.path("test.toml")).output().unwrap()
    }

    pub fn run_dir(&self) -> PathBuf {
        let mut runs = fs::read_dir(self.path("runs")).unwrap();
        runs.next().expect("there is a run").unwrap().path()
    }

    pub fn lines(&self) -> usize {
        let Ok(mut runs) = fs::read_dir(self.path("runs")) else { return 0 };
        let Some(Ok(run)) = runs.next() else { return 0 };
        fs::read_to_string(run.path().join("trials.jsonl")).unwrap_or_default().matches('\n').count()
    }

    pub fn nothing_runs(&self) -> bool {
        processes_with(self.root()).is_empty()
    }

    /// What is on the command line of all of its processes.
    pub fn root(&self) -> &str {
        self.dir.path().to_str().unwrap()
    }
}

/// The manifest of a calibration server.
pub fn target_stack(arguments: &str) -> String {
    format!(
        r#"
title = "A target"
family = "target"
generation = "timeless"
[run]
command = ["{{proofload}}", "target", "--listen", "127.0.0.1:{{port}}", "--truth", "{{work_dir}}/truth.csv", {arguments}]
[[endpoint]]
name = "hello"
path = "/hello"
body = "hello"
[[endpoint]]
name = "sleep"
path = "/sleep"
body = "hello"
delay = "100ms"
"#
    )
}

/// The same, which takes 5 ms for `hello`: a load of it leaves the cores to other tests.
pub fn unhurried_stack(arguments: &str) -> String {
    target_stack(&format!(r#"{arguments}, "--path", "/hello=5ms""#))
        .replace("path = \"/hello\"\nbody", "path = \"/hello\"\ndelay = \"5ms\"\nbody")
}

/// A pool and an event loop.
pub fn two_targets(experiment: &str) -> Lab {
    // A pool whose every answer takes 20 ms carries 8 / 20 ms = 400/s, whatever the machine.
    let pool = target_stack(r#""--model", "pool", "--threads", "8", "--path", "/hello=20ms""#)
        .replace("path = \"/hello\"\nbody", "path = \"/hello\"\ndelay = \"20ms\"\nbody");
    let event_loop = pool.replace("\"pool\", \"--threads\", \"8\"", "\"event-loop\"");
    Lab::new(experiment, &[("pool", &pool), ("loop", &event_loop)])
}

/// The trials that are written down.
pub fn trials(run: &Path) -> Vec<Value> {
    let text = fs::read_to_string(run.join("trials.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
