//! `proofload run --driver`: the real wrk and the real JMeter in our place.

use std::os::unix::fs::symlink;
use std::process::{Output, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::common::{in_one_of_three_tries, processes_with, repository, signal, wait_until};
use crate::lab::{Lab, target_stack, trials};

const EXPERIMENT: &str = r#"
title = "drivers"
blocks = 1
twin = false
control = false
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

fn lab(experiment: &str) -> Lab {
    let pool = target_stack(r#""--model", "pool", "--threads", "8""#);
    let lab = Lab::new(experiment, &[("pool", &pool)]);
    symlink(repository().join("stacks/_builds"), lab.path("stacks/_builds")).unwrap();
    lab
}

fn run(lab: &Lab, arguments: &[&str]) -> Output {
    lab.command().args(arguments).arg(lab.path("test.toml")).output().unwrap()
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// 8 threads that take 100 ms answer 80 a second, whoever asks.
fn is_near_80(trial: &Value) -> Result<(), String> {
    let goodput =
        trial["measured"]["load"]["goodput_per_s"].as_f64().ok_or(format!("not measured: {trial}"))?;
    // A window's ends cut a wave of 8 off, or JMeter's begins with one.
    if (goodput - 80.0).abs() > 8.0 {
        return Err(format!("{}: {goodput}/s instead of 80/s", trial["driver"]));
    }
    Ok(())
}

#[test]
fn wrk_measures_and_what_it_cannot_know_is_absent_and_named() {
    in_one_of_three_tries(|| {
        let lab = lab(&EXPERIMENT.replace("control = false", "control = false\ndriver = \"wrk\""));
        let output = run(&lab, &[]);
        let (text, errors) = texts(&output);
        assert_eq!(output.status.code(), Some(0), "{text}{errors}");
        let trial = trials(&lab.run_dir()).remove(0);
        is_near_80(&trial)?;
        assert_eq!(trial["driver"], "wrk");
        let load = &trial["measured"]["load"];
        assert_eq!(load["response_time_us"]["count"], 0, "{load}");
        assert!(load["service_time_us"]["p99"].as_f64().unwrap() > 100_000.0, "{load}");
        assert!(load["service_time_us"]["p99_9"].is_null(), "{load}");
        assert_eq!((&load["driver"]["name"], load["load"]["io"].as_str()), (&"wrk".into(), Some("wrk")));
        assert!(load["driver"]["version"].as_str().unwrap().starts_with("wrk "), "{load}");
        assert!(load["driver"]["cannot_know"][0].as_str().unwrap().contains("due"), "{load}");
        assert!(load["driver"]["cpu_cores"].as_f64().unwrap() > 0.0, "{load}");
        assert!(load["littles_law"]["gap"].as_f64().unwrap() < 0.2, "{load}");
        assert!(text.contains("sleep, 16 connections, by wrk"), "{text}");
        assert!(text.contains("can't know:"), "{text}");
        assert!(lab.nothing_runs());
        Ok(())
    });
}

#[test]
fn all_three_measure_a_cell_in_one_block_and_stand_side_by_side() {
    in_one_of_three_tries(|| {
        let lab = lab(EXPERIMENT);
        let output = run(&lab, &["--driver", "all"]);
        let (text, errors) = texts(&output);
        assert_eq!(output.status.code(), Some(0), "{text}{errors}");
        let all = trials(&lab.run_dir());
        let mut drivers: Vec<&str> =
            all.iter().map(|trial| trial["driver"].as_str().unwrap_or("proofload")).collect();
        drivers.sort_unstable();
        assert_eq!(drivers, ["jmeter", "proofload", "wrk"], "{text}{errors}");
        assert!(all.iter().all(|trial| trial["block"] == 0));
        all.iter().try_for_each(is_near_80)?;
        let jmeter = all.iter().find(|trial| trial["driver"] == "jmeter").unwrap();
        let load = &jmeter["measured"]["load"];
        assert_eq!(load["statuses"]["200"], load["intended"], "{load}");
        assert!(load["service_time_us"]["p50"].as_f64().unwrap() >= 99_000.0, "{load}");
        assert!(load["driver"]["version"].as_str().unwrap().contains("5.6.3"), "{load}");
        for part in ["by wrk", "by JMeter", "The drivers side by side: sleep, 16 connections", "× "] {
            assert!(text.contains(part), "{part:?} in {text}");
        }
        let resumed = lab.command().arg("--resume").arg(lab.run_dir()).output().unwrap();
        assert_eq!(resumed.status.code(), Some(0), "{}", texts(&resumed).1);
        assert_eq!(trials(&lab.run_dir()).len(), 3, "nothing was left to do");
        assert!(lab.nothing_runs());
        Ok(())
    });
}

#[test]
fn what_a_driver_cannot_do_is_said_before_anything_runs() {
    for (key, arguments, part) in [
        ("rate = \"100\"", ["--driver", "wrk"], "wrk keeps no rate"),
        ("think = \"1s\"", ["--driver", "all"], "wrk knows no think time"),
        ("rate = \"100\"", ["--driver", "jmeter"], "keeps no rate"),
        ("idle_timeout = \"1s\"", ["--driver", "proofload,jmeter"], "has no idle timeout"),
    ] {
        let lab = lab(&EXPERIMENT.replace("[[round]]", &format!("{key}\n[[round]]")));
        let output = run(&lab, &arguments);
        let (text, errors) = texts(&output);
        assert_eq!(output.status.code(), Some(2), "{text}{errors}");
        assert!(errors.contains(part) && errors.trim_end().lines().count() == 1, "{errors}");
        assert!(errors.contains("test.toml:"), "it says where: {errors}");
        assert!(!lab.path("runs").exists(), "nothing was made");
    }
    let output = run(&lab(EXPERIMENT), &["--driver", "ab"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(texts(&output).1.contains("no driver"));
}

#[test]
fn a_driver_that_is_not_installed_is_named_with_what_installs_it() {
    let lab = lab(EXPERIMENT);
    let mut command = lab.command();
    command.args(["--driver", "wrk"]).arg(lab.path("test.toml")).env("PATH", "/nonexistent");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(texts(&output).1.contains("apt-get install wrk"), "{}", texts(&output).1);
    assert!(!lab.path("runs").exists(), "nothing was made");
}

#[test]
fn only_a_part_of_an_experiment_is_measured() {
    let two = EXPERIMENT.replace("[16]", "[4, 16]").replace("\"2s\"", "\"500ms\"");
    let other = "[[round]]\nname = \"hello\"\nendpoint = \"hello\"\nstacks = [\"pool\"]\n";
    let lab = lab(&format!("{two}{other}"));
    let output = run(&lab, &["--only", "round=hello", "--only", "connections=4"]);
    assert_eq!(output.status.code(), Some(0), "{}", texts(&output).1);
    let all = trials(&lab.run_dir());
    assert_eq!(all.len(), 1);
    assert_eq!((&all[0]["round"], &all[0]["load"]), (&"hello".into(), &"4 connections".into()));
    for (only, part) in [("round=nothing", "no cell of round `nothing`"), ("size=4", "names no part")] {
        let output = run(&lab, &["--only", only]);
        assert_eq!(output.status.code(), Some(2));
        assert!(texts(&output).1.contains(part), "{}", texts(&output).1);
    }
}

#[test]
fn no_driver_survives_an_interruption_or_a_kill() {
    // The load is on the driver's command line, by which it is found.
    let experiment = EXPERIMENT.replace("\"2s\"", "\"47s\"").replace("[16]", "[13]");
    let load = "-c13 -d47s";
    for (how, code) in [(Signal::INT, Some(130)), (Signal::KILL, None)] {
        let lab = lab(&experiment);
        let mut command = lab.command();
        command.args(["--driver", "wrk"]).arg(lab.path("test.toml"));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_until("wrk runs", || !processes_with(load).is_empty());
        signal(&child, how);
        assert_eq!(child.wait().unwrap().code(), code);
        wait_until("every process is gone", || lab.nothing_runs() && processes_with(load).is_empty());
    }
}
