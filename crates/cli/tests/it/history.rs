//! `proofload history` on recorded runs.

use crate::common::{json, run};
use crate::recorded::{EXPERIMENT, Runs, blocks, manifest};

/// A run a day, whose rate falls by a tenth with the seventh.
fn days(runs: &Runs, count: u32) {
    for day in 0..count {
        let per_s = if day < 6 { 1000.0 } else { 900.0 } * (1.0 + 0.002 * f64::from(day * 3 % 5));
        let started = format!("2026-01-{:02}T00:00:00Z", day + 1);
        let trials = [blocks("gin", per_s, 6), blocks("nginx", 5000.0 + f64::from(day), 6)].concat();
        let commit = Some(format!("c0ffee{day:02}"));
        let manifest = record::Manifest { commit, ..manifest(&started) };
        // Names do not sort as days do.
        runs.write(&format!("run-{}", (day * 7) % 12), &manifest, EXPERIMENT, &trials);
    }
}

fn history(runs: &Runs, more: &[&str]) -> (Option<i32>, String) {
    let dir = runs.dir().display().to_string();
    let output = run(&[&["history", &dir], more].concat());
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), said)
}

#[test]
fn a_change_is_marked_where_it_is() {
    let runs = Runs::new();
    days(&runs, 12);
    let (code, said) = history(&runs, &[]);
    assert_eq!(code, Some(0), "{said}");
    let lines: Vec<&str> = said.lines().collect();
    let mark = lines.iter().position(|line| line.contains("change: -")).expect("it changed");
    assert!(lines[mark].contains("-10.") || lines[mark].contains("-9."), "{said}");
    assert!(lines[mark - 1].contains("2026-01-06") && lines[mark + 1].contains("2026-01-07"), "{said}");
    assert!(lines[mark].contains(", from commit c0ffee05 to c0ffee06 "), "{said}");
    assert!(said.contains("nginx: goodput") && said.contains("no change found"), "{said}");
    for (metric, unit, sign) in [("cpu", " us", "+"), ("p99", "ms", "+")] {
        let (code, said) =
            history(&runs, &["--metric", metric, "--stack", "gin", "--round", "hello", "--load", "50"]);
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains(unit) && said.contains(&format!("change: {sign}1")), "{said}");
        assert!(!said.contains("nginx"), "{said}");
    }
}

#[test]
fn json_says_the_same() {
    let runs = Runs::new();
    days(&runs, 12);
    let dir = runs.dir().display().to_string();
    let told = json(&run(&["history", &dir, "--stack", "gin", "--json"]));
    let series = &told["series"][0];
    assert_eq!((&told["version"], &series["changes"][0]["at"]), (&1.into(), &6.into()));
    assert_eq!(series["changes"][0]["commits"], serde_json::json!(["c0ffee05", "c0ffee06"]));
    assert_eq!(series["points"].as_array().unwrap().len(), 12);
    assert_eq!(series["points"][6]["started"], "2026-01-07T00:00:00Z");
    assert!((series["changes"][0]["ratio"].as_f64().unwrap() - 0.9).abs() < 0.01);
}

#[test]
fn few_runs_say_how_many_it_takes() {
    let runs = Runs::new();
    days(&runs, 3);
    let (code, said) = history(&runs, &["--stack", "gin"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("3 runs are too few to find a change (needs at least 8)"), "{said}");
}

#[test]
fn what_is_no_run_is_left_out_and_nothing_at_all_is_an_error() {
    let runs = Runs::new();
    let (code, said) = history(&runs, &[]);
    assert!(code == Some(2) && said.contains("holds no recorded run"), "{said}");
    days(&runs, 2);
    std::fs::create_dir(runs.path("notes")).unwrap();
    std::fs::create_dir(runs.path("broken")).unwrap();
    std::fs::write(runs.path("broken").join("manifest.json"), "{").unwrap();
    let (code, said) = history(&runs, &["--stack", "gin"]);
    assert!(code == Some(0) && said.contains("left out: ") && said.contains("2 runs are"), "{said}");
    let (code, said) = history(&runs, &["--stack", "gi"]);
    assert!(code == Some(2) && said.contains("none of 2 runs"), "{said}");
    let (code, said) = history(&runs, &["--metric", "speed"]);
    assert!(code == Some(2) && said.contains("possible values"), "{said}");
    let (code, _) = history(&runs, &["--load", "5"]);
    assert_eq!(code, Some(2), "50 connections are not 5");
}

/// A folder of which every run is damaged is no folder without runs.
#[test]
fn runs_that_can_not_be_read_are_not_said_to_be_absent() {
    let runs = Runs::new();
    std::fs::create_dir(runs.path("broken")).unwrap();
    std::fs::write(runs.path("broken").join("manifest.json"), "{").unwrap();
    let (code, said) = history(&runs, &[]);
    assert!(code == Some(2) && said.contains("none of the runs in "), "{said}");
    assert!(!said.contains("holds no recorded run"), "{said}");
    assert!(said.contains("no record of Proofload: EOF"), "{said}");
}
