//! Two versions of a service in made-up runs: what chance alone calls a change, and what each answer rests on.

use explain::{
    FigureVerdict, VersionsCompared, blocks_of_versions, compare_versions, gate_versions, wider_than,
};
use record::{AgentLost, AgentResult, GateAnswer, Measured, Role, Trial, TrialResult};
use units::Share;

use crate::samples::{measured_in, noise, times, trial};

/// A trial of `stack` that is as `change` makes it.
fn of(stack: &str, role: Role, block: u32, change: impl FnOnce(&mut Measured)) -> Trial {
    let mut measured = trial();
    change(&mut measured);
    Trial { role, ..measured_in(block, stack, measured) }
}

/// A run in which the second version carries so many times as much, and every trial is up to so much off.
fn run_of(blocks: u32, seed: u64, times: f64, off: f64) -> Vec<Trial> {
    let at = |stack: &str, role: Role, block: u32, times: f64, of_stack: u64| {
        let noise = 1.0 + off * noise(seed * 100_000 + u64::from(block) * 10 + of_stack);
        of(stack, role, block, |it| {
            it.load.goodput_per_s = 1000.0 * times * noise;
            it.server.rss_bytes_max = Some((100e6 / times * noise) as u64);
        })
    };
    (0..blocks)
        .flat_map(|block| {
            [
                at("cart-before", Role::Stack, block, 1.0, 0),
                at("cart-after", Role::Stack, block, times, 1),
                at("cart-before", Role::Twin, block, 1.0, 2),
            ]
        })
        .collect()
}

fn compared(trials: &[Trial]) -> VersionsCompared {
    compare_versions(trials, &["cart".to_owned()])
}

fn verdict(compared: &VersionsCompared, figure: &str) -> FigureVerdict {
    let [service] = compared.services.as_slice() else { panic!("{compared:?}") };
    let found = service.figures.iter().find(|it| it.figure == figure);
    found.unwrap_or_else(|| panic!("{figure} is not among {:?}", service.figures)).verdict
}

#[test]
fn a_change_is_told_by_its_direction_and_none_is_the_same() {
    for (times, goodput, memory) in [
        (0.9, FigureVerdict::Worse, FigureVerdict::Worse),
        (1.1, FigureVerdict::Better, FigureVerdict::Better),
        (1.0, FigureVerdict::Same, FigureVerdict::Same),
    ] {
        let told = compared(&run_of(10, 1, times, 0.005));
        assert_eq!(
            (verdict(&told, "goodput"), verdict(&told, "memory")),
            (goodput, memory),
            "{times}: {told:?}"
        );
        let service = &told.services[0];
        assert_eq!((service.service.as_str(), service.blocks), ("cart", 10));
        let goodput = &service.figures[0];
        assert!(goodput.is_ranked_by && (goodput.ratio.unwrap() - times).abs() < 0.01, "{goodput:?}");
        assert!(
            goodput.low.unwrap() <= goodput.ratio.unwrap() && goodput.ratio.unwrap() <= goodput.high.unwrap()
        );
        // Less memory is better, and is shown as less.
        let memory = service.figures.iter().find(|it| it.figure == "memory").unwrap();
        assert!((memory.ratio.unwrap() * times - 1.0).abs() < 0.01, "{memory:?}");
        assert!(
            memory.low.unwrap() <= memory.ratio.unwrap() && memory.ratio.unwrap() <= memory.high.unwrap()
        );
    }
}

/// Of versions that are the same, one run in twenty may call its goodput changed; and hardly any does, since what is nearer
/// than the first version is to itself is no change.
#[test]
fn versions_that_are_the_same_are_seldom_told_apart() {
    let runs = 200;
    let changed = |figure: &str| {
        (0..runs)
            .filter(|seed| {
                let told = verdict(&compared(&run_of(10, *seed, 1.0, 0.06)), figure);
                matches!(told, FigureVerdict::Worse | FigureVerdict::Better)
            })
            .count()
    };
    assert!(changed("goodput") <= 10, "{} of {runs}", changed("goodput"));
    assert!(changed("memory") <= 10, "{} of {runs}", changed("memory"));
}

/// A run that was to go on until then, and could not, must not look as if it had come there.
#[test]
fn what_is_not_known_as_precisely_as_was_asked_is_named() {
    let wide = |trials: &[Trial], half_width: f64| wider_than(trials, &["cart".to_owned()], half_width);
    let noisy = run_of(10, 1, 1.0, 0.06);
    assert_eq!(wide(&noisy, 0.001), ["cart: hello, 64 connections"]);
    assert_eq!(wide(&noisy, 0.5), Vec::<String>::new());
    assert_eq!(wide(&run_of(10, 1, 0.5, 0.0), 0.001), Vec::<String>::new());
    // However near, so few blocks have no interval.
    assert_eq!(wide(&run_of(5, 1, 1.0, 0.0), 0.5).len(), 1);
}

/// A twin that is far from itself by chance makes a change hard to see, and nothing the same.
#[test]
fn noise_makes_nothing_the_same() {
    let mut trials = run_of(10, 1, 0.95, 0.001);
    for trial in trials.iter_mut().filter(|it| it.role == Role::Twin) {
        let TrialResult::Measured(it) = &mut trial.result else { unreachable!("all are measured") };
        it.load.goodput_per_s = 900.0;
    }
    assert_eq!(verdict(&compared(&trials), "goodput"), FigureVerdict::CouldNotTell);
}

#[test]
fn few_blocks_tell_nothing_however_far_apart_the_versions_are() {
    let needed = blocks_of_versions(1);
    for blocks in 1..6 {
        assert_eq!(
            verdict(&compared(&run_of(blocks, 1, 0.5, 0.001)), "goodput"),
            FigureVerdict::CouldNotTell
        );
    }
    assert_eq!(verdict(&compared(&run_of(6, 1, 0.5, 0.001)), "goodput"), FigureVerdict::Worse);
    let [short, enough] = [needed - 1, needed]
        .map(|blocks| verdict(&compared(&run_of(u32::try_from(blocks).unwrap(), 1, 0.5, 0.001)), "memory"));
    assert_eq!((short, enough), (FigureVerdict::CouldNotTell, FigureVerdict::Worse));
}

#[test]
fn a_version_that_fails_is_told_and_fails_the_gate() {
    let mut trials = run_of(8, 1, 1.0, 0.001);
    trials.retain(|it| it.stack != "cart-after" || it.block == 0);
    for trial in trials.iter_mut().filter(|it| it.stack == "cart-after") {
        trial.result = TrialResult::Failed { error: "it died".into() };
    }
    let told = compared(&trials);
    assert_eq!(told.services[0].failed, [None, Some("it died".to_owned())]);
    assert_eq!(verdict(&told, "goodput"), FigureVerdict::CouldNotTell);
    let gate = gate_versions(&[], Share::percent(10.0).unwrap(), &trials, &["cart".to_owned()]);
    assert_eq!(gate.answer, GateAnswer::Failed, "{gate:?}");
}

/// The version before may be as bad as it is.
#[test]
fn a_gate_asks_the_version_after_and_its_losses() {
    let ten = Share::percent(10.0).unwrap();
    let gate = |times: f64, condition: &str| {
        let conditions = [condition.parse().unwrap()];
        gate_versions(&conditions, ten, &run_of(10, 1, times, 0.005), &["cart".to_owned()])
    };
    let better = gate(1.2, "goodput<1100");
    assert_eq!(better.answer, GateAnswer::Passed, "{better:?}");
    assert!(better.checks.iter().all(|it| it.cell.as_ref().is_some_and(|it| it.stack == "cart-after")));
    let worse = gate(0.8, "goodput<100");
    assert_eq!(worse.answer, GateAnswer::Failed, "{worse:?}");
    let failed: Vec<&str> = worse
        .checks
        .iter()
        .filter(|it| it.answer == GateAnswer::Failed)
        .map(|it| it.fails_if.as_str())
        .collect();
    assert_eq!(failed, ["loss of goodput to cart-before > 10%"]);
    assert_eq!(gate(0.9, "goodput<100").answer, GateAnswer::CouldNotTell);
}

/// A client at its own limit makes any two servers alike.
#[test]
fn what_the_client_hides_does_not_pass() {
    let mut trials = run_of(10, 1, 1.0, 0.001);
    for trial in &mut trials {
        if let TrialResult::Measured(it) = &mut trial.result {
            it.load.generator.busy_share = 0.99;
        }
    }
    let told = compared(&trials);
    assert_eq!(verdict(&told, "goodput"), FigureVerdict::CouldNotTell, "{told:?}");
    assert!(told.services[0].doubts.iter().any(|it| it.starts_with("client-bound")), "{told:?}");
    let gate = gate_versions(&[], Share::percent(10.0).unwrap(), &trials, &["cart".to_owned()]);
    let loss = gate.checks.iter().find(|it| it.fails_if.starts_with("loss of")).unwrap();
    assert_eq!(loss.answer, GateAnswer::CouldNotTell, "{loss:?}");
    assert!(loss.why.as_ref().is_some_and(|it| it.starts_with("client-bound")), "{loss:?}");
}

/// Where the client was the limit of a few trials of one version, that one is no slower than it looks: that decides to one side.
#[test]
fn what_the_client_hides_in_a_few_blocks_decides_to_one_side() {
    let told = |times: f64, limited: &str| {
        let mut trials = run_of(10, 1, times, 0.005);
        let is_limited = |it: &&mut Trial| it.role == Role::Stack && it.stack == limited && it.block < 4;
        for trial in trials.iter_mut().filter(is_limited) {
            let TrialResult::Measured(it) = &mut trial.result else { unreachable!("all are measured") };
            it.load.generator.busy_share = 0.99;
        }
        let told = compared(&trials);
        assert!(told.services[0].doubts.is_empty(), "{told:?}");
        let why = "trials the client was the limit: its goodput is a lower bound";
        let said = limited.strip_prefix("cart-").map(|which| format!("{which}: in 4 of 10 {why}"));
        assert_eq!(told.services[0].bounds, said.into_iter().collect::<Vec<_>>());
        verdict(&told, "goodput")
    };
    for (times, limited, due) in [
        (1.1, "cart-after", FigureVerdict::Better),
        (1.1, "cart-before", FigureVerdict::CouldNotTell),
        (0.9, "cart-after", FigureVerdict::CouldNotTell),
        (0.9, "cart-before", FigureVerdict::Worse),
        (1.0, "cart-after", FigureVerdict::CouldNotTell),
        (1.0, "cart-before", FigureVerdict::CouldNotTell),
        (1.0, "nobody", FigureVerdict::Same),
    ] {
        assert_eq!(told(times, limited), due, "{times}, {limited}");
    }
}

/// What a machine took with it, and what a quota kept from being sent, is in neither version's figures.
#[test]
fn versions_loaded_by_machines_that_were_lost_or_throttled_are_not_the_same() {
    let lost = AgentLost { told_to_s: 1.0, requests: 100, why: "is silent".into() };
    let agents = [
        (AgentResult { lost: Some(lost), ..AgentResult::default() }, "lost agent"),
        (AgentResult { throttled_s: Some(6.0), ..AgentResult::default() }, "throttled"),
    ];
    for (agent, doubt) in agents {
        let mut trials = run_of(10, 1, 1.0, 0.001);
        for trial in &mut trials {
            let TrialResult::Measured(it) = &mut trial.result else { unreachable!("all are measured") };
            it.load.agents = vec![agent.clone()];
        }
        let told = compared(&trials);
        assert_eq!(verdict(&told, "goodput"), FigureVerdict::CouldNotTell, "{told:?}");
        assert!(told.services[0].doubts.iter().any(|it| it.starts_with(doubt)), "{told:?}");
    }
}

/// In a closed load a version that became slow answers so few that they know no p99: such trials leave it open.
#[test]
fn a_version_that_was_slow_in_some_blocks_is_not_better_by_the_others() {
    let mut trials = run_of(16, 1, 1.0, 0.005);
    for trial in trials.iter_mut().filter(|it| it.stack == "cart-after") {
        let is_slow = trial.block >= 10;
        let TrialResult::Measured(it) = &mut trial.result else { unreachable!("all are measured") };
        if is_slow {
            it.load.response_time_us = times(213, 302_000.0);
        } else {
            it.load.response_time_us.p99 = Some(5_000.0);
        }
    }
    assert_eq!(verdict(&compared(&trials), "p99"), FigureVerdict::CouldNotTell);
}
