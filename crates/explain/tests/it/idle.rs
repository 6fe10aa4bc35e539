//! What the spread of an idle server's answers leaves to be said.

use explain::{Confidence, VerdictKind};
use record::{FastTimes, IdleAnswers, Measured};
use units::Duration;

use crate::reasons::{self, first};

/// A trial of 64 connections at `rate` on a server with these threads, which answered like this when it was idle.
fn at(rate: f64, groups: &[(&str, u32)], idle_ms: &[f64]) -> Measured {
    let mut trial = reasons::at(rate, groups);
    let times: Vec<Duration> = idle_ms.iter().map(|ms| Duration::from_secs_f64(ms / 1e3)).collect();
    let idle = IdleAnswers::of(&times).unwrap();
    trial.contract.idle_service_time_us = idle.shortest_us;
    trial.contract.warm_service_time_us = Some(idle.shortest_us);
    trial.contract.idle_answers = Some(idle);
    // Whoever waits for nobody takes as long as when idle.
    take(&mut trial, idle_ms, |ms| ms);
    trial
}

/// The same of 64 users whose answers take as long as those of the idle server, each as `as_loaded` has it: at the rate of that.
fn loaded(groups: &[(&str, u32)], idle_ms: &[f64], as_loaded: impl Fn(f64) -> f64) -> Measured {
    let mut trial = at(1.0, groups, idle_ms);
    take(&mut trial, idle_ms, as_loaded);
    let rate = 64.0 / (trial.load.service_time_us.mean.unwrap() / 1e6);
    (trial.load.throughput_per_s, trial.load.goodput_per_s) = (rate, rate);
    trial
}

/// The times of the load: those of the idle server, each as `as_loaded` has it.
fn take(trial: &mut Measured, idle_ms: &[f64], as_loaded: impl Fn(f64) -> f64) {
    let mut sorted: Vec<f64> = idle_ms.iter().map(|ms| as_loaded(*ms) * 1e3).collect();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted[((share * sorted.len() as f64).ceil() as usize).clamp(1, sorted.len()) - 1];
    let times = &mut trial.load.service_time_us;
    times.mean = Some(sorted.iter().sum::<f64>() / sorted.len() as f64);
    [times.p50, times.p75, times.p90, times.p95] = [0.5, 0.75, 0.9, 0.95].map(|share| Some(at(share)));
    trial.load.fast_service_time_us = Some(FastTimes { p10: at(0.1), p25: at(0.25) });
}

/// The middles of `count` equal shares of an exponential distribution of this mean.
fn exponential(mean_ms: f64, count: u32) -> Vec<f64> {
    let share = |index: u32| (f64::from(index) + 0.5) / f64::from(count);
    (0..count).map(|index| -mean_ms * (1.0 - share(index)).ln()).collect()
}

/// The same of a Pareto distribution with exponent 1.5: its mean is three times the shortest, and no variance is finite.
fn pareto(shortest_ms: f64, count: u32) -> Vec<f64> {
    let share = |index: u32| (f64::from(index) + 0.5) / f64::from(count);
    (0..count).map(|index| shortest_ms * (1.0 - share(index)).powf(-1.0 / 1.5)).collect()
}

/// Nine answers of ten from a cache.
fn cached(hit_ms: f64, miss_ms: f64, count: u32) -> Vec<f64> {
    (0..count).map(|index| if index % 10 == 9 { miss_ms } else { hit_ms }).collect()
}

/// The shortest answer of such servers says nothing of their pace: X·S₀ by it would be a fraction of the users.
#[test]
fn a_healthy_server_whose_answers_differ_has_no_limit() {
    for idle_ms in [
        exponential(100.0, 100),
        exponential(50.0, 60),
        exponential(100.0, 30),
        pareto(20.0, 50),
        pareto(10.0, 100),
        cached(50.0, 300.0, 100),
    ] {
        let verdict = first(&loaded(&[("pool-*", 16)], &idle_ms, |ms| ms));
        assert_eq!(
            (verdict.kind, verdict.confidence),
            (VerdictKind::IdlePace, Confidence::Likely),
            "{verdict:?}"
        );
        let told = &verdict.evidence[1];
        assert!(told.contains(&format!("{} answers of the idle server took", idle_ms.len())), "{told}");
        assert!(verdict.evidence[2].starts_with("rank by rank"), "{verdict:?}");
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

/// Of 64 users as many have their turn as `served` says, and the others wait in line: every answer takes so much longer. The
/// fastest show it, however much the times differ.
#[test]
fn whoever_waits_in_line_is_not_as_fast_as_when_idle() {
    for idle_ms in [exponential(100.0, 100), exponential(100.0, 30), pareto(20.0, 50), pareto(10.0, 100)] {
        let mean_ms = idle_ms.iter().sum::<f64>() / idle_ms.len() as f64;
        for served in [6.0, 30.0, 45.0] {
            let waited_ms = (64.0 / served - 1.0) * mean_ms;
            let told = first(&loaded(&[], &idle_ms, |ms| ms + waited_ms));
            assert_eq!(told.kind, VerdictKind::Unexplained, "{served} of {mean_ms} ms: {told:?}");
        }
    }
}

/// Only the slow ones wait, for what only they need; most are as fast as ever.
#[test]
fn a_few_who_wait_are_not_hidden_by_many_who_do_not() {
    // One in eight misses a cache, and waits for seconds; one in twenty-five, so that nine tenths of the ranks are alike.
    let hits = |every: u32| -> Vec<f64> {
        (0..100).map(|index| if index % every == every - 1 { 100.0 } else { 5.0 }).collect()
    };
    for every in [8, 25] {
        let idle_ms = hits(every);
        let told = first(&loaded(&[], &idle_ms, |ms| if ms > 50.0 { 3_000.0 } else { ms }));
        assert_eq!(told.kind, VerdictKind::Unexplained, "{every}: {told:?}");
        // And where they do not wait, nobody does.
        assert_eq!(first(&loaded(&[], &idle_ms, |ms| ms)).kind, VerdictKind::IdlePace);
    }
}

/// Who connects again and again is neither under way nor thinking, and no answer shows how long that takes.
#[test]
fn users_who_are_elsewhere_are_not_answered_as_when_idle() {
    let mut trial = loaded(&[], &exponential(50.0, 60), |ms| ms);
    trial.load.throughput_per_s *= 0.7;
    assert_eq!(first(&trial).kind, VerdictKind::Unexplained);
}

/// Older records have neither the fast end of a load nor bounds of an idle server's.
#[test]
fn without_ranks_the_mean_and_the_median_tell() {
    let idle_ms = exponential(100.0, 100);
    let mut trial = at(640.0, &[], &idle_ms);
    trial.load.fast_service_time_us = None;
    assert_eq!(first(&trial).kind, VerdictKind::IdlePace);
    let mut few = at(64.0, &[], &exponential(100.0, 30));
    few.load.fast_service_time_us = None;
    assert_eq!(first(&few).kind, VerdictKind::Unexplained);
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

/// Between 0 and 1, evenly: Knuth's MMIX generator, whose upper bits are the good ones.
fn uniform(mut state: u64) -> impl FnMut() -> f64 {
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }
}

/// A load of 64 users, and an idle server's answers, both drawn from one distribution; of the load, `served` have their turn at a
/// time and the others wait in line.
fn drawn(
    answers: u32,
    served: f64,
    mean_ms: f64,
    mut draw: impl FnMut() -> f64,
    mut waits: impl FnMut() -> f64,
) -> Measured {
    let idle_ms: Vec<f64> = (0..answers).map(|_| draw()).collect();
    let waited_ms = (64.0 / served - 1.0) * mean_ms;
    let loaded_ms: Vec<f64> = (0..800).map(|_| draw() + waited_ms * waits()).collect();
    let mut trial = at(1.0, &[], &idle_ms);
    take(&mut trial, &loaded_ms, |ms| ms);
    let rate = 64.0 / (trial.load.service_time_us.mean.unwrap() / 1e6);
    (trial.load.throughput_per_s, trial.load.goodput_per_s) = (rate, rate);
    trial
}

/// How often a server whose times differ is called healthy: nearly always where it is, and hardly ever where seven tenths of the
/// users are served, whether the others wait in line or have their turn by chance.
#[test]
fn healthy_servers_are_told_from_limited_ones_however_their_times_differ() {
    let (mut a, mut b) = (uniform(11), uniform(23));
    let tries = 100;
    for (name, mean_ms, answers) in
        [("exponential", 100.0, 30), ("exponential", 50.0, 60), ("pareto", 60.0, 50), ("pareto", 30.0, 100)]
    {
        let mut share = |served: f64, in_line: bool| {
            let healthy = (0..tries).filter(|_| {
                let draw = || match name {
                    "exponential" => -mean_ms * a().ln(),
                    _ => mean_ms / 3.0 * a().powf(-1.0 / 1.5),
                };
                let waits = || if in_line { 0.8 + 0.4 * b() } else { -b().ln() };
                first(&drawn(answers, served, mean_ms, draw, waits)).kind == VerdictKind::IdlePace
            });
            healthy.count() as f64 / f64::from(tries)
        };
        let healthy = share(64.0, true);
        assert!(healthy >= 0.9, "{healthy} of healthy servers, {name} {mean_ms} ms, {answers} answers");
        for in_line in [true, false] {
            for served in [20.0, 45.0] {
                let healthy = share(served, in_line);
                assert!(healthy <= 0.05, "{healthy} of servers that serve {served}, {name} {mean_ms} ms");
            }
        }
    }
}
