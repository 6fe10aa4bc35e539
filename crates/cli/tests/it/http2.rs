//! `proofload hit` over HTTP/2: hyper's server, nginx and Go's, our own target, and what is said where it can't be spoken.

mod hyper_server;
mod others;
mod targets;
mod users;

use std::time::Duration;

use serde_json::Value;

use self::hyper_server::{Plan, Server};
use crate::common::{Target, ends_with};
use crate::loads::{hit, outcome, outcomes_add_up, service_did_well};

/// With HTTP/2 asked for.
fn hit2(url: &str, arguments: &[&str]) -> Value {
    let (result, code) = hit(url, &[&["--http2-prior-knowledge"], arguments].concat());
    outcomes_add_up(&result);
    assert_eq!(result["load"]["protocol"], "http/2", "{code}");
    result
}

/// A part of a distribution, µs.
fn time(result: &Value, of: &str, which: &str) -> f64 {
    result[of][which].as_f64().unwrap_or_else(|| panic!("no {which} of {of}: {}", result[of]))
}

#[test]
fn streams_of_few_connections_are_users_over_both_drivers() {
    let server = Server::start(Plan::default());
    for io in ["epoll", "auto"] {
        let before = server.asked();
        let arguments = ["-c", "3", "--streams", "5", "-n", "900", "--expect-body", "xxxxx", "--io", io];
        let result = hit2(&server.url, &arguments);
        assert!(service_did_well(&result), "{result:#}");
        assert_eq!((outcome(&result, "answered"), server.asked() - before), (900, 900), "{result:#}");
        assert_eq!((&result["load"]["streams"], &result["connections"]["opened"]), (&5.into(), &3.into()));
        assert_eq!(result["load"]["label"], "3 connections, HTTP/2, 5 streams each");
        assert_eq!(result["littles_law"]["users"], 15.0);
        assert_eq!(result["statuses"]["200"], 900);
    }
}

#[test]
fn users_think_and_arrivals_keep_their_rate_as_over_http_1() {
    let server = Server::start(Plan::default());
    let result = hit2(&server.url, &["-c", "2", "--streams", "4", "--rate", "400", "-d", "1s"]);
    // On a machine that is busy with other tests some may be due too late to be sent.
    outcomes_add_up(&result);
    assert_eq!(
        (&result["intended"], &result["statuses"]["200"]),
        (&400.into(), &result["answered_as_expected"])
    );
    let arguments =
        ["-c", "2", "--streams", "3", "--ramp-up", "200ms", "--requests-per-user", "4", "--think", "1ms"];
    let result = hit2(&server.url, &arguments);
    assert_eq!(
        (outcome(&result, "answered"), result["connections"]["opened"].as_u64()),
        (24, Some(2)),
        "{result:#}"
    );
}

#[test]
fn bodies_larger_than_the_windows_come_and_go_whole() {
    let up = Server::start(Plan { body_bytes: None, ..Plan::default() });
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), vec![b'u'; 300_000]).expect("it can be written");
    let path = file.path().to_str().expect("a path");
    let arguments = ["-c", "2", "--streams", "3", "-n", "60", "--body-file", path, "--expect-body", "300000"];
    for io in ["epoll", "auto"] {
        let result = hit2(&up.url, &[&arguments[..], &["--io", io]].concat());
        assert_eq!(result["answered_as_expected"], 60, "{result:#}");
        assert_eq!(result["connections"]["window_waits"], 60, "{result:#}");
        let waited_us = result["connections"]["window_wait_us"].as_u64().unwrap_or_default();
        let bound_us = 6.0 * result["window"]["duration_s"].as_f64().unwrap_or_default() * 1e6;
        assert!(waited_us > 0 && (waited_us as f64) < bound_us, "{result:#}");
    }
    let down = Server::start(Plan { body_bytes: Some(3 << 20), ..Plan::default() });
    for bits in ["14", "30"] {
        let arguments = ["-c", "1", "--streams", "2", "-n", "6", "--timeout", "20s", "--window-bits", bits];
        let result = hit2(&down.url, &[&arguments[..], &["--connection-window-bits", bits]].concat());
        assert_eq!(result["answered_as_expected"], 6, "{result:#}");
    }
}

#[test]
fn who_waits_for_a_stream_waits_for_the_server() {
    let delay = Duration::from_millis(20);
    let server = Server::start(Plan { streams_max: 2, delay, ..Plan::default() });
    let result = hit2(&server.url, &["-c", "1", "--streams", "8", "-n", "80"]);
    assert_eq!(outcome(&result, "answered"), 80, "{result:#}");
    // Four turns of two, of which three are waited for.
    assert!(time(&result, "response_time_us", "p50") > 70_000.0, "{result:#}");
    assert!(time(&result, "service_time_us", "p50") < 60_000.0, "{result:#}");
    assert!(time(&result, "lag_us", "p50") > 50_000.0, "{result:#}");
}

#[test]
fn a_stream_that_times_out_leaves_its_connection_alone() {
    let server = Server::start(Plan { delay: Duration::from_millis(400), ..Plan::default() });
    let result = hit2(&server.url, &["-c", "1", "--streams", "3", "-n", "9", "--timeout", "100ms"]);
    assert_eq!(
        (outcome(&result, "timed_out"), result["connections"]["opened"].as_u64()),
        (9, Some(1)),
        "{result:#}"
    );
}

#[test]
fn a_server_that_ends_its_connections_in_good_order_costs_no_request() {
    let server = Server::start(Plan { requests_a_connection: 50, ..Plan::default() });
    for io in ["epoll", "auto"] {
        let result = hit2(&server.url, &["-c", "2", "--streams", "8", "-n", "2000", "--io", io]);
        assert_eq!(outcome(&result, "answered"), 2000, "{result:#}");
        let opened = result["connections"]["opened"].as_u64().expect("a count");
        assert!(opened > 10, "{opened} connections for 2000 requests of which each takes some fifty");
    }
}

/// Each request of the load would fail.
#[test]
fn a_server_of_http_1_is_said_to_be_none_of_http_2_before_the_load() {
    let target = Target::start(&[]);
    let says = "speaks no HTTP/2 without TLS; leave --http2-prior-knowledge out, or check the port";
    // The second has users.
    for way in [&[][..], &["--follow"]] {
        let load = ["hit", &target.url, "-q", "-c", "2", "-n", "6", "--http2-prior-knowledge"];
        let said = ends_with(3, &[&load[..], way].concat());
        assert!(said.contains(says), "{way:?}: {said}");
    }
}

#[test]
fn what_can_not_be_asked_for_is_said_before_anything_is_sent() {
    let url = "http://127.0.0.1:9/";
    for (arguments, part) in [
        (&["--http2"][..], "add --http2-prior-knowledge"),
        (&["--http-version", "2"], "add --http2-prior-knowledge"),
        (&["--http-version", "1.1", "--http2-prior-knowledge"], "leave one of them out"),
        (&["--streams", "4"], "--streams is of HTTP/2 alone"),
        (&["--window-bits", "20"], "--window-bits is of HTTP/2 alone"),
        (&["--http2-prior-knowledge", "--streams", "0"], "zero streams"),
        (&["--http2-prior-knowledge", "--window-bits", "31"], "from 10 to 30 bits"),
        (&["--http2-prior-knowledge", "--streams", "2", "--no-keep-alive"], "has no use for streams"),
        (&["--http2-prior-knowledge", "-c", "1000", "--streams", "100000"], "more than 4000000 exchanges"),
        (&["--http2-prior-knowledge", "-H", "Connection: close"], "no place in HTTP/2"),
    ] {
        let said = ends_with(2, &[&["hit", url], arguments].concat());
        assert!(said.contains(part), "{arguments:?}: {said}");
    }
}
