//! `proofload explain` on a run of real processes: the verdict, and the change that confirms it.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use crate::common::{json, proofload, run, signal, wait_until};
use crate::lab::{Lab, target_stack};
use crate::quiet::measured_alone;

const EXPERIMENT: &str = r#"
title = "a pool"
blocks = 1
twin = false
control = false
cool_down_max = "0s"
[load]
connections = [48]
warm_up = "500ms"
duration = "2s"
timeout = "10s"
[[round]]
name = "sleep"
endpoint = "sleep"
stacks = ["pool"]
"#;

/// A pool of 8 with a variant of 16.
fn pool() -> Lab {
    let pool = target_stack(r#""--model", "pool", "--threads", "{threads}""#)
        .replace("[run]", "[parameters]\nthreads = \"8\"\n[run]");
    let variant = "\n[[variant]]\nname = \"threads-16\"\ndescription = \"Twice as many.\"\n\
        parameters = { threads = \"16\" }\nintervention = { on = \"pool\", to = 16 }\n";
    Lab::new(EXPERIMENT, &[("pool", &(pool + variant))])
}

#[test]
#[ignore = "slow: an experiment of two variants"]
fn a_verdict_is_confirmed_by_the_change_that_it_names() {
    measured_alone(a_pool_is_doubled);
}

#[test]
#[ignore = "slow: an experiment, and the beginning of another"]
fn a_confirmation_that_is_interrupted_is_no_success() {
    measured_alone(|| {
        let lab = pool();
        assert_eq!(lab.run().status.code(), Some(0));
        let probes = lab.path("probes");
        let mut child = proofload()
            .args(["explain", lab.run_dir().to_str().unwrap(), "--confirm", "--json", "-q", "--stacks"])
            .arg(lab.path("stacks"))
            .arg("--runs")
            .arg(&probes)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // By then its builds are over.
        wait_until("it measures", || {
            let begun = |it: fs::DirEntry| it.path().join("manifest.json").exists();
            fs::read_dir(&probes).is_ok_and(|all| all.flatten().any(begun))
        });
        signal(&child, Signal::INT);
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert!(lab.nothing_runs());
        Ok(())
    });
}

fn a_pool_is_doubled() -> Result<(), String> {
    let lab = pool();
    assert_eq!(lab.run().status.code(), Some(0));
    let dir = lab.run_dir();
    let told = json(&run(&["explain", dir.to_str().unwrap(), "--json"]));
    assert_eq!(told["version"], 1);
    let first = &told["cells"][0]["verdicts"][0];
    if first["kind"] != "pool_limit" {
        return Err(format!("{told:#}"));
    }
    assert_eq!(first["phrase"], "pool of 8 (pool-*)");
    assert_eq!((&first["confirm"]["setting"], &first["confirm"]["now"]), (&"pool".into(), &Value::from(8.0)));
    let readings = fs::read_to_string(dir.join("trials/0000/signals.jsonl")).unwrap();
    assert!(readings.lines().count() >= 20, "ten a second for two seconds and a half");
    let text = run(&["explain", dir.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&text.stdout);
    for part in
        ["sleep, 48 connections", "because  X·S₀ = ", "not      the CPU: ", "confirm  make it 16 threads"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let told = confirmed(&lab)?;
    let confirmation = &told["confirmations"][0]["confirmation"];
    assert_eq!(confirmation["variant"], "pool@threads-16");
    assert!(lab.nothing_runs());
    Ok(())
}

/// What `explain --confirm` says of the lab's run; an error where it confirmed nothing.
fn confirmed(lab: &Lab) -> Result<Value, String> {
    let arguments =
        ["explain", lab.run_dir().to_str().unwrap(), "--confirm", "--json", "--quiet"].map(str::to_owned);
    let (stacks, runs) = (lab.path("stacks"), lab.path("probes"));
    let output =
        proofload().args(arguments).arg("--stacks").arg(stacks).arg("--runs").arg(runs).output().unwrap();
    let told = json(&output);
    let is_confirmed = told["confirmations"][0]["confirmation"]["outcome"] == "confirmed";
    if is_confirmed && output.status.code() == Some(0) { Ok(told) } else { Err(format!("{told:#}")) }
}

#[test]
#[ignore = "slow: an experiment of three numbers of users"]
fn a_verdict_on_a_stack_without_variants_is_tested_by_other_numbers_of_users() {
    measured_alone(a_pool_without_variants_is_loaded_by_others);
}

fn a_pool_without_variants_is_loaded_by_others() -> Result<(), String> {
    let pool = target_stack(r#""--model", "pool", "--threads", "8""#);
    let lab = Lab::new(EXPERIMENT, &[("pool", &pool)]);
    assert_eq!(lab.run().status.code(), Some(0));
    let told = confirmed(&lab)?;
    let confirmation = &told["confirmations"][0]["confirmation"];
    assert_eq!(confirmation["variant"], Value::Null);
    let levels = confirmation["levels"].as_array().unwrap();
    let users: Vec<u64> = levels.iter().map(|it| it["users"].as_u64().unwrap()).collect();
    assert_eq!(users, [24, 48, 96]);
    // It stands with the run, and in its report.
    let kept = fs::read_to_string(lab.run_dir().join("confirmations.jsonl")).unwrap();
    let kept: Value = serde_json::from_str(kept.trim()).unwrap();
    assert_eq!((&kept["outcome"], kept["levels"].as_array().unwrap().len()), (&"confirmed".into(), 3));
    let report = run(&["report", lab.run_dir().to_str().unwrap(), "--format", "json"]);
    let page = json(&report);
    assert_eq!(page["cells"][0]["confirmations"][0]["levels"][2][0], 96.0);
    assert!(lab.nothing_runs());
    Ok(())
}
