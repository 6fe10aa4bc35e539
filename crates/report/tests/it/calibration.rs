//! Told beside truth, as text and as JSON.

use record::{
    CALIBRATION_VERSION, Calibration, CalibrationCase, CalibrationTry, Distribution, Machine, PeerMissing,
    PeerResult, PeerRun, ResponseFrom, Truth,
};
use report::{CalibrationReport, calibration_line};
use serde_json::Value;

use crate::samples::{load, times};

fn truth(count: u64, us: f64) -> Truth {
    Truth {
        response_from: ResponseFrom::Due,
        response_time_us: times(count, us),
        service_time_us: times(count, us * 0.99),
        unanswered: 0,
        arrived_early: 0,
    }
}

/// A case whose figures are off by `off_us`.
fn case(name: &str, off_us: f64) -> CalibrationCase {
    let us = 64.0 / 1000.0 * 1e6;
    let mut load = load(1000.0);
    load.response_time_us.p50 = Some(us + off_us);
    load.service_time_us = times(load.intended, us * 0.99);
    CalibrationCase {
        name: name.into(),
        server: "every answer after 64 ms".into(),
        command: vec!["proofload".into(), "target".into(), "--path".into(), "/case=64ms".into()],
        service_not_logged: None,
        tries: vec![CalibrationTry {
            truth: truth(load.intended, us),
            scheduling_delay_us: times(9_970, 40.0),
            load,
        }],
        failed: None,
        peers: Vec::new(),
    }
}

fn with_peers() -> CalibrationCase {
    let mut case = case("fixed", -12.5);
    let run = |name: &str, result| PeerRun { name: name.into(), command: vec!["wrk".into()], result };
    let told =
        Distribution { count: 99, mean: Some(64_100.0), max: Some(70_000.0), ..Distribution::default() };
    case.peers = vec![
        run("wrk", PeerResult::Told { told: told.into(), truth: truth(99, 64_000.0).into() }),
        run("oha", PeerResult::Nothing { why: "it keeps no\nrate".into() }),
    ];
    case
}

fn withheld() -> CalibrationCase {
    let mut case = case("busy", 9e6);
    case.tries[0].load.generator.busy_share = 0.97;
    case
}

fn all() -> Calibration {
    let mut twice = case("twice", 700.0);
    twice.tries.push(twice.tries[0].clone());
    let mut stalls = case("stall", 0.0);
    stalls.service_not_logged = Some("its log begins after the wait".into());
    let mut dead = case("dead", 0.0);
    dead.tries.clear();
    dead.failed = Some("cannot start it\n  | no\tsuch\u{1b}[31m file".into());
    Calibration {
        version: CALIBRATION_VERSION,
        proofload: "0.1.0".into(),
        machine: Machine { cores: 2, kernel: Some("6.18.5".into()), ..Machine::default() },
        quick: false,
        interrupted: false,
        idle_scheduling_delay_us: times(1_990, 35.0),
        cases: vec![with_peers(), stalls, twice, withheld(), dead],
        peers_missing: vec![PeerMissing { name: "oha".into(), install: "cargo install oha".into() }],
    }
}

#[test]
fn every_kind_of_case() {
    insta::assert_snapshot!(CalibrationReport::new(all()).text());
}

#[test]
fn a_case_in_a_line() {
    assert_eq!(calibration_line(&case("fixed", 0.0)), "fixed: in bounds");
    let mut twice = case("twice", 700.0);
    twice.tries.push(twice.tries[0].clone());
    assert_eq!(calibration_line(&twice), "twice: OUT OF BOUNDS (try 2): response time at p50");
}

#[test]
fn only_a_whole_calibration_in_bounds_is_one() {
    let with = |cases: Vec<CalibrationCase>| CalibrationReport::new(Calibration { cases, ..all() });
    assert!(with(vec![case("fixed", 0.0)]).all_in_bounds());
    assert!(!with(vec![case("fixed", 0.0), case("off", 700.0)]).all_in_bounds());
    assert!(!with(vec![case("fixed", 0.0), withheld()]).all_in_bounds(), "withheld is no pass");
    assert!(!with(Vec::new()).all_in_bounds());
}

#[test]
fn hostile_texts_stay_on_their_line() {
    let text = CalibrationReport::new(all()).text();
    assert!(!text.chars().any(|char| char.is_control() && char != '\n'), "{text}");
}

/// What scripts rely on. A key may be added; one that goes or changes wants a new version.
#[test]
fn the_json_has_the_record_and_a_verdict_for_each_case() {
    let json: Value = serde_json::from_str(&CalibrationReport::new(all()).json()).unwrap();
    assert_eq!((&json["version"], &json["quick"]), (&1.into(), &false.into()));
    let case = &json["cases"][0];
    for key in ["name", "server", "command", "service_not_logged", "tries", "failed", "peers"] {
        assert!(case.get(key).is_some(), "{key}");
    }
    let one = &case["tries"][0];
    assert_eq!(one["load"]["version"], 1);
    assert_eq!(one["truth"]["response_from"], "due");
    assert_eq!(one["truth"]["response_time_us"]["p50"], 64_000.0);
    assert!(one["scheduling_delay_us"]["p99_99"].is_f64());
    assert_eq!(case["peers"][0]["told"]["told"]["mean"], 64_100.0);
    assert_eq!(case["peers"][1]["nothing"]["why"], "it keeps no\nrate");
    let verdict = &json["verdicts"][0];
    assert_eq!(verdict["outcome"], "in_bounds");
    let deviation = &verdict["response"][0];
    assert_eq!((&deviation["percentile"], &deviation["allowed_by"]), (&"p50".into(), &"share".into()));
    assert_eq!((&deviation["off_us"], &deviation["in_bounds"]), (&(-12.5).into(), &true.into()));
    assert_eq!(json["verdicts"][2]["outcome"], "out_of_bounds");
    assert_eq!(json["verdicts"][4]["outcome"], "failed");
    let again: Calibration = serde_json::from_value(json).unwrap();
    assert_eq!(again, all());
}
