//! Who works, and what no thread stands for: each planted by figures, in several sizes, and beside what only looks like it.

use explain::{Confidence, VerdictKind};
use record::{
    AcceptQueue, FastTimes, Held, IdleAnswers, JvmUse, Measured, Quota, Runtime, ThreadBand, ThreadGroupUse,
};

use crate::reasons::{beside, dropped, explain, first, full, host, kind, phrases, seconds, signals, watched};

/// A band of threads, each in so many processes, that use so much CPU and are given one so often, together.
pub(crate) const fn band(threads: u32, processes: u32, cpu_cores: f64, switches_per_s: f64) -> ThreadBand {
    ThreadBand { threads, processes, cpu_cores, switches_per_s }
}

/// A group of these bands, and of so many threads that did nothing.
pub(crate) fn group(name: &str, runtime: Option<Runtime>, idle: u32, bands: &[ThreadBand]) -> ThreadGroupUse {
    let active: u32 = bands.iter().map(|it| it.threads).sum();
    let cpu_of = |it: &ThreadBand| it.cpu_cores / f64::from(it.threads);
    ThreadGroupUse {
        name: name.into(),
        threads: active + idle,
        active,
        cpu_cores: bands.iter().map(|it| it.cpu_cores).sum(),
        busiest_cores: bands.iter().map(cpu_of).fold(0.0, f64::max),
        busiest_wait_cores: Some(0.0),
        switches_per_s: bands.iter().map(|it| it.switches_per_s).sum(),
        bands: bands.to_vec(),
        runtime,
        ..ThreadGroupUse::default()
    }
}

/// 64 users at `rate`, 100 ms an idle answer, on a server of these groups whose rate is even.
pub(crate) fn server(rate: f64, groups: Vec<ThreadGroupUse>) -> Measured {
    let mut trial = watched(rate, &[]);
    trial.server.cpu_cores = Some(groups.iter().map(|it| it.cpu_cores).sum());
    let signals = signals(&mut trial);
    signals.groups = groups;
    signals.connections = Some(all(64));
    even(&mut trial, rate);
    trial
}

pub(crate) fn even(trial: &mut Measured, rate: f64) {
    trial.load.seconds = seconds(&[rate, rate * 1.004, rate * 0.998, rate, rate * 1.002]);
}

pub(crate) fn all(count: u32) -> Held {
    Held { mean: f64::from(count), max: count, readings: 20 }
}

/// Node: a thread that does the work, four that help its engine, and two that wait for files.
pub(crate) fn node(rate: f64, cpu_cores: f64) -> Measured {
    let bands = [band(1, 1, cpu_cores * 0.98, 2.0 * rate), band(4, 1, cpu_cores * 0.02, 2.0 * rate)];
    server(rate, vec![group("node", Some(Runtime::JavaScript), 2, &bands)])
}

/// A pre-fork server of `workers` processes, and a parent of the same name.
fn prefork(rate: f64, workers: u32) -> Measured {
    let bands = [band(workers, workers, 0.05, 2.0 * rate), band(1, 1, 0.000_1, 1.0)];
    let mut trial = server(rate, vec![group("gunicorn", Some(Runtime::Python), 0, &bands)]);
    signals(&mut trial).connections = Some(all(workers));
    signals(&mut trial).unread = Some(all(64 - workers));
    trial
}

#[test]
fn a_heap_that_is_let_grow_is_told_beside_the_answer_and_is_not_the_answer() {
    let growing = Some([60_u64, 110, 160].map(|mib| mib << 20));
    let mut trial = node(5_000.0, 0.97);
    trial.contract.idle_service_time_us = 200.0;
    trial.load.generator.cpu_s = 0.2 * 15.0;
    signals(&mut trial).rss_bytes = growing;
    let told = explain(&trial).verdicts;
    assert_eq!(told[0].kind, VerdictKind::BlockedEventLoop);
    let last = told.last().unwrap();
    assert_eq!((last.kind, last.confidence), (VerdictKind::MemoryGrowth, Confidence::Possible));
    assert!(last.evidence.iter().any(|it| it.contains("may let its heap grow")), "{:?}", last.evidence);
    for runtime in [Runtime::DotNet, Runtime::Ruby] {
        for group in &mut signals(&mut trial).groups {
            group.runtime = Some(runtime);
        }
        assert_eq!(kind(&trial), VerdictKind::BlockedEventLoop, "{runtime:?}");
    }
    // Memory of a runtime that keeps no garbage for long grows with what the program holds; what holds the server back is something
    // else all the same.
    let may_be_let_grow = |trial: &Measured| {
        let told = explain(trial).verdicts;
        assert_ne!(told[0].kind, VerdictKind::MemoryGrowth, "{told:?}");
        let last = told.last().unwrap();
        assert_eq!((last.kind, last.confidence), (VerdictKind::MemoryGrowth, Confidence::Possible));
        last.evidence.iter().any(|it| it.contains("may let its heap grow"))
    };
    assert!(may_be_let_grow(&trial));
    for runtime in [Some(Runtime::Go), Some(Runtime::Python), Some(Runtime::Other), None] {
        for group in &mut signals(&mut trial).groups {
            group.runtime = runtime;
        }
        assert!(!may_be_let_grow(&trial), "{runtime:?}");
    }
    // Go collects its heap once it is twice what was in use, and a window may be a part of one cycle.
    for group in &mut signals(&mut trial).groups {
        group.runtime = Some(Runtime::Go);
    }
    for (end, is_within_a_cycle) in [(200, true), (201, false)] {
        signals(&mut trial).anonymous_bytes = Some([100_u64, 150, end].map(|mib| mib << 20));
        assert_eq!(may_be_let_grow(&trial), is_within_a_cycle, "{end}");
    }
}

#[test]
fn one_busy_thread_of_seven_is_a_blocked_loop_whoever_its_siblings_are() {
    for busy in [0.97, 0.9] {
        let mut trial = node(5_000.0, busy);
        trial.contract.idle_service_time_us = 200.0;
        trial.load.generator.cpu_s = 0.2 * 15.0;
        let verdict = first(&trial);
        assert_eq!(
            (verdict.kind, verdict.phrase.as_str()),
            (VerdictKind::BlockedEventLoop, "1 thread busy (node)")
        );
        assert!(verdict.evidence[0].starts_with("one of the 7 threads `node` was busy for "), "{verdict:?}");
        assert!(verdict.evidence[1].starts_with("all others of that name together for 2 %"), "{verdict:?}");
        assert!(verdict.evidence.iter().any(|it| it == "its process runs JavaScript, on one thread"));
        assert!(
            verdict.evidence.iter().any(|it| it.contains("that of JavaScript can't be seen from outside"))
        );
    }
    // One that has half of its time left is none.
    let mut trial = node(5_000.0, 0.6);
    trial.contract.idle_service_time_us = 200.0;
    assert_ne!(kind(&trial), VerdictKind::BlockedEventLoop);
    assert_ne!(kind(&trial), VerdictKind::SerialSection);
}

/// JavaScript that reads whatever came, and then computes: those who have been read wait for that thread, and for no lock.
#[test]
fn a_loop_without_time_left_that_has_read_its_requests_is_busy_and_not_locked() {
    let of = |busy: f64| {
        let mut trial = node(1_000.0, busy);
        trial.contract.idle_service_time_us = 1_000.0;
        signals(&mut trial).unread = Some(all(1));
        first(&trial)
    };
    let told = of(0.97);
    assert_eq!(
        (told.phrase.as_str(), told.confidence),
        ("1 thread busy (node)", Confidence::Likely),
        "{told:?}"
    );
    assert_eq!(of(0.5).phrase, "one at a time (a lock)", "it has half of its time left");
}

/// The threads of a JVM of JDK 8 are all called as its launcher is, where no thread dump tells their names.
#[test]
fn a_busy_thread_of_a_jvm_that_names_none_may_be_its_own() {
    let of = |others: &str| {
        let jvm = |name: &str, cores: f64| group(name, Some(Runtime::Jvm), 20, &[band(1, 1, cores, 9_000.0)]);
        let mut trial = server(5_000.0, vec![jvm("java", 0.95), jvm(others, 0.001)]);
        trial.contract.idle_service_time_us = 300.0;
        let told = of_cores(&trial, 4);
        assert_eq!(told.phrase, "1 thread busy (java)", "{told:?}");
        let is_said = told.evidence.iter().any(|it| it.starts_with("the threads of this JVM have no names"));
        (told.confidence, is_said)
    };
    assert_eq!(of("process reaper"), (Confidence::Possible, true));
    assert_eq!(of("GC Thread#*"), (Confidence::Likely, false));
}

/// A lock that a Go program computes under is often on one thread throughout. Others read meanwhile, and could compute.
#[test]
fn a_busy_thread_of_go_whose_others_have_read_the_requests_is_a_lock() {
    let bands = [band(1, 1, 0.99, 3.0), band(3, 1, 0.02, 900.0)];
    let of = |runtime, unread| {
        let mut trial = server(320.0, vec![group("srv", Some(runtime), 1, &bands)]);
        trial.contract.idle_service_time_us = 3_100.0;
        signals(&mut trial).unread = unread;
        first(&trial)
    };
    let told = of(Runtime::Go, Some(all(0)));
    assert_eq!((told.kind, told.phrase.as_str()), (VerdictKind::SerialSection, "one at a time (a lock)"));
    assert!(told.evidence.iter().any(|it| it.contains("0.0 of 64 connections held a request")), "{told:?}");
    // Who leaves them unread is busy with one, whatever runs it; and who is not Go may have a thread for what is computed.
    for (runtime, unread) in [(Runtime::Go, Some(all(60))), (Runtime::Go, None), (Runtime::Jvm, Some(all(0)))]
    {
        assert_eq!(of(runtime, unread).kind, VerdictKind::BlockedEventLoop, "{runtime:?}, {unread:?}");
    }
}

fn of_cores(trial: &Measured, cores: usize) -> explain::Verdict {
    let context = explain::Context { cores, ..explain::Context::default() };
    explain::explain(trial, &context).first().clone()
}

/// As many as there are worker processes have no time left, and cores are left that they can't use.
#[test]
fn busy_threads_are_counted() {
    for workers in [4_u32, 3] {
        let busy = band(workers, workers, 0.95 * f64::from(workers), 20_000.0);
        let nginx = group("nginx", None, 0, &[busy, band(1, 1, 0.000_1, 1.0)]);
        let mut trial = server(60_000.0, vec![nginx]);
        trial.contract.idle_service_time_us = 200.0;
        let told = of_cores(&trial, 8);
        assert_eq!(
            (told.kind, told.phrase),
            (VerdictKind::BlockedEventLoop, format!("{workers} threads busy (nginx)"))
        );
        let all = workers + 1;
        let text = format!("{workers} of the {all} threads `nginx` were busy for 95 % of a core each");
        assert_eq!(told.evidence[0], text);
    }
}

/// One that gathers figures or writes a log beside eight that serve looks like one that hands them their work.
#[test]
fn a_busy_thread_beside_others_who_ran_as_much_may_be_waited_for_by_nobody() {
    let of = |unread: u32, others: f64| {
        let busy = group("stats", None, 0, &[band(1, 1, 0.97, 9_000.0)]);
        let workers = group("worker-*", None, 0, &[band(8, 1, others, 9_000.0)]);
        let mut trial = server(5_000.0, vec![busy, workers]);
        trial.contract.idle_service_time_us = 300.0;
        signals(&mut trial).unread = Some(all(unread));
        let told = of_cores(&trial, 8);
        assert_eq!(told.phrase, "1 thread busy (stats)", "{told:?}");
        let is_said = told.evidence.iter().any(|it| it.starts_with("other threads of the server ran for "));
        (told.confidence, is_said)
    };
    assert_eq!(of(0, 2.0), (Confidence::Possible, true));
    assert_eq!(of(60, 2.0), (Confidence::Likely, false), "it reads, and has no time for it");
    assert_eq!(of(0, 0.5), (Confidence::Likely, false));
    // Threads of Go run whatever is ready, and one of them is always the busiest.
    let bands = [band(1, 1, 0.9, 9_000.0), band(7, 1, 4.2, 9_000.0)];
    let mut trial = server(5_000.0, vec![group("srv", Some(Runtime::Go), 0, &bands)]);
    trial.contract.idle_service_time_us = 2_000.0;
    signals(&mut trial).unread = Some(all(0));
    assert_eq!(of_cores(&trial, 8).kind, VerdictKind::Unexplained);
}

/// A collector's threads serve no connection, however busy they are: with ZGC and Shenandoah they run beside the program's.
#[test]
fn a_busy_collector_is_no_event_loop() {
    for name in ["ZWorker#*", "Shenandoah GC T"] {
        let of = |event_loop: f64| {
            let collector = group(name, Some(Runtime::Jvm), 0, &[band(1, 1, 0.97, 50.0)]);
            let busy = group("event-loop", Some(Runtime::Jvm), 0, &[band(1, 1, event_loop, 9_000.0)]);
            let mut trial = server(5_000.0, vec![collector, busy]);
            trial.contract.idle_service_time_us = 200.0;
            of_cores(&trial, 4)
        };
        assert_eq!(of(0.9).phrase, "1 thread busy (event-loop)");
        assert_ne!(of(0.5).kind, VerdictKind::BlockedEventLoop);
    }
}

/// Whoever else uses the cores takes them away in the middle of a request, again and again.
#[test]
fn switches_are_contention_only_where_nobody_else_causes_them() {
    let bands = [band(8, 1, 0.7, 300.0 * 8.0)];
    let mut alone = server(300.0, vec![group("srv", Some(Runtime::Jvm), 0, &bands)]);
    alone.contract.idle_service_time_us = 55_000.0;
    alone.load.seconds = seconds(&[300.0, 340.0, 265.0, 330.0, 265.0]);
    assert_eq!(kind(&alone), VerdictKind::Contention);
    assert_eq!(of_cores(&alone, 16).kind, VerdictKind::Contention, "a lock leaves most of many cores idle");
    assert_ne!(kind(&beside(alone, 0.9)), VerdictKind::Contention);
    // Who computes for a tenth of a second is switched at the end of each slice.
    let mut slices = server(6.0, vec![group("srv", Some(Runtime::Jvm), 0, &[band(8, 1, 0.7, 150.0)])]);
    slices.load.seconds = seconds(&[6.0, 6.8, 5.3, 6.6, 5.3]);
    assert_eq!(kind(&slices), VerdictKind::Unexplained);
}

#[test]
fn a_busy_thread_that_others_keep_waiting_is_busy_all_the_same() {
    let mut trial = beside(node(5_000.0, 0.75), 0.3);
    trial.contract.idle_service_time_us = 200.0;
    let did = &mut signals(&mut trial).groups[0];
    (did.wait_cores, did.busiest_wait_cores) = (0.2, Some(0.18));
    assert_eq!(kind(&trial), VerdictKind::BlockedEventLoop);
    signals(&mut trial).groups[0].busiest_wait_cores = Some(0.02);
    assert_ne!(kind(&trial), VerdictKind::BlockedEventLoop, "its siblings waited");
}

/// The kernel counts as waiting for a core what a quota keeps from running, too: of a machine that has cores left, it was that.
#[test]
fn a_thread_that_a_quota_keeps_waiting_is_not_busy_by_that() {
    let mut trial = beside(node(5_000.0, 0.75), 5.0);
    trial.contract.idle_service_time_us = 200.0;
    let did = &mut signals(&mut trial).groups[0];
    (did.wait_cores, did.busiest_wait_cores) = (0.2, Some(0.18));
    host(&mut trial).cores = 16;
    assert_ne!(kind(&trial), VerdictKind::BlockedEventLoop);
    assert_eq!(kind(&beside(trial, 14.0)), VerdictKind::BlockedEventLoop);
}

/// Node's loop waited for a core for half of the time. That its idle siblings share its name makes it no less.
#[test]
fn what_one_thread_lost_is_not_shared_among_its_siblings() {
    for (busy, waited) in [(0.5, 0.46), (0.45, 0.5)] {
        let mut trial = beside(node(5_000.0, busy), 1.0);
        trial.contract.idle_service_time_us = 200.0;
        let did = &mut signals(&mut trial).groups[0];
        (did.wait_cores, did.busiest_wait_cores) = (waited + 0.01, Some(waited));
        let told = first(&trial);
        assert_eq!(told.kind, VerdictKind::NoisyHost, "{told:?}");
        assert!(told.evidence.iter().any(|it| it.starts_with("`node`, with no time left")), "{told:?}");
        // Its helpers waited, and it did not.
        signals(&mut trial).groups[0].busiest_wait_cores = Some(0.01);
        assert_ne!(kind(&trial), VerdictKind::NoisyHost);
    }
}

#[test]
fn a_loop_that_sleeps_leaves_requests_unread_and_a_lock_inside_does_not() {
    for (idle_ms, rate) in [(20.0, 50.0), (5.0, 199.0)] {
        let mut trial = node(rate, 0.05);
        trial.contract.idle_service_time_us = idle_ms * 1e3;
        // Nobody looked.
        let told = first(&trial);
        assert_eq!(
            (told.kind, told.confidence),
            (VerdictKind::BlockedEventLoop, Confidence::Likely),
            "{told:?}"
        );
        // All but one wait to be read, or half of them, where it reads all that came and serves it then.
        for unread in [63, 31] {
            signals(&mut trial).unread = Some(all(unread));
            let told = first(&trial);
            assert_eq!(
                (told.kind, told.confidence),
                (VerdictKind::BlockedEventLoop, Confidence::Sure),
                "{told:?}"
            );
        }
        signals(&mut trial).unread = Some(all(1));
        let told = first(&trial);
        assert_eq!((told.kind, told.phrase.as_str()), (VerdictKind::SerialSection, "one at a time (a lock)"));
        assert!(
            told.evidence[0].contains("1.0 of 64 connections held a request that was not read"),
            "{told:?}"
        );
    }
}

#[test]
fn a_limit_inside_is_named_and_not_the_threads_of_that_number() {
    // Seven threads are called `node`, and seven requests at a time have their turn.
    for k in [7_u32, 6, 13] {
        let told = first(&node(f64::from(k) * 10.0, 0.05));
        assert_eq!((told.kind, told.confidence), (VerdictKind::LimitInside, Confidence::Likely), "{told:?}");
        assert_eq!(told.phrase, format!("about {k} at a time (a limit inside)"));
        assert!(
            told.evidence[1].contains(&format!("no group of threads or processes has {k}: `node` 1 thread"))
        );
    }
    // Goroutines, whatever carries them; threads of which there are more; processes that have read what waits.
    let go = |rate| {
        let bands = [band(8, 1, 0.1, 3.0 * rate)];
        server(rate, vec![group("srv", Some(Runtime::Go), 0, &bands)])
    };
    assert_eq!(kind(&go(80.0)), VerdictKind::LimitInside);
    let threads = |rate| server(rate, vec![group("worker-*", None, 0, &[band(64, 1, 0.1, 3.0 * rate)])]);
    assert_eq!(kind(&threads(80.0)), VerdictKind::LimitInside);
    assert_eq!(kind(&threads(250.0)), VerdictKind::LimitInside);
    let mut read_ahead = prefork(30.0, 3);
    signals(&mut read_ahead).unread = Some(all(2));
    assert_eq!(kind(&read_ahead), VerdictKind::LimitInside);
    // A collector's thread that is busy has no part in it; one of the program's may have.
    let beside_busy = |name: &str| {
        let busy = group(name, Some(Runtime::Jvm), 0, &[band(1, 1, 0.72, 50.0)]);
        server(80.0, vec![busy, group("worker-*", Some(Runtime::Jvm), 0, &[band(64, 1, 0.1, 240.0)])])
    };
    assert_eq!(kind(&beside_busy("ZDriverMinor")), VerdictKind::LimitInside);
    assert_ne!(kind(&beside_busy("program")), VerdictKind::LimitInside);
}

/// Node looks names up and reads files on four threads, which wait, and has four that help its engine: either are given a CPU as often as
/// there are requests and use hardly any of it.
#[test]
fn a_limit_inside_is_not_told_from_threads_that_may_have_its_number() {
    let said = |trial: &Measured, words: &str| {
        let told = first(trial);
        assert_eq!(told.kind, VerdictKind::LimitInside, "{told:?}");
        assert_eq!(told.confidence, Confidence::Possible, "{told:?}");
        assert_eq!(told.evidence[1], words, "{told:?}");
    };
    let too = "4 threads `node` run for the requests, too, however little: that number may be theirs";
    said(&node(40.0, 0.05), too);
    // A thread of another name takes part.
    let workers = |count| group("worker-*", None, 0, &[band(count, 1, 0.1, 240.0)]);
    let main = || group("srv", None, 0, &[band(1, 1, 0.1, 240.0)]);
    said(
        &server(80.0, vec![main(), workers(7)]),
        "8 threads of 2 names work, all together: that number may be theirs",
    );
    // Workers that are replaced after so many requests are in no band.
    let mut replaced = workers(5);
    replaced.active = 9;
    said(
        &server(80.0, vec![replaced]),
        "threads `worker-*` ended meanwhile: how many there were at a time is not known",
    );
    let told = first(&server(80.0, vec![main(), workers(6)]));
    assert_eq!((told.kind, told.confidence), (VerdictKind::LimitInside, Confidence::Likely), "{told:?}");
}

/// Six are let in together and are done together, 150 ms later: there are six or seven such batches in a second.
#[test]
fn batches_are_counted_unevenly_and_are_even_all_the_same() {
    for (idle_ms, k, batches) in
        [(150.0, 6.0, [7.0, 6.0, 7.0, 7.0, 6.0]), (300.0, 10.0, [3.0, 4.0, 3.0, 3.0, 4.0])]
    {
        let mut trial = node(k / (idle_ms / 1e3), 0.05);
        trial.contract.idle_service_time_us = idle_ms * 1e3;
        trial.load.seconds = seconds(&batches.map(|count| count * k));
        let told = first(&trial);
        assert_eq!(told.phrase, format!("about {k} at a time (a limit inside)"), "{told:?}");
        // Of answers of 100 ms and less, seconds that differ by as much are uneven.
        let mut short = node(k * 10.0, 0.05);
        short.load.seconds = seconds(&batches.map(|count| count * k * 10.0 / batches[0]));
        assert_eq!(kind(&short), VerdictKind::Unexplained);
    }
}

#[test]
fn what_only_looks_like_a_limit_inside_is_none() {
    let inside = || node(80.0, 0.05);
    let mut uneven = inside();
    uneven.load.seconds = seconds(&[60.0, 100.0, 70.0, 95.0, 75.0]);
    let mut unknown = inside();
    unknown.load.seconds.clear();
    let broken = node(85.0, 0.05);
    let mut busy = inside();
    signals(&mut busy).groups[0].busiest_cores = 0.8;
    let mut full = inside();
    full.load.generator.cpu_s = 1.8 * 15.0;
    for trial in [&uneven, &unknown, &broken, &busy] {
        let told = first(trial);
        assert_eq!(told.kind, VerdictKind::Unexplained, "{told:?}");
    }
    assert_ne!(kind(&full), VerdictKind::LimitInside);
    // All users have their turn.
    assert_eq!(kind(&node(640.0, 0.2)), VerdictKind::IdlePace);
    // What is neither a number nor nothing is said to be even.
    let told = first(&node(85.0, 0.05));
    assert!(
        told.evidence.iter().any(|it| it.starts_with("the rate was the same in every second")),
        "{told:?}"
    );
}

#[test]
fn processes_are_workers_and_the_parent_beside_them_is_none() {
    for workers in [3_u32, 12] {
        let told = first(&prefork(f64::from(workers) * 10.0, workers));
        assert_eq!((told.kind, told.confidence), (VerdictKind::PoolLimit, Confidence::Sure), "{told:?}");
        assert_eq!(told.phrase, format!("pool of {workers} processes (gunicorn)"));
        let confirm = told.confirm.unwrap();
        assert!(confirm.text.starts_with(&format!("make it {} processes", workers * 2)), "{}", confirm.text);
    }
    // Spare workers are no limit: three of eight have their turn.
    assert_ne!(kind(&prefork(30.0, 8)), VerdictKind::PoolLimit);
    // Threads in processes are a pool of threads, or of processes where one at a time runs in each.
    let threaded = |rate| {
        let bands = [band(12, 3, 0.05, 2.0 * rate), band(1, 1, 0.0, 1.0)];
        server(rate, vec![group("gunicorn", Some(Runtime::Python), 0, &bands)])
    };
    assert_eq!(first(&threaded(120.0)).phrase, "pool of 12 (gunicorn)");
    assert_eq!(first(&threaded(30.0)).phrase, "pool of 3 processes (gunicorn)");
}

/// As behind a web server: it reads what comes, and hands it to whoever is free.
#[test]
fn processes_behind_one_that_reads_are_workers() {
    for workers in [4_u32, 9] {
        let rate = f64::from(workers) * 10.0;
        let behind = [band(1, 1, 0.1, 3.0 * rate), band(workers, workers, 0.05, 2.0 * rate)];
        let mut trial = server(rate, vec![group("php-fpm", None, 0, &behind)]);
        signals(&mut trial).unread = Some(all(0));
        let told = first(&trial);
        assert_eq!((told.kind, told.confidence), (VerdictKind::PoolLimit, Confidence::Likely), "{told:?}");
        assert_eq!(told.phrase, format!("pool of {workers} processes (php-fpm)"));
        // The front may have another name.
        let apart = vec![group("nginx", None, 0, &behind[..1]), group("php-fpm", None, 0, &behind[1..])];
        signals(&mut trial).groups = apart;
        assert_eq!(first(&trial).phrase, format!("pool of {workers} processes (php-fpm)"));
    }
}

/// The workers of an async runtime have read the requests of those who wait: who is held does not read. A pool of as many
/// connections would look the same. Behind somebody who reads for them, threads are a pool.
#[test]
fn threads_that_have_read_what_waits_are_a_pool_for_sure_only_behind_a_reader() {
    for k in [4_u32, 8] {
        let rate = f64::from(k) * 10.0;
        let workers = group("tokio-runtime-w", None, 0, &[band(k, 1, 0.1, 3.0 * rate)]);
        let mut trial = server(rate, vec![workers.clone()]);
        signals(&mut trial).unread = Some(all(64 - k));
        let told = first(&trial);
        assert_eq!((told.kind, told.confidence), (VerdictKind::PoolLimit, Confidence::Sure), "{told:?}");
        signals(&mut trial).unread = Some(all(0));
        let told = first(&trial);
        assert_eq!((told.kind, told.confidence), (VerdictKind::PoolLimit, Confidence::Likely), "{told:?}");
        assert!(told.evidence.iter().any(|it| it.starts_with("they have read the requests")), "{told:?}");
        let reader = group("acceptor", None, 0, &[band(1, 1, 0.05, 3.0 * rate)]);
        signals(&mut trial).groups = vec![workers, reader];
        let told = first(&trial);
        assert_eq!((told.kind, told.confidence), (VerdictKind::PoolLimit, Confidence::Sure), "{told:?}");
    }
}

#[test]
fn a_queue_that_a_pool_keeps_full_is_told_after_the_pool() {
    let queued = |workers, full_share| {
        let mut trial = prefork(f64::from(workers) * 10.0, workers);
        signals(&mut trial).accept_queue = Some(AcceptQueue { limit: 5, max: 6, mean: 5.5, full_share });
        dropped(&mut trial, 800);
        trial
    };
    for workers in [3, 6] {
        let told = phrases(&queued(workers, 0.95));
        assert_eq!(told, [format!("pool of {workers} processes (gunicorn)"), "accept queue full".into()]);
    }
    // One that is emptied at once keeps them out itself, however many are inside.
    assert_eq!(kind(&queued(3, 0.1)), VerdictKind::AcceptQueueOverflow);
}

#[test]
fn the_interpreters_lock_is_named_where_its_threads_share_one_core() {
    let threads = |count: u32, processes: u32, cpu_cores, runtime| {
        let bands = [band(count, processes, cpu_cores, 9_000.0)];
        let mut trial = server(900.0, vec![group("worker", Some(runtime), 1, &bands)]);
        trial.contract.idle_service_time_us = 300.0;
        trial
    };
    for (runtime, name) in [(Runtime::Python, "Python"), (Runtime::Ruby, "Ruby")] {
        let told = first(&threads(8, 1, 1.0, runtime));
        assert_eq!(
            (told.kind, told.phrase),
            (VerdictKind::SerialSection, format!("one at a time ({name}'s lock)"))
        );
        assert_eq!(told.confidence, Confidence::Likely);
    }
    let told = first(&threads(8, 1, 1.0, Runtime::Jvm));
    assert_eq!((told.phrase.as_str(), told.confidence), ("one at a time (a lock)", Confidence::Possible));
    let told = first(&threads(8, 1, 1.0, Runtime::Go));
    assert_eq!((told.kind, told.confidence), (VerdictKind::SerialSection, Confidence::Possible), "{told:?}");
    assert!(told.evidence.iter().any(|it| it.contains("GOMAXPROCS")), "{told:?}");
    // One at a time of each process.
    let told = of_cores(&threads(16, 4, 3.9, Runtime::Python), 8);
    assert_eq!(told.phrase, "one at a time (Python's lock)");
    let text = "17 threads `worker` used 3.90 cores together, as if one at a time ran in each of 4 processes";
    assert_eq!(told.evidence[0], text);
    // What runs it is no evidence by itself.
    assert_ne!(kind(&threads(8, 1, 0.4, Runtime::Python)), VerdictKind::SerialSection);
    // A lock that nobody computes under is not the interpreter's.
    let bands = [band(16, 1, 0.1, 30.0)];
    let told = first(&server(10.0, vec![group("worker", Some(Runtime::Python), 0, &bands)]));
    assert_eq!(told.phrase, "one at a time (a lock)");
}

/// A server that may run on one core of eight, as with `taskset`, and a client that may run on each of them.
#[test]
fn the_cores_that_a_server_may_run_on_are_all_that_it_can_use() {
    let of = |cpu_cores: f64, server_cpus: &str| {
        let threads = group("worker", Some(Runtime::Python), 1, &[band(8, 1, cpu_cores, 9_000.0)]);
        let mut trial = server(900.0, vec![threads]);
        trial.contract.idle_service_time_us = 300.0;
        trial.surroundings.client_cpus = Some("0-7".into());
        trial.surroundings.server_cpus = Some(server_cpus.into());
        of_cores(&trial, 8)
    };
    assert_eq!(of(0.95, "0-7").phrase, "one at a time (Python's lock)");
    let told = of(0.95, "0");
    assert_eq!(told.kind, VerdictKind::CpuBound, "{told:?}");
    assert!(told.evidence[0].starts_with("the servers used 0.95 of 1 cores that they may "), "{told:?}");
    assert!(told.accounts_for.is_some_and(|share| (share - 0.95).abs() < 1e-9), "{told:?}");
    assert_eq!(told.confirm.and_then(|it| it.now), Some(1.0));
    // One core's worth of one core is nobody's lock, used up or not.
    assert_ne!(of(0.87, "0").kind, VerdictKind::SerialSection);
    assert_eq!(of(0.87, "0-1").kind, VerdictKind::SerialSection);
    // Of one that is used for three quarters no time is said to be left.
    assert!(of(0.75, "0").excluded.iter().all(|it| !it.starts_with("the CPU: ")));
}

/// Node on half of a machine of two cores: what it lacks to a whole one went to interrupts, and there is no other for more threads.
#[test]
fn a_busy_thread_on_the_only_core_has_used_it_up() {
    let of = |client_cpus: &str, server_cpus: &str| {
        let mut trial = node(5_000.0, 0.87);
        trial.contract.idle_service_time_us = 200.0;
        trial.surroundings.client_cpus = Some(client_cpus.into());
        trial.surroundings.server_cpus = Some(server_cpus.into());
        first(&trial)
    };
    assert_eq!(of("0-1", "0-1").phrase, "1 thread busy (node)");
    for client_cpus in ["0", "0-1"] {
        let told = of(client_cpus, "1");
        assert_eq!(told.kind, VerdictKind::CpuBound, "{told:?}");
        assert!(told.evidence[0].starts_with("the servers used 0.87 of 1 cores "), "{told:?}");
        let text =
            "give the server twice the cores and let more threads share its work; the rate should rise";
        assert_eq!(told.confirm.unwrap().text, text);
    }
}

/// `docker run --cpus=1.5` on a machine of four: whoever asks how many cores there are is told of one.
#[test]
fn a_part_of_a_core_that_a_quota_allows_is_counted() {
    let of = |quota: Option<f64>, counted: usize| {
        let mut trial = node(5_000.0, 0.97);
        trial.contract.idle_service_time_us = 200.0;
        trial.load.generator.cpu_s = 0.2 * 15.0;
        host(&mut trial).cores = 4;
        signals(&mut trial).quota = quota.map(|cores| Quota { cores: Some(cores), throttled_cores: 0.0 });
        of_cores(&trial, counted)
    };
    let told = of(Some(1.5), 1);
    assert_eq!(told.phrase, "1 thread busy (node)");
    assert!(told.evidence.iter().any(|it| it == "78 % of the CPU used"), "{told:?}");
    // One core is what it is where the quota is of another group, or none is known; neither of the two can have one for itself.
    for quota in [Some(2.5), Some(0.5), None] {
        let told = of(quota, 1);
        assert_eq!(told.phrase, "box-bound", "{quota:?}");
        assert!(told.confirm.unwrap().text.starts_with("load it from another machine"), "{quota:?}");
    }
    // A quota of the server alone, which the client does not count by.
    assert!(of(Some(1.5), 4).evidence.iter().any(|it| it == "29 % of the CPU used"));
}

#[test]
fn a_limiter_is_told_by_an_even_rate_of_a_server_with_nothing_to_do() {
    for rate in [500.0, 50.0] {
        let mut trial = node(rate, 0.05);
        trial.contract.idle_service_time_us = 400.0;
        let told = first(&trial);
        assert_eq!(
            (told.kind, told.confidence),
            (VerdictKind::RateLimiter, Confidence::Possible),
            "{told:?}"
        );
        let shown = if rate >= 100.0 { "500/s" } else { "50.0/s" };
        assert_eq!(told.phrase, format!("limiter at {shown}"));
        // A rate that scatters is kept by nothing, connections that are opened may be what takes the time, and whoever is not
        // inside waits for something else.
        let mut uneven = trial.clone();
        uneven.load.seconds = seconds(&[rate, rate * 0.8, rate * 1.1, rate]);
        let mut fresh = trial.clone();
        fresh.load.connections.opened_in_window = Some(90_000);
        let mut outside = trial.clone();
        signals(&mut outside).connections = Some(all(30));
        let mut paced = trial.clone();
        paced.load.load.think_us = Some(10_000.0);
        for other in [&uneven, &fresh, &outside, &paced] {
            assert_eq!(kind(other), VerdictKind::Unexplained);
        }
    }
}

/// Asked one after the other, an idle server behind a limiter answers at the limiter's pace: X·S₀ is 1, as of a lock.
#[test]
fn a_limiter_that_paces_the_idle_server_is_no_lock() {
    for rate in [500.0, 200.0] {
        let pace_us = 1e6 / rate;
        let idle = |shortest_us, p25_us, p75_us| IdleAnswers {
            count: 100,
            shortest_us,
            p25_us,
            p50_us: pace_us,
            p75_us,
            p90_us: p75_us,
            longest_us: 2.0 * pace_us,
            mean_us: pace_us,
            mean_low_us: 0.98 * pace_us,
            mean_high_us: 1.02 * pace_us,
            rested_us: None,
            bounds: None,
            apart_us: None,
            rested: None,
            kept: None,
            burst: None,
        };
        let of = |answers| {
            let mut trial = node(rate, 0.05);
            signals(&mut trial).unread = Some(all(0));
            trial.contract.idle_answers = Some(answers);
            trial
        };
        let told = first(&of(idle(0.1 * pace_us, 0.7 * pace_us, 1.25 * pace_us)));
        assert_eq!(
            (told.kind, told.confidence),
            (VerdictKind::RateLimiter, Confidence::Possible),
            "{told:?}"
        );
        // The load has emptied its bucket, and only before the load did any come at once.
        let mut emptied = of(idle(0.98 * pace_us, pace_us, pace_us));
        emptied.contract.idle_service_time_us = 0.2 * pace_us;
        assert_eq!(kind(&emptied), VerdictKind::RateLimiter);
        // A lock that is held for one time, or for times of many kinds, some of them short.
        assert_eq!(kind(&of(idle(0.98 * pace_us, pace_us, pace_us))), VerdictKind::SerialSection);
        assert_eq!(kind(&of(idle(0.01 * pace_us, 0.4 * pace_us, 2.0 * pace_us))), VerdictKind::SerialSection);
        let mut uneven = of(idle(0.1 * pace_us, 0.7 * pace_us, 1.25 * pace_us));
        uneven.load.seconds = seconds(&[rate, rate * 0.96, rate * 1.03, rate]);
        assert_eq!(kind(&uneven), VerdictKind::SerialSection);
    }
}

/// A server of this rate that answers a user alone at one distance, `pace_us`, and in `rested_us` after a pause.
fn paced(rate: f64, pace_us: f64, rested_us: f64) -> Measured {
    let mut trial = node(rate, 0.05);
    signals(&mut trial).unread = Some(all(0));
    // Before it was warm it was slower.
    trial.contract.idle_service_time_us = 2.0 * pace_us;
    trial.contract.idle_answers = Some(IdleAnswers {
        count: 100,
        shortest_us: 0.98 * pace_us,
        p25_us: pace_us,
        p50_us: pace_us,
        p75_us: pace_us,
        p90_us: 1.01 * pace_us,
        longest_us: 1.05 * pace_us,
        mean_us: pace_us,
        mean_low_us: 0.99 * pace_us,
        mean_high_us: 1.01 * pace_us,
        rested_us: Some(rested_us),
        bounds: None,
        apart_us: None,
        rested: None,
        kept: None,
        burst: None,
    });
    trial
}

/// The load has emptied the bucket of a limiter, so that answers of the idle server all come at its pace, as those of a lock do.
/// A pause tells: a token waits for whoever comes behind it, and a lock is held for as long as ever.
#[test]
fn what_a_pause_makes_faster_is_no_lock() {
    for rate in [1_200.0, 500.0, 150.0] {
        let pace_us = 1e6 / rate;
        assert_eq!(kind(&paced(rate, pace_us, pace_us)), VerdictKind::SerialSection);
        assert_eq!(kind(&paced(rate, pace_us, 0.95 * pace_us)), VerdictKind::SerialSection);
        // One with hardly any work of its own, and one whose work takes three quarters of the time between two tokens.
        for rested in [0.1, 0.75] {
            let told = first(&paced(rate, pace_us, rested * pace_us));
            assert_eq!(
                (told.kind, told.confidence),
                (VerdictKind::RateLimiter, Confidence::Possible),
                "{told:?}"
            );
            assert!(told.evidence[1].starts_with("one user alone was answered "), "{told:?}");
        }
        // A pause helps, and one user alone is slower than all: whatever that is, it is no lock, and no limiter is seen.
        assert_eq!(kind(&paced(rate, 1.2 * pace_us, 0.9 * pace_us)), VerdictKind::Unexplained);
    }
}

#[test]
fn a_limiter_that_rejects_says_so_itself() {
    for (good, rejected) in [(500.0, 90_000), (50.0, 12_000)] {
        let mut trial = node(6_400.0, 0.3);
        trial.contract.idle_service_time_us = 400.0;
        trial.load.goodput_per_s = good;
        even(&mut trial, good);
        for (second, failures) in
            trial.load.seconds.iter_mut().zip([5_700.0, 6_300.0, 6_000.0, 5_500.0, 6_100.0])
        {
            second.failures_per_s = failures;
        }
        let answered = trial.load.outcomes.answered;
        trial.load.answered_as_expected = answered - rejected;
        trial.load.statuses = [("200".to_owned(), answered - rejected), ("429".to_owned(), rejected)].into();
        let told = explain(&trial).verdicts;
        assert_eq!(
            (told[0].kind, told[0].confidence),
            (VerdictKind::RateLimiter, Confidence::Likely),
            "{told:?}"
        );
        assert_eq!(told[1].kind, VerdictKind::IncorrectService);
        // A share of the requests, and no rate.
        let mut share = trial.clone();
        for second in &mut share.load.seconds {
            second.goodput_per_s = second.failures_per_s * good / 6_000.0;
        }
        assert_eq!(kind(&share), VerdictKind::IncorrectService);
        // Asked at an even rate, a share of the requests is as even as a rate: nothing tells.
        for second in &mut share.load.seconds {
            (second.goodput_per_s, second.failures_per_s) = (good, 6_000.0);
        }
        assert_eq!(kind(&share), VerdictKind::IncorrectService);
        // Other errors are errors.
        trial.load.statuses = [("200".to_owned(), answered - rejected), ("503".to_owned(), rejected)].into();
        assert_eq!(kind(&trial), VerdictKind::IncorrectService);
        trial.load.statuses = [
            ("200".to_owned(), answered - rejected),
            ("429".to_owned(), rejected / 2),
            ("500".to_owned(), rejected / 2),
        ]
        .into();
        assert_eq!(kind(&trial), VerdictKind::IncorrectService);
    }
}

/// So many good answers in every second, and others that come and go.
fn refusing(trial: &mut Measured, good_per_s: f64) {
    trial.load.goodput_per_s = good_per_s;
    even(trial, good_per_s);
    for (second, failures) in trial.load.seconds.iter_mut().zip([5_700.0, 6_300.0, 6_000.0, 5_500.0, 6_100.0])
    {
        second.failures_per_s = failures;
    }
}

/// So many answers of an idle server, of 10 ms each.
fn idle_for(answers: usize) -> Option<IdleAnswers> {
    IdleAnswers::of(&vec![units::Duration::from_millis(10); answers])
}

/// As nginx does it with `limit_req`, Envoy with a circuit breaker, and a server whose queue has a bound.
#[test]
fn who_refuses_the_rest_at_once_sheds_load_and_who_is_out_of_order_does_not() {
    let of = |rejected: u64, refused_us: f64, others_us: f64| {
        let mut trial = node(6_400.0, 0.3);
        trial.contract.idle_service_time_us = 10_000.0;
        trial.contract.idle_answers = idle_for(30);
        refusing(&mut trial, 500.0);
        let answered = trial.load.outcomes.answered;
        trial.load.answered_as_expected = answered - rejected;
        trial.load.statuses = [("200".to_owned(), answered - rejected), ("503".to_owned(), rejected)].into();
        trial.load.fast_service_time_us = Some(FastTimes { p10: refused_us, p25: others_us });
        let times = &mut trial.load.service_time_us;
        (times.p50, times.p75, times.p90) = (Some(others_us), Some(others_us), Some(others_us));
        trial
    };
    // Nineteen in twenty were refused, and one in eight.
    for (rejected, others_us, said) in [
        (91_200, 400.0, "90 % of all requests were done within 0.4 ms, "),
        (12_000, 30_000.0, "10 % of all requests were done within 0.4 ms, "),
    ] {
        let told = explain(&of(rejected, 400.0, others_us)).verdicts;
        assert_eq!(
            (told[0].kind, told[0].phrase.as_str(), told[0].confidence),
            (VerdictKind::RateLimiter, "sheds load beyond 500/s", Confidence::Likely),
            "{told:?}"
        );
        assert!(told[0].evidence[1].starts_with(said), "{told:?}");
        assert!(told[0].evidence[1].ends_with("no answer of the idle server took less than 10.0 ms"));
        assert_eq!(told[1].kind, VerdictKind::IncorrectService);
    }
    // Errors that take their time, or a share of the requests whatever their number.
    assert_eq!(kind(&of(91_200, 400.0, 6_000.0)), VerdictKind::IncorrectService);
    let mut share = of(91_200, 400.0, 400.0);
    for second in &mut share.load.seconds {
        second.goodput_per_s = second.failures_per_s / 12.0;
    }
    assert_eq!(kind(&share), VerdictKind::IncorrectService);
    // A broken server of several may be given any part of the requests, and refuses its own of the idle ones, too. Of 28 in a row a
    // tenth would have been missed once in nineteen times, and of 29 once in twenty-one.
    for idle in [idle_for(28), None] {
        let mut broken = of(91_200, 400.0, 400.0);
        broken.contract.idle_answers = idle;
        assert_eq!(kind(&broken), VerdictKind::IncorrectService, "{idle:?}");
        // Who lets through less than one user alone asks for refuses that one as well.
        refusing(&mut broken, 40.0);
        let told = first(&broken);
        assert_eq!(told.phrase, "sheds load beyond 40.0/s", "{told:?}");
        assert!(told.evidence[2].starts_with("one user alone, at 10000 µs an answer, would ask more often"));
    }
    // Nobody knows how quickly.
    let mut older = of(12_000, 400.0, 30_000.0);
    older.load.fast_service_time_us = None;
    assert_eq!(kind(&older), VerdictKind::IncorrectService);
}

#[test]
fn a_collector_that_cannot_be_seen_is_said_beside_the_cpu() {
    for (runtime, name) in [(Runtime::Go, Some("Go")), (Runtime::DotNet, Some(".NET")), (Runtime::Jvm, None)]
    {
        let mut trial = full(1.8);
        signals(&mut trial).groups[0].runtime = Some(runtime);
        if runtime == Runtime::Jvm {
            signals(&mut trial).jvm = Some(JvmUse { heap_max_bytes: 48 << 20, ..JvmUse::default() });
        }
        let told = first(&trial);
        assert_eq!(told.kind, VerdictKind::CpuBound);
        let words = |it: &String| it.contains("garbage collector may be part of it");
        let is_said = told.evidence.iter().find(|it| words(it));
        assert_eq!(
            is_said.is_some_and(|it| name.is_some_and(|name| it.contains(name))),
            name.is_some(),
            "{told:?}"
        );
    }
}

/// As many schedulers as there are cores, each of which carries thousands of processes, and looks for more before it sleeps.
#[test]
fn the_schedulers_of_erlang_are_no_pool_and_their_spinning_is_said() {
    let of = |runtime| server(80.0, vec![group("erts_sched_*", runtime, 0, &[band(8, 1, 0.4, 400.0)])]);
    assert_eq!(first(&of(None)).phrase, "pool of 8 (erts_sched_*)");
    let told = first(&of(Some(Runtime::Erlang)));
    assert_eq!(told.phrase, "about 8 at a time (a limit inside)", "{told:?}");
    for (server_cores, kind) in [(1.8, VerdictKind::CpuBound), (1.2, VerdictKind::BoxBound)] {
        let mut trial = full(server_cores);
        let is_said = |trial: &Measured| {
            let told = first(trial);
            assert_eq!(told.kind, kind);
            told.evidence.iter().any(|it| it.starts_with("Erlang's schedulers spin"))
        };
        assert!(!is_said(&trial));
        signals(&mut trial).groups[0].runtime = Some(Runtime::Erlang);
        assert!(is_said(&trial));
    }
}

/// What little there is to do is put on the first of them, and looking for more looks like work.
#[test]
fn a_busy_scheduler_of_erlang_may_be_spinning() {
    let of = |runtime| {
        let bands = [band(1, 1, 0.95, 900.0), band(7, 1, 0.7, 900.0)];
        let told = of_cores(&server(300.0, vec![group("erts_sched_*", runtime, 0, &bands)]), 8);
        assert_eq!(told.phrase, "1 thread busy (erts_sched_*)", "{told:?}");
        (told.confidence, told.evidence.iter().any(|it| it.starts_with("Erlang's schedulers spin")))
    };
    assert_eq!(of(Some(Runtime::Erlang)), (Confidence::Possible, true));
    assert_eq!(of(None), (Confidence::Likely, false));
}

/// OpenJ9 keeps none of HotSpot's counters. ZGC and Shenandoah keep some, and in none of them is how long threads waited for room.
#[test]
fn a_collector_that_nobody_can_count_is_not_ruled_out() {
    let mut trial = full(1.8);
    signals(&mut trial).groups[0].runtime = Some(Runtime::Jvm);
    let told = first(&trial);
    let words =
        "a garbage collector may be part of it; that of a JVM without counters can't be seen from outside";
    assert!(told.evidence.iter().any(|it| it == words), "{told:?}");
    for (cores, is_ruled_out) in [(0.05, true), (0.8, false)] {
        let collector = group("ZWorkerYoung#*", Some(Runtime::Jvm), 0, &[band(2, 1, cores, 50.0)]);
        let busy = group("worker-*", Some(Runtime::Jvm), 0, &[band(64, 1, 0.1, 900.0)]);
        let mut trial = server(304.5, vec![collector, busy]);
        signals(&mut trial).jvm = Some(JvmUse { gc_share: 0.001, ..JvmUse::default() });
        let told = of_cores(&trial, 8);
        assert_eq!(told.kind, VerdictKind::Unexplained, "{told:?}");
        assert_eq!(told.excluded.iter().any(|it| it.starts_with("garbage collection: ")), is_ruled_out);
        let is_said = told.evidence.iter().any(|it| it.starts_with("the JVM's collector ran for 0.80 cores"));
        assert_eq!(is_said, !is_ruled_out, "{told:?}");
    }
}

/// Threads that poll all the time use the cores up whatever is asked: 18 ms of CPU time for what takes one of the idle server.
#[test]
fn cpu_time_that_no_answer_can_have_taken_is_said_and_makes_the_cpu_a_possibility() {
    let of = |mut trial: Measured, rate: f64, idle_us: f64| {
        (trial.load.throughput_per_s, trial.load.goodput_per_s) = (rate, rate);
        trial.contract.idle_service_time_us = idle_us;
        let told = first(&trial);
        let said = told.evidence.into_iter().find(|it| it.starts_with("each answer took "));
        (told.kind, told.confidence, said)
    };
    let words = |cpu_us: u32, idle_us: u32| {
        format!(
            "each answer took {cpu_us} µs of CPU time, and one of the idle server {idle_us} µs in all: most of this CPU time went to \
             something else (spinning, collections, what grows with the users), or cores were slower than those of the idle server \
             (hyperthreads, their clock)"
        )
    };
    let spun = (VerdictKind::CpuBound, Confidence::Possible, Some(words(18_000, 1_000)));
    assert_eq!(of(full(1.8), 100.0, 1_000.0), spun);
    assert_eq!(of(full(1.8), 1_800.0, 1_000.0), (VerdictKind::CpuBound, Confidence::Likely, None));
    let boxed = (VerdictKind::BoxBound, Confidence::Possible, Some(words(12_000, 1_000)));
    assert_eq!(of(full(1.2), 100.0, 1_000.0), boxed);
    // One thread that polls, whose work nobody shares.
    let spun = (VerdictKind::BlockedEventLoop, Confidence::Possible, Some(words(9_800, 200)));
    assert_eq!(of(node(100.0, 1.0), 100.0, 200.0), spun);
    let busy = (VerdictKind::BlockedEventLoop, Confidence::Likely, None);
    assert_eq!(of(node(5_000.0, 1.0), 5_000.0, 200.0), busy);
    // Where each answer has a connection of its own, and what one takes of the idle server is not on record, that may be most of it.
    let mut fresh = node(100.0, 1.0);
    fresh.load.connections.opened_in_window = Some(fresh.load.outcomes.answered);
    assert_eq!(of(fresh, 100.0, 200.0), busy);
}

#[test]
fn records_without_bands_are_read_by_their_sizes() {
    let mut trial = watched(160.0, &[("pool-*", 16)]);
    signals(&mut trial).groups[0].bands.clear();
    let told = first(&trial);
    assert_eq!((told.phrase.as_str(), told.confidence), ("pool of 16 (pool-*)", Confidence::Likely));
    host(&mut trial).others_cores = Some(0.0);
    assert_eq!(kind(&trial), VerdictKind::PoolLimit);
}

/// By X·S₀ one request at a time has its turn. Where hardly any connection has been accepted, it is none that a thread serves:
/// the time goes by while connections are opened.
#[test]
fn requests_whose_connections_nobody_has_accepted_are_not_in_a_pool() {
    for (rate, idle_ms) in [(200.0, 5.0), (50.0, 20.0)] {
        let accepting = |held_mean| {
            let mut trial = server(rate, vec![group("acceptor", None, 0, &[band(1, 1, 0.05, 2.0 * rate)])]);
            trial.contract.idle_service_time_us = idle_ms * 1e3;
            signals(&mut trial).connections = Some(Held { mean: held_mean, max: 1, readings: 20 });
            trial
        };
        assert_eq!(first(&accepting(0.97)).phrase, "1 thread (acceptor)");
        for held_mean in [0.0, 0.3] {
            let told = first(&accepting(held_mean));
            assert_ne!(told.kind, VerdictKind::PoolLimit, "{told:?}");
        }
        // It closes each, and most users wait for theirs to be accepted: that is what is told.
        let mut closing = accepting(0.02);
        closing.load.connections.opened_in_window = Some(closing.load.outcomes.answered);
        closing.load.connections.closed_by_server = closing.load.outcomes.answered;
        signals(&mut closing).accept_queue =
            Some(AcceptQueue { limit: 511, max: 63, mean: 62.0, full_share: 0.0 });
        assert_eq!(kind(&closing), VerdictKind::NoKeepAlive);
    }
    // Between two answers a worker of a pool may hold none, and holds one all the same most of the time.
    for workers in [3, 12] {
        let mut pool = prefork(f64::from(workers) * 10.0, workers);
        signals(&mut pool).connections =
            Some(Held { mean: 0.8 * f64::from(workers), max: workers, readings: 20 });
        assert_eq!(first(&pool).phrase, format!("pool of {workers} processes (gunicorn)"));
    }
}
