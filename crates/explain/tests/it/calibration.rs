//! What is in bounds and what is not: a judge that nothing can fail is none.

use explain::{AllowedBy, CALIBRATED_PERCENTILES, CaseOutcome, CaseVerdict, judge_case};
use record::{CalibrationCase, CalibrationTry, Distribution, ResponseFrom, Truth};

use crate::samples::{healthy, times};

const COUNT: u64 = 10_000;

/// A case that told of `told_us` where the server logged `truth_us`, on a machine that wakes `delay_us` late.
fn case(told_us: f64, truth_us: f64, delay_us: f64) -> CalibrationCase {
    let mut load = healthy();
    load.response_time_us = times(COUNT, told_us);
    load.service_time_us = times(COUNT, truth_us);
    let truth = Truth {
        response_from: ResponseFrom::Due,
        response_time_us: times(COUNT, truth_us),
        service_time_us: times(COUNT, truth_us),
        unanswered: 0,
        arrived_early: 0,
    };
    CalibrationCase {
        name: "made-up".into(),
        server: "a made-up server".into(),
        command: Vec::new(),
        service_not_logged: None,
        tries: vec![CalibrationTry { load, truth, scheduling_delay_us: times(COUNT, delay_us) }],
        failed: None,
        peers: Vec::new(),
    }
}

fn last(case: &mut CalibrationCase) -> &mut CalibrationTry {
    case.tries.last_mut().expect("it has one")
}

fn outcome(case: &CalibrationCase) -> CaseOutcome {
    judge_case(case).outcome
}

fn fails_for(case: &CalibrationCase, part: &str) {
    let CaseVerdict { outcome, reasons, .. } = judge_case(case);
    assert_eq!(outcome, CaseOutcome::OutOfBounds, "{part}");
    assert!(reasons.iter().any(|reason| reason.contains(part)), "{part}: {reasons:?}");
}

#[test]
fn the_largest_of_three_bounds_applies_and_no_more_than_that() {
    use AllowedBy::{Floor, SchedulingDelay, Share};
    for (truth_us, delay_us, allowed_us, by) in [
        (100_000.0, 50.0, 1_000.0, Share),
        (2_000.0, 5.0, 20.0, Share),
        (500.0, 5.0, 20.0, Floor),
        (500.0, 300.0, 300.0, SchedulingDelay),
        (100_000.0, 3_000.0, 3_000.0, SchedulingDelay),
    ] {
        for sign in [1.0, -1.0] {
            let within = judge_case(&case(truth_us + sign * allowed_us * 0.99, truth_us, delay_us));
            assert_eq!(within.outcome, CaseOutcome::InBounds, "{truth_us} {delay_us}: {within:?}");
            assert_eq!(within.response.len(), CALIBRATED_PERCENTILES.len());
            assert!(within.response.iter().all(|it| it.allowed_by == by));
            fails_for(&case(truth_us + sign * allowed_us * 1.01, truth_us, delay_us), "response time at p50");
        }
    }
}

#[test]
fn one_percentile_out_of_bounds_is_enough() {
    let mut one = case(5_000.0, 5_000.0, 10.0);
    last(&mut one).load.response_time_us.p99_9 = Some(5_100.0);
    let verdict = judge_case(&one);
    assert_eq!(
        (verdict.outcome, verdict.reasons[0].as_str()),
        (CaseOutcome::OutOfBounds, "response time at p99.9")
    );
    assert_eq!(verdict.response.iter().filter(|it| !it.in_bounds).count(), 1);
}

/// The way there is a wake-up of the server, the way back one of the generator.
#[test]
fn a_service_time_has_two_wake_ups_in_it_and_is_compared_where_it_is_logged() {
    let mut one = case(5_000.0, 5_000.0, 300.0);
    last(&mut one).load.service_time_us = times(COUNT, 5_590.0);
    assert_eq!(outcome(&one), CaseOutcome::InBounds);
    last(&mut one).load.service_time_us = times(COUNT, 5_610.0);
    fails_for(&one, "service time at p50");
    one.service_not_logged = Some("it stood still".into());
    assert_eq!(outcome(&one), CaseOutcome::InBounds);
}

#[test]
fn figures_of_other_requests_are_no_truth() {
    let good = case(5_000.0, 5_000.0, 10.0);
    let mut one = good.clone();
    last(&mut one).truth.response_time_us.count -= 1;
    fails_for(&one, "told of 10000 requests and the server logged 9999");
    // A closed load's window begins and ends with an answer, which the two date some microseconds apart.
    last(&mut one).truth.response_from = ResponseFrom::PreviousAnswer;
    assert_eq!(outcome(&one), CaseOutcome::InBounds);
    last(&mut one).truth.response_time_us.count = 9_980;
    fails_for(&one, "told of 10000 requests");
    let mut early = good.clone();
    last(&mut early).truth.arrived_early = 1;
    fails_for(&early, "1 requests arrived before they were due");
    let mut lost = good;
    last(&mut lost).truth.unanswered = 3;
    fails_for(&lost, "never answered 3 requests");
}

#[test]
fn a_mere_lower_bound_is_not_in_bounds() {
    let mut one = case(5_000.0, 5_000.0, 10.0);
    last(&mut one).load.response_time_us.lower_bounds = vec!["p99_99".into()];
    fails_for(&one, "response time at p99.99");
}

#[test]
fn nothing_logged_is_not_in_bounds() {
    let mut nothing = case(5_000.0, 5_000.0, 10.0);
    last(&mut nothing).truth.response_time_us = Distribution::default();
    last(&mut nothing).load.response_time_us = Distribution::default();
    fails_for(&nothing, "logged no request");
}

#[test]
fn what_the_generator_itself_does_not_vouch_for_is_withheld_and_no_pass() {
    let mut busy = case(9_000.0, 5_000.0, 10.0);
    last(&mut busy).load.generator.busy_share = 0.97;
    let verdict = judge_case(&busy);
    assert_eq!(verdict.outcome, CaseOutcome::Withheld);
    assert!(verdict.reasons[0].starts_with("client-bound: a load thread was busy 97 %"), "{verdict:?}");
    last(&mut busy).load.response_time_us = times(COUNT, 5_000.0);
    assert_eq!(outcome(&busy), CaseOutcome::Withheld);
}

#[test]
fn the_last_try_counts() {
    let mut tried = case(9_000.0, 5_000.0, 10.0);
    tried.tries.extend(case(5_000.0, 5_000.0, 10.0).tries);
    assert_eq!(outcome(&tried), CaseOutcome::InBounds);
    tried.tries.reverse();
    assert_eq!(outcome(&tried), CaseOutcome::OutOfBounds);
    tried.failed = Some("the server died".into());
    assert_eq!(outcome(&tried), CaseOutcome::Failed);
}
