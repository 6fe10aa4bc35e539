//! What of a run is exported.

use std::collections::BTreeSet;

use exports::{Family, Labels, Value, date_all};

use crate::made_up::{failed, families, measured};

fn family<'a>(families: &'a [Family], name: &str) -> &'a Family {
    families
        .iter()
        .find(|family| family.metric.sample_name() == name)
        .unwrap_or_else(|| panic!("there is no {name}"))
}

fn names(families: &[Family]) -> BTreeSet<String> {
    families.iter().map(|family| family.metric.sample_name()).collect()
}

fn label<'a>(labels: &'a Labels, name: &str) -> Option<&'a str> {
    labels.iter().find(|(it, _)| *it == name).map(|(_, value)| value)
}

#[test]
fn a_trial_has_its_figures_labels_and_time() {
    let families = families("a title", &[measured(4, "gin", "twin", 0)]);
    let goodput = &family(&families, "proofload_goodput_per_second").samples[0];
    assert_eq!(goodput.value, Value::Number(1004.0));
    let told: Vec<(&str, &str)> = goodput.labels.iter().collect();
    assert_eq!(
        told,
        [
            ("block", "4"),
            ("driver", "proofload"),
            ("experiment", "a title"),
            ("load", "50 connections"),
            ("role", "twin"),
            ("round", "hello"),
            ("stack", "gin"),
        ]
    );
    let span = goodput.span.unwrap();
    assert_eq!(span.end_ms - span.start_ms, 30_000, "it ends with its window");
    let server = &family(&families, "proofload_server_cpu_per_request_seconds").samples[0];
    assert_eq!(server.value, Value::Number(1e-4));
    let upstream = &family(&families, "proofload_upstream_cpu_cores").samples[0];
    assert_eq!(label(&upstream.labels, "upstream"), Some("origin"));
    let outcomes: Vec<Option<&str>> = family(&families, "proofload_requests_total")
        .samples
        .iter()
        .map(|sample| label(&sample.labels, "outcome"))
        .collect();
    assert_eq!(outcomes.len(), 10);
}

/// Of one set of labels a system of metrics keeps one series.
#[test]
fn a_transaction_that_is_called_as_a_request_is_has_its_own_series() {
    let mut trial = measured(0, "gin", "stack", 0);
    let record::TrialResult::Measured(it) = &mut trial.result else { panic!("it is measured") };
    let request = it.load.steps[0].clone();
    it.load.steps.push(record::StepResult { transaction: true, failed: 7, ..request });
    let families = families("", &[trial]);
    let failures = family(&families, "proofload_step_failures_total").samples.iter();
    let told: Vec<_> = failures.map(|it| (label(&it.labels, "transaction"), &it.value)).collect();
    assert_eq!(told, [(None, &Value::Count(1)), (Some("true"), &Value::Count(7))]);
    let times = family(&families, "proofload_step_response_time_samples").samples.iter();
    let told: Vec<_> = times.map(|it| label(&it.labels, "transaction")).collect();
    assert_eq!(told, [None, Some("true")]);
}

#[test]
fn what_is_only_a_bound_is_in_no_family_of_values() {
    let families = families("", &[measured(0, "gin", "stack", 100)]);
    let quantiles = |name: &str| -> Vec<String> {
        let all = &family(&families, name).samples;
        all.iter().filter_map(|sample| label(&sample.labels, "quantile")).map(str::to_owned).collect()
    };
    assert_eq!(quantiles("proofload_response_time_quantile_seconds"), ["0.5", "0.75", "0.9", "0.95"]);
    assert_eq!(
        quantiles("proofload_response_time_quantile_lower_bound_seconds"),
        ["0.99", "0.999", "0.9999", "1"]
    );
    assert!(!names(&families).contains("proofload_response_time_mean_seconds"));
    let buckets = &family(&families, "proofload_response_time_seconds").samples[0];
    assert!(matches!(&buckets.value, Value::Buckets(it) if it.count() == 2 && it.sum_s.is_none()));
    let doubts: Vec<Option<&str>> = family(&families, "proofload_doubt")
        .samples
        .iter()
        .map(|sample| label(&sample.labels, "kind"))
        .collect();
    assert!(doubts.contains(&Some("incorrect_service")) && doubts.contains(&Some("censored")), "{doubts:?}");
    assert_eq!(family(&families, "proofload_valid").samples[0].value, Value::Count(0));
}

#[test]
fn a_trial_that_failed_is_told_and_has_no_figures() {
    let told = families("", &[failed(0, "gin")]);
    assert_eq!(
        names(&told),
        ["proofload_machine_cores", "proofload_run_info", "proofload_trial_measured"]
            .map(str::to_owned)
            .into()
    );
    assert_eq!(family(&told, "proofload_trial_measured").samples[0].value, Value::Count(0));
    assert_eq!(names(&families("", &[])).len(), 2, "a run without trials is a run");
}

#[test]
fn what_another_driver_can_not_know_is_not_there() {
    let mut trial = measured(0, "gin", "stack", 0);
    trial.driver = record::Driver::Jmeter;
    let record::TrialResult::Measured(it) = &mut trial.result else { panic!("it is measured") };
    it.load.driver =
        Some(record::ForeignDriver { name: "JMeter".into(), ..record::ForeignDriver::default() });
    let told = families("", &[trial]);
    assert_eq!(
        label(&family(&told, "proofload_goodput_per_second").samples[0].labels, "driver"),
        Some("jmeter")
    );
    // The load threads are its own, and how busy they were nobody saw.
    let unseen = ["proofload_client_cpu_cores", "proofload_client_busy_ratio"].map(str::to_owned);
    assert!(unseen.iter().all(|name| !names(&told).contains(name)), "{:?}", names(&told));
}

#[test]
fn a_cell_has_one_verdict_and_a_control_is_no_stack() {
    let trials = [
        measured(0, "gin", "stack", 0),
        measured(1, "gin", "stack", 0),
        measured(0, "control", "control", 0),
    ];
    let families = families("", &trials);
    let verdicts = &family(&families, "proofload_verdict_info").samples;
    assert_eq!(verdicts.len(), 1);
    assert_eq!(label(&verdicts[0].labels, "stack"), Some("gin"));
    assert!(label(&verdicts[0].labels, "verdict").is_some_and(|it| !it.is_empty() && !it.contains(' ')));
    assert_eq!(family(&families, "proofload_goodput_per_second").samples.len(), 3);
}

#[test]
fn all_can_be_dated_to_one_instant() {
    let mut families = families("", &[measured(0, "gin", "stack", 0)]);
    date_all(&mut families, 42);
    let spans = families.iter().flat_map(|family| &family.samples).map(|sample| sample.span.unwrap());
    assert!(spans.into_iter().all(|span| (span.start_ms, span.end_ms) == (42, 42)));
}
