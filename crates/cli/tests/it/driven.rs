//! A lab whose one stack is loaded by several drivers, for the tests of drivers in both binaries.

use std::os::unix::fs::symlink;
use std::process::Output;

use crate::common::repository;
use crate::lab::{Lab, target_stack};

/// One round of one stack.
pub const EXPERIMENT: &str = r#"
title = "drivers"
blocks = 1
twin = false
control = false
cool_down_max = "0s"
idle_look = "500ms"
[load]
connections = [16]
warm_up = "300ms"
duration = "2s"
timeout = "10s"
[[round]]
name = "sleep"
endpoint = "sleep"
stacks = ["pool"]
"#;

/// The lab of `experiment`, with a pool of 8 threads that take so long.
pub fn lab(experiment: &str, answer_ms: u32) -> Lab {
    let arguments = format!(r#""--model", "pool", "--threads", "8", "--path", "/sleep={answer_ms}ms""#);
    let pool = target_stack(&arguments).replace("100ms", &format!("{answer_ms}ms"));
    let lab = Lab::new(experiment, &[("pool", &pool)]);
    symlink(repository().join("stacks/_builds"), lab.path("stacks/_builds")).unwrap();
    lab
}

/// Carries the experiment out.
pub fn run(lab: &Lab, arguments: &[&str]) -> Output {
    lab.command().args(arguments).arg(lab.path("test.toml")).output().unwrap()
}
