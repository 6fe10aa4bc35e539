//! How trials are made: bursts until steady, a twin and a control in each block, cores of their own.

use std::fs;

use serde_json::Value;

use crate::common::{proofload, repository};
use crate::lab::{Lab, target_stack, trials, two_targets};

fn named<'a>(trials: &'a [Value], role: &str) -> Vec<&'a Value> {
    trials.iter().filter(|trial| trial["role"].as_str().unwrap_or("stack") == role).collect()
}

#[test]
#[ignore = "slow: eight trials that warm up until steady"]
fn each_block_has_a_twin_and_a_control_and_warm_ups_go_on_until_steady() {
    let lab = two_targets(
        r#"
title = "trials"
blocks = 2
cool_down_max = "0s"
bursts = { length = "200ms", pause = "20ms", least = 3, most = 5 }
[load]
connections = [16]
warm_up = "steady"
duration = "300ms"
[[round]]
name = "hello"
endpoint = "hello"
stacks = ["pool", "loop"]
"#,
    );
    let output = lab.run();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let all = trials(&lab.run_dir());
    assert_eq!((all.len(), named(&all, "stack").len()), (8, 4), "{text}");
    assert!(named(&all, "twin").iter().all(|trial| trial["stack"] == "pool"));
    for control in named(&all, "control") {
        assert_eq!((&control["stack"], &control["load"]), (&"control".into(), &"16 connections".into()));
    }
    for trial in named(&all, "stack") {
        let bursts = trial["measured"]["warm_up"]["bursts"].as_array().unwrap();
        assert!((3..=5).contains(&bursts.len()), "{trial}");
        // No JVM, and so nothing that compiles.
        assert!(bursts.iter().all(|burst| burst["jit_share"].is_null()), "{trial}");
    }
    for part in ["control: the client reaches", "A/A: pool to itself", "Client and servers shared all cores"]
    {
        assert!(text.contains(part), "the report should say {part:?}:\n{text}");
    }
}

#[test]
fn client_and_servers_are_kept_on_cores_of_their_own() {
    let lab = two_targets(
        r#"
title = "split"
blocks = 1
cool_down_max = "0s"
placement = "split"
idle_look = "100ms"
[load]
connections = [8]
think = "5ms"
duration = "300ms"
[[round]]
name = "hello"
endpoint = "hello"
stacks = ["loop"]
"#,
    );
    let output = lab.run();
    let errors = String::from_utf8_lossy(&output.stderr);
    if std::thread::available_parallelism().unwrap().get() < 2 {
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains("fewer than two cores"), "{errors}");
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let all = trials(&lab.run_dir());
    assert_eq!(all.len(), 3, "the stack, its twin and the control");
    for trial in all {
        let cores = &trial["measured"]["surroundings"];
        let (client, servers) =
            (cores["client_cpus"].as_str().unwrap(), cores["server_cpus"].as_str().unwrap());
        assert!(!client.is_empty() && !servers.is_empty() && client != servers, "{cores}");
    }
    assert!(String::from_utf8_lossy(&output.stdout).contains("cores of their own"));
}

/// On a real JVM: its compilers are seen at work.
#[test]
#[ignore = "slow: builds and boots a JVM"]
fn the_compilers_of_a_jvm_are_watched() {
    let experiment = r#"
title = "jit"
blocks = 1
twin = false
control = false
bursts = { length = "500ms", pause = "50ms", least = 3, most = 3 }
[load]
connections = [8]
warm_up = "steady"
duration = "300ms"
[[round]]
name = "hello"
endpoint = "hello"
stacks = ["java-http-fixed-pool"]
"#;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("jit.toml");
    fs::write(&file, experiment).unwrap();
    let output = proofload().arg("run").arg(&file).arg("--runs").arg(dir.path()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    if errors.contains("is missing") {
        println!("NOT TRIED: {errors}");
        return;
    }
    assert!(repository().join("stacks").exists() && output.status.code() == Some(0), "{errors}");
    let run =
        fs::read_dir(dir.path()).unwrap().filter_map(Result::ok).map(|it| it.path()).find(|it| it.is_dir());
    let all = trials(&run.unwrap());
    let bursts = all[0]["measured"]["warm_up"]["bursts"].as_array().unwrap();
    let shares: Vec<f64> = bursts.iter().map(|burst| burst["jit_share"].as_f64().unwrap()).collect();
    assert!(shares[0] > 0.02, "a JVM compiles while it starts to work: {shares:?}");
}

/// The same cell in two blocks, on one process if that stays up between them.
fn two_blocks(timeout: &str, stack: &str) -> Vec<Value> {
    let experiment = format!(
        r#"
title = "kept"
blocks = 2
twin = false
control = false
cool_down_max = "0s"
processes = "kept"
idle_look = "50ms"
[load]
connections = [2]
duration = "500ms"
timeout = "{timeout}"
[[round]]
name = "sleep"
endpoint = "sleep"
stacks = ["one"]
"#
    );
    let lab = Lab::new(&experiment, &[("one", stack)]);
    lab.run();
    trials(&lab.run_dir())
}

#[test]
#[ignore = "slow: waits for ten seconds"]
fn a_process_that_may_still_work_for_those_who_gave_up_is_not_kept() {
    let stack = target_stack(r#""--model", "event-loop""#);
    let boot_s =
        |trial: &Value| trial["measured"]["server"]["boot_s"].as_f64().unwrap_or_else(|| panic!("{trial}"));
    for (timeout, is_kept) in [("20ms", false), ("5s", true)] {
        let all = two_blocks(timeout, &stack);
        let timed_out = all[0]["measured"]["load"]["outcomes"]["timed_out"].as_u64().unwrap();
        assert_eq!((all.len(), timed_out > 0), (2, !is_kept), "{timeout}");
        // No two boots take the same time to the nanosecond.
        assert_eq!(boot_s(&all[0]).to_bits() == boot_s(&all[1]).to_bits(), is_kept, "{timeout}");
    }
}

/// Of a stack one endpoint of which is not as it should be, the other is measured all the same, and the first tried once.
#[test]
fn a_cell_that_failed_is_tried_no_more_and_others_of_its_stack_are() {
    let stack =
        target_stack(r#""--model", "event-loop""#).replacen("body = \"hello\"", "body = \"another\"", 1);
    let experiment = r#"
title = "cells"
blocks = 2
twin = false
control = false
cool_down_max = "0s"
idle_look = "50ms"
[load]
connections = [2]
duration = "300ms"
[[round]]
name = "hello"
endpoint = "hello"
stacks = ["one"]
[[round]]
name = "sleep"
endpoint = "sleep"
stacks = ["one"]
"#;
    let lab = Lab::new(experiment, &[("one", &stack)]);
    lab.run();
    let all = trials(&lab.run_dir());
    let of = |round: &str, field: &str| {
        all.iter().filter(|it| it["round"] == round && !it[field].is_null()).count()
    };
    assert_eq!((of("hello", "failed"), of("hello", "measured")), (1, 0), "{all:#?}");
    assert_eq!((of("sleep", "failed"), of("sleep", "measured")), (0, 2), "{all:#?}");
}
