//! Each reason alone, just above its threshold and just below.

use explain::{ReasonKind, audit, audit_trial};
use record::{Burst, Distribution, ForeignDriver, LittlesLaw, LoadResult, Measured, Second, WarmUp};

use crate::samples::{healthy, times, trial};

fn kinds(load: &LoadResult) -> Vec<ReasonKind> {
    audit(load).reasons.into_iter().map(|reason| reason.kind).collect()
}

/// So many of 96,000 requests time out.
fn timed_out(load: &mut LoadResult, count: u64) {
    load.outcomes.timed_out = count;
    load.outcomes.answered -= count;
    load.answered_as_expected -= count;
}

fn answered_wrongly(load: &mut LoadResult, count: u64) {
    load.answered_as_expected -= count;
}

fn censored_from(load: &mut LoadResult, name: &str) {
    load.response_time_us.censored = 1;
    load.response_time_us.lower_bounds = vec!["mean".into(), name.into(), "max".into()];
}

fn gap(load: &mut LoadResult, gap: f64) {
    let law = load.littles_law.unwrap();
    load.littles_law = Some(LittlesLaw { gap, mean_response_s: law.mean_response_s * (1.0 - gap), ..law });
}

type Change = fn(&mut LoadResult);

#[test]
fn a_healthy_load_is_valid() {
    let validity = audit(&healthy());
    assert!(validity.valid && validity.reasons.is_empty());
    assert_eq!(validity.verdict, "valid");
}

/// What was out when a load with a short drain ended is known to nobody, and no fault of the answers.
#[test]
fn what_was_out_at_the_end_is_no_wrong_answer() {
    let mut load = healthy();
    timed_out(&mut load, 90_000);
    (load.outcomes.timed_out, load.outcomes.in_flight) = (0, 90_000);
    censored_from(&mut load, "p50");
    assert_eq!(kinds(&load), [ReasonKind::Censored]);
    timed_out(&mut load, 97);
    assert_eq!(kinds(&load), [ReasonKind::IncorrectService, ReasonKind::Censored]);
}

/// A load that is far ahead of its server: what is done within the window had been due in the warm-up.
#[test]
fn a_rate_of_what_had_been_due_before_is_said_to_be_that() {
    let mut load = healthy();
    censored_from(&mut load, "p50");
    for (due, is_said) in [(96_000, false), (87_000, false), (86_000, true), (0, true)] {
        (load.answered_as_expected, load.outcomes.answered) = (due, due);
        load.outcomes.in_flight = 96_000 - due;
        let told = audit(&load);
        let text = &told.reasons.iter().find(|it| it.kind == ReasonKind::Censored).unwrap().text;
        let said = format!(
            "; the rate is of what was done in the window: 96000 good answers, of which at most {due} had been due in it"
        );
        assert_eq!(text.contains(&said), is_said, "{text}");
    }
}

#[test]
fn each_reason_comes_alone_just_above_its_threshold() {
    let table: [(Change, ReasonKind, &str); 14] = [
        (|it| it.interrupted = true, ReasonKind::Interrupted, "ended after 15.00 s"),
        (|it| timed_out(it, 97), ReasonKind::IncorrectService, "97 timed out"),
        (|it| answered_wrongly(it, 97), ReasonKind::IncorrectService, "97 answered otherwise than expected"),
        (|it| censored_from(it, "p99"), ReasonKind::Censored, "from p99 up are lower bounds"),
        (|it| censored_from(it, "p50"), ReasonKind::Censored, "from p50 up"),
        (|it| gap(it, 0.0501), ReasonKind::LittlesLaw, "64 users, but 6400.0/s"),
        (|it| it.window.duration_s = 0.0999, ReasonKind::TooShort, "measure longer"),
        (|it| it.response_time_us = times(5_000, 1_510_000.0), ReasonKind::TooShort, "1.51 s"),
        // 64 users over 17 s: the last starts after 16.73 s, and the window and its warm-up are 16 s.
        (|it| it.load.ramp_up_s = Some(17.0), ReasonKind::RampNotOver, "after 16.7 s"),
        (|it| it.generator.busy_share = 0.801, ReasonKind::ClientBound, "80 % of the time"),
        (|it| it.generator_lag_us = times(5_000, 1_000.1), ReasonKind::LateGenerator, "1.00ms"),
        // A tenth of the service time of 10 ms is a millisecond, too.
        (|it| it.receive_lag_us = times(5_000, 1_000.1), ReasonKind::LateReceiver, "1.00ms at p50"),
        (|it| it.receive_lag_us.p99 = Some(1_000.1), ReasonKind::LateReceiver, "1.00ms at p99"),
        (
            |it| {
                *it = LoadResult { intended: 0, answered_as_expected: 0, ..healthy() };
                it.outcomes.answered = 0;
            },
            ReasonKind::Empty,
            "measure longer",
        ),
    ];
    for (change, kind, part) in table {
        let mut load = healthy();
        change(&mut load);
        let validity = audit(&load);
        assert_eq!(kinds(&load), [kind]);
        assert!(!validity.valid);
        assert_eq!(validity.verdict, kind.name());
        assert!(validity.reasons[0].text.contains(part), "{part}: {}", validity.reasons[0].text);
        assert!(validity.reasons[0].text.contains("; "), "what to do: {}", validity.reasons[0].text);
    }
}

/// So many of 96,000 requests found no connection, for this.
fn unconnected(load: &mut LoadResult, name: &str, count: u64) {
    load.outcomes.connect_failed += count;
    load.outcomes.answered -= count;
    load.answered_as_expected -= count;
    load.connect_failures.insert(name.into(), count);
}

/// Without a port or a file descriptor a client asks nobody, and nobody answered it wrongly.
#[test]
fn what_the_client_could_not_connect_for_is_its_own_doing() {
    for (name, part) in [
        ("no_free_port", "97 of 96000 requests (0.1 %) found no port to connect from (EADDRNOTAVAIL); keep"),
        ("no_free_descriptor", "found the client without a file descriptor to connect with (EMFILE); raise"),
    ] {
        let mut load = healthy();
        unconnected(&mut load, name, 96);
        assert!(kinds(&load).is_empty(), "{name}");
        let mut load = healthy();
        unconnected(&mut load, name, 97);
        let reasons = audit(&load).reasons;
        assert_eq!(kinds(&load), [ReasonKind::ClientBound], "{name}");
        assert!(reasons[0].text.contains(part), "{}", reasons[0].text);
        // Whom nobody let in beside it was not let in by the service.
        unconnected(&mut load, "refused", 500);
        let reasons = audit(&load).reasons;
        assert_eq!(kinds(&load), [ReasonKind::IncorrectService, ReasonKind::ClientBound], "{name}");
        let said = "0.52 % of 95903 requests brought no good answer: 500 connect failed; mend the request or the service, or \
                    load it less";
        assert_eq!(reasons[0].text, said);
    }
}

/// Whoever has steps went where the redirects led, and found something else there than was expected.
#[test]
fn redirects_that_were_followed_are_not_said_to_be_wrong() {
    let mut load = healthy();
    answered_wrongly(&mut load, 48_000);
    load.statuses = [("200".to_owned(), 48_000), ("302".to_owned(), 48_000)].into();
    let said = |load: &LoadResult| audit(load).reasons[0].text.clone();
    assert!(said(&load).contains("(48000 redirects, which are not followed); mend"), "{}", said(&load));
    load.steps = vec![record::StepResult {
        label: "GET /".into(),
        transaction: false,
        failed: 48_000,
        cut_off: 0,
        first_failure: None,
        response_time_us: times(48_000, 10_000.0),
    }];
    assert!(said(&load).contains("48000 answered otherwise than expected; mend"), "{}", said(&load));
}

/// A longer window brings nobody more requests whose number was all made in the warm-up, or who was interrupted in it.
#[test]
fn what_was_due_in_no_window_says_why() {
    let empty = || {
        let mut load = LoadResult { intended: 0, answered_as_expected: 0, ..healthy() };
        load.outcomes.answered = 0;
        load
    };
    let said = |load: &LoadResult| audit(load).reasons[0].text.clone();
    let mut counted = empty();
    counted.load.requests = Some(5);
    assert!(said(&counted).ends_with("ask for more, or leave the warm-up out"), "{}", said(&counted));
    counted.load.warm_up_s = 0.0;
    assert!(said(&counted).ends_with("measure longer"), "{}", said(&counted));
    let interrupted = LoadResult { interrupted: true, ..empty() };
    assert!(said(&interrupted).ends_with("; run it again to its end"), "{}", said(&interrupted));
    assert_eq!(kinds(&interrupted), [ReasonKind::Empty, ReasonKind::Interrupted]);
}

/// Two users, each with 17 requests of 41.5 ms in 0.7 s: the last two are done behind the end, and the rate has 32.
#[test]
fn what_is_done_behind_the_end_breaks_no_law() {
    let (rate, mean_s) = (32.0 / 0.7, 0.0415);
    let mut load = LoadResult { intended: 34, answered_as_expected: 34, throughput_per_s: rate, ..healthy() };
    load.outcomes.answered = 34;
    (load.load.connections, load.load.warm_up_s, load.window.duration_s) = (2, 0.0, 0.7);
    load.response_time_us = times(34, 1e6 * mean_s);
    let gap = 1.0 - rate * mean_s / 2.0;
    assert!(gap > 0.05, "{gap}");
    load.littles_law = Some(LittlesLaw { users: 2.0, throughput_per_s: rate, mean_response_s: mean_s, gap });
    assert_eq!(kinds(&load), []);
    // Times that are half of what they were are not these requests'.
    load.littles_law =
        Some(LittlesLaw { users: 2.0, throughput_per_s: rate, mean_response_s: mean_s / 2.0, gap: 0.53 });
    assert_eq!(kinds(&load), [ReasonKind::LittlesLaw]);
}

/// 64 users of a server that takes one at a time for 100 ms: of four seconds most see no answer.
#[test]
fn a_window_of_less_than_a_turn_of_all_users_is_too_short_and_breaks_no_law() {
    let mut load =
        LoadResult { intended: 104, answered_as_expected: 80, throughput_per_s: 10.0, ..healthy() };
    (load.outcomes.answered, load.outcomes.in_flight) = (80, 24);
    (load.load.warm_up_s, load.window.duration_s) = (0.0, 4.0);
    load.response_time_us = times(104, 3.4e6);
    load.littles_law = Some(LittlesLaw {
        users: 64.0,
        throughput_per_s: 10.0,
        mean_response_s: 3.4,
        gap: 1.0 - 34.0 / 64.0,
    });
    assert_eq!(kinds(&load), [ReasonKind::TooShort]);
}

#[test]
fn who_waited_all_the_while_is_no_wrong_latency() {
    let mut load = healthy();
    gap(&mut load, 0.1);
    let text = &audit(&load).reasons[0].text;
    assert!(
        text.ends_with(
            "the others waited: for requests that were not done within the window, or to connect again; measure longer, or \
             let connections be kept"
        ),
        "{text}"
    );
}

#[test]
fn a_window_in_which_only_the_beginning_is_due_has_no_rate() {
    let with = |arrivals: &str, rate: f64, length_s: f64| {
        let mut load = healthy();
        (load.load.model, load.load.arrivals) = ("open".into(), Some(arrivals.into()));
        (load.load.rate_per_s, load.littles_law) = (Some(rate), None);
        load.window.duration_s = length_s;
        load
    };
    for (arrivals, rate, says) in [
        ("bursts of 30", 10.0, "1.0 s, and at this rate a burst is due each 3.0 s; measure longer"),
        ("constant", 0.5, "1.0 s, and at this rate a request is due each 2.0 s; measure longer"),
    ] {
        let reasons = audit(&with(arrivals, rate, 1.0)).reasons;
        assert_eq!((reasons[0].kind, reasons[0].text.as_str()), (ReasonKind::TooShort, says));
        assert_eq!(kinds(&with(arrivals, rate, 3.0)), [], "{arrivals}");
    }
    assert_eq!(kinds(&with("poisson", 0.5, 1.0)), []);
    let mut counted = with("constant", 0.5, 1.0);
    counted.load.requests = Some(1);
    assert_eq!(kinds(&counted), []);
}

#[test]
fn just_below_its_threshold_no_reason_is_given() {
    let table: [Change; 13] = [
        |it| timed_out(it, 96),
        |it| answered_wrongly(it, 96),
        |it| censored_from(it, "p99_9"),
        |it| gap(it, 0.05),
        |it| it.littles_law = None,
        |it| it.window.duration_s = 0.1,
        // A request count bounds it, so the window ends with the last answer.
        |it| (it.window.duration_s, it.load.requests) = (0.05, Some(320)),
        |it| it.generator.busy_share = 0.8,
        |it| it.generator_lag_us = times(5_000, 1_000.0),
        |it| it.receive_lag_us = times(5_000, 1_000.0),
        |it| it.receive_lag_us = Distribution::default(),
        |it| (it.service_time_us, it.receive_lag_us) = (times(5_000, 50_000.0), times(5_000, 5_000.0)),
        // Late because the server holds every connection: that is the server's doing.
        |it| it.lag_us = times(5_000, 5e6),
    ];
    for (index, change) in table.into_iter().enumerate() {
        let mut load = healthy();
        change(&mut load);
        assert_eq!(kinds(&load), [], "row {index}");
    }
}

#[test]
fn reasons_come_gravest_first_and_the_first_is_the_verdict() {
    let mut load = healthy();
    load.generator_lag_us = times(5_000, 2_000.0);
    load.generator.busy_share = 1.0;
    load.window.duration_s = 0.01;
    gap(&mut load, 0.5);
    censored_from(&mut load, "p90");
    timed_out(&mut load, 9_600);
    load.interrupted = true;
    let all = kinds(&load);
    assert_eq!(
        all,
        [
            ReasonKind::Interrupted,
            ReasonKind::IncorrectService,
            ReasonKind::Censored,
            ReasonKind::TooShort,
            ReasonKind::ClientBound,
            ReasonKind::LateGenerator,
        ]
    );
    assert!(all.is_sorted());
    assert_eq!(audit(&load).verdict, "interrupted");
    load.intended = 0;
    assert_eq!(audit(&load).verdict, "empty");
}

#[test]
fn only_what_the_service_did_is_its_fault() {
    let faults = [ReasonKind::IncorrectService, ReasonKind::Unsent, ReasonKind::Censored];
    for kind in [
        ReasonKind::Empty,
        ReasonKind::Interrupted,
        ReasonKind::IncorrectService,
        ReasonKind::Unsent,
        ReasonKind::Censored,
        ReasonKind::LittlesLaw,
        ReasonKind::TooShort,
        ReasonKind::RampNotOver,
        ReasonKind::ClientBound,
        ReasonKind::LateGenerator,
    ] {
        assert_eq!(kind.is_services_fault(), faults.contains(&kind), "{kind:?}");
    }
}

#[test]
fn every_kind_of_failure_is_named() {
    let mut load = healthy();
    load.intended = 109;
    load.answered_as_expected = 90;
    load.outcomes = record::Outcomes {
        answered: 100,
        timed_out: 1,
        connect_failed: 1,
        tls_failed: 1,
        reset: 1,
        closed_early: 1,
        malformed: 1,
        refused_stream: 0,
        stream_reset: 0,
        gone_away: 0,
        unsent: 1,
        backlog_overflow: 1,
        in_flight: 1,
        lost: 0,
    };
    let text = audit(&load).reasons.remove(0).text;
    assert_eq!(
        text,
        "15.09 % of 106 requests brought no good answer: 1 timed out, 1 connect failed, 1 tls failed, 1 reset, 1 closed early, \
         1 malformed, 10 answered otherwise than expected; mend the request or the service, or load it less"
    );
}

/// What was never sent says nothing of the answers: it is a reason of its own.
#[test]
fn requests_that_were_never_sent_are_not_held_against_the_answers() {
    let mut load = healthy();
    load.intended = 100_000;
    let mut with_unsent = |unsent| {
        load.outcomes = record::Outcomes { answered: 100_000 - unsent, unsent, ..Default::default() };
        load.answered_as_expected = 100_000 - unsent;
        audit(&load).reasons.into_iter().map(|reason| reason.kind).collect::<Vec<_>>()
    };
    assert_eq!(with_unsent(100), []);
    assert_eq!(with_unsent(101), [ReasonKind::Unsent]);
    assert_eq!(with_unsent(100_000), [ReasonKind::Unsent]);

    // So is what was dropped for want of room to wait, alone and with the others. It takes a rate.
    load.load.rate_per_s = Some(10_000.0);
    let mut with_both = |unsent, backlog_overflow| {
        let answered = 100_000 - unsent - backlog_overflow;
        load.outcomes = record::Outcomes { answered, unsent, backlog_overflow, ..Default::default() };
        load.answered_as_expected = answered;
        audit(&load).reasons.into_iter().map(|reason| reason.text).collect::<Vec<_>>()
    };
    assert_eq!(with_both(50, 50), [""; 0]);
    let late = "51 of 100000 requests that were due (0.05 %) found no connection until the deadline";
    let dropped = "of 100000 requests that were due (0.05 %) were dropped, since as many as may wait for a connection \
                   were waiting";
    let advice = "; lower the rate, or give it more connections";
    assert_eq!(with_both(51, 50), [format!("{late}; 50 {dropped}{advice}")]);
    assert_eq!(with_both(0, 5000), [format!("5000 {}{advice}", dropped.replace("0.05", "5.00"))]);
    // Where nobody asked for a rate, there is none to be lowered, and more connections are more users.
    load.load.rate_per_s = None;
    load.outcomes = record::Outcomes { answered: 99_000, unsent: 1_000, ..Default::default() };
    load.answered_as_expected = 99_000;
    let text = &audit(&load).reasons[0].text;
    assert!(text.ends_with("found no connection until the deadline; load it with fewer users"), "{text}");
}

/// Records come from files that anyone may have written.
#[test]
fn counts_that_do_not_add_up_and_figures_that_are_none_do_no_harm() {
    let mut load = healthy();
    load.intended = 1;
    load.outcomes.answered = 0;
    load.window.duration_s = f64::NAN;
    load.generator.busy_share = f64::NAN;
    load.generator_lag_us.p99 = Some(f64::NAN);
    load.littles_law.as_mut().unwrap().gap = f64::NAN;
    for reason in audit(&load).reasons {
        assert!(!reason.text.contains("NaN"), "{}", reason.text);
    }
}

/// As wrk tells it: no response times, no lags.
fn by_wrk() -> LoadResult {
    let driver =
        ForeignDriver { name: "wrk".into(), cores: 2, cpu_cores: Some(0.9), ..ForeignDriver::default() };
    LoadResult {
        driver: Some(driver),
        first_byte_us: None,
        response_time_us: Distribution::default(),
        lag_us: Distribution::default(),
        generator_lag_us: Distribution::default(),
        receive_lag_us: Distribution::default(),
        ..healthy()
    }
}

#[test]
fn what_another_driver_tells_is_audited_and_what_it_does_not_is_not() {
    assert_eq!(kinds(&by_wrk()), []);
    let mut load = by_wrk();
    load.generator.busy_share = 0.9;
    gap(&mut load, 0.2);
    load.service_time_us = times(96_000, 1_510_000.0);
    let validity = audit(&load);
    let said: Vec<&str> = validity.reasons.iter().map(|reason| reason.text.as_str()).collect();
    let [law, short, bound] = said[..] else { panic!("{said:?}") };
    assert!(
        law.ends_with(
            "the others were busy in wrk itself, or with requests that it does not tell of; give wrk more cores, or make the \
             load with Proofload"
        ),
        "{law}"
    );
    assert!(short.contains("1.51 s"), "by its service times: {short}");
    assert!(bound.starts_with("wrk was busy 90 %") && bound.contains("0.90 cores"), "{bound}");
    assert!(bound.ends_with("or make the load with Proofload"), "{bound}");
}

/// Times that are longer than the users could spend are wrong, whoever told them; the rate was counted.
#[test]
fn of_times_that_are_too_long_only_the_rate_is_left() {
    for (mut load, advice) in [(healthy(), "measure longer"), (by_wrk(), "make the load with Proofload")] {
        let law = load.littles_law.unwrap();
        load.littles_law = Some(LittlesLaw { gap: 0.2, mean_response_s: law.mean_response_s * 1.2, ..law });
        let text = &audit(&load).reasons[0].text;
        assert!(text.ends_with(&format!("; the rate stands, and for the times {advice}")), "{text}");
    }
}

/// Users who find no request left wait for the last answers, in a load that is bounded by their number.
#[test]
fn users_without_a_request_are_none_that_are_busy_elsewhere() {
    let of = |asked: Option<u64>, gap_is: f64| {
        let mut load = healthy();
        gap(&mut load, gap_is);
        load.load.requests = asked;
        // The longest answer takes a tenth of the window.
        load.window.duration_s = load.response_time_us.max.unwrap() / 1e6 * 10.0;
        kinds(&load).contains(&ReasonKind::LittlesLaw)
    };
    let all = healthy().intended;
    assert!(!of(Some(all), 0.14), "that is what the last answers take");
    assert!(of(Some(all), 0.2), "that is more");
    assert!(of(None, 0.14), "a load for a time has requests to its end");
    assert!(of(Some(all + 1), 0.14), "there was one left");
}

/// One answer that took 30 s of 40 s leaves nobody without a request while answers to other requests go on.
#[test]
fn users_without_a_request_begin_to_wait_where_no_more_answers_come() {
    let of = |threads: u32, per_s: &dyn Fn(u32) -> f64, gap_is: f64| {
        let mut load = healthy();
        gap(&mut load, gap_is);
        load.load.requests = Some(load.intended);
        load.load.threads = threads;
        load.window.duration_s = 40.0;
        load.response_time_us.max = Some(30e6);
        let second = |at: u32| Second {
            from_s: f64::from(at),
            length_s: 1.0,
            goodput_per_s: per_s(at),
            ..Second::default()
        };
        load.seconds = (0..40).map(second).collect();
        kinds(&load).contains(&ReasonKind::LittlesLaw)
    };
    let to_the_end = |_: u32| 2_400.0;
    assert!(of(1, &to_the_end, 0.14), "64 users are never without a request before the last second");
    assert!(!of(1, &to_the_end, 0.07), "of the last second nobody knows");
    // Each of several threads has requests of its own, and may be done with them long before the others.
    assert!(!of(2, &to_the_end, 0.14));
    let at_first = |at: u32| match at {
        0..10 => 9_599.9,
        39 => 1.0,
        _ => 0.0,
    };
    assert!(!of(1, &at_first, 0.7), "63 users waited for the last answer");
}

#[test]
fn a_load_that_no_time_bounds_is_not_too_short() {
    let mut load = healthy();
    load.window.duration_s = 0.01;
    assert!(kinds(&load).contains(&ReasonKind::TooShort));
    load.load.duration_s = None;
    assert!(!kinds(&load).contains(&ReasonKind::TooShort));
}

/// Of a dozen samples the 99th percentile is the slowest one; what it surely exceeds is known of all the same.
#[test]
fn one_late_request_of_a_few_is_not_one_in_a_hundred() {
    let late = |surely_above_us: Option<f64>| {
        let mut load = healthy();
        for times in [&mut load.generator_lag_us, &mut load.receive_lag_us] {
            times.p99 = Some(50_000.0);
            times.too_few_samples.insert("p99".into(), surely_above_us);
        }
        kinds(&load)
    };
    assert_eq!(late(None), []);
    assert_eq!(late(Some(100.0)), []);
    assert_eq!(late(Some(40_000.0)), [ReasonKind::LateGenerator, ReasonKind::LateReceiver]);
}

/// A trial behind bursts of these rates that were not steady, in which compilers were busy for so much, and behind so many loads since.
fn warmed_up(rates: [f64; 3], jit_share: Option<f64>, loads_since: Option<u32>) -> Measured {
    let bursts = rates.map(|goodput_per_s| Burst { goodput_per_s, jit_share }).to_vec();
    let unsteady_why = Some("it drifts".to_owned());
    Measured { warm_up: Some(WarmUp { bursts, steady: false, unsteady_why, loads_since }), ..trial() }
}

fn not_steady(measured: &Measured) -> Option<String> {
    let mut reasons = audit_trial(measured, None).reasons.into_iter();
    let found = reasons.find(|reason| reason.kind == ReasonKind::NotSteady);
    found.map(|reason| reason.text)
}

const ALIKE: [f64; 3] = [1000.0, 1001.0, 1000.5];
const DRIFTING: [f64; 3] = [800.0, 900.0, 1000.0];

/// Several loads have warmed its process up since: what the last burst was like says nothing of this one.
#[test]
fn a_later_trial_of_a_process_is_judged_by_itself() {
    const BY_BURSTS: &str = "after 3 bursts: it drifts; allow more bursts, or longer ones";
    let told = |rates, jit_share, loads_since, own: Option<f64>| {
        let mut measured = warmed_up(rates, jit_share, loads_since);
        measured.server.jit_cores = own;
        not_steady(&measured)
    };
    let jvm = Some(0.3);
    for (rates, loads_since, own) in [
        (DRIFTING, None, None),
        (DRIFTING, None, Some(0.2)),
        (DRIFTING, Some(0), Some(0.01)),
        (ALIKE, Some(0), Some(0.2)),
        (ALIKE, Some(0), None),
    ] {
        let why = told(rates, jvm, loads_since, own);
        assert_eq!(why.as_deref(), Some(BY_BURSTS), "{rates:?} {loads_since:?} {own:?}");
    }
    // Nothing but compilers kept it from being steady, and they were done.
    for loads_since in [None, Some(0)] {
        assert_eq!(told(ALIKE, jvm, loads_since, Some(0.01)), None);
    }
    assert_eq!(told(DRIFTING, jvm, Some(2), Some(0.01)), None);
    assert_eq!(
        told(DRIFTING, jvm, Some(2), Some(0.2)).unwrap(),
        "the JVM's compilers were still busy for 0.20 s a second after 2 more loads; allow more bursts, or longer ones"
    );
    assert_eq!(
        told(ALIKE, jvm, Some(2), None).unwrap(),
        format!(
            "{BY_BURSTS}; 2 more loads came before this one, and whether compilers were done by then nobody looked"
        )
    );
    // Where nothing compiles, its seconds tell.
    assert_eq!(told(DRIFTING, None, Some(2), None), None);
    let mut rising = warmed_up(DRIFTING, None, Some(2));
    let second = |at: u32| Second {
        from_s: f64::from(at),
        length_s: 1.0,
        goodput_per_s: 5000.0 + 200.0 * f64::from(at),
        ..Second::default()
    };
    rising.load.seconds = (0..15).map(second).collect();
    assert_eq!(
        not_steady(&rising).unwrap(),
        "5400/s in the first third of the window and 7400/s in the last, after 2 more loads; allow more bursts, or longer ones"
    );
}
