//! Services that are running already: checked, loaded and judged, and neither started nor ended.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{NOBODY, Target, json, proofload, run_in, text};

/// A project of the service at `url`, with more keys of the service and of the file.
fn project(url: &str, of_service: &str, of_file: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "title = \"shop\"\nblocks = 1\nblocks_max = 1\ncontrol = false\ncool_down_max = \"0s\"\n\
         [service.shop]\nurl = \"{url}\"\n{of_service}\n\
         [service.shop.ready]\ntimeout = \"3s\"\n\
         [[service.shop.endpoint]]\nname = \"main\"\npath = \"/hello\"\nbody = \"hello\"\n\
         [load]\nconnections = 2\nduration = \"200ms\"\n\
         [[round]]\nname = \"main\"\nendpoint = \"main\"\nstacks = [\"shop\"]\n{of_file}\n"
    );
    fs::write(folder.path().join("proofload.toml"), text).unwrap();
    folder
}

fn run_of(folder: &Path) -> PathBuf {
    fs::read_dir(folder.join("runs")).unwrap().next().unwrap().unwrap().path()
}

fn trials_of(folder: &Path) -> Vec<Value> {
    let lines = fs::read_to_string(run_of(folder).join("trials.jsonl")).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn nothing_is_said_to_be_built_of_what_runs_already() {
    let target = Target::start(&[]);
    let folder = project(&target.url, "", "");
    let said = text(&run_in(folder.path(), &["run"]));
    assert!(said.contains("trial 1/") && !said.contains("building"), "{said}");
}

/// Nothing was started, so there is no log that would stay.
#[test]
fn a_check_of_what_is_not_there_leaves_no_folder() {
    let folder = project(&format!("http://{NOBODY}/"), "", "");
    let temporary = tempfile::tempdir().unwrap();
    let mut check = proofload();
    check.current_dir(folder.path()).env("TMPDIR", temporary.path()).args(["check", "shop", "-q"]);
    let output = check.output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", text(&output));
    assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0, "{}", text(&output));
}

#[test]
fn a_service_that_is_named_twice_is_checked_once() {
    let target = Target::start(&[]);
    let folder = project(&target.url, "", "");
    let output = run_in(folder.path(), &["check", "shop", "shop", "-q", "--json"]);
    assert_ne!(output.status.code(), Some(1), "{}", text(&output));
    assert_eq!(json(&output).as_array().map(Vec::len), Some(1), "{}", text(&output));
}

#[test]
fn a_service_at_a_url_is_measured_and_goes_on() {
    let target = Target::start(&["--path", "/api/hello"]);
    let folder = project(&format!("{}/api/", target.url), "", "");
    for _ in 0..2 {
        let output = run_in(folder.path(), &["run", "-q"]);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains(&format!("shop: it was running already, at {}/api.", target.url)), "{said}");
    }
    let trials = trials_of(folder.path());
    // The twin is the same URL again.
    assert_eq!(trials.len(), 2, "{trials:?}");
    for trial in &trials {
        let measured = &trial["measured"];
        let server = measured["server"].as_object().unwrap();
        assert!(measured["load"]["answered_as_expected"].as_u64().unwrap() > 0, "{measured}");
        let why = format!("it was running already, at {}/api", target.url);
        assert_eq!(server["not_measured"], why.as_str());
        for unknown in ["boot_s", "rss_bytes_max", "threads_max", "signals"] {
            assert!(!server.contains_key(unknown), "{unknown}: {server:?}");
        }
        assert!(server["cpu_cores"].is_null() && server["cpu_us_per_request"].is_null(), "{server:?}");
        assert!(measured["host"]["others_cores"].is_null(), "it is one of the others: {}", measured["host"]);
        assert!(measured["surroundings"]["server_cpus"].is_null(), "{}", measured["surroundings"]);
    }
    let run = run_of(folder.path()).display().to_string();
    let manifest = fs::read_to_string(run_of(folder.path()).join("manifest.json")).unwrap();
    assert!(manifest.contains(&format!("\"url\": \"{}/api\"", target.url)), "{manifest}");
    let explained = text(&run_in(folder.path(), &["explain", &run]));
    assert!(explained.contains("it was running already"), "{explained}");
    let history = run_in(folder.path(), &["history"]);
    assert_eq!(history.status.code(), Some(0), "{}", text(&history));
}

#[test]
fn a_check_tells_what_it_answers_and_not_what_its_processes_do() {
    let target = Target::start(&[]);
    let folder = project(&target.url, "", "");
    let output = run_in(folder.path(), &["check", "shop", "--json", "-q"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let checked = &json(&output)[0]["checked"];
    assert_eq!(checked["not_measured"], format!("it was running already, at {}", target.url).as_str());
    assert!(checked["boot_s"].is_null() && checked["threads"].is_null() && checked["stop_s"].is_null());
    assert_eq!(checked["endpoints"][0]["body"], "hello");
    let shown = text(&run_in(folder.path(), &["check", "shop", "-q"]));
    assert!(shown.contains("its start, its memory and its threads were not looked at"), "{shown}");
    assert!(shown.contains("1 of 1 stacks up and right"), "{shown}");
}

#[test]
fn one_that_is_not_there_or_answers_otherwise_is_told_in_one_error() {
    let folder = project(&format!("http://{NOBODY}"), "", "");
    let output = run_in(folder.path(), &["run", "-q"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    let url = format!("http://{NOBODY}");
    let part = format!("`shop` is not ready at {url}: GET {url}/hello was refused: nothing listens there");
    assert!(said.contains(&part) && said.contains("start it, or correct its url"), "{said}");
    assert!(!said.contains("make setup"), "{said}");
    assert!(!folder.path().join("runs").exists() || run_is_empty(folder.path()), "{said}");

    let target = Target::start(&[]);
    let folder = project(&format!("{}/nowhere", target.url), "", "");
    let output = run_in(folder.path(), &["run", "-q"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("/nowhere/hello was answered with status 404 instead of 200"), "{said}");
}

/// No trial was made of it.
fn run_is_empty(folder: &Path) -> bool {
    fs::read_dir(folder.join("runs"))
        .unwrap()
        .flatten()
        .all(|run| fs::read_to_string(run.path().join("trials.jsonl")).unwrap_or_default().is_empty())
}

#[test]
fn a_gate_on_what_was_not_measured_could_not_be_told() {
    let target = Target::start(&[]);
    let folder = project(&target.url, "", "[gate]\nfail_if = [\"memory>1GiB\"]\n");
    let output = run_in(folder.path(), &["run", "-q"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(5), "{said}");
    assert!(said.contains("not measured: it was running already"), "{said}");
}

#[test]
fn no_versions_are_built_of_it() {
    let folder = project("http://127.0.0.1:1", "", "");
    let output = run_in(folder.path(), &["diff", "main"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("no version of them is built") && said.contains("--baseline"), "{said}");
}

#[cfg(feature = "tls")]
#[test]
#[ignore = "slow: three experiments over TLS"]
fn its_certificate_is_looked_at_unless_the_file_says_otherwise() {
    let certificates = tempfile::tempdir().unwrap();
    let file = certificates.path().join("own.pem").display().to_string();
    let target = Target::start(&["--tls", "--certificate", &file]);
    let folder = project(&target.url, "", "");
    let output = run_in(folder.path(), &["run", "-q"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("within the TLS handshake") && said.contains("certificate"), "{said}");
    for trusted in ["insecure = true".to_owned(), format!("cacert = \"{file}\"")] {
        let folder = project(&target.url, &trusted, "");
        let output = run_in(folder.path(), &["run", "-q"]);
        assert_eq!(output.status.code(), Some(0), "{trusted}: {}", text(&output));
        let verified = &trials_of(folder.path())[0]["measured"]["load"]["tls"]["verified"];
        assert_eq!(*verified, Value::from(trusted.starts_with("cacert")), "{trusted}");
    }
}
