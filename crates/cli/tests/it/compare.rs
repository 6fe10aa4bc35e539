//! `proofload compare` on recorded runs.

use std::io::Write;

use crate::common::{ends_with, json, run};
use crate::recorded::{EXPERIMENT, Runs, at, blocks, failed, manifest};

const STARTED: &str = "2026-01-02T00:00:00Z";

#[test]
fn a_loss_beyond_what_is_allowed_is_an_exit_code() {
    let runs = Runs::new();
    let (before, after) = (runs.of_rate("before", 1000.0), runs.of_rate("after", 900.0));
    let said = ends_with(4, &["compare", &before, &after]);
    assert!(said.contains("1 cells: 1 worse") && said.contains("-10.0 ("), "{said}");
    assert!(said.contains("Both are of the same"), "{said}");
    let said = ends_with(0, &["compare", &before, &after, "--threshold", "12%"]);
    assert!(
        said.contains("within what is allowed") && said.contains("a loss of 12.0 % is allowed"),
        "{said}"
    );
    let said = ends_with(0, &["compare", &after, &before]);
    assert!(said.contains("1 better") && said.contains("+11.1 ("), "{said}");
    let said = ends_with(0, &["compare", &before, &before]);
    assert!(said.contains("1 without a change"), "{said}");
}

#[test]
fn json_says_the_same() {
    let runs = Runs::new();
    let (before, after) = (runs.of_rate("before", 1000.0), runs.of_rate("after", 900.0));
    let output = run(&["compare", &before, &after, "--json"]);
    assert_eq!(output.status.code(), Some(4));
    let told = json(&output);
    let cell = &told["cells"][0];
    assert_eq!(
        (&told["version"], &cell["stack"], &cell["verdict"]),
        (&2.into(), &"gin".into(), &"worse".into())
    );
    assert!((cell["ratio"].as_f64().unwrap() - 0.9).abs() < 0.001, "{cell}");
    assert!(cell["low"].as_f64().unwrap() < 0.9 && cell["high"].as_f64().unwrap() > 0.9, "{cell}");
    assert!(cell["p"].as_f64().unwrap() < 0.01 && cell["trials"] == serde_json::json!([6, 6]), "{cell}");
    assert!(cell["response_p99_us"][1]["value"].as_f64() > cell["response_p99_us"][0]["value"].as_f64());
    assert!(cell["cpu_us_per_request"][1].as_f64() > cell["cpu_us_per_request"][0].as_f64());
}

#[test]
fn one_block_and_no_spread_have_their_answers() {
    let runs = Runs::new();
    let of = |name: &str, trials: &[record::Trial]| runs.write(name, &manifest(STARTED), EXPERIMENT, trials);
    let one = of("one", &[at(0, "gin", 1000.0)]);
    let other = of("other", &[at(0, "gin", 500.0)]);
    let said = ends_with(5, &["compare", &one, &other]);
    assert!(said.contains("too few trials") && said.contains("Nothing could be told"), "{said}");
    let flat = |per_s: f64| (0..6).map(|block| at(block, "gin", per_s)).collect::<Vec<_>>();
    let (same, lower) = (of("same", &flat(1000.0)), of("lower", &flat(950.0)));
    let said = ends_with(0, &["compare", &same, &same]);
    assert!(said.contains("+0.0 (+0.0…+0.0) %") && said.contains("no change"), "{said}");
    let said = ends_with(4, &["compare", &same, &lower]);
    assert!(said.contains("-5.0 (-5.0…-5.0) %"), "{said}");
}

#[test]
fn a_stack_that_fails_in_half_the_blocks_is_worst_in_those() {
    let runs = Runs::new();
    let before = runs.of_rate("before", 1000.0);
    let mut trials = blocks("gin", 800.0, 6);
    for block in [1, 3, 5] {
        trials[block] = failed(block as u32, "gin");
    }
    let after = runs.write("after", &manifest(STARTED), EXPERIMENT, &trials);
    let said = ends_with(4, &["compare", &before, &after]);
    assert!(said.contains("6, 6") && said.contains("second run: 3 of 6 trials failed"), "{said}");
}

/// The trials that are left are as ever, and no gate.
#[test]
fn trials_that_die_are_worse_whatever_is_left() {
    let runs = Runs::new();
    let before = runs.write("before", &manifest(STARTED), EXPERIMENT, &blocks("gin", 1000.0, 12));
    let mut trials = blocks("gin", 1000.0, 12);
    for (block, trial) in trials.iter_mut().enumerate().take(10) {
        *trial = failed(block as u32, "gin");
    }
    let after = runs.write("after", &manifest(STARTED), EXPERIMENT, &trials);
    let said = ends_with(4, &["compare", &before, &after]);
    assert!(said.contains("more trials failed") && said.contains("0 of 12 → 10 of 12"), "{said}");
    let told = json(&run(&["compare", &before, &after, "--json"]));
    let cell = &told["cells"][0];
    assert_eq!(cell["failed_trials"], serde_json::json!([0, 10]), "{cell}");
    assert!(cell["failed_trials_p"].as_f64().unwrap() < 0.001, "{cell}");
    assert!(cell["worse_by"].as_array().unwrap().contains(&"failed_trials".into()), "{cell}");
}

/// So few trials can't tell whether it is chance, and a gate must not let it through.
#[test]
fn a_rise_of_failed_trials_that_cannot_be_told_has_an_exit_code() {
    let runs = Runs::new();
    let before = runs.of_rate("before", 1000.0);
    let mut trials = blocks("gin", 1000.0, 6);
    trials[2] = failed(2, "gin");
    let after = runs.write("after", &manifest(STARTED), EXPERIMENT, &trials);
    let junit = runs.path("junit.xml").display().to_string();
    let said = ends_with(5, &["compare", &before, &after, "--junit", &junit]);
    assert!(said.contains("too few trials") && said.contains("Could not tell: of 1 cell "), "{said}");
    let xml = std::fs::read_to_string(&junit).unwrap();
    assert!(xml.contains("errors=\"1\" skipped=\"0\"") && xml.contains("more trials failed"), "{xml}");
    // The other way round nothing got worse.
    assert!(!ends_with(0, &["compare", &after, &before]).contains("Could not tell"));
}

#[test]
fn a_stack_that_no_longer_answers_is_worse() {
    let runs = Runs::new();
    let before = runs.of_rate("before", 1000.0);
    let trials: Vec<_> = (0..6).map(|block| failed(block, "gin")).collect();
    let after = runs.write("after", &manifest(STARTED), EXPERIMENT, &trials);
    let said = ends_with(4, &["compare", &before, &after]);
    assert!(said.contains("no trial brought a good answer"), "{said}");
}

#[test]
fn a_record_that_was_cut_off_is_read_as_far_as_it_goes() {
    let runs = Runs::new();
    let before = runs.of_rate("before", 1000.0);
    let after = runs.of_rate("after", 900.0);
    let file = std::path::Path::new(&after).join("trials.jsonl");
    let whole = std::fs::read_to_string(&file).unwrap();
    let cut = &whole[..whole.trim_end().len() - 100];
    std::fs::write(&file, cut).unwrap();
    let said = ends_with(4, &["compare", &before, &after]);
    assert!(said.contains("5 of 6 trials") && said.contains("6, 5"), "{said}");
    // A line that is whole and no trial is not passed over.
    std::fs::OpenOptions::new().append(true).open(&file).unwrap().write_all(b"\n").unwrap();
    let said = ends_with(2, &["compare", &before, &after]);
    assert!(said.contains("trials.jsonl:6: no record of Proofload: EOF"), "{said}");
}

#[test]
fn runs_of_different_experiments_are_compared_where_they_meet() {
    let runs = Runs::new();
    let before = runs.of_rate("before", 1000.0);
    let mut other = manifest(STARTED);
    other.title = "another".into();
    other.machine.cores = 8;
    other.tools = [("go".to_owned(), "go1.26".to_owned())].into();
    let trials = [blocks("gin", 1000.0, 6), blocks("nginx", 5000.0, 6)].concat();
    let after = runs.write("after", &other, "title = \"another\"\nblocks = 6\n", &trials);
    let said = ends_with(5, &["compare", &before, &after]);
    for part in [
        "title: made up → another",
        "cores: 2 → 8",
        "tool go: not there → go1.26",
        "experiment, from line 1 on: title = \"made up\" → title = \"another\"",
        "Only in B: hello, 50 connections, nginx",
        "(gin: could not tell: not the stack alone is another, but also: cores)",
    ] {
        assert!(said.contains(part), "{part} is not in\n{said}");
    }
}

#[test]
fn what_can_not_be_compared_says_why() {
    let runs = Runs::new();
    let before = runs.of_rate("before", 1000.0);
    let nginx = runs.write("nginx", &manifest(STARTED), EXPERIMENT, &blocks("nginx", 1.0, 6));
    let empty = runs.write("empty", &manifest(STARTED), EXPERIMENT, &[]);
    let absent = runs.path("absent").display().to_string();
    assert!(ends_with(2, &["compare", &before, &nginx]).contains("no cell in common"));
    assert!(ends_with(2, &["compare", &before, &empty]).contains("empty has no finished trial"));
    assert!(ends_with(2, &["compare", &empty, &before]).contains("empty has no finished trial"));
    assert!(ends_with(2, &["compare", &before, &absent]).contains("is not a recorded run"));
    assert!(ends_with(2, &["compare", &before]).contains("RUN_B"));
    assert!(
        ends_with(2, &["compare", &before, &before, "--threshold", "5"])
            .contains("unknown unit; write one of %")
    );
    let mut newer = manifest(STARTED);
    newer.version += 1;
    let newer = runs.write("newer", &newer, EXPERIMENT, &[]);
    assert!(ends_with(2, &["compare", &before, &newer]).contains("is the newest known here"));
}

/// What the client can do without a stack fell as much as the stack did: shown, and no cell of its own.
#[test]
fn controls_show_what_the_machine_did() {
    let runs = Runs::new();
    let with_control = |name: &str, per_s: f64| {
        let mut trials = blocks("gin", per_s, 6);
        for mut control in blocks(record::CONTROL, per_s * 10.0, 6) {
            control.role = record::Role::Control;
            trials.push(control);
        }
        runs.write(name, &manifest(STARTED), EXPERIMENT, &trials)
    };
    let (before, after) = (with_control("before", 1000.0), with_control("after", 900.0));
    let said = ends_with(4, &["compare", &before, &after]);
    assert!(said.contains("hello, 50 connections: ") && said.contains("/s, -10.0 %"), "{said}");
    assert!(said.contains("1 cells: 1 worse") && said.contains("controls"), "{said}");
}

/// No test shows a difference, and that is no evidence that there is none.
#[test]
fn two_uneven_runs_of_the_same_pass_only_where_so_much_is_allowed() {
    let runs = Runs::new();
    // From 900/s to 1100/s, in another order in either run.
    let uneven = |name: &str, step: u32| {
        let at = |block: u32| at(block, "gin", 900.0 + 40.0 * f64::from(block * step % 6));
        runs.write(name, &manifest(STARTED), EXPERIMENT, &(0..6).map(at).collect::<Vec<_>>())
    };
    let (before, after) = (uneven("before", 1), uneven("after", 5));
    let said = ends_with(5, &["compare", &before, &after]);
    assert!(said.contains("1 that could not be told") && said.contains("a larger --threshold"), "{said}");
    let said = ends_with(0, &["compare", &before, &after, "--threshold", "25%"]);
    assert!(said.contains("1 within what is allowed"), "{said}");
}

/// Another machine, another client: neither makes a stack faster or slower.
#[test]
fn what_is_not_the_stacks_is_no_change_of_it() {
    let runs = Runs::new();
    let before = runs.of_rate("before", 1000.0);
    let of = |name: &str, change: &dyn Fn(&mut record::Manifest), io: &str| {
        let mut manifest = manifest(STARTED);
        change(&mut manifest);
        let mut trials = blocks("gin", 700.0, 6);
        for trial in &mut trials {
            let record::TrialResult::Measured(it) = &mut trial.result else { panic!("all are measured") };
            it.load.load.io = io.into();
        }
        runs.write(name, &manifest, EXPERIMENT, &trials)
    };
    let same = of("same", &|_| (), "epoll");
    assert!(ends_with(4, &["compare", &before, &same]).contains("1 worse"));
    let newer = of("newer", &|it| it.proofload = "0.2.0".into(), "epoll");
    let split = of("split", &|it| it.processes = "kept".into(), "epoll");
    let uring = of("uring", &|_| (), "io_uring");
    for (after, what) in [
        (newer, "version of Proofload: 0.1.0 → 0.2.0"),
        (split, "processes of stacks: fresh → kept"),
        (uring, "load carried by of hello, 50 connections: epoll → io_uring"),
    ] {
        let said = ends_with(5, &["compare", &before, &after]);
        assert!(said.contains(what) && said.contains("1 that could not be told"), "{said}");
    }
}
