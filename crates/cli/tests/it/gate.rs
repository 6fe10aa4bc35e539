//! A gate: three answers, three exit codes, and the same in text, JSON, JUnit and Markdown.

use std::fs;
use std::net::TcpListener;

use crate::common::{Target, ends_with};

#[test]
fn what_lies_in_the_load_itself_is_decided_however_short_it_is() {
    let target = Target::start(&["--path", "/sleep=20ms"]);
    let url = format!("{}/sleep", target.url);
    let hit = |condition: &str, code: i32| {
        ends_with(code, &["hit", &url, "-c", "5", "-n", "200", "-q", "--fail-if", condition])
    };
    let passed = hit("errors>0", 0);
    assert!(passed.contains("gate        passed; of 1 conditions: 1 passed"), "{passed}");
    let failed = hit("max>1ms", 4);
    assert!(failed.contains("failed          if max > 1.00ms: "), "{failed}");
    // Nobody asked for it, and it is looked at all the same.
    assert!(failed.contains("passed          if errors > 0.1%: 0 %"), "{failed}");
}

#[test]
fn a_load_too_short_to_tell_says_so_and_what_would_decide_it() {
    let target = Target::start(&[]);
    let url = format!("{}/hello", target.url);
    let told = ends_with(5, &["hit", &url, "-c", "2", "-n", "500", "-q", "--fail-if", "p50>1s"]);
    assert!(told.contains("could not tell  if p50 > 1.00s: "), "{told}");
    assert!(told.contains("to decide it: 5 seconds of load at least"), "{told}");
}

#[test]
fn a_service_that_fails_does_not_pass_for_being_fast() {
    let target = Target::start(&["--error-share", "1", "--path", "/hello=0ms"]);
    let url = format!("{}/hello", target.url);
    let told = ends_with(4, &["hit", &url, "-c", "2", "-n", "200", "-q", "--fail-if", "max>30s"]);
    assert!(told.contains("failed          if errors > 0.1%: 100.0 %"), "{told}");
}

#[test]
fn a_gate_that_makes_no_sense_is_refused_before_anything_is_sent() {
    // Who connects would wait for ever.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    for (condition, said) in [
        ("p98>50ms", "did you mean p90, p95, p99?"),
        ("p99>50", "unknown unit"),
        ("p99<50ms", "say when it fails: 'p99>50ms'"),
        ("p99>50ms,errors>1%", "more than one condition"),
        ("cpu>50us", "can't see"),
    ] {
        let told = ends_with(2, &["hit", &url, "--fail-if", condition]);
        assert!(told.contains(said) && !told.contains("panicked"), "{condition}: {told}");
    }
    let told = ends_with(2, &["hit", &url, "--junit", "gate.xml"]);
    assert!(told.contains("there is none; give a --fail-if"), "{told}");
    let told = ends_with(2, &["run", "experiments/quick.toml", "--max-loss", "5%"]);
    assert!(told.contains("--baseline"), "{told}");
    let told = ends_with(2, &["run", "experiments/quick.toml", "--baseline", "no-such-stack"]);
    assert!(told.contains("the baseline `no-such-stack` takes no part in this run"), "{told}");
}

/// A run of one block, which tells nothing about others; what lies in it is told.
#[test]
fn the_gate_of_an_experiment_is_kept_with_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let experiment = dir.path().join("x.toml");
    fs::write(
        &experiment,
        "title = \"t\"\nblocks = 1\nblocks_max = 1\ntwin = false\ncontrol = false\ncool_down_max = \"0s\"\n\
         [load]\nconnections = 2\nduration = \"1s\"\n\
         [[round]]\nname = \"hello\"\nendpoint = \"hello\"\nstacks = [\"target-event-loop\"]\n\
         [gate]\nfail_if = [\"goodput<1/s\", \"errors>0\"]\n",
    )
    .unwrap();
    let runs = dir.path().join("runs");
    let arguments = ["run", experiment.to_str().unwrap(), "-q", "--runs", runs.to_str().unwrap()];
    let told = ends_with(5, &arguments);
    assert!(told.contains("could not tell  if goodput < 1/s"), "{told}");
    assert!(told.contains("7 blocks at least, and there are 1"), "{told}");
    assert!(told.contains("passed          if errors > 0: 0 requests"), "{told}");
    let kept = fs::read_dir(&runs).unwrap().next().unwrap().unwrap().path();
    let gate: serde_json::Value = serde_json::from_slice(&fs::read(kept.join("gate.json")).unwrap()).unwrap();
    assert_eq!(gate["checks"][0]["cell"]["stack"], "target-event-loop");
    // What is done needs no load to be held against another gate.
    let again = ["run", "--resume", kept.to_str().unwrap(), "-q", "--fail-if", "errors>0"];
    assert!(ends_with(5, &again).contains("passed          if errors > 0"));
}

/// Nothing is loaded for it but the one run: those before it are that run once more, each with another start and other figures.
#[test]
fn a_run_is_held_against_those_before_it_in_its_folder() {
    let dir = tempfile::tempdir().unwrap();
    let experiment = dir.path().join("x.toml");
    fs::write(
        &experiment,
        "title = \"t\"\nblocks = 1\nblocks_max = 1\ntwin = false\ncontrol = false\ncool_down_max = \"0s\"\n\
         [load]\nconnections = 2\nduration = \"1s\"\n\
         [[round]]\nname = \"hello\"\nendpoint = \"hello\"\nstacks = [\"target-event-loop\"]\n\
         [gate]\nfail_if = [\"errors>0\"]\nlast_runs = 10\n",
    )
    .unwrap();
    let runs = dir.path().join("runs");
    let told = ends_with(5, &["run", experiment.to_str().unwrap(), "-q", "--runs", runs.to_str().unwrap()]);
    assert!(told.contains("could not tell  if loss of goodput to the last 10 runs > 10%"), "{told}");
    assert!(told.contains("to decide it: 6 runs before it"), "{told}");
    let own = fs::read_dir(&runs).unwrap().next().unwrap().unwrap().path();
    let trials = fs::read_to_string(own.join("trials.jsonl")).unwrap();
    let mut trial: serde_json::Value = serde_json::from_str(trials.lines().next().unwrap()).unwrap();
    let goodput = trial.pointer("/measured/load/goodput_per_s").and_then(serde_json::Value::as_f64).unwrap();
    let mut run_before = |number: u32, times: f64| {
        let before = runs.join(format!("before-{number}"));
        fs::create_dir_all(&before).unwrap();
        fs::copy(own.join("experiment.toml"), before.join("experiment.toml")).unwrap();
        let manifest = fs::read(own.join("manifest.json")).unwrap();
        let mut manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
        manifest["started"] = format!("2020-01-0{number}T00:00:00Z").into();
        fs::write(before.join("manifest.json"), manifest.to_string()).unwrap();
        *trial.pointer_mut("/measured/load/goodput_per_s").unwrap() =
            (goodput * times * (1.0 + 0.01 * f64::from(number))).into();
        fs::write(before.join("trials.jsonl"), format!("{trial}\n")).unwrap();
        before
    };
    let again = ["run", "--resume", own.to_str().unwrap(), "-q"];
    let mut last = runs.clone();
    for number in 1..=6 {
        last = run_before(number, 1.0);
    }
    let told = ends_with(0, &again);
    assert!(told.contains("passed          if loss of goodput to the last 10 runs > 10%"), "{told}");
    // One that failed its own gate is no measure.
    fs::copy(own.join("gate.json"), last.join("gate.json")).unwrap();
    let gate = fs::read_to_string(last.join("gate.json")).unwrap();
    fs::write(last.join("gate.json"), gate.replacen("\"passed\"", "\"failed\"", 1)).unwrap();
    assert!(ends_with(5, &again).contains("to decide it: 6 runs before it"));
    for number in 1..=7 {
        run_before(number, 2.0);
    }
    let told = ends_with(4, &again);
    assert!(told.contains("failed          if loss of goodput to the last 10 runs > 10%"), "{told}");
}

#[test]
fn a_load_is_held_against_the_results_in_a_folder() {
    let target = Target::start(&["--path", "/sleep=20ms"]);
    let url = format!("{}/sleep", target.url);
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let hit = |code: i32, more: &[&str]| {
        let all =
            ["hit", &url, "-c", "2", "-d", "1s", "-q"].iter().chain(more).copied().collect::<Vec<&str>>();
        ends_with(code, &all)
    };
    let told = hit(5, &["--baseline", folder]);
    assert!(told.contains("could not tell  if loss of goodput to the loads in "), "{told}");
    assert!(told.contains("to decide it: 6 loads before it"), "{told}");
    let mut result: serde_json::Value = serde_json::from_str(&hit(0, &["--json"])).unwrap();
    let goodput = result["goodput_per_s"].as_f64().unwrap();
    let mut keep = |times: f64| {
        for number in 0..6 {
            result["goodput_per_s"] = (goodput * times * (1.0 + 0.01 * f64::from(number - 3))).into();
            fs::write(results.path().join(format!("{number}.json")), result.to_string()).unwrap();
        }
    };
    keep(1.0);
    let told = hit(0, &["--baseline", folder]);
    assert!(told.contains("passed          if loss of goodput to the loads in "), "{told}");
    keep(2.0);
    let told = hit(4, &["--baseline", folder, "--max-loss", "20%"]);
    assert!(told.contains("failed          if loss of goodput to the loads in "), "{told}");
    // What was asked for otherwise is another load.
    assert!(hit(5, &["--baseline", folder, "-t", "2"]).contains("6 loads before it"));
    let told = hit(2, &["--baseline", "/nowhere"]);
    assert!(told.contains("/nowhere can't be read"), "{told}");
    let told = hit(2, &["--max-loss", "5%"]);
    assert!(told.contains("--baseline"), "{told}");
}
