//! Users with several requests over HTTP/2: scenarios, recordings, documents and copied commands, held against the target's log.

use std::path::Path;

use serde_json::Value;

use super::targets::times;
use crate::common::{Target, ends_with, json, run};
use crate::loads::{outcome, outcomes_add_up};

/// A file with this text; as an argument.
fn written(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).expect("it can be written");
    path.display().to_string()
}

/// A target over HTTP/2 whose log goes to `log`.
fn target(log: &Path, arguments: &[&str]) -> Target {
    let truth = ["--truth", log.to_str().expect("a path")];
    Target::start(&[&["--http2", "--path", "/hello=5ms"][..], &truth, arguments].concat())
}

/// What a load came to, and what was said beside it.
fn load(arguments: &[&str]) -> (Value, String) {
    let output = run(&[&["hit", "--json"], arguments].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.stdout.is_empty(), "{said}");
    let result = json(&output);
    outcomes_add_up(&result);
    assert_eq!(result["load"]["protocol"], "http/2", "{said}");
    (result, said)
}

/// A step's requests, and those that failed.
fn step(result: &Value, label: &str) -> (u64, u64) {
    let steps = result["steps"].as_array().expect("steps");
    let step =
        steps.iter().find(|step| step["label"] == label).unwrap_or_else(|| panic!("no {label}: {steps:?}"));
    (step["response_time_us"]["count"].as_u64().expect("a count"), step["failed"].as_u64().expect("a count"))
}

/// Users who take a word from an answer, think, and ask for what it says.
fn wanderers(base: &str, users: u32, iterations: u32) -> String {
    format!(
        "base = \"{base}\"\n[load]\nusers = {users}\niterations = {iterations}\n[[steps]]\nrequest = \"GET /hello?${{__threadNum}}\"\n\
         name = \"first\"\nextract.word = {{ regex = '^(\\w+)$' }}\nexpect = {{ status = 200, contains = \"hello\" }}\nthink = \"20ms\"\n\
         [[steps]]\nrequest = \"POST /${{word}}\"\nname = \"second\"\nform = {{ word = \"${{word}}\" }}\nexpect = {{ status = 200 }}\n"
    )
}

/// Six users who share two connections.
fn a_scenario_goes_over(of_target: &[&str], of_hit: &[&str], alpn: &Value) {
    let folder = tempfile::tempdir().expect("a folder");
    for io in ["epoll", "auto"] {
        let log = folder.path().join(format!("{io}.csv"));
        let target = target(&log, of_target);
        let file = written(folder.path(), "users.toml", &wanderers(&target.url, 6, 5));
        let arguments = [&["--scenario", &file, "--streams", "4", "--io", io], of_hit].concat();
        let (result, _) = load(&arguments);
        assert_eq!(
            (outcome(&result, "answered"), &result["answered_as_expected"]),
            (60, &60.into()),
            "{result:#}"
        );
        assert_eq!((step(&result, "first"), step(&result, "second")), ((30, 0), (30, 0)), "{result:#}");
        assert_eq!((&result["connections"]["opened"], &result["load"]["streams"]), (&2.into(), &4.into()));
        assert_eq!(result["load"]["label"], "6 users, HTTP/2, 4 streams a connection");
        assert_eq!(&result["tls"]["agreed"]["alpn"], alpn);
        let length_s = result["window"]["duration_s"].as_f64().expect("it is known");
        assert!(length_s >= 5.0 * 0.030, "five times 5 ms, a pause of 20 ms, and 5 ms: {length_s} s");
        target.stop();
        let times = times(&log);
        let took = |(arrived, answered): &(u64, Option<u64>)| answered.expect("each was answered") - arrived;
        assert_eq!(times.len(), 60, "the target's log has each request once");
        assert!(times.iter().all(|it| took(it) >= 5_000_000), "an answer before it was due");
    }
}

#[test]
fn a_scenario_goes_over_streams_without_tls() {
    a_scenario_goes_over(&[], &["--http2-prior-knowledge"], &Value::Null);
}

#[test]
#[cfg(feature = "tls")]
fn a_scenario_goes_over_streams_within_tls() {
    a_scenario_goes_over(&["--tls"], &["--http2", "-k"], &"h2".into());
    let without = Target::start(&["--tls"]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = written(folder.path(), "users.toml", &wanderers(&without.url, 2, 1));
    let said = ends_with(3, &["hit", "--scenario", &file, "--http2", "-k"]);
    assert!(said.contains("does not agree to speak h2"), "{said}");
}

#[test]
fn each_server_has_connections_of_its_own_which_the_same_users_share() {
    let folder = tempfile::tempdir().expect("a folder");
    let logs = ["one.csv", "other.csv"].map(|name| folder.path().join(name));
    let targets = logs.each_ref().map(|log| target(log, &[]));
    let steps = targets.each_ref().map(|it| format!("[[steps]]\nrequest = \"{}/hello\"\n", it.url));
    let text = format!("[load]\nusers = 5\niterations = 4\n{}{}", steps[0], steps.concat());
    let file = written(folder.path(), "two.toml", &text);
    let (result, _) = load(&["--scenario", &file, "--http2-prior-knowledge", "--streams", "3"]);
    assert_eq!(result["answered_as_expected"], 60, "{result:#}");
    // Two to each of them, for five users of whom three share one; nobody closes any on the way.
    assert_eq!((&result["connections"]["opened"], &result["load"]["connections"]), (&4.into(), &4.into()));
    targets.into_iter().for_each(Target::stop);
    assert_eq!(logs.map(|log| times(&log).len()), [40, 20]);
}

#[test]
fn a_request_of_a_user_that_times_out_leaves_its_connection_alone() {
    let silent = Target::start(&["--http2", "--never-answer"]);
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!("timeout = \"700ms\"\n{}", wanderers(&silent.url, 3, 2));
    let file = written(folder.path(), "silent.toml", &text);
    let (result, _) = load(&["--scenario", &file, "--http2-prior-knowledge", "--streams", "3"]);
    assert_eq!(
        (outcome(&result, "timed_out"), &result["connections"]["opened"]),
        (12, &1.into()),
        "{result:#}"
    );
}

#[test]
fn a_recording_is_made_again_without_what_http_2_has_no_place_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("truth.csv");
    let target = target(&log, &[]);
    let headers = r#"[{"name": "Connection", "value": "keep-alive"}, {"name": "TE", "value": "trailers"},
        {"name": "Transfer-Encoding", "value": "chunked"}, {"name": "Accept", "value": "*/*"}]"#;
    let entry = format!(
        r#"{{"request": {{"method": "GET", "url": "https://shop.example/hello", "headers": {headers}}}}}"#
    );
    let file =
        written(folder.path(), "shop.har", &format!(r#"{{"log": {{"entries": [{entry}, {entry}]}}}}"#));
    let asked = ["--har", &file, "--base", &target.url, "-c", "4", "--requests-per-user", "3"];
    let (result, said) = load(&[&asked[..], &["--http2-prior-knowledge", "--streams", "2"]].concat());
    assert_eq!(
        (&result["answered_as_expected"], &result["connections"]["opened"]),
        (&24.into(), &2.into()),
        "{said}"
    );
    for name in ["connection", "transfer-encoding"] {
        let expected = format!("left out: the header {name} of 2 requests: it is of HTTP/1.1 alone");
        assert!(said.contains(&expected), "{said}");
    }
    assert!(!said.contains("header te "), "{said}");
    target.stop();
    assert_eq!(times(&log).len(), 24);
}

#[test]
fn a_copied_command_says_which_version_and_loses_what_that_has_no_place_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("truth.csv");
    let target = target(&log, &[]);
    let url = format!("{}/hello", target.url);
    let command =
        format!("curl --http2-prior-knowledge '{url}' -H 'Connection: keep-alive' -H 'Accept: */*'");
    let (result, said) = load(&["--curl", &command, "-n", "40", "-c", "2", "--streams", "4"]);
    assert_eq!(
        (&result["answered_as_expected"], &result["connections"]["opened"]),
        (&40.into(), &2.into()),
        "{said}"
    );
    assert!(
        said.contains("left out: the header `Connection: keep-alive`: it is of HTTP/1.1 alone"),
        "{said}"
    );
    // What is typed beside it comes before what it says, and is no recording.
    let typed = ["hit", "--curl", &command, "-n", "1", "-H", "Connection: close"];
    assert!(ends_with(2, &typed).contains("no place in HTTP/2"));
    let output = run(&["hit", "--curl", &command, "--http-version", "1.1", "-n", "5", "-c", "1", "--json"]);
    assert_eq!((&json(&output)["load"]["protocol"], outcome(&json(&output), "answered")), (&Value::Null, 5));
    let agreed = command.replace("--http2-prior-knowledge", "--http2");
    assert!(ends_with(2, &["hit", "--curl", &agreed, "-n", "1"]).contains("--http2-prior-knowledge"));
    target.stop();
    assert_eq!(times(&log).len(), 45);
}

#[test]
fn requests_that_are_others_each_time_and_documents_go_over_streams() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("truth.csv");
    let target = target(&log, &[]);
    let url = format!("{}/hello?{{{{int 1 9}}}}", target.url);
    let streams = ["--http2-prior-knowledge", "--streams", "3"];
    let varied = [&url, "-H", "X-Id: {{uuid}}", "-n", "30", "-c", "6"];
    let (result, _) = load(&[&varied[..], &streams].concat());
    assert_eq!(
        (&result["answered_as_expected"], &result["connections"]["opened"]),
        (&30.into(), &2.into()),
        "{result:#}"
    );
    let document = r#"{"openapi": "3.0.0", "info": {"title": "t", "version": "1"}, "paths": {"/hello": {"get": {"responses": {}}}}}"#;
    let file = written(folder.path(), "api.json", document);
    let asked = ["--openapi", &file, "--base", &target.url, "-n", "20", "-c", "3"];
    let (result, _) = load(&[&asked[..], &streams].concat());
    assert_eq!(
        (&result["answered_as_expected"], &result["connections"]["opened"]),
        (&20.into(), &1.into()),
        "{result:#}"
    );
    target.stop();
    assert_eq!(times(&log).len(), 50);
}

#[test]
fn what_users_can_not_say_over_http_2_is_refused_before_anything_is_sent() {
    let folder = tempfile::tempdir().expect("a folder");
    let of = |step: &str| {
        let text = format!(
            "base = \"http://127.0.0.1:9\"\n[[steps]]\nloop = 2\n[[steps.steps]]\nrequest = \"/a\"\n{step}\n"
        );
        written(folder.path(), "users.toml", &text)
    };
    let known = "--http2-prior-knowledge";
    for (step, arguments, part) in [
        (
            "headers = { Connection = \"close\" }",
            &[known][..],
            "step `GET /a`: the request is not valid: header connection",
        ),
        ("keep_alive = false", &[known], "step `GET /a`: it closes its connection, which others share"),
        ("", &["--http2"], "add --http2-prior-knowledge"),
        ("", &["--streams", "4"], "--streams is of HTTP/2 alone"),
        ("", &[known, "--streams", "0"], "zero streams"),
    ] {
        let file = of(step);
        let said = ends_with(2, &[&["hit", "--scenario", &file], arguments].concat());
        assert!(said.contains(part), "{step} {arguments:?}: {said}");
    }
}
