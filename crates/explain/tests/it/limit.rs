//! What limited a trial, by its figures.

use std::collections::BTreeMap;

use explain::{Limit, Verdict};
use record::Measured;

use crate::samples::trial;

const CORES: usize = 2;

fn limit(trial: &Measured) -> Verdict {
    explain::limit(trial, CORES)
}

/// A trial of 64 connections at `rate` on a server with these threads, each answer 100 ms when idle.
fn at(rate: f64, groups: &[(&str, u32)]) -> Measured {
    let mut trial = trial();
    trial.load.throughput_per_s = rate;
    trial.load.goodput_per_s = rate;
    let groups = groups.iter().map(|(name, threads)| ((*name).to_owned(), *threads));
    trial.server.thread_groups = groups.collect::<BTreeMap<_, _>>();
    trial
}

#[test]
fn a_pool_of_16_at_160_a_second_with_100_ms_is_named() {
    let verdict = limit(&at(160.0, &[("pool-*", 16), ("proofload", 1)]));
    assert_eq!(verdict.limit, Limit::Pool(16));
    assert_eq!(verdict.phrase, "pool of 16 (pool-*)");
    assert_eq!(
        verdict.evidence,
        "X·S₀ = 160.0/s × 100.0 ms = 16.0 ≈ 16 threads `pool-*`, with 18 % of the CPU used"
    );
    assert_eq!(verdict.confirm.unwrap(), "make it 32 threads; the rate should double");
}

#[test]
fn the_edges_of_the_tolerance() {
    for (rate, limit_is) in [
        (152.1, Limit::Pool(16)),
        (151.9, Limit::Unexplained),
        (167.9, Limit::Pool(16)),
        (168.1, Limit::Unexplained),
    ] {
        assert_eq!(limit(&at(rate, &[("pool-*", 16)])).limit, limit_is, "{rate}");
    }
}

#[test]
fn one_thread_is_called_a_thread() {
    let verdict = limit(&at(9.98, &[("proofload", 1)]));
    assert_eq!((verdict.limit, verdict.phrase.as_str()), (Limit::Pool(1), "1 thread (proofload)"));
    assert!(verdict.evidence.contains("≈ 1 thread `proofload`"), "{}", verdict.evidence);
}

#[test]
fn users_served_at_idle_pace_are_limited_by_the_load() {
    let verdict = limit(&at(640.0, &[("conn-*", 64)]));
    assert_eq!((verdict.limit, verdict.phrase.as_str()), (Limit::Load, "none: idle pace"));
    assert!(
        verdict.evidence.contains("640.0/s × 100.0 ms = 64.0 ≈ the 64 connections"),
        "{}",
        verdict.evidence
    );
}

#[test]
fn users_who_think_are_part_of_the_load() {
    // 64 users who wait 100 ms and think 900 ms.
    let mut trial = at(64.0, &[("conn-*", 64)]);
    assert_eq!(limit(&trial).limit, Limit::Unexplained);
    trial.load.load.think_us = Some(900_000.0);
    assert_eq!(limit(&trial).limit, Limit::Load);
}

#[test]
fn users_who_come_and_go_are_not_taken_for_a_number_of_users() {
    // 64 users at an idle server's pace; with a ramp-up of most of the window that says nothing.
    let mut trial = at(640.0, &[("pool-*", 63)]);
    assert_eq!(limit(&trial).limit, Limit::Load);
    trial.load.load.ramp_up_s = Some(10.0);
    assert_eq!(limit(&trial).limit, Limit::Unexplained);
    // With one that is soon over, a pool shows.
    trial.load.load.ramp_up_s = Some(1.0);
    assert_eq!(limit(&trial).limit, Limit::Pool(63));
}

#[test]
fn a_pool_may_be_that_of_a_stack_behind() {
    let mut trial = at(160.0, &[("proxy-*", 2)]);
    let behind = record::Server {
        thread_groups: [("exec-*".to_owned(), 16)].into(),
        cpu_cores: Some(0.1),
        ..record::Server::default()
    };
    trial.upstreams = vec![record::Upstream { stack: "tomcat-nio".into(), server: behind }];
    let verdict = limit(&trial);
    assert_eq!(
        (verdict.limit, verdict.phrase.as_str()),
        (Limit::Pool(16), "pool of 16 (exec-* of tomcat-nio)")
    );
    // The processor time of all counts against the machine.
    trial.upstreams[0].server.cpu_cores = Some(100.0);
    assert_eq!(limit(&trial).limit, Limit::Box);
}

#[test]
fn an_open_load_that_is_kept_is_no_limit() {
    let mut trial = at(1960.0, &[("pool-*", 196)]);
    trial.load.load.rate_per_s = Some(2000.0);
    trial.load.load.connections = 300;
    trial.load.load.think_us = None;
    let verdict = limit(&trial);
    assert_eq!((verdict.limit, verdict.phrase.as_str()), (Limit::Load, "none: keeps the rate"));
    assert_eq!(verdict.evidence, "1960/s of 2000/s due");
    // Not kept, and 50 threads account for it.
    let mut trial = at(500.0, &[("pool-*", 50)]);
    trial.load.load.rate_per_s = Some(2000.0);
    trial.load.load.connections = 300;
    assert_eq!(limit(&trial).limit, Limit::Pool(50));
    // Not kept, because there are too few connections for it.
    trial.load.load.connections = 50;
    assert_eq!(limit(&trial).limit, Limit::Load);
}

#[test]
fn a_full_machine_is_box_bound() {
    let mut trial = at(100_000.0, &[("pool-*", 16)]);
    trial.contract.idle_service_time_us = 200.0;
    trial.load.generator.cpu_s = 0.8 * 15.0;
    for (server_cores, limit_is) in [(1.01, Limit::Box), (0.99, Limit::Unexplained)] {
        trial.server.cpu_cores = Some(server_cores);
        assert_eq!(limit(&trial).limit, limit_is, "{server_cores}");
    }
    trial.server.cpu_cores = Some(1.2);
    let verdict = limit(&trial);
    assert_eq!(verdict.phrase, "box-bound");
    assert_eq!(verdict.evidence, "client and server share the cores: 2.00 of 2 used, 1.20 by the server");
}

#[test]
fn what_the_evidence_does_not_decide_is_unexplained_in_that_word() {
    for trial in [at(300.0, &[("pool-*", 16)]), at(160.0, &[]), at(0.0, &[("pool-*", 16)])] {
        let verdict = limit(&trial);
        assert_eq!((verdict.limit, verdict.phrase.as_str()), (Limit::Unexplained, "unexplained"));
        assert_eq!(verdict.confirm, None);
    }
    // Without the server's CPU nothing is said of pool or box.
    let mut blind = at(160.0, &[("pool-*", 16)]);
    blind.server.cpu_cores = None;
    assert_eq!(limit(&blind).limit, Limit::Unexplained);
}

#[test]
fn a_group_that_follows_the_connections_is_no_pool() {
    // An open load that is not kept: 64 connections, 64 threads, X·S₀ = 64.
    let mut trial = at(640.0, &[("conn-*", 64)]);
    trial.load.load.rate_per_s = Some(2000.0);
    assert_eq!(limit(&trial).limit, Limit::Load);
    // And with twice the users' pace there is nothing that a group of 64 explains.
    trial.load.throughput_per_s = 670.0;
    assert_eq!(limit(&trial).limit, Limit::Load);
    trial.load.throughput_per_s = 680.0;
    assert_eq!(limit(&trial).limit, Limit::Unexplained);
}

#[test]
fn a_fit_by_chance_is_no_pool() {
    // A fast answer: S₀ is mostly the cost of asking once, and X·S₀ may be any number.
    let mut fast = at(4096.0, &[("workers-*", 4)]);
    fast.contract.idle_service_time_us = 977.0;
    assert_eq!(limit(&fast).limit, Limit::Unexplained);
    // A busy machine: CPU may be the limit as well.
    let mut busy = at(160.0, &[("pool-*", 16)]);
    busy.server.cpu_cores = Some(1.35);
    assert_eq!(limit(&busy).limit, Limit::Unexplained);
    // Threads that a JVM has for itself.
    for name in ["GC Thread-*", "C2 CompilerThre", "G1 Conc-*", "VM Thread", "Finalizer"] {
        assert_eq!(limit(&at(20.0, &[(name, 2)])).limit, Limit::Unexplained, "{name}");
    }
}

#[test]
fn the_closest_size_is_taken_and_groups_of_one_size_are_all_named() {
    assert_eq!(limit(&at(210.0, &[("a-*", 20), ("b-*", 21), ("c-*", 22)])).phrase, "pool of 21 (b-*)");
    assert_eq!(limit(&at(160.0, &[("a-*", 16), ("b-*", 16), ("c", 1)])).phrase, "pool of 16 (a-*, b-*)");
}

#[test]
fn figures_that_are_none_do_no_harm() {
    let mut trial = at(f64::NAN, &[("pool-*", 16)]);
    assert_eq!(limit(&trial).limit, Limit::Unexplained);
    trial = at(0.0, &[("none", 0)]);
    trial.load.window.duration_s = 0.0;
    trial.load.generator.cpu_s = 0.0;
    trial.server.cpu_cores = Some(0.0);
    for cores in [0, 2] {
        let verdict = explain::limit(&trial, cores);
        let text = format!("{verdict:?}").to_lowercase();
        assert!(!text.contains("nan") && !text.contains("inf"), "{text}");
    }
}
