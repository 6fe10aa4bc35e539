//! Machines that carry a load together: what is wrong with one of them is said of it.

use explain::{ReasonKind, VerdictKind, audit};
use record::{AgentLost, AgentResult, LoadResult};

use crate::reasons::{beside, explain, first, full, host, kind, signals};
use crate::samples::healthy;
use crate::workers::node;

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
        assert!(validity.reasons[0].text.contains("; "), "what to do: {}", validity.reasons[0].text);
    }
}

/// Other arrivals help where a clock is not known well; nobody's help where one jumped.
#[test]
fn a_clock_that_jumped_is_not_mended_by_other_arrivals() {
    fn told(change: Change) -> String {
        audit(&of_eight(change)).reasons[0].text.clone()
    }
    assert!(told(|it| it.clock_bound_us = 1_001.0).ends_with("; try --poisson"));
    assert!(told(|it| it.clock_jumped = true).ends_with("and where it is, and run it again"));
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

/// What users on other machines wait for has the way to the server in it, which nobody measured: eight of them are under way there at a
/// time, or hardly any, and the rate is as even as the way.
#[test]
fn the_way_from_other_machines_is_no_limit_of_the_servers() {
    for (rate, idle_us, limit) in
        [(80.0, 100_000.0, VerdictKind::LimitInside), (500.0, 400.0, VerdictKind::RateLimiter)]
    {
        let mut trial = node(rate, 0.05);
        trial.contract.idle_service_time_us = idle_us;
        trial.load.agents = vec![AgentResult::default()];
        trial.surroundings.client_cpus = Some("0-1".into());
        assert_eq!(kind(&trial), limit);
        trial.surroundings.client_cpus = None;
        let told = first(&trial);
        assert_eq!(told.kind, VerdictKind::Unexplained, "{told:?}");
        let words = "the way from the machines that made the load, a limit inside or a limiter may keep it";
        assert!(told.evidence.iter().any(|it| it.contains(words)), "{told:?}");
    }
}

/// A link's interrupts that come while a core is idle are in no process's time, where the kernel books them in that of whom they
/// interrupt.
#[test]
fn interrupts_of_a_load_from_other_machines_are_no_neighbours() {
    let is_noise = |interrupts, within, client_cpus: Option<&str>| {
        let mut trial = beside(full(0.55), 1.0);
        trial.load.generator.cpu_s = 0.4 * 15.0;
        trial.load.agents = vec![AgentResult::default()];
        trial.surroundings.client_cpus = client_cpus.map(str::to_owned);
        signals(&mut trial).groups[0].wait_cores = 15.0;
        (host(&mut trial).interrupts_cores, host(&mut trial).interrupts_within) = (Some(interrupts), within);
        explain(&trial).verdicts.iter().any(|it| it.kind == VerdictKind::NoisyHost)
    };
    assert!(is_noise(0.1, Some(true), None), "nine tenths of a core were others'");
    assert!(!is_noise(0.9, Some(true), None));
    assert!(is_noise(0.9, Some(false), None), "they are counted apart");
    assert!(is_noise(0.9, Some(true), Some("0-1")), "on loopback they are on the back of whoever sends");
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
