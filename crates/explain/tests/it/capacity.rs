//! What a stack can carry, from made-up sweeps of which the law is known.

use explain::{Capacity, DoubtKind, ExplainedBy, PoolKnee, capacity};
use record::{Load, Role, Trial, TrialResult, load_of_label};

use crate::samples;

/// A trial that was measured at so many connections, and what to change about its load.
fn at(block: u32, stack: &str, connections: u32, per_s: f64, change: impl Fn(&mut Load)) -> Trial {
    let mut measured = samples::trial();
    measured.load.goodput_per_s = per_s;
    measured.load.throughput_per_s = per_s;
    measured.load.load.connections = connections;
    measured.load.load.label = format!("{connections} connections");
    change(&mut measured.load.load);
    Trial {
        index: 0,
        round: "sleep".into(),
        load: load_of_label(&measured.load.load.label),
        ..samples::measured_in(block, stack, measured)
    }
}

/// Six blocks at each level, never twice quite the same.
fn sweep(stack: &str, levels: &[u32], rate: impl Fn(f64) -> f64) -> Vec<Trial> {
    let noise = |block: u32, level: u32| 1.0 + 0.004 * f64::from((block * 5 + level * 3) % 7) - 0.012;
    let trial = |block, index: u32, users: u32| {
        at(block, stack, users, rate(f64::from(users)) * noise(block, index), |_| {})
    };
    let level =
        |(index, users): (u32, &u32)| (0..6).map(|block| trial(block, index, *users)).collect::<Vec<_>>();
    (0..).zip(levels).flat_map(level).collect()
}

const LEVELS: [u32; 6] = [25, 50, 100, 300, 600, 1000];

fn pool_of_200(users: f64) -> f64 {
    users.min(200.0) / 0.1
}

fn contended(users: f64) -> f64 {
    100.0 * users / (1.0 + 0.02 * (users - 1.0) + 0.0001 * users * (users - 1.0))
}

fn only(all: Vec<Capacity>) -> Capacity {
    assert_eq!(all.len(), 1, "{all:?}");
    all.into_iter().next().unwrap()
}

#[test]
fn a_pool_and_a_law_are_told_apart_by_stack() {
    let mut trials = sweep("tomcat", &LEVELS, pool_of_200);
    trials.extend(sweep("gin", &[1, 4, 16, 64, 256, 512], contended));
    let all = capacity(&trials);
    let told: Vec<(&str, ExplainedBy)> = all.iter().map(|it| (it.stack.as_str(), it.explained_by)).collect();
    assert_eq!(told, [("gin", ExplainedBy::Law), ("tomcat", ExplainedBy::Pool)]);
    let law = all[0].law.as_ref().unwrap();
    let near =
        |told: Option<f64>, truth: f64| assert!((told.unwrap() / truth - 1.0).abs() < 0.05, "{told:?}");
    near(law.lambda_per_s.value, 100.0);
    near(law.bends_at_users.unwrap().value, 98.99);
    assert!(law.doubts.is_empty(), "{law:?}");
    let pool = all[1].pool.as_ref().unwrap();
    near(pool.size.value, 200.0);
    near(pool.service_time_s.value, 0.1);
    assert_eq!((pool.knee, all[1].levels.len(), all[1].levels[0].trials), (PoolKnee::Seen, 6, 6));
}

/// Over HTTP/2 each connection carries several: it is these that a pool has its turn of.
#[test]
fn users_of_shared_connections_are_the_requests_on_them() {
    const STREAMS: u32 = 32;
    let rates = |level: (u32, u32)| {
        let (index, connections) = level;
        let users = f64::from(connections * STREAMS);
        let noise = move |block: u32| 1.0 + 0.004 * f64::from((block * 5 + index * 3) % 7) - 0.012;
        (0..6).map(move |block| {
            let per_s = pool_of_200(users) * noise(block);
            at(block, "tomcat", connections, per_s, |load| load.streams = Some(STREAMS))
        })
    };
    let trials: Vec<Trial> = (0..).zip([1, 2, 4, 16, 32]).flat_map(rates).collect();
    let told = only(capacity(&trials));
    let pool = told.pool.unwrap();
    assert!((pool.size.value.unwrap() / 200.0 - 1.0).abs() < 0.05, "{pool:?}");
    assert!((pool.service_time_s.value.unwrap() / 0.1 - 1.0).abs() < 0.05, "{pool:?}");
    assert_eq!(told.levels[0].users, STREAMS);
}

#[test]
fn what_is_no_sweep_over_concurrency_is_left_out() {
    let mut trials = Vec::new();
    for (index, users) in LEVELS.into_iter().enumerate() {
        trials.extend([
            at(0, "thinks", users, 100.0, |load| load.think_us = Some(1e3)),
            at(0, "comes-and-goes", users, 100.0, |load| load.requests_per_user = Some(9)),
            at(0, "ramp", users, 100.0, |load| load.ramp_up_s = Some(9.0)),
            at(0, "open", 64, 100.0, |load| {
                load.model = "open".into();
                load.label = format!("{index}000/s");
            }),
            Trial { role: Role::Control, ..at(0, "control", users, 100.0, |_| {}) },
            Trial { role: Role::Twin, ..at(0, "twin", users, 100.0, |_| {}) },
        ]);
    }
    // Each its own round: a load is one load to its round.
    for trial in &mut trials {
        trial.round.clone_from(&trial.stack);
    }
    assert_eq!(capacity(&trials), []);
    assert_eq!(capacity(&[]), []);
}

#[test]
fn few_levels_have_no_law_and_say_how_many_it_takes() {
    let told = only(capacity(&sweep("tomcat", &[50, 100], pool_of_200)));
    assert_eq!((told.law, told.pool, told.levels_needed), (None, None, Some(4)));
    assert_eq!((told.levels.len(), told.explained_by), (2, ExplainedBy::Undecided));
    let told = only(capacity(&sweep("tomcat", &[50, 100, 400], pool_of_200)));
    assert_eq!((told.law.is_none(), told.pool.unwrap().knee), (true, PoolKnee::Seen));
}

#[test]
fn levels_that_all_wait_are_called_saturated_and_the_pool_a_bound() {
    let told = only(capacity(&sweep("zuul", &[300, 1000, 3000, 5000], |_| 200.0)));
    let law = told.law.unwrap();
    let doubt = law.doubts.iter().find(|it| it.kind == DoubtKind::Saturated).unwrap();
    assert!(doubt.text.contains("at 300 connections, the fewest"), "{}", doubt.text);
    let pool = told.pool.unwrap();
    assert_eq!((pool.knee, pool.size.low), (PoolKnee::BeforeFirst, Some(0.0)));
    assert_eq!(told.explained_by, ExplainedBy::Undecided);
}

#[test]
fn trials_that_are_the_clients_or_failed_are_not_used_and_said_so() {
    let mut trials = sweep("tomcat", &LEVELS, pool_of_200);
    for trial in trials.iter_mut().filter(|it| it.block == 0 && it.load.id.users() == Some(1000)) {
        if let TrialResult::Measured(measured) = &mut trial.result {
            measured.load.generator.busy_share = 0.99;
        }
    }
    let failed = |block| Trial {
        result: TrialResult::Failed { error: "it died".into() },
        ..at(block, "tomcat", 3000, 1.0, |_| {})
    };
    trials.extend((0..2).map(failed));
    // Another stack was measured at that load, so it is one of connections.
    trials.push(at(0, "gin", 3000, 1.0, |_| {}));
    let all = capacity(&trials);
    let told = all.iter().find(|it| it.stack == "tomcat").unwrap();
    let last = told.levels.last().unwrap();
    assert_eq!((last.users, last.trials), (1000, 5));
    assert_eq!(
        told.notes,
        [
            "1 of 6 trials at 1000 connections: not used: client-bound",
            "2 of 2 trials at 3000 connections failed"
        ]
    );
    assert_eq!(told.explained_by, ExplainedBy::Pool);
}

#[test]
fn one_block_is_fitted_and_doubted() {
    let mut trials = sweep("gin", &[1, 4, 16, 64, 256, 512], contended);
    trials.retain(|it| it.block == 0);
    let told = only(capacity(&trials));
    let law = told.law.unwrap();
    assert_eq!(law.doubts.iter().map(|it| it.kind).collect::<Vec<_>>(), [DoubtKind::OneBlock]);
    assert_eq!((law.sigma.low, law.sigma.high, law.noise), (None, None, None));
}
