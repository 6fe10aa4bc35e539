//! Recordings and documents become the requests they hold, and what can't be sent is named.

use std::num::NonZeroU32;

use scenario::{Pause, Pick, RequestStep, Step};
use sources::{SourceOptions, Sourced, parse_har, parse_openapi};
use units::Duration;

fn options(base: Option<&str>) -> SourceOptions {
    SourceOptions {
        arrivals: None,
        connect_timeout: Duration::from_secs(2),
        base: base.map(Into::into),
        users: NonZeroU32::MIN,
        ramp_up: Duration::ZERO,
        iterations: None,
        duration: Some(Duration::from_secs(1)),
        timeout: Duration::from_secs(2),
        http: plan::HttpVersion::Http1,
    }
}

const HAR: &str = r#"{ "log": { "version": "1.2", "entries": [
  { "startedDateTime": "2026-11-22T10:00:00.000Z", "time": 50.5,
    "request": { "method": "GET", "url": "https://shop.example/list?page=2",
      "headers": [ {"name": ":authority", "value": "shop.example"}, {"name": "Accept", "value": "text/html"},
                   {"name": "Host", "value": "shop.example"} ] } },
  { "startedDateTime": "2026-11-22T10:00:00.010Z", "time": 5,
    "request": { "method": "GET", "url": "https://cdn.example/logo.png", "headers": [] } },
  { "startedDateTime": "2026-11-22T10:00:02.000Z", "time": 30,
    "request": { "method": "POST", "url": "https://shop.example/cart", "headers": [],
      "postData": { "mimeType": "application/json", "text": "{\"id\":7}" } } }
] } }"#;

fn requests(sourced: &Sourced) -> Vec<&RequestStep> {
    fn of(step: &Step) -> Vec<&RequestStep> {
        match step {
            Step::Request(request) => vec![request],
            Step::OneOf { steps, .. } => steps.iter().flat_map(|(_, step)| of(step)).collect(),
            other => panic!("no such step is made: {other:?}"),
        }
    }
    sourced.scenario.groups[0].steps.iter().flat_map(of).collect()
}

#[test]
fn a_recording_is_played_against_another_server_with_its_pauses() {
    let sourced = parse_har("shop.har", HAR, true, &options(Some("http://127.0.0.1:8080/v1"))).unwrap();
    let all = requests(&sourced);
    let urls: Vec<_> = all.iter().map(|it| it.url.constant().unwrap()).collect();
    assert_eq!(urls, ["http://127.0.0.1:8080/v1/list?page=2", "http://127.0.0.1:8080/v1/cart"]);
    assert_eq!(all[0].headers.len(), 1, "what a client computes is left to it");
    assert_eq!(all[1].body.constant(), Some(r#"{"id":7}"#));
    assert!(all[0].pauses.is_empty());
    let Pause::Constant { ms } = &all[1].pauses[0] else { panic!("{:?}", all[1].pauses) };
    assert_eq!(ms.constant(), Some("1950"), "from the end of the first to the start of the next");
    assert_eq!(sourced.left_out.len(), 1);
    assert!(sourced.left_out[0].contains("cdn.example"), "{:?}", sourced.left_out);
}

#[test]
fn a_recording_that_can_t_be_played_says_why() {
    let ftp = HAR.replace("https:", "ftp:");
    let error = parse_har("shop.har", &ftp, true, &options(None)).unwrap_err().to_string();
    assert!(error.contains("ftp is not spoken; give --base"), "{error}");
    let as_recorded = parse_har("shop.har", HAR, true, &options(None)).unwrap();
    assert_eq!(requests(&as_recorded)[0].url.constant(), Some("https://shop.example/list?page=2"));
    for text in ["", "{}", "[1]"] {
        let error = parse_har("x", text, true, &options(None)).unwrap_err().to_string();
        assert!(error.contains("no HAR file"), "{error}");
    }
}

const OPENAPI: &str = r##"
openapi: 3.0.3
servers: [ { url: "http://127.0.0.1:9000/api" } ]
paths:
  /users/{id}:
    parameters: [ { name: id, in: path, required: true, schema: { type: integer, example: 42 } } ]
    get:
      parameters:
        - { name: q, in: query, examples: { first: { value: "a b&c" } } }
        - { name: optional, in: query, schema: { type: string } }
        - { name: X-Tenant, in: header, required: true, example: acme }
    delete:
      parameters: [ { name: reason, in: query, required: true, schema: { type: string } } ]
  /users:
    post:
      requestBody:
        required: true
        content:
          application/json:
            schema: { $ref: "#/components/schemas/User" }
components:
  schemas:
    User:
      type: object
      required: [name]
      properties:
        name: { type: string, example: Ada }
        tags: { type: array, items: { type: string, example: x } }
        note: { type: string }
"##;

#[test]
fn a_document_gives_a_request_for_each_operation_with_examples() {
    let sourced = parse_openapi("users", OPENAPI, &options(None)).unwrap();
    let all = requests(&sourced);
    assert_eq!(all.len(), 2);
    assert_eq!(all[0].method.constant(), Some("POST"));
    assert_eq!(all[0].url.constant(), Some("http://127.0.0.1:9000/api/users"));
    assert_eq!(all[0].body.constant(), Some(r#"{"name":"Ada","tags":["x"]}"#));
    assert_eq!(all[1].url.constant(), Some("http://127.0.0.1:9000/api/users/42?q=a%20b%26c"));
    assert_eq!(all[1].headers[0].1.constant(), Some("acme"));
    assert_eq!(sourced.left_out, ["DELETE /users/{id}: its parameter `reason` has no example"]);
    let Step::OneOf { pick: Pick::Random, .. } = &sourced.scenario.groups[0].steps[0] else {
        panic!("operations come one at random")
    };
}

#[test]
fn a_document_that_gives_nothing_says_why() {
    for (text, part) in [
        ("openapi: 2.0", "not 3"),
        ("a: [", "no OpenAPI document"),
        ("openapi: 3.1.0\npaths: {}\nservers: [{url: http://x}]", "names no request"),
        ("openapi: 3.1.0\npaths: {}", "--base"),
        ("openapi: 3.1.0\nservers: [{url: http://x}]\npaths: {'/a/{b}': {get: {}}}", "not described"),
    ] {
        let error = parse_openapi("x", text, &options(None)).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    let circle = "openapi: 3.1.0\nservers: [{url: http://x}]\npaths: {/a: {post: {requestBody: {required: true, \
                  content: {application/json: {schema: {$ref: '#/c'}}}}}}}\nc: {properties: {x: {$ref: '#/c'}}, \
                  required: [x]}";
    let error = parse_openapi("x", circle, &options(None)).unwrap_err().to_string();
    assert!(error.contains("no example"), "{error}");
}

/// A schema that refers to itself in several places has an example of two to the thirtieth parts.
#[test]
fn a_document_that_refers_to_itself_in_several_places_is_refused_in_time() {
    let ten: Vec<String> = (0..10).map(|name| format!("p{name}: {{$ref: '#/c'}}")).collect();
    let schema = format!("c: {{properties: {{ {}, z: {{example: 1}} }} }}", ten.join(", "));
    let document = format!(
        "openapi: 3.1.0\nservers: [{{url: http://x}}]\npaths: {{/a: {{post: {{requestBody: {{content: \
         {{application/json: {{schema: {{$ref: '#/c'}}}}}}}}}}}}}}\n{schema}"
    );
    let error = parse_openapi("x", &document, &options(None)).unwrap_err().to_string();
    assert!(error.contains("come to more than 67108864 bytes"), "{error}");
    // So has one long example that many operations have.
    let paths: Vec<String> =
        (0..200).map(|n| format!("  /p{n}: {{post: {{requestBody: {{$ref: '#/b'}}}}}}\n")).collect();
    let paths = paths.concat();
    let long = "x".repeat(1 << 20);
    let document = format!(
        "openapi: 3.1.0\nservers: [{{url: http://x}}]\npaths:\n{paths}b: {{content: {{text/plain: {{example: {long}}}}}}}\n"
    );
    let error = parse_openapi("x", &document, &options(None)).unwrap_err().to_string();
    assert!(error.contains("come to more than"), "{error:.200}");
    let many: Vec<String> = (0..501).map(|n| format!("{{name: q{n}, in: query}}")).collect();
    let document = format!(
        "openapi: 3.1.0\nservers: [{{url: http://x}}]\npaths: {{/a: {{get: {{parameters: [{}]}}}}}}",
        many.join(",")
    );
    let error = parse_openapi("x", &document, &options(None)).unwrap_err().to_string();
    assert!(error.contains("501 parameters, more than 500"), "{error}");
}

#[test]
fn a_recording_with_wild_times_is_read() {
    let entry = |started: &str, time: &str| {
        format!(
            r#"{{"startedDateTime": "{started}", "time": {time}, "request": {{"method": "GET", "url": "http://x/"}}}}"#
        )
    };
    let entries = [
        entry("2024-01-01T00:00:00Z", "1e300"),
        entry("9999-12-30T22:00:00Z", "1"),
        entry("-009999-01-02T01:59:59Z", "-1e300"),
    ];
    let har = format!(r#"{{"log": {{"entries": [{}]}}}}"#, entries.join(","));
    assert_eq!(requests(&parse_har("x", &har, true, &options(None)).unwrap()).len(), 3);
    let many = vec![entry("2024-01-01T00:00:00Z", "1"); 100_001].join(",");
    let error =
        parse_har("x", &format!(r#"{{"log": {{"entries": [{many}]}}}}"#), true, &options(None)).unwrap_err();
    assert!(error.to_string().contains("100001 requests, more than 100000"), "{error}");
}

/// What is copied once and put in many places comes to more than any machine holds.
#[test]
fn what_a_document_puts_in_many_places_is_refused_in_time() {
    let long = "x".repeat(1 << 20);
    let path = "{a}".repeat(200);
    let places = format!(
        "openapi: 3.1.0\nservers: [{{url: http://x}}]\npaths:\n  '/{path}': {{get: {{parameters: \
         [{{name: a, in: path, required: true, example: {long}}}]}}}}\n"
    );
    let paths = (0..100).map(|n| format!("  /p{n}: {{get: {{}}}}\n")).collect::<Vec<_>>().concat();
    let server = format!("openapi: 3.1.0\nservers: [{{url: 'http://x/{long}'}}]\npaths:\n{paths}");
    for document in [places, server] {
        let error = parse_openapi("x", &document, &options(None)).unwrap_err().to_string();
        assert!(error.contains("come to more than 67108864 bytes"), "{error:.200}");
    }
}

/// Some write a form by its fields alone: it is sent as a browser sends it, and what holds files is left out by name.
#[test]
fn a_form_that_was_recorded_by_its_fields_is_sent() {
    let recording = |mime: &str, more: &str| {
        format!(
            r#"{{ "log": {{ "version": "1.2", "entries": [ {{ "startedDateTime": "2026-11-22T10:00:00.000Z", "time": 1,
              "request": {{ "method": "POST", "url": "http://shop.example/cart", "headers": [],
              "postData": {{ "mimeType": "{mime}",
                "params": [ {{"name": "a b", "value": "1&2"}}, {{"name": "c", "value": ""{more}}} ] }} }} }},
              {{ "startedDateTime": "2026-11-22T10:00:01.000Z", "time": 1,
              "request": {{ "method": "GET", "url": "http://shop.example/", "headers": [] }} }} ] }} }}"#
        )
    };
    let form = recording("application/x-www-form-urlencoded; charset=UTF-8", "");
    let sourced = parse_har("x", &form, false, &options(None)).unwrap();
    assert_eq!(requests(&sourced)[0].body.constant(), Some("a+b=1%262&c="));
    let files = recording("multipart/form-data; boundary=x", r#", "fileName": "x.png""#);
    let sourced = parse_har("x", &files, false, &options(None)).unwrap();
    assert_eq!(requests(&sourced).len(), 1);
    assert_eq!(sourced.left_out, ["POST http://shop.example/cart: the recording has no text of its body"]);
}
