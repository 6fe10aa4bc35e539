//! What is written is read back as it was, to the last bit of each figure.

use std::num::NonZeroU32;
use std::path::Path;

use plan::{ArrivalsName, NamedLoad};
use proptest::prelude::*;
use record::{
    GcPauses, LoadId, LoadResult, Manifest, RequestSummary, RunDir, Second, ServerSignals, Trial,
    TrialResult, load_of_label,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use units::Rate;

use crate::samples::{failed, load, manifest, measured};

fn back<T: Serialize + DeserializeOwned>(it: &T) -> T {
    serde_json::from_str(&serde_json::to_string(it).unwrap()).unwrap()
}

#[test]
fn a_measured_trial_comes_back() {
    let trial = measured(3);
    assert_eq!(back(&trial), trial);
}

/// Names of header fields in one order, whatever the order they were sent in, and not those that any request has.
#[test]
fn what_is_kept_of_a_request_can_be_read_back() {
    let names: [&[u8]; 5] = [b"Host", b"X-B", b"user-agent", b"Cookie", b"Content-Length"];
    let request = RequestSummary::new(b"POST", names, 3);
    assert_eq!((request.method.as_str(), request.body_bytes), ("POST", 3));
    assert_eq!(request.header_names, ["cookie", "x-b"]);
    let long = vec![b'a'; 5000];
    let request = RequestSummary::new(&long, (0..1001).map(|_| &long[..]), 0);
    assert_eq!((request.method.len(), request.header_names.len()), (4096, 1000));
    let load = LoadResult { request: Some(request), ..load() };
    let text = serde_json::to_string(&load).unwrap();
    assert_eq!(LoadResult::from_json(Path::new("x.json"), &text).unwrap(), load);
    for (value, told) in [
        (
            json!({"method": "GET", "header_names": vec!["a"; 1001], "body_bytes": 0}),
            "`header_names` is 1001",
        ),
        (json!({"method": "GET", "header_names": [], "body_bytes": u64::MAX}), "`body_bytes` is"),
        (json!({"method": "G".repeat(5000), "header_names": [], "body_bytes": 0}), "`method` is 5000"),
    ] {
        let mut changed = serde_json::to_value(&load).unwrap();
        changed["request"] = value;
        let error = LoadResult::from_json(Path::new("x.json"), &changed.to_string()).unwrap_err();
        assert!(error.to_string().contains(told), "{error}");
    }
}

#[test]
fn a_failed_trial_comes_back_with_its_error() {
    let trial = failed(4);
    let again: Trial = back(&trial);
    assert_eq!(again, trial);
    let TrialResult::Failed { error } = again.result else { panic!("it failed") };
    assert!(error.ends_with("\n\tline one\nline two"));
}

#[test]
fn a_manifest_comes_back() {
    let manifest: Manifest = manifest();
    assert_eq!(back(&manifest), manifest);
}

#[test]
fn a_trial_is_one_line_with_its_result_under_its_kind() {
    for (trial, kind) in [(measured(0), "measured"), (failed(0), "failed")] {
        let text = serde_json::to_string(&trial).unwrap();
        assert!(!text.contains('\n'), "{text}");
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(value[kind].is_object(), "{text}");
    }
}

#[test]
fn a_trial_that_names_no_driver_is_of_our_own() {
    let mut value = serde_json::to_value(measured(0)).unwrap();
    value.as_object_mut().unwrap().remove("driver");
    value["measured"]["load"].as_object_mut().unwrap().remove("driver");
    let trial: Trial = serde_json::from_value(value).unwrap();
    assert!(trial.driver.is_own());
    let text = serde_json::to_string(&trial).unwrap();
    assert!(!text.contains("\"driver\""), "and writes none: {text}");
    let TrialResult::Measured(measured) = trial.result else { panic!("it was measured") };
    assert_eq!(measured.load.driver, None);
}

/// The records of the sample pages were made before a line said more of its load than its label.
#[test]
fn the_label_of_an_old_record_says_which_load_it_was() {
    let records = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/samples/records");
    let mut read = 0;
    for run in std::fs::read_dir(records).unwrap() {
        let run = run.unwrap().path();
        let text = std::fs::read_to_string(run.join("trials.jsonl")).unwrap();
        for (trial, line) in RunDir::read_trials(&run).unwrap().iter().zip(text.lines()) {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(line["load"], trial.load.to_string());
            assert!(!matches!(trial.load.id, LoadId::Unknown { .. }), "{}", trial.load);
            if let (TrialResult::Measured(measured), true) = (&trial.result, line.get("load_id").is_none()) {
                let asked = &measured.load.load;
                assert_eq!(trial.load.id.users(), Some(asked.connections), "{}", trial.load);
                assert_eq!(trial.load.fresh_connections, !asked.keep_alive, "{}", trial.load);
            }
            read += 1;
        }
    }
    assert!(read > 50, "{read} trials");
}

#[test]
fn a_line_says_which_load_it_is_beside_what_it_is_called() {
    let mut trial = failed(0);
    trial.load = load_of_label("2000.5/s (Poisson) on 300, fresh");
    let mut line = serde_json::to_value(&trial).unwrap();
    assert_eq!(line["load"], "2000.5/s (Poisson) on 300, fresh");
    let id = serde_json::json!({
        "model": "open", "rate_per_s": 2000.5, "arrivals": "poisson", "connections": 300, "fresh_connections": true
    });
    assert_eq!(line["load_id"], id);
    line["load"] = "2000 connections".into();
    assert_eq!(serde_json::from_value::<Trial>(line.clone()).unwrap(), trial, "the label is shown, not read");
    line.as_object_mut().unwrap().remove("load_id");
    let old: Trial = serde_json::from_value(line).unwrap();
    assert_eq!(old.load, load_of_label("2000 connections"));
}

#[test]
fn why_a_backend_was_refused_is_read_under_its_older_name_too() {
    let mut value = serde_json::to_value(measured(0)).unwrap();
    value["measured"]["load"]["load"]["io_uring_refused"] = "Operation not permitted".into();
    let trial: Trial = serde_json::from_value(value).unwrap();
    let text = serde_json::to_string(&trial).unwrap();
    assert!(text.contains(r#""backend_refused":"Operation not permitted""#), "{text}");
    assert!(!text.contains("io_uring_refused"), "{text}");
}

#[test]
fn fields_that_a_later_writer_added_are_no_obstacle() {
    let mut value = serde_json::to_value(measured(0)).unwrap();
    value["new_field"] = 1.into();
    value["measured"]["load"]["outcomes"]["new_outcome"] = 1.into();
    assert_eq!(serde_json::from_value::<Trial>(value).unwrap(), measured(0));
}

/// Every load that a plan can ask for, and more.
fn any_load() -> impl Strategy<Value = NamedLoad> {
    let count = || any::<NonZeroU32>();
    let each = proptest::option::of(any::<NonZeroU32>());
    let closed = (count(), proptest::option::of(any::<u64>()), each, any::<u64>()).prop_map(
        |(connections, ramp_up_ns, requests_per_user, think_ns)| LoadId::Closed {
            connections,
            ramp_up_ns,
            requests_per_user,
            think_ns,
        },
    );
    let arrivals = prop_oneof![
        Just(ArrivalsName::Constant),
        Just(ArrivalsName::Poisson),
        (1_u32..1000).prop_map(|size| ArrivalsName::Bursts(NonZeroU32::new(size).unwrap())),
    ];
    let open = (1e-6..1e9, arrivals, count()).prop_map(|(per_s, arrivals, connections)| LoadId::Open {
        rate: Rate::per_sec(per_s).unwrap(),
        arrivals,
        connections,
    });
    let scripted = count().prop_map(|users| LoadId::Scripted { users });
    (prop_oneof![closed, open, scripted], any::<bool>())
        .prop_map(|(id, fresh_connections)| NamedLoad { id, fresh_connections })
}

#[test]
fn attempts_that_were_lost_come_back_in_order_and_none_are_not_written() {
    let none = measured(0);
    assert!(!serde_json::to_string(&none).unwrap().contains("lost_attempts"));
    let lost_attempts = ["agent 0 of 2 (a) was lost: it ended", "agent 1 of 2 (b) was lost: it fell silent"];
    let trial = Trial { lost_attempts: lost_attempts.map(str::to_owned).into(), ..failed(0) };
    assert_eq!(back(&trial), trial);
}

/// An older record has no such words, and most seconds of a newer one need none.
#[test]
fn a_second_says_which_of_its_times_are_bounds_and_nothing_where_none_is() {
    let plain =
        r#"{"from_s":1.0,"length_s":1.0,"goodput_per_s":2.0,"failures_per_s":0.0,"p50_us":7.5,"p99_us":9.5}"#;
    let second: Second = serde_json::from_str(plain).unwrap();
    assert!(!second.p50_is_lower_bound && !second.p99_is_lower_bound);
    assert_eq!(serde_json::to_string(&second).unwrap(), plain);
    let bound = Second { p99_is_lower_bound: true, ..second };
    assert!(serde_json::to_string(&bound).unwrap().contains("\"p99_us\":9.5,\"p99_is_lower_bound\":true"));
    assert_eq!(back(&bound), bound);
    let longest = Second { max_us: Some(11.5), ..second };
    assert_eq!(serde_json::to_string(&longest).unwrap(), plain.replace("9.5}", "9.5,\"max_us\":11.5}"));
    assert_eq!(back(&longest), longest);
}

/// Who looked and saw none says so; an older record says nothing.
#[test]
fn pauses_of_no_second_are_told_from_pauses_that_nobody_looked_for() {
    let (old, looked) = (ServerSignals::default(), GcPauses { seconds: 15, ended: Vec::new() });
    assert!(!serde_json::to_string(&old).unwrap().contains("gc_pauses"));
    assert_eq!(back(&old).gc_pauses, None);
    let new = ServerSignals { gc_pauses: Some(looked.clone()), ..old };
    assert!(serde_json::to_string(&new).unwrap().contains(r#""gc_pauses":{"seconds":15,"ended":[]}"#));
    assert_eq!(back(&new).gc_pauses, Some(looked));
}

proptest! {
    /// So a cell of an old record and the same of a new one are one cell.
    #[test]
    fn a_label_alone_says_the_same_of_a_load_as_its_identity(load in any_load()) {
        prop_assert_eq!(&load_of_label(&load.to_string()), &load);
        let trial = Trial { load, ..failed(0) };
        prop_assert_eq!(back(&trial), trial);
    }

    #[test]
    fn every_finite_figure_comes_back_to_the_bit(bits in any::<u64>()) {
        let figure = f64::from_bits(bits);
        prop_assume!(figure.is_finite());
        let mut trial = measured(0);
        let TrialResult::Measured(measured) = &mut trial.result else { unreachable!() };
        measured.load.goodput_per_s = figure;
        measured.load.response_time_us.p99 = Some(figure);
        prop_assert_eq!(back(&trial), trial);
    }
}
