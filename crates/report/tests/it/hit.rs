//! One load as text and as JSON.

use report::{HitReport, hit_text};
use serde_json::Value;

use crate::samples::{empty_load, load, mixed_load, silent_load};

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

#[test]
fn a_load_of_nothing() {
    insta::assert_snapshot!(text(empty_load()));
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
            "reset",
            "closed_early",
            "malformed",
            "unsent",
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
