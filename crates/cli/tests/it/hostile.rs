//! Files that somebody else made: their text steers no terminal, and their figures end neither a command nor the server.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Output;

use record::{Trial, TrialResult};
use serde_json::{Value, json as value};

use crate::common::{ends_with, proofload, run};
use crate::recorded::{EXPERIMENT, Runs, blocks, failed, manifest};

/// Clears the screen, sets the title, hides what follows, goes back over the line, turns the direction; in C1 as well.
const HOSTILE: &str = "x\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}8m\u{8}\u{7f}\u{202e}y";

/// What reaches a terminal but text, line ends and tabs.
fn steering(bytes: &[u8]) -> Vec<char> {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    text.chars().filter(|it| (it.is_control() && !"\n\t".contains(*it)) || *it == '\u{202e}').collect()
}

#[track_caller]
fn is_harmless(arguments: &[&str], shows: &str) -> Output {
    let output = run(arguments);
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    let told = String::from_utf8_lossy(&all).into_owned();
    assert!(steering(&all).is_empty(), "{arguments:?}: {told:?}");
    assert!(told.contains(shows), "{arguments:?} shows `{shows}`: {told}");
    output
}

/// A run whose every text is hostile.
fn hostile_run(runs: &Runs) -> String {
    let mut manifest = manifest("2026-01-01T00:00:00Z");
    manifest.title = HOSTILE.into();
    let mut trials: Vec<Trial> =
        blocks(HOSTILE, 1000.0, 6).into_iter().chain(blocks("b", 900.0, 6)).collect();
    let mut died = failed(6, HOSTILE);
    died.result = TrialResult::Failed { error: format!("{HOSTILE}\n{HOSTILE}") };
    trials.push(died);
    for trial in &mut trials {
        trial.round = HOSTILE.into();
    }
    runs.write(HOSTILE_RUN, &manifest, EXPERIMENT, &trials)
}

const HOSTILE_RUN: &str = "sent";

#[test]
fn a_record_steers_no_terminal() {
    let runs = Runs::new();
    let dir = hostile_run(&runs);
    let shown = "x\\u{1b}[2J";
    is_harmless(&["report", &dir], shown);
    is_harmless(&["explain", &dir], shown);
    is_harmless(&["compare", &dir, &dir], shown);
    is_harmless(&["history", runs.dir().to_str().unwrap()], "");
    for format in ["markdown", "html", "csv", "junit"] {
        is_harmless(&["report", &dir, "--format", format], "");
    }
    is_harmless(&["export", &dir, "--prometheus", "-"], "");
    // JSON says it in its own way, and has the same values.
    for arguments in
        [&["report", &dir, "--json"][..], &["report", &dir, "--format", "json"], &["explain", &dir, "--json"]]
    {
        let output = is_harmless(arguments, "\\u009b8m");
        let first = String::from_utf8(output.stdout).unwrap();
        let mut values = serde_json::Deserializer::from_str(&first).into_iter::<Value>();
        let value = values.next().unwrap().unwrap();
        let text = value.to_string();
        assert!(text.contains(&value!(HOSTILE).to_string()), "{arguments:?}: {text:.2000}");
    }
}

#[test]
fn a_broken_record_steers_no_terminal_by_its_error() {
    let runs = Runs::new();
    let dir = hostile_run(&runs);
    let manifest = Path::new(&dir).join("manifest.json");
    fs::write(&manifest, format!("{{\"version\":1,\"{}\":1}}", "\u{9b}2J")).unwrap();
    is_harmless(&["report", &dir], "manifest.json");
    let trials = Path::new(&dir).join("trials.jsonl");
    fs::write(&trials, "{\"version\":1,\"index\":\"\u{9b}2J\\u001b[2J\"}\n").unwrap();
    is_harmless(&["explain", &dir], "");
}

#[test]
fn what_is_pasted_recorded_or_planned_steers_no_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let pasted = file(
        "pasted.txt",
        &format!(
            "# r\n## {HOSTILE}\nRunning 10s test @ http://h/{HOSTILE}\n  2 threads and 300 connections\n  Thread Stats   Avg      \
             Stdev     Max   +/- Stdev\n    Latency    50.00ms   10.00ms   1.00s   90.00%\n    Req/Sec     1.00k    10.00    \
             2.00k    90.00%\n  20000 requests in 10.00s, 1.00MB read\n  Socket errors: connect 0, read 9000, write 0, \
             timeout 0\nRequests/sec:   2000.00\nTransfer/sec:    100.00KB\n"
        ),
    );
    is_harmless(&["audit", &pasted], "");
    is_harmless(&["audit", &pasted, "--json"], "");
    is_harmless(&["audit", &file("none.txt", HOSTILE)], "none.txt");

    let request = |url: &str| value!({"request": {"method": "GET", "url": url, "headers": []}});
    let har = value!({"log": {"entries": [request("http://127.0.0.1:1/"), request(&format!("gopher://{HOSTILE}/"))]}});
    let har = file("a.har", &har.to_string());
    is_harmless(&["hit", "--har", &har, "-n", "1"], "left out");

    let name = HOSTILE.replace(['\u{1b}', '\u{7}', '\u{8}'], "\u{9d}");
    let plan = format!(
        "<jmeterTestPlan><hashTree><TestPlan testname=\"{name}\"/><hashTree><ThreadGroup testname=\"{name}\"/>\
         <hashTree><JSR223Sampler testname=\"{name}\"/></hashTree></hashTree></hashTree></jmeterTestPlan>"
    );
    let plan = file("plan.jmx", &plan);
    is_harmless(&["jmeter", "--check", "-t", &plan], "\\u{9d}");
    is_harmless(&["jmeter", "-n", "-t", &plan], "\\u{9d}");
    is_harmless(&["run", &file("experiment.toml", &format!("title = \"{name}\"\n{name} = 1\n"))], "");
}

/// Clap leaves escapes out and lets control characters of eight bits through.
#[test]
fn what_is_typed_wrongly_steers_no_terminal_by_its_error() {
    let url = "http://127.0.0.1:1/";
    for (typed, shows) in [("\u{9b}8mX", "\\u{9b}8mX"), (HOSTILE, "error: ")] {
        let option = format!("--{typed}");
        for arguments in [
            &["hit", url, "-d", typed][..],
            &["hit", url, option.as_str()],
            &["calibrate", "--io", typed],
            &[typed],
        ] {
            let told = is_harmless(arguments, shows);
            assert_eq!(told.status.code(), Some(2), "{arguments:?}");
        }
    }
}

#[test]
fn what_a_server_prints_steers_no_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let stack = folder.path().join("hostile");
    fs::create_dir(&stack).unwrap();
    let manifest = "title = \"t\"\nfamily = \"target\"\ngeneration = \"timeless\"\n[run]\ncommand = [\"sh\", \"-c\", \
                    \"printf '\\\\033[2Jlast words\\\\n'; exit 7\", \"{port}\"]\n[[endpoint]]\nname = \"hello\"\npath = \"/hello\"\n";
    fs::write(stack.join("stack.toml"), manifest).unwrap();
    let output = proofload()
        .args(["check", "hostile", "--stacks"])
        .arg(folder.path())
        .env("TMPDIR", folder.path())
        .output();
    let output = output.unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("\\u{1b}[2Jlast words"), "{told}");
    assert!(steering(&[output.stdout, output.stderr].concat()).is_empty(), "{told}");
}

/// What its links lead to is ours, and no part of what is copied or judged.
#[test]
fn a_link_in_a_record_is_not_followed() {
    let runs = Runs::new();
    let dir = runs.of_rate("sent", 1000.0);
    let ours = runs.path("ours");
    fs::write(&ours, "ours").unwrap();
    for trial in 0..6 {
        let folder = Path::new(&dir).join(format!("trials/{trial:04}"));
        fs::create_dir(&folder).unwrap();
        symlink(&ours, folder.join("response_time.hlog")).unwrap();
    }
    let copy = runs.path("copy");
    let told = ends_with(1, &["report", &dir, "--export", copy.to_str().unwrap()]);
    assert!(told.contains("response_time.hlog: reading failed"), "{told}");
    let mut copied = (0..6).map(|trial| copy.join(format!("trials/{trial:04}/response_time.hlog")));
    assert!(copied.all(|it| !it.exists()), "{told}");

    let trials = Path::new(&dir).join("trials.jsonl");
    fs::rename(&trials, &ours).unwrap();
    symlink(&ours, &trials).unwrap();
    let told = ends_with(2, &["audit", &dir]);
    assert!(told.contains("trials.jsonl: reading failed"), "{told}");
}

#[test]
fn wild_figures_end_a_report_with_their_place() {
    let runs = Runs::new();
    let dir = runs.of_rate("run", 1000.0);
    let trials = Path::new(&dir).join("trials.jsonl");
    let text = fs::read_to_string(&trials).unwrap().replacen("\"block\":5", "\"block\":4294967295", 1);
    assert!(text.contains("4294967295"));
    fs::write(&trials, text).unwrap();
    for arguments in [&["report", &dir][..], &["report", &dir, "--format", "html"], &["compare", &dir, &dir]]
    {
        let told =
            is_harmless(arguments, "trials.jsonl:6: `block` is 4294967295, and at most 10000 are read");
        assert!(!told.status.success());
    }
}
