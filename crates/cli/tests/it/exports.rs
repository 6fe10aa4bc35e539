//! `proofload export`, and the files that `hit` writes for other tools.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use exports::otlp_proto::ExportMetricsServiceRequest;
use exports::remote_write_proto::WriteRequest;
use prost::Message;
use serde_json::Value;

use crate::common::{NOBODY, Target, json, proofload, repository, run, stdout};
use crate::receiver::{Received, Receiver};
use crate::recorded::{EXPERIMENT, Runs, at, failed, manifest};

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn fails_with(output: &Output, code: i32, part: &str) {
    let told = text(output);
    assert_eq!(output.status.code(), Some(code), "{told}");
    assert!(told.contains(part), "{told}");
    assert_eq!(told.trim().lines().count(), 1, "one clear error: {told}");
}

/// A log of so many response times.
fn write_log(folder: &std::path::Path, count: u64) {
    let log = record::IntervalLog::create(folder.join("response_time.hlog")).unwrap();
    record::with_interval_log(Some(&log), |log| {
        let mut times = stats::Distribution::default();
        (1..=count).for_each(|ms| times.record(units::Duration::from_millis(ms)));
        log(0, units::Duration::ZERO, units::Duration::from_secs(1), &times);
    });
}

/// A run of three trials, one of which failed, with the log of the first.
fn a_run(runs: &Runs) -> String {
    let mut first = at(0, "gin", 1000.0);
    let record::TrialResult::Measured(measured) = &mut first.result else { panic!("it is measured") };
    // As many as its log has.
    measured.load.response_time_us.count = 100;
    let trials = [first, at(1, "gin", 1010.0), failed(2, "gin")];
    let dir = runs.write("run", &manifest("2026-01-01T00:00:00Z"), EXPERIMENT, &trials);
    let folder = runs.path("run").join("trials/0000");
    fs::create_dir_all(&folder).unwrap();
    write_log(&folder, 100);
    dir
}

/// Rows of a JTL without its header, split at commas: no field of these loads has one.
fn rows(path: &std::path::Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(path).expect("it was written");
    assert!(text.starts_with("timeStamp,elapsed,label,responseCode,"), "{text}");
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn total_count(hgrm: &str) -> u64 {
    let line = hgrm.lines().find(|line| line.starts_with("#[Max")).expect("a footer");
    let (_, count) = line.rsplit_once('=').expect("a figure");
    count.trim().trim_end_matches(']').parse().expect("a count")
}

#[test]
fn a_load_writes_a_row_a_request_and_its_percentiles() {
    let target = Target::start(&["--error-share", "0.5"]);
    let dir = tempfile::tempdir().unwrap();
    let (jtl, hgrm) = (dir.path().join("rows.jtl"), dir.path().join("times.hgrm"));
    let url = format!("{}/hello?a=b", target.url);
    let files = ["--jtl", jtl.to_str().unwrap(), "--hgrm", hgrm.to_str().unwrap()];
    let load = ["hit", &url, "--json", "-c", "7", "-n", "3000", "--threads", "2"];
    let result = json(&run(&[&load[..], &files].concat()));
    let rows = rows(&jtl);
    assert_eq!(rows.len() as u64, result["intended"].as_u64().unwrap());
    let of = |status: &str| rows.iter().filter(|row| row[3] == status).count() as u64;
    for status in ["200", "500"] {
        assert_eq!(Some(of(status)), result["statuses"][status].as_u64(), "{status}");
    }
    assert!(rows.iter().all(|row| row[2] == "GET /hello" && (row[7] == "true") == (row[3] == "200")));
    assert!(rows.iter().any(|row| row[5] == "hit 1-2"), "both load threads");
    let bytes: u64 = rows.iter().map(|row| row[9].parse::<u64>().unwrap()).sum();
    assert!(bytes > 3000 * 50, "{bytes}");
    let hgrm = fs::read_to_string(&hgrm).unwrap();
    assert_eq!(Some(total_count(&hgrm)), result["response_time_us"]["count"].as_u64());
    assert!(!hgrm.contains("Censored"), "{hgrm}");
}

#[test]
fn of_requests_without_an_answer_there_are_rows_and_no_percentiles() {
    let target = Target::start(&["--never-answer"]);
    let dir = tempfile::tempdir().unwrap();
    let (jtl, hgrm) = (dir.path().join("rows.jtl"), dir.path().join("times.hgrm"));
    let files = ["--jtl", jtl.to_str().unwrap(), "--hgrm", hgrm.to_str().unwrap()];
    let load = ["hit", &target.url, "--json", "-c", "3", "-n", "6", "--timeout", "200ms"];
    let output = run(&[&load[..], &files].concat());
    assert_eq!(output.status.code(), Some(4));
    let rows = rows(&jtl);
    assert_eq!(rows.len(), 6);
    let waited: Vec<u64> = rows.iter().map(|row| row[1].parse().unwrap()).collect();
    assert!(rows.iter().all(|row| row[3].contains("SocketTimeoutException") && row[7] == "false"));
    assert!(waited.iter().all(|ms| *ms >= 199), "{waited:?}");
    let hgrm = fs::read_to_string(&hgrm).unwrap();
    assert!(hgrm.lines().nth(2).unwrap().starts_with("#[Mean"), "there is no row: {hgrm}");
    assert!(hgrm.contains("#[Censored =           6,"), "{hgrm}");
}

#[test]
fn a_scenarios_steps_are_rows_too() {
    let target = Target::start(&[]);
    let dir = tempfile::tempdir().unwrap();
    let (jtl, hgrm) = (dir.path().join("rows.jtl"), dir.path().join("times.hgrm"));
    let har = dir.path().join("two.har");
    let entry = |path: &str| {
        format!(
            r#"{{"startedDateTime":"2026-01-01T00:00:00Z","time":1,"request":{{"method":"GET","url":"{}{path}",
            "headers":[],"queryString":[],"cookies":[]}},"response":{{"status":200,"content":{{"mimeType":""}}}}}}"#,
            target.url
        )
    };
    let log = format!(r#"{{"log":{{"version":"1.2","entries":[{},{}]}}}}"#, entry("/"), entry("/hello"));
    fs::write(&har, log).unwrap();
    let files = ["--jtl", jtl.to_str().unwrap(), "--hgrm", hgrm.to_str().unwrap()];
    let load = ["hit", "--har", har.to_str().unwrap(), "--json", "-q", "-c", "2", "--requests-per-user", "5"];
    let output = run(&[&load[..], &files].concat());
    let result = json(&output);
    let rows = rows(&jtl);
    assert_eq!(rows.len() as u64, result["intended"].as_u64().unwrap(), "{}", text(&output));
    assert!(rows.len() >= 10 && rows.iter().all(|row| row[3] == "200"), "{rows:?}");
    let total = total_count(&fs::read_to_string(&hgrm).unwrap());
    assert_eq!(Some(total), result["response_time_us"]["count"].as_u64());
}

#[test]
fn a_file_that_cannot_be_written_loses_no_result() {
    let target = Target::start(&[]);
    for option in ["--jtl", "--hgrm", "--hlog"] {
        let nowhere = run(&["hit", &target.url, "-n", "10", "-q", option, "/nowhere/at/all"]);
        fails_with(&nowhere, 1, option);
        assert_eq!(stdout(&nowhere), "", "nothing is measured for a file that can't be");
        let full = run(&["hit", &target.url, "--json", "-c", "2", "-n", "500", "-q", option, "/dev/full"]);
        fails_with(&full, 1, option);
        assert_eq!(json(&full)["outcomes"]["answered"], 500);
    }
}

#[test]
fn a_run_is_written_for_a_scrape_and_its_percentiles_by_trial() {
    let runs = Runs::new();
    let dir = a_run(&runs);
    let (prom, percentiles) = (runs.path("run.prom"), runs.path("percentiles"));
    let files = ["--prometheus", prom.to_str().unwrap(), "--hgrm", percentiles.to_str().unwrap()];
    let output = run(&[&["export", &dir][..], &files].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let told = fs::read_to_string(&prom).unwrap();
    let of_block = |block: u32| {
        format!(
            "{{block=\"{block}\",driver=\"proofload\",experiment=\"made up\",load=\"50 connections\",role=\"stack\",\
             round=\"hello\",stack=\"gin\"}}"
        )
    };
    for line in [
        format!("proofload_goodput_per_second{} 1010", of_block(1)),
        format!("proofload_trial_measured{} 0", of_block(2)),
        format!("proofload_response_time_seconds_count{} 100", of_block(0)),
    ] {
        assert!(told.lines().any(|it| it == line), "{line}:\n{told}");
    }
    assert!(
        !told.contains(&format!("proofload_response_time_seconds_count{}", of_block(1))),
        "it has no log"
    );
    let left: Vec<_> = fs::read_dir(runs.dir()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("partial")), "{left:?}");
    assert_eq!(total_count(&fs::read_to_string(percentiles.join("0000.hgrm")).unwrap()), 100);
    assert_eq!(fs::read_dir(&percentiles).unwrap().count(), 1);
    let printed = run(&["export", &dir, "--open-metrics", "-"]);
    assert!(stdout(&printed).ends_with("# EOF\n"), "{}", stdout(&printed));
}

#[test]
fn a_result_is_exported_from_standard_input() {
    let target = Target::start(&[]);
    let hit = run(&["hit", &target.url, "--json", "-q", "-c", "2", "-n", "200"]);
    let told = exported(&hit.stdout);
    let labels = format!(
        "{{driver=\"proofload\",load=\"2 connections\",outcome=\"answered\",target=\"{}/\"}}",
        target.url
    );
    assert!(told.contains(&format!("proofload_requests_total{labels} 200\n")), "{told}");
    // What would turn a terminal's direction is shown by a number, in a value that Prometheus takes.
    let mut hostile: Value = serde_json::from_slice(&hit.stdout).unwrap();
    hostile["url"] = "a scenario\u{202e}txt".into();
    let told = exported(hostile.to_string().as_bytes());
    assert!(told.contains("target=\"a scenario\\\\u{202e}txt\""), "{told}");
}

/// What is exported of a result, to standard output.
fn exported(result: &[u8]) -> String {
    let mut child = proofload()
        .args(["export", "-", "--prometheus", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(result).unwrap();
    stdout(&child.wait_with_output().unwrap())
}

/// Series of remote write in a message.
fn series(message: &Received) -> usize {
    let plain = snap::raw::Decoder::new().decompress_vec(&message.body).expect("snappy");
    WriteRequest::decode(plain.as_slice()).expect("a message").timeseries.len()
}

#[test]
fn a_receiver_in_trouble_is_asked_again_with_the_same() {
    let receiver =
        Receiver::start(&[("503 Busy\r\nRetry-After: 0", b"just starting"), ("204 No Content", b"")]);
    let runs = Runs::new();
    let dir = a_run(&runs);
    let output =
        run(&["export", &dir, "--remote-write", &receiver.url, "-H", "X-Scope-OrgID: team", "--at", "now"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let waits = "/api/v1/write did not take a message; it is tried up to 6 times";
    assert_eq!(text(&output).matches(waits).count(), 1, "{}", text(&output));
    let received = receiver.received();
    assert_eq!(received.len(), 2);
    assert_eq!(received[0].body, received[1].body);
    let it = &received[1];
    assert_eq!(it.line, "POST /api/v1/write HTTP/1.1");
    let headers = [
        ("content-type", "application/x-protobuf"),
        ("content-encoding", "snappy"),
        ("x-prometheus-remote-write-version", "0.1.0"),
        ("x-scope-orgid", "team"),
    ];
    for (name, value) in headers {
        assert_eq!(it.header(name), Some(value), "{name}");
    }
    let printed = stdout(&run(&["export", &dir, "--prometheus", "-"]));
    let lines = printed.lines().filter(|line| !line.starts_with('#')).count();
    assert_eq!(series(it), lines, "as many as in the text");
}

/// That an export to this receiver succeeds, and sends its one message twice.
fn is_sent_again(receiver: &Receiver) {
    let runs = Runs::new();
    let output = run(&["export", &a_run(&runs), "--otlp", &receiver.url]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let received = receiver.received();
    assert_eq!(received.len(), 2);
    assert_eq!(received[0].body, received[1].body);
}

#[test]
fn a_connection_that_breaks_is_made_again() {
    is_sent_again(&Receiver::start(&[("", b""), ("200 OK", b"")]));
}

/// Whoever was there a moment ago is being started anew, and refuses connections meanwhile.
#[test]
fn a_receiver_that_is_started_anew_is_waited_for() {
    is_sent_again(&Receiver::restarting());
}

#[test]
fn a_collector_that_takes_a_part_is_an_error_with_its_reason() {
    let receiver = Receiver::start(&[("200 OK", b""), ("200 OK", b"\x0a\x0a\x08\x03\x12\x06too ol")]);
    let runs = Runs::new();
    let dir = a_run(&runs);
    let taken = run(&["export", &dir, "--otlp", &receiver.url]);
    assert_eq!(taken.status.code(), Some(0), "{}", text(&taken));
    let it = &receiver.received()[0];
    assert_eq!(it.line, "POST /v1/metrics HTTP/1.1");
    let message = ExportMetricsServiceRequest::decode(it.body.as_slice()).expect("a message");
    let metrics = &message.resource_metrics[0].scope_metrics[0].metrics;
    assert!(metrics.iter().any(|it| it.name == "proofload.goodput"), "{metrics:?}");
    let partly = run(&["export", &dir, "--otlp", &format!("{}/own/path", receiver.url)]);
    fails_with(&partly, 1, "but 3 data points of it: too ol");
    assert_eq!(receiver.received()[1].line, "POST /own/path HTTP/1.1");
}

#[test]
fn what_is_refused_is_told_once_and_not_sent_again() {
    let receiver = Receiver::start(&[("400 Bad Request", b"out of bounds\x1b[2J\nsecond line")]);
    let runs = Runs::new();
    let dir = a_run(&runs);
    // What stands in a query may be a key.
    let refused = run(&["export", &dir, "--remote-write", &format!("{}/push?key=secret", receiver.url)]);
    fails_with(&refused, 1, "/push answered 400 to try 1: out of bounds [2J second line");
    assert_eq!(receiver.received()[0].line, "POST /push?key=secret HTTP/1.1");
    assert_eq!(receiver.received().len(), 1);
    // Somewhere else is not whom was named.
    let moved = Receiver::start(&[("302 Found\r\nLocation: http://127.0.0.1:1/", b"")]);
    fails_with(&run(&["export", &dir, "--otlp", &moved.url]), 1, "answered 302");
}

#[test]
fn nobody_there_is_told_at_once_and_loses_nothing() {
    let runs = Runs::new();
    let dir = a_run(&runs);
    let prom = runs.path("run.prom");
    for option in ["--remote-write", "--otlp"] {
        let url = format!("http://{NOBODY}");
        let output = run(&["export", &dir, option, &url, "--prometheus", prom.to_str().unwrap()]);
        fails_with(&output, 3, "nobody answers at");
        assert!(fs::metadata(&prom).is_ok(), "files are written before anything is sent");
    }
}

#[test]
fn bad_input_is_one_clear_error() {
    let runs = Runs::new();
    let dir = a_run(&runs);
    let file = |name: &str, text: &str| {
        fs::write(runs.path(name), text).unwrap();
        runs.path(name).display().to_string()
    };
    let newer = file("newer.json", r#"{"version": 99}"#);
    let none = file("none.json", "{\n\"version\": 1, oops");
    let out = ["--prometheus", "-"];
    for (arguments, part) in [
        (["export", "/nowhere", out[0], out[1]], "/nowhere can't be read"),
        (["export", &newer, out[0], out[1]], "version 99, and 1 is the newest known here"),
        (["export", &none, out[0], out[1]], "none.json:2:"),
        (["export", &dir, "--remote-write", "https://127.0.0.1/"], "TLS, which `export` does not speak"),
        (["export", &dir, "--otlp", "https://me:word@127.0.0.1/"], "`…@127.0.0.1/` needs TLS"),
        (["export", &dir, "--otlp", "127.0.0.1:4318"], "--otlp: `127.0.0.1:4318`"),
        (["export", &dir, "--otlp", "http://me:word@127.0.0.1"], "carries a user name"),
    ] {
        fails_with(&run(&arguments), 2, part);
    }
    for (header, shown) in [("a b: secret", "the header `a…`"), ("A: caf\u{e9} secret", "the header `A…`")]
    {
        let output = run(&["export", &dir, "--otlp", "http://127.0.0.1", "-H", header]);
        fails_with(&output, 2, shown);
        assert!(!text(&output).contains("secret"), "{}", text(&output));
    }
    fs::write(runs.path("no-text.bin"), b"\xc3\x28").unwrap();
    let no_text = runs.path("no-text.bin").display().to_string();
    fails_with(&run(&["export", &no_text, out[0], out[1]]), 2, "a file that hit --json printed");
    let nothing = run(&["export", &dir]);
    assert_eq!(nothing.status.code(), Some(2), "{}", text(&nothing));
    let hgrm = runs.path("x").display().to_string();
    let result = file("hit.json", &serde_json::to_string(&a_result()).unwrap());
    fails_with(&run(&["export", &result, "--hgrm", &hgrm]), 2, "proofload hit --hgrm");
    let folder = runs.path("run").join("trials/0000");
    write_log(&folder, 99);
    fails_with(&run(&["export", &dir, out[0], out[1]]), 2, "it was cut short");
    fs::write(folder.join("response_time.hlog"), "half a li\n").unwrap();
    fails_with(&run(&["export", &dir, out[0], out[1]]), 2, "response_time.hlog:1:");
}

/// A result as `hit --json` prints it.
fn a_result() -> Value {
    let trial = serde_json::to_value(at(0, "gin", 1000.0)).unwrap();
    trial["measured"]["load"].clone()
}

/// HdrHistogram's, Prometheus' and OpenTelemetry's own code reads all of it. Where their libraries can't be had, the
/// script says which.
#[test]
#[ignore = "slow: builds and runs other projects' readers in Go and Java"]
fn those_it_is_for_read_what_is_exported() {
    let output = Command::new(repository().join("scripts/exports-compat.sh"))
        .env("PROOFLOAD", env!("CARGO_BIN_EXE_proofload"))
        .stdin(Stdio::null())
        .output()
        .expect("the script starts");
    let (told, errors) = (stdout(&output), text(&output));
    match output.status.code() {
        Some(0) => assert_eq!(told.lines().count(), 7, "{told}{errors}"),
        Some(3) => eprintln!("passed over: {errors}"),
        code => panic!("{code:?}: {told}{errors}"),
    }
}
