//! Two runs side by side, and many in a row.

use explain::{HistoryFilter, HistoryMetric, RecordedRun, compare_runs, points_of_run, series_of};
use record::{Distribution, Driver, ForeignDriver, LoadResult, Manifest, Role, Trial, TrialResult};
use report::{compare_text, history_text};

use crate::samples::{at, failed, load, manifest, times, with};

fn run<'a>(manifest: &'a Manifest, trials: &'a [Trial], dir: &'a str) -> RecordedRun<'a> {
    RecordedRun { manifest, trials, experiment: "title = \"t\"\n", dir }
}

/// Six blocks of each stack, at these rates, never twice quite the same.
fn blocks(stacks: &[(&str, f64)], salt: u32) -> Vec<Trial> {
    let noise = |block: u32| 1.0 + 0.002 * f64::from((block * 5 + salt * 3) % 7);
    stacks
        .iter()
        .flat_map(|(stack, rate)| (0..6).map(move |block| at(block, stack, rate * noise(block))))
        .collect()
}

#[test]
fn every_verdict_on_a_change() {
    let a = blocks(&[("gin", 1000.0), ("jetty", 900.0), ("nginx", 800.0), ("old", 1.0), ("zuul", 100.0)], 1);
    let mut b =
        blocks(&[("gin", 1001.0), ("jetty", 990.0), ("nginx", 700.0), ("new", 1.0), ("undertow", 9.0)], 2);
    b.extend((0..6).map(|block| failed(block, "zuul", "it did not come up")));
    let a_manifest = manifest(&["gin", "jetty", "nginx", "old", "zuul"], 30);
    let mut b_manifest = manifest(&["gin", "jetty", "nginx", "new", "undertow", "zuul"], 40);
    b_manifest.started = "2026-11-22T11:30:07Z".into();
    b_manifest.stacks.get_mut("nginx").unwrap().inputs = Some("abc".into());
    let compared = compare_runs(run(&a_manifest, &a, "runs/a"), run(&b_manifest, &b, "runs/b"), 0.02);
    insta::assert_snapshot!(compare_text(&compared));
}

/// On another machine both carry twice as much, and of what the control carries as much as before.
#[test]
fn on_another_machine_a_stack_is_shown_beside_the_control_of_its_own_run() {
    let on = |times: f64| {
        let mut trials = blocks(&[("gin", 1024.0 * times), ("control", 4096.0 * times)], 1);
        for trial in trials.iter_mut().filter(|it| it.stack == "control") {
            trial.role = Role::Control;
        }
        trials
    };
    let (a, b) = (on(1.0), on(2.0));
    let (of_a, mut of_b) = (manifest(&["gin"], 12), manifest(&["gin"], 12));
    of_b.machine.cores = 4;
    let compared = compare_runs(run(&of_a, &a, "runs/a"), run(&of_b, &b, "runs/b"), 0.02);
    let text = compare_text(&compared);
    for part in [
        "  cores: 2 → 4\n",
        "1 cells: 0 worse, 0 within what is allowed, 0 better, 0 without a change, 1 that could not be told",
        "(gin: could not tell: not the stack alone is another, but also: cores)",
        "(gin: within each run 0.250 → 0.250 of what control carries, +0.0 (",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let xml = report::compare_junit(&compared);
    assert!(xml.contains("errors=\"1\"") && xml.contains("but also: cores"), "{xml}");
    // Without a control it is another stack of the run.
    let on = |times: f64| blocks(&[("gin", 1024.0 * times), ("jetty", 2048.0 * times)], 1);
    let (a, b) = (on(1.0), on(2.0));
    let compared = compare_runs(run(&of_a, &a, "runs/a"), run(&of_b, &b, "runs/b"), 0.02);
    let text = compare_text(&compared);
    assert!(text.contains("(gin: within each run 0.500 → 0.500 of what jetty carries"), "{text}");
}

/// How far a stack was from itself within a run is nothing to call a change of another by.
#[test]
fn a_table_says_what_counts_as_a_change_in_it() {
    let with_twin = |per_s: f64, twins_per_s: f64, salt: u32| {
        let mut twins = blocks(&[("gin", twins_per_s)], salt);
        for twin in &mut twins {
            twin.role = Role::Twin;
        }
        [blocks(&[("gin", per_s)], salt), twins].concat()
    };
    let manifest = manifest(&["gin"], 12);
    let text = |a: &[Trial], b: &[Trial]| {
        compare_text(&compare_runs(run(&manifest, a, "runs/a"), run(&manifest, b, "runs/b"), 0.02))
    };
    let told = text(&with_twin(1000.0, 1000.0, 1), &with_twin(960.0, 900.0, 1));
    let due =
        "(a stack and its twin were 0.0 % apart in A and 6.7 % in B: nothing nearer than 6.7 % is a change)";
    assert!(told.contains(due), "{told}");
    let told = text(&with_twin(1000.0, 1000.0, 1), &blocks(&[("gin", 960.0)], 1));
    let due =
        "(a stack and its twin were 0.0 % apart in A, and B has none: nothing nearer than the fixed 2.0 % is";
    assert!(told.contains(due) && told.contains("1 worse"), "{told}");
}

#[test]
fn one_block_each_tells_nothing_and_says_so() {
    let (a, b) = ([at(0, "gin", 1000.0)], [at(0, "gin", 500.0)]);
    let manifest = manifest(&["gin"], 1);
    let compared = compare_runs(run(&manifest, &a, "runs/a"), run(&manifest, &b, "runs/b"), 0.02);
    insta::assert_snapshot!(compare_text(&compared));
}

#[test]
fn a_run_whose_trials_die_is_worse_in_every_form() {
    let a = blocks(&[("gin", 1000.0)], 1);
    let b: Vec<Trial> = (0..6)
        .map(|block| if block < 5 { failed(block, "gin", "no") } else { at(5, "gin", 1000.0) })
        .collect();
    let manifest = manifest(&["gin"], 6);
    let compared = compare_runs(run(&manifest, &a, "runs/a"), run(&manifest, &b, "runs/b"), 0.02);
    insta::assert_snapshot!(compare_text(&compared));
    let junit = report::compare_junit(&compared);
    assert!(
        junit.contains("more trials failed") && junit.contains("failed trials 0 of 6 to 5 of 6"),
        "{junit}"
    );
}

/// No chance is ever none, and no share of some is none or all.
#[test]
fn what_would_be_rounded_to_nothing_is_a_bound() {
    let many = |rate: f64, salt: u32| -> Vec<Trial> {
        let noise = |block: u32| 1.0 + 0.002 * f64::from((block * 5 + salt * 3) % 7);
        (0..12).map(|block| at(block, "gin", rate * noise(block))).collect()
    };
    let (a, mut b) = (many(1000.0, 1), many(500.0, 2));
    for trial in &mut b {
        let TrialResult::Measured(measured) = &mut trial.result else { unreachable!("all are measured") };
        measured.load.intended = 100_000;
        measured.load.answered_as_expected = 99_999;
    }
    let manifest = manifest(&["gin"], 12);
    let compared = compare_runs(run(&manifest, &a, "runs/a"), run(&manifest, &b, "runs/b"), 0.02);
    let text = compare_text(&compared);
    assert!(compared.cells[0].p < 0.0005, "{text}");
    assert!(text.contains(" <0.001 ") && text.contains("(p < 0.001)"), "{text}");
    assert!(text.contains("failed requests 0.00 % → <0.01 %"), "{text}");
}

/// A stack that is no longer there is no change, and a CI server shows what has a case.
#[test]
fn what_only_one_of_two_runs_has_is_a_skipped_case() {
    let a = blocks(&[("gin", 1000.0), ("old", 1000.0)], 1);
    let b = blocks(&[("gin", 1000.0), ("new", 1000.0)], 2);
    let manifest = manifest(&["gin", "old", "new"], 12);
    let compared = compare_runs(run(&manifest, &a, "runs/a"), run(&manifest, &b, "runs/b"), 0.01);
    let xml = report::compare_junit(&compared);
    assert!(xml.contains("tests=\"3\" failures=\"0\" errors=\"0\" skipped=\"2\""), "{xml}");
    for why in ["only in runs/a: runs/b has no trial of it", "only in runs/b: runs/a has no trial of it"] {
        assert!(xml.contains(&format!("<skipped message=\"{why}\"/>")), "{xml}");
    }
    // What is nearer than 2 % is called no change, whatever loss is allowed.
    let text = compare_text(&compared);
    assert!(text.contains("a loss of 2.0 % is allowed"), "{text}");
}

/// The median of the survivors would be as ever.
#[test]
fn a_history_counts_the_trials_that_died() {
    let trials: Vec<Trial> = (0..6)
        .map(|block| if block < 4 { failed(block, "gin", "no") } else { at(block, "gin", 1000.0) })
        .collect();
    let manifest = manifest(&["gin"], 6);
    let filter = HistoryFilter::default();
    let of = |metric| points_of_run(run(&manifest, &trials, "runs/a"), None, metric, &filter).remove(0);
    let goodput = of(HistoryMetric::Goodput);
    assert_eq!((goodput.value, goodput.trials, goodput.failed), (Some(0.0), 6, 4));
    let p99 = of(HistoryMetric::P99);
    assert_eq!((p99.value, p99.trials, p99.failed), (None, 6, 4));
    let text = history_text(&series_of(vec![goodput], HistoryMetric::Goodput));
    assert!(text.contains("runs/a (6, 4 failed)"), "{text}");
}

/// Of 298 requests the 99th percentile is anybody's guess, and a run with such trials must not look as any other.
#[test]
fn a_history_leaves_out_a_p99_that_so_few_requests_do_not_know() {
    let manifest = manifest(&["gin"], 6);
    // The figures of `times` rise such that this is a p99 of 20 ms.
    let trial = |block: u32, count: u64| {
        with(block, "gin", LoadResult { response_time_us: times(count, 4_000.0), ..load(1000.0) })
    };
    let of = |few: u32| {
        let count = |block: u32| if block < few { 298 } else { 299 };
        let trials: Vec<Trial> = (0..6).map(|block| trial(block, count(block))).collect();
        let filter = HistoryFilter::default();
        points_of_run(run(&manifest, &trials, "runs/a"), None, HistoryMetric::P99, &filter).remove(0)
    };
    for (few, value) in [(0, Some(20_000.0)), (2, Some(20_000.0)), (3, None), (6, None)] {
        let point = of(few);
        let told = (point.value, point.trials, point.failed, point.too_few_requests);
        assert_eq!(told, (value, 6, 0, few as usize));
    }
    let text = history_text(&series_of(vec![of(3)], HistoryMetric::P99));
    assert!(text.contains("runs/a (6, 3 with too few requests: p99 takes 299)"), "{text}");
    let text = history_text(&series_of(vec![of(0)], HistoryMetric::P99));
    assert!(text.contains("20.0ms") && text.contains("runs/a (6)"), "{text}");
}

/// wrk knows no instant at which a request was due, and few percentiles. Neither is a failure of what it loads.
#[test]
fn a_history_of_another_driver_is_of_the_times_that_it_tells() {
    let manifest = manifest(&["gin"], 6);
    let told = |block: u32, change: fn(&mut Distribution)| {
        let mut load = LoadResult {
            // The figures of `times` rise such that this is a p99 of 20 ms.
            service_time_us: times(2_000, 4_000.0),
            response_time_us: Distribution::default(),
            driver: Some(ForeignDriver { name: "wrk".into(), ..ForeignDriver::default() }),
            ..load(1000.0)
        };
        change(&mut load.service_time_us);
        Trial { driver: Driver::Wrk, ..with(block, "gin", load) }
    };
    let of = |change: fn(&mut Distribution)| {
        let trials: Vec<Trial> = (0..6).map(|block| told(block, change)).collect();
        let filter = HistoryFilter::default();
        points_of_run(run(&manifest, &trials, "runs/a"), None, HistoryMetric::P99, &filter).remove(0)
    };
    let point = of(|_| ());
    assert_eq!((point.value, point.trials, point.failed), (Some(20_000.0), 6, 0));
    let text = history_text(&series_of(vec![point], HistoryMetric::P99));
    assert!(text.contains("gin, by wrk: 99th percentile of its own times"), "{text}");
    let without = of(|times| times.p99 = None);
    assert_eq!((without.value, without.trials, without.failed), (None, 0, 0));
    // One whose longest answers it left out.
    let bound = of(|times| times.lower_bounds.push("p99".into()));
    assert_eq!((bound.value, bound.trials, bound.failed), (None, 6, 6));
}

#[test]
fn a_history_marks_its_change() {
    let mut points = Vec::new();
    for day in 0..12_u32 {
        let rate = if day < 7 { 1000.0 } else { 880.0 };
        let trials = blocks(&[("gin", rate + f64::from(day * 5 % 7))], day);
        let mut manifest = manifest(&["gin"], 6);
        manifest.started = format!("2026-11-{:02}T11:30:07Z", day + 1);
        manifest.stacks.get_mut("gin").unwrap().inputs = Some(if day < 7 { "a" } else { "b" }.into());
        let filter =
            HistoryFilter { stack: Some("gin".into()), load: Some("64".into()), ..HistoryFilter::default() };
        let dir = format!("runs/{day}");
        points.extend(points_of_run(run(&manifest, &trials, &dir), None, HistoryMetric::Goodput, &filter));
    }
    insta::assert_snapshot!(history_text(&series_of(points.clone(), HistoryMetric::Goodput)));
    points.truncate(2);
    let text = history_text(&series_of(points, HistoryMetric::Goodput));
    assert!(text.contains("2 runs are too few to find a change (needs at least 8)"), "{text}");
}

/// A kernel that came with the change is as good a reason as the stack, also where the split is off by a run.
#[test]
fn a_change_that_came_with_another_kernel_says_so() {
    let told = |new_kernel_from: u32| {
        let mut points = Vec::new();
        for day in 0..12_u32 {
            let rate = if day < 7 { 1000.0 } else { 880.0 };
            let trials = blocks(&[("gin", rate + f64::from(day * 5 % 7))], day);
            let mut manifest = manifest(&["gin"], 6);
            manifest.started = format!("2026-11-{:02}T11:30:07Z", day + 1);
            manifest.machine.kernel = Some(if day < new_kernel_from { "6.1.9" } else { "6.8.0" }.into());
            let (filter, dir) = (HistoryFilter::default(), format!("runs/{day}"));
            points.extend(points_of_run(
                run(&manifest, &trials, &dir),
                None,
                HistoryMetric::Goodput,
                &filter,
            ));
        }
        let series = series_of(points, HistoryMetric::Goodput);
        assert_eq!(series[0].changes.len(), 1, "{series:?}");
        let is_named = !series[0].changes[0].conditions.is_empty();
        let line = "       it need not be the stack's: kernel: 6.1.9 → 6.8.0\n";
        assert_eq!(history_text(&series).contains(line), is_named);
        is_named
    };
    assert_eq!([6, 7, 8].map(told), [true; 3]);
    assert_eq!([0, 3, 11].map(told), [false; 3]);
}

/// Figures of one process and of one process a trial are no series.
#[test]
fn runs_that_keep_their_processes_have_a_series_of_their_own() {
    let points = ["", "kept"].map(|processes| {
        let trials = blocks(&[("gin", 1000.0)], 1);
        let manifest = Manifest { processes: processes.into(), ..manifest(&["gin"], 6) };
        let filter = HistoryFilter::default();
        points_of_run(run(&manifest, &trials, "runs/a"), None, HistoryMetric::Goodput, &filter).remove(0)
    });
    let series = series_of(points.to_vec(), HistoryMetric::Goodput);
    let text = history_text(&series);
    for heading in ["gin: goodput (processes of a trial each)\n", "gin: goodput (kept processes)\n"] {
        assert!(text.contains(heading), "{text}");
    }
    let told = serde_json::to_value(&series).unwrap();
    assert_eq!((told.as_array().map(Vec::len), &told[1]["processes"]), (Some(2), &"kept".into()));
    assert!(told[0].get("processes").is_none(), "as ever where a process is for one trial");
    // Where there is no other of the kind, nothing is to be told apart.
    let alone = history_text(&series[1..]);
    assert!(alone.contains("gin: goodput\n"), "{alone}");
}

/// A machine with more cores is no change of the stack.
#[test]
fn runs_on_another_machine_have_a_series_of_their_own() {
    let mut points = Vec::new();
    for day in 0..12_u32 {
        let (cores, rate) = if day < 6 { (2, 1000.0) } else { (8, 4000.0) };
        let trials = blocks(&[("gin", rate)], day);
        let mut manifest = manifest(&["gin"], 6);
        manifest.started = format!("2026-11-{:02}T11:30:07Z", day + 1);
        (manifest.machine.cores, manifest.machine.cpu) = (cores, Some("made up\u{1b}".into()));
        let (filter, dir) = (HistoryFilter::default(), format!("runs/{day}"));
        points.extend(points_of_run(run(&manifest, &trials, &dir), None, HistoryMetric::Goodput, &filter));
    }
    let series = series_of(points, HistoryMetric::Goodput);
    let text = history_text(&series);
    for cores in [2, 8] {
        let heading = format!("gin: goodput (on {cores} cores of made up\\u{{1b}})\n");
        assert!(text.contains(&heading), "{text}");
    }
    assert!(!text.contains("change:"), "{text}");
    assert_eq!(text.matches("6 runs are too few to find a change").count(), 2, "{text}");
    let told = serde_json::to_value(&series).unwrap();
    assert_eq!((&told[0]["cores"], &told[1]["cores"]), (&2.into(), &8.into()));
    // Where there is no other machine, nothing is to be told apart.
    assert!(history_text(&series[..1]).contains("gin: goodput\n"), "{text}");
}

/// Eight runs of which one brought nothing are seven: a count that contradicts what it is held against helps nobody.
#[test]
fn a_history_says_how_many_runs_it_goes_by_and_what_counts_as_failed() {
    let mut points = [Vec::new(), Vec::new()];
    for day in 0..8_u32 {
        let trials: Vec<Trial> = if day == 3 {
            (0..6).map(|block| failed(block, "gin", "no")).collect()
        } else {
            blocks(&[("gin", 1000.0)], day)
        };
        let mut manifest = manifest(&["gin"], 6);
        manifest.started = format!("2026-11-{:02}T11:30:07Z", day + 1);
        let (filter, dir) = (HistoryFilter::default(), format!("runs/{day}"));
        for (all, metric) in points.iter_mut().zip([HistoryMetric::Goodput, HistoryMetric::P99]) {
            all.extend(points_of_run(run(&manifest, &trials, &dir), None, metric, &filter));
        }
    }
    let [goodput, p99] = points;
    let text = history_text(&series_of(goodput, HistoryMetric::Goodput));
    let due = "  7 runs with a figure above 0 are too few to find a change (needs at least 8)";
    assert!(text.contains(due), "{text}");
    assert!(text.contains("runs/3 (6, 6 failed)"), "{text}");
    let text = history_text(&series_of(p99, HistoryMetric::P99));
    assert!(text.contains("runs/3 (6, 6 failed or only a lower bound)"), "{text}");
}
