//! `proofload run` on real processes: failing stacks, Ctrl-C, `kill -9` and resuming.

use std::fs;
use std::net::TcpListener;
use std::process::Stdio;

use rustix::process::Signal;

use crate::common::{processes_with, signal, wait_until};
use crate::lab::{Lab, target_stack, trials};

const MANY: &str = r#"
title = "many"
blocks = 4
cool_down_max = "0s"
twin = false
control = false
[load]
connections = [4]
think = "2ms"
duration = "200ms"
[[round]]
name = "hello"
endpoint = "hello"
stacks = ["one", "two"]
"#;

#[test]
fn stacks_that_fail_are_named_and_the_others_go_on() {
    let good = target_stack(r#""--model", "single""#);
    let wrong = good.replace("body = \"hello\"", "body = \"goodbye\"");
    let dies = good
        .replace("[run]", "[ready]\ntimeout = \"3s\"\n[run]")
        .replace("\"target\"", "\"no-such-command\"");
    let broken_build = good.replace(
        "[run]",
        "[build]\ncommand = [\"sh\", \"-c\", \"echo no luck; exit 3\"]\ninputs = [\"stack.toml\"]\noutput = \"x\"\n[run]",
    );
    let experiment =
        MANY.replace("\"two\"", "\"wrong\", \"dies\", \"unbuilt\"").replace("blocks = 4", "blocks = 2");
    let lab = Lab::new(
        &experiment,
        &[("one", &good), ("wrong", &wrong), ("dies", &dies), ("unbuilt", &broken_build)],
    );
    let output = lab.run();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(4), "{text}{}", String::from_utf8_lossy(&output.stderr));
    for part in ["failed: wrong", "failed: dies", "no-such-command", "left out: unbuilt", "no luck"] {
        assert!(text.contains(part), "the report should say {part:?}:\n{text}");
    }
    let measured = trials(&lab.run_dir()).iter().filter(|trial| trial["measured"].is_object()).count();
    assert_eq!(measured, 2, "the good stack was measured in both blocks");
    assert!(lab.nothing_runs());
}

/// It would be a load beside every trial behind this one.
#[test]
fn what_can_not_be_ended_ends_the_run() {
    // Told to end, it leaves its port to somebody else first.
    let one = r#"
title = "A target"
family = "target"
generation = "timeless"
[run]
command = ["sh", "-c", '''
    "$1" target --listen "127.0.0.1:$0" & server=$!
    trap 'kill $server; wait $server; echo "$0" > "$2/free"; while [ ! -e "$2/held" ]; do sleep 0.02; done; exit' TERM
    wait $server''', "{port}", "{proofload}", "{stack_dir}"]
[[endpoint]]
name = "hello"
path = "/hello"
body = "hello"
"#;
    let lab = Lab::new(&MANY.replace(", \"two\"", ""), &[("one", one)]);
    let free = lab.path("stacks/one/free");
    let told = || fs::read_to_string(&free).ok().filter(|text| text.ends_with('\n'));
    let mut command = lab.command();
    command.arg(lab.path("test.toml")).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    wait_until("it is to end", || told().is_some());
    let addr = format!("127.0.0.1:{}", told().unwrap().trim_end());
    let other = TcpListener::bind(&addr).unwrap();
    fs::write(lab.path("stacks/one/held"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{errors}");
    let says = format!("stack `one` was stopped, but something still listens on {addr}; end it by hand");
    assert!(errors.contains(&says), "{errors}");
    assert_eq!(lab.lines(), 0, "nothing is written down of it");
    drop(other);
    assert!(lab.nothing_runs());
}

/// Which trials of `lab` booted a process: those have its log.
fn booted(lab: &Lab) -> Vec<u64> {
    let trials = trials(&lab.run_dir()).into_iter().filter_map(|trial| trial["index"].as_u64());
    trials.filter(|index| lab.run_dir().join(format!("trials/{index:04}/server.log")).exists()).collect()
}

#[test]
#[ignore = "slow: two experiments of nine trials"]
fn kept_processes_serve_every_block_and_end_with_the_run() {
    let (one, two) = (target_stack(r#""--model", "single""#), target_stack(r#""--model", "pool""#));
    let kept = MANY.replace("blocks = 4", "blocks = 3\nprocesses = \"kept\"").replace("twin = false", "");
    let lab = Lab::new(&kept, &[("one", &one), ("two", &two)]);
    let output = lab.run();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let all = trials(&lab.run_dir());
    assert_eq!(all.len(), 9, "two stacks and a twin, three times each");
    assert!(all.iter().all(|trial| trial["measured"].is_object()), "{all:?}");
    for trial in &all {
        let idle = &trial["measured"]["contract"]["idle_answers"];
        assert_eq!(idle["count"], 100, "kept processes pass on what was asked of them first: {idle}");
        let [low, mean, high] =
            ["mean_low_us", "mean_us", "mean_high_us"].map(|field| idle[field].as_f64().unwrap());
        assert!(0.0 < low && low <= mean && mean <= high, "{idle}");
        assert_eq!(idle["shortest_us"], trial["measured"]["contract"]["warm_service_time_us"]);
    }
    assert_eq!(booted(&lab).len(), 3, "one process each; the twin has one of its own");
    assert!(text.contains("Processes were kept from block to block"), "{text}");
    assert!(lab.nothing_runs());

    let fresh = Lab::new(&kept.replace("kept", "fresh"), &[("one", &one), ("two", &two)]);
    let text = String::from_utf8_lossy(&fresh.run().stdout).into_owned();
    assert_eq!(booted(&fresh).len(), 9);
    assert!(!text.contains("Processes were kept"), "{text}");
}

#[test]
fn ctrl_c_ends_kept_processes_too() {
    let (one, two) = (target_stack(r#""--model", "single""#), target_stack(r#""--model", "pool""#));
    let kept = MANY.replace("blocks = 4", "blocks = 40\nprocesses = \"kept\"");
    let lab = Lab::new(&kept, &[("one", &one), ("two", &two)]);
    let child =
        lab.command().arg(lab.path("test.toml")).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("both are up", || lab.lines() >= 3);
    signal(&child, Signal::INT);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    assert!(lab.nothing_runs());
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_leaves_no_process() {
    let (one, two) = (target_stack(r#""--model", "single""#), target_stack(r#""--model", "pool""#));
    let lab = Lab::new(MANY, &[("one", &one), ("two", &two)]);
    let child = lab
        .command()
        .arg(lab.path("test.toml"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("two trials are written", || lab.lines() >= 2);
    signal(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.contains("of 8 planned trials were made"), "{text}");
    assert!(lab.nothing_runs(), "left: {:?}", processes_with(lab.root()));
}

#[test]
fn after_kill_9_nothing_is_left_running_and_resuming_completes_the_run() {
    let (one, two) = (target_stack(r#""--model", "single""#), target_stack(r#""--model", "pool""#));
    let lab = Lab::new(MANY, &[("one", &one), ("two", &two)]);
    let mut child =
        lab.command().arg(lab.path("test.toml")).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("three trials are written", || lab.lines() >= 3);
    signal(&child, Signal::KILL);
    child.wait().unwrap();
    let before = fs::read(lab.run_dir().join("trials.jsonl")).unwrap();
    wait_until("every process is gone", || lab.nothing_runs());

    let output = lab.command().arg("--resume").arg(lab.run_dir()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let after = fs::read(lab.run_dir().join("trials.jsonl")).unwrap();
    assert!(after.starts_with(&before), "finished trials stay as they were");
    let mut indices: Vec<u64> =
        trials(&lab.run_dir()).iter().map(|trial| trial["index"].as_u64().unwrap()).collect();
    indices.sort_unstable();
    assert_eq!(indices, (0..8).collect::<Vec<u64>>(), "every planned trial once");
    assert!(lab.nothing_runs());
}

/// Who goes on with a run is told what failed before, and does not end it without what was there when it began.
#[test]
#[ignore = "slow: an experiment, and twice more of it"]
fn a_run_that_goes_on_forgets_no_failure_and_passes_over_nobody() {
    let good = target_stack(r#""--model", "single""#);
    let builds = "[build]\ncommand = [\"sh\", \"-c\", \"test -e {stack_dir}/ok && touch {build_dir}/x\"]\n\
                  inputs = [\"stack.toml\"]\noutput = \"x\"\n[run]";
    let one = good.replace("[run]", builds);
    let dies = good
        .replace("[run]", "[ready]\ntimeout = \"3s\"\n[run]")
        .replace("\"target\"", "\"no-such-command\"");
    let lab = Lab::new(&MANY.replace("blocks = 4", "blocks = 12"), &[("one", &one), ("two", &dies)]);
    let ok = lab.path("stacks/one/ok");
    fs::write(&ok, "").unwrap();
    let child =
        lab.command().arg(lab.path("test.toml")).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("both were tried", || lab.lines() >= 2);
    signal(&child, Signal::INT);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    let resumed = || lab.command().arg("--resume").arg(lab.run_dir()).output().unwrap();

    fs::remove_file(&ok).unwrap();
    fs::remove_file(lab.path("stacks/one/build/x")).unwrap();
    let output = resumed();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("`one` can't be measured any more"), "{errors}");
    let manifest = || fs::read_to_string(lab.run_dir().join("manifest.json")).unwrap();
    assert!(!manifest().contains("\"complete\": true"));

    fs::write(&ok, "").unwrap();
    assert_eq!(resumed().status.code(), Some(4), "a trial failed before it was interrupted");
    assert!(manifest().contains("\"complete\": true") && lab.nothing_runs());
}

#[test]
fn a_run_of_another_machine_or_of_other_sources_is_not_gone_on_with() {
    let (one, two) = (target_stack(r#""--model", "single""#), target_stack(r#""--model", "pool""#));
    let lab = Lab::new(&MANY.replace("blocks = 4", "blocks = 1"), &[("one", &one), ("two", &two)]);
    assert_eq!(lab.run().status.code(), Some(0));
    let manifest = lab.run_dir().join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let resumed = |text: String| {
        fs::write(&manifest, text).unwrap();
        let output = lab.command().arg("--resume").arg(lab.run_dir()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, errors) = resumed(text.replace("\"cores\": ", "\"cores\": 7"));
    assert!(code == Some(2) && errors.contains("this machine has"), "{errors}");
    let (code, errors) = resumed(text.replacen("\"inputs\": null", "\"inputs\": \"57674b12d2988ffd\"", 1));
    assert!(code == Some(2) && errors.contains("other sources"), "{errors}");
    let of_two = lab.path("stacks/two/stack.toml");
    fs::write(&of_two, one.replace("single", "thread-per-connection")).unwrap();
    let (code, errors) = resumed(text.clone());
    assert!(
        code == Some(2) && errors.contains("`two` is made from other sources, started otherwise"),
        "{errors}"
    );
    fs::write(&of_two, format!("# Nobody is another for a word on it.\n{two}")).unwrap();
    assert_eq!(resumed(text).0, Some(0), "and as it was, it is complete");
    assert!(fs::read_to_string(&manifest).unwrap().contains("\"complete\": true"));
}
