//! Servers as others run them: in containers with a quota, before a database, beside a log. What is seen of them looks like a limit
//! that it is not, or is one that only looks like nothing.

use explain::{Confidence, Context, Verdict, VerdictKind};
use record::{JvmUse, Measured, Quota, Runtime, Upstream};

use crate::reasons::{explain, first, full, host, kind, signals, watched};
use crate::workers::{band, group, node, server};

/// 64 users of 64 threads at a rate that nothing explains: thirty have their turn at a time.
fn app() -> Measured {
    watched(300.0, &[("app-*", 64)])
}

/// A stack behind, which uses so many cores.
fn upstream(stack: &str, threads: u32, cpu_cores: Option<f64>) -> Upstream {
    let mut server = watched(300.0, &[("postgres", threads)]).server;
    server.cpu_cores = cpu_cores;
    Upstream { stack: stack.into(), server }
}

/// The same server in a group that may use `cores`, of which it uses `used`.
fn throttled(mut trial: Measured, used: f64, cores: f64, throttled_cores: f64) -> Measured {
    trial.server.cpu_cores = Some(used);
    signals(&mut trial).quota = Some(Quota { cores: Some(cores), throttled_cores });
    trial
}

fn kinds(trial: &Measured) -> Vec<VerdictKind> {
    explain(trial).verdicts.iter().map(|it| it.kind).collect()
}

/// Each request writes 25 kB, and some thread waits for a disk: one that writes behind all of them, as far as anybody knows.
#[test]
fn a_pool_that_is_sure_leads_writes_that_may_be_behind_it() {
    let mut trial = watched(160.0, &[("pool-*", 16)]);
    signals(&mut trial).disk_write_bytes_per_s = Some(4e6);
    for waited in [None, Some(0.06), Some(0.3), Some(0.7)] {
        signals(&mut trial).disk_wait_share = waited;
        let told = explain(&trial).verdicts;
        assert_eq!(
            (told[0].kind, told[0].confidence),
            (VerdictKind::PoolLimit, Confidence::Sure),
            "{told:?}"
        );
        assert_eq!(told[1].kind, VerdictKind::LogBound, "{waited:?}");
        assert_ne!(told[1].confidence, Confidence::Sure, "{waited:?}");
    }
    // Where it is a size alone that fits, what was waited for comes first.
    signals(&mut trial).groups[0].bands.clear();
    assert_eq!(kinds(&trial), [VerdictKind::LogBound, VerdictKind::PoolLimit]);
}

/// Answers take as long as those of an idle server, which collects nothing: collections go on meanwhile, and take nothing of the rate.
#[test]
fn collections_that_slow_nobody_down_do_not_lead_a_full_pool() {
    let mut trial = watched(160.0, &[("exec-*", 16)]);
    let jvm = JvmUse { gc_share: 0.12, heap_max_bytes: 48 << 20, ..JvmUse::default() };
    signals(&mut trial).jvm = Some(jvm);
    assert_eq!(kinds(&trial), [VerdictKind::PoolLimit, VerdictKind::GarbageCollection]);
    signals(&mut trial).jvm = Some(JvmUse { gc_share: 0.6, ..jvm });
    assert_eq!(kind(&trial), VerdictKind::GarbageCollection, "most of the time");
}

/// A thread that writes a log for all of them waits for its disk, and the cores are used up.
#[test]
fn a_log_behind_a_server_without_time_left_is_not_the_answer() {
    let mut trial = full(1.8);
    signals(&mut trial).disk_write_bytes_per_s = Some(4e8);
    signals(&mut trial).disk_wait_share = Some(0.6);
    let told = explain(&trial).verdicts;
    assert_eq!(told[0].kind, VerdictKind::CpuBound, "{told:?}");
    assert_eq!((told[1].kind, told[1].confidence), (VerdictKind::LogBound, Confidence::Possible), "{told:?}");
}

#[test]
fn a_database_that_waits_for_its_disk_is_named_and_one_that_only_writes_is_not() {
    let db = |waited| {
        let mut db = upstream("db", 20, Some(0.1));
        let signals = db.server.signals.as_mut().unwrap();
        (signals.disk_write_bytes_per_s, signals.disk_wait_share) = (Some(300.0 * 8192.0), Some(waited));
        db
    };
    let mut trial = app();
    trial.upstreams = vec![db(0.6)];
    let told = first(&trial);
    assert_eq!((told.phrase.as_str(), told.confidence), ("writes to a disk (db)", Confidence::Likely));
    trial.upstreams = vec![db(0.05)];
    assert_eq!(kind(&trial), VerdictKind::Unexplained);
    // Its checkpoints wait as well, and one thread in front of it has no time left.
    let mut busy = node(300.0, 0.97);
    busy.upstreams = vec![db(0.6)];
    assert_eq!(kinds(&busy), [VerdictKind::BlockedEventLoop, VerdictKind::LogBound]);
}

/// What a stack behind used is not known, and is not nothing: the cores may all be used up.
#[test]
fn cpu_time_that_nobody_saw_is_not_taken_for_none() {
    let mut trial = watched(160.0, &[("pool-*", 16)]);
    trial.upstreams = vec![upstream("db", 20, Some(0.1))];
    assert_eq!(kind(&trial), VerdictKind::PoolLimit);
    trial.upstreams = vec![upstream("db", 20, None)];
    // Nor for a CPU that is used up, which connections would cost.
    trial.load.connections.opened_in_window = Some(trial.load.outcomes.answered);
    let told = first(&trial);
    assert_eq!(told.kind, VerdictKind::Unexplained, "{told:?}");
    assert!(told.excluded.iter().all(|it| !it.starts_with("the CPU: ")), "{:?}", told.excluded);
}

/// `--cpus=1.5` on a machine of many cores: many threads use up a period's share at once, and stand still until the next.
#[test]
fn a_quota_that_bursts_use_up_is_named_though_some_is_left_on_average() {
    for used in [0.75, 0.9, 1.1] {
        let told = first(&throttled(app(), used, 1.5, 0.9));
        assert_eq!((told.kind, told.confidence), (VerdictKind::QuotaBound, Confidence::Likely), "{told:?}");
        assert_eq!(told.phrase, "CPU quota of 1.50 cores");
        assert!(told.evidence[1].contains("bursts use up what a period allows"), "{told:?}");
        // By Little's law 34 of 64 waited for something.
        assert!(told.accounts_for.is_some_and(|share| share <= 34.1 / 64.0), "{told:?}");
    }
    // What is held back now and then accounts for little.
    assert_eq!(kind(&throttled(app(), 0.9, 1.5, 0.06)), VerdictKind::Unexplained);
}

/// The kernel counts once for client and server of one container: neither is held back by a quota of its own.
#[test]
fn a_quota_that_client_and_server_use_up_in_bursts_is_not_the_clients() {
    let mut trial = throttled(app(), 0.8, 2.0, 0.9);
    trial.load.generator.cpu_s = 0.4 * 15.0;
    host(&mut trial).generator_throttled_cores = Some(0.89);
    let told = explain(&trial).verdicts;
    assert_eq!(told[0].phrase, "CPU quota of 2.00 cores (client and server)", "{told:?}");
    assert!(told.iter().all(|it| it.kind != VerdictKind::ClientBound), "{told:?}");
}

#[test]
fn a_quota_takes_nothing_of_a_rate_that_is_kept() {
    for used in [0.9, 1.25] {
        // Every user is answered as by an idle server.
        let idle = throttled(watched(640.0, &[("conn-*", 64)]), used, 1.5, 0.3);
        assert_eq!(kind(&idle), VerdictKind::IdlePace, "{used}");
        // A pool is full of requests that take as long as those of an idle server.
        let pool = throttled(watched(160.0, &[("pool-*", 16)]), used, 1.5, 0.3);
        let told = first(&pool);
        assert_eq!((told.kind, told.confidence), (VerdictKind::PoolLimit, Confidence::Sure), "{told:?}");
        // A rate that was asked for is kept.
        let mut open = throttled(watched(1_990.0, &[("pool-*", 196)]), used, 1.5, 0.5);
        (open.load.load.rate_per_s, open.load.load.connections) = (Some(2_000.0), 300);
        assert_eq!(kind(&open), VerdictKind::KeepsRate, "{used}");
        (open.load.throughput_per_s, open.load.goodput_per_s) = (1_500.0, 1_500.0);
        assert_eq!(kind(&open), VerdictKind::QuotaBound, "a quarter was missed");
    }
}

/// It keeps what it is given, as far as it has room.
#[test]
fn a_cache_behind_a_server_may_grow_and_is_not_the_answer() {
    let mut trial = watched(160.0, &[("pool-*", 16)]);
    let mut cache = upstream("cache", 20, Some(0.1));
    cache.server.signals.as_mut().unwrap().rss_bytes = Some([100_u64, 160, 220].map(|mib| mib << 20));
    trial.upstreams = vec![cache];
    let told = explain(&trial).verdicts;
    assert_eq!(told[0].kind, VerdictKind::PoolLimit, "{told:?}");
    let last = told.last().unwrap();
    assert_eq!((last.phrase.as_str(), last.confidence), ("memory grows (cache)", Confidence::Possible));
}

#[test]
fn what_is_plain_to_see_is_said_of_a_rate_that_is_not_explained() {
    let says = |trial: &Measured, words: &str| {
        let told = first(trial);
        assert_eq!(told.kind, VerdictKind::Unexplained, "{told:?}");
        told.evidence.iter().any(|it| it.contains(words))
    };
    let mut trial = app();
    let all = ["waited for a disk", "waited for memory", "SYNs were sent again"];
    for (waited, repeats, is_said) in [(0.05, 20, false), (0.4, 200, true)] {
        // It reads, and writes nothing.
        signals(&mut trial).disk_wait_share = Some(waited);
        host(&mut trial).pressure.insert("memory".into(), waited);
        host(&mut trial).network.insert("TCPSynRetrans".into(), repeats);
        for words in all {
            assert_eq!(says(&trial, words), is_said, "{words}");
        }
    }
    assert!(says(&trial, "one of its threads waited for a disk in 40 % of the time"));
}

/// A program that may use four of eight cores uses four: no thread of it has no time left, and cores are left.
#[test]
fn whole_cores_that_go_used_are_said() {
    let of = |rate: f64, cpu_cores: f64, runtime| -> Verdict {
        let trial = server(rate, vec![group("srv", Some(runtime), 2, &[band(8, 1, cpu_cores, 900.0)])]);
        explain::explain(&trial, &Context { cores: 8, ..Context::default() }).first().clone()
    };
    let is_said = |told: &Verdict| told.evidence.iter().any(|it| it.contains("a GOMAXPROCS of 4 allows"));
    for (rate, kind) in [(300.0, VerdictKind::LimitInside), (304.5, VerdictKind::Unexplained)] {
        let told = of(rate, 3.96, Runtime::Go);
        assert_eq!((told.kind, is_said(&told)), (kind, true), "{told:?}");
        for other in [of(rate, 3.5, Runtime::Go), of(rate, 3.96, Runtime::DotNet)] {
            assert!(!is_said(&other), "{other:?}");
        }
    }
}
