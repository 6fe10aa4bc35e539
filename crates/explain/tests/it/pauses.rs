//! Pauses of collections beside the seconds of a load: what goes together, what does not, and what can't be told.

use explain::{beside_pauses, explain_cells};
use record::{
    GcPauses, Measured, PausedSecond, Role, Second, Server, ServerSignals, TRIAL_VERSION, Trial, TrialResult,
    Upstream, load_of_label,
};

use crate::samples::trial;

/// Seconds of a load with these 99th percentiles, in milliseconds.
fn seconds(p99_ms: &[f64]) -> Vec<Second> {
    let second = |(at, ms): (usize, &f64)| Second {
        from_s: at as f64,
        length_s: 1.0,
        p99_us: Some(ms * 1e3),
        ..Second::default()
    };
    p99_ms.iter().enumerate().map(second).collect()
}

/// So many seconds that were watched, pauses of so many milliseconds in some of them.
fn paused(seconds: u32, pauses: &[(u32, f64)]) -> ServerSignals {
    let of = |(second, ms): &(u32, f64)| {
        let took_s = ms / 1e3;
        PausedSecond { second: *second, least_s: took_s, most_s: took_s }
    };
    let gc_pauses = Some(GcPauses { seconds, ended: pauses.iter().map(of).collect() });
    ServerSignals { gc_pauses, ..ServerSignals::default() }
}

fn beside(p99_ms: &[f64], pauses: &[(u32, f64)]) -> Measured {
    let mut trial = trial();
    trial.load.seconds = seconds(p99_ms);
    trial.server.signals = Some(paused(p99_ms.len() as u32, pauses));
    trial
}

/// `count` seconds of 2 ms, some of which are slower.
fn slow_in(count: usize, slow: &[usize], slow_ms: f64) -> Vec<f64> {
    (0..count).map(|second| if slow.contains(&second) { slow_ms } else { 2.0 }).collect()
}

const PAUSED: [u32; 4] = [3, 8, 13, 18];

fn each(ms: f64) -> [(u32, f64); 4] {
    PAUSED.map(|second| (second, ms))
}

#[test]
fn seconds_that_are_slow_with_pauses_go_together_with_them_and_more_is_not_said() {
    let told = beside_pauses(&beside(&slow_in(20, &PAUSED.map(|it| it as usize), 12.0), &each(11.0)));
    assert_eq!(
        told,
        [
            "pauses of collections ended in 4 of 20 s, 44.0ms in all, and in 3 of the 3 slowest, 33.0ms of it",
            "99th percentile of a second without pauses 2.00ms, of one with 12.0ms (medians); slow seconds and pauses \
             go together (p < 0.001), and pauses are long enough for that; a larger heap or another collector would \
             tell whether they are why",
        ]
    );
}

#[test]
fn pauses_in_other_seconds_than_the_slow_ones_are_not_called_a_cause() {
    let told = beside_pauses(&beside(&slow_in(20, &[1, 6, 11, 16], 12.0), &each(11.0)));
    assert_eq!(
        told,
        [
            "pauses of collections ended in 4 of 20 s, 44.0ms in all, and in none of the 3 slowest",
            "99th percentile of a second without pauses 2.00ms, of one with 2.00ms (medians); nothing shows that slow \
             seconds and pauses go together (p = 1.000)",
        ]
    );
}

/// It becomes faster by a tenth each second, and is collected while it is slow: every second with a pause is slower than nearly all
/// without.
#[test]
fn a_load_that_warms_up_while_it_is_collected_is_slow_by_no_pause() {
    let p99_ms: Vec<f64> = (0..30)
        .map(|second: i32| {
            let uneven = if second % 2 == 0 { 1.02 } else { 1.0 };
            40.0 * 0.9_f64.powi(second) * uneven
        })
        .collect();
    let pauses: Vec<(u32, f64)> = (1..=6).map(|second| (second, 30.0)).collect();
    let told = beside_pauses(&beside(&p99_ms, &pauses));
    assert!(told[1].contains("nothing shows that slow seconds and pauses go together (p = "), "{told:?}");
}

#[test]
fn what_is_more_than_pauses_take_and_what_is_hardly_anything_is_said() {
    let at: Vec<usize> = PAUSED.map(|it| it as usize).into();
    let much = beside_pauses(&beside(&slow_in(20, &at, 250.0), &each(9.0)));
    assert!(
        much[1].ends_with(
            "slow seconds and pauses go together (p < 0.001), but pauses took 9.00ms of such a second and it is \
             slower by more than twice that: look for what comes with them"
        ),
        "{much:?}"
    );
    let little = beside_pauses(&beside(&slow_in(20, &at, 2.1), &each(9.0)));
    let hardly = "pauses go together (p < 0.001), but such a second hardly differs from others";
    assert!(little[1].ends_with(hardly), "{little:?}");
}

#[test]
fn too_few_seconds_of_a_kind_tell_nothing() {
    let could_not = "could not tell whether slow seconds and pauses go together: too few seconds have";
    let few = beside_pauses(&beside(&slow_in(15, &[4, 9], 50.0), &[(4, 40.0), (9, 40.0)]));
    assert_eq!(
        few[1..],
        [
            "99th percentile of a second without pauses 2.00ms, of one with 50.0ms (medians)".to_owned(),
            format!("{could_not} a pause"),
        ]
    );
    let all_but_one: Vec<(u32, f64)> = (0..15).filter(|it| *it != 7).map(|it| (it, 5.0)).collect();
    let many = beside_pauses(&beside(&[8.0; 15], &all_but_one));
    assert_eq!(many[2], format!("{could_not} none"), "{many:?}");
    let all: Vec<(u32, f64)> = (0..15).map(|it| (it, 5.0)).collect();
    assert_eq!(beside_pauses(&beside(&[8.0; 15], &all))[1..], [format!("{could_not} none")]);
    // Three of ten are the slowest of the ten once in 56 times, if the first and the last are left out.
    let ten = beside_pauses(&beside(&slow_in(10, &[2, 4, 6], 50.0), &[(2, 40.0), (4, 40.0), (6, 40.0)]));
    assert_eq!(ten[2], format!("{could_not} a pause"), "{ten:?}");
}

/// A few of a million answers a second wait for a pause: no 99th percentile knows of them.
#[test]
fn a_pause_that_only_the_longest_answers_show_is_seen_in_them() {
    let mut trial = beside(&[2.0; 20], &each(35.0));
    for (at, second) in trial.load.seconds.iter_mut().enumerate() {
        second.max_us = Some(if PAUSED.contains(&(at as u32)) { 40_000.0 } else { 6_000.0 });
    }
    let told = beside_pauses(&trial);
    let apart = "nothing shows that slow seconds and pauses go together (p = 1.000)";
    assert!(told[1].ends_with(apart), "{told:?}");
    let due = "longest answer of a second without pauses 6.00ms, of one with 40.0ms (medians); slow seconds \
               and pauses go together (p < 0.001), and pauses are long enough for that";
    assert!(told[2].starts_with(due), "{told:?}");
    // Those that were given up were longer than that.
    for second in &mut trial.load.seconds {
        second.max_is_lower_bound = second.max_us > Some(6_000.0);
    }
    assert!(beside_pauses(&trial)[2].contains("without pauses 6.00ms, of one with >40.0ms"));
    // A record of which one second lacks it says nothing of them.
    trial.load.seconds[5].max_us = None;
    assert_eq!(beside_pauses(&trial).len(), 2);
}

#[test]
fn a_second_that_is_not_known_or_is_none_is_held_against_nothing() {
    let mut trial = beside(&slow_in(20, &PAUSED.map(|it| it as usize), 12.0), &each(11.0));
    let of = |trial: &Measured| beside_pauses(trial)[0].clone();
    let gc_pauses = |trial: &mut Measured, change: fn(&mut GcPauses)| {
        change(trial.server.signals.as_mut().unwrap().gc_pauses.as_mut().unwrap());
    };
    gc_pauses(&mut trial, |it| it.ended[0].least_s = 0.0);
    let told = beside_pauses(&trial);
    assert!(told[0].starts_with("pauses of collections ended in 3 of 19 s, 33.0ms in all"), "{told:?}");
    assert_eq!(told[1], "not compared: 1 s at an end of which a pause may lie on either side");
    gc_pauses(&mut trial, |it| it.seconds = 10);
    assert!(of(&trial).starts_with("pauses of collections ended in 1 of 9 s"), "{}", of(&trial));
    // Of several at once, of the window's end, and of one in which nothing was done.
    trial.load.seconds[0].length_s = 3.0;
    trial.load.seconds[1].length_s = 0.2;
    trial.load.seconds[2].p99_us = None;
    assert!(of(&trial).starts_with("pauses of collections ended in 1 of 6 s"), "{}", of(&trial));
}

#[test]
fn nothing_is_said_where_nobody_looked_or_no_pause_ended() {
    let mut trial = beside(&[2.0; 20], &[]);
    assert!(beside_pauses(&trial).is_empty());
    trial.server.signals = Some(ServerSignals::default());
    assert!(beside_pauses(&trial).is_empty());
    trial.server.signals = None;
    assert!(beside_pauses(&trial).is_empty());
    trial.server.signals = Some(paused(20, &each(11.0)));
    trial.load.seconds.clear();
    assert!(beside_pauses(&trial).is_empty());
}

#[test]
fn the_jvm_behind_a_server_is_named_and_a_cell_tells_it() {
    let mut measured = beside(&slow_in(20, &PAUSED.map(|it| it as usize), 12.0), &[]);
    let behind = Server { signals: Some(paused(20, &each(11.0))), ..Server::default() };
    measured.upstreams = vec![Upstream { stack: "tomcat".into(), server: behind }];
    let told = beside_pauses(&measured);
    assert!(told[0].starts_with("pauses of collections of tomcat ended in 4 of 20 s"), "{told:?}");
    let trial = Trial {
        version: TRIAL_VERSION,
        index: 0,
        block: 0,
        round: "hello".into(),
        stack: "proxy".into(),
        role: Role::Stack,
        driver: record::Driver::Proofload,
        load: load_of_label("64 connections"),
        started: String::new(),
        repeats: None,
        lost_attempts: Vec::new(),
        result: TrialResult::Measured(Box::new(measured)),
    };
    assert_eq!(explain_cells(&[trial], 2)[0].pauses, told);
}

/// Knuth's MMIX generator; its upper bits are the good ones.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The sum of twelve is as good as normal, with a variance of one.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    /// A load of half a minute whose 99th percentiles scatter by a third, each much like the one before, and in every fourth second
    /// on average a pause that is long enough for anything. `longer_ms` longer are those.
    fn load(&mut self, longer_ms: f64) -> Measured {
        let (mut at, mut pauses) = (self.normal(), Vec::new());
        let mut p99_ms = Vec::new();
        for second in 0..30 {
            let is_paused = self.uniform() < 0.25;
            pauses.extend(is_paused.then_some((second, 500.0)));
            p99_ms.push(10.0 * (0.3 * at).exp() + if is_paused { longer_ms } else { 0.0 });
            at = 0.7 * at + (1.0 - 0.7_f64 * 0.7).sqrt() * self.normal();
        }
        beside(&p99_ms, &pauses)
    }

    /// Of so many such loads, of how many it is said that slow seconds and pauses go together.
    fn together(&mut self, loads: u32, longer_ms: f64) -> u32 {
        let mut is_said = || {
            let told = beside_pauses(&self.load(longer_ms));
            told.iter().any(|line| line.contains("; slow seconds and pauses go together"))
        };
        (0..loads).map(|_| u32::from(is_said())).sum()
    }
}

/// One in a hundred by chance: of 1000 more than 20 are in one of six hundred tries.
#[test]
fn pauses_and_slow_seconds_that_have_nothing_to_do_with_each_other_seldom_go_together() {
    let mut random = Random(7);
    let falsely = random.together(1000, 0.0);
    assert!(falsely <= 20, "{falsely} of 1000");
    let found = random.together(100, 40.0);
    assert!(found >= 90, "{found} of 100");
}
