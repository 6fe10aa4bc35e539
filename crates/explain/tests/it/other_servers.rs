//! Servers as others run them: in containers with a quota, before a database, beside a log. What is seen of them looks like a limit
//! that it is not, or is one that only looks like nothing.

use explain::{Confidence, Context, Verdict, VerdictKind};
use record::{Asked, JvmUse, Measured, Quota, Runtime, Upstream};

use crate::reasons::{beside, explain, first, full, host, kind, seconds, signals, watched};
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

/// An access log of a line a request, on a server that reads its data from a disk, or is swapped in again: what it waits for is no log.
#[test]
fn who_waits_for_what_it_reads_does_not_wait_for_its_log() {
    let says = |told: &Verdict, words: &str| told.evidence.iter().any(|it| it.starts_with(words));
    let of = |written: f64, read: Option<f64>, memory: f64| {
        let mut trial = app();
        signals(&mut trial).disk_write_bytes_per_s = Some(written);
        signals(&mut trial).disk_read_bytes_per_s = read;
        signals(&mut trial).disk_wait_share = Some(0.7);
        host(&mut trial).pressure.insert("memory".into(), memory);
        first(&trial)
    };
    let log = 300.0 * 120.0;
    for read in [None, Some(0.0), Some(0.9 * log)] {
        let told = of(log, read, 0.0);
        assert_eq!((told.kind, told.confidence), (VerdictKind::LogBound, Confidence::Sure), "{told:?}");
    }
    let words =
        "5.0 MB/s were read from a disk, and 0.0 written: what waits for a disk may wait for what it reads";
    let told = of(log, Some(5e6), 0.0);
    assert_eq!((told.kind, says(&told, words)), (VerdictKind::Unexplained, true), "{told:?}");
    assert!(says(&told, "one of its threads waited for a disk in 70 % of the time"), "{told:?}");
    // Whoever writes much as well may wait for either.
    let told = of(4e6, Some(5e6), 0.0);
    assert_eq!((told.kind, told.confidence), (VerdictKind::LogBound, Confidence::Possible), "{told:?}");
    assert!(says(&told, "5.0 MB/s were read from a disk, and 4.0 written"), "{told:?}");
    // Where there is too little memory, and nobody looked at what was read.
    let told = of(log, None, 0.3);
    assert_eq!((told.kind, told.confidence), (VerdictKind::LogBound, Confidence::Likely), "{told:?}");
    assert!(says(&told, "some task waited for memory in 30 % of the time"), "{told:?}");
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

/// Node at `--cpus=1`: its one thread has all of it, and more threads would share the same core.
#[test]
fn a_thread_that_has_all_of_a_quota_is_not_told_to_share_its_work_on_the_same_core() {
    let of = |cpu_cores: f64, quota: f64, throttled_cores: f64| {
        let mut trial = throttled(node(5_000.0, cpu_cores), cpu_cores, quota, throttled_cores);
        trial.contract.idle_service_time_us = 200.0;
        trial.load.generator.cpu_s = 0.2 * 15.0;
        trial
    };
    let on_more = "give the server twice the cores and let more threads share its work; the rate should rise";
    let told = first(&of(0.98, 1.0, 0.01));
    assert_eq!((told.phrase.as_str(), told.confidence), ("CPU-bound", Confidence::Likely), "{told:?}");
    assert_eq!(
        told.evidence[0],
        "the servers used 0.98 of 1 cores that their CPU quota allows, 196 µs a request"
    );
    assert_eq!(told.confirm.unwrap().text, on_more);
    // Nothing was counted of either, which makes it no quota of both.
    let mut unthrottled = of(0.98, 1.0, 0.0);
    host(&mut unthrottled).generator_throttled_cores = Some(0.0);
    assert_eq!(first(&unthrottled).phrase, "CPU-bound");
    // Behind it stands somebody with other cores, so that it is the thread that is named.
    let mut front = of(0.97, 1.0, 0.01);
    front.upstreams = vec![upstream("db", 20, Some(0.1))];
    let told = first(&front);
    assert_eq!(told.phrase, "1 thread busy (node)", "{told:?}");
    assert!(told.evidence.iter().any(|it| it == "a CPU quota allows it 1.00 cores"), "{told:?}");
    assert_eq!(told.confirm.unwrap().text, on_more);
    // Of a core and a half others may use a half.
    let told = first(&of(0.97, 1.5, 0.01));
    assert_eq!(told.phrase, "1 thread busy (node)");
    assert!(told.confirm.unwrap().text.starts_with("let more threads share its work"), "{:?}", told.evidence);
    // Where it is the quota that holds it back, twice of that is of no use to one thread.
    let told = first(&of(0.98, 1.0, 0.9));
    assert_eq!(told.kind, VerdictKind::QuotaBound);
    assert!(told.confirm.unwrap().text.starts_with("double the quota and let more threads share its work"));
    let told = first(&of(0.5, 0.5, 0.9));
    assert!(told.confirm.unwrap().text.ends_with("the rate should double, as far as there are cores"));
}

/// Whom a quota of its own keeps from running is counted as waiting for a core, of which the machine has some left.
#[test]
fn what_a_quota_keeps_waiting_is_no_lack_of_the_machines_cores() {
    for (throttled_cores, is_boxed) in [(0.0, true), (1.4, false)] {
        let mut trial = throttled(full(0.92), 0.92, 1.05, throttled_cores);
        trial.load.generator.cpu_s = 0.55 * 15.0;
        signals(&mut trial).groups[0].wait_cores = 1.3;
        let told = kinds(&trial);
        assert_eq!(told.contains(&VerdictKind::BoxBound), is_boxed, "{throttled_cores}: {told:?}");
    }
}

/// A quota that holds threads back now and then is not what all of them wait for, on a machine that has too few cores for them.
#[test]
fn a_quota_that_hardly_throttles_hides_no_lack_of_the_machines_cores() {
    let of = |used: f64, client: f64, quota: f64, throttled_cores: f64, waiting: f64| {
        let mut trial = throttled(full(used), used, quota, throttled_cores);
        trial.load.generator.cpu_s = client * 15.0;
        signals(&mut trial).groups[0].wait_cores = waiting;
        kinds(&trial)
    };
    let both = [VerdictKind::BoxBound, VerdictKind::QuotaBound];
    // Sixteen threads for a sixteenth of the time may be one of the three that waited, and no more.
    assert_eq!(of(0.92, 0.55, 1.5, 0.06, 3.0), both);
    // And all three, where it is a third of the time.
    assert_eq!(of(0.92, 0.55, 1.5, 0.3, 3.0)[0], VerdictKind::QuotaBound);
    // Without it they would have had a fortieth of the machine more.
    assert_eq!(of(1.3, 0.65, 1.8, 0.4, 0.0), both);
}

/// A virtual machine of two cores, and a hypervisor that took a twelfth of them: of what client and server did not use.
#[test]
fn what_a_hypervisor_took_is_no_cpu_that_is_left() {
    let pool = |steal| {
        let mut trial = watched(160.0, &[("pool-*", 16)]);
        trial.server.cpu_cores = Some(1.25);
        host(&mut trial).steal_share = steal;
        let told = first(&trial);
        assert_eq!(told.kind, VerdictKind::PoolLimit, "{told:?}");
        (told.confidence, told.excluded.iter().any(|it| it.starts_with("the CPU: ")))
    };
    assert_eq!(pool(None), (Confidence::Sure, true));
    assert_eq!(pool(Some(0.001)), (Confidence::Sure, true), "that is none");
    assert_eq!(pool(Some(0.08)), (Confidence::Likely, false));
    // 1.45 cores were used, and threads waited for four tenths of one, while it took nearly two.
    let mut trial = full(1.1);
    trial.load.generator.cpu_s = 0.35 * 15.0;
    signals(&mut trial).groups[0].wait_cores = 0.4;
    assert_eq!(kind(&trial), VerdictKind::Unexplained);
    host(&mut trial).steal_share = Some(0.09);
    assert_eq!(kind(&trial), VerdictKind::BoxBound);
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

/// The same beside others who use what the machine has left: the quota is what is waited for, and none of theirs.
#[test]
fn others_take_nothing_of_a_quota_of_the_servers_own_while_cores_are_left() {
    for (others, is_noise) in [(0.5, false), (1.4, true)] {
        let mut trial = beside(throttled(app(), 0.5, 0.5, 2.0), others);
        signals(&mut trial).groups[0].wait_cores = 20.0;
        let told = kinds(&trial);
        assert_eq!(told[0], VerdictKind::QuotaBound, "{told:?}");
        assert_eq!(told.contains(&VerdictKind::NoisyHost), is_noise, "{others}: {told:?}");
    }
}

/// A proxy that ends TLS before the service, in one pod with it: the cores are used up, and most of them by the proxy.
#[test]
fn whose_threads_used_the_cores_up_is_said() {
    let said = |trial: &Measured| {
        let told = first(trial);
        assert_eq!(told.kind, VerdictKind::CpuBound, "{told:?}");
        told.evidence.into_iter().find(|it| it.starts_with("cores by groups of threads: "))
    };
    let mut trial = full(1.8);
    assert_eq!(said(&trial), None, "there is one group");
    let groups = [("exec-*", 0.39), ("wrk:worker_*", 1.4), ("timer", 0.001)];
    signals(&mut trial).groups =
        groups.map(|(name, cores)| group(name, None, 0, &[band(4, 1, cores, 50_000.0)])).to_vec();
    trial.upstreams = vec![upstream("db", 20, Some(0.1))];
    let words = "cores by groups of threads: `wrk:worker_*` 1.40, `exec-*` 0.39, `postgres of db` 0.20";
    assert_eq!(said(&trial).as_deref(), Some(words));
}

/// As nginx does it whose upstream's queue is full, or which has no port left to connect from.
#[test]
fn what_a_gateway_says_of_whom_it_asks_is_said() {
    for (status, count, is_of_gateway) in
        [("502", 10_000, true), ("504", 5_000, true), ("502", 4_999, false), ("503", 10_000, false)]
    {
        let mut trial = app();
        let good = trial.load.outcomes.answered - 10_000;
        trial.load.answered_as_expected = good;
        let statuses = [("200", good), (status, count), ("500", 10_000 - count)];
        trial.load.statuses = statuses.map(|(status, count)| (status.to_owned(), count)).into();
        let told = first(&trial);
        assert_eq!(told.kind, VerdictKind::IncorrectService, "{told:?}");
        let is_said = told.evidence.iter().any(|it| it.starts_with("502 and 504 are what a gateway says"));
        assert_eq!(is_said, is_of_gateway, "{status} {count}");
    }
}

/// A gateway that refuses at once makes a rate that nobody was at work for.
#[test]
fn requests_that_fail_fill_no_pool_for_sure() {
    let of = |good_per_s: f64| {
        let mut trial = watched(160.0, &[("pool-*", 16)]);
        trial.load.goodput_per_s = good_per_s;
        first(&trial)
    };
    for (good_per_s, confidence) in [(152.5, Confidence::Sure), (150.0, Confidence::Possible)] {
        let told = of(good_per_s);
        assert_eq!((told.kind, told.confidence), (VerdictKind::PoolLimit, confidence), "{told:?}");
    }
    let told = of(16.0);
    assert_eq!(told.kind, VerdictKind::Unexplained, "{told:?}");
    let words = "X·S₀ = 160.0/s × 100.0 ms = 16.0 (1.6 to 16.0): how long the server worked for the 90 % of requests that failed is \
                 not known, and so not how many had their turn at a time";
    assert!(told.evidence.iter().any(|it| it == words), "{told:?}");
}

/// A pool of .NET whose threads all wait gets one or two more a second, and the rate rises with them.
#[test]
fn threads_that_become_more_are_said_beside_a_rate_that_rises_and_one_that_is_not_explained() {
    let said = |rates: &[f64], threads: [u32; 3]| {
        let mut trial = app();
        trial.load.seconds = seconds(rates);
        signals(&mut trial).threads = Some(threads);
        let told = first(&trial);
        let words = told.evidence.into_iter().find(|it| it.starts_with("its threads grew from "));
        (told.phrase, words.map(|it| it.split(',').next().unwrap_or_default().to_owned()))
    };
    let rises = [100.0, 120.0, 140.0, 170.0, 200.0, 230.0];
    let words = Some("its threads grew from 20 to 28 to 36 over the window".to_owned());
    assert_eq!(said(&rises, [20, 28, 36]), ("not steady (warming up)".to_owned(), words.clone()));
    assert_eq!(said(&[], [20, 28, 36]), ("unexplained".to_owned(), words));
    for few in [[20, 22, 24], [20, 20, 36], [20, 36, 36]] {
        assert_eq!(said(&rises, few).1, None, "{few:?}");
    }
    // A server that slows down does not do so for want of threads.
    let falls: Vec<f64> = rises.iter().rev().copied().collect();
    assert_eq!(said(&falls, [20, 28, 36]), ("not steady (slowing down)".to_owned(), None));
}

/// Of two cores one and a half were used, and nobody waited for one: the CPU is not named, and not ruled out.
#[test]
fn cores_that_may_have_been_too_few_are_said() {
    for (client_cores, said) in
        [(0.1, None), (0.3, Some("75 % of the cores that there were for it were used"))]
    {
        let mut trial = full(1.2);
        trial.load.generator.cpu_s = client_cores * 15.0;
        let told = first(&trial);
        assert_eq!(told.kind, VerdictKind::Unexplained, "{told:?}");
        let found = told.evidence.iter().find(|it| it.contains("of the cores that there were"));
        assert_eq!(found.and_then(|it| it.split(':').next()), said);
    }
}

fn asks(trial: &mut Measured, all: &[(&str, u32)]) {
    let asked = |(at, connections): &(&str, u32)| Asked { at: (*at).into(), connections: *connections };
    signals(trial).asks = all.iter().map(asked).collect();
}

/// A database that nobody declared runs beside its server, which waits for cores meanwhile.
#[test]
fn whom_the_server_asks_may_be_the_others_and_is_said_beside_the_noise() {
    let mut trial = beside(full(0.55), 1.0);
    trial.load.generator.cpu_s = 0.4 * 15.0;
    signals(&mut trial).groups[0].wait_cores = 15.0;
    let idle = "measure again when the machine is idle";
    // Nobody is asked, or somebody whose address is none of this machine's.
    let nobody_near: [&[(&str, u32)]; 2] = [&[], &[("203.0.113.9:443", 4)]];
    for all in nobody_near {
        asks(&mut trial, all);
        let told = first(&trial);
        assert_eq!((told.kind, told.confidence), (VerdictKind::NoisyHost, Confidence::Sure), "{told:?}");
        assert_eq!(told.confirm.unwrap().text, idle);
    }
    asks(&mut trial, &[("127.0.0.1:5432", 10), ("203.0.113.9:443", 4), ("172.17.0.3:6379", 1)]);
    let told = first(&trial);
    assert_eq!((told.kind, told.confidence), (VerdictKind::NoisyHost, Confidence::Likely), "{told:?}");
    let said = |at: &str| {
        format!(
            "the server held {at}, which is no stack of the run: if that is on this machine, what it used is counted among the \
             others"
        )
    };
    assert_eq!(
        told.evidence[1..3],
        [said("10 connections to 127.0.0.1:5432"), said("1 connection to 172.17.0.3:6379")]
    );
    assert!(told.confirm.unwrap().text.starts_with("declare whom the server asks (`upstream`)"));
    // Where the hypervisor took it, nobody else did.
    (host(&mut trial).others_cores, host(&mut trial).steal_share) = (Some(0.02), Some(0.5));
    let told = first(&trial);
    assert_eq!((told.kind, told.confidence), (VerdictKind::NoisyHost, Confidence::Sure), "{told:?}");
    // As of a rented machine whose credits are used up, which is no faster when it is idle.
    let change = told.confirm.unwrap().text;
    assert!(change.starts_with("measure again while the hypervisor gives all of the CPU"), "{change}");
}

/// Fifteen of the sixteen threads wait for the row that one of them has locked, in a database.
#[test]
fn who_lets_one_in_at_a_time_may_be_behind_the_server() {
    let of = |trial: &Measured| {
        let told = first(trial);
        assert_eq!(told.phrase, "one at a time (a lock)", "{told:?}");
        let words = "what lets so few in may be there as well";
        (told.confidence, told.evidence.into_iter().find(|it| it.contains(words)))
    };
    let mut trial = watched(10.0, &[("pool-*", 16)]);
    assert_eq!(of(&trial), (Confidence::Likely, None));
    asks(&mut trial, &[("10.0.0.7:5432", 16)]);
    let there = "the server held 16 connections to 10.0.0.7:5432, which is no stack of the run and was not watched: what lets so \
                 few in may be there as well (the lock of a row, a thread, a pool)";
    assert_eq!(of(&trial), (Confidence::Possible, Some(there.to_owned())));
    // It computes under the lock itself.
    trial.server.cpu_cores = Some(0.6);
    assert_eq!(of(&trial), (Confidence::Likely, None));
    let mut declared = watched(10.0, &[("pool-*", 16)]);
    declared.upstreams = vec![upstream("db", 20, Some(0.1))];
    let there = "db stands behind it: what lets so few in may be there as well";
    assert_eq!(of(&declared), (Confidence::Possible, Some(there.to_owned())));
}

/// What an undeclared database uses of the machine is not left, whatever the server and its client use.
#[test]
fn a_cpu_that_others_use_up_is_not_ruled_out() {
    for (others, is_ruled_out) in [(0.02, true), (0.9, true), (1.5, false)] {
        let told = first(&beside(watched(160.0, &[("pool-*", 16)]), others));
        assert_eq!(told.kind, VerdictKind::PoolLimit, "{told:?}");
        let says_so = told.excluded.iter().any(|it| it.starts_with("the CPU: "));
        assert_eq!(says_so, is_ruled_out, "{others}: {:?}", told.excluded);
    }
}

#[test]
fn a_database_that_nobody_declared_is_said_beside_a_rate_that_is_not_explained() {
    let mut trial = app();
    asks(&mut trial, &[("10.0.0.7:5432", 20)]);
    let told = first(&trial);
    assert_eq!(told.kind, VerdictKind::Unexplained);
    let said = "the server held 20 connections to 10.0.0.7:5432, which is no stack of the run and was not watched: declare it \
                (`upstream`) to see whether it waits there";
    assert!(told.evidence.iter().any(|it| it == said), "{told:?}");
}

/// Ten connections in a pool (Hikari's number), and a program whose threads are others.
#[test]
fn connections_in_the_number_of_a_limit_are_beside_it() {
    let of = |connections| {
        let mut trial = server(100.0, vec![group("srv", Some(Runtime::Go), 2, &[band(4, 1, 0.1, 300.0)])]);
        asks(&mut trial, &[("127.0.0.1:5432", connections)]);
        first(&trial)
    };
    for (connections, is_said, confidence) in
        [(10, true, Confidence::Likely), (12, false, Confidence::Possible)]
    {
        let told = of(connections);
        assert_eq!(told.phrase, "about 10 at a time (a limit inside)");
        assert_eq!(told.confidence, confidence, "the other ten may be there: {told:?}");
        let words = "the server held 10 connections to 127.0.0.1:5432: a pool of connections has that number";
        assert_eq!(told.evidence.iter().any(|it| it == words), is_said, "{told:?}");
    }
    // Threads in the same number may be what there are too few of as well.
    let mut pool = watched(160.0, &[("pool-*", 16)]);
    for (connections, confidence) in [(16, Confidence::Likely), (20, Confidence::Sure)] {
        asks(&mut pool, &[("127.0.0.1:5432", connections)]);
        let told = first(&pool);
        assert_eq!((told.kind, told.confidence), (VerdictKind::PoolLimit, confidence), "{told:?}");
    }
}
