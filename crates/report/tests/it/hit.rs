//! One load as text and as JSON.

use report::{HitReport, earlier_text, hit_markdown, hit_text};
use serde_json::Value;

use crate::samples::{empty_load, load, mixed_load, silent_load, times};

fn text(load: record::LoadResult) -> String {
    hit_text(&HitReport::new(load))
}

#[test]
fn a_load_that_went_well() {
    insta::assert_snapshot!(text(load(12_345.0)));
}

#[test]
fn a_load_with_some_of_every_outcome() {
    insta::assert_snapshot!(text(mixed_load()));
}

#[test]
fn a_load_that_was_never_answered() {
    let text = text(silent_load());
    assert!(text.contains(">2.00s"), "{text}");
    insta::assert_snapshot!(text);
}

/// Three samples know no percentile, and the JSON says of which it is so.
#[test]
fn a_load_of_three_requests_knows_no_percentile() {
    let mut three = stats::Distribution::default();
    for ms in [1, 2, 3] {
        three.record(units::Duration::from_millis(ms));
    }
    let mut few = load(3.0);
    few.response_time_us = (&three).into();
    few.service_time_us = (&three).into();
    few.lag_us = (&three).into();
    let report = HitReport::new(few);
    let text = hit_text(&report);
    let response = text.lines().find(|line| line.trim_start().starts_with("response")).unwrap();
    let cells: Vec<&str> = response.split_whitespace().collect();
    assert_eq!(
        cells[1..],
        ["2.00ms", "–", ">2.00ms", ">3.00ms", ">3.00ms", ">3.00ms", "3.00ms", "3"],
        "{text}"
    );
    assert!(text.contains("p99 takes 299") && text.contains("p99.99 takes 29956"), "{text}");
    let json: Value = serde_json::from_str(&report.json()).unwrap();
    let too_few = json["response_time_us"]["too_few_samples"].as_object().unwrap();
    assert!(too_few["p50"].is_null() && too_few["p99_99"].is_f64(), "{json}");
    // A record of a version that did not ask is told by its count.
    let mut old = load(3.0);
    old.response_time_us.count = 3;
    let text = hit_text(&HitReport::new(old));
    let response = text.lines().find(|line| line.trim_start().starts_with("response")).unwrap();
    assert_eq!(response.matches('–').count(), 5, "{text}");
}

#[test]
fn a_redirect_is_no_goodput_and_says_what_to_do() {
    let mut moved = load(1000.0);
    let count = moved.intended;
    moved.statuses = std::collections::BTreeMap::from([("302".to_owned(), count)]);
    moved.answered_as_expected = 0;
    let text = text(moved.clone());
    assert!(text.contains("redirects are not followed") && text.contains("--expect-status 302"), "{text}");
    assert!(text.contains("follow them with --follow"), "{text}");
    assert!(
        text.contains("incorrect service") && text.contains("redirects, which are not followed"),
        "{text}"
    );
    moved.answered_as_expected = count;
    let asked_for = hit_text(&HitReport::new(moved));
    assert!(!asked_for.contains("not followed"), "{asked_for}");
}

/// That a connection has carried enough is no error, and nothing to tell a person.
#[test]
fn why_a_server_ended_connections_is_told() {
    let mut ended = load(1000.0);
    ended.go_aways = std::collections::BTreeMap::from([("no_error".to_owned(), 9)]);
    assert!(!text(ended.clone()).contains("goaway"));
    ended.go_aways.extend([("enhance_your_calm".to_owned(), 2), ("internal_error".to_owned(), 1)]);
    let text = text(ended);
    let due = "\ngoaway      connections that the server ended with an error (";
    assert!(text.contains(&format!("{due}enhance_your_calm: 2, internal_error: 1)\n")), "{text}");
}

#[test]
fn a_server_without_http_2_is_told_of_in_words() {
    let mut other = load(1000.0);
    assert!(!text(other.clone()).contains("--http2-prior-knowledge"));
    other.connect_failures.insert("other_protocol".to_owned(), 10);
    let text = text(other);
    assert!(text.contains("\n            10 found a server that speaks no HTTP/2: leave"), "{text}");
}

/// An answer without news leads nowhere.
#[test]
fn what_leads_nowhere_is_no_redirect() {
    for (status, is_redirect) in
        [("301", true), ("308", true), ("300", false), ("304", false), ("305", false)]
    {
        let mut answered = load(1000.0);
        answered.statuses = std::collections::BTreeMap::from([(status.to_owned(), answered.intended)]);
        answered.answered_as_expected = 0;
        let text = text(answered);
        assert_eq!(text.contains("lead elsewhere"), is_redirect, "{text}");
        assert_eq!(text.contains("redirects, which are not followed"), is_redirect, "{text}");
        assert!(text.contains("incorrect service"), "{text}");
    }
}

#[test]
fn a_load_of_nothing() {
    insta::assert_snapshot!(text(empty_load()));
}

/// What was under way at the end has not failed. Where there was none there is no word of it.
#[test]
fn steps_that_the_end_cut_off_are_told_apart_from_those_that_failed() {
    let of = |cut_off: u64| {
        let mut load = load(1000.0);
        load.steps = vec![record::StepResult {
            label: "buy".into(),
            transaction: true,
            failed: 12,
            cut_off,
            first_failure: Some("status 500".into()),
            response_time_us: times(2000, 64_000.0),
        }];
        text(load).lines().map(str::to_owned).collect::<Vec<String>>()
    };
    let (with, without) = (of(7), of(0));
    assert!(with.iter().any(|line| line.contains("cut off")), "{with:?}");
    let row = with.iter().find(|line| line.trim_start().starts_with("buy")).expect("it has a row");
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert!(cells.ends_with(&["12", "7", "status", "500"]), "{row}");
    assert!(!without.iter().any(|line| line.contains("cut off")), "{without:?}");
}

#[test]
fn hostile_texts_stay_on_their_line() {
    let lines = text(load(1000.0)).lines().count();
    let mut hostile = load(1000.0);
    hostile.url = "http://x/\n\u{1b}[2Jgone".into();
    hostile.load.label = "64\r\nconnections".into();
    hostile.statuses = std::collections::BTreeMap::from([("200\n\u{7}".to_owned(), 1)]);
    let text = text(hostile);
    assert_eq!(text.lines().count(), lines, "{text}");
    assert!(!text.chars().any(|char| char.is_control() && char != '\n'), "{text}");
}

#[test]
fn the_first_wrong_answer_is_shown_on_one_harmless_line() {
    let line = |status, body: Option<&str>| {
        let mut load = load(1000.0);
        let body_start = body.map(str::to_owned);
        load.first_wrong_answer = Some(record::WrongAnswer { status, body_start });
        let text = text(load);
        text.lines().find(|line| line.starts_with("wrong ")).unwrap().to_owned()
    };
    let says = |rest: &str| format!("wrong       the first wrong answer: {rest}");
    assert_eq!(line(200, Some("goat")), says("status 200, body “goat”"));
    assert_eq!(line(204, Some("")), says("status 204, no body"));
    assert_eq!(line(500, None), says("status 500, its body was not kept"));
    let hostile = line(500, Some("<html>\n\u{1b}[2J\u{202e}gone\r\n"));
    assert_eq!(hostile, says("status 500, body “<html> \\u{1b}[2J\\u{202e}gone”"));
    let long = line(200, Some(&"x".repeat(256)));
    assert_eq!(long, says(&format!("status 200, body “{}…”", "x".repeat(120))));
}

#[test]
fn the_json_as_a_whole() {
    insta::assert_snapshot!(HitReport::new(mixed_load()).json());
}

/// What scripts rely on. A key may be added; one that goes or changes wants a new version.
#[test]
fn the_json_has_every_key_of_version_1() {
    let times = ["mean", "p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99", "max"];
    for load in [load(1000.0), mixed_load(), silent_load(), empty_load()] {
        let json: Value = serde_json::from_str(&HitReport::new(load).json()).unwrap();
        assert_eq!(json["version"], 1);
        let outcomes = json["outcomes"].as_object().unwrap();
        let names = [
            "answered",
            "timed_out",
            "connect_failed",
            "tls_failed",
            "reset",
            "closed_early",
            "malformed",
            "unsent",
            "backlog_overflow",
            "in_flight",
        ];
        for name in names {
            assert!(outcomes[name].is_u64(), "{name}");
        }
        let sum: u64 = outcomes.values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(json["intended"], sum);
        assert!(json["statuses"].is_object());
        assert!(json["goodput_per_s"].is_f64());
        for part in ["service_time_us", "response_time_us", "lag_us"] {
            let seen = json[part]["count"].as_u64().unwrap() > 0;
            for name in times {
                assert_eq!(json[part][name].is_f64(), seen, "{part}.{name}");
                assert_eq!(json[part][name].is_null(), !seen, "{part}.{name}");
            }
            assert!(json[part]["lower_bounds"].is_array() && json[part]["censored"].is_u64());
        }
        assert!(json.as_object().unwrap().contains_key("cpu_us_per_request"));
        let validity = &json["validity"];
        assert!(validity["valid"].is_boolean() && validity["verdict"].is_string());
        for reason in validity["reasons"].as_array().unwrap() {
            assert!(reason["kind"].is_string() && reason["text"].is_string());
        }
        assert_eq!(validity["valid"].as_bool().unwrap(), validity["reasons"].as_array().unwrap().is_empty());
    }
}

#[test]
fn the_json_marks_lower_bounds_by_name() {
    let json: Value = serde_json::from_str(&HitReport::new(mixed_load()).json()).unwrap();
    let bounds = json["response_time_us"]["lower_bounds"].as_array().unwrap();
    assert!(bounds.iter().all(|name| json["response_time_us"][name.as_str().unwrap()].is_f64()));
    assert!(bounds.iter().any(|name| name == "p99") && bounds.iter().all(|name| name != "p90"));
    let kinds: Vec<&str> = json["validity"]["reasons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["incorrect_service", "censored"]);
}

#[test]
fn a_load_of_several_machines_says_how_each_did() {
    let mut shared = load(12_345.0);
    let agent = |number: usize| record::AgentResult {
        name: format!("load{number}"),
        node: format!("n{number}"),
        threads: 2,
        intended: 1000,
        busy_share: Some(0.1 * number as f64),
        generator_lag_p99_us: Some(38.1),
        clock_bound_us: 612.0,
        ..record::AgentResult::default()
    };
    shared.agents = (0..7).map(agent).collect();
    shared.agents[2].lost =
        Some(record::AgentLost { told_to_s: 7.0, why: "ended\u{1b}[2J".into(), requests: 400 });
    shared.outcomes.lost = 400;
    let text = text(shared);
    let lines: Vec<&str> = text.lines().skip_while(|it| !it.starts_with("agents")).take(7).collect();
    assert_eq!(lines[0], "agents      7 machines, begun within ±612us of each other");
    assert_eq!(
        lines[1].trim_start(),
        "2 (load2, n2): 1000 requests, lost after 7.0 s with 400 more: ended\\u{1b}[2J"
    );
    assert_eq!(
        lines[2].trim_start(),
        "6 (load6, n6): 1000 requests over 2 threads, the busiest 60 % of a core, lag p99 38.1us"
    );
    assert_eq!(lines[6].trim_start(), "and 2 more");
    assert!(text.contains(", 400 lost"), "{text}");
    let mut alone = load(12_345.0);
    alone.agents = vec![agent(0)];
    let text = hit_text(&HitReport::new(alone));
    assert!(text.contains("\nagents      1 machine\n"), "{text}");
}

#[test]
fn the_server_s_pods_are_told_of_the_busiest_first_and_on_harmless_lines() {
    let sample = |cpu_cores: f64, window_s: f64, mib: u64| record::PodSample {
        at_s: 30.0,
        window_s,
        cpu_cores,
        memory_bytes: mib << 20,
    };
    let pod = |name: &str, cpu_limit_cores: Option<f64>, samples: Vec<record::PodSample>| record::ServerPod {
        name: name.into(),
        cpu_limit_cores,
        samples,
        within: None,
    };
    let mut watched = load(1000.0);
    let mut pods = vec![
        pod("shop-a", Some(0.5), vec![sample(0.25, 15.0, 100)]),
        pod("shop-b", Some(2.0), vec![sample(1.98, 15.0, 412), sample(1.92, 7.5, 400)]),
        pod("shop-c\u{1b}[2J\n", None, vec![sample(0.3, 15.0, 1)]),
        pod("shop-d", None, Vec::new()),
    ];
    let (namespace, labels) = ("shop".to_owned(), "app=shop".to_owned());
    let server = record::ServerPods { namespace, labels, not_known: None, keep: None, pods: pods.clone() };
    watched.server_pods = Some(server.clone());
    let lines = lines_of_server_pods;
    assert_eq!(
        lines(&watched),
        [
            "server pods 4 of app=shop in shop",
            "            shop-b: 1.96 of 2 cores on average, 412.0MiB at most; 2 samples",
            "            shop-c\\u{1b}[2J: 0.30 cores on average, 1.0MiB at most; 1 sample",
            "            shop-a: 0.25 of 0.5 cores on average, 100.0MiB at most; 1 sample",
            "            no sample of 1 of them",
        ]
    );
    let json: Value = serde_json::from_str(&HitReport::new(watched.clone()).json()).unwrap();
    assert_eq!(json["server_pods"]["pods"][0]["cpu_limit_cores"], 0.5);

    pods = (0..7).map(|it| pod(&format!("p{it}"), None, vec![sample(f64::from(it), 15.0, 1)])).collect();
    watched.server_pods = Some(record::ServerPods { pods, ..server.clone() });
    let many = lines(&watched);
    assert!(many[1].contains("p6: 6.00 cores") && many[6] == "            and 2 more", "{many:?}");

    let pods = vec![pod("shop-a", Some(0.5), Vec::new())];
    let not_known = Some("no sample lay\nwithin".to_owned());
    watched.server_pods = Some(record::ServerPods { pods, not_known, ..server });
    let none = ["server pods 1 of app=shop in shop", "            not known: no sample lay within"];
    assert_eq!(lines(&watched), none);
}

fn lines_of_server_pods(load: &record::LoadResult) -> Vec<String> {
    let text = text(load.clone());
    let lines = text.lines().skip_while(|it| !it.starts_with("server pods"));
    lines.take_while(|it| !it.starts_with("verdict")).map(str::to_owned).collect()
}

#[test]
fn what_was_seen_from_within_a_pod_is_told_in_a_few_harmless_lines() {
    let group = record::ThreadGroupUse {
        name: "http-nio-*\u{1b}[2J".into(),
        threads: 200,
        cpu_cores: 1.71,
        busiest_cores: 0.03,
        ..record::ThreadGroupUse::default()
    };
    let signals = record::ServerSignals {
        groups: vec![group],
        accept_queue: Some(record::AcceptQueue { limit: 100, max: 101, mean: 40.0, full_share: 0.31 }),
        connections: Some(record::Held { mean: 300.0, max: 301, readings: 50 }),
        ..record::ServerSignals::default()
    };
    let seen = record::ContainerUse {
        cpu_cores: Some(1.96),
        rss_bytes_max: 412 << 20,
        threads_max: 231,
        port: Some(8080),
        signals,
        not_known: vec!["CPU quotas: the control\ngroups".into()],
    };
    let within = record::PodWithin { container: "shop".into(), bound_s: 0.001, seen };
    let pod = |name: &str, within: Option<record::PodWithin>| record::ServerPod {
        name: name.into(),
        cpu_limit_cores: Some(2.0),
        within: within.map(Box::new),
        ..record::ServerPod::default()
    };
    let mut quiet = within.clone();
    quiet.seen = record::ContainerUse { threads_max: 1, ..record::ContainerUse::default() };
    let mut watched = load(1000.0);
    watched.server_pods = Some(record::ServerPods {
        namespace: "shop".into(),
        labels: "app=shop".into(),
        not_known: Some("what was seen in shop-c: is gone".into()),
        keep: Some("proofload-watch-k3x9".into()),
        pods: vec![pod("shop-a", Some(quiet)), pod("shop-b", Some(within)), pod("shop-c", None)],
    });
    assert_eq!(
        lines_of_server_pods(&watched),
        [
            "server pods 3 of app=shop in shop",
            "            shop-b: 1.96 of 2 cores, 412.0MiB at most, 231 threads at most",
            "              busiest threads: http-nio-*\\u{1b}[2J, 200 of them, 1.71 cores, one of them 0.03",
            "              connections at port 8080: 101 of 100 waited to be accepted at most, full 31 % of the time; 301 held at most",
            "              not known: CPU quotas: the control groups",
            "            shop-a: – of 2 cores, 0B at most, 1 thread at most",
            "            each keeps proofload-watch-k3x9, ended, until it is deleted",
            "            not known: what was seen in shop-c: is gone",
        ]
    );
}

/// What somebody ended the load under has not failed; what a load that ran to its end never heard of has.
#[test]
fn a_summary_of_a_load_that_was_ended_counts_nothing_as_failed_that_was_under_way() {
    let mut ended = load(1000.0);
    let count = ended.intended;
    ended.outcomes.answered = count - 7;
    ended.outcomes.timed_out = 3;
    ended.outcomes.in_flight = 4;
    ended.answered_as_expected = count - 7;
    let row = |load: &record::LoadResult| {
        let text = hit_markdown(&HitReport::new(load.clone()));
        let failed = text
            .lines()
            .find(|line| line.starts_with("| 1000/s"))
            .map(|line| line.split('|').nth(2).map_or_else(String::new, |cell| cell.trim().to_owned()));
        (failed.unwrap_or_default(), text)
    };
    let (failed, text) = row(&ended);
    assert_eq!((failed.as_str(), text.contains("under way when it ended")), ("7", false), "{text}");
    ended.interrupted = true;
    let (failed, text) = row(&ended);
    assert_eq!(failed, "3", "{text}");
    assert!(text.contains("4 requests were under way when it ended"), "{text}");
}

#[test]
fn an_earlier_load_that_went_another_way_is_called_so() {
    let earlier = load(1000.0);
    let mut now = earlier.clone();
    now.via = Some("the socket /run/shop.sock".into());
    let text = earlier_text("before.json", &earlier, &now);
    assert!(text.contains("not the same way: straight → the socket /run/shop.sock"), "{text}");
}

/// Beside an earlier load that somebody ended, its figures are not those of a load that ran to its end, and that is said.
#[test]
fn an_earlier_load_that_is_not_valid_is_called_so_and_nothing_cut_off_is_an_error() {
    let now = load(1000.0);
    let mut earlier = now.clone();
    earlier.load.requests = Some(500);
    earlier.outcomes.answered -= 500;
    earlier.outcomes.in_flight = 500;
    earlier.answered_as_expected -= 500;
    let errors = |text: &str| {
        let row = text.lines().find(|line| line.trim_start().starts_with("errors")).unwrap_or_default();
        row.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<String>>().join(" ")
    };
    let text = earlier_text("before.json", &earlier, &now);
    assert_eq!(errors(&text), "25.0 % 0.0 %", "{text}");
    assert!(text.contains("not the same number of requests: 500 → –"), "{text}");
    assert!(!text.contains("the earlier one is not valid"), "{text}");
    earlier.interrupted = true;
    let text = earlier_text("before.json", &earlier, &now);
    assert_eq!(errors(&text), "0.0 % 0.0 %", "{text}");
    assert!(text.contains("the earlier one is not valid: interrupted: it was ended after 2.00 s"), "{text}");
}
