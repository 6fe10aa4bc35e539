//! What is to be seen while a run or a load goes on: on a terminal, in lines, and where nothing is wanted.

use std::process::Command;

use rustix::process::Signal;

use crate::common::{Target, proofload, run, signal, stdout};
use crate::lab::{Lab, unhurried_stack};
use crate::terminal::Terminal;

/// Two stacks, long enough to be looked at, the second after a warm-up.
const EXPERIMENT: &str = r#"
title = "watched 名前"
blocks = 1
control = false
twin = false
cool_down_max = "0s"
idle_look = "100ms"
[load]
connections = [4]
warm_up = "300ms"
duration = "DURATION"
[[round]]
name = "hello"
endpoint = "hello"
stacks = ["one", "two"]
"#;

fn lab(duration: &str) -> Lab {
    let (one, two) = (unhurried_stack(r#""--model", "event-loop""#), unhurried_stack(r#""--model", "pool""#));
    Lab::new(&EXPERIMENT.replace("DURATION", duration), &[("one", &one), ("two", &two)])
}

fn on_terminal(lab: &Lab, rows: u16, columns: u16) -> Terminal {
    let mut command = lab.command();
    command.arg(lab.path("test.toml"));
    Terminal::start(command, rows, columns)
}

fn hit(target: &Target, arguments: &[&str]) -> Command {
    let mut command = proofload();
    command.args(["hit", &target.url, "-c", "4"]).args(arguments);
    command
}

/// Whether a load came to its end: 4 is what its audit says of it, on a machine that is busy with other tests.
fn was_measured(code: Option<i32>) -> bool {
    matches!(code, Some(0 | 4))
}

/// Escape sequences that would have to be taken back: another screen, no cursor, no line breaks, a mouse.
fn changes_modes(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes).replace("\x1b[?2026h", "").replace("\x1b[?2026l", "");
    text.contains("\x1b[?")
}

#[test]
#[ignore = "slow: a run of ten seconds"]
fn a_run_shows_its_block_rate_percentiles_and_both_sides_cpu_and_leaves_its_lines_and_the_ranking() {
    let lab = lab("3s");
    let mut terminal = on_terminal(&lab, 60, 100);
    terminal.wait_until("the second trial is measured", |text| {
        text.contains("trial 2/2, block 1, hello, 4 connections: ") && text.contains("measuring")
    });
    terminal.wait_until("it shows what goes on", |text| {
        let parts = [
            "watched 名前",
            " left",
            "1 of 2 trials done",
            "goodput ",
            "/s",
            "p50 ",
            "p99 ",
            "errors   none",
        ];
        parts.iter().all(|part| text.contains(part))
            && text.contains("servers ")
            && text.contains("generator ")
    });
    let first = terminal.rows();
    let line = first.iter().position(|row| row.starts_with("trial 1/2, block 1, hello")).unwrap();
    let picture = first.iter().position(|row| row.starts_with("watched 名前")).unwrap();
    assert!(line < picture, "what is finished stands above:\n{}", first.join("\n"));

    assert_eq!(terminal.end().code(), Some(0), "{}", terminal.text());
    let text = terminal.text();
    assert!(text.contains("trial 1/2") && text.contains("trial 2/2"), "{text}");
    assert!(text.contains("Full record: "), "the ranking is there:\n{text}");
    assert!(!text.contains("trials done") && !text.contains("errors   none"), "the picture is gone:\n{text}");
    assert!(!changes_modes(&terminal.bytes()) && terminal.is_restored());
}

#[test]
fn ctrl_c_leaves_the_terminal_as_it_was_and_no_process() {
    let lab = lab("2s");
    let mut terminal = on_terminal(&lab, 30, 80);
    terminal.wait_until("it measures", |text| text.contains("measuring"));
    signal(terminal.child(), Signal::INT);
    assert_eq!(terminal.end().code(), Some(130), "{}", terminal.text());
    assert!(terminal.is_restored() && !changes_modes(&terminal.bytes()), "{}", terminal.text());
    assert!(!terminal.text().contains("measuring"), "{}", terminal.text());
    assert!(lab.nothing_runs());
}

#[test]
fn a_small_terminal_and_one_that_changes_its_size_are_kept_to() {
    let target = Target::start(&["--path", "/=2ms"]);
    let mut terminal = Terminal::start(hit(&target, &["-d", "8s"]), 15, 60);
    terminal.wait_until("it measures", |text| text.contains("measuring") && text.contains("goodput "));
    assert!(terminal.text().contains("p99") && terminal.text().contains("errors"), "{}", terminal.text());
    terminal.resize(12, 50);
    let later = ["measuring  4 s", "measuring  5 s", "measuring  6 s"];
    terminal.wait_until("it is drawn anew", |text| later.iter().any(|at| text.contains(at)));
    let text = terminal.text();
    assert_eq!(text.matches("measuring").count(), 1, "one picture:\n{text}");
    assert!(was_measured(terminal.end().code()), "{}", terminal.text());
}

#[test]
fn a_load_has_a_histogram_and_its_result_is_whole_on_standard_output() {
    let target = Target::start(&["--path", "/=20ms"]);
    let mut terminal = Terminal::start(hit(&target, &["-d", "4s"]), 40, 100);
    terminal.wait_until("a histogram is there", |text| text.contains("50ms") && text.contains(" %"));
    let text = terminal.text();
    assert!(text.contains(&target.url) && text.contains("CPU      generator"), "{text}");
    assert!(was_measured(terminal.end().code()));
    let text = terminal.text();
    assert!(text.contains("outcomes ") && text.contains("verdict "), "{text}");
    assert!(!text.contains("measuring"), "{text}");
}

#[test]
fn without_colour_there_is_none() {
    let target = Target::start(&["--path", "/=2ms"]);
    let started = |colour: bool| {
        let mut command = hit(&target, &["-d", "2s"]);
        if !colour {
            command.env("NO_COLOR", "1");
        }
        let mut terminal = Terminal::start(command, 30, 80);
        assert!(was_measured(terminal.end().code()));
        String::from_utf8_lossy(&terminal.bytes()).into_owned()
    };
    let is_coloured = |text: &str| text.contains("\x1b[3");
    assert!(is_coloured(&started(true)));
    assert!(!is_coloured(&started(false)));
}

#[test]
fn names_in_any_script_are_shown_and_none_steers_the_terminal() {
    let title = r#"title = "evil\u001b[2J\u001b]0;owned\u0007\u009b31m\u202e <script>alert(1)</script>""#;
    let experiment = EXPERIMENT
        .replace("title = \"watched 名前\"", title)
        .replace("name = \"hello\"", "name = \"раунд 名前 🙂\"")
        .replace("DURATION", "1s");
    let (one, two) = (unhurried_stack(r#""--model", "event-loop""#), unhurried_stack(r#""--model", "pool""#));
    let lab = Lab::new(&experiment, &[("one", &one), ("two", &two)]);
    let mut terminal = on_terminal(&lab, 40, 120);
    terminal.wait_until("it is shown", |text| text.contains("evil\\u{1b}[2J") && text.contains("раунд 名前"));
    assert_eq!(terminal.end().code(), Some(0), "{}", terminal.text());
    let text = String::from_utf8_lossy(&terminal.bytes()).into_owned();
    for steers in ["\x1b[2J", "\x1b]", "\u{7}", "\u{9b}", "\u{202e}"] {
        assert!(!text.contains(steers), "{steers:?} came through");
    }
    assert!(text.contains("<script>alert(1)</script>"), "it is text");
}

#[test]
fn elsewhere_than_on_a_terminal_a_run_has_lines() {
    let lab = lab("1s");
    let output = lab.run();
    let lines = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{lines}");
    assert!(lines.contains("building one\n"), "{lines}");
    assert!(lines.contains("trial 1/2, block 1, hello, 4 connections: "), "{lines}");
    assert!(lines.contains(" left\n") && lines.contains(", p99 "), "{lines}");
    assert!(!lines.contains('\x1b') && !lines.contains('\r'), "{lines:?}");
}

#[test]
fn elsewhere_than_on_a_terminal_a_quiet_run_has_its_ranking_alone() {
    let lab = lab("1s");
    let quiet = lab.command().arg("--quiet").arg(lab.path("test.toml")).output().unwrap();
    assert_eq!((quiet.status.code(), quiet.stderr.len()), (Some(0), 0), "{quiet:?}");
    assert!(stdout(&quiet).contains("Full record: "));
}

#[test]
fn elsewhere_than_on_a_terminal_a_load_has_lines_and_with_quiet_none() {
    let target = Target::start(&["--path", "/=2ms"]);
    let load = run(&["hit", &target.url, "-c", "4", "-d", "2s"]);
    let lines = String::from_utf8_lossy(&load.stderr).into_owned();
    assert!(lines.starts_with("4 connections, closed model\n1 s of 2.00s: "), "{lines}");
    let quiet = run(&["hit", &target.url, "-c", "4", "-d", "1s", "--quiet"]);
    assert!(was_measured(quiet.status.code()) && quiet.stderr.is_empty(), "{quiet:?}");
}

/// Users that come at a rate are no closed model, nor are others whose steps are their own.
#[test]
fn a_scenario_does_not_begin_as_a_closed_model() {
    let target = Target::start(&[]);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("users.toml");
    let steps = "[[steps]]\nrequest = \"GET /hello\"\n";
    for load in ["{ rate = \"50/s\", duration = \"1s\" }", "{ users = 3, iterations = 2 }"] {
        std::fs::write(&file, format!("base = \"{}\"\nload = {load}\n{steps}", target.url)).unwrap();
        let output = run(&["hit", "--scenario", file.to_str().unwrap()]);
        let lines = String::from_utf8_lossy(&output.stderr).into_owned();
        let first = lines.lines().next().unwrap_or_default();
        assert!(first.ends_with(" users, scripted model"), "{lines}");
    }
}

#[test]
fn quiet_and_dumb_terminals_get_no_picture() {
    let target = Target::start(&["--path", "/=2ms"]);
    let mut quiet = Terminal::start(hit(&target, &["-d", "1s", "--quiet"]), 30, 80);
    assert!(was_measured(quiet.end().code()));
    assert!(!quiet.bytes().contains(&0x1b), "{}", quiet.text());
    let mut tiny = Terminal::start(hit(&target, &["-d", "2s"]), 5, 30);
    assert!(was_measured(tiny.end().code()));
    assert!(!tiny.bytes().contains(&0x1b), "{}", tiny.text());
    assert!(tiny.bytes().starts_with(b"4 connections, closed model"), "{}", tiny.text());
}
