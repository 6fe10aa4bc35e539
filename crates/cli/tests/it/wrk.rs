//! `proofload wrk` beside the real wrk: the same command lines to both.

use std::process::{Command, Output, Stdio};
use std::time::Duration;

use audit::{Row, Tool};
use rustix::process::Signal;

use crate::common::{Target, json, link_named, proofload, run, signal, stdout};

/// The real one. Not having it is a failure, since nothing else shows that ours is like it.
fn real_wrk(arguments: &[&str]) -> Output {
    Command::new("wrk")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("wrk can't be started ({error}): make setup, or apt-get install wrk"))
}

fn our_wrk(arguments: &[&str]) -> Output {
    run(&[&["wrk"], arguments].concat())
}

/// A line without its figures: digits are `9`, runs of blanks one blank, and units of one kind one letter.
fn shape(line: &str) -> String {
    let mut shape = String::new();
    for word in line.split_whitespace() {
        let unit = word.trim_start_matches(|it: char| it.is_ascii_digit() || it == '.');
        if unit.len() == word.len() {
            shape.push_str(word);
        } else {
            shape.push('9');
            let (unit, behind) = match unit.find([',', '%']) {
                Some(at) => unit.split_at(at),
                None => (unit, ""),
            };
            shape.push_str(match unit {
                "us" | "ms" | "s" | "m" => "time",
                "B" | "KB" | "MB" | "GB" => "bytes",
                "" | "k" | "M" => "",
                other => panic!("{other:?} in {line:?} is no unit of wrk's"),
            });
            shape.push_str(behind);
        }
        shape.push(' ');
    }
    shape
}

fn shapes(text: &str) -> Vec<String> {
    text.lines().map(shape).collect()
}

/// The only row that our own reader finds.
fn row(text: &str) -> Row {
    let document = audit::read("output", text).expect("it is wrk's output");
    let [row]: [Row; 1] = document.rows.try_into().expect("one row");
    assert_eq!((row.tool, row.is_nan), (Tool::Wrk, false), "{text}");
    assert!(row.missing.is_empty() && row.unreadable.is_empty(), "{text}");
    row
}

#[test]
#[ignore = "slow: four loads, each beside wrk"]
fn the_same_command_line_gives_the_same_lines() {
    let target = Target::start(&["--path", "/slow=20ms", "--path", "/fast=0s"]);
    let all = [
        &["-t3", "-c10", "-d1s", "--latency", "--timeout", "30s", "-H", "A: b"][..],
        &["-d", "1", "-L", "-T2"],
        &["--threads=1", "--connections=1", "--duration=1s"],
    ];
    // Times of other units take the first alone.
    for (path, several) in [("slow", &all[..]), ("fast", &all[..1])] {
        let url = format!("{}/{path}", target.url);
        for options in several {
            let arguments = [*options, &[&url]].concat();
            let (real, ours) = std::thread::scope(|scope| {
                let ours = scope.spawn(|| our_wrk(&arguments));
                (real_wrk(&arguments), ours.join().expect("it was run"))
            });
            assert_eq!((real.status.code(), ours.status.code()), (Some(0), Some(0)), "{ours:?}");
            assert!(ours.stderr.is_empty(), "{ours:?}");
            let (real, ours) = (stdout(&real), stdout(&ours));
            assert_eq!(shapes(&real), shapes(&ours), "{real}\n{ours}");
            assert_eq!(real.lines().take(2).collect::<Vec<_>>(), ours.lines().take(2).collect::<Vec<_>>());
            columns_are_wrks(&real);
            columns_are_wrks(&ours);
            let (real, ours) = (row(&real), row(&ours));
            assert_eq!(
                (real.threads, real.connections, real.duration_s),
                (ours.threads, ours.connections, ours.duration_s)
            );
            assert!(ours.requests.unwrap() > 0);
        }
    }
}

/// The columns end where wrk's format says they end.
fn columns_are_wrks(text: &str) {
    for line in text.lines().skip(2) {
        let length = match line.split_whitespace().next() {
            Some("Thread") => 51,
            Some("Latency") if line.ends_with('%') => 50,
            Some("Req/Sec") => 50,
            Some("50%" | "75%" | "90%" | "99%") => 18,
            Some("Requests/sec:") => 23,
            Some("Transfer/sec:") => 25,
            _ => continue,
        };
        assert_eq!(line.len(), length, "{line:?}");
    }
}

#[test]
fn each_thread_has_as_many_connections_and_the_rest_is_dropped() {
    let target = Target::start(&["--path", "/=20ms"]);
    let result = json(&our_wrk(&["-t3", "-c11", "-d1s", "--json", &target.url]));
    assert_eq!((&result["load"]["threads"], &result["load"]["connections"]), (&3.into(), &9.into()));
    assert_eq!(result["connections"]["opened"], 9);
    let many = our_wrk(&["-t50", "-c300", "-d1s", &target.url]);
    assert!(stdout(&many).contains("\n  50 threads and 300 connections\n"), "{many:?}");
}

#[test]
fn who_is_never_answered_is_a_timeout_and_nothing_is_nan() {
    let target = Target::start(&["--never-answer"]);
    let output = our_wrk(&["-t2", "-c4", "-d1s", "--timeout", "1s", "--latency", &target.url]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("  0 requests in 1.00s, 0.00B read\n"), "{text}");
    assert!(text.contains("  Socket errors: connect 0, read 0, write 0, timeout 4\n"), "{text}");
    assert!(!text.contains("nan"), "{text}");
    // They were waited for through the second of the load and the second of the timeout.
    let row = row(&text);
    assert!(row.mean_ms.unwrap().value >= 1990.0 && row.percentiles_ms[0].1.value >= 1990.0, "{text}");
}

#[test]
fn a_late_answer_is_a_timeout_and_in_the_latency() {
    let target = Target::start(&["--path", "/late=1200ms"]);
    let url = format!("{}/late", target.url);
    let text = stdout(&our_wrk(&["-t2", "-c4", "-d2s", "--timeout", "1s", "--verdict", &url]));
    assert!(text.contains("  4 requests in 2.00s,"), "{text}");
    assert!(text.contains("  Socket errors: connect 0, read 0, write 0, timeout 8\n"), "{text}");
    assert!(text.contains("8 answers took longer than 1.00s; they are in `Latency`"), "{text}");
    assert!(row(&text).mean_ms.unwrap().value >= 1190.0, "{text}");
}

#[test]
fn bad_answers_and_cut_off_ones_have_their_lines() {
    let target = Target::start(&["--error-share", "1", "--path", "/slow=20ms"]);
    let text = stdout(&our_wrk(&["-t1", "-c2", "-d1s", &format!("{}/slow", target.url)]));
    let row = row(&text);
    assert_eq!(row.errors.bad_answers, row.requests, "{text}");
    assert!(row.requests.unwrap() > 0, "{text}");
}

#[test]
fn the_verdict_stands_below_an_empty_line_and_only_where_it_is_asked_for() {
    let target = Target::start(&["--path", "/slow=20ms"]);
    let arguments = ["-t1", "-c2", "-d1s", &format!("{}/slow", target.url)];
    let plain = stdout(&our_wrk(&arguments));
    assert!(!plain.contains("\n\n") && !plain.contains("verdict"), "{plain}");
    let told = stdout(&our_wrk(&[&["--verdict"], &arguments[..]].concat()));
    let (wrks, ours) = told.split_once("\n\n").expect("an empty line");
    assert_eq!(shapes(wrks), shapes(plain.trim_end()));
    for part in ["verdict  ", "censored  ", "Little's law  ", "generator  "] {
        assert!(ours.contains(part), "{ours}");
    }
}

#[test]
fn ctrl_c_ends_it_and_shows_what_there_is() {
    let target = Target::start(&["--path", "/slow=20ms"]);
    let child = proofload()
        .args(["wrk", "-t1", "-c2", "-d60s", &format!("{}/slow", target.url)])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(700));
    signal(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(row(&stdout(&output)).requests.unwrap() > 0);
}

#[test]
fn a_wrong_command_line_gets_wrks_words_and_exit_code() {
    for line in [
        "",
        "-t2 -c10",
        "-t0 http://127.0.0.1:1/",
        "-d0 http://127.0.0.1:1/",
        "-d5ms http://127.0.0.1:1/",
        "-c1.5 http://127.0.0.1:1/",
        "-x http://127.0.0.1:1/",
        "-h",
        "--help",
        "--t 5 http://127.0.0.1:1/",
        "--he=A http://127.0.0.1:1/",
        "--latency=1 http://127.0.0.1:1/",
        "--rate=5 http://127.0.0.1:1/",
        "http://127.0.0.1:1/ -c",
        "http://127.0.0.1:1/ --threads",
        "-c1 http://127.0.0.1:1/",
        "127.0.0.1:80",
        "-c1 -t1 http://127.0.0.1:1/",
        "-c1 -t1 http://localhost:1/",
        "-c1 -t1 https://127.0.0.1:1/",
        "-c1 -t1 https://127.0.0.1/",
        "http://no-such-host.invalid/",
        "http://no-such-host.invalid:81/x",
    ] {
        let arguments: Vec<&str> = line.split(' ').filter(|it| !it.is_empty()).collect();
        let (real, ours) = (real_wrk(&arguments), our_wrk(&arguments));
        let all = |output: &Output| {
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            (output.status.code(), stdout(output), stderr)
        };
        assert_eq!(all(&real), all(&ours), "wrk {line}");
    }
}

#[test]
fn what_only_we_refuse_is_one_clear_error_and_nothing_is_sent() {
    for (arguments, says) in [
        (&["-s", "x.lua", "http://127.0.0.1:1/"][..], "x.lua: cannot be read"),
        (&["-H", "no colon", "http://127.0.0.1:1/"], "no colon"),
        (&["-H", "A: b\nC: d", "http://127.0.0.1:1/"], "not valid"),
        (&["--timeout", "0", "http://127.0.0.1:1/"], "a timeout of zero"),
        (&["-c2M", "http://127.0.0.1:1/"], "more than 1000000"),
    ] {
        let output = our_wrk(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.starts_with("wrk: ") && stderr.contains(says), "{arguments:?}: {stderr}");
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), ""), "{arguments:?}");
    }
}

#[test]
fn a_link_named_wrk_is_wrk() {
    let target = Target::start(&["--path", "/=2ms"]);
    let folder = tempfile::tempdir().unwrap();
    let link = link_named("wrk", &folder);
    let called = |arguments: &[&str]| Command::new(&link).args(arguments).output().unwrap();
    let text = stdout(&called(&["-v", "-t1", "-c1", "-d1s", &target.url]));
    assert!(text.starts_with("wrk 4.1.0 [proofload "), "{text}");
    assert!(text.contains(" Copyright (C) 2012 Will Glozer\nRunning 1s test @ http://"), "{text}");
    assert_eq!(stdout(&called(&["--help"])), stdout(&real_wrk(&["--help"])));
}
