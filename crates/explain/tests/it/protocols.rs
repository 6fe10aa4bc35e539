//! Loads over TLS and HTTP/2, by their figures: what shakes hands, and what waits for a stream.

use explain::{Confidence, Context, KeptAnswer, VerdictKind, explain_cells};
use record::{BurstAnswers, IdleAnswers, Measured, Tls, Trial};
use units::Duration;

use crate::reasons::{explain, first, full, kind, signals, trial_of, watched};
use crate::samples::times;
use crate::workers::all;

const ANSWERS: u64 = 30_000;

/// With so many handshakes within the window, one in ten of which were resumed.
fn shaking_hands(mut trial: Measured, handshakes: u64) -> Measured {
    let load = &mut trial.load;
    (load.intended, load.answered_as_expected) = (ANSWERS, ANSWERS);
    load.outcomes.answered = ANSWERS;
    load.statuses = [("200".to_owned(), ANSWERS)].into();
    load.connections.opened_in_window = Some(handshakes);
    load.tls = Some(Tls { full_handshakes: 900, resumed_handshakes: 100, ..Tls::default() });
    trial
}

/// An idle server that takes so long for an answer, and for a connection with its handshake, µs.
fn idle(trial: &mut Measured, answer_us: f64, connection_us: f64) {
    let answers = [Duration::from_secs_f64(answer_us / 1e6); 20];
    let told = IdleAnswers::of(&answers).unwrap();
    trial.contract.idle_service_time_us = answer_us;
    trial.contract.idle_answers = Some(IdleAnswers { apart_us: Some(answer_us + connection_us), ..told });
}

/// A worker without time left, at 485 µs an answer.
fn worker(answer_us: f64, connection_us: f64) -> Measured {
    let mut trial = watched(2_000.0, &[("nginx", 1)]);
    idle(&mut trial, answer_us, connection_us);
    trial.server.cpu_cores = Some(0.97);
    trial.load.generator.cpu_s = 0.4 * 15.0;
    let worker = &mut signals(&mut trial).groups[0];
    (worker.cpu_cores, worker.busiest_cores) = (0.97, 0.97);
    trial
}

#[test]
fn a_worker_that_shakes_hands_most_of_the_time_is_told_by_what_an_answer_takes_without() {
    let told = first(&shaking_hands(worker(100.0, 800.0), ANSWERS));
    assert_eq!((told.kind, told.confidence), (VerdictKind::TlsHandshakes, Confidence::Likely), "{told:?}");
    assert!(told.accounts_for.is_some_and(|share| (share - 0.794).abs() < 0.01), "{told:?}");
    assert_eq!(
        told.evidence[..2],
        [
            "2000 TLS handshakes a second, 1.00 for each answer, and 90 % of them full",
            "an answer took 485 µs of the server's CPU time; the idle server and its client took 100 µs in all for an answer, and \
             800 µs for a connection with its handshake",
        ]
    );
    // What the work itself takes is no handshake's.
    assert_eq!(kind(&shaking_hands(worker(300.0, 800.0), ANSWERS)), VerdictKind::BlockedEventLoop);
    // And no handshake takes longer under load than on an idle server, so that something else does.
    assert_eq!(kind(&shaking_hands(worker(100.0, 200.0), ANSWERS)), VerdictKind::BlockedEventLoop);
}

/// An idle answer of a fast server is hardly anything but wake-ups. What its answers take where connections are kept is told by the
/// same run.
#[test]
fn what_an_answer_takes_on_a_kept_connection_tells_handshakes_from_work() {
    let trial = shaking_hands(worker(300.0, 800.0), ANSWERS);
    let told = |server_us: f64| {
        let kept = Some(KeptAnswer { server_us, client_us: 5.0 });
        explain::explain(&trial, &Context { cores: 2, kept, ..Context::default() }).first().clone()
    };
    // 485 µs less four times 7 µs: an answer, and a connection without TLS, which costs as much as three.
    let light = told(7.0);
    assert_eq!((light.kind, light.confidence), (VerdictKind::TlsHandshakes, Confidence::Likely), "{light:?}");
    assert!(light.accounts_for.is_some_and(|share| (share - 0.942).abs() < 0.01), "{light:?}");
    let words = "on connections that were kept, an answer took 7 µs of the server's CPU time in this run, and 5 µs of the client's";
    assert!(light.evidence.iter().any(|it| it == words), "{light:?}");
    // What takes long there as well is the answer.
    assert_eq!(told(100.0).kind, VerdictKind::BlockedEventLoop);
}

/// The same stack by the same run, on connections that it kept.
#[test]
fn a_run_knows_what_the_same_answers_take_on_kept_connections() {
    let fresh = || trial_of(0, "nginx", shaking_hands(worker(300.0, 800.0), ANSWERS));
    let kept = |change: fn(&mut Measured)| {
        let mut trial = shaking_hands(worker(300.0, 800.0), 0);
        trial.server.cpu_us_per_request = Some(7.0);
        change(&mut trial);
        Trial { round: "kept".into(), ..trial_of(1, "nginx", trial) }
    };
    let kind = |trials: &[Trial]| {
        let all = explain_cells(trials, 2);
        all.into_iter().find(|it| it.round == "sleep").expect("it is explained").explanation.first().kind
    };
    assert_eq!(kind(&[fresh()]), VerdictKind::BlockedEventLoop);
    assert_eq!(kind(&[fresh(), kept(|_| {})]), VerdictKind::TlsHandshakes);
    for (what, other) in [
        ("another path", kept(|it| it.load.url = "https://127.0.0.1:8080/other".into())),
        ("no TLS", kept(|it| it.load.tls = None)),
        ("wrong answers", kept(|it| it.load.answered_as_expected = 0)),
        ("another stack", Trial { stack: "haproxy".into(), ..kept(|_| {}) }),
    ] {
        assert_eq!(kind(&[fresh(), other]), VerdictKind::BlockedEventLoop, "{what}");
    }
}

/// Of a load that is far behind, none of what was due within the window is answered, and what was due before is.
#[test]
fn handshakes_are_held_against_what_was_done_meanwhile() {
    let mut trial = shaking_hands(worker(100.0, 800.0), ANSWERS);
    (trial.load.outcomes.answered, trial.load.answered_as_expected) = (0, 0);
    trial.load.outcomes.timed_out = ANSWERS;
    let words = "2000 TLS handshakes a second, 1.00 for each answer, and 90 % of them full";
    assert_eq!(first(&trial).evidence[0], words);
}

#[test]
fn a_few_handshakes_are_not_what_a_worker_does() {
    for handshakes in [0, ANSWERS / 200, ANSWERS / 50, ANSWERS / 5] {
        let told = explain(&shaking_hands(worker(100.0, 800.0), handshakes)).verdicts;
        assert_eq!(told[0].kind, VerdictKind::BlockedEventLoop, "{handshakes}");
        assert!(told.iter().all(|it| it.kind != VerdictKind::TlsHandshakes), "{handshakes}: {told:?}");
    }
    // Connections without TLS have none.
    let mut plain = shaking_hands(worker(100.0, 800.0), ANSWERS);
    plain.load.tls = None;
    assert_eq!(kind(&plain), VerdictKind::BlockedEventLoop);
    // What a connection takes is not known of older records.
    let mut older = shaking_hands(worker(100.0, 800.0), ANSWERS);
    older.contract.idle_answers = None;
    assert_eq!(kind(&older), VerdictKind::BlockedEventLoop);
}

#[test]
fn handshakes_of_other_threads_are_not_those_of_the_busy_one() {
    let mut trial = shaking_hands(worker(100.0, 800.0), ANSWERS);
    trial.server.cpu_cores = Some(1.5);
    trial.load.generator.cpu_s = 0.2 * 15.0;
    let mut others = signals(&mut trial).groups[0].clone();
    others.name = "tls-*".into();
    (others.cpu_cores, others.busiest_cores) = (0.53, 0.26);
    signals(&mut trial).groups.push(others);
    // 1.3 cores of handshakes at most: the others may have made 0.53 of them.
    assert_eq!(kind(&trial), VerdictKind::TlsHandshakes);
    idle(&mut trial, 100.0, 450.0);
    assert_eq!(
        kind(&trial),
        VerdictKind::BlockedEventLoop,
        "0.9 of handshakes, of which it made 0.37 at least"
    );
}

#[test]
fn with_time_left_handshakes_are_no_reason() {
    let mut trial = shaking_hands(worker(100.0, 800.0), ANSWERS);
    trial.server.cpu_cores = Some(0.5);
    let worker = &mut signals(&mut trial).groups[0];
    (worker.cpu_cores, worker.busiest_cores) = (0.5, 0.5);
    assert_ne!(kind(&trial), VerdictKind::TlsHandshakes);
}

#[test]
fn client_and_server_that_use_the_machine_up_by_shaking_hands_are_told_together() {
    let mut trial = shaking_hands(full(1.2), ANSWERS);
    (trial.load.throughput_per_s, trial.load.goodput_per_s) = (2_000.0, 2_000.0);
    idle(&mut trial, 100.0, 600.0);
    let told = first(&trial);
    assert_eq!(told.kind, VerdictKind::TlsHandshakes, "{told:?}");
    idle(&mut trial, 100.0, 400.0);
    assert_ne!(kind(&trial), VerdictKind::TlsHandshakes, "most went elsewhere");
    trial.load.connections.opened_in_window = Some(0);
    assert_eq!(kind(&trial), VerdictKind::BoxBound);
}

#[test]
fn a_client_that_was_the_limit_says_that_it_shook_hands() {
    let mut trial = shaking_hands(worker(100.0, 800.0), ANSWERS);
    trial.load.generator.busy_share = 0.95;
    let told = first(&trial);
    assert_eq!(told.kind, VerdictKind::ClientBound);
    let words = "it made 2000 TLS handshakes a second, 1.00 for each answer, and 90 % of them full";
    assert!(told.evidence.iter().any(|it| it == words), "{told:?}");
}

/// 64 users on four connections, of whom so many have a stream at a time, which an answer takes `service_ms` on. An idle server
/// takes 100 ms for it.
fn streaming(open: f64, service_ms: f64, groups: &[(&str, u32)]) -> Measured {
    let mut trial = watched(open / service_ms * 1e3, groups);
    signals(&mut trial).connections = Some(all(4));
    let load = &mut trial.load;
    (load.load.connections, load.load.streams) = (4, Some(16));
    load.load.protocol = Some("http/2".into());
    let lasted_s = load.load.warm_up_s + load.window.duration_s;
    let waiting = 64.0 - open;
    load.connections.stream_waits = (load.throughput_per_s * lasted_s) as u64;
    load.connections.stream_wait_us = (waiting * lasted_s * 1e6) as u64;
    load.service_time_us = times(96_000, service_ms * 1e3);
    load.response_time_us = times(96_000, service_ms * 64.0 / open * 1e3);
    trial
}

#[test]
fn exchanges_that_wait_for_a_stream_of_an_idle_server_are_counted_doing_so() {
    let told = first(&streaming(16.0, 100.0, &[("loop", 1)]));
    assert_eq!((told.kind, told.confidence), (VerdictKind::StreamLimit, Confidence::Sure), "{told:?}");
    assert_eq!(told.phrase, "stream limit (about 16 at a time)");
    assert_eq!(told.accounts_for, Some(0.75));
    assert_eq!(
        told.evidence[..2],
        [
            "2560 requests waited for a stream, since their server allows no more of them at a time: on average 48.0 waited, and \
             16.0 had one, on 4 connections",
            "an answer took 100.0 ms on a stream, and that of the idle server 100.0 ms",
        ]
    );
    let confirm = told.confirm.unwrap();
    assert_eq!(
        confirm.text,
        "allow twice the streams a connection (MAX_CONCURRENT_STREAMS); the rate should become 320/s"
    );
    // All of 64 users at 100 ms are 640/s.
    assert!((confirm.predict(10.0) - 640.0).abs() < 0.1);
}

#[test]
fn as_many_threads_as_streams_leave_a_doubt_which_it_is() {
    let told = first(&streaming(16.0, 100.0, &[("pool-*", 16)]));
    assert_eq!((told.kind, told.confidence), (VerdictKind::StreamLimit, Confidence::Likely), "{told:?}");
}

/// Of 64 users on four connections so many have bodies that wait for the server's windows, of an answer in 400 ms.
fn uploading(held_back: f64, groups: &[(&str, u32)]) -> Measured {
    let mut trial = streaming(64.0, 400.0, groups);
    let load = &mut trial.load;
    let lasted_s = load.load.warm_up_s + load.window.duration_s;
    (load.connections.stream_waits, load.connections.stream_wait_us) = (0, 0);
    load.connections.window_waits = (load.throughput_per_s * lasted_s) as u64;
    load.connections.window_wait_us = (held_back * lasted_s * 1e6) as u64;
    trial
}

#[test]
fn bodies_that_wait_for_windows_most_of_the_time_may_be_why_and_a_pool_that_reads_them_is_before_that() {
    let told = first(&uploading(48.0, &[("loop", 1)]));
    assert_eq!((told.kind, told.confidence), (VerdictKind::FlowControl, Confidence::Possible), "{told:?}");
    assert_eq!(told.accounts_for, Some(0.75));
    assert_eq!(
        told.evidence[0],
        "the bodies of 2560 requests waited for the server's windows: on average 48.0 did, of 64.0 requests that were under way"
    );
    // 160 a second at 100 ms are sixteen at a time.
    assert_eq!(first(&uploading(48.0, &[("pool-*", 16)])).kind, VerdictKind::PoolLimit);
    for few in [0.0, 20.0] {
        assert_ne!(first(&uploading(few, &[("loop", 1)])).kind, VerdictKind::FlowControl, "{few}");
    }
}

/// Each request of a burst has a connection of its own, and so a stream.
#[test]
fn those_who_are_let_in_by_turns_on_connections_of_their_own_wait_for_no_stream() {
    for (together, last_ms, is_stream_limit) in [(16, 400.0, false), (1, 400.0, false), (64, 102.0, true)] {
        let mut trial = streaming(16.0, 100.0, &[("loop", 1)]);
        idle(&mut trial, 100_000.0, 300.0);
        let burst = BurstAnswers {
            bursts: 1,
            asked: 64,
            turn: 16,
            first_us: 100_000.0,
            soonest_us: None,
            last_us: last_ms * 1e3,
            together: Some(together),
        };
        trial.contract.idle_answers.as_mut().unwrap().burst = Some(burst);
        let told = first(&trial);
        assert_eq!(told.kind == VerdictKind::StreamLimit, is_stream_limit, "{told:?}");
        let is_witness =
            |it: &String| it.starts_with("64 requests at once, after a pause, were all answered within");
        assert_eq!(told.evidence.iter().any(is_witness), is_stream_limit, "{told:?}");
    }
}

#[test]
fn streams_that_are_open_for_long_are_no_limit() {
    // Sixteen threads, each of three requests on a stream waits for them.
    let told = first(&streaming(48.0, 300.0, &[("pool-*", 16)]));
    assert_eq!(told.phrase, "pool of 16 (pool-*)", "connections are fewer than who is served: {told:?}");
    // A thread that has no time left.
    let mut trial = streaming(16.0, 100.0, &[("loop", 1)]);
    signals(&mut trial).groups[0].busiest_cores = 0.95;
    assert_eq!(kind(&trial), VerdictKind::BlockedEventLoop);
    // What waits for a stream now and then.
    let told = explain(&streaming(61.0, 100.0, &[("loop", 1)])).verdicts;
    assert_eq!(told[0].kind, VerdictKind::IdlePace, "{told:?}");
}
