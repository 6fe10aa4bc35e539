//! `kill -9` at random instants: a run that is resumed goes on as it would have, and loses no finished trial.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use crate::common::{signal, wait_until};
use crate::lab::{Lab, target_stack, trials};

const KILLS: u64 = 20;

/// Short trials in a random order, a twin among them, and more blocks than at least, since nothing is ever so precise.
const EXPERIMENT: &str = r#"
title = "killed"
seed = 11
cool_down_max = "0s"
blocks = 6
blocks_max = 8
precision = "0.0001%"
control = false
[load]
connections = [4]
duration = "100ms"
[[round]]
name = "hello"
endpoint = "hello"
stacks = ["one", "two"]
[[round]]
name = "again"
endpoint = "hello"
stacks = ["one", "two"]
"#;

fn lab() -> Lab {
    let (one, two) = (target_stack(r#""--model", "event-loop""#), target_stack(r#""--model", "pool""#));
    Lab::new(EXPERIMENT, &[("one", &one), ("two", &two)])
}

/// What was made, in order, without what was measured of it.
fn plan(lab: &Lab) -> Vec<String> {
    let of = |trial: &serde_json::Value| {
        let part = |name: &str| trial[name].to_string();
        ["index", "block", "round", "stack", "role", "load"].map(part).join(" ")
    };
    trials(&lab.run_dir()).iter().map(of).collect()
}

/// The command that begins the run, or goes on with it.
fn next(lab: &Lab) -> Command {
    let mut command = lab.command();
    let runs: Vec<_> = fs::read_dir(lab.path("runs")).into_iter().flatten().filter_map(Result::ok).collect();
    match runs.first() {
        Some(run) if run.path().join("manifest.json").exists() => command.arg("--resume").arg(run.path()),
        // Killed before there was anything to resume.
        Some(run) => {
            fs::remove_dir_all(run.path()).unwrap();
            command.arg(lab.path("test.toml"))
        }
        None => command.arg(lab.path("test.toml")),
    };
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[test]
#[ignore = "slow: a run killed and resumed twenty times"]
fn a_run_killed_at_twenty_random_instants_gives_the_same_plan_and_loses_nothing() {
    let (whole, killed) = (lab(), lab());
    assert_eq!(whole.run().status.code(), Some(0));

    let mut written = Vec::new();
    let mut random = 88_172_645_463_325_252_u64;
    for kill in 0..KILLS {
        let mut child = next(&killed).spawn().unwrap();
        // Xorshift (Marsaglia, 2003).
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        std::thread::sleep(Duration::from_millis(20 + random % 1400));
        signal(&child, Signal::KILL);
        child.wait().unwrap();
        wait_until("every process is gone", || killed.nothing_runs());
        let file =
            fs::read_dir(killed.path("runs")).ok().and_then(|mut runs| Some(runs.next()?.ok()?.path()));
        let now = file.and_then(|run| fs::read(run.join("trials.jsonl")).ok()).unwrap_or_default();
        let whole_lines = now.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        assert!(now.starts_with(&written), "kill {kill} lost a finished trial");
        written = now[..whole_lines].to_vec();
    }
    assert!(next(&killed).status().unwrap().success());
    let after = fs::read(killed.run_dir().join("trials.jsonl")).unwrap();
    assert!(after.starts_with(&written), "finished trials stay as they were");
    assert_eq!(plan(&killed), plan(&whole), "the same trials in the same order");
    assert_eq!(
        plan(&whole).len(),
        2 * 3 * 8,
        "two rounds of two stacks and a twin, in as many blocks as may be"
    );
}
