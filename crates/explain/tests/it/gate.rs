//! Gates held against made-up runs and loads: how often chance alone fails one, and what each answer rests on.

use std::collections::BTreeMap;

use explain::{LoadsBefore, RecordedRun, RunsBefore, gate_load, gate_without};
use plan::gate::{Baseline, Gate, LastRuns};
use record::{
    GateAnswer, GateCheck, GateResult, LoadResult, Manifest, RequestSummary, Server, Trial, TrialResult,
};
use stats::Batches;
use units::Share;

use crate::samples::{measured_in, noise, times, trial};

fn gate(conditions: &[&str]) -> Gate {
    let parsed = |text: &&str| text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
    Gate { fail_if: conditions.iter().map(parsed).collect(), ..Gate::default() }
}

fn against(baseline: &str, percent: f64) -> Gate {
    let max_loss = Share::percent(percent).expect("it is a share");
    Gate { baseline: Some(Baseline { stack: baseline.into(), max_loss }), ..Gate::default() }
}

/// Held against no run before.
fn gate_run(gate: &Gate, trials: &[Trial], keeps_processes: bool) -> GateResult {
    explain::gate_run(gate, trials, keeps_processes, &RunsBefore::default())
}

/// A trial of `stack` whose load is as `change` makes it.
fn of(stack: &str, block: u32, change: impl FnOnce(&mut LoadResult)) -> Trial {
    let mut measured = trial();
    change(&mut measured.load);
    measured_in(block, stack, measured)
}

#[test]
fn a_stack_that_could_not_be_measured_keeps_a_gate_from_passing() {
    let judged = gate_run(&gate(&["errors>50%"]), &run_of(10, 1), false);
    assert_eq!(judged.answer, GateAnswer::Passed);
    assert_eq!(gate_without(judged.clone(), &BTreeMap::new()), judged);
    let left_out = BTreeMap::from([("search".to_owned(), "it could not be built: exit 1".to_owned())]);
    let without = gate_without(judged.clone(), &left_out);
    assert_eq!((without.answer, without.checks.len()), (GateAnswer::CouldNotTell, judged.checks.len() + 1));
    let said = without.checks[0].why.as_deref();
    assert!(said.is_some_and(|why| why.contains("exit 1")), "{without:?}");
    let failed = gate_run(&gate(&["p99>1us"]), &run_of(10, 1), false);
    assert_eq!(gate_without(failed, &left_out).answer, GateAnswer::Failed);
}

#[test]
fn what_was_not_measured_of_a_service_that_was_running_already_could_not_be_told() {
    let why = "it was running already, at http://127.0.0.1:8080";
    let unwatched = |block: u32| {
        let mut trial = of("cart", block, |_| ());
        let TrialResult::Measured(measured) = &mut trial.result else { panic!("it is measured") };
        measured.server = Server { not_measured: Some(why.into()), ..Server::default() };
        trial
    };
    let trials: Vec<Trial> = (0..8).map(unwatched).collect();
    for condition in ["cpu>1ms", "memory>1GiB", "boot>1s"] {
        let judged = gate_run(&gate(&[condition]), &trials, false);
        assert_eq!(judged.answer, GateAnswer::CouldNotTell, "{judged:?}");
        let told = judged.checks.iter().find(|it| it.answer == GateAnswer::CouldNotTell).unwrap();
        assert_eq!(told.why, Some(format!("not measured: {why}")));
        assert_eq!(told.would_decide.as_deref(), Some("a service that the run starts itself"));
    }
    let judged = gate_run(&gate(&["p99>1s", "errors>1%"]), &trials, false);
    assert_eq!(judged.answer, GateAnswer::Passed, "{judged:?}");
}

/// A service of 250 us of CPU a request, 64 MiB and 1.5 s to boot, each a little off from block to block.
#[test]
fn what_a_service_takes_of_its_machine_is_held_against_its_limits() {
    let watched = |block: u32| {
        let off = 1.0 + 0.02 * noise(u64::from(block));
        let mut trial = of("cart", block, |_| ());
        let TrialResult::Measured(measured) = &mut trial.result else { panic!("it is measured") };
        measured.server.cpu_us_per_request = Some(250.0 * off);
        measured.server.rss_bytes_max = Some((f64::from(64 << 20) * off) as u64);
        measured.server.boot_s = Some(1.5 * off);
        trial
    };
    let trials: Vec<Trial> = (0..8).map(watched).collect();
    for (condition, due) in [
        ("cpu>200us", GateAnswer::Failed),
        ("cpu>300us", GateAnswer::Passed),
        ("cpu>250us", GateAnswer::CouldNotTell),
        ("memory>48MiB", GateAnswer::Failed),
        ("memory>80MiB", GateAnswer::Passed),
        ("boot>1s", GateAnswer::Failed),
        ("boot>2s", GateAnswer::Passed),
    ] {
        let gate = gate(&[condition]);
        let judged = gate_run(&gate, &trials, false);
        let told = check(&judged, &gate.fail_if[0].to_string());
        assert_eq!(told.answer, due, "{condition}: {judged:?}");
    }
}

/// Where all trials are of one process, that was started once, and its start is in each of their records.
#[test]
fn one_start_is_no_evidence_however_many_trials_it_served() {
    let started = |starts: u32| -> Vec<Trial> {
        let of_block = |block: u32| {
            let mut trial = of("cart", block, |_| ());
            let TrialResult::Measured(measured) = &mut trial.result else { panic!("it is measured") };
            measured.server.boot_s = Some(1.5 + 0.01 * f64::from(block % starts));
            trial
        };
        (0..16).map(of_block).collect()
    };
    let gate = gate(&["boot>2s"]);
    let told = |starts: u32| {
        let judged = gate_run(&gate, &started(starts), true);
        let told = check(&judged, &gate.fail_if[0].to_string());
        (told.answer, told.would_decide.clone().unwrap_or_default())
    };
    // Two conditions, of which one is added, take seven.
    let said = "7 starts at least, and there is 1: processes = \"fresh\" or \"block\" has more";
    assert_eq!(told(1), (GateAnswer::CouldNotTell, said.to_owned()));
    assert_eq!(told(8), (GateAnswer::Passed, String::new()));
}

/// A run of so many blocks of one stack, whose 99th percentile is 40 ms, each up to a tenth off.
fn run_of(blocks: u32, seed: u64) -> Vec<Trial> {
    let p99 = |block: u32| 40_000.0 * (1.0 + 0.1 * noise(seed * 1000 + u64::from(block)));
    (0..blocks).map(|block| of("gin", block, |load| load.response_time_us.p99 = Some(p99(block)))).collect()
}

fn check<'a>(judged: &'a GateResult, fails_if: &str) -> &'a GateCheck {
    let found = judged.checks.iter().find(|it| it.fails_if == fails_if);
    found.unwrap_or_else(|| panic!("{fails_if} is not among {:?}", judged.checks))
}

#[test]
fn a_limit_away_from_all_trials_is_decided() {
    let trials = run_of(10, 1);
    for (condition, due) in [
        ("p99>30ms", GateAnswer::Failed),
        ("p99>50ms", GateAnswer::Passed),
        ("p99>40ms", GateAnswer::CouldNotTell),
    ] {
        let judged = gate_run(&gate(&[condition]), &trials, false);
        assert_eq!(judged.checks[1].answer, due, "{condition}: {:?}", judged.checks);
    }
    let open = gate_run(&gate(&["p99>40ms"]), &trials, false);
    assert_eq!(open.answer, GateAnswer::CouldNotTell);
    assert!(open.checks[1].would_decide.is_some(), "{:?}", open.checks);
}

/// Where the limit is the truth itself, each answer is chance's: at most 2.5 % of gates may fail by it, and as many pass.
#[test]
fn a_service_at_its_limit_fails_by_chance_as_seldom_as_is_said() {
    let runs = 400;
    let answers: Vec<GateAnswer> = (0..runs)
        .map(|seed| gate_run(&gate(&["p99>40ms", "errors>50%"]), &run_of(10, seed), false).checks[1].answer)
        .collect();
    let count = |answer| answers.iter().filter(|it| **it == answer).count();
    // 2.5 % for two conditions together, 1.25 % for each; of 400, chance alone makes ten at most.
    for answer in [GateAnswer::Failed, GateAnswer::Passed] {
        assert!(count(answer) <= 10, "{} of {runs} {answer:?}", count(answer));
    }
}

/// 1000/s are asked for, and 1000/s come: whether the service could do 2000/s nobody tried. Of 2000/s asked it did not.
#[test]
fn a_load_that_asks_for_no_more_than_the_limit_fails_nobody_who_keeps_to_it() {
    let asked = |rate: f64| -> Vec<Trial> {
        let at = |block: u32| {
            of("gin", block, |load| {
                load.load.rate_per_s = Some(rate);
                load.goodput_per_s = 1000.0 + noise(u64::from(block));
            })
        };
        (0..10).map(at).collect()
    };
    for (rate, due) in
        [(1000.0, GateAnswer::CouldNotTell), (2000.0, GateAnswer::Failed), (3000.0, GateAnswer::Failed)]
    {
        let told = gate_run(&gate(&["goodput<2000"]), &asked(rate), false);
        let told = &told.checks[1];
        assert_eq!(told.answer, due, "{rate}: {told:?}");
        assert_eq!(
            told.why.as_ref().is_some_and(|it| it.contains("no service answers more")),
            rate <= 1000.0
        );
    }
    let TrialResult::Measured(one) = asked(1000.0).remove(0).result else { unreachable!("it was measured") };
    let told = gate_load(&gate(&["goodput<2000"]), &one.load, &Batches::default(), None);
    assert_ne!(told.checks[0].answer, GateAnswer::Failed, "{told:?}");
}

/// A round without the baseline is held to nothing; and a baseline that nobody is beside does not pass.
#[test]
fn a_loss_is_told_where_both_are_and_nowhere_else() {
    let both = ["main", "new"].iter().flat_map(|stack| (0..10).map(|block| of(stack, block, |_| ())));
    let mut trials: Vec<Trial> = both.collect();
    let elsewhere = |block: u32| Trial { round: "other".into(), ..of("new", block, |_| ()) };
    trials.extend((0..10).map(elsewhere));
    let losses = |trials: &[Trial]| -> Vec<GateCheck> {
        let judged = gate_run(&against("main", 10.0), trials, false);
        judged.checks.into_iter().filter(|it| it.fails_if.starts_with("loss of")).collect()
    };
    let told = losses(&trials);
    assert_eq!(told.iter().map(|it| it.answer).collect::<Vec<_>>(), [GateAnswer::Passed], "{told:?}");
    let alone: Vec<Trial> = trials.into_iter().filter(|it| it.round == "other").collect();
    let told = losses(&alone);
    assert_eq!(told.iter().map(|it| it.answer).collect::<Vec<_>>(), [GateAnswer::CouldNotTell], "{told:?}");
    assert!(told[0].would_decide.is_some());
}

/// 16 users who wait for 0.3 s make 213 requests in four seconds, and a 99th percentile takes 299: what it exceeds is known.
#[test]
fn a_service_that_became_slow_fails_by_what_its_few_requests_exceed() {
    let slow = |block: u32| {
        of("cart", block, |load| {
            load.response_time_us = times(213, 302_000.0);
            load.response_time_us.too_few_samples = BTreeMap::from([("p99".to_owned(), Some(301_000.0))]);
        })
    };
    let trials: Vec<Trial> = (0..8).map(slow).collect();
    let judged = gate_run(&gate(&["p99>200ms"]), &trials, false);
    let told = check(&judged, "p99 > 200ms");
    assert_eq!((told.answer, told.is_lower_bound, told.high), (GateAnswer::Failed, true, None), "{told:?}");
    assert!(told.low.is_some_and(|low| (low - 301_000.0).abs() < 1.0), "{told:?}");
    // What it does not exceed could be anything.
    let judged = gate_run(&gate(&["p99>400ms"]), &trials, false);
    let told = check(&judged, "p99 > 400ms");
    assert_eq!(told.answer, GateAnswer::CouldNotTell, "{told:?}");
    assert_eq!(told.why.as_deref(), Some("p99 takes 299 requests a trial, and one has 213"));
    // Nor do too few blocks tell anything.
    let judged = gate_run(&gate(&["p99>200ms"]), &trials[..5], false);
    assert_eq!(check(&judged, "p99 > 200ms").answer, GateAnswer::CouldNotTell);
}

#[test]
fn few_blocks_tell_nothing_and_say_how_many_would() {
    let judged = gate_run(&gate(&["p99>1ms"]), &run_of(5, 1), false);
    let told = check(&judged, "p99 > 1.00ms");
    assert_eq!(told.answer, GateAnswer::CouldNotTell, "{told:?}");
    // Two conditions: the one on errors is added.
    assert_eq!(told.would_decide.as_deref(), Some("7 blocks at least, and there are 5"));
}

#[test]
fn a_trial_that_failed_fails_the_gate() {
    let mut trials = run_of(10, 1);
    trials[3].result = TrialResult::Failed { error: "it died".into() };
    let judged = gate_run(&gate(&["p99>1s"]), &trials, false);
    assert_eq!(judged.answer, GateAnswer::Failed);
    assert_eq!(check(&judged, "trials that failed > 0").why.as_deref(), Some("it died"));
    assert_eq!(check(&judged, "p99 > 1.00s").answer, GateAnswer::Passed);
}

fn two_stacks(loss: f64) -> Vec<Trial> {
    let goodput = |block: u32, seed: u64| 1000.0 * (1.0 + 0.01 * noise(seed + u64::from(block)));
    let of_both = |block: u32| {
        let base = of("main", block, |load| load.goodput_per_s = goodput(block, 0));
        let own = of("head", block, |load| load.goodput_per_s = goodput(block, 500) * (1.0 - loss));
        [base, own]
    };
    (0..10).flat_map(of_both).collect()
}

#[test]
fn a_loss_to_the_baseline_is_told_from_noise() {
    let judged = |loss: f64| gate_run(&against("main", 10.0), &two_stacks(loss), false);
    let name = "loss of goodput to main > 10%";
    for (loss, due) in [
        (0.0, GateAnswer::Passed),
        (0.2, GateAnswer::Failed),
        (0.1, GateAnswer::CouldNotTell),
        (-0.3, GateAnswer::Passed),
    ] {
        let judged = judged(loss);
        let told = check(&judged, name);
        assert_eq!(told.answer, due, "{loss}: {told:?}");
        assert!((told.value.unwrap() - loss).abs() < 0.02, "{told:?}");
        assert_eq!(
            judged.checks.iter().filter(|it| it.fails_if == name).count(),
            1,
            "the baseline has no loss to itself"
        );
    }
    let kept = gate_run(&against("main", 10.0), &two_stacks(0.2), true);
    assert_eq!(
        check(&kept, name).answer,
        GateAnswer::CouldNotTell,
        "one process of each tells nothing of another"
    );
    let absent = gate_run(&against("gone", 10.0), &two_stacks(0.2), false);
    assert!(check(&absent, "loss of goodput to gone > 10%").why.as_deref().unwrap().contains("not measured"));
}

/// Who leaves so many unanswered in each block that a percentile is only a bound lost by more than any ratio.
#[test]
fn a_loss_beyond_any_ratio_is_one() {
    let trials = |stack: &str, unanswered: bool| -> Vec<Trial> {
        let at = |block: u32| {
            of(stack, block, |load| {
                load.load.rate_per_s = Some(load.goodput_per_s);
                if unanswered {
                    let count = load.response_time_us.count;
                    load.response_time_us.censored = count / 50;
                    load.response_time_us.lower_bounds = vec!["p99".into(), "p99_9".into(), "max".into()];
                    load.outcomes.timed_out = load.intended / 50;
                    load.outcomes.answered = load.intended - load.outcomes.timed_out;
                    load.answered_as_expected = load.outcomes.answered;
                }
            })
        };
        (0..8).map(at).collect()
    };
    let both = [trials("main", false), trials("head", true)].concat();
    let name = "loss of p99 to main > 10%";
    let judged = gate_run(&against("main", 10.0), &both, false);
    let told = check(&judged, name);
    assert_eq!((told.answer, told.value), (GateAnswer::Failed, None), "{told:?}");
    assert!(told.why.as_deref().is_some_and(|why| why.contains("no ratio")), "{told:?}");
    let other = [trials("main", true), trials("head", false)].concat();
    let judged = gate_run(&against("main", 10.0), &other, false);
    assert_eq!(check(&judged, name).answer, GateAnswer::Passed, "{judged:?}");
}

/// A window is too short for whoever became so slow, and that is the loss.
#[test]
fn who_is_too_slow_for_its_window_has_lost_all_the_same() {
    let slow = |stack: &str, block: u32, factor: f64| {
        of(stack, block, |load| {
            load.goodput_per_s *= factor;
            load.response_time_us.mean = load.response_time_us.mean.map(|us| us / factor);
            load.window.duration_s = 5.0;
        })
    };
    let mean_us = trial().load.response_time_us.mean.unwrap();
    let factor = mean_us / 2e6;
    let both: Vec<Trial> = (0..8).flat_map(|it| [slow("main", it, 1.0), slow("head", it, factor)]).collect();
    let judged = gate_run(&against("main", 10.0), &both, false);
    let told = check(&judged, "loss of goodput to main > 10%");
    assert_eq!(told.answer, GateAnswer::Failed, "{told:?}");
}

/// Times that are not known make no two stacks equal.
#[test]
fn a_loss_of_times_of_machines_whose_clocks_jumped_is_not_known() {
    let at = |stack: &str, jumped: bool, block: u32| {
        of(stack, block, |load| {
            load.load.rate_per_s = Some(load.goodput_per_s);
            load.agents =
                vec![record::AgentResult { clock_jumped: jumped, ..record::AgentResult::default() }];
        })
    };
    let answer = |jumped: bool| {
        let both: Vec<Trial> =
            (0..8).flat_map(|it| [at("main", jumped, it), at("head", jumped, it)]).collect();
        check(&gate_run(&against("main", 10.0), &both, false), "loss of p99 to main > 10%").answer
    };
    assert_eq!([answer(false), answer(true)], [GateAnswer::Passed, GateAnswer::CouldNotTell]);
}

fn run<'a>(manifest: &'a Manifest, trials: &'a [Trial]) -> RecordedRun<'a> {
    RecordedRun { manifest, trials, experiment: "", dir: "run" }
}

/// What is asked of a run that lost `loss` to those before it, which started one after another.
fn after(before: &[Vec<Trial>], own: &[Trial], percent: f64) -> GateCheck {
    let started =
        |day: usize| Manifest { started: format!("2026-01-{day:02}T00:00:00Z"), ..Manifest::default() };
    let manifest = started(before.len() + 1);
    let mut known = RunsBefore::of(run(&manifest, own));
    for (day, trials) in before.iter().enumerate() {
        let manifest = started(day + 1);
        known.add(run(&manifest, trials));
    }
    // One that came later is nobody's baseline.
    known.add(run(&started(28), &[of("gin", 0, |load| load.goodput_per_s = 1.0)]));
    let max_loss = Share::percent(percent).expect("it is a share");
    let gate = Gate { last_runs: Some(LastRuns { count: 10, max_loss }), ..Gate::default() };
    let judged = explain::gate_run(&gate, own, false, &known);
    let found = judged.checks.into_iter().find(|it| it.fails_if.contains("to the last 10 runs"));
    found.expect("it is asked")
}

/// A run of ten blocks, which differs from the next run as a whole: that is what no run knows of itself.
fn whole_run(seed: u64, factor: f64) -> Vec<Trial> {
    let of_run = factor * (1.0 + 0.03 * noise(seed));
    let goodput = |block: u32| 1000.0 * of_run * (1.0 + 0.002 * noise(seed * 100 + u64::from(block)));
    (0..10).map(|block| of("gin", block, |load| load.goodput_per_s = goodput(block))).collect()
}

#[test]
fn a_loss_to_the_last_runs_is_told_from_what_lies_between_two_runs() {
    let before: Vec<Vec<Trial>> = (0..10).map(|seed| whole_run(seed, 1.0)).collect();
    for (factor, due) in [
        (1.0, GateAnswer::Passed),
        (0.7, GateAnswer::Failed),
        (0.9, GateAnswer::CouldNotTell),
        (1.5, GateAnswer::Passed),
    ] {
        let told = after(&before, &whole_run(99, factor), 10.0);
        assert_eq!(told.answer, due, "{factor}: {told:?}");
        assert_eq!(told.would_decide.is_some(), due == GateAnswer::CouldNotTell, "{told:?}");
    }
    // Of its blocks alone, a run that is 3 % off as a whole would be found to have lost 2 %, time after time.
    let alarms = (0..200).filter(|seed| {
        let before: Vec<Vec<Trial>> = (0..10).map(|it| whole_run(1000 + seed * 11 + it, 1.0)).collect();
        after(&before, &whole_run(1010 + seed * 11, 1.0), 2.0).answer == GateAnswer::Failed
    });
    let alarms = alarms.count();
    assert!(alarms <= 10, "{alarms} of 200");
}

#[test]
fn few_runs_before_tell_nothing_and_one_that_fell_silent_fails() {
    let before: Vec<Vec<Trial>> = (0..5).map(|seed| whole_run(seed, 1.0)).collect();
    let told = after(&before, &whole_run(99, 0.1), 10.0);
    assert_eq!(told.answer, GateAnswer::CouldNotTell, "{told:?}");
    assert_eq!(told.why.as_deref(), Some("of the runs before it, 5 can be compared"));
    let before: Vec<Vec<Trial>> = (0..6).map(|seed| whole_run(seed, 1.0)).collect();
    let dead = |block: u32| Trial {
        result: TrialResult::Failed { error: "it died".into() },
        ..of("gin", block, |_| ())
    };
    let mut own = whole_run(99, 1.0);
    own[..8].clone_from_slice(&(0..8).map(dead).collect::<Vec<Trial>>());
    let told = after(&before, &own, 10.0);
    assert_eq!(told.answer, GateAnswer::Failed, "{told:?}");
}

/// Nobody knows how one would have come out that was ended because it went badly.
#[test]
fn a_run_that_was_cut_short_is_no_measure_for_others() {
    let manifest = |day: u32, complete: bool| Manifest {
        started: format!("2026-01-{day:02}T00:00:00Z"),
        complete: Some(complete),
        ..Manifest::default()
    };
    let (own, of_own) = (whole_run(99, 0.5), manifest(8, true));
    let told = |are_whole: bool| {
        let mut known = RunsBefore::of(run(&of_own, &own));
        for day in 1..=7 {
            known.add(run(&manifest(day, day <= 5 || are_whole), &whole_run(day.into(), 1.0)));
        }
        let max_loss = Share::percent(10.0).expect("it is a share");
        let gate = Gate { last_runs: Some(LastRuns { count: 10, max_loss }), ..Gate::default() };
        let judged = explain::gate_run(&gate, &own, false, &known);
        check(&judged, "loss of goodput to the last 10 runs > 10%").clone()
    };
    assert_eq!(told(true).answer, GateAnswer::Failed);
    let open = told(false);
    assert_eq!(open.answer, GateAnswer::CouldNotTell, "{open:?}");
    let due = "of the runs before it, 5 can be compared; 2 more were cut short";
    assert_eq!(open.why.as_deref(), Some(due));
}

/// A run that is slower on a new kernel, or by a new version of Proofload, is held against none of before.
#[test]
fn a_loss_that_may_be_the_conditions_is_none() {
    let own = whole_run(99, 0.5);
    let told = |change: &dyn Fn(usize, &mut Manifest)| {
        let started = |day: usize| {
            let mut manifest =
                Manifest { started: format!("2026-01-{day:02}T00:00:00Z"), ..Manifest::default() };
            change(day, &mut manifest);
            manifest
        };
        let manifest = started(15);
        let mut known = RunsBefore::of(run(&manifest, &own));
        for day in 1..=10 {
            known.add(run(&started(day), &whole_run(day as u64, 1.0)));
        }
        let max_loss = Share::percent(10.0).expect("it is a share");
        let gate = Gate { last_runs: Some(LastRuns { count: 10, max_loss }), ..Gate::default() };
        let judged = explain::gate_run(&gate, &own, false, &known);
        check(&judged, "loss of goodput to the last 10 runs > 10%").clone()
    };
    assert_eq!(told(&|_, _| ()).answer, GateAnswer::Failed);
    let kernel = |day: usize, it: &mut Manifest| {
        it.machine.kernel = Some(if day < 8 { "6.1.9" } else { "6.8.0" }.into());
    };
    let open = told(&kernel);
    assert_eq!(open.answer, GateAnswer::CouldNotTell, "{open:?}");
    let due =
        "of the runs before it, 3 can be compared; 7 more were measured under other conditions (kernel)";
    assert_eq!(open.why.as_deref(), Some(due));
    // Six of the same are enough again.
    let sooner = |day: usize, it: &mut Manifest| kernel(day + 3, it);
    assert_eq!(told(&sooner).answer, GateAnswer::Failed);
    let version = |day: usize, it: &mut Manifest| {
        it.proofload = if day < 15 { "0.1.0" } else { "0.2.0" }.into();
    };
    let open = told(&version);
    assert_eq!(open.answer, GateAnswer::CouldNotTell, "{open:?}");
    assert!(open.why.is_some_and(|it| it.contains("(version of Proofload)")));
}

/// Loads at one rate whose 99th percentile lies around 5 ms, each up to 3 % off, and one whose lies so many times as high.
fn load_after(count: u64, times_as_long: f64, change: impl Fn(&mut LoadResult)) -> GateCheck {
    let load = |seed: u64, times: f64| {
        let mut load = trial().load;
        load.load.rate_per_s = Some(500.0);
        load.response_time_us.p99 = Some(5_000.0 * times * (1.0 + 0.03 * noise(seed)));
        load.load.seed = seed;
        load
    };
    let mut before = LoadsBefore::new("results".into(), Share::percent(10.0).expect("it is a share"));
    (0..count).for_each(|seed| before.add(&load(seed, 1.0)));
    let mut own = load(99, times_as_long);
    change(&mut own);
    let judged = gate_load(&Gate::default(), &own, &Batches::default(), Some(&before));
    check(&judged, "loss of p99 to the loads in results > 10%").clone()
}

#[test]
fn a_load_is_held_against_those_that_were_asked_for_the_same() {
    let same = |_: &mut LoadResult| ();
    for (times, due) in [
        (1.0, GateAnswer::Passed),
        (0.5, GateAnswer::Passed),
        (1.15, GateAnswer::CouldNotTell),
        (1.6, GateAnswer::Failed),
    ] {
        let told = load_after(10, times, same);
        assert_eq!(told.answer, due, "{times}: {told:?}");
    }
    let few = load_after(5, 3.0, same);
    assert_eq!(few.would_decide.as_deref(), Some("6 loads before it"), "{few:?}");
    let other = load_after(10, 3.0, |own| own.load.connections += 1);
    let why = "of the loads before it, 0 can be compared; of the others, 10 asked for something else";
    assert_eq!(other.why.as_deref(), Some(why), "{other:?}");
    let other = load_after(10, 3.0, |own| own.url = "http://elsewhere/".into());
    assert_eq!(other.answer, GateAnswer::CouldNotTell, "{other:?}");
    let by_proxy = load_after(10, 3.0, |own| own.via = Some("the proxy 127.0.0.1:3128".into()));
    assert_eq!(by_proxy.why.as_deref(), Some(why), "{by_proxy:?}");
    let silent = load_after(10, 1.0, |own| {
        own.answered_as_expected = 0;
        own.response_time_us = times(0, 0.0);
    });
    assert_eq!(silent.answer, GateAnswer::Failed, "{silent:?}");
}

/// A GET and a POST of one URL are two loads. A record that does not say what was sent may be of either.
#[test]
fn a_load_is_held_against_none_of_another_request() {
    let of = |method: &str, header: &str, body_bytes: u64| {
        let names = [header].into_iter().filter(|it| !it.is_empty()).map(str::as_bytes);
        Some(RequestSummary::new(method.as_bytes(), names, body_bytes))
    };
    let get = || of("GET", "", 0);
    let told = |before: Option<RequestSummary>, own: Option<RequestSummary>| {
        let load = |seed: u64| {
            let mut load = trial().load;
            load.load.rate_per_s = Some(500.0);
            load.response_time_us.p99 = Some(5_000.0 * (1.0 + 0.03 * noise(seed)));
            load
        };
        let mut loads = LoadsBefore::new("results".into(), Share::percent(10.0).expect("it is a share"));
        (0..10).for_each(|seed| loads.add(&LoadResult { request: before.clone(), ..load(seed) }));
        let own = LoadResult { request: own, ..load(99) };
        let judged = gate_load(&Gate::default(), &own, &Batches::default(), Some(&loads));
        check(&judged, "loss of p99 to the loads in results > 10%").answer
    };
    for same in [(get(), get()), (None, get()), (get(), None), (of("GET", "User-Agent", 0), get())] {
        assert_eq!(told(same.0.clone(), same.1.clone()), GateAnswer::Passed, "{same:?}");
    }
    for other in [of("POST", "", 0), of("GET", "", 7), of("GET", "Cookie", 0)] {
        assert_eq!(told(get(), other.clone()), GateAnswer::CouldNotTell, "{other:?}");
    }
}

/// Of loads so slow that nobody saw how slow, only those that went well would be left: what lies between two of them looked too
/// little, and each answer would rest on that.
#[test]
fn earlier_loads_that_were_too_slow_to_be_seen_do_not_vanish() {
    let load = |seed: u64, is_seen: bool| {
        let mut load = trial().load;
        load.load.rate_per_s = Some(500.0);
        load.response_time_us.p99 = Some(5_000.0 * (1.0 + 0.03 * noise(seed)));
        if !is_seen {
            load.response_time_us.p99 = Some(2e6);
            load.response_time_us.censored = load.response_time_us.count / 50;
            load.response_time_us.lower_bounds = vec!["p99".into(), "p99_9".into(), "max".into()];
            load.outcomes.timed_out = load.intended / 50;
            load.outcomes.answered = load.intended - load.outcomes.timed_out;
            load.answered_as_expected = load.outcomes.answered;
        }
        load
    };
    let judged = |unseen: u64, times_as_long: f64| {
        let mut before = LoadsBefore::new("results".into(), Share::percent(10.0).expect("it is a share"));
        (0..10).for_each(|seed| before.add(&load(seed, true)));
        (0..unseen).for_each(|seed| before.add(&load(seed, false)));
        // One that somebody ended is no measure, however slow it was.
        before.add(&LoadResult { interrupted: true, ..load(11, false) });
        let mut own = load(99, true);
        own.response_time_us.p99 = own.response_time_us.p99.map(|us| us * times_as_long);
        let judged = gate_load(&Gate::default(), &own, &Batches::default(), Some(&before));
        check(&judged, "loss of p99 to the loads in results > 10%").clone()
    };
    assert_eq!([1.0, 1.6].map(|it| judged(0, it).answer), [GateAnswer::Passed, GateAnswer::Failed]);
    for times_as_long in [1.0, 1.6] {
        let told = judged(3, times_as_long);
        assert_eq!(told.answer, GateAnswer::CouldNotTell, "{told:?}");
        let due = "3 of the 13 loads before it had a p99 that was longer than could be seen";
        assert_eq!(told.why.as_deref(), Some(due), "{told:?}");
    }
}

/// The same of runs in which most trials brought nothing.
#[test]
fn earlier_runs_that_brought_nothing_do_not_vanish() {
    let dead = |block: u32| Trial {
        result: TrialResult::Failed { error: "it died".into() },
        ..of("gin", block, |_| ())
    };
    let mut before: Vec<Vec<Trial>> = (0..8).map(|seed| whole_run(seed, 1.0)).collect();
    assert_eq!(after(&before, &whole_run(99, 0.7), 10.0).answer, GateAnswer::Failed);
    before[3] = (0..10).map(dead).collect();
    let told = after(&before, &whole_run(99, 0.7), 10.0);
    assert_eq!(told.answer, GateAnswer::CouldNotTell, "{told:?}");
    assert!(told.why.as_ref().is_some_and(|it| it.starts_with("1 of the 8 runs before it")), "{told:?}");
}

#[test]
fn a_load_of_which_nothing_is_known_passes_nothing() {
    let empty = LoadResult { intended: 0, answered_as_expected: 0, ..trial().load };
    let judged = gate_load(&gate(&["p99>1s", "goodput<1/s", "errors>0"]), &empty, &Batches::default(), None);
    assert_eq!(judged.count(GateAnswer::Passed), 0, "{judged:?}");
}

/// What nobody saw the end of may have been longer than what was seen of others.
#[test]
fn the_longest_of_a_run_is_a_bound_where_that_of_any_trial_is() {
    let at = |block: u32| {
        of("gin", block, |load| {
            load.response_time_us.max = Some(if block == 5 { 2e6 } else { 3e6 });
            load.response_time_us.lower_bounds = if block == 5 { vec!["max".into()] } else { Vec::new() };
        })
    };
    let trials: Vec<Trial> = (0..8).map(at).collect();
    let judged = gate_run(&gate(&["max>5s"]), &trials, false);
    let told = check(&judged, "max > 5.00s");
    assert_eq!(
        (told.answer, told.is_lower_bound, told.high),
        (GateAnswer::CouldNotTell, true, None),
        "{told:?}"
    );
    let judged = gate_run(&gate(&["max>1s"]), &trials, false);
    assert_eq!(check(&judged, "max > 1.00s").answer, GateAnswer::Failed);
}

#[test]
fn what_a_throttled_client_hides_does_not_pass() {
    let mut trials = two_stacks(0.0);
    for trial in &mut trials {
        let TrialResult::Measured(it) = &mut trial.result else { unreachable!("all are measured") };
        let agent = record::AgentResult {
            name: "h0".into(),
            throttled_s: Some(6.0),
            ..record::AgentResult::default()
        };
        it.load.agents = vec![agent];
    }
    let judged = gate_run(&against("main", 10.0), &trials, false);
    let told = check(&judged, "loss of goodput to main > 10%");
    assert_eq!(told.answer, GateAnswer::CouldNotTell, "{told:?}");
    assert!(told.why.as_ref().is_some_and(|it| it.starts_with("throttled")), "{told:?}");
}

/// How far apart requests of several machines were due is not known, and with it not how long each waited.
#[test]
fn times_of_machines_whose_clocks_jumped_pass_and_fail_nothing() {
    let at = |block: u32| {
        of("gin", block, |load| {
            load.agents = vec![record::AgentResult { clock_jumped: true, ..record::AgentResult::default() }];
        })
    };
    let trials: Vec<Trial> = (0..8).map(at).collect();
    let judged = gate_run(&gate(&["p99>5s", "p99>1us", "errors>50%"]), &trials, false);
    let asked = judged.checks.iter().filter(|it| !it.is_default);
    let answers: Vec<GateAnswer> = asked.map(|it| it.answer).collect();
    assert_eq!(
        answers,
        [GateAnswer::CouldNotTell, GateAnswer::CouldNotTell, GateAnswer::Passed],
        "{judged:?}"
    );
}

/// Requests that were under way when somebody ended the load are no errors, and a rate is told in as many digits as anybody reads.
#[test]
fn what_a_check_says_of_an_ended_load_and_of_a_rate_is_to_be_read() {
    let mut ended = trial().load;
    (ended.interrupted, ended.outcomes.in_flight) = (true, 8);
    ended.outcomes.answered -= 8;
    ended.answered_as_expected -= 8;
    let judged = gate_load(&gate(&["errors>0"]), &ended, &Batches::default(), None);
    let told = &judged.checks[0];
    assert_eq!((told.answer, told.value), (GateAnswer::CouldNotTell, Some(0.0)), "{told:?}");
    let mut a_minute = trial().load;
    a_minute.load.rate_per_s = Some(1000.0 / 60.0);
    a_minute.goodput_per_s = 1000.0 / 60.0;
    let judged = gate_load(&gate(&["goodput<20"]), &a_minute, &Batches::default(), None);
    let why = judged.checks[0].why.as_deref();
    assert!(why.is_some_and(|it| it.starts_with("the load asks for 16.67/s, and")), "{judged:?}");
}

/// A quick look at an experiment makes few requests, and its gate is written for many.
#[test]
fn a_count_that_was_out_of_reach_is_not_kept_to() {
    let short = |load: &mut LoadResult| {
        (load.intended, load.answered_as_expected, load.outcomes.answered) = (200, 200, 200);
    };
    let trials = [of("gin", 0, short), of("gin", 1, short)];
    let mut load = trial().load;
    short(&mut load);
    let of_load = |condition: &str| gate_load(&gate(&[condition]), &load, &Batches::default(), None);
    let of_run = |condition: &str| gate_run(&gate(&[condition]), &trials, false);
    let asked =
        |judged: GateResult| judged.checks.into_iter().find(|it| !it.is_default).expect("it is asked");
    for (check, due) in [
        (asked(of_load("errors>199")), GateAnswer::Passed),
        (asked(of_load("errors>200")), GateAnswer::CouldNotTell),
        (asked(of_run("errors>=400")), GateAnswer::Passed),
        (asked(of_run("errors>400")), GateAnswer::CouldNotTell),
    ] {
        assert_eq!(check.answer, due, "{check:?}");
        let why = check.why.unwrap_or_default();
        assert_eq!(why.ends_with("too few for so many to fail"), due == GateAnswer::CouldNotTell, "{why}");
    }
}

/// A record bounds what is counted of a trial, and a run has many trials.
#[test]
fn errors_of_many_trials_are_added_up_without_an_overflow() {
    let half_lost = |block: u32| {
        of("gin", block, |load| {
            load.intended = 1 << 62;
            load.answered_as_expected = load.intended / 2;
            load.outcomes.answered = load.intended;
        })
    };
    let trials: Vec<Trial> = (0..10).map(half_lost).collect();
    let judged = gate_run(&gate(&["errors>1%", "errors>5"]), &trials, false);
    let asked: Vec<&GateCheck> = judged.checks.iter().filter(|it| !it.is_default).collect();
    assert_eq!(asked.iter().map(|it| it.answer).collect::<Vec<_>>(), [GateAnswer::Failed; 2], "{judged:?}");
    assert!(asked[0].value.is_some_and(|share| (share - 0.5).abs() < 1e-9), "{:?}", asked[0]);
}
