//! Machines that carry a load together: what is wrong with one of them is said of it.

use explain::{ReasonKind, VerdictKind, audit};
use record::{AgentLost, AgentResult, LoadResult};

use crate::reasons::{full, kind};
use crate::samples::healthy;

/// A load of eight machines, of which number 3 is as `change` makes it.
fn of_eight(change: impl Fn(&mut AgentResult)) -> LoadResult {
    let agent = |number: usize| AgentResult {
        name: format!("h{number}"),
        node: format!("n{number}"),
        busy_share: Some(0.3),
        throttled_s: Some(0.0),
        generator_lag_p99_us: Some(40.0),
        begin_late_us: Some(60.0),
        clock_bound_us: 700.0,
        ..AgentResult::default()
    };
    let mut load = healthy();
    load.agents = (0..8).map(agent).collect();
    load.load.warm_up_s = 0.0;
    load.load.arrivals = Some("constant".into());
    change(&mut load.agents[3]);
    load
}

type Change = fn(&mut AgentResult);

#[test]
fn one_of_many_is_named_just_above_its_threshold() {
    assert!(audit(&of_eight(|_| {})).valid);
    let table: [(Change, ReasonKind, &str); 8] = [
        (
            |it| it.busy_share = Some(0.97),
            ReasonKind::ClientBound,
            "agent 3 of 8 (h3, n3) had a load thread busy 97 %",
        ),
        (|it| it.throttled_s = Some(0.16), ReasonKind::Throttled, "kept from running for 0.16 s"),
        (|it| it.generator_lag_p99_us = Some(1_100.0), ReasonKind::LateGenerator, "more than 1.10ms late"),
        (|it| it.begin_late_us = Some(1_800.0), ReasonKind::LateGenerator, "began 1.8 ms late"),
        (|it| it.clock_bound_us = 1_001.0, ReasonKind::SkewedClocks, "known within 1.0 ms only"),
        (
            |it| it.ended_early_s = Some(31.04),
            ReasonKind::Interrupted,
            "agent 3 of 8 (h3, n3) ended its load by itself after 31.0 s",
        ),
        (|it| it.clock_jumped = true, ReasonKind::SkewedClocks, "a clock that jumped"),
        (
            |it| {
                let why = "ended (signal: 9)".into();
                it.lost = Some(AgentLost { told_to_s: 7.0, why, requests: 4711 });
            },
            ReasonKind::LostAgent,
            "agent 3 of 8 (h3, n3) was last heard of at 7 s, and 4711 requests with it: it ended (signal: 9)",
        ),
    ];
    for (change, kind, part) in table {
        let validity = audit(&of_eight(change));
        let kinds: Vec<ReasonKind> = validity.reasons.iter().map(|it| it.kind).collect();
        assert_eq!(kinds, [kind]);
        assert!(validity.reasons[0].text.contains(part), "{}", validity.reasons[0].text);
    }
}

#[test]
fn many_are_named_by_the_worst_of_them() {
    let mut load = of_eight(|_| {});
    for (number, agent) in load.agents.iter_mut().enumerate() {
        agent.busy_share = Some(0.9 + number as f64 / 100.0);
    }
    let text = &audit(&load).reasons[0].text;
    let first = "agent 7 of 8 (h7, n7) had a load thread busy 97 % of the time; agent 6 of 8";
    assert!(text.starts_with(first), "{text}");
    assert!(text.contains("; and 5 more: "), "{text}");
}

#[test]
fn independent_users_feel_no_skew_and_a_warm_up_no_late_begin() {
    let mut load = of_eight(|it| it.clock_bound_us = 5_000.0);
    load.load.arrivals = Some("poisson".into());
    assert!(audit(&load).valid);
    let mut load = of_eight(|it| it.begin_late_us = Some(100_000.0));
    load.load.warm_up_s = 1.0;
    assert!(audit(&load).valid);
}

/// What nobody knows of is no fault of the service.
#[test]
fn lost_requests_are_not_wrong_answers() {
    let mut load = of_eight(|it| {
        it.lost = Some(AgentLost { told_to_s: 1.0, why: "ended".into(), requests: 9_000 });
    });
    load.outcomes.lost = 9_000;
    load.outcomes.answered -= 9_000;
    load.answered_as_expected -= 9_000;
    let kinds: Vec<ReasonKind> = audit(&load).reasons.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [ReasonKind::LostAgent]);
}

/// The same client beside the servers, and on a machine of its own.
#[test]
fn load_threads_of_other_machines_use_none_of_the_servers_cores() {
    let mut trial = full(1.2);
    trial.load.agents = vec![AgentResult::default()];
    trial.surroundings.client_cpus = Some("0-1".into());
    assert_eq!(kind(&trial), VerdictKind::BoxBound);
    trial.surroundings.client_cpus = None;
    assert_ne!(kind(&trial), VerdictKind::BoxBound);
}
