//! Why a trial's rate was what it was, by its figures: each limit planted by figures, at its edges, and beside others.

use std::collections::BTreeMap;

use explain::{
    Alone, Confidence, Context, Explanation, ReasonKind, Setting, Verdict, VerdictKind, explain_cells,
};
use record::{
    AcceptQueue, Held, HostSignals, JvmUse, Measured, NamedUse, Quota, Runtime, Second, Server,
    ServerSignals, ThreadBand, ThreadGroupUse, Trial, Upstream,
};

use crate::samples::{measured_in, trial};

const CORES: Context = Context { cores: 2, ceiling_per_s: None, backends_alone: Vec::new(), kept: None };

pub(crate) fn explain(trial: &Measured) -> Explanation {
    explain::explain(trial, &CORES)
}

pub(crate) fn first(trial: &Measured) -> Verdict {
    explain(trial).first().clone()
}

pub(crate) fn kind(trial: &Measured) -> VerdictKind {
    first(trial).kind
}

/// A trial of 64 connections at `rate` on a server with these threads, each answer 100 ms when idle, without signals.
pub(crate) fn at(rate: f64, groups: &[(&str, u32)]) -> Measured {
    let mut trial = trial();
    trial.load.throughput_per_s = rate;
    trial.load.goodput_per_s = rate;
    let groups = groups.iter().map(|(name, threads)| ((*name).to_owned(), *threads));
    trial.server.thread_groups = groups.collect::<BTreeMap<_, _>>();
    trial
}

/// The same with signals: each thread of each group works, and is given a CPU once for each request there is.
pub(crate) fn watched(rate: f64, groups: &[(&str, u32)]) -> Measured {
    let mut trial = at(rate, groups);
    let uses = groups.iter().map(|(name, threads)| ThreadGroupUse {
        name: (*name).to_owned(),
        threads: *threads,
        active: *threads,
        cpu_cores: 0.2,
        busiest_cores: 0.2 / f64::from(*threads),
        switches_per_s: rate,
        bands: vec![ThreadBand { threads: *threads, processes: 1, cpu_cores: 0.2, switches_per_s: rate }],
        ..ThreadGroupUse::default()
    });
    trial.server.signals = Some(ServerSignals { groups: uses.collect(), ..ServerSignals::default() });
    trial.host = Some(HostSignals { cores: 2, others_cores: Some(0.02), ..HostSignals::default() });
    trial
}

/// A fast server on a machine that is used up.
pub(crate) fn full(server_cores: f64) -> Measured {
    let mut trial = watched(100_000.0, &[("pool-*", 16)]);
    trial.contract.idle_service_time_us = 200.0;
    trial.load.generator.cpu_s = (1.95 - server_cores) * 15.0;
    trial.server.cpu_cores = Some(server_cores);
    trial
}

pub(crate) fn signals(trial: &mut Measured) -> &mut ServerSignals {
    trial.server.signals.as_mut().unwrap()
}

pub(crate) fn host(trial: &mut Measured) -> &mut HostSignals {
    trial.host.as_mut().unwrap()
}

#[test]
fn a_pool_of_16_at_160_a_second_with_100_ms_is_named() {
    let verdict = first(&at(160.0, &[("pool-*", 16), ("proofload", 1)]));
    assert_eq!(
        (verdict.kind, verdict.confidence),
        (VerdictKind::PoolLimit, Confidence::Likely),
        "a size alone"
    );
    assert_eq!(verdict.phrase, "pool of 16 (pool-*)");
    assert_eq!(verdict.evidence[0], "X·S₀ = 160.0/s × 100.0 ms = 16.0 ≈ 16 threads `pool-*`");
    let confirm = verdict.confirm.unwrap();
    assert_eq!(confirm.text, "make it 32 threads; the rate should become 320/s");
    assert_eq!((confirm.setting, confirm.now), (Some(Setting::Pool), Some(16.0)));
    // 64 users at 100 ms are 640/s, however many threads there are.
    assert_eq!((confirm.predict(2.0), confirm.predict(10.0)), (320.0, 640.0));
    assert!(verdict.excluded.iter().any(|it| it.starts_with("the CPU: ")), "{:?}", verdict.excluded);
}

#[test]
fn the_edges_of_the_tolerance() {
    for (rate, kind_is) in [
        (152.1, VerdictKind::PoolLimit),
        (151.9, VerdictKind::Unexplained),
        (167.9, VerdictKind::PoolLimit),
        (168.1, VerdictKind::Unexplained),
    ] {
        assert_eq!(kind(&at(rate, &[("pool-*", 16)])), kind_is, "{rate}");
    }
}

#[test]
fn the_time_of_a_warm_server_counts_where_it_is_known() {
    let mut trial = at(160.0, &[("pool-*", 16)]);
    trial.contract.idle_service_time_us = 180_000.0;
    assert_eq!(kind(&trial), VerdictKind::Unexplained);
    trial.contract.warm_service_time_us = Some(100_100.0);
    assert_eq!(kind(&trial), VerdictKind::PoolLimit);
}

#[test]
fn threads_that_hardly_run_serve_nothing() {
    let mut trial = watched(160.0, &[("pool-*", 16), ("cleaner-*", 16)]);
    let idle = signals(&mut trial).groups.iter_mut().find(|group| group.name == "cleaner-*").unwrap();
    idle.switches_per_s = 10.0;
    idle.bands[0].switches_per_s = 10.0;
    let verdict = first(&trial);
    assert_eq!(verdict.phrase, "pool of 16 (pool-*)");
    assert_eq!(verdict.confidence, Confidence::Sure);
    let verdict = first(&watched(160.0, &[("pool-*", 16), ("other-*", 16)]));
    assert_eq!(
        (verdict.phrase.as_str(), verdict.confidence),
        ("pool of 16 (pool-*, other-*)", Confidence::Likely)
    );
}

#[test]
fn the_threads_of_a_jvm_itself_are_no_pool() {
    let mut trial = at(20.0, &[("C2 CompilerThre", 2), ("GC Thread#*", 2)]);
    assert_eq!(kind(&trial), VerdictKind::Unexplained);
    trial.server.thread_groups.insert("parallel-*".into(), 2);
    assert_eq!(first(&trial).phrase, "pool of 2 (parallel-*)");
}

/// Two of each: as many as have their turn at a time.
#[test]
fn the_threads_of_no_collector_are_a_pool() {
    for name in [
        "G1 Conc#*",
        "ZWorkerYoung#*",
        "ZDriverMinor",
        "ZDirector",
        "ZStat",
        "ZUncommitter#*",
        "XWorker#*",
        "RuntimeWorker#*",
        "Shenandoah GC T",
        "Shenandoah Cont",
        "Safepoint Clean",
        "GC task thread#* (ParallelGC)",
        "Gang worker#* (G1 Parallel Marking Threads)",
        "Concurrent Mark-Sweep GC Thread",
        "CMS Thread#*",
        "GC Worker",
        "JIT Compilation",
        "IProfiler",
        ".NET Server GC",
        ".NET BGC",
        ".NET Tiered Com",
        ".NET TP Gate",
    ] {
        let mut trial = at(20.0, &[(name, 2)]);
        assert_eq!(kind(&trial), VerdictKind::Unexplained, "{name}");
        trial.server.thread_groups.insert("parallel-*".into(), 2);
        assert_eq!(first(&trial).phrase, "pool of 2 (parallel-*)", "{name}");
    }
}

#[test]
fn users_served_at_idle_pace_have_no_limit() {
    let verdict = first(&at(640.0, &[("conn-*", 64)]));
    assert_eq!((verdict.kind, verdict.phrase.as_str()), (VerdictKind::IdlePace, "none: idle pace"));
    assert!(verdict.evidence[0].contains("640.0/s × 100.0 ms = 64.0 ≈ the 64 connections"), "{verdict:?}");
    // 64 users who wait 100 ms and think 900 ms.
    let mut trial = at(64.0, &[("conn-*", 64)]);
    assert_eq!(kind(&trial), VerdictKind::Unexplained);
    trial.load.load.think_us = Some(900_000.0);
    trial.load.response_time_us.mean = Some(102_000.0);
    assert_eq!(kind(&trial), VerdictKind::IdlePace);
}

/// 312 users think for 4.9 s, and six threads are full: 300 think at a time, and twelve wait for the six.
#[test]
fn a_full_pool_is_seen_behind_users_who_think() {
    let mut trial = watched(60.0, &[("pool-*", 6)]);
    trial.load.load.connections = 312;
    trial.load.load.think_us = Some(4_900_000.0);
    trial.load.response_time_us.mean = Some(300_000.0);
    let verdict = first(&trial);
    assert_eq!((verdict.kind, verdict.phrase.as_str()), (VerdictKind::PoolLimit, "pool of 6 (pool-*)"));
}

#[test]
fn users_who_come_and_go_are_judged_by_their_times_and_by_the_seconds_when_all_are_there() {
    let mut trial = at(400.0, &[("pool-*", 63)]);
    trial.load.load.ramp_up_s = Some(10.0);
    trial.load.response_time_us.mean = Some(180_000.0);
    assert_eq!(kind(&trial), VerdictKind::Unexplained);
    trial.load.seconds = seconds(&[100.0, 300.0, 630.0, 632.0, 629.0, 630.0, 631.0, 200.0]);
    let verdict = first(&trial);
    assert_eq!(verdict.phrase, "pool of 63 (pool-*)");
    assert_eq!(verdict.evidence[0], "X·S₀ = 631.0/s × 100.0 ms = 63.1 ≈ 63 threads `pool-*`");
    trial.load.response_time_us.mean = Some(104_000.0);
    assert_eq!(first(&trial).phrase, "none: idle pace");
    // A ramp that is soon over is none.
    let mut trial = at(630.0, &[("pool-*", 63)]);
    trial.load.load.ramp_up_s = Some(1.0);
    trial.load.response_time_us.mean = Some(180_000.0);
    assert_eq!(first(&trial).phrase, "pool of 63 (pool-*)");
}

#[test]
fn an_open_load_that_is_kept_is_no_limit() {
    let mut trial = at(1960.0, &[("pool-*", 196)]);
    trial.load.load.rate_per_s = Some(2000.0);
    trial.load.load.connections = 300;
    let verdict = first(&trial);
    assert_eq!(
        (verdict.kind, verdict.evidence[0].as_str()),
        (VerdictKind::KeepsRate, "1960/s of 2000/s due")
    );
    // A slow one has a rate, too.
    let mut trial = at(0.5, &[]);
    trial.load.load.rate_per_s = Some(0.5);
    assert_eq!(first(&trial).evidence[0], "0.50/s of 0.50/s due");
    // Nor is one of which a part never went out, however near the rate is.
    let mut trial = watched(960.0, &[("worker-*", 16)]);
    trial.contract.idle_service_time_us = 16_667.0;
    trial.load.load.rate_per_s = Some(1000.0);
    trial.load.load.connections = 300;
    trial.load.outcomes.unsent = trial.load.intended / 25;
    trial.load.outcomes.answered = trial.load.intended - trial.load.outcomes.unsent;
    assert_ne!(kind(&trial), VerdictKind::KeepsRate);
    // Nor is one that is served a little slower than it comes, and waits for longer all the time: 340 requests on average, half
    // of those that are left in the end. Where as many answers as that are under way all the time, or none are, it is kept.
    let mut trial = at(1960.0, &[("pool-*", 196)]);
    trial.load.load.rate_per_s = Some(2000.0);
    trial.load.load.connections = 300;
    for (mean_ms, kind_is) in
        [(10.0, VerdictKind::KeepsRate), (175.0, VerdictKind::PoolLimit), (400.0, VerdictKind::KeepsRate)]
    {
        trial.load.response_time_us.mean = Some(mean_ms * 1e3);
        assert_eq!(kind(&trial), kind_is, "{mean_ms} ms");
    }
    // Nor is one whose requests time out: each of them is done at its rate, and none is answered.
    let mut trial = at(2000.0, &[("pool-*", 196)]);
    trial.load.load.rate_per_s = Some(2000.0);
    trial.load.load.connections = 300;
    for part in [2, 1] {
        trial.load.outcomes.timed_out = trial.load.intended / part;
        trial.load.outcomes.answered = trial.load.intended - trial.load.outcomes.timed_out;
        assert_ne!(kind(&trial), VerdictKind::KeepsRate);
    }
    // Not kept, and 50 threads account for it.
    let mut trial = at(500.0, &[("pool-*", 50)]);
    trial.load.load.rate_per_s = Some(2000.0);
    trial.load.load.connections = 300;
    assert_eq!(kind(&trial), VerdictKind::PoolLimit);
}

#[test]
fn a_group_that_follows_the_connections_is_no_pool() {
    let mut trial = at(160.0, &[("conn-*", 16)]);
    trial.load.load.rate_per_s = Some(2000.0);
    trial.load.load.connections = 16;
    trial.load.load.think_us = Some(1.0);
    assert_ne!(kind(&trial), VerdictKind::PoolLimit);
}

fn behind(groups: &[(&str, u32)], held: u32) -> Upstream {
    let mut server: Server = watched(160.0, groups).server;
    server.cpu_cores = Some(0.1);
    let connections = Some(Held { mean: f64::from(held), max: held, readings: 20 });
    server.signals.as_mut().unwrap().connections = connections;
    Upstream { stack: "tomcat-nio".into(), server }
}

#[test]
fn connections_to_any_of_several_upstreams_are_a_pool() {
    let other = |name: &str, held| Upstream { stack: name.into(), ..behind(&[("io-*", 40)], held) };
    let told = |upstreams: Vec<Upstream>| {
        let mut trial = watched(160.0, &[("proxy-*", 2)]);
        trial.upstreams = upstreams;
        let verdict = first(&trial);
        (verdict.phrase, verdict.confidence)
    };
    // The limit lies between the second proxy and what is behind it.
    let chain = told(vec![other("proxy", 64), other("shop", 16)]);
    assert_eq!(chain, ("16 connections to shop".to_owned(), Confidence::Sure));
    // As many to each: one number limits, and it is not known whose.
    let both = told(vec![other("proxy", 16), other("shop", 16)]);
    assert_eq!(both, ("16 connections to proxy or shop".to_owned(), Confidence::Likely));
    // A pool of threads in front of a second upstream holds as many connections to it.
    let mut trial = watched(160.0, &[("pool-*", 16)]);
    trial.upstreams = vec![other("proxy", 64), other("shop", 16)];
    let verdict = first(&trial);
    assert_eq!((verdict.kind, verdict.confidence), (VerdictKind::PoolLimit, Confidence::Likely));
    assert!(verdict.evidence.iter().any(|it| it.contains("were held to shop as well")), "{verdict:?}");
}

#[test]
fn connections_to_an_upstream_are_a_pool_of_their_own() {
    let mut trial = watched(160.0, &[("proxy-*", 2)]);
    trial.upstreams = vec![behind(&[("exec-*", 40)], 16)];
    let verdict = first(&trial);
    assert_eq!(
        (verdict.kind, verdict.phrase.as_str()),
        (VerdictKind::UpstreamPoolLimit, "16 connections to tomcat-nio")
    );
    assert_eq!(verdict.confirm.unwrap().setting, Some(Setting::UpstreamPool));
    // As many as there are clients follow the load.
    trial.upstreams = vec![behind(&[("exec-*", 40)], 64)];
    assert_eq!(kind(&trial), VerdictKind::Unexplained);
}

/// A proxy of which each thread holds a connection of its own has as many of both, and nothing tells which are too few.
#[test]
fn threads_that_hold_a_connection_each_are_not_outnumbered_by_them() {
    let mut trial = watched(160.0, &[("exec-*", 16)]);
    trial.upstreams = vec![behind(&[("io-*", 40)], 16)];
    let all = explain(&trial);
    let verdict = all.first();
    assert_eq!((verdict.kind, verdict.phrase.as_str()), (VerdictKind::PoolLimit, "pool of 16 (exec-*)"));
    assert_eq!(verdict.confidence, Confidence::Likely);
    assert!(verdict.evidence.iter().any(|it| it.contains("16 connections were held to tomcat-nio as well")));
    assert!(all.verdicts.iter().all(|it| it.kind != VerdictKind::UpstreamPoolLimit), "{all:?}");
}

fn alone(stack: &str, per_s: f64) -> Alone {
    Alone { stack: stack.into(), asks: Vec::new(), per_s, is_least: false }
}

#[test]
fn a_slow_backend_is_named_and_not_the_proxy_before_it() {
    let mut trial = watched(160.0, &[("proxy-*", 2)]);
    trial.upstreams = vec![behind(&[("exec-*", 16)], 64)];
    let verdict = first(&trial);
    assert_eq!((verdict.kind, verdict.phrase.as_str()), (VerdictKind::BackendBound, "backend (tomcat-nio)"));
    assert!(verdict.evidence[0].ends_with("≈ 16 threads `exec-* of tomcat-nio`"), "{verdict:?}");
    // The pool may be that of another than the first: of what it uses, or of what stands behind that.
    let cache = Upstream { stack: "cache".into(), ..behind(&[("io-*", 16)], 64) };
    trial.upstreams = vec![behind(&[("exec-*", 40)], 64), cache];
    assert_eq!(first(&trial).phrase, "backend (cache)");
    // Without any such pool, the rate of the backend alone says it.
    trial.upstreams = vec![behind(&[("exec-*", 40)], 64)];
    let context = Context { backends_alone: vec![alone("tomcat-nio", 165.0)], ..CORES };
    let verdict = explain::explain(&trial, &context).first().clone();
    assert_eq!(verdict.kind, VerdictKind::BackendBound);
    assert!(verdict.evidence[0].starts_with("97 % of what tomcat-nio carries"), "{verdict:?}");
    let context = Context { backends_alone: vec![alone("tomcat-nio", 400.0)], ..CORES };
    assert_eq!(explain::explain(&trial, &context).first().kind, VerdictKind::Unexplained);
}

/// A service may use several, and what one of them carries says nothing of the others.
#[test]
fn of_several_backends_each_is_held_against_its_own_rate() {
    let mut trial = watched(160.0, &[("proxy-*", 2)]);
    let told = |trial: &Measured, all: &[Alone]| {
        let all = explain::explain(trial, &Context { backends_alone: all.to_vec(), ..CORES });
        all.verdicts.into_iter().find(|it| it.kind == VerdictKind::BackendBound)
    };
    let cache = |threads| Upstream { stack: "cache".into(), ..behind(&[("io-*", threads)], 64) };
    // The pool is that of the cache.
    trial.upstreams = vec![behind(&[("exec-*", 40)], 64), cache(16)];
    let asks_cache = Alone { asks: vec!["cache".into()], ..alone("tomcat-nio", 400.0) };
    for (measured, confidence) in [
        (alone("tomcat-nio", 400.0), Confidence::Likely),
        (alone("cache", 400.0), Confidence::Possible),
        // Where it stands behind the first, it carried as much as well.
        (asks_cache, Confidence::Possible),
    ] {
        let verdict = told(&trial, std::slice::from_ref(&measured)).unwrap();
        let (phrase, told) = (verdict.phrase.as_str(), verdict.confidence);
        assert_eq!((phrase, told), ("backend (cache)", confidence), "{measured:?}");
    }
    let verdict = told(&trial, &[alone("tomcat-nio", 165.0)]).unwrap();
    assert!(verdict.evidence.iter().all(|it| !it.contains("asked directly")), "of another: {verdict:?}");
    // No pool fits.
    trial.upstreams = vec![behind(&[("exec-*", 40)], 64), cache(40)];
    let verdict = told(&trial, &[alone("tomcat-nio", 400.0), alone("cache", 165.0)]).unwrap();
    assert_eq!(verdict.phrase, "backend (cache)");
    assert!(verdict.evidence[0].starts_with("97 % of what cache carries when it is asked directly (165/s)"));
    // What carries an eighth of the rate is not asked by every request.
    assert_eq!(told(&trial, &[alone("cache", 20.0)]), None);
}

pub(crate) fn trial_of(index: u32, stack: &str, measured: Measured) -> Trial {
    Trial { index, round: "sleep".into(), ..measured_in(0, stack, measured) }
}

/// A backend that carries all that it is asked for could carry more: what a proxy misses of the same rate is its own.
#[test]
fn a_rate_that_a_backend_kept_is_no_limit_of_it() {
    let told = |asked_per_s: f64, alone_per_s: f64| {
        let mut backend = watched(alone_per_s, &[("exec-*", 40)]);
        let mut front = watched(160.0, &[("proxy-*", 2)]);
        front.upstreams = vec![behind(&[("exec-*", 40)], 64)];
        for trial in [&mut backend, &mut front] {
            trial.load.load.rate_per_s = Some(asked_per_s);
        }
        let cells = explain_cells(&[trial_of(0, "tomcat-nio", backend), trial_of(1, "proxy", front)], 2);
        cells.iter().find(|it| it.stack == "proxy").unwrap().explanation.first().kind
    };
    assert_eq!(told(170.0, 170.0), VerdictKind::Unexplained);
    assert_eq!(told(300.0, 165.0), VerdictKind::BackendBound, "it missed as much by itself");
}

/// As a round with `with_upstreams` measures them.
#[test]
fn a_cell_is_held_against_each_backend_that_its_round_measured() {
    let mut front = watched(160.0, &[("proxy-*", 2)]);
    let cache = Upstream { stack: "cache".into(), ..behind(&[("io-*", 40)], 64) };
    front.upstreams = vec![behind(&[("exec-*", 40)], 64), cache];
    let trials = [
        trial_of(0, "tomcat-nio", watched(400.0, &[("exec-*", 40)])),
        trial_of(1, "cache", watched(165.0, &[("io-*", 40)])),
        trial_of(2, "proxy", front),
    ];
    let cells = explain_cells(&trials, 2);
    let proxy = cells.iter().find(|it| it.stack == "proxy").unwrap();
    assert_eq!(proxy.explanation.first().phrase, "backend (cache)");
}

#[test]
fn one_at_a_time_is_a_lock_a_loop_or_a_thread() {
    // Many threads work, and one request at a time has its turn.
    let verdict = first(&watched(10.0, &[("pool-*", 16), ("poller", 1)]));
    assert_eq!(
        (verdict.kind, verdict.phrase.as_str()),
        (VerdictKind::SerialSection, "one at a time (a lock)")
    );
    // One thread holds all connections.
    let mut trial = watched(10.0, &[("event-loop", 1)]);
    signals(&mut trial).connections = Some(Held { mean: 64.0, max: 64, readings: 20 });
    assert_eq!(first(&trial).phrase, "event loop blocked (event-loop)");
    // One thread takes one connection after the other.
    signals(&mut trial).connections = Some(Held { mean: 1.0, max: 1, readings: 20 });
    let verdict = first(&trial);
    assert_eq!((verdict.kind, verdict.phrase.as_str()), (VerdictKind::PoolLimit, "1 thread (event-loop)"));
}

#[test]
fn carriers_of_virtual_threads_are_called_so() {
    let mut trial = watched(20.0, &[("ForkJoinPool-*-worker-*", 2), ("main", 1)]);
    let verdict = first(&trial);
    assert_eq!((verdict.kind, verdict.phrase.as_str()), (VerdictKind::PinnedCarriers, "2 pinned carriers"));
    // Of 320 requests in 16 s: any program pins one now and then.
    for (count, confidence) in [(10, Confidence::Likely), (300, Confidence::Sure)] {
        signals(&mut trial).jvm_events.insert("jdk.VirtualThreadPinned".into(), count);
        assert_eq!(first(&trial).confidence, confidence, "{count}");
    }
}

#[test]
fn a_full_machine_is_the_servers_or_both() {
    let verdict = first(&full(1.8));
    assert_eq!((verdict.kind, verdict.phrase.as_str()), (VerdictKind::CpuBound, "CPU-bound"));
    let verdict = first(&full(1.2));
    assert_eq!((verdict.kind, verdict.phrase.as_str()), (VerdictKind::BoxBound, "box-bound"));
    assert!(verdict.evidence[0].contains("1.20 by the server and 0.75 by the client"), "{verdict:?}");
    let mut trial = full(1.8);
    signals(&mut trial).cpu_system_cores = Some(0.9);
    assert_eq!(first(&trial).phrase, "CPU-bound (kernel 50 %)");
    // Interrupts are work, too.
    let mut trial = full(1.2);
    trial.load.generator.cpu_s = 0.3 * 15.0;
    assert_eq!(kind(&trial), VerdictKind::Unexplained);
    host(&mut trial).interrupts_cores = Some(0.4);
    assert_eq!(kind(&trial), VerdictKind::BoxBound);
    // And are done once, where the kernel books them in the time of whom they interrupt.
    host(&mut trial).interrupts_within = Some(true);
    assert_eq!(kind(&trial), VerdictKind::Unexplained);
}

/// What gin showed on two cores with 64 connections: 1.66 of 2 used, and more threads waiting than cores idle.
#[test]
fn a_core_that_threads_wait_for_is_as_good_as_full() {
    let mut trial = full(1.15);
    trial.load.generator.cpu_s = 0.51 * 15.0;
    assert_eq!(kind(&trial), VerdictKind::Unexplained);
    signals(&mut trial).groups[0].wait_cores = 1.3;
    host(&mut trial).generator_wait_cores = Some(0.3);
    let verdict = first(&trial);
    assert_eq!((verdict.kind, verdict.phrase.as_str()), (VerdictKind::BoxBound, "box-bound"));
    assert!(verdict.evidence[1].contains("1.6 threads at a time waited for a core"), "{verdict:?}");
    // As many wait as cores are idle, and no fewer.
    signals(&mut trial).groups[0].wait_cores = 0.03;
    assert_eq!(kind(&trial), VerdictKind::Unexplained);
    signals(&mut trial).groups[0].wait_cores = 0.05;
    assert_eq!(kind(&trial), VerdictKind::BoxBound);
    // Threads that wait now and then are no lack of cores.
    let mut trial = full(0.9);
    trial.load.generator.cpu_s = 0.4 * 15.0;
    signals(&mut trial).groups[0].wait_cores = 1.3;
    assert_ne!(kind(&trial), VerdictKind::BoxBound);
}

/// The same beside others who used what was left, or a hypervisor that took it: there is no core that stood idle.
#[test]
fn what_others_used_of_the_cores_did_not_stand_idle() {
    let mut trial = full(1.15);
    trial.load.generator.cpu_s = 0.51 * 15.0;
    signals(&mut trial).groups[0].wait_cores = 1.3;
    host(&mut trial).generator_wait_cores = Some(0.3);
    for (others, steal, said) in [
        (0.02, 0.0, "the rest stood idle between one thread and the next, while 1.6 threads"),
        (0.19, 0.0, "of the other 0.34 cores other processes used 0.19, while 1.6 threads"),
        (0.1, 0.06, "of the other 0.34 cores other processes used 0.10 and the hypervisor used 0.12, while"),
    ] {
        (host(&mut trial).others_cores, host(&mut trial).steal_share) = (Some(others), Some(steal));
        let verdict = first(&trial);
        assert_eq!(verdict.kind, VerdictKind::BoxBound);
        assert!(verdict.evidence[1].starts_with(said), "{verdict:?}");
    }
}

#[test]
fn no_more_cores_are_used_than_there_are() {
    let mut trial = full(1.3);
    trial.load.generator.cpu_s = 0.9 * 15.0;
    host(&mut trial).interrupts_cores = Some(0.7);
    let verdict = first(&trial);
    assert!(verdict.evidence[0].contains("2.00 of 2 used"), "{verdict:?}");
}

#[test]
fn cores_of_ones_own_are_what_a_server_can_use_up() {
    let mut trial = full(0.95);
    trial.load.generator.cpu_s = 0.1 * 15.0;
    signals(&mut trial).groups[0].busiest_cores = 0.1;
    assert_ne!(kind(&trial), VerdictKind::CpuBound);
    trial.surroundings.client_cpus = Some("0".into());
    trial.surroundings.server_cpus = Some("1".into());
    assert_eq!(kind(&trial), VerdictKind::CpuBound);
    // Whatever the client uses of its own.
    trial.load.generator.cpu_s = 0.5 * 15.0;
    let verdict = first(&trial);
    assert_eq!(verdict.kind, VerdictKind::CpuBound);
    assert!(verdict.evidence[0].starts_with("the servers used 0.95 of 1 cores of their own"), "{verdict:?}");
    assert_eq!(verdict.confirm.unwrap().now, Some(1.0));
}

/// A pool that is doubled can't use what the client has for itself.
#[test]
fn a_prediction_goes_no_further_than_the_servers_cores() {
    let mut trial = watched(160.0, &[("pool-*", 16)]);
    trial.server.cpu_cores = Some(0.65);
    let text = |trial: &Measured| first(trial).confirm.unwrap().text;
    assert_eq!(text(&trial), "make it 32 threads; the rate should become 320/s");
    trial.surroundings.client_cpus = Some("0".into());
    trial.surroundings.server_cpus = Some("1".into());
    assert_eq!(text(&trial), "make it 32 threads; the rate should become 222/s");
}

#[test]
fn cpu_time_a_request_is_that_of_a_request_however_slow() {
    let mut trial = full(1.8);
    trial.load.throughput_per_s = 0.5;
    assert_eq!(first(&trial).evidence[0], "the servers used 1.80 of 2 cores, 3600000 µs a request");
    trial.load.throughput_per_s = 0.0;
    assert_eq!(first(&trial).evidence[0], "the servers used 1.80 of 2 cores");
}

#[test]
fn one_busy_thread_leaves_cores_unused() {
    let mut trial = full(0.97);
    trial.load.generator.cpu_s = 0.3 * 15.0;
    signals(&mut trial).groups = vec![ThreadGroupUse {
        name: "loop".into(),
        threads: 1,
        active: 1,
        busiest_cores: 0.97,
        cpu_cores: 0.97,
        ..Default::default()
    }];
    let verdict = first(&trial);
    assert_eq!(
        (verdict.kind, verdict.phrase.as_str()),
        (VerdictKind::BlockedEventLoop, "1 thread busy (loop)")
    );
    assert_eq!(verdict.evidence[0], "the thread `loop` was busy for 97 % of a core");
    // Two clocks differ, and no thread is busy for more than all of the time.
    signals(&mut trial).groups[0].busiest_cores = 1.03;
    assert_eq!(first(&trial).evidence[0], "the thread `loop` was busy for 100 % of a core");
    // The same time spread over many threads is a lock's.
    signals(&mut trial).groups = vec![ThreadGroupUse {
        name: "pool-*".into(),
        threads: 16,
        active: 16,
        busiest_cores: 0.07,
        cpu_cores: 0.97,
        ..Default::default()
    }];
    assert_eq!(kind(&trial), VerdictKind::SerialSection);
    // It is a guess, and none where something else holds them back.
    signals(&mut trial).jvm = Some(JvmUse { gc_share: 0.2, heap_max_bytes: 48 << 20, ..JvmUse::default() });
    let kinds: Vec<VerdictKind> = explain(&trial).verdicts.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [VerdictKind::GarbageCollection]);
}

#[test]
fn a_quota_that_holds_threads_back_is_named() {
    let mut trial = watched(1000.0, &[("pool-*", 16)]);
    trial.server.cpu_cores = Some(0.5);
    signals(&mut trial).quota = Some(Quota { cores: Some(0.5), throttled_cores: 0.4 });
    assert_eq!(first(&trial).phrase, "CPU quota of 0.50 cores");
    // Where some of it is left on average, bursts may be what is held back; and nobody is where no thread was kept from running.
    trial.server.cpu_cores = Some(0.3);
    let verdict = first(&trial);
    assert_eq!((verdict.kind, verdict.confidence), (VerdictKind::QuotaBound, Confidence::Likely));
    signals(&mut trial).quota = Some(Quota { cores: Some(0.5), throttled_cores: 0.0 });
    assert_ne!(kind(&trial), VerdictKind::QuotaBound);
}

/// Client and server in one container of two cores: neither uses most of the quota by itself.
#[test]
fn a_quota_of_client_and_server_is_no_limit_of_the_clients() {
    let mut trial = watched(1000.0, &[("pool-*", 16)]);
    trial.server.cpu_cores = Some(1.2);
    trial.load.generator.cpu_s = 0.7 * 15.0;
    signals(&mut trial).quota = Some(Quota { cores: Some(2.0), throttled_cores: 2.4 });
    host(&mut trial).generator_throttled_cores = Some(2.39);
    let told = explain(&trial).verdicts;
    assert_eq!((told[0].kind, told[0].confidence), (VerdictKind::QuotaBound, Confidence::Sure), "{told:?}");
    assert_eq!(told[0].phrase, "CPU quota of 2.00 cores (client and server)");
    assert!(told[0].evidence[0].contains("used 1.90; threads were kept from running for 2.40 s"), "{told:?}");
    assert!(told.iter().all(|it| it.kind != VerdictKind::ClientBound), "{told:?}");
    // In a group of its own it is the client that is held back.
    host(&mut trial).generator_throttled_cores = Some(1.0);
    assert_eq!(first(&trial).phrase, "client-bound (its quota)");
}

/// Whoever was not watched to the end of the window, or is in groups that can't be seen, may have one.
#[test]
fn that_there_is_no_quota_is_said_by_those_who_looked() {
    let says_so = |trial: &Measured| first(trial).excluded.contains(&"a CPU quota: there is none".to_owned());
    let mut trial = watched(160.0, &[("pool-*", 16)]);
    assert!(!says_so(&trial), "{:?}", first(&trial).excluded);
    signals(&mut trial).cpu_user_cores = Some(0.1);
    assert!(says_so(&trial), "{:?}", first(&trial).excluded);
    host(&mut trial).not_known.push("CPU quotas: the control groups of the server".into());
    assert!(!says_so(&trial), "{:?}", first(&trial).excluded);
}

#[test]
fn collections_count_from_a_tenth_of_the_time() {
    let mut trial = full(1.8);
    let jvm = |gc_share| Some(JvmUse { gc_share, heap_max_bytes: 48 << 20, ..JvmUse::default() });
    signals(&mut trial).jvm = jvm(0.2);
    let explanation = explain(&trial);
    assert_eq!(explanation.first().phrase, "garbage collection (20 %)");
    assert_eq!(explanation.verdicts[1].kind, VerdictKind::CpuBound, "what plays a part is told, too");
    signals(&mut trial).jvm = jvm(0.09);
    assert_eq!(kind(&trial), VerdictKind::CpuBound);
}

/// Shenandoah counts what it does beside the program, too: it stood still for no longer than it was at safepoints.
#[test]
fn what_a_collector_does_beside_the_program_stops_nothing() {
    let mut trial = full(1.8);
    for (gc_share, safepoint_share, phrase) in [
        (0.6, 0.02, "CPU-bound"),
        (0.6, 0.3, "garbage collection (30 %)"),
        (0.3, 0.6, "garbage collection (30 %)"),
        (0.3, 0.0, "garbage collection (30 %)"),
    ] {
        let jvm = JvmUse { gc_share, safepoint_share, heap_max_bytes: 48 << 20, ..JvmUse::default() };
        signals(&mut trial).jvm = Some(jvm);
        assert_eq!(first(&trial).phrase, phrase, "{gc_share} {safepoint_share}");
    }
    signals(&mut trial).jvm = Some(JvmUse { gc_share: 0.6, safepoint_share: 0.02, ..JvmUse::default() });
    assert!(first(&trial).excluded.contains(&"garbage collection: 2.0 % of the time".to_owned()));
}

#[test]
fn writing_to_a_disk_is_named_where_it_is_much_or_waited_for() {
    let mut trial = watched(1000.0, &[("pool-*", 16)]);
    signals(&mut trial).disk_write_bytes_per_s = Some(4e6);
    assert_eq!(first(&trial).phrase, "writes to a disk");
    signals(&mut trial).disk_write_bytes_per_s = Some(1e5);
    assert_eq!(kind(&trial), VerdictKind::Unexplained, "a log line a request");
    signals(&mut trial).disk_wait_share = Some(0.4);
    let verdict = first(&trial);
    assert_eq!(
        (verdict.kind, verdict.confidence),
        (VerdictKind::LogBound, Confidence::Likely),
        "and it waits"
    );
    signals(&mut trial).disk_wait_share = Some(0.6);
    assert_eq!(first(&trial).confidence, Confidence::Sure, "most of the time");
    // What waits for a journal is not counted: some is a sign of more, and none is none.
    signals(&mut trial).disk_write_bytes_per_s = Some(4e6);
    signals(&mut trial).disk_wait_share = Some(0.06);
    let verdict = first(&trial);
    assert_eq!((verdict.kind, verdict.accounts_for), (VerdictKind::LogBound, None));
    signals(&mut trial).disk_wait_share = Some(0.0);
    assert_eq!(kind(&trial), VerdictKind::Unexplained, "nobody waits for what is written");
    let mut trial = watched(10.0, &[("pool-*", 16)]);
    trial.contract.idle_service_time_us = 300.0;
    signals(&mut trial).disk_write_bytes_per_s = Some(20_000.0);
    assert_eq!(kind(&trial), VerdictKind::Unexplained, "much for a request, and nothing for a disk");
    let mut trial = watched(0.0, &[]);
    signals(&mut trial).disk_write_bytes_per_s = Some(4e6);
    assert_eq!(kind(&trial), VerdictKind::Unexplained, "nothing a request, of none");
}

#[test]
fn an_accept_queue_that_overflows_is_named_by_the_kernels_own_count() {
    let mut trial = watched(200.0, &[("accept", 1)]);
    trial.contract.idle_service_time_us = 200.0;
    dropped(&mut trial, 800);
    host(&mut trial).network.insert("TCPSynRetrans".into(), 790);
    signals(&mut trial).accept_queue = Some(AcceptQueue { limit: 1, max: 2, mean: 1.5, full_share: 0.9 });
    signals(&mut trial).connections = Some(Held { mean: 1.0, max: 3, readings: 20 });
    let verdict = first(&trial);
    assert_eq!((verdict.kind, verdict.confidence), (VerdictKind::AcceptQueueOverflow, Confidence::Sure));
    assert!(verdict.evidence.iter().any(|it| it.contains("790 SYNs were sent again")), "{verdict:?}");
    // The kernel counts for all servers, and this one's queue was never full.
    let mut never_full = trial.clone();
    signals(&mut never_full).accept_queue =
        Some(AcceptQueue { limit: 128, max: 3, mean: 1.5, full_share: 0.0 });
    let told = first(&never_full);
    assert_eq!((told.kind, told.confidence), (VerdictKind::AcceptQueueOverflow, Confidence::Likely));
    assert!(told.confirm.unwrap().text.contains("net.core.somaxconn, which bounds it"));
    // What was dropped for another reason, such as memory, is none of a queue's; one of handshakes has the same bound.
    for (name, is_told) in [("ListenDrops", false), ("TCPReqQFullDrop", true)] {
        host(&mut never_full).network = [(name.to_owned(), 800)].into();
        let is_said = phrases(&never_full).iter().any(|it| it == "accept queue full");
        assert_eq!(is_said, is_told, "{name}");
    }
    // Of 64 users for 15 s, 800 waits of a second and more are most of the time; 40 are a twenty-fourth.
    assert!(verdict.accounts_for.is_some_and(|share| share > 0.8), "{verdict:?}");
    dropped(&mut trial, 40);
    let told: Vec<_> = explain(&trial).verdicts.iter().map(|it| (it.kind, it.confidence)).collect();
    assert_eq!(
        told,
        [
            (VerdictKind::Unexplained, Confidence::Possible),
            (VerdictKind::AcceptQueueOverflow, Confidence::Possible)
        ]
    );
    // Who may wait for 10 s has up to three tries, of 2.5 s on average.
    let cost = |trial: &Measured| {
        let all = explain(trial).verdicts;
        all.iter().find(|it| it.kind == VerdictKind::AcceptQueueOverflow).and_then(|it| it.accounts_for)
    };
    let of_short = cost(&trial).unwrap();
    trial.load.load.timeout_max_s = Some(10.0);
    assert!((cost(&trial).unwrap() / of_short - 2.5).abs() < 1e-9, "{of_short} {:?}", cost(&trial));
    // One that follows from a pool is told after it.
    let mut trial = watched(160.0, &[("pool-*", 16)]);
    host(&mut trial).network = [("ListenOverflows".to_owned(), 40)].into();
    let kinds: Vec<VerdictKind> = explain(&trial).verdicts.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [VerdictKind::PoolLimit, VerdictKind::AcceptQueueOverflow]);
}

/// The kernel counts for all queues together.
#[test]
fn of_several_queues_one_is_named_where_somebody_was_seen_to_wait() {
    let empty = |limit| AcceptQueue { limit, max: 0, mean: 0.0, full_share: 0.0 };
    let mut trial = watched(200.0, &[("accept", 1)]);
    trial.contract.idle_service_time_us = 200.0;
    dropped(&mut trial, 800);
    signals(&mut trial).accept_queue = Some(empty(1000));
    trial.upstreams = vec![behind(&[("exec-*", 40)], 1)];
    for (max, phrase) in [(0, "accept queue full"), (99, "accept queue full (tomcat-nio)")] {
        let queue = AcceptQueue { max, ..empty(100) };
        trial.upstreams[0].server.signals.as_mut().unwrap().accept_queue = Some(queue);
        assert!(phrases(&trial).iter().any(|it| it == phrase), "{max}: {:?}", phrases(&trial));
    }
}

/// What is told, or accounts for too little to be the answer, speaks for itself.
#[test]
fn what_was_found_is_not_ruled_out() {
    let rules_out =
        |told: &Explanation, what: &str| told.first().excluded.iter().any(|it| it.starts_with(what));
    let mut trial = watched(160.0, &[("pool-*", 16)]);
    signals(&mut trial).accept_queue = Some(AcceptQueue { limit: 128, max: 3, mean: 0.1, full_share: 0.0 });
    assert!(rules_out(&explain(&trial), "the accept queue: "));
    dropped(&mut trial, 10);
    assert_eq!(phrases(&trial), ["pool of 16 (pool-*)", "accept queue full"]);
    assert!(!rules_out(&explain(&trial), "the accept queue: "));
    // A client with time left, near what it reaches at all.
    let mut trial = watched(160.0, &[("pool-*", 16)]);
    trial.load.answered_as_expected -= 10_000;
    for (ceiling, is_ruled_out) in [(1_000.0, true), (200.0, false)] {
        let told = explain::explain(&trial, &Context { ceiling_per_s: Some(ceiling), ..CORES });
        let is_found = told.verdicts.iter().any(|it| it.kind == VerdictKind::ClientBound);
        assert_eq!((rules_out(&told, "the client: "), is_found), (is_ruled_out, !is_ruled_out), "{told:?}");
    }
    // The control is asked over HTTP/1.1, and says nothing of a load of streams.
    trial.load.load.streams = Some(32);
    let told = explain::explain(&trial, &Context { ceiling_per_s: Some(10.0), ..CORES });
    assert!(told.verdicts.iter().all(|it| it.kind != VerdictKind::ClientBound), "{told:?}");
    let of_client = told.first().excluded.iter().find(|it| it.starts_with("the client: "));
    assert!(of_client.is_some_and(|it| !it.contains("calibration")), "{told:?}");
}

pub(crate) fn dropped(trial: &mut Measured, count: u64) {
    host(trial).network.insert("ListenOverflows".into(), count);
}

pub(crate) fn phrases(trial: &Measured) -> Vec<String> {
    explain(trial).verdicts.into_iter().map(|it| it.phrase).collect()
}

/// A Java server of one thread that was asked on a connection each: what it came to in a quick look.
#[test]
fn a_few_dropped_handshakes_are_not_the_reason_where_the_one_thread_is_busy() {
    let mut trial = watched(14_483.0, &[("main", 1)]);
    trial.contract.idle_service_time_us = 300.0;
    trial.load.window.duration_s = 1.5;
    (trial.load.load.warm_up_s, trial.load.load.keep_alive) = (0.5, false);
    trial.load.generator.cpu_s = 0.646 * 1.5;
    (trial.load.intended, trial.load.outcomes.answered) = (21_708, 21_692);
    (trial.load.answered_as_expected, trial.load.outcomes.unsent) = (21_692, 16);
    trial.load.connections.opened = 26_785;
    trial.server.cpu_cores = Some(1.04);
    let main = &mut signals(&mut trial).groups[0];
    (main.cpu_cores, main.busiest_cores) = (0.96, 0.96);
    signals(&mut trial).accept_queue = Some(AcceptQueue { limit: 50, max: 42, mean: 37.7, full_share: 0.0 });
    signals(&mut trial).connections = Some(Held { mean: 0.0, max: 0, readings: 5 });
    dropped(&mut trial, 27);
    host(&mut trial).network_before = [("ListenOverflows".to_owned(), 13)].into();
    let explanation = explain(&trial);
    let told: Vec<&str> = explanation.verdicts.iter().map(|it| it.phrase.as_str()).collect();
    assert_eq!(told, ["1 thread busy (main)", "a connection a request", "accept queue full"]);
    let full = &explanation.verdicts[2];
    assert_eq!(full.confidence, Confidence::Possible);
    assert!(full.evidence.iter().any(|it| it == "it can account for 4.0 % of the rate at most"), "{full:?}");
}

/// A Java server that closes after each answer and does not say so: half of its connections die with a second request.
#[test]
fn a_server_that_closes_after_each_answer_has_no_cap_of_two() {
    let mut trial = full(1.2);
    trial.load.throughput_per_s = 28_861.0;
    (trial.load.load.warm_up_s, trial.load.window.duration_s) = (3.0, 4.0);
    trial.load.generator.cpu_s = 0.75 * 4.0;
    trial.load.load.connections = 40;
    trial.load.intended = 115_444;
    trial.load.outcomes.answered = 81_264;
    (trial.load.outcomes.closed_early, trial.load.outcomes.reset) = (33_168, 1_006);
    trial.load.answered_as_expected = 81_264;
    (trial.load.connections.opened, trial.load.connections.closed_by_server) = (133_048, 131_391);
    assert_eq!(phrases(&trial)[..2], ["wrong answers (29.6 %)", "a connection a request"]);
    // Whatever the warm-up was: it made no connection of the window.
    trial.load.connections.opened_in_window = Some(81_290);
    trial.load.connections.opened = 90_000;
    assert_eq!(phrases(&trial)[1], "a connection a request");
    trial.load.connections.opened_in_window = Some(81_264 / 2);
    assert_eq!(phrases(&trial)[1], "keep-alive cap of 2");
    trial.load.connections.opened_in_window = Some(81_264 * 2 / 3);
    assert_eq!(phrases(&trial)[1], "a connection for 1.5 requests", "that is no cap");
    let who = |trial: &Measured| explain(trial).verdicts[1].evidence.join("; ");
    assert!(who(&trial).contains("the server closes it"), "{}", who(&trial));
    // A client that closes knows why, whatever the answers to it say.
    trial.load.load.keep_alive = false;
    assert_eq!(phrases(&trial)[1], "a connection a request");
    assert!(who(&trial).contains("the client closes it"), "{}", who(&trial));
}

/// A server without room ends connections as they come: to keep them open is not in the client's hands.
#[test]
fn connections_that_are_turned_away_are_none_a_request() {
    let mut trial = full(1.2);
    trial.load.connections.closed_by_server = 90_000;
    trial.load.connections.opened_in_window = Some(90_000);
    for (answered, phrase) in [(0, "box-bound"), (40_000, "box-bound"), (60_000, "a connection a request")] {
        (trial.load.outcomes.answered, trial.load.outcomes.closed_early) = (answered, 96_000 - answered);
        trial.load.answered_as_expected = answered;
        assert_eq!(phrases(&trial)[1], phrase, "{answered}");
    }
}

/// What is counted and can account for next to nothing: told, never first, never sure.
#[test]
fn a_cause_of_a_thousandth_is_never_first_and_never_sure() {
    let pool = || Box::new(watched(160.0, &[("pool-*", 16)]));
    let mut wrong = pool();
    wrong.load.answered_as_expected -= 150;
    let mut no_port = pool();
    no_port.load.connect_failures = [("no_free_port".to_owned(), 150)].into();
    let mut files = pool();
    (signals(&mut files).open_files_max, signals(&mut files).open_files_limit) = (Some(64), Some(64));
    signals(&mut files).connections = Some(Held { mean: 63.9, max: 64, readings: 20 });
    let mut throttled = pool();
    throttled.server.cpu_cores = Some(0.55);
    signals(&mut throttled).quota = Some(Quota { cores: Some(0.64), throttled_cores: 0.051 });
    let mut logs = pool();
    signals(&mut logs).disk_write_bytes_per_s = Some(4e6);
    signals(&mut logs).disk_wait_share = Some(0.001);
    let mut drops = pool();
    dropped(&mut drops, 1);
    let mut starved = pool();
    host(&mut starved).others_cores = Some(0.5);
    host(&mut starved).generator_cores = Some(0.02);
    host(&mut starved).generator_wait_cores = Some(0.04);
    let mut quota = pool();
    host(&mut quota).generator_throttled_cores = Some(0.03);
    for (trial, kind) in [
        (wrong, VerdictKind::IncorrectService),
        (no_port, VerdictKind::PortExhaustion),
        (files, VerdictKind::DescriptorLimit),
        (throttled, VerdictKind::QuotaBound),
        (logs, VerdictKind::LogBound),
        (drops, VerdictKind::AcceptQueueOverflow),
        (starved, VerdictKind::NoisyHost),
        (quota, VerdictKind::ClientBound),
    ] {
        let explanation = explain(&trial);
        assert_eq!(explanation.first().kind, VerdictKind::PoolLimit, "{explanation:?}");
        assert_eq!(explanation.first().confidence, Confidence::Sure, "{explanation:?}");
        let minor = explanation.verdicts.iter().find(|it| it.kind == kind).expect("it is told all the same");
        assert_eq!(minor.confidence, Confidence::Possible, "{minor:?}");
        assert!(minor.evidence.iter().any(|it| it.starts_with("it can account for ")), "{minor:?}");
        // Alone it leaves the rate unexplained.
        let mut alone = trial.clone();
        signals(&mut alone).groups.clear();
        alone.server.thread_groups.clear();
        assert_eq!(self::kind(&alone), VerdictKind::Unexplained);
    }
}

#[test]
fn connections_cost_where_there_is_no_cpu_left() {
    let mut trial = full(1.2);
    let requests = 100_000 * 16;
    trial.load.connections.opened = 64 + requests;
    trial.load.connections.closed_by_server = requests;
    assert_eq!(first(&trial).phrase, "a connection a request");
    trial.load.connections.opened = 64 + requests / 5;
    assert_eq!(first(&trial).phrase, "keep-alive cap of 5");
    trial.load.connections.opened = 64 + requests / 100;
    assert_eq!(kind(&trial), VerdictKind::BoxBound, "one in a hundred costs 3 %");
    // With CPU to spare it is not what limits.
    let mut trial = watched(160.0, &[("pool-*", 16)]);
    trial.load.connections.opened = 64 + 160 * 16;
    assert_eq!(kind(&trial), VerdictKind::PoolLimit);
}

#[test]
fn a_delayed_acknowledgement_is_told_from_a_slow_server() {
    let mut trial = watched(1600.0, &[("pool-*", 16)]);
    trial.contract.idle_service_time_us = 200.0;
    trial.load.service_time_us.p50 = Some(40_300.0);
    host(&mut trial).network = [("DelayedACKs".to_owned(), 1600 * 15)].into();
    assert_eq!(first(&trial).phrase, "delayed ACK (40 ms)");
    trial.contract.idle_service_time_us = 40_000.0;
    assert_eq!(kind(&trial), VerdictKind::IdlePace, "idle answers take that long, too");
    trial.contract.idle_service_time_us = 200.0;
    // Whose answers take longer than the timer is sent an acknowledgement by it, too; but nothing lies in its sockets then.
    for (held, told) in [(60, true), (30, true), (20, false), (0, false)] {
        signals(&mut trial).unacknowledged = Some(Held { mean: f64::from(held), max: held, readings: 20 });
        let first = first(&trial);
        assert_eq!(first.kind == VerdictKind::DelayedAck, told, "{held} of 64: {first:?}");
        assert_eq!(told, first.phrase == "delayed ACK (40 ms)" && first.confidence == Confidence::Sure);
    }
    host(&mut trial).network.clear();
    assert_ne!(kind(&trial), VerdictKind::DelayedAck);
}

#[test]
fn the_last_port_and_the_last_descriptor_are_named() {
    let mut trial = watched(1000.0, &[("pool-*", 16)]);
    trial.load.connect_failures = [("no_free_port".to_owned(), 5_000)].into();
    assert_eq!(kind(&trial), VerdictKind::PortExhaustion);
    let mut trial = watched(1000.0, &[("pool-*", 16)]);
    signals(&mut trial).open_files_limit = Some(64);
    signals(&mut trial).open_files_max = Some(60);
    assert_ne!(kind(&trial), VerdictKind::DescriptorLimit);
    signals(&mut trial).open_files_max = Some(64);
    let told = first(&trial);
    assert_eq!((told.phrase.as_str(), told.confidence), ("64 file descriptors", Confidence::Likely));
    // It serves half of those who ask.
    signals(&mut trial).connections = Some(Held { mean: 32.0, max: 32, readings: 20 });
    assert_eq!(first(&trial).confidence, Confidence::Sure);
}

/// A client that has no port or no descriptor left never asked the server, which did nothing wrong.
#[test]
fn what_kept_the_client_from_connecting_is_no_wrong_answer() {
    let mut trial = watched(1000.0, &[("pool-*", 16)]);
    trial.load.answered_as_expected -= 50_000;
    (trial.load.outcomes.answered, trial.load.outcomes.connect_failed) = (46_000, 50_000);
    for (name, kind, phrase) in [
        ("no_free_port", VerdictKind::PortExhaustion, "client's ports used up"),
        ("no_free_descriptor", VerdictKind::ClientBound, "client-bound (its file descriptors)"),
    ] {
        trial.load.connect_failures = [(name.to_owned(), 50_000)].into();
        let told = explain(&trial).verdicts;
        assert_eq!(
            (told[0].kind, told[0].phrase.as_str(), told[0].confidence),
            (kind, phrase, Confidence::Sure),
            "{told:?}"
        );
        assert!(told.iter().all(|it| it.kind != VerdictKind::IncorrectService), "{told:?}");
    }
    // Whom the server turned away it turned away itself.
    trial.load.connect_failures = [("refused".to_owned(), 50_000)].into();
    assert_eq!(kind(&trial), VerdictKind::IncorrectService);
}

/// What it is answered wrongly takes the client as long.
#[test]
fn a_client_near_what_it_reaches_at_all_is_not_ruled_out() {
    let mut trial = watched(160.0, &[("pool-*", 16)]);
    trial.load.goodput_per_s = 130.0;
    let is_ruled_out = |ceiling_per_s: f64| {
        let context = Context { ceiling_per_s: Some(ceiling_per_s), ..CORES };
        let told = explain::explain(&trial, &context);
        assert_eq!(told.first().kind, VerdictKind::PoolLimit, "{told:?}");
        told.first().excluded.iter().any(|it| it.starts_with("the client: "))
    };
    assert!(is_ruled_out(400.0));
    assert!(!is_ruled_out(200.0));
}

#[test]
fn of_no_request_nothing_follows() {
    let mut trial = full(1.8);
    assert_eq!(kind(&trial), VerdictKind::CpuBound);
    trial.load.intended = 0;
    (trial.load.outcomes.answered, trial.load.answered_as_expected) = (0, 0);
    let told = explain(&trial).verdicts;
    assert_eq!(told.iter().map(|it| it.kind).collect::<Vec<_>>(), [VerdictKind::Unexplained]);
    assert!(told[0].evidence[0].starts_with("no request was due within the window"), "{told:?}");
}

/// A size that fits is no proof where users were missing, or where the window ends between one turn and the next.
#[test]
fn a_verdict_of_a_load_that_the_audit_doubts_is_not_sure() {
    let said = |trial: &Measured, words: &str| {
        let told = first(trial);
        assert_eq!(told.phrase, "pool of 16 (pool-*)", "{told:?}");
        (told.confidence, told.evidence.iter().any(|it| it.starts_with(words)))
    };
    let mut ramp = watched(160.0, &[("pool-*", 16)]);
    ramp.load.response_time_us.mean = Some(400_000.0);
    ramp.load.seconds = seconds(&[160.0; 15]);
    for (ramp_s, told) in [(10.0, (Confidence::Sure, false)), (40.0, (Confidence::Likely, true))] {
        ramp.load.load.ramp_up_s = Some(ramp_s);
        assert_eq!(said(&ramp, "it ended after 16.0 s, and the last user"), told, "{ramp_s} s");
    }
    // Of fifteen turns of a second one more or less is 7 %.
    let mut slow = watched(16.0, &[("pool-*", 16)]);
    slow.contract.idle_service_time_us = 1e6;
    for (mean_s, told) in [(1.2, (Confidence::Sure, false)), (4.0, (Confidence::Likely, true))] {
        slow.load.response_time_us.mean = Some(mean_s * 1e6);
        assert_eq!(said(&slow, "15.0 s are fewer than 10 response times"), told, "{mean_s} s");
    }
}

#[test]
fn wrong_answers_come_before_any_speed_and_late_ones_do_not() {
    let mut trial = watched(160.0, &[("pool-*", 16)]);
    trial.load.answered_as_expected -= 10_000;
    let explanation = explain(&trial);
    assert_eq!(explanation.first().phrase, "wrong answers (10.4 %)");
    assert_eq!(explanation.verdicts[1].kind, VerdictKind::PoolLimit);
    let mut trial = watched(160.0, &[("pool-*", 16)]);
    (trial.load.outcomes.answered, trial.load.outcomes.timed_out) = (86_000, 10_000);
    trial.load.answered_as_expected = 86_000;
    assert_eq!(kind(&trial), VerdictKind::PoolLimit, "a pool makes them late");
}

#[test]
fn the_client_is_told_from_a_neighbour() {
    // Others use the machine, and both wait for it all the time that they do not run.
    let mut trial = beside(watched(1000.0, &[("loop", 1)]), 1.0);
    host(&mut trial).generator_cores = Some(0.3);
    host(&mut trial).generator_wait_cores = Some(0.65);
    let server = &mut signals(&mut trial).groups[0];
    (server.cpu_cores, server.busiest_cores, server.wait_cores) = (0.3, 0.3, 0.6);
    assert_eq!(kind(&trial), VerdictKind::NoisyHost);
    // The server does not wait.
    signals(&mut trial).groups[0].wait_cores = 0.0;
    let verdict = first(&trial);
    assert_eq!(
        (verdict.phrase.as_str(), verdict.confidence),
        ("client-bound (starved of CPU)", Confidence::Sure)
    );
    // It waits, too, and for less.
    let mut both = trial.clone();
    let server = &mut signals(&mut both).groups[0];
    (server.cpu_cores, server.busiest_cores, server.wait_cores) = (0.6, 0.6, 0.26);
    let verdict = first(&both);
    assert_eq!(verdict.phrase, "client-bound (starved of CPU)");
    let said = "the server lost 26 % of its time by that at most";
    assert!(verdict.evidence.iter().any(|it| it.ends_with(said)), "{verdict:?}");
    // Nobody else runs: what takes the client's time is the server, on a machine that they share.
    host(&mut trial).others_cores = Some(0.02);
    assert_eq!(kind(&trial), VerdictKind::Unexplained);
    // A quota of its own.
    host(&mut trial).generator_throttled_cores = Some(0.3);
    assert_eq!(first(&trial).phrase, "client-bound (its quota)");
    // A thread with no time left.
    let mut trial = watched(1000.0, &[("pool-*", 16)]);
    trial.load.generator.busy_share = 0.9;
    assert_eq!(first(&trial).phrase, "client-bound");
}

/// The same beside others that use so many cores.
pub(crate) fn beside(mut trial: Measured, cores: f64) -> Measured {
    host(&mut trial).others_cores = Some(cores);
    host(&mut trial).others = vec![NamedUse { name: "java".into(), cores }];
    trial
}

/// The last that is told, which is a doubt about the first.
fn doubt(trial: &Measured) -> Verdict {
    let told = explain(trial).verdicts;
    assert!(told.len() > 1, "{told:?}");
    let last = told.last().unwrap().clone();
    assert_eq!((last.kind, last.confidence), (VerdictKind::NoisyHost, Confidence::Possible), "{last:?}");
    last
}

/// Neighbours took a core, and the server waits on timers: 0.6 ms of 61 are one per cent, whatever share of its CPU time.
#[test]
fn neighbours_who_cost_a_request_nothing_are_a_doubt_with_its_size() {
    let mut trial = beside(watched(1049.0, &[("loop", 1)]), 1.02);
    trial.contract.idle_service_time_us = 60_000.0;
    trial.server.cpu_cores = Some(0.05);
    let server = &mut signals(&mut trial).groups[0];
    (server.cpu_cores, server.busiest_cores, server.wait_cores) = (0.05, 0.05, 0.4);
    (host(&mut trial).generator_cores, host(&mut trial).generator_wait_cores) = (Some(0.05), Some(0.23));
    let answer = first(&trial);
    assert_eq!((answer.phrase.as_str(), answer.confidence), ("none: idle pace", Confidence::Sure));
    let noise = doubt(&trial);
    assert_eq!(
        noise.evidence,
        [
            "other processes used 1.02 of 2 cores (java 1.02)",
            "a request waited 0.6 ms of 61.0 ms for a core, at most",
            "it can account for 1.0 % of the rate at most",
        ]
    );
    // A pool is as much of a limit beside them.
    let mut trial = beside(watched(266.0, &[("pool-*", 16)]), 1.02);
    trial.contract.idle_service_time_us = 60_000.0;
    signals(&mut trial).groups[0].wait_cores = 0.4;
    let answer = first(&trial);
    assert_eq!((answer.kind, answer.confidence), (VerdictKind::PoolLimit, Confidence::Sure));
    doubt(&trial);
    // With a tenth of its time waited for, it is a pool of 16 still.
    trial.load.throughput_per_s = 240.0;
    signals(&mut trial).groups[0].wait_cores = 1.6;
    assert_eq!(kind(&trial), VerdictKind::PoolLimit);
    doubt(&trial);
    // Nobody is known to have been in its way.
    host(&mut trial).others_cores = Some(0.02);
    assert_eq!(kind(&trial), VerdictKind::Unexplained);
}

/// A loop that sleeps for 2 ms at each request, on a machine where others run now and then.
#[test]
fn a_loop_that_sleeps_is_blocked_by_its_sleep_and_not_by_who_runs_meanwhile() {
    let mut trial = beside(watched(420.0, &[("loop", 1)]), 0.6);
    trial.contract.idle_service_time_us = 2_050.0;
    trial.server.cpu_cores = Some(0.02);
    let server = &mut signals(&mut trial).groups[0];
    (server.cpu_cores, server.busiest_cores, server.wait_cores) = (0.02, 0.02, 0.12);
    signals(&mut trial).connections = Some(Held { mean: 64.0, max: 64, readings: 20 });
    assert_eq!(first(&trial).phrase, "event loop blocked (loop)");
    // Its own waiting is of the clock's time, and costs as much of the rate.
    let noise = doubt(&trial);
    assert!(noise.accounts_for.is_some_and(|share| (share - 0.12).abs() < 1e-9), "{noise:?}");
    assert!(noise.evidence[2].contains("`loop`, with no time left, waited for a core in 12 %"), "{noise:?}");
    // Where a third of its time goes by like that, they decide, and it is a loop all the same.
    trial.load.throughput_per_s = 334.0;
    signals(&mut trial).groups[0].wait_cores = 0.3;
    assert_eq!(phrases(&trial), ["noisy host", "event loop blocked (loop)"]);
    trial.load.throughput_per_s = 240.0;
    signals(&mut trial).groups[0].wait_cores = 0.5;
    assert_eq!(kind(&trial), VerdictKind::NoisyHost);
}

/// What a CPU-bound server needs, and others take.
#[test]
fn neighbours_who_take_what_a_server_needs_are_the_answer() {
    let mut trial = beside(full(0.55), 1.0);
    trial.load.generator.cpu_s = 0.4 * 15.0;
    signals(&mut trial).groups[0].wait_cores = 15.0;
    let verdict = first(&trial);
    assert_eq!((verdict.kind, verdict.confidence), (VerdictKind::NoisyHost, Confidence::Sure), "{verdict:?}");
    assert!(verdict.accounts_for.is_some_and(|share| (share - 1.0 / 1.95).abs() < 0.01), "{verdict:?}");
    // As many threads wait for each other where nobody takes much; then it is a machine that is used up.
    let mut trial = beside(full(1.1), 0.25);
    trial.load.generator.cpu_s = 0.6 * 15.0;
    signals(&mut trial).groups[0].wait_cores = 15.0;
    assert_eq!(kind(&trial), VerdictKind::BoxBound);
    let noise = doubt(&trial);
    assert!(noise.accounts_for.is_some_and(|share| share < 0.13), "{noise:?}");
    // Others who run only when nobody else would take nothing.
    let mut trial = beside(full(0.55), 1.0);
    trial.load.generator.cpu_s = 0.4 * 15.0;
    assert_eq!(kind(&trial), VerdictKind::Unexplained);
}

/// A thread that serves many requests at a time keeps all of those waiting that it has at hand.
#[test]
fn a_thread_that_waits_keeps_as_many_requests_waiting_as_it_has_at_hand() {
    let mut trial = beside(watched(20_000.0, &[("loop", 1)]), 1.0);
    trial.contract.idle_service_time_us = 100.0;
    (host(&mut trial).generator_cores, host(&mut trial).generator_wait_cores) = (Some(0.1), Some(0.7));
    host(&mut trial).generator_switches_per_s = Some(20_000.0);
    assert_eq!(kind(&trial), VerdictKind::Unexplained);
    doubt(&trial);
    // 50 at each wake-up: nearly all of them wait whenever it does. With more than there are it goes on while others come in.
    for switches in [400.0, 85.0] {
        host(&mut trial).generator_switches_per_s = Some(switches);
        assert_eq!(first(&trial).phrase, "client-bound (starved of CPU)");
    }
    // So does the server's only thread; one beside it that does little is not on the way.
    host(&mut trial).generator_wait_cores = Some(0.01);
    let server = &mut signals(&mut trial).groups[0];
    (server.wait_cores, server.switches_per_s) = (0.5, 150.0);
    assert_eq!(kind(&trial), VerdictKind::NoisyHost);
    let mut cleaner = signals(&mut trial).groups[0].clone();
    (cleaner.name, cleaner.cpu_cores) = ("cleaner".into(), 0.02);
    signals(&mut trial).groups[0].wait_cores = 0.0;
    signals(&mut trial).groups.push(cleaner);
    assert_eq!(kind(&trial), VerdictKind::Unexplained);
}

#[test]
fn what_a_hypervisor_takes_no_thread_is_seen_to_wait_for() {
    let mut trial = full(0.9);
    trial.load.generator.cpu_s = 0.4 * 15.0;
    host(&mut trial).steal_share = Some(0.32);
    let verdict = first(&trial);
    assert_eq!(
        (verdict.kind, verdict.confidence),
        (VerdictKind::NoisyHost, Confidence::Likely),
        "{verdict:?}"
    );
    assert!(verdict.evidence[0].contains("the hypervisor took 32 % of the CPU"), "{verdict:?}");
    // Of a server that waits on timers it takes next to nothing.
    let mut trial = watched(160.0, &[("pool-*", 16)]);
    host(&mut trial).steal_share = Some(0.32);
    assert_eq!(kind(&trial), VerdictKind::PoolLimit);
    doubt(&trial);
    // A thread with no time left loses its part of it.
    let mut trial = watched(5_000.0, &[("loop", 1)]);
    trial.contract.idle_service_time_us = 100.0;
    trial.server.cpu_cores = Some(0.6);
    let server = &mut signals(&mut trial).groups[0];
    (server.cpu_cores, server.busiest_cores) = (0.6, 0.6);
    host(&mut trial).steal_share = Some(0.3);
    assert_eq!(kind(&trial), VerdictKind::NoisyHost);
}

/// `docker run --cpus=2` on a machine of 16 cores: whoever uses cores that stand idle takes none of the two.
#[test]
fn others_take_nothing_of_a_quota_while_the_machine_has_cores_left() {
    let mut trial = beside(full(0.55), 5.0);
    trial.load.generator.cpu_s = 0.4 * 15.0;
    signals(&mut trial).groups[0].wait_cores = 15.0;
    host(&mut trial).cores = 16;
    let told = explain(&trial).verdicts;
    assert!(told.iter().all(|it| it.kind != VerdictKind::NoisyHost), "{told:?}");
    let said = "others on the machine: 5.00 of its 16 cores, and some stood idle".to_owned();
    assert!(told[0].excluded.contains(&said), "{told:?}");
    // Where all sixteen are used up, they are in the way.
    let verdict = first(&beside(trial, 14.0));
    assert_eq!(verdict.kind, VerdictKind::NoisyHost, "{verdict:?}");
    assert_eq!(verdict.evidence[0], "other processes used 14.00 of 16 cores (java 14.00)");
}

#[test]
fn interrupts_of_a_larger_machine_use_up_no_quota() {
    let mut trial = full(1.2);
    trial.load.generator.cpu_s = 0.3 * 15.0;
    host(&mut trial).interrupts_cores = Some(0.4);
    assert_eq!(kind(&trial), VerdictKind::BoxBound);
    host(&mut trial).cores = 16;
    assert_eq!(kind(&trial), VerdictKind::Unexplained);
}

/// An eighth of 16 cores is two, as much as a thread of half a core and all others ran: it lost as much as it ran.
#[test]
fn what_a_hypervisor_takes_is_of_all_cores_of_the_machine() {
    let mut trial = watched(5_000.0, &[("loop", 1)]);
    trial.contract.idle_service_time_us = 100.0;
    trial.server.cpu_cores = Some(0.5);
    let server = &mut signals(&mut trial).groups[0];
    (server.cpu_cores, server.busiest_cores) = (0.5, 0.5);
    host(&mut trial).steal_share = Some(0.125);
    assert_ne!(kind(&trial), VerdictKind::NoisyHost);
    host(&mut trial).cores = 16;
    assert_eq!(kind(&trial), VerdictKind::NoisyHost);
    // Most of it was taken from others who ran as well.
    host(&mut trial).others_cores = Some(9.0);
    assert_ne!(kind(&trial), VerdictKind::NoisyHost);
}

#[test]
fn nobody_is_starved_of_what_it_hardly_wanted() {
    let mut trial = beside(watched(300.0, &[("pool-*", 16)]), 1.0);
    (host(&mut trial).generator_cores, host(&mut trial).generator_wait_cores) = (Some(0.02), Some(0.04));
    for connections in [1, 64] {
        trial.load.load.connections = connections;
        for switches in [None, Some(1.0), Some(300.0)] {
            host(&mut trial).generator_switches_per_s = switches;
            let told = explain(&trial).verdicts;
            assert_eq!(told[0].kind, VerdictKind::Unexplained, "{told:?}");
        }
    }
}

#[test]
fn an_open_load_has_lost_no_more_than_it_missed() {
    let mut trial = beside(watched(1990.0, &[("loop", 1)]), 1.0);
    trial.load.load.rate_per_s = Some(2000.0);
    (host(&mut trial).generator_cores, host(&mut trial).generator_wait_cores) = (Some(0.3), Some(0.65));
    let server = &mut signals(&mut trial).groups[0];
    (server.cpu_cores, server.wait_cores) = (0.3, 0.6);
    assert_eq!(first(&trial).phrase, "none: keeps the rate");
    // A generator that caught up was late all the same.
    let mut late = trial.clone();
    signals(&mut late).groups[0].wait_cores = 0.0;
    assert_eq!(first(&late).phrase, "client-bound (starved of CPU)");
    let noise = doubt(&trial);
    assert!(
        noise.evidence.iter().any(|it| it == "it can account for 0.5 % of the rate at most"),
        "{noise:?}"
    );
}

#[test]
fn wrong_answers_come_before_steadiness_and_noise_which_look_at_good_ones() {
    let mut trial = beside(full(0.55), 1.0);
    trial.load.generator.cpu_s = 0.4 * 15.0;
    signals(&mut trial).groups[0].wait_cores = 15.0;
    trial.load.seconds = seconds(&[250.0, 200.0, 150.0, 100.0, 80.0, 60.0]);
    trial.load.answered_as_expected = 960;
    trial.load.statuses = [("200".to_owned(), 960), ("429".to_owned(), 95_040)].into();
    assert_eq!(phrases(&trial), ["wrong answers (99.0 %)", "noisy host", "not steady (slowing down)"]);
    // Failures that make up for the answers make nothing steady.
    let mut trial = full(1.2);
    trial.load.seconds = seconds(&[250.0, 200.0, 150.0, 100.0, 80.0, 60.0]);
    for second in &mut trial.load.seconds {
        second.failures_per_s = 250.0 - second.goodput_per_s;
    }
    assert_eq!(kind(&trial), VerdictKind::NotSteady);
}

#[test]
fn names_of_others_are_few_and_steer_nothing() {
    let mut trial = beside(watched(160.0, &[("pool-*", 16)]), 1.0);
    let name = |name: &str| NamedUse { name: name.into(), cores: 0.25 };
    host(&mut trial).others = vec![name("a\u{1b}[2J\nb"), name("c"), name("d"), name("e")];
    let noise = doubt(&trial);
    assert_eq!(
        noise.evidence[0],
        "other processes used 1.00 of 2 cores (a\\u{1b}[2J b 0.25, c 0.25, d 0.25)"
    );
}

pub(crate) fn seconds(rates: &[f64]) -> Vec<Second> {
    let second = |(index, rate): (usize, &f64)| Second {
        from_s: index as f64,
        length_s: 1.0,
        goodput_per_s: *rate,
        ..Second::default()
    };
    rates.iter().enumerate().map(second).collect()
}

#[test]
fn a_trend_is_told_and_noise_is_not() {
    let mut trial = full(1.2);
    trial.load.seconds = seconds(&[100.0, 150.0, 200.0, 250.0]);
    assert_eq!(first(&trial).phrase, "not steady (warming up)");
    trial.load.seconds = seconds(&[250.0, 200.0, 150.0, 100.0]);
    let slower = first(&trial);
    assert_eq!(slower.phrase, "not steady (slowing down)");
    let change = slower.confirm.unwrap().text;
    assert!(change.starts_with("measure for longer, "), "no warm-up ends it: {change}");
    // Of few seconds the first may be a poor one by chance.
    trial.load.seconds = seconds(&[100.0, 130.0, 125.0, 135.0]);
    assert_eq!(kind(&trial), VerdictKind::BoxBound);
    trial.load.seconds = seconds(&[100.0, 140.0, 135.0, 150.0, 165.0, 175.0]);
    assert_eq!(kind(&trial), VerdictKind::NotSteady);
    trial.load.seconds = seconds(&[100.0, 130.0, 90.0, 120.0, 110.0, 105.0, 95.0, 125.0]);
    assert_eq!(kind(&trial), VerdictKind::BoxBound);
    // A fifth in four seconds comes by chance, unless a JVM's compilers took as much.
    trial.load.seconds = seconds(&[100.0, 105.0, 115.0, 121.0]);
    assert_eq!(kind(&trial), VerdictKind::BoxBound);
    signals(&mut trial).jvm = Some(JvmUse { jit_cores: 0.97, ..JvmUse::default() });
    assert_eq!(kind(&trial), VerdictKind::NotSteady);
    signals(&mut trial).jvm = Some(JvmUse { jit_cores: 0.2, ..JvmUse::default() });
    assert_eq!(kind(&trial), VerdictKind::BoxBound);
    trial.load.load.ramp_up_s = Some(5.0);
    trial.load.seconds = seconds(&[100.0, 150.0, 200.0, 250.0]);
    assert_eq!(kind(&trial), VerdictKind::BoxBound, "users who come make a trend of their own");
}

#[test]
fn a_rate_that_went_over_to_another_is_of_neither() {
    let mut trial = full(1.2);
    trial.load.seconds = seconds(&[3011.0, 2919.0, 16886.0, 19827.0]);
    let verdict = first(&trial);
    assert_eq!((verdict.kind, verdict.phrase.as_str()), (VerdictKind::NotSteady, "not steady (two levels)"));
    assert_eq!(verdict.evidence[0], "2965/s in the first 2 s of the window and 18356/s in the rest");
    let audited = explain::audit_trial(&trial, None);
    let told = audited.reasons.iter().find(|it| it.kind == ReasonKind::TwoLevels).unwrap();
    assert!(told.text.starts_with("2965/s in the first 2 s"), "{}", told.text);
    trial.load.load.ramp_up_s = Some(2.0);
    assert_eq!(kind(&trial), VerdictKind::BoxBound, "users who come make levels of their own");
    // It went over in the middle of a second: the rate of that is of neither level, and half of its answers are of one.
    let mut trial = watched(840.0, &[]);
    trial.contract.idle_service_time_us = 20_000.0;
    trial.load.seconds = seconds(&[480.0, 552.0, 1200.0, 1200.0]);
    assert_eq!(kind(&trial), VerdictKind::Unexplained);
    for (second, p50_us) in trial.load.seconds.iter_mut().zip([50_300.0, 50_200.0, 20_200.0, 20_200.0]) {
        second.p50_us = Some(p50_us);
    }
    assert_eq!(first(&trial).phrase, "not steady (two levels)");
}

/// Rates of seconds: the last third is 60 % off the first.
const FALLING: [f64; 5] = [100.0, 90.0, 80.0, 60.0, 40.0];

#[test]
fn memory_that_grows_and_goes_on_growing_is_told() {
    let mib = |sizes: [u64; 3]| Some(sizes.map(|it| it << 20));
    let mut trial = full(1.2);
    trial.load.seconds = seconds(&FALLING);
    signals(&mut trial).rss_bytes = mib([20, 70, 120]);
    assert_eq!(phrases(&trial)[..2], ["memory grows", "not steady (slowing down)"]);
    assert!(first(&trial).accounts_for.is_some_and(|share| (share - 0.6).abs() < 1e-9), "100 to 40");
    let is_told = |trial: &Measured| phrases(trial).iter().any(|it| it == "memory grows");
    signals(&mut trial).rss_bytes = mib([20, 70, 80]);
    assert!(!is_told(&trial), "it levels out");
    signals(&mut trial).rss_bytes = mib([20, 70, 120]);
    signals(&mut trial).jvm = Some(JvmUse::default());
    assert!(!is_told(&trial), "that is a JVM's heap");
    signals(&mut trial).jvm = None;
    signals(&mut trial).groups[0].runtime = Some(Runtime::Jvm);
    assert!(!is_told(&trial), "also of one that keeps no counters");
}

/// A rate that does not fall while memory grows stopped where it did for another reason, known or not. Where there is none, the growth
/// is what there is to know.
#[test]
fn memory_that_grows_is_the_answer_where_the_rate_falls_or_nothing_limits_it() {
    let grows = |mut trial: Measured| {
        signals(&mut trial).rss_bytes = Some([20_u64, 70, 120].map(|it| it << 20));
        trial
    };
    let told_beside = |trial: &Measured, answer: VerdictKind| {
        let told = explain(trial).verdicts;
        assert_eq!(told[0].kind, answer, "{told:?}");
        let last = told.last().unwrap();
        assert_eq!((last.kind, last.confidence), (VerdictKind::MemoryGrowth, Confidence::Possible));
        assert!(last.evidence.iter().any(|it| it == "the rate was not seen to fall with it"), "{last:?}");
    };
    let mut trial = grows(full(1.2));
    told_beside(&trial, VerdictKind::BoxBound);
    trial.load.seconds = seconds(&[100.0; 5]);
    told_beside(&trial, VerdictKind::BoxBound);
    let rising: Vec<f64> = FALLING.into_iter().rev().collect();
    trial.load.seconds = seconds(&rising);
    told_beside(&trial, VerdictKind::NotSteady);
    // Cores are left, and nothing else says why.
    let mut trial = grows(full(1.2));
    trial.load.generator.cpu_s = 0.3 * 15.0;
    told_beside(&trial, VerdictKind::Unexplained);
    // 64 users who each wait for an idle server.
    let idle = grows(watched(640.0, &[("pool-*", 64)]));
    assert_eq!(phrases(&idle), ["memory grows", "none: idle pace"]);
}

/// An index that is mapped is read in while it is searched, and the kernel keeps as much of it as it has room for.
#[test]
fn what_is_mapped_from_files_is_no_growth_of_the_server() {
    let mib = |sizes: [u64; 3]| Some(sizes.map(|it| it << 20));
    let mut trial = full(1.2);
    trial.load.seconds = seconds(&FALLING);
    signals(&mut trial).rss_bytes = mib([220, 470, 720]);
    signals(&mut trial).anonymous_bytes = mib([20, 22, 24]);
    let told = explain(&trial).verdicts;
    assert!(told.iter().all(|it| it.kind != VerdictKind::MemoryGrowth), "{told:?}");
    // A heap that grows beside it is one.
    signals(&mut trial).anonymous_bytes = mib([20, 70, 120]);
    let told = first(&trial);
    assert_eq!(told.kind, VerdictKind::MemoryGrowth);
    let words =
        "memory that no file stands behind (heap, stacks) grew from 20 to 70 to 120 MiB over the window, ";
    assert!(told.evidence[0].starts_with(words), "{told:?}");
    // As it would be in a record that did not tell the two apart.
    signals(&mut trial).anonymous_bytes = None;
    assert!(first(&trial).evidence[0].starts_with("resident memory grew from 220 to 470 to 720 MiB"));
}

#[test]
fn what_the_evidence_does_not_decide_is_unexplained_in_that_word() {
    for trial in [at(300.0, &[("pool-*", 16)]), at(160.0, &[]), at(0.0, &[("pool-*", 16)])] {
        let verdict = first(&trial);
        assert_eq!((verdict.kind, verdict.phrase.as_str()), (VerdictKind::Unexplained, "unexplained"));
        assert_eq!(verdict.confirm, None);
    }
    // Without the server's CPU nothing is said of pool or box.
    let mut blind = at(160.0, &[("pool-*", 16)]);
    blind.server.cpu_cores = None;
    assert_eq!(kind(&blind), VerdictKind::Unexplained);
    // S₀ of a fast answer says nothing.
    let mut fast = at(160.0, &[("pool-*", 16)]);
    fast.contract.idle_service_time_us = 300.0;
    assert_eq!(kind(&fast), VerdictKind::Unexplained);
}

#[test]
fn what_could_not_be_read_is_said() {
    assert!(explain(&at(160.0, &[("pool-*", 16)])).not_known[0].contains("took no signals"));
    let mut trial = watched(160.0, &[("pool-*", 16)]);
    assert!(explain(&trial).not_known.is_empty());
    host(&mut trial).not_known = vec!["accept queues: not permitted".into()];
    assert_eq!(explain(&trial).not_known, ["accept queues: not permitted"]);
}
