//! What an idle server does for one user alone and for many at once: locks and semaphores told from limiters, by figures such as
//! were measured of them.

use explain::{Confidence, VerdictKind};
use record::{AnswerTimes, BurstAnswers, IdleAnswers, Measured, RestedAnswers, ThreadGroupUse, Upstream};

use crate::reasons::{beside, explain, first, kind, signals, watched};
use crate::workers::{all, band, group, node, server};

/// A mean, and where it is.
type Mean = (f64, f64, f64);

/// Answers of these quarters and this mean, µs, one behind the other with this distance.
fn idle(quarters: [f64; 3], (mean_low_us, mean_us, mean_high_us): Mean, apart_us: f64) -> IdleAnswers {
    let [p25_us, p50_us, p75_us] = quarters;
    IdleAnswers {
        count: 100,
        shortest_us: 0.9 * p25_us,
        p25_us,
        p50_us,
        p75_us,
        p90_us: 1.1 * p75_us,
        longest_us: 3.0 * p75_us,
        mean_us,
        mean_low_us,
        mean_high_us,
        rested_us: None,
        bounds: None,
        apart_us: Some(apart_us),
        rested: None,
        kept: None,
        burst: None,
    }
}

fn rested(idle: &IdleAnswers, quarters: [f64; 3], (mean_low_us, mean_us, mean_high_us): Mean) -> IdleAnswers {
    let [p25_us, p50_us, p75_us] = quarters;
    let pause_us = 2.0 * idle.mean_us;
    let times = AnswerTimes { count: 60, p25_us, p50_us, p75_us, mean_us, mean_low_us, mean_high_us };
    let told = RestedAnswers { pause_us, times };
    IdleAnswers { rested_us: Some(p75_us), rested: Some(told), ..*idle }
}

/// With a burst of so many, of which `together` came together, and the last after so long.
fn bursting(idle: &IdleAnswers, asked: u32, last_us: f64, together: Option<u32>) -> IdleAnswers {
    let first_us = idle.p25_us;
    let burst =
        BurstAnswers { bursts: 3, asked, turn: 1, first_us, soonest_us: Some(first_us), last_us, together };
    IdleAnswers { burst: Some(burst), ..*idle }
}

/// Node with 64 users, all of whose requests have been read.
fn of(rate: f64, answers: &IdleAnswers) -> Measured {
    let mut trial = node(rate, 0.05);
    signals(&mut trial).unread = Some(all(0));
    trial.contract.idle_service_time_us = answers.p50_us;
    trial.contract.idle_answers = Some(*answers);
    trial
}

/// Node's timers end a millisecond late: one user alone gets an answer after 1.3 or 2.3 ms from a limiter at 500/s, and after
/// 1.3 ms where it has rested.
fn behind_each_other() -> IdleAnswers {
    idle([1_270.0, 2_201.0, 2_230.0], (1_716.0, 1_815.0, 1_910.0), 2_004.0)
}

const RESTED: [f64; 3] = [1_240.0, 1_290.0, 1_310.0];

#[test]
fn a_limiter_beside_a_timer_of_a_millisecond_is_told_by_a_pause() {
    let answers = rested(&behind_each_other(), RESTED, (1_270.0, 1_300.0, 1_340.0));
    let told = first(&of(500.0, &answers));
    assert_eq!((told.kind, told.confidence), (VerdictKind::RateLimiter, Confidence::Possible), "{told:?}");
    assert_eq!(told.evidence[1], "one user alone was answered 499/s as well, and in 1.3 ms after a pause");
    // A lock of such times is held for as long, whoever comes when.
    let answers = rested(&behind_each_other(), [1_260.0, 2_190.0, 2_240.0], (1_690.0, 1_800.0, 1_905.0));
    let told = first(&of(500.0, &answers));
    assert_eq!(told.kind, VerdictKind::SerialSection);
    let words = "after a pause an answer took 2.2 ms, too: no limiter made others wait";
    assert!(told.evidence.iter().any(|it| it == words), "{told:?}");
}

/// Others on the machine: whoever reads an answer late asks again late, and has waited for less.
#[test]
fn among_noise_a_burst_tells_what_a_pause_does_not() {
    let noisy = idle([1_340.0, 1_373.0, 1_395.0], (1_584.0, 1_812.0, 2_201.0), 2_003.0);
    let noisy = rested(&noisy, [1_330.0, 1_370.0, 1_443.0], (1_380.0, 1_500.0, 1_900.0));
    let told = first(&of(500.0, &bursting(&noisy, 8, 2_500.0, None)));
    assert_eq!((told.kind, told.confidence), (VerdictKind::RateLimiter, Confidence::Possible), "{told:?}");
    let words = "8 requests at once, after a pause, were all answered within 2.5 ms: 3200/s";
    assert!(told.evidence.iter().any(|it| it.starts_with(words)), "{told:?}");
    // Eight times under a lock take eight times as long, however noisy it is.
    let told = first(&of(500.0, &bursting(&noisy, 8, 17_000.0, Some(1))));
    assert_eq!((told.kind, told.confidence), (VerdictKind::SerialSection, Confidence::Likely), "{told:?}");
    // A lock that is held for times of many kinds is no limiter for a burst that was lucky.
    let mixed = idle([600.0, 1_400.0, 2_700.0], (1_700.0, 2_000.0, 2_400.0), 2_200.0);
    let mixed = rested(&mixed, [590.0, 1_450.0, 2_600.0], (1_600.0, 1_950.0, 2_500.0));
    assert_eq!(kind(&of(500.0, &bursting(&mixed, 8, 9_000.0, None))), VerdictKind::SerialSection);
}

/// Of a lock it is the pace that is lost while its thread waits for a core; what lets so many through in a second has the time.
#[test]
fn a_limiter_loses_nothing_to_neighbours() {
    let answers = rested(&behind_each_other(), RESTED, (1_270.0, 1_300.0, 1_340.0));
    let lock = rested(&behind_each_other(), [1_260.0, 2_190.0, 2_240.0], (1_690.0, 1_800.0, 1_905.0));
    for (answers, is) in [(answers, VerdictKind::RateLimiter), (lock, VerdictKind::NoisyHost)] {
        let mut trial = beside(of(500.0, &answers), 1.0);
        let did = &mut signals(&mut trial).groups[0];
        (did.wait_cores, did.busiest_wait_cores) = (0.31, Some(0.3));
        let told = first(&trial);
        assert_eq!(told.kind, is, "{told:?}");
    }
}

#[test]
fn what_may_be_a_lock_or_a_limiter_is_neither() {
    // The middle is faster after a pause, and the means are not known closely enough.
    let unclear = rested(&behind_each_other(), RESTED, (1_300.0, 1_600.0, 2_100.0));
    let unasked = behind_each_other();
    for answers in [unclear, unasked, bursting(&unclear, 8, 16_000.0, Some(1))] {
        let mut trial = of(500.0, &answers);
        let told = first(&trial);
        assert_eq!(told.kind, VerdictKind::Unexplained, "{told:?}");
        let is_said = told.evidence.iter().any(|it| it.contains("a lock, or a limiter at 500/s"));
        assert!(is_said, "{told:?}");
        // Threads that wait inside may wait for either, too.
        signals(&mut trial).groups = vec![group("worker-*", None, 0, &[band(80, 1, 0.1, 1_500.0)])];
        assert_eq!(kind(&trial), VerdictKind::Unexplained);
        // A loop that leaves requests unread is busy with one of them, whatever a pause does.
        let mut loop_ = of(500.0, &answers);
        signals(&mut loop_).unread = Some(all(60));
        assert_eq!(kind(&loop_), VerdictKind::BlockedEventLoop);
    }
}

/// An answer of the idle server takes a little longer than the turn that is waited for: 10 of 40 ms, and 41.9 ms each.
fn connections_of_a_pool() -> IdleAnswers {
    idle([41_700.0, 41_900.0, 42_100.0], (41_700.0, 41_900.0, 42_100.0), 42_300.0)
}

fn threads(rate: f64, answers: &IdleAnswers, count: u32) -> Measured {
    let pool: ThreadGroupUse = group("pool-*", None, 0, &[band(count, 1, 0.1, 3.0 * rate)]);
    let mut trial = server(rate, vec![pool]);
    trial.contract.idle_answers = Some(*answers);
    trial
}

#[test]
fn those_who_come_together_are_counted() {
    let rate = 246.0;
    assert_eq!(kind(&threads(rate, &connections_of_a_pool(), 80)), VerdictKind::Unexplained);
    let counted = bursting(&connections_of_a_pool(), 40, 165_000.0, Some(10));
    let told = first(&threads(rate, &counted, 80));
    assert_eq!((told.kind, told.confidence), (VerdictKind::LimitInside, Confidence::Likely), "{told:?}");
    assert_eq!(told.phrase, "about 10 at a time (a limit inside)");
    let words = "of 40 requests at once, after a pause, 10 were answered together, from 41.7 ms on";
    assert!(told.evidence.iter().any(|it| it.starts_with(words)), "{told:?}");
    // Where most bursts do not agree, X·S₀ is all that there is, and a limiter may have the same.
    let whole = idle([40_300.0, 40_500.0, 40_700.0], (40_300.0, 40_500.0, 40_700.0), 41_000.0);
    let told = first(&threads(rate, &bursting(&whole, 40, 165_000.0, None), 80));
    assert_eq!((told.kind, told.confidence), (VerdictKind::LimitInside, Confidence::Possible), "{told:?}");
    // A number far from X·S₀ is no count of turns.
    let other = bursting(&connections_of_a_pool(), 40, 165_000.0, Some(13));
    assert_eq!(kind(&threads(rate, &other, 80)), VerdictKind::Unexplained);
}

/// A pool of sixteen connections is kept whoever uses it; of those who ask at once fifteen come together.
#[test]
fn a_burst_of_another_number_speaks_against_connections_that_are_held() {
    let answers = idle([100_000.0; 3], (99_000.0, 100_000.0, 101_000.0), 100_300.0);
    for (together, confidence) in
        [(None, Confidence::Sure), (Some(16), Confidence::Sure), (Some(15), Confidence::Likely)]
    {
        let mut trial = server(160.0, vec![group("proxy", None, 0, &[band(2, 1, 0.1, 480.0)])]);
        trial.contract.idle_answers = Some(bursting(&answers, 64, 400_000.0, together));
        let mut behind = watched(160.0, &[("io-*", 40)]).server;
        behind.cpu_cores = Some(0.1);
        behind.signals.as_mut().unwrap().connections = Some(all(16));
        trial.upstreams = vec![Upstream { stack: "shop".into(), server: behind }];
        let told = first(&trial);
        assert_eq!(told.phrase, "16 connections to shop", "{told:?}");
        assert_eq!(told.confidence, confidence, "{together:?}: {told:?}");
        let is_said = told.evidence.iter().any(|it| it.contains("15 were answered together"));
        assert_eq!(is_said, together == Some(15), "{told:?}");
    }
}

/// At 250/s of 40 ms each, ten are under way, and nothing lets ten in at a time.
#[test]
fn a_limiter_whose_answers_take_a_while_is_no_limit_of_so_many() {
    let answers = idle([39_900.0, 40_000.0, 40_100.0], (39_900.0, 40_000.0, 40_100.0), 40_300.0);
    assert_eq!(kind(&threads(250.0, &answers, 80)), VerdictKind::LimitInside, "nobody looked");
    let saves = bursting(&answers, 40, 44_000.0, Some(31));
    let told = first(&threads(250.0, &saves, 80));
    assert_eq!(told.phrase, "limiter at 250/s", "{told:?}");
    assert_eq!((told.kind, told.confidence), (VerdictKind::RateLimiter, Confidence::Possible));
    let words = "40 requests at once, after a pause, were all answered within 44.0 ms: 909/s";
    assert!(told.evidence.iter().any(|it| it.starts_with(words)), "{told:?}");
    // As many threads as that are not the reason either, where they serve forty in the time of ten.
    let told = explain(&threads(250.0, &saves, 10)).verdicts;
    assert!(told.iter().all(|it| it.kind != VerdictKind::PoolLimit), "{told:?}");
    let by_turns = bursting(&answers, 40, 160_500.0, Some(10));
    assert_eq!(kind(&threads(250.0, &by_turns, 10)), VerdictKind::PoolLimit);
}

/// A lock of 4 ms within 40 ms, and a limiter at 250/s that saves nothing, before 40 ms of work, let one through in 4 ms.
#[test]
fn one_by_one_is_a_lock_within_the_answer_or_a_limiter_and_neither_is_named() {
    let answers = idle([39_900.0, 40_000.0, 40_100.0], (39_900.0, 40_000.0, 40_100.0), 40_300.0);
    let told = first(&threads(250.0, &bursting(&answers, 40, 196_000.0, Some(1)), 80));
    assert_eq!(told.kind, VerdictKind::Unexplained, "{told:?}");
    for words in [
        "were answered one by one",
        "a lock that is held for 4.0 ms",
        "a limiter at 250/s that saves nothing",
    ] {
        assert!(told.evidence.iter().any(|it| it.contains(words)), "{words}: {told:?}");
    }
    // Two at a time come in pairs.
    let answers = idle([7_900.0, 8_000.0, 8_100.0], (7_900.0, 8_000.0, 8_100.0), 8_300.0);
    let told = first(&threads(250.0, &bursting(&answers, 16, 68_000.0, Some(1)), 80));
    assert_eq!(told.kind, VerdictKind::Unexplained, "{told:?}");
}

#[test]
fn what_is_held_beyond_the_answer_is_said_beside_a_limiter_that_saves_nothing() {
    let answers = rested(&behind_each_other(), RESTED, (1_270.0, 1_300.0, 1_340.0));
    let words = "a lock that is held for 2.0 ms, beyond the answer, would do the same";
    let says = |answers: &IdleAnswers| {
        let told = first(&of(500.0, answers));
        assert_eq!(told.kind, VerdictKind::RateLimiter, "{told:?}");
        told.evidence.iter().any(|it| it.starts_with(words))
    };
    assert!(says(&answers), "nobody sent a burst");
    assert!(says(&bursting(&answers, 16, 30_500.0, Some(1))));
    assert!(!says(&bursting(&answers, 16, 2_500.0, None)), "no lock lets sixteen through");
}

/// Ten in each tick of 100 ms: one alone who asks again waits for the next tick, and a burst for what is left of this one.
#[test]
fn what_comes_by_ticks_is_no_limit_of_so_many_at_a_time() {
    let answers = idle([99_000.0, 99_800.0, 100_100.0], (99_000.0, 99_700.0, 100_200.0), 100_000.0);
    let in_time = bursting(&answers, 40, 400_000.0, Some(10));
    assert_eq!(kind(&threads(100.0, &in_time, 80)), VerdictKind::LimitInside);
    let mut sooner = in_time;
    sooner.burst.as_mut().unwrap().soonest_us = Some(31_000.0);
    let told = first(&threads(100.0, &sooner, 80));
    assert_eq!(told.kind, VerdictKind::Unexplained, "{told:?}");
    let words = "the first was answered by 31.0 ms, sooner than one alone";
    assert!(told.evidence.iter().any(|it| it.contains(words)), "{told:?}");
}

/// Each connection is looked at once in 100 ms, and a new one at once: 64 users have 640 answers a second, however few they are.
#[test]
fn each_connection_that_waits_by_itself_is_no_limiter() {
    let at_once = idle([400.0, 410.0, 420.0], (400.0, 412.0, 425.0), 600.0);
    let new_only = bursting(&at_once, 16, 900.0, None);
    assert_eq!(kind(&of(640.0, &new_only)), VerdictKind::RateLimiter, "of a version that did not ask");
    let kept = |mean_us: f64| AnswerTimes {
        count: 10,
        p25_us: 0.99 * mean_us,
        p50_us: mean_us,
        p75_us: 1.01 * mean_us,
        mean_us,
        mean_low_us: 0.98 * mean_us,
        mean_high_us: 1.02 * mean_us,
    };
    let asked = |mean_us, load_us: f64| {
        let mut trial = of(640.0, &IdleAnswers { kept: Some(kept(mean_us)), ..new_only });
        trial.load.service_time_us.mean = Some(load_us);
        first(&trial)
    };
    let told = asked(100_000.0, 100_000.0);
    assert_eq!((told.kind, told.confidence), (VerdictKind::IdlePace, Confidence::Likely), "{told:?}");
    let words =
        "one user alone was answered in 100.0 ms on a connection that is kept, and in 0.4 ms on a new one";
    assert!(told.evidence.iter().any(|it| it.starts_with(words)), "{told:?}");
    // Each waits for most of the time by itself, and for something else as well.
    let told = asked(80_000.0, 100_000.0);
    assert_eq!(told.kind, VerdictKind::Unexplained, "{told:?}");
    assert!(told.evidence.iter().any(|it| it.contains("on a connection that is kept")), "{told:?}");
    // Ten of forty milliseconds at a time, and twelve users: few wait, and not for long, which is not by their connection.
    let answers = IdleAnswers { kept: Some(kept(40_100.0)), ..connections_of_a_pool() };
    let mut trial = threads(240.0, &bursting(&answers, 12, 83_000.0, Some(10)), 80);
    (trial.load.service_time_us.mean, trial.load.load.connections) = (Some(50_000.0), 12);
    assert_eq!(kind(&trial), VerdictKind::LimitInside);
    // One user alone waits for its own turn only, on whatever connection.
    assert_eq!(asked(1_600.0, 100_000.0).kind, VerdictKind::RateLimiter);
}
