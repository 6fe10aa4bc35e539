//! `proofload hit` with requests from a curl command, a HAR file, an OpenAPI document.

use crate::common::{Target, json, run, sent_by};
use std::fs;

#[test]
fn a_copied_curl_command_is_sent_as_it_is() {
    let target = Target::start(&[]);
    let command = format!("curl -sS '{}/' -H 'X-Copied: yes' --data-raw 'a=1' --compressed", target.url);
    let output = run(&["hit", "--curl", &command, "-c", "2", "-n", "10", "--json"]);
    let result = json(&output);
    assert_eq!(result["outcomes"]["answered"], 10, "{result}");
    let refused = run(&["hit", "--curl", "curl -T a.txt http://127.0.0.1:1/"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("-T is not understood"));
}

/// Of fields that may be there once, servers read the one or the other.
#[test]
fn a_field_takes_the_place_of_a_copied_one() {
    let copied = "curl {url}api -H 'Authorization: Bearer OLD' -H 'X-Other: kept' -d 'a=1'";
    let fields = ["-H", "authorization: Bearer NEW", "-H", "Content-Type: application/json"];
    let sent = sent_by(&[&["hit", "--curl", copied, "-n", "1", "-c", "1", "-q"][..], &fields].concat());
    let head = sent.to_ascii_lowercase();
    for (field, due) in
        [("authorization", " bearer new"), ("content-type", " application/json"), ("x-other", " kept")]
    {
        let values: Vec<&str> =
            head.lines().filter_map(|it| it.strip_prefix(field)?.strip_prefix(':')).collect();
        assert_eq!(values, [due], "{sent}");
    }
    let sent = sent_by(&["hit", "--curl", copied, "-u", "ann:x", "-n", "1", "-c", "1", "-q"]);
    assert!(!sent.contains("OLD") && sent.contains("Basic "), "{sent}");
    // An empty body is one, too.
    let sent = sent_by(&["hit", "--curl", copied, "--body", "", "-n", "1", "-c", "1", "-q"]);
    assert!(sent.starts_with("POST /api ") && !sent.contains("a=1"), "{sent}");
}

/// As curl has it: what is written out is the field, and what an option would make of it is not sent beside it.
#[test]
fn a_field_goes_before_what_an_option_makes() {
    let options = ["-u", "ann:x", "-b", "a=1", "-H", "authorization: Bearer T", "-H", "cookie: b=2"];
    let sent = sent_by(&[&["hit", "{url}", "-n", "1", "-c", "1", "-q"][..], &options].concat());
    assert!(sent.contains("Bearer T") && sent.contains("b=2"), "{sent}");
    assert!(!sent.contains("Basic ") && !sent.contains("a=1"), "{sent}");
    let both = ["hit", "http://127.0.0.1:1/", "--form", "a=1", "-H", "Content-Type: text/plain"];
    let refused = String::from_utf8(run(&both).stderr).expect("text");
    assert!(refused.contains("leave -H 'Content-Type: …' out"), "{refused}");
}

/// As curl has it: `Name:` takes a field out, whoever put it there, and `Name;` is one without a value.
#[test]
fn a_field_without_a_value_is_taken_out() {
    let fields =
        ["-H", "Accept:", "-H", "X-Empty;", "-H", "authorization: ", "-H", "X-Copied:", "-u", "ann:x"];
    let copied = "curl {url} -H 'X-Copied: yes' -H 'X-Kept: yes'";
    for asked in [["hit", "{url}"].as_slice(), &["hit", "--curl", copied]] {
        let sent = sent_by(&[asked, &["-n", "1", "-c", "1", "-q"], &fields].concat()).to_ascii_lowercase();
        let has = |name: &str| sent.lines().any(|line| line.starts_with(&format!("{name}:")));
        let gone = ["accept", "authorization", "x-copied"].into_iter().find(|name| has(name));
        assert_eq!((gone, has("x-empty")), (None, true), "{sent}");
        assert_eq!(has("x-kept"), asked.contains(&"--curl"), "{sent}");
    }
}

#[test]
fn the_command_of_another_program_is_named() {
    for (command, name) in [
        ("wget http://127.0.0.1:1/", "wget"),
        ("wget -qO- http://127.0.0.1:1/", "wget"),
        ("http GET http://127.0.0.1:1/", "http"),
        ("fetch(\"http://127.0.0.1:1/\", { \"method\": \"GET\" })", "fetch"),
        ("Invoke-WebRequest -Uri \"http://127.0.0.1:1/\"", "Invoke-WebRequest"),
        ("$session = New-Object X\nInvoke-WebRequest -Uri \"http://127.0.0.1:1/\"", "PowerShell"),
    ] {
        let refused = run(&["hit", "--curl", command, "-n", "1"]);
        let said = String::from_utf8(refused.stderr).expect("text");
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(&format!("this is one of {name}; write it as curl has it")), "{said}");
    }
}

#[test]
fn a_recording_is_made_again_by_each_user() {
    let target = Target::start(&[]);
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("shop.har");
    let entry = |path: &str| {
        format!(r#"{{"request": {{"method": "GET", "url": "https://shop.example{path}", "headers": []}}}}"#)
    };
    let har = format!(r#"{{"log": {{"entries": [{}, {}]}}}}"#, entry("/one"), entry("/two?x=1"));
    fs::write(&file, &har).expect("written");
    let file = file.to_str().expect("text");
    let output =
        run(&["hit", "--har", file, "--base", &target.url, "-c", "3", "--requests-per-user", "4", "--json"]);
    let result = json(&output);
    assert_eq!(result["outcomes"]["answered"], 3 * 4 * 2, "{result}");
    let steps: Vec<_> = result["steps"].as_array().expect("steps").iter().collect();
    let labels: Vec<_> = steps.iter().map(|step| step["label"].as_str().expect("text")).collect();
    assert_eq!(labels, ["GET /one", "GET /two"]);
    assert!(steps.iter().all(|step| step["response_time_us"]["count"] == 12), "{steps:?}");
    assert_eq!(result["load"]["model"], "scripted");

    let other = dir.path().join("other.har");
    fs::write(&other, har.replace("https:", "ftp:")).expect("written");
    let refused = run(&["hit", "--har", other.to_str().expect("text"), "-n", "1"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("give --base"));
    for (arguments, part) in [
        (&["--think", "1s"][..], "--think is about one request"),
        (&["--expect-status", "200", "-n", "1"], "--expect-status is about one request"),
        (&["--poisson"], "Poisson arrivals have a rate"),
        (&["--rate", "10", "--requests-per-user", "1"], "with --rate a new user comes for each request"),
        (&["-n", "0"], "0 requests are none"),
        (&["--requests-per-user", "0"], "0 requests per user are none"),
    ] {
        let refused = run(&[&["hit", "--har", file, "--base", &target.url], arguments].concat());
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(part), "{arguments:?}: {said}");
    }
}

#[test]
fn the_operations_of_a_document_are_taken_at_random() {
    let target = Target::start(&[]);
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("api.yaml");
    let document = "openapi: 3.1.0\npaths:\n  /a: { get: {} }\n  /b/{id}:\n    get:\n      parameters:\n        - { name: id, in: path, required: true, example: 7 }\n    delete:\n      parameters:\n        - { name: id, in: path, required: true, schema: { type: integer } }\n";
    fs::write(&file, document).expect("written");
    let file = file.to_str().expect("text");
    let output = run(&[
        "hit",
        "--openapi",
        file,
        "--base",
        &target.url,
        "-c",
        "2",
        "-n",
        "200",
        "--seed",
        "1",
        "--json",
    ]);
    let result = json(&output);
    assert_eq!(result["outcomes"]["answered"], 200, "{result}");
    assert_eq!(result["steps"].as_array().map(Vec::len), Some(2), "{result}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("left out: DELETE /b/{id}"), "{said}");
}

/// A service that wants a key answers nobody without one, and Chrome saves none.
#[test]
fn what_is_given_beside_a_document_or_a_recording_goes_with_every_request() {
    let dir = tempfile::tempdir().expect("a folder");
    let (document, recording) = (dir.path().join("api.yaml"), dir.path().join("shop.har"));
    let text = "openapi: 3.1.0\nsecurity: [{login: []}]\npaths: {/a: {get: {}}}\n\
                components: {securitySchemes: {login: {type: http, scheme: basic}}}\n";
    fs::write(&document, text).expect("written");
    let entry = r#"{"request": {"method": "GET", "url": "https://shop.example/a",
                    "headers": [{"name": "X-Key", "value": "old"}, {"name": "Accept", "value": "*/*"}]}}"#;
    fs::write(&recording, format!(r#"{{"log": {{"entries": [{entry}]}}}}"#)).expect("written");
    let given = ["-u", "ann:x", "-b", "a=1", "-H", "X-Key: new", "-H", "Accept:", "-n", "1", "-c", "1"];
    for (option, file) in [("--openapi", &document), ("--har", &recording)] {
        let source = ["hit", option, file.to_str().expect("text"), "--base", "{url}"];
        let sent = sent_by(&[&source[..], &given].concat()).to_ascii_lowercase();
        let lines: Vec<&str> = sent.lines().collect();
        // RFC 7617: `ann:x` in base64.
        for field in ["authorization: basic yw5uong=", "cookie: a=1", "x-key: new"] {
            assert!(lines.contains(&field), "{option}: {field} is not in {sent}");
        }
        assert!(!sent.contains("x-key: old") && !sent.contains("accept:"), "{option}: {sent}");
    }
    let keyless = ["hit", "--openapi", document.to_str().expect("text"), "--base", "http://127.0.0.1:1"];
    let said = |more: &[&str]| {
        let output = run(&[&keyless[..], more, &["-n", "1", "-c", "1"]].concat());
        String::from_utf8(output.stderr).expect("text")
    };
    assert!(said(&[]).contains("no key is sent, which the document wants for `GET /a`: "), "{}", said(&[]));
    let with_key = said(&["-u", "ann:x"]);
    assert!(!with_key.contains("no key is sent") && !with_key.contains("about one request"), "{with_key}");
    assert!(said(&["-H", "X-Key"]).contains("`X-Key` is no header; write it like 'Name: value'"));
}

#[test]
fn a_request_with_a_random_query_is_one_row() {
    let target = Target::start(&[]);
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("search.toml");
    let text = format!(
        "base = \"{}\"\nload = {{ users = 2, iterations = 30 }}\n\
         [[steps]]\nrequest = \"GET /?q=${{__Random(1,1000000)}}\"\n\
         [[steps]]\nname = \"item ${{__threadNum}}\"\nrequest = \"GET /hello\"\n",
        target.url
    );
    fs::write(&file, text).expect("written");
    let output = run(&["hit", "--scenario", file.to_str().expect("text"), "--json"]);
    let result = json(&output);
    let steps = result["steps"].as_array().expect("steps");
    let mut rows: Vec<(&str, u64)> = steps
        .iter()
        .map(|step| (step["label"].as_str().unwrap(), step["response_time_us"]["count"].as_u64().unwrap()))
        .collect();
    rows.sort_unstable();
    // A name of its own is what its author wants it to be, with its variables.
    assert_eq!(rows, [("GET /?q=${__Random(1,1000000)}", 60), ("item 1", 30), ("item 2", 30)]);
}

#[test]
fn a_scenario_goes_over_io_uring_where_the_kernel_allows_it_and_over_epoll_where_it_is_told_to() {
    let target = Target::start(&[]);
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("users.toml");
    let text = format!(
        "base = \"{}\"\nload = {{ users = 3, iterations = 40 }}\n\
         [[steps]]\nrequest = \"GET /hello?user=${{__threadNum}}\"\nextract = {{ word = {{ regex = '(h[a-z]+)' }} }}\n\
         [[steps]]\nrequest = \"GET /hello?again=${{word}}\"\n",
        target.url
    );
    fs::write(&file, text).expect("written");
    let allowed = driver::probe_uring(3).is_ok();
    for (io, carries) in [("auto", if allowed { "io_uring" } else { "epoll" }), ("epoll", "epoll")] {
        let output = run(&["hit", "--scenario", file.to_str().expect("text"), "--io", io, "--json"]);
        let result = json(&output);
        assert_eq!(result["load"]["io"], carries, "{io}: {result}");
        assert_eq!(result["outcomes"]["answered"], 240, "{io}: {result}");
        let failed = result["steps"].as_array().expect("steps").iter().filter(|step| step["failed"] != 0);
        assert_eq!(failed.count(), 0, "{io}: {result}");
    }
}

/// A transaction of one request takes as long as that: the time to connect is in both. Of one that stands alone, nothing within is told.
#[test]
fn a_transaction_takes_as_long_as_its_requests_and_may_stand_for_them() {
    let target = Target::start(&[]);
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("shop.toml");
    let text = format!(
        "base = \"{}\"\nload = {{ users = 2, iterations = 5 }}\n\
         [[steps]]\ntransaction = \"shop\"\nsteps = [{{ request = \"GET /hello\" }}]\n\
         [[steps]]\ntransaction = \"pay\"\nalone = true\nsteps = [{{ request = \"GET /hello?pay\" }}]\n",
        target.url
    );
    fs::write(&file, text).expect("written");
    let result = json(&run(&["hit", "--scenario", file.to_str().expect("text"), "--json"]));
    let steps = result["steps"].as_array().expect("steps");
    let times = |label: &str| steps.iter().find(|it| it["label"] == label).map(|it| &it["response_time_us"]);
    assert_eq!(steps.len(), 3, "{result}");
    assert_eq!(times("pay").expect("it is told of")["count"], 10, "{result}");
    let (whole, request) = (times("shop").expect("told of"), times("GET /hello").expect("told of"));
    for figure in ["count", "mean", "max"] {
        assert_eq!(whole[figure], request[figure], "{figure}: {result}");
    }
}
