//! `proofload replicate`, on servers whose rates follow from their delays, and on the records that are kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use record::{CellId, MANIFEST_VERSION, Manifest, RunDir};
use rustix::process::Signal;
use serde_json::Value;

use crate::common::{
    ends_with, json, processes_with, proofload, records_of, repository, run, signal, stdout, text, wait_until,
};
use crate::lab::{Lab, target_stack, trials};

const EXPERIMENT: &str = r#"
title = "Delays"
seed = 3
cool_down_max = "0s"
[load]
connections = [4, 8]
warm_up = "20ms"
duration = "200ms"
[[round]]
name = "hello"
endpoint = "hello"
stacks = ["fast", "middle", "slow", "other"]
"#;

/// The first claim holds, the second is the other way round, which is said of its two comparisons together and takes a look
/// more, the third can't be tested.
const WRITE_UP: &str = r#"
title = "Delays"
source = "made up"
when = "now"
driver = "none"
experiment = "test.toml"
[machine]
cores = 64
description = "none"
[[setting]]
stacks = ["other"]
what = "threads"
there = "9"
here = "8"
[[claim]]
id = "fast-over-other"
sentence = "Fast carries more than other"
kind = "order"
round = "hello"
stacks = ["fast", "other"]
connections = [4]
[[claim]]
id = "slow-first"
sentence = "Slow carries most"
derived = true
kind = "order"
round = "hello"
stacks = ["slow", "middle", "fast"]
connections = [4]
[[claim]]
id = "elsewhere"
sentence = "Elsewhere it is better"
kind = "not-testable"
why = "this is not elsewhere"
"#;

/// A server that takes so many milliseconds for each of up to eight at a time.
fn taking(ms: u32) -> String {
    target_stack(&format!(r#""--model", "pool", "--threads", "8", "--path", "/hello={ms}ms""#))
        .replace("path = \"/hello\"\nbody", &format!("path = \"/hello\"\ndelay = \"{ms}ms\"\nbody"))
}

fn lab() -> Lab {
    // So long that a busy machine adds little.
    let stacks = [("fast", taking(5)), ("middle", taking(10)), ("slow", taking(20)), ("other", taking(15))];
    let stacks: Vec<(&str, &str)> = stacks.iter().map(|(id, text)| (*id, text.as_str())).collect();
    let lab = Lab::new(EXPERIMENT, &stacks);
    fs::write(lab.path("delays.toml"), WRITE_UP).unwrap();
    lab
}

fn replicate(lab: &Lab, more: &[&str]) -> Command {
    let mut command = proofload();
    command.arg("replicate").arg(lab.path("delays.toml")).arg("--stacks").arg(lab.path("stacks"));
    command.arg("--runs").arg(lab.path("runs")).arg("--records").arg(lab.path("records")).args(more);
    command
}

fn blocks_of(made: &[Value], stack: &str, role: Option<&str>) -> Vec<u64> {
    let of = made.iter().filter(|it| it["stack"] == stack && it.get("role").and_then(Value::as_str) == role);
    let mut blocks: Vec<u64> = of.map(|it| it["block"].as_u64().unwrap()).collect();
    blocks.sort_unstable();
    blocks
}

#[test]
fn before_it_begins_it_says_what_it_costs_and_that_nothing_is_known_of_the_noise() {
    let lab = lab();
    let told = stdout(&replicate(&lab, &["--dry-run"]).output().unwrap());
    assert!(told.contains("3 claims about 4 cells; with twins and controls 6 trials a block"), "{told}");
    assert!(
        told.contains("6 blocks at least: 36 trials") && told.contains("20 at most: 120 trials"),
        "{told}"
    );
    assert!(told.contains("not known yet") && told.contains("cannot be tested here"), "{told}");
    let ahead = json(&replicate(&lab, &["--dry-run", "--json"]).output().unwrap());
    assert!(ahead["version"] == 1 && ahead["write_up"] == "delays", "{ahead}");
    assert!(ahead["cells"] == 4 && ahead["trials_a_block"] == 6, "{ahead}");
    assert!(ahead["least"]["blocks"] == 6 && ahead["most"]["trials"] == 120, "{ahead}");
    assert!(ahead["least"]["duration_s"].as_f64().is_some_and(|it| it > 0.0), "{ahead}");
    let claims = ahead["claims"].as_array().unwrap();
    let testable: Vec<&Value> = claims.iter().map(|claim| &claim["testable"]).collect();
    assert_eq!(testable, [true, true, false], "{ahead}");
    assert!(claims.iter().all(|claim| claim.get("findable").is_none()), "{ahead}");
    assert!(!lab.path("runs").exists());
}

/// A part of a write-up costs what its claims need.
#[test]
fn some_claims_cost_what_they_need() {
    let lab = lab();
    let told = stdout(&replicate(&lab, &["--dry-run", "--claims", "fast-over-other"]).output().unwrap());
    assert!(told.contains("1 claims about 2 cells; with twins and controls 4 trials a block"), "{told}");
    assert!(!told.contains("slow-first"), "{told}");
    let told = replicate(&lab, &["--claims", "fast-over"]).output().unwrap();
    assert_eq!(told.status.code(), Some(2));
    assert!(text(&told).contains("there is no claim `fast-over`"), "{}", text(&told));
}

#[test]
fn what_was_never_measured_is_said_of_every_claim() {
    let output = replicate(&lab(), &["--no-load"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let told = stdout(&output);
    assert!(told.contains("3 claims: 2 not measured; 1 not testable here"), "{told}");
}

/// Six blocks decide the first claim, whose cell no other needs; two more the second. Killed on the way, it goes on.
#[test]
#[ignore = "slow: makes some fifty trials"]
fn a_replication_stops_when_its_claims_are_decided_wherever_it_was_killed() {
    let lab = lab();
    let mut child =
        replicate(&lab, &["--quiet"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("some trials are made", || lab.lines() >= 3);
    signal(&child, Signal::KILL);
    child.wait().unwrap();
    wait_until("nothing is left of it", || processes_with(lab.root()).is_empty());

    let output = replicate(&lab, &["--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("every claim is decided"), "{said}");
    let report = json(&output);
    let claim = |index: usize| &report["claims"][index];
    assert_eq!((&claim(0)["verdict"], &claim(1)["verdict"]), (&"confirmed".into(), &"reversed".into()));
    let (low, high) = (&claim(0)["parts"][0]["low"], &claim(0)["parts"][0]["high"]);
    assert!(low.as_f64().unwrap() > 1.0 && high.as_f64().unwrap() < 9.0, "{low} {high}");
    assert!(claim(0)["settings"].to_string().contains("threads of other: there 9, here 8"), "{report}");
    assert!(claim(0)["settings"].to_string().contains("cores: there 64"), "{report}");

    // Six and eight blocks, unless others on the machine spoil some of them.
    let made = trials(&lab.run_dir());
    let (of_other, all) = (blocks_of(&made, "other", None), blocks_of(&made, "slow", None));
    let is_look = |blocks: &Vec<u64>| [6, 8, 10, 14, 20].contains(&blocks.len());
    assert!(is_look(&of_other) && is_look(&all) && all.len() >= 8, "{of_other:?} {all:?}");
    assert!(
        of_other.len() > 6 || said.contains("after 6 blocks: claims that are not decided need 3 of 4 cells")
    );
    assert_eq!(all, (0..all.len() as u64).collect::<Vec<_>>());
    assert_eq!(of_other, all[..of_other.len()], "what is decided goes no further");
    for stack in ["fast", "middle", "slow"] {
        assert_eq!(blocks_of(&made, stack, None), all, "{stack}");
    }
    let twins = made.iter().filter(|it| it["role"] == "twin").count();
    assert_eq!(twins, all.len());
    assert_eq!(blocks_of(&made, "control", Some("control")), all);
    assert!(lab.nothing_runs());

    let again = replicate(&lab, &["--quiet"]).output().unwrap();
    assert_eq!((again.status.code(), lab.lines()), (Some(0), made.len()), "{}", text(&again));
    let ahead = stdout(&replicate(&lab, &["--dry-run"]).output().unwrap());
    assert!(!ahead.contains("not known yet") && ahead.contains(" %"), "{ahead}");
    // What was made for all claims is not gone on with for one of them.
    let part = stdout(&replicate(&lab, &["--dry-run", "--claims", "fast-over-other"]).output().unwrap());
    assert!(part.contains("1 claims about 2 cells") && !part.contains("are made"), "{part}");
    exported_records_say_the_same(&lab);
}

fn exported_records_say_the_same(lab: &Lab) {
    let kept = lab.path("records/delays/records");
    let output = replicate(lab, &["--export", kept.to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let of = |runs: &str| {
        let told =
            replicate(lab, &["--no-load", "--runs", lab.path(runs).to_str().unwrap()]).output().unwrap();
        stdout(&told).lines().filter(|line| !line.starts_with("Full record")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(of("runs"), of("no-runs"));
    let manifest = fs::read_to_string(kept.join("manifest.json")).unwrap();
    assert!(!manifest.contains(lab.root()), "{manifest}");
    assert!(!kept.join("lock").exists());
    let by_report = lab.path("by-report");
    let output = run(&["report", lab.run_dir().to_str().unwrap(), "--export", by_report.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let trials = |dir: &Path| fs::read_to_string(dir.join("trials.jsonl")).unwrap();
    assert_eq!(trials(&by_report), trials(&kept));
    let report = |dir: PathBuf| run(&["report", dir.to_str().unwrap()]);
    let ranking = |output: Output| {
        let lines = stdout(&output);
        lines.lines().filter(|line| !line.starts_with("Full record")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(ranking(report(lab.run_dir())), ranking(report(kept)));
}

/// A run that was begun for these stacks at four connections, and made nothing.
fn begun(lab: &Lab, day: u32, stacks: &[&str]) -> PathBuf {
    let dir = lab.path(&format!("runs/replicate-delays-202601{day:02}-000000"));
    let cell = |stack: &&str| CellId { round: "hello".into(), stack: (*stack).into(), connections: 4 };
    let manifest = Manifest {
        version: MANIFEST_VERSION,
        started: format!("2026-01-{day:02}T00:00:00Z"),
        pace: "full".into(),
        selection: Some(stacks.iter().map(cell).collect()),
        ..Manifest::default()
    };
    RunDir::create(&dir, EXPERIMENT).unwrap().write_manifest(&manifest).unwrap();
    dir
}

/// Its records would stand for all claims, of which most were not measured.
#[test]
fn a_run_of_some_claims_is_not_exported_as_one_of_all() {
    let lab = lab();
    let export = |name: &str, more: &[&str]| {
        let to = lab.path(name);
        let options = [&["--export", to.to_str().unwrap()][..], more].concat();
        let output = replicate(&lab, &options).output().unwrap();
        (output.status.code(), text(&output))
    };
    let part = begun(&lab, 2, &["fast", "other"]);
    let (code, told) = export("none", &[]);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("no run of delays measured all of its claims"), "{told}");
    assert!(told.contains("--claims") && told.contains(part.to_str().unwrap()), "{told}");
    let (code, told) = export("none", &["--claims", "slow-first"]);
    assert!(code == Some(2) && told.contains("no run of delays is of these claims"), "{told}");
    assert!(!lab.path("none").exists());
    // One that was named is exported, and without a name the last of all claims.
    begun(&lab, 1, &["fast", "middle", "other", "slow"]);
    for (name, claims, started) in [
        ("part", &["--claims", "fast-over-other"][..], "2026-01-02T00:00:00Z"),
        ("all", &[], "2026-01-01T00:00:00Z"),
    ] {
        let (code, told) = export(name, claims);
        assert_eq!(code, Some(0), "{told}");
        assert_eq!(RunDir::read_manifest(&lab.path(name)).unwrap().started, started);
    }
}

/// In a millisecond no claim can be decided, and nothing is chosen anew: the rest is what was chosen for twelve minutes.
#[test]
#[ignore = "slow: a run of ten seconds"]
fn a_run_within_a_budget_goes_on_as_it_was_chosen_however_little_time_there_is() {
    let lab = lab();
    let child = replicate(&lab, &["--quiet", "--budget", "12m"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("a trial is made", || lab.lines() >= 1);
    signal(&child, Signal::INT);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    let (dir, made) = (lab.run_dir(), lab.lines());
    let chosen = || RunDir::read_manifest(&dir).unwrap().selection;
    let first = chosen();
    assert_eq!(first.as_ref().map(Vec::len), Some(4), "two claims of four cells");

    let output = replicate(&lab, &["--quiet", "--budget", "1ms"]).output().unwrap();
    let told = text(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let goes_on = format!("trials are left; the same command goes on with {}", dir.display());
    assert!(told.contains(&goes_on), "{told}");
    assert_eq!((chosen(), lab.lines()), (first, made));
    // A new run can't be of anything.
    let told = text(&replicate(&lab, &["--quiet", "--new", "--budget", "1ms"]).output().unwrap());
    assert!(told.contains("no claim of delays can be decided in "), "{told}");
    assert_eq!(fs::read_dir(lab.path("runs")).unwrap().count(), 1);
}

/// In `docs/replication/NAME` stands what the records beside it come to, so that no figure there is typed by hand.
#[test]
fn what_the_documents_say_of_replications_is_what_their_records_come_to() {
    let folder = repository().join("docs/replication");
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if !entry.path().is_dir() {
            continue;
        }
        let name = entry.file_name();
        let name = name.to_str().unwrap();
        let kept = |file: &str| fs::read_to_string(entry.path().join(file)).unwrap();
        let claims = run(&["replicate", name, "--no-load", "--runs", "no-runs"]);
        assert_eq!(stdout(&claims), kept("claims.txt"), "{name}: run scripts/replication.sh");
        let of_part = |dir: &PathBuf| stdout(&run(&["report", dir.to_str().unwrap()]));
        let ranking: String = records_of(&format!("docs/replication/{name}")).iter().map(of_part).collect();
        assert_eq!(ranking, kept("ranking.txt"), "{name}: run scripts/replication.sh");
    }
}

/// What a design of so many cells comes to within a working day, on two cores: at the second look of five, by which most claims are
/// decided.
#[test]
fn eight_blocks_of_each_write_up_fit_into_hours() {
    let budgets = [
        ("socket-models", 45),
        ("virtual-threads", 75),
        ("springmvc-webflux", 150),
        ("gateways", 180),
        ("servlet-containers", 60),
    ];
    for (name, budget_minutes) in budgets {
        let told = stdout(&run(&["replicate", name, "--dry-run", "--runs", "no-runs"]));
        let words = |line: &str| -> Option<f64> {
            let (_, time) = line.split_once("about ")?;
            let words: Vec<&str> = time.split([' ', ';']).collect();
            let number = |at: usize| words.get(at)?.parse::<f64>().ok();
            if words.get(1) == Some(&"h") { Some(number(0)? * 60.0 + number(2)?) } else { number(0) }
        };
        let least = told.lines().find(|line| line.starts_with("6 blocks at least")).and_then(words);
        let eight_blocks = least.unwrap_or_else(|| panic!("{told}")) / 6.0 * 8.0;
        assert!(
            eight_blocks <= f64::from(budget_minutes),
            "{name}: {eight_blocks} of {budget_minutes} min\n{told}"
        );
    }
}

#[test]
fn what_is_said_of_no_write_up_is_refused() {
    for option in
        [&["--export", "nowhere"][..], &["--dry-run"], &["--no-load"], &["--quick"], &["--claims", "one"]]
    {
        let told = ends_with(2, &[&["replicate"], option].concat());
        assert!(told.contains("name one, or give --all"), "{option:?}: {told}");
    }
}
