//! `proofload h2load` beside the real h2load, where that is installed: the same command lines to both.

use std::io::ErrorKind;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use audit::{Row, Tool};

use crate::common::{Target, json, link_named, run, stdout};

/// The real one; none where it is not installed.
fn real_h2load(arguments: &[&str]) -> Option<Output> {
    match Command::new("h2load").args(arguments).stdin(Stdio::null()).output() {
        Ok(output) => Some(output),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            // `make setup` installs it: what was not tried in CI has not passed.
            assert!(std::env::var_os("CI").is_none(), "there is no h2load (apt-get install nghttp2-client)");
            eprintln!("not tried: there is no h2load (apt-get install nghttp2-client)");
            None
        }
        Err(error) => panic!("h2load can't be started: {error}"),
    }
}

fn our_h2load(arguments: &[&str]) -> Output {
    run(&[&["h2load"], arguments].concat())
}

/// The only row that our own reader finds; nothing in it contradicts the rest.
fn row(text: &str) -> Row {
    let document = audit::read("output", text).expect("it is h2load's output");
    let findings = audit::audit(std::slice::from_ref(&document)).files.remove(0).findings;
    assert!(findings.iter().all(|it| it.level != audit::Level::Broken), "{findings:#?}\n{text}");
    let [row]: [Row; 1] = document.rows.try_into().expect("one row");
    assert_eq!((row.tool, row.is_nan), (Tool::H2load, false), "{text}");
    assert!(row.missing.is_empty() && row.unreadable.is_empty(), "{text}");
    row
}

/// A line without its figures: what is a number, or is not measured here, is `9`, and units of one kind are one.
fn shape(line: &str) -> String {
    let word = |word: &str| {
        let bare = word.trim_start_matches(['(', '#']);
        if !bare.starts_with(|it: char| it.is_ascii_digit() || it == '-') {
            return word.to_owned();
        }
        let unit = bare.trim_start_matches(|it: char| it.is_ascii_digit() || it == '.' || it == '-');
        let unit = unit.trim_end_matches([',', ')', '.']);
        let kind = match unit {
            "us" | "ms" | "s" => "time",
            "B" | "KB" | "MB" | "GB" => "bytes",
            "B/s" | "KB/s" | "MB/s" | "GB/s" => "bytes/s",
            other => other,
        };
        format!("9{kind}")
    };
    line.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// The lines that h2load prints for every load, from the first to the last, without those of its progress.
fn lines(text: &str) -> Vec<String> {
    let is_progress = |line: &&str| line.starts_with("progress:");
    // What is not measured has no parts: header bytes, and the four lines' columns.
    let known = |line: &&str| {
        !["traffic:", "time for connect:", "time to 1st byte:", "req/s "]
            .iter()
            .any(|it| line.starts_with(it))
    };
    // Threads and the first connection come when they come.
    let mut lines: Vec<String> =
        text.lines().filter(|line| !is_progress(line) && known(line)).map(shape).collect();
    lines.sort();
    lines
}

#[test]
fn the_same_command_line_gives_the_same_lines() {
    let target = Target::start(&["--http2", "--path", "/slow=20ms"]);
    for options in [
        &["-n200", "-c4", "-m5", "-t2", "-H", "a: b"][..],
        &["--h1", "-n", "100", "-c", "5"],
        &["-D", "1", "-c2", "--max-concurrent-streams=3", "--warm-up-time=0"],
    ] {
        let url = format!("{}/slow", target.url);
        let arguments = [options, &[&url]].concat();
        let Some(real) = real_h2load(&arguments) else { return };
        let ours = our_h2load(&arguments);
        assert_eq!((real.status.code(), ours.status.code()), (Some(0), Some(0)), "{ours:?}");
        let (real, ours) = (stdout(&real), stdout(&ours));
        assert_eq!(lines(&real), lines(&ours), "{real}\n{ours}");
        let width = |text: &str| text.lines().find(|it| it.starts_with("time for request:")).map(str::len);
        assert_eq!(width(&real), width(&ours), "{real}\n{ours}");
        let (real, ours) = (row(&real), row(&ours));
        assert_eq!((real.connections, real.duration_s), (ours.connections, ours.duration_s));
        if options[0] != "-D" {
            assert_eq!(real.requests, ours.requests);
        }
    }
}

#[test]
fn a_wrong_command_line_gets_h2loads_words_and_exit_code() {
    for line in [
        "",
        "-c0 http://127.0.0.1:1/",
        "-n1 -c2 http://127.0.0.1:1/",
        "-m0 http://127.0.0.1:1/",
        "-w31 http://127.0.0.1:1/",
        "-H a http://127.0.0.1:1/",
        "-r1 -D1 http://127.0.0.1:1/",
        "-D 1x http://127.0.0.1:1/",
    ] {
        let arguments: Vec<&str> = line.split(' ').filter(|it| !it.is_empty()).collect();
        let ours = our_h2load(&arguments);
        assert_eq!(ours.status.code(), Some(1), "h2load {line}");
        let Some(real) = real_h2load(&arguments) else { continue };
        assert_eq!(
            (real.status.code(), String::from_utf8_lossy(&real.stderr).trim_end().to_owned()),
            (ours.status.code(), String::from_utf8_lossy(&ours.stderr).trim_end().to_owned()),
            "h2load {line}"
        );
    }
}

#[test]
fn requests_are_counted_out_or_timed_over_both_versions() {
    let target = Target::start(&["--http2", "--error-share", "0.5"]);
    let folder = tempfile::tempdir().expect("a folder");
    let link = link_named("h2load", &folder);
    let counted = Command::new(link).args(["-n400", "-c4", "-m5", &target.url]).output().expect("it runs");
    let text = stdout(&counted);
    let read = row(&text);
    assert_eq!((read.requests, read.connections), (Some(400), Some(4)), "{text}");
    assert!(text.contains("Application protocol: h2c\n") && text.contains("progress: 100% done\n"), "{text}");
    let bad = read.errors.bad_answers.expect("it is told");
    assert!((100..300).contains(&bad) && text.contains(&format!(" {bad} 5xx\n")), "{text}");
    let timed = stdout(&our_h2load(&["--h1", "-D1", "-c3", &target.url]));
    assert!(timed.contains("Timing-based test with 0s of warm-up time and 1s of main"), "{timed}");
    assert!(timed.contains("Application protocol: http/1.1\n"), "{timed}");
    assert!(row(&timed).requests.is_some_and(|it| it > 0), "{timed}");
    let result = json(&our_h2load(&["-n50", "-c2", "-m3", "--rps", "100", "--json", &target.url]));
    assert_eq!(
        (&result["load"]["streams"], result["load"]["rate_per_s"].as_f64()),
        (&3.into(), Some(200.0)),
        "{result:#}"
    );
}

/// The columns of its table have no room for a bound.
#[test]
fn what_was_given_up_is_told_beside_the_times() {
    let target = Target::start(&["--never-answer"]);
    let text = stdout(&our_h2load(&["--h1", "-n2", "-c2", "-N1", "--verdict", &target.url]));
    assert!(text.contains("2 requests that were given up are in `time for request`"), "{text}");
}

#[test]
fn what_is_not_done_here_is_refused_by_name() {
    for (line, part) in [
        ("--h1 -m2 -n2 http://127.0.0.1:1/", "pipelining"),
        ("http://127.0.0.1:1/ http://127.0.0.1:1/b", "several URIs"),
        ("--log-file=x http://127.0.0.1:1/", "log files"),
        ("http://127.0.0.1:1/", "127.0.0.1:1"),
    ] {
        let arguments: Vec<&str> = line.split(' ').collect();
        let ours = our_h2load(&arguments);
        let said = String::from_utf8_lossy(&ours.stderr).into_owned();
        assert!(ours.status.code() == Some(1) && said.contains(part), "{line}: {said}");
    }
}

/// Without TLS nothing is agreed on: each request of the load would fail, one after the other.
#[test]
fn a_port_that_speaks_no_http_2_is_refused_before_the_load() {
    let target = Target::start(&[]);
    let begun = Instant::now();
    let ours = our_h2load(&["-n1000", &target.url]);
    let said = String::from_utf8_lossy(&ours.stderr).into_owned();
    assert_eq!(ours.status.code(), Some(1), "{said}");
    assert!(said.contains("speaks no HTTP/2 without TLS; ask for HTTP/1.1 with --h1"), "{said}");
    assert!(ours.stdout.is_empty() && begun.elapsed() < Duration::from_secs(5), "{ours:?}");
    assert_eq!(row(&stdout(&our_h2load(&["-n4", "--h1", &target.url]))).requests, Some(4));
}

#[test]
#[cfg(feature = "tls")]
fn https_is_http_2_and_never_falls_back() {
    let target = Target::start(&["--http2", "--tls"]);
    let text = stdout(&our_h2load(&["-n40", "-c2", "-m4", &target.url]));
    for part in ["TLS Protocol: TLSv1.3\n", "Cipher: TLS_", "Server Temp Key: ", "Application protocol: h2\n"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(row(&text).requests, Some(40));
    let without = Target::start(&["--tls"]);
    let ours = our_h2load(&["-n4", &without.url]);
    let said = String::from_utf8_lossy(&ours.stderr).into_owned();
    assert!(ours.status.code() == Some(1) && said.contains("does not agree to speak h2"), "{said}");
    // What is said to help is an option that h2load has.
    assert!(said.contains("ask for HTTP/1.1 with --h1") && !said.contains("--http-version"), "{said}");
    assert_eq!(row(&stdout(&our_h2load(&["-n4", "--h1", &without.url]))).requests, Some(4));
}
