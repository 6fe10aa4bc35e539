//! `proofload sb` against the calibration server.

use std::fs;
use std::process::{Command, Output};

use audit::{Row, Tool};

use crate::common::{Target, link_named, run, stdout};

fn sb(arguments: &[&str]) -> Output {
    run(&[&["sb"], arguments].concat())
}

fn row(text: &str) -> Row {
    let document = audit::read("output", text).expect("it is sb's output");
    let [row]: [Row; 1] = document.rows.try_into().expect("one row");
    assert_eq!(row.tool, Tool::Sb, "{text}");
    row
}

#[test]
fn a_number_of_requests_is_shown_as_sb_shows_it() {
    let target = Target::start(&["--path", "/slow=5ms"]);
    let url = format!("{}/slow", target.url);
    for arguments in [
        &["-u", &url, "-c", "4", "-n", "200", "-B"][..],
        &["--url", &url, "--concurrency=4", "--numberOfRequests=200"],
        &["-u", &url, "-c4", "-n200", "-N0"],
    ] {
        let output = sb(arguments);
        let text = stdout(&output);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("Starting at 20"), "{text}");
        assert_eq!(lines[1], "[Press C to stop the test]");
        assert!(lines[2].starts_with("200\t(RPS: ") && lines[2].ends_with(")\t\t\t"), "{text}");
        assert_eq!(lines[3], "---------------Finished!----------------");
        assert!(lines[4].starts_with("Finished at 20") && lines[4].contains(" (took 00:00:"), "{text}");
        assert_eq!((lines[5], lines[6]), ("Status 200:    200", ""));
        assert!(lines[7].ends_with(" (requests/second)"), "{text}");
        for (line, begins) in lines[8..].iter().zip(["Max: ", "Min: ", "Avg: ", "", "  50%\tbelow "]) {
            assert!(line.starts_with(begins), "{text}");
        }
        assert_eq!((lines.len(), lines[20].starts_with("99.9%\tbelow ")), (21, true), "{text}");
        let row = row(&text);
        assert_eq!((row.requests, row.percentiles_ms.len()), (Some(200), 9), "{text}");
        assert!(row.missing.is_empty() && row.elapsed_s.is_some() && row.mean_ms.is_some(), "{text}");
    }
}

/// What is answered behind the end is among the statuses and not in the rate.
#[test]
fn nothing_is_broken_in_a_run_of_a_few_answers() {
    let target = Target::start(&["--path", "/slow=400ms"]);
    let url = format!("{}/slow", target.url);
    let command = ["-u", &url, "-c", "4", "-N", "1"];
    let text = stdout(&sb(&command));
    assert!(text.contains(" (took 00:00:01.0"), "what was waited for is not in it: {text}");
    for text in [format!("$ sb {}\n{text}", command.join(" ")), text] {
        let document = audit::read("output", &text).expect("it is sb's output");
        let findings = audit::audit(&[document]).files.remove(0).findings;
        assert!(findings.iter().all(|it| it.level != audit::Level::Broken), "{findings:#?}\n{text}");
    }
}

#[test]
fn exceptions_have_names_of_their_own_and_are_no_status() {
    let target = Target::start(&["--never-answer"]);
    let output = sb(&["-u", &target.url, "-c", "4", "-N", "1"]);
    let text = stdout(&output);
    assert!(text.contains("\nin flight:    4\n\nRPS: 0 (requests/second)\n"), "{text}");
    assert!(!text.contains("Status") && text.contains("  50%\tabove "), "{text}");
    for name in ["Max", "Min", "Avg"] {
        assert!(text.contains(&format!("\n{name}: above ")), "{text}");
    }
    let target = Target::start(&["--error-share", "1"]);
    let text = stdout(&sb(&["-u", &target.url, "-n", "10"]));
    assert!(text.contains("\nStatus 500:    10\n"), "{text}");
}

#[test]
fn a_delay_and_a_warm_up_are_kept() {
    let target = Target::start(&[]);
    // One user who pauses 100 ms makes ten requests a second at most.
    let text = stdout(&sb(&["-u", &target.url, "-N", "1", "-y", "100", "-W", "1", "--verdict"]));
    let requests = row(&text).requests.unwrap();
    assert!((1..=11).contains(&requests), "{text}");
    assert!(text.contains("\nverdict  ") && text.contains("\ncensored  "), "{text}");
}

#[test]
fn a_template_gives_headers_and_body() {
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("template.txt");
    let path = file.to_str().unwrap();
    fs::write(&file, "Content-Type: application/json\r\nX-A: b\r\n\r\n{\"a\": 1}").unwrap();
    let url = format!("{}/hello", target.url);
    let text = stdout(&sb(&["-u", &url, "-m", "POST", "-t", path, "-d", "-h", "-q", "-v"]));
    for part in
        ["POST http://127", "Content-Type: application/json\r\nX-A: b\r\n", "{\"a\": 1}\n", "HTTP/1.1 "]
    {
        assert!(text.contains(part), "{part:?} in {text}");
    }
    // As editors of Windows write it.
    fs::write(&file, "\u{feff}Content-Type: application/json\r\nX-A: b\r\n\r\n{\"a\": 1}").unwrap();
    let marked = sb(&["-u", &url, "-m", "POST", "-t", path, "-d", "-h"]);
    assert!(stdout(&marked).contains("\nContent-Type: application/json\r\n"), "{marked:?}");
    let shown = stdout(&sb(&["-u", &url, "-d"]));
    assert!(shown.contains("\nhello\n") && shown.contains("\nStatus 200:    1\n"), "{shown}");
    assert_eq!(sb(&["-u", &url, "-m", "POST", "-t", path, "-n", "5"]).status.code(), Some(0));
    let get = sb(&["-u", &url, "-t", path, "-n", "5"]);
    assert!(String::from_utf8_lossy(&get.stderr).contains("body is not sent with GET"), "{get:?}");
    assert!(stdout(&get).contains("Status 200:    5"), "{get:?}");
}

#[test]
fn what_is_not_supported_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("template.txt");
    fs::write(&file, "X-A: b\n\nid={{{ID}}}").unwrap();
    let path = file.to_str().unwrap();
    // Nobody listens there: who were asked would be refused with another code.
    let url = "http://127.0.0.1:1/";
    for (arguments, says) in [
        (&["-u", url, "-p", "x.dll"][..], "-p (--plugin) is not supported"),
        (&["-u", url, "-f", "values.csv"], "-f (--file) is not supported"),
        (&["-u", url, "--logfile", "x.log"], "-l (--logfile) is not supported"),
        (&["-u", url, "-z"], "-z (--saveResponses) is not supported"),
        (&["-u", url, "-h"], "-h (--headers) prints something of every request"),
        (&["-u", "HTTPS://127.0.0.1:1/", "-d"], "-d (--dryRun) makes its one request without TLS"),
        (&["-u", "http://127.0.0.1:1/{{{ID}}}"], "placeholders"),
        (&["-u", url, "-t", path, "-m", "POST"], "template.txt:3:4: placeholders"),
        (&["-u", url, "-t", "/no/such/template"], "/no/such/template"),
        (&["-u", url, "-t", "/dev/zero"], "/dev/zero: is longer than 256 MiB"),
        (&["-u", url, "-c", "0"], "zero connections"),
        (&["-u", url, "-n", "0"], "zero requests"),
        (&["-u", "127.0.0.1:1"], "not a URL"),
        (&["-c", "4"], "--url"),
        (&["-u", url, "-o"], "-o"),
    ] {
        let output = sb(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(says), "{arguments:?}: {stderr}");
        assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(2), ""), "{arguments:?}");
    }
    assert_eq!(sb(&["-u", url]).status.code(), Some(3));
}

#[test]
#[cfg(feature = "tls")]
fn options_that_sb_has_not_are_named_as_those_of_another_command() {
    let target = Target::start(&["--tls"]);
    let output = sb(&["-u", &target.url, "-n", "3"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("--insecure (options of `proofload hit`, which sb has not)"), "{said}");
}

#[test]
fn a_link_named_sb_is_sb() {
    let target = Target::start(&[]);
    let folder = tempfile::tempdir().unwrap();
    let output =
        Command::new(link_named("sb", &folder)).args(["-u", &target.url, "-n", "3"]).output().unwrap();
    assert!(stdout(&output).contains("\nStatus 200:    3\n"), "{output:?}");
}
