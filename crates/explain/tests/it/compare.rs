//! Two made-up runs compared: what a gate must not let through.

use explain::{CellChange, ChangeVerdict, RecordedRun, WorseBy, compare_runs};
use record::{LoadResult, Manifest, Outcomes, RankedBy, Role, Trial, TrialResult, load_of_label};

use crate::samples::{measured_in, trial, trial_in};

/// A trial that answered all but `failed` of its 96,000 requests, some 1000 a second.
fn failing(block: u32, failed: u64) -> Trial {
    let mut measured = trial();
    let load = &mut measured.load;
    let good = load.intended - failed;
    load.outcomes = Outcomes { answered: good, reset: failed, ..Outcomes::default() };
    load.answered_as_expected = good;
    let unevenness = 1.0 + 0.002 * f64::from(block * 5 % 7);
    load.goodput_per_s = 1000.0 * unevenness * good as f64 / load.intended as f64;
    measured_in(block, "gin", measured)
}

fn well(block: u32) -> Trial {
    failing(block, 0)
}

/// Nobody was answered, and the generator had its hands full with refusals.
fn dead(block: u32) -> Trial {
    let mut trial = failing(block, 96_000);
    if let TrialResult::Measured(measured) = &mut trial.result {
        measured.load.generator.busy_share = 0.95;
    }
    trial
}

fn failed(block: u32) -> Trial {
    trial_in(block, "gin", TrialResult::Failed { error: "it did not come up".into() })
}

fn changed(a: &[Trial], b: &[Trial]) -> CellChange {
    let manifest = Manifest::default();
    let run = |trials| RecordedRun { manifest: &manifest, trials, experiment: "", dir: "run" };
    compare_runs(run(a), run(b), 0.02).cells.remove(0)
}

fn blocks(count: u32, of: impl Fn(u32) -> Trial) -> Vec<Trial> {
    (0..count).map(of).collect()
}

/// Ten of twelve trials without a good answer, and the two that are left are as ever.
#[test]
fn a_run_whose_trials_die_is_worse_whatever_the_survivors_do() {
    let a = blocks(12, well);
    for ill in [dead, failed] {
        let b = blocks(12, |block| if block < 10 { ill(block) } else { well(block) });
        let told = changed(&a, &b);
        assert_eq!(told.verdict, ChangeVerdict::Worse, "{told:?}");
        assert!(told.worse_by.contains(&WorseBy::FailedTrials), "{told:?}");
        assert!(told.worse_by.contains(&WorseBy::Goodput), "{told:?}");
        assert_eq!((told.trials, told.failed_trials), ([12, 12], [0, 10]));
        assert!(told.failed_trials_p.unwrap() < 0.001 && told.goodput_per_s[1] == Some(0.0), "{told:?}");
        let back = changed(&b, &a);
        assert_eq!((back.verdict, back.ratio), (ChangeVerdict::Better, None), "{back:?}");
    }
}

#[test]
fn failed_requests_are_compared_by_trial() {
    let a = blocks(12, |block| failing(block, u64::from(block % 3) * 10));
    // Half a per cent of the requests fails, which the goodput hardly shows.
    let told = changed(&a, &blocks(12, |block| failing(block, 480 + u64::from(block % 3) * 10)));
    assert_eq!((told.verdict, &told.worse_by[..]), (ChangeVerdict::Worse, &[WorseBy::FailedRequests][..]));
    assert!(told.failed_share_p.unwrap() < 0.001 && told.failed_trials_p.is_none(), "{told:?}");
    let [before, after] = told.failed_share.map(Option::unwrap);
    assert!((after - before - 0.005).abs() < 1e-6, "{told:?}");
    // Surely more, and less than one in a thousand.
    let told = changed(&a, &blocks(12, |block| failing(block, 40 + u64::from(block % 3) * 10)));
    assert_eq!(told.verdict, ChangeVerdict::Unchanged, "{told:?}");
    assert!(told.failed_share_p.unwrap() < 0.05);
    // One bad trial of twelve, however many requests it made, is one trial.
    let told =
        changed(&blocks(12, well), &blocks(12, |block| failing(block, if block == 3 { 9_000 } else { 0 })));
    assert_eq!(told.verdict, ChangeVerdict::Unchanged, "{told:?}");
}

#[test]
fn few_failures_are_neither_worse_nor_no_change() {
    let a = blocks(12, well);
    let told = changed(&a, &blocks(12, |block| if block < 2 { dead(block) } else { well(block) }));
    assert_eq!(told.verdict, ChangeVerdict::TooFew, "{told:?}");
    assert!(told.failed_trials_p.unwrap() > 0.05 && told.is_rise_of_failures_open());
    // As many in both, and fewer than before, are no change.
    let two = blocks(12, |block| if block < 2 { dead(block) } else { well(block) });
    for b in [&two, &a] {
        let told = changed(&two, b);
        assert_eq!((told.verdict, told.is_rise_of_failures_open()), (ChangeVerdict::Unchanged, false));
    }
    // One trial each tells nothing, and no trial failed.
    let told = changed(&a[..1], &a[..1]);
    assert_eq!((told.verdict, told.is_rise_of_failures_open()), (ChangeVerdict::TooFew, false));
}

/// Most trials of one of six cells die, which seven blocks and the tests of all cells can't show, and which is no "nothing got worse".
#[test]
fn a_rise_of_failed_trials_that_cannot_be_told_is_counted() {
    let run = |dying: u32| -> Vec<Trial> {
        let cell = |stack: u32| {
            (0..7).map(move |block| {
                let mut trial = if stack == 0 && block < dying { failed(block) } else { well(block) };
                trial.stack = format!("s{stack}");
                trial
            })
        };
        (0..6).flat_map(cell).collect()
    };
    let (a, b, manifest) = (run(0), run(5), Manifest::default());
    let recorded = |trials| RecordedRun { manifest: &manifest, trials, experiment: "", dir: "run" };
    let told = compare_runs(recorded(&a), recorded(&b), 0.02);
    assert_eq!((told.count(ChangeVerdict::Worse), told.open_rises()), (0, 1), "{:?}", told.cells[0]);
    assert_eq!(compare_runs(recorded(&a), recorded(&a), 0.02).open_rises(), 0);
}

/// What is faster where it lives, and dies more often, is not called better.
#[test]
fn a_gain_beside_more_failed_trials_is_not_called_better() {
    let faster = |block: u32| {
        let mut trial = if block == 0 { failed(block) } else { well(block) };
        if let TrialResult::Measured(measured) = &mut trial.result {
            measured.load.goodput_per_s *= 1.5;
        }
        trial
    };
    let told = changed(&blocks(20, well), &blocks(20, faster));
    assert!(told.p <= 0.05 && told.ratio.is_some_and(|it| it > 1.4), "{told:?}");
    assert_eq!((told.verdict, told.is_rise_of_failures_open()), (ChangeVerdict::TooFew, true), "{told:?}");
}

#[test]
fn where_nothing_good_is_left_there_is_no_no_change() {
    let (a, none) = (blocks(12, well), blocks(12, dead));
    let told = changed(&a, &none);
    assert_eq!(told.verdict, ChangeVerdict::Worse);
    assert!(told.worse_by.contains(&WorseBy::NoGoodAnswer), "{told:?}");
    let told = changed(&none, &none);
    assert_eq!(told.verdict, ChangeVerdict::TooFew);
    assert!(told.notes.iter().any(|note| note.contains("nothing to compare")), "{told:?}");
    // One trial each tells nothing but that.
    assert_eq!(changed(&a[..1], &none[..1]).verdict, ChangeVerdict::Worse);
    // What is left when the client was the limit in the others is no answer either.
    let bound = |block: u32| {
        let mut trial = well(block);
        if let TrialResult::Measured(measured) = &mut trial.result {
            measured.load.generator.busy_share = 0.95;
        }
        trial
    };
    let b = blocks(12, |block| if block == 0 { dead(block) } else { bound(block) });
    assert_eq!(changed(&a, &b).verdict, ChangeVerdict::TooFew);
}

/// The tests that nothing can come of cost nothing: four trials decide, as long as nothing fails.
#[test]
fn without_failures_four_trials_are_enough() {
    let slower = |block: u32| {
        let mut trial = well(block);
        if let TrialResult::Measured(measured) = &mut trial.result {
            measured.load.goodput_per_s *= 0.8;
        }
        trial
    };
    let told = changed(&blocks(4, well), &blocks(4, slower));
    assert_eq!((told.verdict, &told.worse_by[..]), (ChangeVerdict::Worse, &[WorseBy::Goodput][..]));
    assert_eq!((told.failed_trials_p, told.failed_share_p), (None, None));
}

/// The adjusted p is what says whether a change was shown, and not what the worst of all cells would have needed.
#[test]
fn a_change_that_its_adjusted_p_shows_is_told() {
    let at = |stack: &str, factor: f64, count: u32| -> Vec<Trial> {
        let one = |block: u32| {
            let mut trial = well(block);
            trial.stack = stack.into();
            if let TrialResult::Measured(measured) = &mut trial.result {
                measured.load.goodput_per_s *= factor;
            }
            trial
        };
        (0..count).map(one).collect()
    };
    let run = |factor: f64| [at("gin", factor, 10), at("nginx", factor, 4)].concat();
    let (a, b, manifest) = (run(1.0), run(1.3), Manifest::default());
    let recorded = |trials| RecordedRun { manifest: &manifest, trials, experiment: "", dir: "run" };
    let told = compare_runs(recorded(&a), recorded(&b), 0.02);
    let verdicts: Vec<ChangeVerdict> = told.cells.iter().map(|it| it.verdict).collect();
    assert_eq!(verdicts, [ChangeVerdict::Better; 2]);
}

/// Of 1,000 pairs of runs that fail alike, no more than the 5 % may be called worse that chance allows.
#[test]
fn runs_that_fail_alike_are_seldom_called_worse() {
    let mut state = 88_172_645_463_325_252_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut one = |block: u32| match random() % 10 {
        0..=2 => dead(block),
        rest => failing(block, rest * 100 + random() % 50),
    };
    let worse = (0..1_000).filter(|_| {
        let mut run = || (0..8).map(&mut one).collect::<Vec<Trial>>();
        let (a, b) = (run(), run());
        changed(&a, &b).verdict == ChangeVerdict::Worse
    });
    // At a true rate of 5 %, more than 71 happen once in a thousand times.
    let worse = worse.count();
    assert!(worse <= 71, "{worse}");
}

/// A bound is longer than any figure, so where half of the trials have no more, the middle one is a bound.
#[test]
fn a_median_behind_a_bound_is_a_bound() {
    let with_p99 = |block: u32, us: f64, is_bound: bool| {
        let mut trial = well(block);
        if let TrialResult::Measured(measured) = &mut trial.result {
            let times = &mut measured.load.response_time_us;
            times.p99 = Some(us);
            times.lower_bounds = if is_bound { vec!["p99".into()] } else { Vec::new() };
        }
        trial
    };
    let b = blocks(5, |block| with_p99(block, f64::from(block + 1) * 1e3, block < 3));
    let [seen, bound] = changed(&blocks(5, |block| with_p99(block, 3e3, false)), &b).response_p99_us;
    assert!(!seen.unwrap().is_lower_bound && bound.unwrap().is_lower_bound);
}

/// A trial whose load is as `change` makes it.
fn with(block: u32, change: impl FnOnce(&mut LoadResult)) -> Trial {
    let mut trial = well(block);
    if let TrialResult::Measured(measured) = &mut trial.result {
        change(&mut measured.load);
    }
    trial
}

/// Some 1000 a second times `factor`, and as much its twin times `twin`.
fn with_twins(factor: f64, twin: f64) -> Vec<Trial> {
    let at = |block: u32, factor: f64| with(block, |load| load.goodput_per_s *= factor);
    let twin = |block: u32| Trial { role: Role::Twin, ..at(block, factor * twin) };
    (0..8).flat_map(|block| [at(block, factor), twin(block)]).collect()
}

#[test]
fn what_lies_between_twins_is_no_change_between_runs() {
    // 4 % less, of a stack that is as far from its twin in neither run, in one of them, or in both.
    for (before, after, verdict, least) in [
        (1.0, 1.0, ChangeVerdict::Worse, 0.02),
        (1.01, 0.99, ChangeVerdict::Worse, 0.02),
        (1.0, 1.06, ChangeVerdict::Unchanged, 0.06),
        (1.07, 1.06, ChangeVerdict::Unchanged, 0.07),
    ] {
        let told = changed(&with_twins(1.0, before), &with_twins(0.96, after));
        assert_eq!(told.verdict, verdict, "{told:?}");
        assert!((told.least_effect - least).abs() < 1e-9, "{told:?}");
        let [of_a, of_b] = told.twins.map(Option::unwrap);
        assert!((of_a * before - 1.0).abs() < 1e-9 && (of_b * after - 1.0).abs() < 1e-9, "{told:?}");
    }
    // Twins of another table say nothing of this one.
    let mut b = with_twins(0.96, 1.2);
    for trial in b.iter_mut().filter(|it| it.role == Role::Twin) {
        trial.load = load_of_label("300 connections");
    }
    let told = changed(&with_twins(1.0, 1.0), &b);
    assert_eq!((told.verdict, told.twins[1]), (ChangeVerdict::Worse, None), "{told:?}");
}

/// Twins that were apart by chance make a change uncertain, and nothing the same.
#[test]
fn what_twins_may_have_been_apart_by_is_open() {
    let twin = |block: u32| {
        // In four blocks up by 3 % to 21 %, in four down by up to 5 %: no interval says on which side.
        let side = if block.is_multiple_of(2) { 1.0 } else { -0.2 };
        let off = 1.0 + 0.03 * f64::from(block + 1) * side;
        Trial { role: Role::Twin, ..with(block, |load| load.goodput_per_s *= off) }
    };
    let a: Vec<Trial> = (0..8).flat_map(|block| [well(block), twin(block)]).collect();
    let b = blocks(8, |block| with(block, |load| load.goodput_per_s *= 0.978));
    let told = changed(&a, &b);
    assert!(told.least_effect > 0.0225 && told.p <= 0.05, "{told:?}");
    assert_eq!(told.verdict, ChangeVerdict::CouldNotTell, "{told:?}");
    assert!(told.why.as_deref().is_some_and(|it| it.contains("twin")), "{told:?}");
}

/// That no test shows a change is no evidence that there is none.
#[test]
fn no_change_is_said_on_evidence() {
    let noisy = |step: u32| {
        blocks(7, |block| {
            with(block, |load| {
                load.goodput_per_s = 1000.0 * (1.0 + 0.03 * f64::from(block * step % 7));
            })
        })
    };
    let (a, b) = (noisy(1), noisy(3));
    let manifest = Manifest::default();
    let run = |trials| RecordedRun { manifest: &manifest, trials, experiment: "", dir: "run" };
    let told = |threshold: f64| compare_runs(run(&a), run(&b), threshold).cells.remove(0);
    let open = told(0.02);
    assert!(open.p > 0.5 && open.low.unwrap() < 0.95, "{open:?}");
    assert_eq!(open.verdict, ChangeVerdict::CouldNotTell, "{open:?}");
    assert_eq!(told(0.15).verdict, ChangeVerdict::AllowedLoss, "{open:?}");
}

/// 6 % are lost, give or take three.
#[test]
fn more_than_is_allowed_is_lost_where_all_of_the_interval_says_so() {
    use ChangeVerdict::{AllowedLoss, CouldNotTell, Worse};
    let noisy = |factor: f64| {
        move |block: u32| {
            with(block, |load| {
                load.goodput_per_s = 1000.0 * factor * (1.0 + 0.01 * f64::from(block * 3 % 7));
            })
        }
    };
    let (a, b) = (blocks(7, noisy(1.0)), blocks(7, noisy(0.94)));
    let manifest = Manifest::default();
    let run = |trials| RecordedRun { manifest: &manifest, trials, experiment: "", dir: "run" };
    let told = |threshold: f64| compare_runs(run(&a), run(&b), threshold).cells.remove(0).verdict;
    assert_eq!([0.0, 0.02, 0.05, 0.15].map(told), [Worse, Worse, CouldNotTell, AllowedLoss]);
}

/// Whoever keeps up with a rate carries it, and all that can change is how long it takes.
#[test]
fn at_a_rate_the_p99_is_compared() {
    let at_rate = |times: f64| {
        blocks(8, |block| {
            with(block, |load| {
                load.load.rate_per_s = Some(1000.0);
                load.goodput_per_s = 1000.0;
                let us = 5_000.0 * times * (1.0 + 0.002 * f64::from(block * 5 % 7));
                load.response_time_us.p99 = Some(us);
            })
        })
    };
    let told = changed(&at_rate(1.0), &at_rate(2.0));
    assert_eq!((told.verdict, told.ranked_by), (ChangeVerdict::Worse, RankedBy::ResponseP99), "{told:?}");
    assert_eq!(told.worse_by, [WorseBy::ResponseP99]);
    assert!((told.ratio.unwrap() - 2.0).abs() < 0.02, "{told:?}");
    assert!(told.low.unwrap() < 2.0 && told.high.unwrap() > 2.0, "{told:?}");
    assert_eq!(changed(&at_rate(2.0), &at_rate(1.0)).verdict, ChangeVerdict::Better);
    assert_eq!(changed(&at_rate(1.0), &at_rate(1.0)).verdict, ChangeVerdict::Unchanged);
    // What nobody saw the end of is longer than what somebody did, and no two such are alike.
    let endless = blocks(8, |block| {
        with(block, |load| {
            load.load.rate_per_s = Some(1000.0);
            load.goodput_per_s = 1000.0;
            let count = load.response_time_us.count;
            load.response_time_us.p99 = Some(2e6);
            load.response_time_us.censored = count / 50;
            load.response_time_us.lower_bounds = vec!["p99".into(), "p99_9".into(), "max".into()];
        })
    });
    assert_eq!(changed(&at_rate(1.0), &endless).verdict, ChangeVerdict::Worse);
    assert_eq!(changed(&endless, &at_rate(1.0)).verdict, ChangeVerdict::Better);
    let told = changed(&endless, &endless);
    assert_eq!((told.verdict, told.p), (ChangeVerdict::CouldNotTell, 1.0), "{told:?}");
}

/// Of a client that was the limit, a service has carried no less. Left out, those trials would leave the slower ones.
#[test]
fn what_a_client_was_the_limit_of_is_no_loss() {
    let carrying = |per_s: f64, is_bound: bool| {
        move |block: u32| {
            with(block, |load| {
                load.goodput_per_s = per_s * (1.0 + 0.002 * f64::from(block * 5 % 7));
                if is_bound {
                    load.generator.busy_share = 0.95;
                }
            })
        }
    };
    let a = blocks(12, carrying(1000.0, false));
    // The slower five of twelve are as they were measured, and of the others nobody knows.
    let b = blocks(12, |block| carrying(if block < 5 { 960.0 } else { 1000.0 }, block >= 5)(block));
    let told = changed(&a, &b);
    assert!(told.ratio.is_some_and(|it| it < 0.97), "{told:?}");
    assert_eq!(told.verdict, ChangeVerdict::CouldNotTell, "{told:?}");
    // What it carried at least is a gain all the same.
    assert_eq!(changed(&a, &blocks(12, carrying(1500.0, true))).verdict, ChangeVerdict::Better);
    assert_eq!(changed(&blocks(12, carrying(1500.0, true)), &a).verdict, ChangeVerdict::Worse);
}

/// What makes another load of it.
type Change = fn(&mut LoadResult);

/// Of another machine, another client or another plan, a figure is another as well.
#[test]
fn no_change_is_called_the_stacks_that_may_be_the_conditions() {
    let (a, b) = (blocks(12, well), blocks(12, |block| with(block, |load| load.goodput_per_s *= 0.7)));
    let of_a = Manifest::default();
    let told = |change: &dyn Fn(&mut Manifest), b: &[Trial]| {
        let mut of_b = of_a.clone();
        change(&mut of_b);
        let run = |manifest, trials| RecordedRun { manifest, trials, experiment: "", dir: "run" };
        compare_runs(run(&of_a, &a), run(&of_b, b), 0.02).cells.remove(0)
    };
    assert_eq!(told(&|_| (), &b).verdict, ChangeVerdict::Worse);
    // What only one of them says may have been so in the other.
    assert_eq!(told(&|it| it.machine.cpu = Some("some".into()), &b).verdict, ChangeVerdict::Worse);
    let of_pace = told(&|it| it.pace = "quick".into(), &b);
    assert_eq!((of_pace.verdict, &of_pace.worse_by[..]), (ChangeVerdict::CouldNotTell, &[][..]));
    assert_eq!(of_pace.conditions, ["pace"]);
    let changes: [(&str, Change); 5] = [
        ("load carried by", |load| load.load.io = "io_uring".into()),
        ("window, s", |load| load.load.duration_s = Some(60.0)),
        ("connections used again", |load| load.load.keep_alive = false),
        ("protocol", |load| load.load.protocol = Some("http/2".into())),
        ("path", |load| load.url = "http://127.0.0.1:8080/other".into()),
    ];
    for (what, change) in changes {
        let b: Vec<Trial> = b
            .iter()
            .cloned()
            .map(|mut trial| {
                if let TrialResult::Measured(measured) = &mut trial.result {
                    change(&mut measured.load);
                }
                trial
            })
            .collect();
        let told = told(&|_| (), &b);
        assert_eq!((told.verdict, told.conditions), (ChangeVerdict::CouldNotTell, vec![what.to_owned()]));
    }
}
