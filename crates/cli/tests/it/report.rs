//! `proofload report` on recorded runs: every form, and records that are hostile, cut or newer.

use std::io::Write;

use serde_json::Value;

use crate::common::{ends_with, json, run, text};
use crate::recorded::{EXPERIMENT, Runs, blocks, failed, manifest};

const STARTED: &str = "2026-01-02T00:00:00Z";
const HOSTILE: &str = "</script><script>alert(1)</script>\u{1b}[31m";

#[test]
fn the_name_of_the_file_says_the_form() {
    let runs = Runs::new();
    let dir = runs.of_rate("run", 1000.0);
    for (file, has) in [
        ("report.html", "id=\"proofload-page\">{"),
        ("summary.md", "## made up"),
        ("junit.xml", "<testsuites name=\"made up\""),
        ("rows.csv", "round,load,driver,stack"),
        ("page.json", "\"answers\""),
        ("ranking.txt", "Full record:"),
    ] {
        let path = runs.path(file);
        ends_with(0, &["report", &dir, "-o", &path.display().to_string()]);
        let made = std::fs::read_to_string(&path).unwrap();
        assert!(made.contains(has), "{file}: {made:.200}");
        let left = std::fs::read_dir(runs.dir()).unwrap().map(|it| it.unwrap().file_name());
        assert!(left.into_iter().all(|name| !name.to_string_lossy().ends_with(".partial")));
    }
    let path = runs.path("report.pdf").display().to_string();
    let said = ends_with(2, &["report", &dir, "-o", &path]);
    assert!(said.contains("report.pdf") && said.contains("--format"), "{said}");
    ends_with(0, &["report", &dir, "-o", &path, "--format", "csv"]);
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("round,"));
}

#[test]
fn json_is_as_its_schema_says_it_is_published() {
    let schema: Value = json(&run(&["report", "--schema"]));
    let runs = Runs::new();
    let page: Value = json(&run(&["report", &runs.of_rate("run", 1000.0), "--format", "json"]));
    let known: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    for key in page.as_object().unwrap().keys() {
        assert!(known.contains(&key), "{key} is not in {known:?}");
    }
    for key in schema["required"].as_array().unwrap() {
        assert!(!page[key.as_str().unwrap()].is_null(), "{key} is required");
    }
    assert_eq!(page["version"], 2);
    assert_eq!(page["answers"][0]["kind"], "single");
}

#[test]
fn a_write_ups_claims_are_judged_where_the_run_is_of_its_experiment() {
    let runs = Runs::new();
    let experiment =
        std::fs::read_to_string(crate::common::repository().join("experiments/servlet-containers.toml"))
            .unwrap();
    let dir = runs.write("run", &manifest(STARTED), &experiment, &blocks("tomcat-nio", 1000.0, 2));
    let page: Value = json(&run(&["report", &dir, "--format", "json"]));
    assert!(page["claims"]["claims"].as_array().is_some_and(|all| !all.is_empty()), "{}", page["claims"]);
    let elsewhere: Value =
        json(&run(&["report", &dir, "--format", "json", "--published", "/no/such/folder"]));
    assert!(elsewhere["claims"].is_null());
}

#[test]
fn hostile_names_are_text() {
    let runs = Runs::new();
    let mut trials = blocks(HOSTILE, 1000.0, 3);
    trials.push(failed(3, HOSTILE));
    let mut manifest = manifest(STARTED);
    manifest.title = HOSTILE.into();
    let dir = runs.write("run", &manifest, EXPERIMENT, &trials);
    for format in ["html", "junit"] {
        let said = ends_with(0, &["report", &dir, "--format", format]);
        assert!(!said.contains("<script>alert"), "{format}: {said:.800}");
    }
    // Between backticks it is shown as it is.
    let said = ends_with(0, &["report", &dir, "--format", "markdown"]);
    let outside = said.lines().flat_map(|line| line.split('`').step_by(2));
    assert!(outside.into_iter().all(|text| !text.contains("<script>alert")), "{said}");
    let page: Value = json(&run(&["report", &dir, "--format", "json"]));
    assert_eq!(page["run"]["title"], HOSTILE);
}

#[test]
fn a_cut_record_is_rendered_and_what_is_broken_or_newer_is_refused() {
    let runs = Runs::new();
    let dir = runs.of_rate("run", 1000.0);
    let trials = runs.path("run/trials.jsonl");
    let whole = std::fs::read_to_string(&trials).unwrap();
    // Killed while it wrote its last trial.
    std::fs::write(&trials, &whole[..whole.len() - 100]).unwrap();
    let page: Value = json(&run(&["report", &dir, "--format", "json"]));
    assert_eq!(page["run"]["trials"], 5);

    let mut broken = std::fs::OpenOptions::new().append(true).open(&trials).unwrap();
    broken.write_all(b"\n{\"version\":1}\n").unwrap();
    let said = ends_with(2, &["report", &dir, "-o", &runs.path("a.html").display().to_string()]);
    assert!(said.contains("trials.jsonl") && !runs.path("a.html").exists(), "{said}");

    std::fs::write(&trials, whole.replacen("\"version\":1", "\"version\":999", 1)).unwrap();
    let said = ends_with(2, &["report", &dir, "--format", "html"]);
    assert!(said.contains("999"), "{said}");

    std::fs::write(&trials, "").unwrap();
    let page: Value = json(&run(&["report", &dir, "--format", "json"]));
    assert_eq!((page["tables"].as_array().map(Vec::len), &page["run"]["trials"]), (Some(0), &0.into()));
}

#[test]
fn curves_that_are_broken_leave_the_page_standing() {
    let runs = Runs::new();
    let dir = runs.of_rate("run", 1000.0);
    for index in 0..6 {
        let trial = runs.path("run").join(format!("trials/{index:04}"));
        std::fs::create_dir_all(&trial).unwrap();
        std::fs::write(trial.join("response_time.hlog"), "0.0,1.0,1.0,!!!\n").unwrap();
        std::fs::write(trial.join("signals.jsonl"), "{\n").unwrap();
    }
    let output = run(&["report", &dir, "--format", "json"]);
    assert_eq!(json(&output)["cells"][0]["heat"], Value::Null);
    let said = text(&output);
    assert!(said.contains("left out of the report") && said.contains("response_time.hlog"), "{said}");
}

#[test]
fn what_got_worse_is_a_failed_test_case() {
    let runs = Runs::new();
    let (before, after) = (runs.of_rate("before", 1000.0), runs.of_rate("after", 900.0));
    let path = runs.path("junit.xml").display().to_string();
    ends_with(4, &["compare", &before, &after, "--junit", &path]);
    let xml = std::fs::read_to_string(&path).unwrap();
    assert!(xml.contains("failures=\"1\"") && xml.contains("type=\"worse\""), "{xml}");
}

/// The records of `docs/samples`, which earlier versions made.
#[test]
#[ignore = "slow: every kept record is read"]
fn records_of_earlier_versions_still_make_a_report() {
    let records = crate::common::repository().join("docs/samples/records");
    let mut made = 0;
    for entry in std::fs::read_dir(&records).expect("samples are checked in") {
        let dir = entry.unwrap().path().display().to_string();
        let output = run(&["report", &dir, "--format", "json"]);
        let page: Value = json(&output);
        assert!(output.stderr.is_empty(), "{dir}: {}", text(&output));
        let cells = page["cells"].as_array().unwrap();
        assert!(!cells.is_empty() && !page["tables"].as_array().unwrap().is_empty(), "{dir}");
        assert!(cells.iter().any(|cell| cell["heat"].is_object() && cell["timeline"].is_object()), "{dir}");
        let html = run(&["report", &dir, "--format", "html"]);
        assert!(html.status.success() && html.stdout.len() < 3_000_000, "{dir}: {}", html.stdout.len());
        made += 1;
    }
    assert!(made >= 5, "there are those of five write-ups");
}

/// What the README shows of a run is what the command makes of its records.
#[test]
fn the_ranking_of_the_readme_is_that_of_its_records() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let readme = std::fs::read_to_string(format!("{root}/README.md")).expect("it is there");
    let run = "docs/samples/records/quick";
    let output =
        crate::common::proofload().current_dir(root).args(["report", run]).output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("it prints text");
    assert!(text.contains("hello, 64 connections"), "{text}");
    assert!(
        readme.contains(text.trim()),
        "the README shows something else than proofload report {run}:\n{text}"
    );
}
