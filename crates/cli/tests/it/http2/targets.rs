//! Our own target over HTTP/2: its log is what the load is held against.

use super::hit2;
use crate::common::{Target, ends_with};
use crate::loads::{hit, outcome, service_did_well};

/// The lines of a target's log without its head: when a request arrived and was answered, ns.
pub fn times(path: &std::path::Path) -> Vec<(u64, Option<u64>)> {
    let text = std::fs::read_to_string(path).expect("it is written");
    let number = |text: &str| text.parse().ok();
    let line = |line: &str| {
        let mut fields = line.split(',');
        (fields.next().and_then(number).expect("an arrival"), fields.next().and_then(number))
    };
    text.lines().skip(1).map(line).collect()
}

#[test]
fn the_targets_log_has_each_request_and_its_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("truth.csv");
    let delay = ["--path", "/=bimodal:1ms,8ms,0.3", "--body-bytes", "100KiB"];
    let truth = ["--truth", log.to_str().expect("a path")];
    let target = Target::start(&[&["--http2"][..], &delay, &truth].concat());
    for (io, window_bits) in [("epoll", "14"), ("auto", "30")] {
        let load = ["-c", "3", "--streams", "8", "-n", "600", "--io", io, "--window-bits", window_bits];
        let result = hit2(&target.url, &load);
        assert!(service_did_well(&result), "{result:#}");
        assert_eq!(outcome(&result, "answered"), 600, "{result:#}");
        assert_eq!(result["connections"]["opened"], 3);
    }
    // A request with a body, and one of HTTP/1.1 at the same port.
    let result =
        hit2(&target.url, &["-c", "2", "--streams", "2", "-n", "20", "--body", &"u".repeat(100_000)]);
    assert_eq!(outcome(&result, "answered"), 20, "{result:#}");
    assert!(result["connections"]["window_waits"].is_null(), "its windows limit nobody: {result:#}");
    let (result, _) = hit(&target.url, &["-c", "1", "-n", "5"]);
    assert_eq!(outcome(&result, "answered"), 5, "{result:#}");
    target.stop();
    let times = times(&log);
    assert_eq!(times.len(), 600 + 600 + 20 + 5);
    let took = |(arrived, answered): &(u64, Option<u64>)| answered.expect("each was answered") - arrived;
    assert!(times.iter().all(|it| took(it) >= 1_000_000), "an answer before it was due");
}

#[test]
fn what_the_target_is_to_do_wrong_it_does_over_http_2() {
    let target = Target::start(&["--http2", "--error-share", "0.25", "--close-every", "10"]);
    let result = hit2(&target.url, &["-c", "2", "--streams", "4", "-n", "400"]);
    let failed = result["statuses"]["500"].as_u64().expect("a count");
    assert!((50..150).contains(&failed), "{failed} of 400 in place of 100");
    let opened = result["connections"]["opened"].as_u64().expect("a count");
    assert!(opened > 10, "{opened} connections, of which each is ended after ten answers");

    let silent = Target::start(&["--http2", "--never-answer"]);
    let result = hit2(&silent.url, &["-c", "1", "--streams", "3", "-n", "9", "--timeout", "100ms"]);
    assert_eq!(outcome(&result, "timed_out"), 9, "{result:#}");
    assert_eq!(result["connections"]["opened"], 1);

    let narrow = Target::start(&["--http2", "--max-concurrent-streams", "2", "--path", "/=20ms"]);
    let result = hit2(&narrow.url, &["-c", "1", "--streams", "8", "-n", "80"]);
    assert_eq!(outcome(&result, "answered"), 80, "{result:#}");
    let response_us = result["response_time_us"]["p50"].as_f64().expect("it is known");
    assert!(response_us > 70_000.0, "four turns of two, of 20 ms each: {response_us} µs");
    // All but the first two wait, of which those that go out wait three turns at most in the steady state.
    let connections = &result["connections"];
    let waits =
        ["stream_waits", "stream_wait_us", "stream_wait_max_us"].map(|name| connections[name].as_u64());
    let [Some(waits), Some(wait_us), Some(max_us)] = waits else { panic!("{connections}") };
    assert!((70..=78).contains(&waits) && wait_us / waits >= 40_000 && max_us >= 55_000, "{connections}");
    assert!(connections["window_waits"].is_null(), "{connections}");

    let said = ends_with(2, &["target", "--http2", "--model", "pool", "--listen", "127.0.0.1:0"]);
    assert!(said.contains("take --model event-loop"), "{said}");
}

#[test]
#[cfg(feature = "tls")]
fn http_2_is_agreed_on_within_tls_or_the_load_does_not_begin() {
    use crate::loads::outcomes_add_up;

    let target = Target::start(&["--http2", "--tls"]);
    for (io, asked) in [("epoll", "--http2"), ("auto", "--http2-prior-knowledge")] {
        let load =
            ["-c", "2", "--streams", "8", "-n", "400", "--expect-body", "hello", "-k", "--io", io, asked];
        let (result, _) = hit(&target.url, &load);
        outcomes_add_up(&result);
        assert!(service_did_well(&result), "{result:#}");
        assert_eq!(result["answered_as_expected"], 400, "{result:#}");
        assert_eq!(result["load"]["protocol"], "http/2");
        assert_eq!(result["tls"]["agreed"]["alpn"], "h2");
        assert_eq!(result["tls"]["full_handshakes"], 2);
    }
    // Whoever asks for nothing speaks HTTP/1.1.
    let (result, _) = hit(&target.url, &["-c", "2", "-n", "20", "-k"]);
    assert_eq!((outcome(&result, "answered"), &result["tls"]["agreed"]["alpn"]), (20, &"http/1.1".into()));

    let without = Target::start(&["--tls"]);
    for version in [&["--http2"][..], &["--http-version", "2"], &["--http2-prior-knowledge"]] {
        let said = ends_with(3, &[&["hit", &without.url, "-k", "-n", "10"], version].concat());
        assert!(said.contains("does not agree to speak h2") && said.contains("--http-version"), "{said}");
    }
}
