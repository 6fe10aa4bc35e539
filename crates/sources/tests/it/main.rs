//! Recordings and documents become the requests they hold, and what can't be sent is named.

use std::num::NonZeroU32;

use scenario::{Check, Pause, Pick, RequestStep, Step};
use sources::{Fields, SourceOptions, Sourced, parse_har, parse_openapi};
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
        fields: Fields::default(),
    }
}

/// The same with these fields beside it.
fn with_fields(base: Option<&str>, lines: &[&str], anew: &[&str]) -> SourceOptions {
    let all = |texts: &[&str]| -> Vec<String> { texts.iter().map(|it| (*it).to_owned()).collect() };
    SourceOptions { fields: Fields::new(&all(lines), all(anew)).unwrap(), ..options(base) }
}

/// Names and values of a request's fields that are the same each time.
fn fields(step: &RequestStep) -> Vec<(&str, &str)> {
    step.headers.iter().map(|(name, value)| (name.constant().unwrap(), value.constant().unwrap())).collect()
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

/// Schemas that have each ten of the next have an example of ten to the tenth parts.
#[test]
fn a_document_whose_examples_grow_beyond_all_bounds_is_refused_in_time() {
    let ten = |of: u32| (0..10).map(|name| format!("p{name}: {{$ref: '#/c{of}'}}")).collect::<Vec<_>>();
    let schema = |number: u32| format!("c{number}: {{properties: {{{}}}}}\n", ten(number + 1).join(", "));
    let schemas: Vec<String> = (0..10).map(schema).collect();
    let document = format!(
        "openapi: 3.1.0\nservers: [{{url: http://x}}]\npaths: {{/a: {{post: {{requestBody: {{content: \
         {{application/json: {{schema: {{$ref: '#/c0'}}}}}}}}}}}}}}\n{}c10: {{example: 1}}\n",
        schemas.concat()
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
#[ignore = "slow: a document that grows to its bound"]
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

/// A recording of one entry for each of `requests`, which are what stands behind `"request": `.
fn recording(requests: &[String]) -> String {
    let entries: Vec<String> = requests.iter().map(|it| format!(r#"{{"request": {it}}}"#)).collect();
    format!(r#"{{"log": {{"entries": [{}]}}}}"#, entries.join(","))
}

fn get(url: &str) -> String {
    format!(r#"{{"method": "GET", "url": "{url}", "headers": []}}"#)
}

#[test]
fn a_long_url_gives_as_much_of_a_name_as_a_record_has_room_for() {
    let url = format!("https://shop.example/{}", "a".repeat(5000));
    let sourced = parse_har("shop.har", &recording(&[get(&url)]), true, &options(None)).unwrap();
    let all = requests(&sourced);
    assert_eq!(all[0].url.constant(), Some(url.as_str()));
    let name = all[0].name.constant().unwrap();
    assert!(name.starts_with("GET /aaa") && name.ends_with("a…"), "{name}");
    assert_eq!(name.len() as u64, plan::experiment::bounds::NAME_BYTES_MAX);
}

/// What a browser has of its own, and what a proxy is told, is not the first server; and whoever types a name alone is sent
/// from http to https.
#[test]
fn the_first_server_is_one_that_is_asked_by_http() {
    let picture = format!("data:image/png;base64,{}", "A".repeat(1000));
    let tunnel = get("http://shop.example:443/").replace("GET", "CONNECT");
    let upgrade = r#"{"method": "GET", "url": "https://shop.example/live",
        "headers": [{"name": "Upgrade", "value": "websocket"}]}"#;
    let all = [
        get(&picture),
        get("chrome-extension://abc/x.js"),
        tunnel,
        get("http://shop.example/"),
        get("https://shop.example/"),
        get("wss://shop.example/live"),
        upgrade.to_owned(),
        get("https://shop.example:8443/other"),
    ];
    let base = options(Some("http://127.0.0.1:8080"));
    let text = format!("\u{feff}{}", recording(&all));
    let sourced = parse_har("x", &text, true, &base).unwrap();
    let urls: Vec<_> = requests(&sourced).iter().map(|it| it.url.constant().unwrap().to_owned()).collect();
    assert_eq!(urls, ["http://127.0.0.1:8080/", "http://127.0.0.1:8080/"]);
    let whys = [
        "AAA…: no server is asked for it",
        "x.js: another server",
        "opens a tunnel",
        "WebSocket is not spoken",
        "WebSocket is not spoken",
        "8443/other: another server",
    ];
    assert_eq!(sourced.left_out.len(), whys.len(), "{:?}", sourced.left_out);
    for (told, why) in sourced.left_out.iter().zip(whys) {
        assert!(told.contains(why) && told.len() < 300, "{told}");
    }
}

/// Programs leave the text of a body out that is none or that came from a file: nothing is no such request.
#[test]
fn a_body_without_its_text_is_left_out_by_name() {
    let post = |rest: &str| {
        format!(
            r#"{{"method": "POST", "url": "http://x/a", "headers": [{{"name": "A", "value": "b"}}]{rest}}}"#
        )
    };
    let all = [
        post(r#", "bodySize": 12"#),
        post(r#", "bodySize": 12, "postData": {"mimeType": "image/png", "text": null, "params": null}"#),
        post(r#", "postData": {"mimeType": "image/png", "text": "/w==", "encoding": "base64"}"#),
        post(r#", "postData": {"mimeType": "text/plain", "text": "aGVsbG8=", "encoding": "base64"}"#),
        post(r#", "bodySize": 0"#),
        post(r#", "bodySize": -1"#),
    ];
    let sourced = parse_har("x", &recording(&all), false, &options(None)).unwrap();
    let bodies: Vec<_> = requests(&sourced).iter().map(|it| it.body.constant().unwrap().to_owned()).collect();
    assert_eq!(bodies, ["hello", "", ""]);
    assert_eq!(sourced.left_out, ["POST http://x/a: the recording has no text of its body"; 3]);
}

/// Whoever writes a recording need not sort it (HAR 1.2), and what does not say when it was stays where it stood.
#[test]
fn a_recording_is_played_in_the_order_in_which_it_was_made() {
    let entry = |started: &str, path: &str| {
        let request = get(&format!("http://x/{path}"));
        format!(r#"{{{started} "time": 10, "request": {request}}}"#)
    };
    let entries = [
        entry(r#""startedDateTime": "2026-11-22T10:00:02.000Z","#, "d"),
        entry(r#""startedDateTime": "2026-11-22T10:00:00.000Z","#, "a"),
        entry("", "b"),
        entry(r#""startedDateTime": "2026-11-22T11:00:01.000+01:00","#, "c"),
    ];
    let har = format!(r#"{{"log": {{"entries": [{}]}}}}"#, entries.join(","));
    let sourced = parse_har("x", &har, true, &options(None)).unwrap();
    let played: Vec<(&str, Vec<&str>)> = requests(&sourced)
        .into_iter()
        .map(|it| {
            let pauses = it.pauses.iter().map(|pause| match pause {
                Pause::Constant { ms } => ms.constant().unwrap(),
                other => panic!("{other:?}"),
            });
            (it.url.constant().unwrap(), pauses.collect())
        })
        .collect();
    let due = [
        ("http://x/a", vec![]),
        ("http://x/b", vec![]),
        ("http://x/c", vec!["990"]),
        ("http://x/d", vec!["990"]),
    ];
    assert_eq!(played, due);
}

/// What a server refused then it refuses now; that it had too much to do then is no measure of what is good.
#[test]
fn an_answer_that_was_recorded_as_a_refusal_is_good_and_what_no_server_was_asked_for_is_left_out() {
    let entry = |path: &str, more: &str| {
        let request = get(&format!("http://x/{path}"));
        format!(r#"{{"request": {request}, {more}}}"#)
    };
    let entries = [
        entry("app.js?key=secret", r#""_fromCache": "disk", "response": {"status": 200}"#),
        entry("", r#""response": {"status": 200, "content": {"mimeType": "text/html"}}"#),
        entry("favicon.ico", r#""response": {"status": 404}"#),
        entry("often", r#""response": {"status": 429}"#),
        entry("down", r#""response": {"status": 503}"#),
        entry("aborted", r#""response": {"status": 0, "_error": "net::ERR_ABORTED"}"#),
        entry("none", r#""response": null"#),
    ];
    let har = format!(r#"{{"log": {{"entries": [{}]}}}}"#, entries.join(","));
    let sourced = parse_har("x", &har, true, &options(None)).unwrap();
    assert_eq!(
        sourced.left_out,
        ["GET http://x/app.js?…: the browser had it in its cache, and asked no server"]
    );
    let good: Vec<(&str, Vec<&str>)> = requests(&sourced)
        .into_iter()
        .map(|it| {
            let checks = it.assertions.iter().flat_map(|it| match &it.check {
                Check::Text { patterns, any: true, ignore_status: true, .. } => patterns,
                other => panic!("{other:?}"),
            });
            (it.url.constant().unwrap(), checks.map(|it| it.constant().unwrap()).collect())
        })
        .collect();
    let due = [
        ("http://x/", vec![]),
        ("http://x/favicon.ico", vec!["[23]..", "404"]),
        ("http://x/often", vec![]),
        ("http://x/down", vec![]),
        ("http://x/aborted", vec![]),
        ("http://x/none", vec![]),
    ];
    assert_eq!(good, due);
}

/// HTTP/2 lets a client send them apart, and servers of HTTP/1.1 read one field.
#[test]
fn cookies_that_were_recorded_apart_are_sent_together() {
    let request = r#"{"method": "GET", "url": "http://x/", "headers": [{"name": "cookie", "value": "a=1"},
        {"name": "accept", "value": "*/*"}, {"name": "Cookie", "value": "b=2"}]}"#;
    let sourced = parse_har("x", &recording(&[request.to_owned()]), false, &options(None)).unwrap();
    let all = requests(&sourced);
    let headers: Vec<_> = all[0]
        .headers
        .iter()
        .map(|(name, value)| (name.constant().unwrap(), value.constant().unwrap()))
        .collect();
    assert_eq!(headers, [("cookie", "a=1; b=2"), ("accept", "*/*")]);
}

/// The requests of a document of OpenAPI: method, URL, content type and body of each, and what was left out.
fn documented(text: &str) -> (Vec<(String, String)>, Vec<String>) {
    let sourced = parse_openapi("x", &format!("openapi: 3.1.0\n{text}"), &options(None)).unwrap();
    let shown = |it: &RequestStep| {
        let text = |it: &scenario::Template| it.constant().unwrap().to_owned();
        let kind = it.headers.iter().find(|(name, _)| name.constant() == Some("Content-Type"));
        let body = kind.map_or_else(String::new, |(_, kind)| format!("{}|{}", text(kind), text(&it.body)));
        (format!("{} {}", text(&it.method), text(&it.url)), body)
    };
    (requests(&sourced).into_iter().map(shown).collect(), sourced.left_out)
}

/// A variable that stays as it is written is a path that no server has.
#[test]
fn operations_go_to_their_servers_with_the_variables_filled_in() {
    let text = "servers: [{url: 'http://x/{version}/{part}', variables: {version: {default: v2}, part: {default: a}}}]\n\
                paths:\n  /one: {get: {}}\n  /two: {servers: [{url: 'http://y'}], get: {}, post: {servers: [{url: 'http://z/'}]}}\n";
    let (all, left_out) = documented(text);
    let urls: Vec<_> = all.iter().map(|(asked, _)| asked.as_str()).collect();
    assert_eq!(urls, ["GET http://x/v2/a/one", "GET http://y/two", "POST http://z/two"]);
    assert_eq!(left_out, [""; 0]);
    for (server, part) in [
        ("{url: 'http://x/{version}'}", "`http://x/{version}` is none that can be sent to"),
        ("{url: '/v{n}/', variables: {n: {default: 2}}}", "give --base http://127.0.0.1:8080/v2"),
    ] {
        let text = format!("openapi: 3.1\nservers: [{server}]\npaths: {{/a: {{get: {{}}}}}}");
        let error = parse_openapi("x", &text, &options(None)).unwrap_err().to_string();
        assert!(error.contains(part), "{server}: {error}");
    }
}

/// Whoever gives a host means another host: an application answers below the path that its document names.
#[test]
fn the_path_of_a_documented_server_stays_on_another_host() {
    let asked = |base: &str, servers: &str| {
        let text = format!("openapi: 3.1.0\nservers: {servers}\npaths: {{/a: {{get: {{}}}}}}");
        let sourced = parse_openapi("x", &text, &options(Some(base))).unwrap();
        (requests(&sourced)[0].url.constant().unwrap().to_owned(), sourced.notes.len())
    };
    for (base, servers, due, notes) in [
        ("http://h:80", "[{url: 'https://api.test/v1/'}]", "http://h/v1/a", 1),
        ("http://h:81", "[{url: /v1}]", "http://h:81/v1/a", 1),
        (
            "http://h",
            "[{url: 'https://{at}/v{n}', variables: {at: {default: x}, n: {default: 2}}}]",
            "http://h/v2/a",
            1,
        ),
        // Said with as little as a slash, the base's own path is the one.
        ("http://h/", "[{url: 'https://api.test/v1'}]", "http://h/a", 0),
        ("http://h/v3", "[{url: 'https://api.test/v1'}]", "http://h/v3/a", 0),
        // Nothing is known of a path.
        ("http://h", "[{url: 'https://api.test'}]", "http://h/a", 0),
        ("http://h", "[{url: 'https://api.test/{n}'}]", "http://h/a", 0),
        ("http://h", "[]", "http://h/a", 0),
    ] {
        assert_eq!(asked(base, servers), (due.to_owned(), notes), "{base} {servers}");
    }
    let text = "openapi: 3.1.0\nservers: [{url: 'http://x/v1'}]\npaths:\n  /one: {get: {}}\n  \
                /two: {servers: [{url: 'http://y/v2'}], get: {}}\n";
    let sourced = parse_openapi("x", text, &options(Some("http://h"))).unwrap();
    let urls: Vec<_> = requests(&sourced).iter().map(|it| it.url.constant().unwrap()).collect();
    assert_eq!(urls, ["http://h/v1/one", "http://h/v2/two"]);
    assert!(sourced.notes.len() == 1 && sourced.notes[0].contains("`/v1`"), "{:?}", sourced.notes);
}

/// A path that refers to another is sent, and what refers to nothing is named: without it the request is another one.
#[test]
fn references_are_followed_and_those_to_nothing_are_named() {
    let text = "servers: [{url: 'http://x'}]\npaths:\n  /a: {$ref: '#/components/pathItems/A'}\n  \
                /b: {$ref: 'other.yaml#/B'}\n  /c: {get: {parameters: [{$ref: 'other.yaml#/C'}]}}\n  \
                /d: {post: {requestBody: {$ref: '#/nothing'}}}\n  /e: {$ref: '#/paths/~1e'}\n  \
                /f/{id}: {get: {parameters: [{name: id, in: path, required: true, example: 7}]}}\n  \
                /g: {get: {parameters: [{$ref: '#/paths/~1f~1%7Bid%7D/get/parameters/0'}]}}\n\
                components: {pathItems: {A: {get: {}}}}\n";
    let (all, left_out) = documented(text);
    let urls: Vec<_> = all.iter().map(|(asked, _)| asked.as_str()).collect();
    assert_eq!(urls, ["GET http://x/a", "GET http://x/f/7", "GET http://x/g"]);
    assert_eq!(
        left_out,
        [
            "/b: it refers to `other.yaml#/B`, which is not in the document",
            "GET /c: it refers to `other.yaml#/C`, which is not in the document",
            "POST /d: it refers to `#/nothing`, which is not in the document",
            "/e: it refers to itself",
        ]
    );
}

#[test]
fn lists_and_objects_are_written_as_their_style_says() {
    for (parameter, query) in [
        ("name: a, in: query, example: [1, 'x y']", "/?a=1&a=x%20y"),
        ("name: a, in: query, explode: false, example: [1, 'x,y']", "/?a=1,x%2Cy"),
        ("name: a, in: query, style: pipeDelimited, example: [1, 2]", "/?a=1%7C2"),
        ("name: a, in: query, style: deepObject, example: {b: 1, c: 2}", "/?a%5Bb%5D=1&a%5Bc%5D=2"),
        ("name: a, in: query, example: {b: 1, c: 2}", "/?b=1&c=2"),
        ("name: a, in: query, example: []", "/"),
    ] {
        let text = format!(
            "servers: [{{url: 'http://x'}}]\npaths: {{/: {{get: {{parameters: [{{{parameter}}}]}}}}}}"
        );
        assert_eq!(documented(&text).0[0].0, format!("GET http://x{query}"), "{parameter}");
    }
    let path = |style: &str| {
        format!(
            "servers: [{{url: 'http://x'}}]\npaths: {{'/p/{{a}}': {{get: {{parameters: [{{name: a, in: path, required: true, \
             style: {style}, example: ['1/2', 3]}}]}}}}, /q: {{get: {{}}}}}}"
        )
    };
    assert_eq!(documented(&path("simple")).0[0].0, "GET http://x/p/1%2F2,3");
    let (all, left_out) = documented(&path("matrix"));
    assert_eq!(all.len(), 1);
    assert_eq!(left_out, ["GET /p/{a}: its parameter `a` is of the style matrix, which is not written"]);
}

/// What says another type than it is is another request.
#[test]
fn a_body_is_written_as_its_type_says() {
    let body = |kind: &str, media: &str| {
        let text = format!(
            "servers: [{{url: 'http://x'}}]\npaths: {{/a: {{post: {{requestBody: {{required: true, content: \
             {{'{kind}': {{{media}}}}}}}}}}}, /b: {{get: {{}}}}}}"
        );
        let (all, left_out) = documented(&text);
        if left_out.is_empty() { all[0].1.clone() } else { left_out.concat() }
    };
    let object = "example: {a: [1, 2], b: {c: 3}, d: x y}";
    assert_eq!(
        body("application/x-www-form-urlencoded; charset=utf-8", object),
        "application/x-www-form-urlencoded; charset=utf-8|a=1&a=2&b=%7B%22c%22%3A3%7D&d=x%20y"
    );
    let parts = body("multipart/form-data", object);
    assert!(
        parts.starts_with("multipart/form-data; boundary=proofload-form-0000000000000000|--proofload"),
        "{parts}"
    );
    for part in
        ["name=\"a\"\r\n\r\n1\r\n", "name=\"b\"\r\nContent-Type: application/json\r\n\r\n{\"c\":3}\r\n"]
    {
        assert!(parts.contains(part), "{parts}");
    }
    assert_eq!(body("*/*", "example: {a: 1}"), "application/json|{\"a\":1}");
    assert_eq!(body("application/xml", object), "POST /a: its body has no example");
    assert_eq!(body("application/xml", "example: <a/>"), "application/xml|<a/>");
    // What stands in a text is the body, unless it is to be a text.
    let text = "example: '{\"a\":1}'";
    assert_eq!(body("application/json", text), "application/json|{\"a\":1}");
    let of_text = format!("{text}, schema: {{type: string}}");
    assert_eq!(body("application/json", &of_text), "application/json|\"{\\\"a\\\":1}\"");
    assert_eq!(body("application/json", "example: '{a'"), "application/json|\"{a\"");
    // As ASP.NET documents a body in JSON, whatever that is.
    assert_eq!(body("application/*+json", "example: abc"), "application/json|\"abc\"");
    assert_eq!(body("*/*", "example: abc"), "text/plain|abc");
    assert_eq!(body("text/*", "example: 7"), "text/plain|7");
    assert_eq!(body("image/*", "example: abc"), "POST /a: its body has no example");
    assert_eq!(body("application/json", "example: null"), "POST /a: its body has no example");
    // A field that is not filled in.
    let object = "example: {a: null, b: 1}";
    assert_eq!(body("application/x-www-form-urlencoded", object), "application/x-www-form-urlencoded|b=1");
    assert!(!body("multipart/form-data", object).contains("null"));
}

/// `no` is a country and `01234` the code of a place: who is sent `false` and `1234` answers something else.
#[test]
fn examples_are_what_their_author_wrote() {
    let asked = |parameter: &str| {
        let text = format!(
            "servers: [{{url: 'http://x'}}]\npaths: {{/a: {{get: {{parameters: [{{name: q, in: query, {parameter}}}]}}}}, \
             /b: {{get: {{}}}}}}\nkind: {{example: a}}\n"
        );
        let (all, left_out) = documented(&text);
        if left_out.is_empty() { all[0].0.replace("GET http://x", "") } else { left_out.concat() }
    };
    for (parameter, due) in [
        ("example: no", "/a?q=no"),
        ("schema: {default: off}", "/a?q=off"),
        ("schema: {enum: [y, n]}", "/a?q=y"),
        ("example: 01234", "/a?q=01234"),
        ("example: 1_000", "/a?q=1_000"),
        ("example: true", "/a?q=true"),
        ("example: 1.5", "/a?q=1.5"),
        ("schema: {type: [string, 'null'], default: null}", "/a"),
        ("example: null, required: true", "GET /a: its parameter `q` has no example"),
        ("schema: {$ref: '#/kind', example: b}", "/a?q=b"),
        ("schema: {$ref: '#/kind'}", "/a?q=a"),
    ] {
        assert_eq!(asked(parameter), due, "{parameter}");
    }
}

#[test]
fn a_parameter_of_a_path_is_needed_whatever_is_said() {
    let text = |parameter: &str| {
        format!(
            "servers: [{{url: 'http://x'}}]\npaths: {{'/a/{{id}}': {{get: {{parameters: [{{name: id, in: path, \
             {parameter}}}]}}}}, /b: {{get: {{parameters: [{{name: content-type, in: header, required: true}}]}}}}}}"
        )
    };
    for (parameter, why) in [
        ("schema: {type: string}", "its parameter `id` has no example"),
        ("example: ''", "its parameter `id` has an empty example, which leads elsewhere"),
    ] {
        let (all, left_out) = documented(&text(parameter));
        assert_eq!((all.len(), left_out), (1, vec![format!("GET /a/{{id}}: {why}")]));
    }
}

/// Some tell two operations of one path apart by it, and escaped it would be another path.
#[test]
fn what_is_no_path_is_named() {
    let text = "servers: [{url: 'http://x/api'}]\npaths: {x-note: {get: {}}, b: {get: {}}, '/c?d=1': {get: {}}, \
                '/c#e': {get: {}}, /c: {get: {}, trace: {}}}";
    let (all, left_out) = documented(text);
    let urls: Vec<_> = all.iter().map(|(asked, _)| asked.as_str()).collect();
    assert_eq!(urls, ["GET http://x/api/c", "TRACE http://x/api/c"]);
    let paths: Vec<_> = left_out.iter().filter_map(|it| it.split(": ").next()).collect();
    assert_eq!(paths, ["/c#e", "/c?d=1", "b"], "{left_out:?}");
}

/// A key and a body that are not sent are why a server refuses: that is said before it does.
#[test]
fn what_is_sent_without_its_key_or_its_body_is_named() {
    let told = |more: &str, open: &str| {
        let text = format!(
            "openapi: 3.1.0\nservers: [{{url: 'http://x'}}]\n{more}paths:\n  /a: {{get: {{}}, post: {{requestBody: {{content: \
             {{application/json: {{schema: {{type: object}}}}}}}}}}}}\n  /up: {{get: {{security: {open}}}}}\n"
        );
        parse_openapi("x", &text, &options(None)).unwrap().notes
    };
    let body = "no body is sent with `POST /a`: it has no example, and the document does not say that it is required";
    assert_eq!(told("", "[]"), [body]);
    let notes = told("security: [{token: []}]\n", "[{}]");
    assert_eq!((notes.len(), notes[1].as_str()), (2, body));
    assert!(notes[0].contains("the document wants for `GET /a` and 1 more: "), "{notes:?}");
    let notes = told("", "[{token: []}]");
    assert!(notes[0].contains("the document wants for `GET /up`: "), "{notes:?}");
}

/// Each set of keys is enough if it is whole, and a field given beside the document is a key of it.
#[test]
fn a_key_that_is_given_is_sent_and_not_missed() {
    let noted = |security: &str, lines: &[&str]| {
        let text = format!(
            "openapi: 3.1.0\nservers: [{{url: 'http://x'}}]\nsecurity: {security}\npaths: {{/a: {{get: {{}}}}}}\n\
             components: {{securitySchemes: {{bearer: {{type: http, scheme: bearer}}, key: {{type: apiKey, in: header, \
             name: X-Key}}, session: {{type: apiKey, in: cookie, name: sid}}, query: {{type: apiKey, in: query, name: \
             key}}, other: {{$ref: '#/components/securitySchemes/key'}}}}}}\n"
        );
        let sourced = parse_openapi("x", &text, &with_fields(None, lines, &[])).unwrap();
        let sent = fields(requests(&sourced)[0]).len();
        assert_eq!(sent, lines.len(), "{security}");
        !sourced.notes.is_empty()
    };
    let (bearer, key, session) = ("authorization: Bearer x", "x-key: y", "Cookie: theme=dark; sid=z");
    for (security, lines, is_noted) in [
        ("[{bearer: []}]", &[key][..], true),
        ("[{bearer: []}]", &[], true),
        ("[{bearer: []}]", &[bearer], false),
        ("[{key: []}]", &[key], false),
        ("[{other: []}]", &[key], false),
        ("[{session: []}]", &[session], false),
        ("[{session: []}]", &["Cookie: theme=sid"], true),
        ("[{bearer: [], key: []}]", &[key], true),
        ("[{bearer: [], key: []}]", &[key, bearer], false),
        ("[{bearer: []}, {key: []}]", &[key], false),
        ("[{query: []}]", &[bearer, key, session], true),
        ("[{nowhere: []}]", &[bearer, key, session], true),
    ] {
        assert_eq!(noted(security, lines), is_noted, "{security} {lines:?}");
    }
}

#[test]
fn what_is_given_takes_the_place_of_what_a_document_says() {
    let text = "openapi: 3.1.0\nservers: [{url: 'http://x'}]\npaths:\n  /a:\n    get:\n      parameters:\n        \
                - {name: X-Tenant, in: header, example: acme}\n        - {name: x-lang, in: header, example: de}\n";
    let given = with_fields(None, &["X-Lang: {{line languages.txt}}"], &["x-lang", "x-tenant"]);
    let sourced = parse_openapi("x", text, &given).unwrap();
    let [only] = requests(&sourced)[0].headers.as_slice() else { panic!("{sourced:?}") };
    assert_eq!((only.0.constant(), only.1.variable()), (Some("X-Lang"), Some("line_1")));
    let files: Vec<_> = sourced.scenario.data.iter().filter_map(|set| set.file.to_str()).collect();
    assert_eq!(files, ["languages.txt"]);
}

/// What opens a door is not for whoever else a recording went to.
#[test]
fn what_is_given_goes_to_one_server() {
    let key = ["X-Key: secret"];
    let error = parse_har("x", HAR, true, &with_fields(None, &key, &["x-key"])).unwrap_err().to_string();
    assert!(error.contains("2 servers (https://cdn.example, https://shop.example)"), "{error}");
    assert!(error.contains("--base URL") && !error.contains("secret"), "{error}");
    let sourced = parse_har("x", HAR, true, &with_fields(Some("http://y"), &key, &["x-key"])).unwrap();
    for request in requests(&sourced) {
        assert_eq!(fields(request).last(), Some(&("X-Key", "secret")));
    }
    // What is only taken out goes to nobody.
    let without = parse_har("x", HAR, true, &with_fields(None, &[], &["accept"])).unwrap();
    assert!(requests(&without).into_iter().all(|it| it.headers.is_empty()));
}

#[test]
fn a_schema_ends_where_it_comes_within_itself() {
    let body = |schema: &str| {
        let text = format!(
            "servers: [{{url: 'http://x'}}]\npaths: {{/a: {{post: {{requestBody: {{required: true, content: {{application/json: \
             {{schema: {{$ref: '#/node'}}}}}}}}}}}}, /b: {{get: {{}}}}}}\nnode: {{{schema}}}\nshop: {{properties: {{root: \
             {{$ref: '#/node'}}, id: {{example: 1}}}}}}\n"
        );
        let (all, left_out) = documented(&text);
        if left_out.is_empty() { all[0].1.replace("application/json|", "") } else { left_out.concat() }
    };
    let name = "name: {example: a}";
    let (left, list) = ("{$ref: '#/node'}", "{type: array, items: {$ref: '#/node'}}");
    for (schema, due) in [
        // A reference to itself that may be left out is, and one in a list is none.
        (format!("properties: {{{name}, left: {left}, right: {left}}}"), r#"{"name":"a"}"#),
        (format!("required: [all], properties: {{{name}, all: {list}}}"), r#"{"all":[],"name":"a"}"#),
        (format!("properties: {{{name}, shop: {{$ref: '#/shop'}}}}"), r#"{"name":"a","shop":{"id":1}}"#),
        (
            format!("required: [left], properties: {{{name}, left: {left}}}"),
            "POST /a: its body has no example",
        ),
        (
            format!("required: [all], properties: {{all: {{items: {left}, minItems: 1}}}}"),
            "POST /a: its body has no example",
        ),
    ] {
        assert_eq!(body(&schema), due, "{schema}");
    }
}

#[test]
fn an_object_has_all_that_it_is_made_of_and_nothing_of_answers_alone() {
    let body = |schema: &str| {
        let text = format!(
            "servers: [{{url: 'http://x'}}]\npaths: {{/a: {{post: {{requestBody: {{required: true, content: {{application/json: \
             {{schema: {schema}}}}}}}}}}}, /b: {{get: {{}}}}}}\nbase: {{required: [name], properties: {{name: {{example: Ada}}}}}}\n\
             made: {{properties: {{n: {{example: 2}}}}, example: {{n: 3}}}}\nkind: {{enum: [one, two]}}\n"
        );
        let (all, left_out) = documented(&text);
        if left_out.is_empty() { all[0].1.clone() } else { left_out.concat() }
    };
    for (schema, written) in [
        ("{allOf: [{$ref: '#/base'}, {properties: {age: {example: 7}}}]}", r#"{"age":7,"name":"Ada"}"#),
        ("{allOf: [{$ref: '#/base'}], properties: {age: {example: 7}}}", r#"{"age":7,"name":"Ada"}"#),
        ("{allOf: [{$ref: '#/base'}, {$ref: '#/made'}]}", r#"{"n":3,"name":"Ada"}"#),
        ("{properties: {kind: {allOf: [{$ref: '#/kind'}], description: d}}}", r#"{"kind":"one"}"#),
        ("{oneOf: [{type: string}, {$ref: '#/base'}]}", r#"{"name":"Ada"}"#),
        (
            "{required: [id, a], properties: {id: {readOnly: true, example: 1}, a: {example: 2}}}",
            r#"{"a":2}"#,
        ),
    ] {
        assert_eq!(body(schema), format!("application/json|{written}"), "{schema}");
    }
    let lacking = "{required: [a, b], properties: {a: {example: 1}}}";
    assert_eq!(body(lacking), "POST /a: its body has no example");
}

/// JSON is read as what it is: as YAML, which it is as well, so many values would be refused.
#[test]
fn a_document_in_json_may_be_a_long_one() {
    let many = vec!["0"; 260_000].join(",");
    let document = format!(
        "\u{feff}{{\"openapi\": \"3.1.0\", \"x-many\": [{many}], \"servers\": [{{\"url\": \"http://x\"}}], \
         \"paths\": {{\"/a\": {{\"get\": {{}}}}}}}}"
    );
    let sourced = parse_openapi("x", &document, &options(None)).unwrap();
    assert_eq!(requests(&sourced).len(), 1);
}

/// One schema that is all of another a thousand times has its properties as often.
#[test]
fn what_an_object_is_all_of_is_refused_in_time() {
    let properties: Vec<String> = (0..3000).map(|n| format!("p{n}: {{}}")).collect();
    let parts = vec!["{$ref: '#/part'}"; 3000].join(", ");
    let document = format!(
        "openapi: 3.1.0\nservers: [{{url: http://x}}]\npaths: {{/a: {{post: {{requestBody: {{content: {{application/json: \
         {{schema: {{allOf: [{parts}]}}}}}}}}}}}}}}\npart: {{properties: {{{}}}}}\n",
        properties.join(", ")
    );
    let error = parse_openapi("x", &document, &options(None)).unwrap_err().to_string();
    assert!(error.contains("come to more than 67108864 bytes"), "{error:.200}");
}
