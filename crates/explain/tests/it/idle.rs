//! What the spread of an idle server's answers leaves to be said.

use std::collections::BTreeMap;

use explain::{Confidence, Context, Verdict, VerdictKind};
use record::{IdleAnswers, Measured};
use units::Duration;

use crate::samples::trial;

/// A trial of 64 connections at `rate` on a server with these threads, which answered like this when it was idle.
fn at(rate: f64, groups: &[(&str, u32)], idle_ms: &[f64]) -> Measured {
    let mut trial = trial();
    trial.load.throughput_per_s = rate;
    trial.load.goodput_per_s = rate;
    let groups = groups.iter().map(|(name, threads)| ((*name).to_owned(), *threads));
    trial.server.thread_groups = groups.collect::<BTreeMap<_, _>>();
    let times: Vec<Duration> = idle_ms.iter().map(|ms| Duration::from_secs_f64(ms / 1e3)).collect();
    let idle = IdleAnswers::of(&times).unwrap();
    trial.contract.idle_service_time_us = idle.shortest_us;
    trial.contract.warm_service_time_us = Some(idle.shortest_us);
    trial.contract.idle_answers = Some(idle);
    // Whoever waits for nobody takes as long as when idle.
    trial.load.service_time_us.p50 = Some(idle.p50_us);
    trial.load.service_time_us.mean = Some(idle.mean_us);
    trial
}

/// The middles of `count` equal shares of an exponential distribution of this mean.
fn exponential(mean_ms: f64, count: u32) -> Vec<f64> {
    let share = |index: u32| (f64::from(index) + 0.5) / f64::from(count);
    (0..count).map(|index| -mean_ms * (1.0 - share(index)).ln()).collect()
}

/// Nine answers of ten from a cache.
fn cached(hit_ms: f64, miss_ms: f64, count: u32) -> Vec<f64> {
    (0..count).map(|index| if index % 10 == 9 { miss_ms } else { hit_ms }).collect()
}

fn first(trial: &Measured) -> Verdict {
    explain::explain(trial, &Context { cores: 2, ..Context::default() }).first().clone()
}

/// The shortest answer of such servers says nothing of their pace: X·S₀ by it would be a fraction of the users.
#[test]
fn a_healthy_server_whose_answers_differ_has_no_limit() {
    for (idle_ms, mean_ms) in [(exponential(100.0, 100), 100.0), (cached(50.0, 300.0, 100), 75.0)] {
        let verdict = first(&at(64.0 / (mean_ms / 1e3), &[("pool-*", 16)], &idle_ms));
        assert_eq!((verdict.kind, verdict.confidence), (VerdictKind::IdlePace, Confidence::Likely));
        let told = &verdict.evidence[1];
        assert!(told.contains("100 answers of the idle server took"), "{told}");
    }
}

#[test]
fn a_steady_server_is_told_closely() {
    let constant: Vec<f64> = (0..100).map(|index| 100.0 + f64::from(index % 7) * 0.1).collect();
    let verdict = first(&at(640.0, &[("pool-*", 16)], &constant));
    assert_eq!((verdict.kind, verdict.confidence), (VerdictKind::IdlePace, Confidence::Sure));
    let verdict = first(&at(160.0, &[("pool-*", 16)], &constant));
    // Not sure: of these threads it is not known whether all work alike.
    assert_eq!((verdict.kind, verdict.confidence), (VerdictKind::PoolLimit, Confidence::Likely));
    assert_eq!(verdict.evidence[0], "X·S₀ = 160.0/s × 100.3 ms = 16.0 (16.0 to 16.1) ≈ 16 threads `pool-*`");
}

/// An interval of 13 to 20 holds eight numbers: one group that has one of them may be it, and of two none is named.
#[test]
fn where_several_sizes_fit_none_is_named() {
    let idle_ms = exponential(100.0, 100);
    let verdict = first(&at(160.0, &[("pool-*", 16)], &idle_ms));
    assert_eq!((verdict.kind, verdict.confidence), (VerdictKind::PoolLimit, Confidence::Possible));
    let verdict = first(&at(160.0, &[("pool-*", 16), ("other-*", 18)], &idle_ms));
    assert_eq!(verdict.kind, VerdictKind::Unexplained);
    let told = verdict.evidence.last().unwrap();
    assert!(
        told.starts_with("X·S₀ = 160.0/s × 99.7 ms = 15.9 (13.") && !told.contains("differ too much"),
        "{told}"
    );
}

#[test]
fn an_interval_that_holds_nearly_everything_tells_nothing() {
    let verdict = first(&at(160.0, &[("pool-*", 16)], &exponential(100.0, 8)));
    assert_eq!(verdict.kind, VerdictKind::Unexplained);
    let told = verdict.evidence.last().unwrap();
    assert!(
        told.ends_with(
            "8 answers of the idle server differ too much to tell how many had their turn at a time"
        ),
        "{told}"
    );
}

/// The mean fits by chance, and the answers are others: idle, half of them took 30 to 140 ms.
#[test]
fn answers_of_another_shape_are_not_an_idle_servers() {
    let mut trial = at(640.0, &[], &exponential(100.0, 100));
    trial.load.service_time_us.p50 = Some(5_000.0);
    assert_eq!(first(&trial).kind, VerdictKind::Unexplained);
    // Hits of a cache that wait: the mean is hardly known, and the median is.
    let mut trial = at(64.0 / 0.075, &[], &cached(50.0, 300.0, 100));
    trial.load.service_time_us.p50 = Some(65_000.0);
    assert_eq!(first(&trial).kind, VerdictKind::Unexplained);
}

#[test]
fn users_who_come_and_go_are_held_against_the_same_answers() {
    let mut trial = at(64.0, &[], &exponential(100.0, 100));
    trial.load.load.ramp_up_s = Some(10.0);
    trial.load.response_time_us.mean = Some(115_000.0);
    let verdict = first(&trial);
    assert_eq!((verdict.kind, verdict.confidence), (VerdictKind::IdlePace, Confidence::Likely));
    trial.load.response_time_us.mean = Some(140_000.0);
    assert_ne!(first(&trial).kind, VerdictKind::IdlePace);
}
