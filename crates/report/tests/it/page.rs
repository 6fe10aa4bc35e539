//! A run as one document, and the forms that are made of it.

use record::{ConfirmationRecord, LevelRate, LoggedInterval, Manifest, Role, Trial, TrialResult};
use report::page::model::{Answer, AnswerKind, Invalid, Page, StagePart, SweptOver};
use report::page::{PageOf, TrialDetail, page};
use report::{csv, html, json, junit, markdown, schema};
use units::Duration;

use crate::samples::{at, failed, manifest, silent_load, with};

const HOSTILE: &str = "<script>alert(1)</script>&\"'\u{2028}`|@all\u{1b}[31m";

fn page_of(manifest: &Manifest, trials: &[Trial]) -> Page {
    page_with(manifest, trials, &[], &|_| TrialDetail::default())
}

fn page_with(
    manifest: &Manifest,
    trials: &[Trial],
    confirmations: &[ConfirmationRecord],
    detail: &dyn Fn(u32) -> TrialDetail,
) -> Page {
    page(&PageOf {
        manifest,
        trials,
        dir: "runs/quick-1",
        experiment: "title = \"made up\"\n",
        write_up: None,
        confirmations,
        detail,
        version: "0.1.0",
    })
}

/// So many blocks of each stack at its rate, on a machine that is faster in some than in others.
fn blocks(stacks: &[(&str, f64)], count: u32) -> Vec<Trial> {
    let machine = |block: u32| 1.0 + 0.1 * f64::from(block * 7 % 5);
    let noise = |stack: u32, block: u32| 1.0 + 0.002 * f64::from((stack * 3 + block * 5) % 7);
    let of = |(place, (stack, rate)): (u32, &(&str, f64))| -> Vec<Trial> {
        (0..count).map(|block| at(block, stack, rate * machine(block) * noise(place, block))).collect()
    };
    let mut trials: Vec<Trial> = (0..).zip(stacks).flat_map(of).collect();
    for (index, trial) in (0..).zip(&mut trials) {
        trial.index = index;
    }
    trials
}

fn answer(stacks: &[(&str, f64)], count: u32) -> report::page::model::Answer {
    let names: Vec<&str> = stacks.iter().map(|it| it.0).collect();
    let trials = blocks(stacks, count);
    page_of(&manifest(&names, trials.len() as u32), &trials).answers.swap_remove(0)
}

#[test]
fn the_answer_is_what_the_data_support() {
    let clear = answer(&[("gin", 100_000.0), ("tomcat", 90_000.0), ("jetty", 60_000.0)], 12);
    assert_eq!((clear.kind, clear.best.as_slice()), (AnswerKind::Winner, ["gin".to_owned()].as_slice()));
    let ahead = clear.ahead.unwrap();
    assert!((ahead.value - 100.0 / 90.0).abs() < 0.01, "{ahead:?}");
    assert!(ahead.low.unwrap() <= ahead.value && ahead.value <= ahead.high.unwrap());
    assert!(
        clear.sentence.starts_with("gin carries 11 % more than tomcat (95 % interval "),
        "{}",
        clear.sentence
    );

    let tie = answer(&[("gin", 100_000.0), ("nginx", 100_100.0), ("jetty", 60_000.0)], 12);
    assert_eq!((tie.kind, tie.best.len()), (AnswerKind::Tie, 2));
    assert_eq!(tie.next.as_deref(), Some("jetty"));
    assert_eq!(tie.ahead, None);

    let few = answer(&[("gin", 100_000.0), ("tomcat", 9000.0)], 2);
    assert_eq!(few.kind, AnswerKind::Ahead);
    assert!(few.sentence.contains("supports no claim"), "{}", few.sentence);

    assert_eq!(answer(&[("gin", 100_000.0), ("tomcat", 101_000.0)], 2).kind, AnswerKind::Overlap);
    assert_eq!(answer(&[("gin", 100_000.0)], 12).kind, AnswerKind::Single);
}

/// A ranking, a sweep and a comparison tell the same 99th percentile of a cell, however uneven its trials are.
#[test]
fn a_cell_has_one_figure_wherever_it_is_told() {
    let p99_us = [155_000.0, 119_000.0, 90_000.0, 300_000.0, 121_000.0, 118_000.0];
    let trials: Vec<Trial> = (0..)
        .zip(p99_us)
        .map(|(block, us)| {
            let mut load = crate::samples::load(1000.0 + f64::from(block));
            load.response_time_us.p99 = Some(us);
            with(block, "gin", load)
        })
        .collect();
    let manifest = manifest(&["gin"], 6);
    let row = page_of(&manifest, &trials).tables[0].rows[0].p99.expect("it is told");
    let run = explain::RecordedRun { manifest: &manifest, trials: &trials, experiment: "", dir: "a" };
    let compared = explain::compare_runs(run, run, 0.05);
    let told = compared.cells[0].response_p99_us[0].expect("it is told");
    assert!((row.us - 121_000.0).abs() < 1e-6 && (told.value - row.us).abs() < 1e-6, "{row:?} {told:?}");
}

/// How often a stack fails is said before how fast it is, and who fails too often for a ratio wins nothing.
#[test]
fn who_fails_is_said_to_fail_before_anything_else() {
    let failing = |blocks: u32| {
        let mut trials = self::blocks(&[("gin", 100_000.0), ("tomcat", 60_000.0)], 20);
        for trial in trials.iter_mut().filter(|it| it.stack == "gin" && it.block < blocks) {
            trial.result = with(trial.block, "gin", silent_load()).result;
        }
        page_of(&manifest(&["gin", "tomcat"], 40), &trials).answers.swap_remove(0)
    };
    let seldom = failing(1);
    assert_eq!(seldom.kind, AnswerKind::Winner);
    assert!(
        seldom.sentence.starts_with("gin failed in 1 of 20 blocks. gin carries 6"),
        "{}",
        seldom.sentence
    );
    let often = failing(4);
    assert_ne!(often.kind, AnswerKind::Winner);
    assert!(often.sentence.contains("gin failed in 4 of 20 blocks. "), "{}", often.sentence);
    assert!(often.sentence.contains("support no"), "{}", often.sentence);
    let always = failing(20);
    assert_eq!((always.kind, always.best), (AnswerKind::Winner, vec!["tomcat".to_owned()]));
    assert!(
        always.sentence.contains("gin failed in 20 of 20 blocks. tomcat is ahead of gin"),
        "{}",
        always.sentence
    );
}

#[test]
fn what_stands_behind_the_others_wins_nothing() {
    let mut trials = blocks(&[("backend", 100_000.0), ("proxy", 50_000.0), ("gateway", 40_000.0)], 12);
    for trial in trials.iter_mut().filter(|it| it.stack != "backend") {
        let record::TrialResult::Measured(measured) = &mut trial.result else { panic!("all are measured") };
        let behind = record::Upstream { stack: "backend".into(), server: record::Server::default() };
        measured.upstreams.push(behind);
    }
    let page = page_of(&manifest(&["backend", "proxy", "gateway"], 36), &trials);
    let answer = &page.answers[0];
    assert_eq!((answer.kind, answer.best.as_slice()), (AnswerKind::Winner, ["proxy".to_owned()].as_slice()));
    assert_eq!(page.tables[0].rows[0].stack, "backend");
    assert!(answer.ahead.is_some_and(|it| (it.value - 1.25).abs() < 0.01), "{answer:?}");
    assert!(answer.sentence.starts_with("proxy carries 25 % more than gateway"), "{}", answer.sentence);
}

/// Rows that share the first place are those that no test tells from the first, wherever they stand.
#[test]
fn who_is_told_apart_from_the_first_shares_no_place_with_it() {
    let mut trials = blocks(&[("gin", 120_000.0), ("tomcat", 100_000.0), ("jetty", 60_000.0)], 12);
    trials.retain(|it| it.stack != "jetty" || it.block < 2);
    let failing = trials.iter_mut().find(|it| it.stack == "jetty" && it.block == 1).unwrap();
    failing.result = failed(1, "jetty", "it died").result;
    let page = page_of(&manifest(&["gin", "tomcat", "jetty"], 36), &trials);
    let answer = &page.answers[0];
    assert_eq!(
        (answer.kind, answer.best.as_slice()),
        (AnswerKind::Tie, ["gin", "jetty"].map(str::to_owned).as_slice())
    );
    assert_eq!((answer.next.as_deref(), answer.failing.len()), (Some("tomcat"), 1), "{}", answer.sentence);
}

/// The answer of gin and tomcat at 1000/s each, twelve blocks of them: their 99th percentiles, and the client's own lag.
fn answer_by_times(p99_us: [f64; 2], lag_us: [f64; 2]) -> Answer {
    let mut trials = blocks(&[("gin", 1000.0), ("tomcat", 1000.0)], 12);
    for trial in &mut trials {
        let which = usize::from(trial.stack == "tomcat");
        let TrialResult::Measured(measured) = &mut trial.result else { panic!("all are measured") };
        let load = &mut measured.load;
        load.load.model = "open".into();
        load.littles_law = None;
        load.load.rate_per_s = Some(1000.0);
        (load.goodput_per_s, load.throughput_per_s) = (1000.0, 1000.0);
        load.response_time_us.p99 = Some(p99_us[which] * (1.0 + 0.001 * f64::from(trial.block % 5)));
        load.generator_lag_us.p99 = Some(lag_us[which]);
    }
    page_of(&manifest(&["gin", "tomcat"], 24), &trials).answers.swap_remove(0)
}

/// Times that a late client added to are no reason to call one stack faster.
#[test]
fn a_first_place_by_times_that_do_not_stand_wins_nothing() {
    let well = answer_by_times([4000.0, 6000.0], [10.0, 10.0]);
    assert_eq!(well.kind, AnswerKind::Winner, "{}", well.sentence);
    let late = answer_by_times([4000.0, 6000.0], [3000.0, 3000.0]);
    assert_eq!(late.kind, AnswerKind::Invalid, "{}", late.sentence);
    assert!(late.sentence.contains("do not stand (late generator"), "{}", late.sentence);
}

/// Of times that a client added to, nobody knows how much shorter they are.
#[test]
fn nobody_wins_over_times_that_a_client_added_to() {
    let answer = answer_by_times([2000.0, 4000.0], [10.0, 3000.0]);
    assert_eq!((answer.kind, answer.ahead), (AnswerKind::Bounded, None), "{}", answer.sentence);
    assert!(
        answer.sentence.contains("gin comes first, but tomcat takes no longer than was measured"),
        "{}",
        answer.sentence
    );
}

/// Two hundred and fifty times as fast is not infinitely fast.
#[test]
fn an_answer_takes_some_time_however_much_shorter_it_is() {
    let answer = answer_by_times([2000.0, 500_000.0], [10.0, 10.0]);
    assert_eq!(answer.kind, AnswerKind::Winner, "{}", answer.sentence);
    assert!(
        answer
            .sentence
            .starts_with("gin answers 99 % of requests within a time 99.6 % shorter than that of tomcat"),
        "{}",
        answer.sentence
    );
    assert!(!answer.sentence.contains("100 %"), "{}", answer.sentence);
}

/// Its times don't stand either, and that is not why its rate does not.
#[test]
fn a_skipped_case_says_why_the_rate_is_not_the_servers() {
    let mut trials = blocks(&[("gin", 30_000.0), ("tomcat", 20_000.0)], 12);
    for trial in &mut trials {
        let TrialResult::Measured(measured) = &mut trial.result else { panic!("all are measured") };
        measured.load.littles_law.as_mut().unwrap().gap = 0.5;
        measured.load.agents =
            vec![record::AgentResult { throttled_s: Some(6.0), ..record::AgentResult::default() }];
    }
    let page = page_of(&manifest(&["gin", "tomcat"], 24), &trials);
    let kinds: Vec<&str> = page.tables[0].rows[0].doubts.iter().map(|it| it.name.as_str()).collect();
    assert_eq!((kinds[0], kinds.last()), ("Little's law broken", Some(&"throttled")), "{kinds:?}");
    let xml = junit(&page);
    assert_eq!(xml.matches("<skipped message=\"throttled: ").count(), 2, "{xml}");
}

/// A CI server shows cases: of a stack without one it looks as if nobody had asked.
#[test]
fn stacks_that_were_not_reached_are_skipped_and_say_why() {
    let trials = blocks(&[("gin", 100_000.0), ("nginx", 90_000.0)], 2);
    let mut manifest = manifest(&["gin", "nginx", "tomcat"], 9);
    manifest.left_out.insert("zuul".into(), "mvn is missing".into());
    let xml = junit(&page_of(&manifest, &trials));
    let skipped = |stack: &str, why: &str| format!("name=\"{stack}\">\n      <skipped message=\"{why}\"/>");
    let not_reached = skipped("tomcat", "not reached: the run ended after 4 of 9 planned trials");
    assert!(xml.contains(&not_reached), "{xml}");
    assert!(xml.contains(&skipped("zuul", "left out: mvn is missing")), "{xml}");
    assert!(xml.contains("tests=\"4\" failures=\"0\" errors=\"0\" skipped=\"2\""), "{xml}");
    manifest.stacks.remove("tomcat");
    manifest.left_out.clear();
    assert!(!junit(&page_of(&manifest, &trials)).contains("not measured"));
}

/// What a client that a quota kept from running had of it, the server carries at least.
#[test]
fn a_rate_of_a_throttled_client_is_not_the_servers() {
    let mut trials = blocks(&[("gin", 30_000.0), ("tomcat", 20_000.0)], 12);
    for trial in &mut trials {
        let record::TrialResult::Measured(measured) = &mut trial.result else { panic!("all are measured") };
        measured.load.agents =
            vec![record::AgentResult { throttled_s: Some(6.0), ..record::AgentResult::default() }];
    }
    let page = page_of(&manifest(&["gin", "tomcat"], 24), &trials);
    assert_eq!(page.tables[0].rows[0].invalid, Invalid::All);
    assert_eq!(page.answers[0].kind, AnswerKind::Invalid, "{}", page.answers[0].sentence);
}

/// Of whom the client got no more than it could, nobody knows how much more it carries.
#[test]
fn nobody_wins_over_a_rate_that_is_only_a_lower_bound() {
    let throttled = record::AgentResult { throttled_s: Some(6.0), ..record::AgentResult::default() };
    let mut trials = blocks(&[("gin", 30_000.0), ("tomcat", 20_000.0), ("jetty", 10_000.0)], 12);
    for trial in trials.iter_mut().filter(|it| it.stack == "jetty") {
        let record::TrialResult::Measured(measured) = &mut trial.result else { panic!("all are measured") };
        measured.load.agents = vec![throttled.clone()];
    }
    let page = page_of(&manifest(&["gin", "tomcat", "jetty"], 36), &trials);
    let answer = &page.answers[0];
    assert_eq!((answer.kind, answer.ahead), (AnswerKind::Bounded, None), "{}", answer.sentence);
    assert_eq!(answer.bounded, ["jetty"]);
    assert!(
        answer.sentence.contains("gin comes first, but jetty carries at least what was measured"),
        "{}",
        answer.sentence
    );
}

#[test]
fn a_best_row_that_is_not_valid_wins_nothing() {
    let trials: Vec<Trial> = (0..3).map(|block| with(block, "silent", silent_load())).collect();
    let page = page_of(&manifest(&["silent"], 3), &trials);
    assert_eq!(page.tables[0].rows[0].invalid, Invalid::All);
    assert_eq!(page.answers[0].kind, AnswerKind::Invalid);
    assert!(page.answers[0].sentence.contains("support no winner"), "{}", page.answers[0].sentence);
    assert!(markdown(&page).contains("~~"));
    let xml = junit(&page);
    assert!(xml.contains("failures=\"1\"") && xml.contains("incorrect service"), "{xml}");
}

#[test]
fn what_parts_of_requests_and_connections_took_is_told_where_it_tells_anything() {
    let times = |us: f64| crate::samples::times(400, us);
    let stages = |change: &dyn Fn(&mut record::LoadResult)| {
        let mut load = crate::samples::load(1000.0);
        change(&mut load);
        let page = page_of(&manifest(&["gin"], 1), &[with(0, "gin", load)]);
        let told =
            page.cells[0].stages.iter().map(|it| (it.part, it.count, it.p50.map(|it| it.us), it.resumed));
        told.collect::<Vec<_>>()
    };
    assert_eq!(stages(&|_| ()), []);
    assert_eq!(
        stages(&|load| load.first_byte_us = Some(load.service_time_us.clone())),
        [],
        "all came at once"
    );
    let told = stages(&|load| {
        load.first_byte_us = Some(times(7.0));
        (load.connections.stream_waits, load.connections.stream_wait_us) = (4, 10);
        load.tls = Some(record::Tls {
            resumed_handshakes: 3,
            connect_us: times(1.0),
            handshake_us: times(2.0),
            ..record::Tls::default()
        });
    });
    let due = [
        (StagePart::Connect, 400, Some(1.0), None),
        (StagePart::TlsHandshake, 400, Some(2.0), Some(3)),
        (StagePart::FirstByte, 400, Some(7.0), None),
        (StagePart::StreamWait, 4, None, None),
    ];
    assert_eq!(told, due);
}

#[test]
fn nothing_one_trial_and_only_failures_are_documents_too() {
    let manifest = manifest(&["gin"], 1);
    for trials in [vec![], vec![at(0, "gin", 1000.0)], vec![failed(0, "gin", "no port left")]] {
        let page = page_of(&manifest, &trials);
        assert_eq!(page.answers.len(), page.tables.len());
        for text in [html(&page), markdown(&page), junit(&page), csv(&page), json(&page)] {
            assert!(!text.is_empty());
        }
    }
    let failed = page_of(&manifest, &[failed(0, "gin", "no port left")]);
    assert_eq!(failed.answers[0].kind, AnswerKind::Nothing);
    assert!(junit(&failed).contains("no port left") && markdown(&failed).contains("no port left"));
}

#[test]
fn two_hundred_stacks_are_ranked() {
    let names: Vec<String> = (0..200).map(|number| format!("stack-{number}")).collect();
    let stacks: Vec<(&str, f64)> =
        names.iter().enumerate().map(|(number, name)| (name.as_str(), 1000.0 + number as f64)).collect();
    let trials = blocks(&stacks, 2);
    let page = page_of(&manifest(&[], 400), &trials);
    assert_eq!((page.cells.len(), page.tables[0].rows.len()), (200, 200));
    assert!(page.tables[0].rows.iter().enumerate().all(|(index, row)| row.cell == index));
}

#[test]
fn connections_that_were_varied_make_a_sweep() {
    let mut trials = Vec::new();
    for connections in [64_u32, 128, 256] {
        let mut trial = at(0, "gin", 1000.0 + f64::from(connections));
        trial.load = record::load_of_label(&format!("{connections} connections"));
        if let record::TrialResult::Measured(measured) = &mut trial.result {
            measured.load.load.connections = connections;
        }
        let control = Trial { role: Role::Control, stack: record::CONTROL.into(), ..trial.clone() };
        trials.extend([trial, control]);
    }
    let page = page_of(&manifest(&["gin"], 6), &trials);
    let [sweep] = page.sweeps.as_slice() else { panic!("one sweep: {:?}", page.sweeps) };
    assert_eq!(sweep.over, SweptOver::Connections);
    let points: Vec<(f64, f64)> =
        sweep.series[0].points.iter().map(|it| (it.x, it.goodput_per_s.value)).collect();
    assert_eq!(points, [(64.0, 1064.0), (128.0, 1128.0), (256.0, 1256.0)]);
    // As fast as the control, so that the rate may be the client's: the curve says so as the table does.
    assert!(sweep.series[0].points.iter().all(|it| it.invalid == Invalid::All));
    assert_eq!(sweep.ceiling, [[64.0, 1064.0], [128.0, 1128.0], [256.0, 1256.0]]);
    // What the client reaches when it connects for each request is no ceiling of what keeps its connections.
    for trial in trials.iter_mut().filter(|trial| trial.role == Role::Control) {
        if let record::TrialResult::Measured(measured) = &mut trial.result {
            measured.load.load.keep_alive = false;
        }
    }
    let page = page_of(&manifest(&["gin"], 6), &trials);
    assert!(page.sweeps[0].ceiling.is_empty());
    assert!(page.sweeps[0].series[0].points.iter().all(|it| it.invalid == Invalid::None));
    assert!(page.tables.iter().all(|it| it.ceiling_per_s.is_none()));
}

/// Two stacks at two loads beside a control, some of them over HTTP/2.
fn beside_a_control(of_http2: &[&str]) -> Page {
    let mut trials = Vec::new();
    for connections in [64_u32, 128] {
        for stack in ["gin", "go-h2", record::CONTROL] {
            let mut trial = at(0, stack, 1300.0);
            trial.load = record::load_of_label(&format!("{connections} connections"));
            if stack == record::CONTROL {
                trial.role = Role::Control;
            }
            let TrialResult::Measured(measured) = &mut trial.result else { panic!("it is measured") };
            measured.load.load.connections = connections;
            measured.load.load.streams = of_http2.contains(&stack).then_some(32);
            trials.push(trial);
        }
    }
    page_of(&manifest(&["gin", "go-h2"], 6), &trials)
}

#[test]
fn a_control_is_shown_for_the_rows_and_lines_that_it_is_a_ceiling_of() {
    let ceilings = |page: &Page| page.tables.iter().map(|it| it.ceiling_per_s).collect::<Vec<_>>();
    let plain = beside_a_control(&[]);
    assert_eq!(ceilings(&plain), [Some(1300.0), Some(1300.0)]);
    let text = markdown(&plain);
    assert!(text.contains("1300/s of the calibration target.\n"), "{text}");
    assert!(!text.contains("busiest thread"), "{text}");

    let mixed = beside_a_control(&["go-h2"]);
    assert_eq!(ceilings(&mixed), [Some(1300.0), Some(1300.0)]);
    let rows = mixed.tables.iter().flat_map(|table| &table.rows);
    assert!(rows.clone().all(|row| row.as_control == (row.stack == "gin")), "{:?}", mixed.tables);
    assert!(rows.clone().all(|row| row.client_busy_share == Some(0.31)), "{:?}", mixed.tables);
    let [sweep] = mixed.sweeps.as_slice() else { panic!("one sweep: {:?}", mixed.sweeps) };
    assert_eq!(sweep.ceiling, [[64.0, 1300.0], [128.0, 1300.0]]);
    assert!(sweep.series.iter().all(|it| it.as_control == (it.stack == "gin")), "{sweep:?}");
    let text = markdown(&mixed);
    assert!(text.contains("target: a ceiling of `gin`.\n"), "{text}");
    let client = "client's busiest thread was busy 31 % of the time at most (`go-h2`).\n";
    assert!(text.contains(client), "{text}");

    let none = beside_a_control(&["gin", "go-h2"]);
    assert_eq!(ceilings(&none), [None, None]);
    assert!(none.sweeps.len() == 1 && none.sweeps[0].ceiling.is_empty(), "{:?}", none.sweeps);
    let text = markdown(&none);
    assert!(!text.contains("calibration target") && text.contains("busy 31 % of the time"), "{text}");
}

/// Over HTTP/2 a pool of 200 is full with some six connections of 32 requests each.
#[test]
fn a_line_bends_at_connections_and_not_at_the_requests_on_them() {
    const STREAMS: u32 = 32;
    let mut trials = Vec::new();
    for (index, connections) in (0_u32..).zip([1_u32, 2, 4, 16, 32]) {
        for block in 0..6 {
            let noise = 1.0 + 0.004 * f64::from((block * 5 + index * 3) % 7) - 0.012;
            let users = f64::from((connections * STREAMS).min(200));
            let mut trial = at(block, "gin", users / 0.1 * noise);
            trial.load = record::load_of_label(&format!("{connections} connections"));
            let TrialResult::Measured(measured) = &mut trial.result else { panic!("it is measured") };
            (measured.load.load.connections, measured.load.load.streams) = (connections, Some(STREAMS));
            measured.load.littles_law = None;
            trials.push(trial);
        }
    }
    let page = page_of(&manifest(&["gin"], 30), &trials);
    let [sweep] = page.sweeps.as_slice() else { panic!("one sweep: {:?}", page.sweeps) };
    let x: Vec<f64> = sweep.series[0].points.iter().map(|it| it.x).collect();
    assert_eq!(x, [1.0, 2.0, 4.0, 16.0, 32.0]);
    let knee = sweep.series[0].knee.expect("it is a pool, and it is seen to fill up");
    assert!((knee.value / 6.25 - 1.0).abs() < 0.05, "{knee:?}");
    assert!(knee.low.is_none_or(|it| it <= knee.value) && knee.high.is_none_or(|it| it >= knee.value));
}

#[test]
fn curves_are_of_the_log_and_what_is_censored_is_apart() {
    let trials = [at(0, "gin", 50.0)];
    let detail = |index: u32| {
        assert_eq!(index, trials[0].index);
        let mut times = stats::Distribution::default();
        (0..90).for_each(|_| times.record(Duration::from_millis(5)));
        (0..10).for_each(|_| times.record_censored(Duration::from_secs(2)));
        let interval = LoggedInterval { start: Duration::ZERO, length: Duration::from_secs(1), times };
        TrialDetail { intervals: vec![interval], readings: Vec::new() }
    };
    let page = page_with(&manifest(&["gin"], 1), &trials, &[], &detail);
    let cell = &page.cells[0];
    assert!(cell.percentiles.iter().all(|[q, us]| *q <= 0.9 && (us / 5000.0 - 1.0).abs() < 0.01));
    assert!(cell.percentiles_censored.iter().all(|[q, us]| *q >= 0.89 && *us >= 5000.0));
    assert!(!cell.percentiles_censored.is_empty());
    let heat = cell.heat.as_ref().unwrap();
    assert_eq!(heat.counts.iter().map(|it| it[2]).sum::<u64>(), 90);
    assert_eq!(heat.censored.iter().map(|it| it[2]).sum::<u64>(), 10);
}

#[test]
fn what_was_confirmed_stands_with_its_cell() {
    let trials = [at(0, "gin", 50.0)];
    let record = ConfirmationRecord {
        version: 1,
        round: trials[0].round.clone(),
        load: trials[0].load.id.clone(),
        stack: "gin".into(),
        variant: Some("gin@wide".into()),
        levels: Vec::new(),
        before_per_s: 50.0,
        predicted_per_s: Some(100.0),
        measured_per_s: 99.0,
        outcome: "confirmed".into(),
        why: None,
        run: "runs/confirm-1".into(),
    };
    let rate = |(users, goodput_per_s): (u32, f64)| LevelRate { users, goodput_per_s };
    let by_users = ConfirmationRecord {
        variant: None,
        levels: [(8, 50.0), (16, 50.5), (32, 49.5)].map(rate).to_vec(),
        why: Some("the rate was the same with 32 users, and with 8".into()),
        ..record.clone()
    };
    let tried = [record, by_users];
    let page = page_with(&manifest(&["gin"], 1), &trials, &tried, &|_| TrialDetail::default());
    let told = &page.cells[0].confirmations;
    assert_eq!((told[0].variant.as_deref(), told[1].variant.as_deref()), (Some("gin@wide"), None));
    assert_eq!(told[1].levels, [[8.0, 50.0], [16.0, 50.5], [32.0, 49.5]]);
    assert_eq!(told[1].why.as_deref(), Some("the rate was the same with 32 users, and with 8"));
}

/// Hostile names in every place that a record has for one.
fn hostile() -> Page {
    let mut trials = vec![at(0, HOSTILE, 1000.0), failed(0, HOSTILE, HOSTILE)];
    for trial in &mut trials {
        trial.round = HOSTILE.into();
    }
    let mut manifest = manifest(&[], 2);
    manifest.title = HOSTILE.into();
    manifest.left_out.insert(HOSTILE.into(), HOSTILE.into());
    page_of(&manifest, &trials)
}

#[test]
fn hostile_names_are_text_in_every_form() {
    let page = hostile();
    assert!(!html(&page).contains("<script>alert"));
    // Between backticks it is shown as it is.
    let summary = markdown(&page);
    let outside = summary.lines().flat_map(|line| line.split('`').step_by(2));
    assert!(outside.into_iter().all(|text| !text.contains("<script")), "{summary}");
    let xml = junit(&page);
    assert!(!xml.contains("<script") && !xml.contains('\u{1b}'), "{xml}");
    assert!(xml.contains("&lt;script&gt;"));
    // As text it is all there again.
    assert!(json(&page).contains("alert(1)"));
}

#[test]
fn the_forms_of_a_run() {
    let stacks = [("gin", 100_000.0), ("nginx", 100_300.0), ("tomcat@quiet", 90_000.0)];
    let mut trials = blocks(&stacks, 10);
    trials.push(failed(10, "tomcat@quiet", "it did not come up within 10.0s"));
    let names = stacks.map(|it| it.0);
    let mut manifest = manifest(&names, 30);
    manifest.left_out.insert("zuul".into(), "mvn is missing".into());
    let page = page_of(&manifest, &trials);
    insta::assert_snapshot!("markdown", markdown(&page));
    insta::assert_snapshot!("junit", junit(&page));
    insta::assert_snapshot!("csv", csv(&page));
}

#[test]
fn the_published_schema_is_that_of_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/report.schema.json");
    let published = std::fs::read_to_string(path).unwrap_or_default();
    let advice = "what it says changed; `proofload report --schema > docs/report.schema.json`, and raise PAGE_VERSION \
                  where a field went or means something else";
    assert!(published == schema(), "{advice}");
}

#[test]
fn where_loads_came_from_is_the_sentence_of_the_text() {
    let mut trials = blocks(&[("gin", 100_000.0), ("tomcat", 90_000.0)], 2);
    let manifest = manifest(&["gin", "tomcat"], 4);
    let made = page_of(&manifest, &trials);
    assert_eq!(made.run.loaded_from, None);
    assert!(!json(&made).contains("loaded_from"));
    for trial in &mut trials {
        let TrialResult::Measured(measured) = &mut trial.result else { unreachable!() };
        let agent = |name: &str| record::AgentResult { name: name.into(), ..Default::default() };
        measured.load.agents = vec![agent("load1"), agent("load2\u{1b}")];
        measured.surroundings.client_cpus = None;
    }
    let said = "The loads came from 2 agents, on other machines than the servers: load1, load2\\u{1b}.";
    assert_eq!(page_of(&manifest, &trials).run.loaded_from.as_deref(), Some(said));
    let text = crate::ranking::ranking(&manifest, &trials);
    assert!(text.lines().any(|line| line == said), "{text}");
}

#[test]
fn cores_of_each_side_are_those_of_the_text() {
    let trials = blocks(&[("gin", 100_000.0), ("tomcat", 90_000.0)], 2);
    let mut manifest = manifest(&["gin", "tomcat"], 4);
    assert!(!json(&page_of(&manifest, &trials)).contains("\"sides\""));
    let sides = "servers on 4-7 (node 1), client on 0-3 (node 0)";
    (manifest.placement, manifest.sides) = ("split".into(), Some(sides.into()));
    assert_eq!(page_of(&manifest, &trials).run.sides.as_deref(), Some(sides));
    let text = crate::ranking::ranking(&manifest, &trials);
    assert!(text.contains(&format!("Cores are not all alike: {sides}.")), "{text}");
}

/// However many they are, no test of a ranking counts them; and that is another reason than their number.
#[test]
fn trials_that_ended_with_the_claims_are_not_called_too_few() {
    let trials = blocks(&[("gin", 100_000.0), ("tomcat", 50_000.0)], 12);
    let mut manifest = manifest(&["gin", "tomcat"], 24);
    let tested = page_of(&manifest, &trials);
    assert!(tested.tables[0].tested && !tested.tables[0].ended_by_claims);
    assert!(!json(&tested).contains("ended_by_claims"));
    manifest.looks = vec![12, 20];
    let page = page_of(&manifest, &trials);
    let (table, answer) = (&page.tables[0], &page.answers[0]);
    assert_eq!((table.tested, table.ended_by_claims, answer.kind), (false, true, AnswerKind::Ahead));
    let said = "gin has the best goodput, by trials that ended when claims were decided; that supports no \
                claim.";
    assert!(answer.sentence.starts_with(said), "{}", answer.sentence);
}

/// A record bounds what is counted of a trial, and a run has many trials.
#[test]
fn counts_of_many_trials_are_added_up_without_an_overflow() {
    let (all, lost) = (1_u64 << 62, 1_u64 << 61);
    let trials: Vec<Trial> = (0..10)
        .map(|block| {
            let mut load = crate::samples::load(1000.0 + f64::from(block));
            load.intended = all;
            load.outcomes = record::Outcomes { answered: all - lost, reset: lost, ..Default::default() };
            load.answered_as_expected = all - lost;
            with(block, "gin", load)
        })
        .collect();
    let made = page_of(&manifest(&["gin"], 10), &trials);
    let errors = &made.tables[0].rows[0].errors;
    assert_eq!(errors.keys().collect::<Vec<_>>(), ["reset"]);
    assert!((0.0..=1.0).contains(&errors["reset"]), "{errors:?}");
}
