//! An experiment's ranking.

use record::{
    CONTROL, Distribution, Driver, ForeignDriver, LittlesLaw, Manifest, Measured, Role, Trial, TrialResult,
};
use report::{RunReport, TrialLine, ranking_text};

use crate::samples::{at, failed, load, manifest, mixed_load, silent_load, with};

pub fn ranking(manifest: &Manifest, trials: &[Trial]) -> String {
    ranking_text(&RunReport { manifest, trials, dir: "runs/quick-1" })
}

/// Three blocks of each stack, at these rates.
fn blocks(stacks: &[(&str, [f64; 3])]) -> Vec<Trial> {
    let of =
        |stack: &str, rates: [f64; 3]| (0..3).map(|block| at(block, stack, rates[block as usize])).collect();
    stacks.iter().flat_map(|(stack, rates)| -> Vec<Trial> { of(stack, *rates) }).collect()
}

const BOOT_ERROR: &str = "it did not come up within 10.0s; the end of its log:\n\
    Exception in thread \"main\" java.net.BindException\n\tat Server.main(Server.java:7)\n\n  last words\u{1b}[31m\n";

#[test]
fn ties_and_a_clear_last() {
    let stacks = [
        ("nginx", [129_600.0, 150_000.0, 125_000.0]),
        ("gin", [130_000.0, 124_000.0, 140_000.0]),
        ("java-socket-thread-per-request", [4_096.0, 4_000.0, 4_100.0]),
        ("target-pool", [160.0, 159.9, 159.8]),
    ];
    let names = stacks.map(|it| it.0);
    insta::assert_snapshot!(ranking(&manifest(&names, 12), &blocks(&stacks)));
}

/// Ten blocks on a machine that is faster in some than in others, which all rows share.
#[test]
fn enough_blocks_are_tested() {
    let machine = |block: u32| 1.0 + 0.1 * f64::from(block * 7 % 5);
    let noise = |stack: u32, block: u32| 1.0 + 0.002 * f64::from((stack * 3 + block * 5) % 7);
    let rates = [("gin", 100_000.0), ("nginx", 100_300.0), ("tomcat", 90_000.0), ("target-pool", 160.0)];
    let mut trials = Vec::new();
    for (stack, (name, rate)) in (0..).zip(rates) {
        trials.extend((0..10).map(|block| at(block, name, rate * machine(block) * noise(stack, block))));
    }
    let names = rates.map(|it| it.0);
    let mut manifest = manifest(&names, 40);
    manifest.blocks = 10;
    let text = ranking(&manifest, &trials);
    assert!(text.contains("1–2 a  gin") && text.contains("1–2 a  nginx"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn every_round_and_load_is_a_table() {
    let mut trials = blocks(&[("gin", [900.0; 3]), ("nginx", [910.0; 3])]);
    for (index, trial) in trials.iter_mut().enumerate() {
        match index {
            0 => trial.round = "sleep".into(),
            1 => trial.load = record::load_of_label("128 connections"),
            2 => trial.load = record::load_of_label("9 connections"),
            // On fresh connections because the stack closes them: the same load, and the same table.
            3 => trial.load = record::load_of_label("64 connections, fresh"),
            _ => {}
        }
    }
    let text = ranking(&manifest(&["gin"], 3), &trials);
    let headings: Vec<&str> = text.lines().filter(|line| line.contains(" connections")).collect();
    let expected =
        ["sleep, 64 connections", "hello, 9 connections", "hello, 64 connections", "hello, 128 connections"];
    assert_eq!(headings, expected);
}

#[test]
fn failed_left_out_and_not_reached() {
    let mut manifest = manifest(&["gin", "nginx", "netty", "tomcat"], 12);
    manifest.left_out.insert("zig".into(), "zig is missing: apt-get install zig".into());
    manifest.left_out.insert("go-http".into(), "it does not build:\nmain.go:3: no such package".into());
    let trials = [
        at(0, "gin", 900.0),
        failed(0, "nginx", BOOT_ERROR),
        at(1, "gin", 910.0),
        at(0, "tomcat", 500.0),
        failed(1, "tomcat", "it died under load"),
    ];
    insta::assert_snapshot!(ranking(&manifest, &trials));
}

#[test]
fn censored_percentiles_and_every_kind_of_error() {
    let trials = [with(0, "silent", silent_load()), with(0, "mixed", mixed_load()), at(0, "well", 946.0)];
    let text = ranking(&manifest(&["silent", "mixed", "well"], 3), &trials);
    assert!(text.contains(">2.00s"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn nothing_measured_at_all() {
    let text = ranking(&manifest(&["gin", "nginx"], 42), &[]);
    assert!(text.contains("Nothing was measured"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn only_failures() {
    let trials = [failed(0, "gin", BOOT_ERROR), failed(0, "nginx", "no port is free")];
    let text = ranking(&manifest(&["gin", "nginx"], 6), &trials);
    assert!(text.contains("Nothing was measured here."), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn one_trial_has_no_range() {
    let mut manifest = manifest(&["gin"], 1);
    manifest.blocks = 1;
    insta::assert_snapshot!(ranking(&manifest, &[at(0, "gin", 900.0)]));
}

/// Twelve blocks are enough for whatever may be asked of one service: there is nobody to tell it apart from.
#[test]
fn a_stack_by_itself_has_not_too_few_blocks() {
    let alone: Vec<Trial> = (0..12).map(|block| at(block, "gin", 900.0 + f64::from(block))).collect();
    let text = ranking(&manifest(&["gin"], 12), &alone);
    assert!(text.contains("A stack by itself is compared with none: its range spans all trials"), "{text}");
    assert!(!text.contains("too few"), "{text}");
    // Beside a table of two, which has blocks of its own.
    let mut trials = alone;
    for block in 0..2 {
        for stack in ["gin", "nginx"] {
            trials.push(Trial { round: "short".into(), ..at(block, stack, 500.0) });
        }
    }
    let text = ranking(&manifest(&["gin", "nginx"], 16), &trials);
    assert!(text.contains("\n2 blocks, too few to test: "), "{text}");
}

/// 1/s beside 10,000/s is little, and not nothing.
#[test]
fn who_is_nearly_all_behind_is_not_all_behind() {
    let of = |stack: &'static str, per_s: f64| (0..12).map(move |block| at(block, stack, per_s));
    let trials: Vec<Trial> = of("gin", 10_000.0).chain(of("slow", 1.0)).collect();
    let text = ranking(&manifest(&["gin", "slow"], 24), &trials);
    assert!(text.contains("-99.99 (-99.99…-99.99) %"), "{text}");
}

#[test]
fn a_rare_error_is_not_rounded_down_to_none() {
    let mut rare = load(100_000.0);
    rare.outcomes.answered -= 1;
    rare.outcomes.unsent += 1;
    rare.answered_as_expected -= 1;
    let text = ranking(&manifest(&["gin"], 3), &[with(0, "gin", rare)]);
    assert!(text.contains("unsent <0.1 %"), "{text}");
}

#[test]
fn hostile_texts_break_no_line_and_no_table() {
    let hostile = "a\r\nb\tc\u{1b}[2J\u{0}\u{9b}31m";
    let long = "x".repeat(500);
    let mut manifest = manifest(&["gin"], 9);
    manifest.title = hostile.into();
    manifest.left_out.insert(hostile.into(), hostile.into());
    let mut trials = vec![at(0, hostile, 900.0), at(0, &long, 800.0), failed(0, hostile, hostile)];
    for trial in &mut trials {
        trial.round = format!("round {hostile}");
    }
    let text = ranking_text(&RunReport { manifest: &manifest, trials: &trials, dir: hostile });
    assert!(!text.chars().any(|char| char.is_control() && char != '\n'), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn no_table_is_wider_than_a_wide_terminal() {
    let mut worst = mixed_load();
    worst.interrupted = true;
    worst.generator.busy_share = 0.99;
    worst.generator_lag_us = crate::samples::times(9_000, 9_000.0);
    worst.littles_law.as_mut().unwrap().gap = 0.5;
    worst.response_time_us.mean = Some(5e6);
    let stack = "java-socket-thread-per-request-2019";
    let trials = [with(0, stack, worst), at(0, "gin", 123_456.0), at(1, "gin", 98_765.0)];
    let text = ranking(&manifest(&[stack, "gin"], 4), &trials);
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{}: {line}", line.chars().count());
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_finished_trial_in_a_line() {
    assert_eq!(TrialLine(&at(0, "gin", 640.0)).to_string(), "640.0/s, p99 500ms, valid");
    assert_eq!(
        TrialLine(&with(0, "gin", silent_load())).to_string(),
        "0.00/s, p99 >2.00s, incorrect service"
    );
    assert_eq!(TrialLine(&failed(0, "gin", "it died:\nwhy")).to_string(), "failed: it died:\n    why");
}

/// Of records of versions that had another rule, nothing of this one is said.
#[test]
fn what_the_processes_of_a_block_served_is_said() {
    let trials = blocks(&[("gin", [900.0; 3]), ("nginx", [910.0; 3])]);
    let of = |same_loads: bool| {
        let manifest = Manifest { processes: "block".into(), same_loads, ..manifest(&["gin", "nginx"], 6) };
        ranking(&manifest, &trials)
    };
    let same = "in one order, and a twin's through all\nthat its stack's did.\n";
    assert!(of(true).contains(same) && !of(false).contains("a twin's"), "{}", of(true));
    let block = "served all of its cells in a block, and each block had processes of its own.\n";
    assert!(of(true).contains(block) && of(false).contains(block), "{}", of(false));
    let kept = |same_loads: bool| {
        let manifest = Manifest { processes: "kept".into(), same_loads, ..manifest(&["gin", "nginx"], 6) };
        ranking(&manifest, &trials)
    };
    let same = "without it does not.\nA twin's process served all loads that its stack's did.\n";
    assert!(kept(true).contains(same) && !kept(true).contains("of a block"), "{}", kept(true));
    assert!(!kept(false).contains("twin's"), "{}", kept(false));
}

#[test]
fn cores_that_are_not_alike_are_told() {
    let sides = "servers on 4-7 (node 1),\u{1b} client on 0-3 (node 0)";
    let manifest = Manifest { sides: Some(sides.into()), ..manifest(&["gin"], 3) };
    let text = ranking(&manifest, &blocks(&[("gin", [900.0; 3])]));
    assert!(text.contains("\nCores are not all alike: servers on 4-7 (node 1),"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn a_twin_and_a_control_stand_beside_the_rows() {
    let mut trials = blocks(&[("gin", [900.0, 910.0, 905.0]), ("nginx", [1000.0, 1010.0, 1005.0])]);
    for block in 0..3 {
        let twin = 890.0 + 5.0 * f64::from(block);
        trials.push(Trial { role: Role::Twin, ..at(block, "gin", twin) });
        trials.push(Trial { role: Role::Control, ..at(block, CONTROL, 1300.0) });
    }
    let text = ranking(&manifest(&["gin", "nginx"], 12), &trials);
    for part in ["control: the client reaches 1300/s", "A/A: gin to itself -1.1 %", "noise within a block 0."]
    {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    // 1005 is 77 % of the ceiling, 905 is 69.6 %.
    let row = |stack: &str| text.lines().skip_while(|line| !line.contains(stack)).take(2).collect::<String>();
    assert!(row("nginx").contains("client-bound") && !row("  gin").contains("client-bound"), "{text}");
    assert_eq!(text.matches("nginx").count(), 1, "twins and controls are no rows:\n{text}");
}

/// What the client reached over HTTP/1.1 without TLS is a ceiling of what speaks that. Of others its own CPU time tells.
#[test]
fn a_control_is_a_ceiling_of_the_rows_that_were_asked_as_it_was() {
    let of_streams = |block: u32, stack: &str, per_s: f64, busy_share: f64| {
        let mut asked = load(per_s);
        asked.load.streams = Some(32);
        asked.generator.busy_share = busy_share;
        with(block, stack, asked)
    };
    let mut others = Vec::new();
    for block in 0..3 {
        others.push(of_streams(block, "go-h2", 800.0, 0.24));
        others.push(of_streams(block, "nginx-h2", 1260.0, 0.76));
        others.push(Trial { role: Role::Control, ..at(block, CONTROL, 1300.0) });
    }
    let told = |trials: &[Trial]| {
        let text = ranking(&manifest(&["gin", "go-h2", "nginx", "nginx-h2"], 15), trials);
        (text.split_whitespace().collect::<Vec<_>>().join(" "), text)
    };
    let plain = blocks(&[("gin", [900.0; 3]), ("nginx", [1250.0; 3])]);
    let (words, text) = told(&[plain, others.clone()].concat());
    let control = "control: the client reaches 1300/s of the calibration target over HTTP/1.1 without TLS";
    let client = "client: over TLS or HTTP/2 its busiest thread was busy 76 % of the time at most (nginx-h2)";
    assert!(words.contains(&format!("{control}: a ceiling of nginx, gin {client}")), "{text}");
    // 1250 and 1260 are both above 70 % of 1300.
    let row = |stack: &str| text.lines().skip_while(|line| !line.contains(stack)).take(2).collect::<String>();
    assert!(row(" nginx ").contains("client-bound") && !row(" nginx-h2 ").contains("client-bound"), "{text}");

    let (words, text) = told(&others);
    assert!(words.contains(&format!("{control} {client}")), "{text}");
}

/// By connections that are kept the client reaches more, and that is no ceiling of a row that has one for each request.
#[test]
fn a_row_is_held_against_a_control_that_was_asked_as_it_was() {
    let of = |control_keeps: bool| {
        let mut trials = Vec::new();
        for block in 0..3 {
            let (mut closing, mut control) = (load(1000.0), load(1200.0));
            (closing.load.keep_alive, control.load.keep_alive) = (false, control_keeps);
            trials.extend([at(block, "gin", 1010.0), with(block, "nginx", closing)]);
            trials.push(Trial { role: Role::Control, ..with(block, CONTROL, control) });
        }
        ranking(&manifest(&["gin", "nginx"], 9), &trials)
    };
    for (control_keeps, words) in
        [(true, "on connections that are kept"), (false, "on a fresh connection for each request")]
    {
        let text = of(control_keeps);
        let is_held_against_it = |stack: &str| {
            let row = text.lines().skip_while(|line| !line.contains(stack)).take(2);
            row.collect::<String>().contains("client-bound")
        };
        assert_eq!(is_held_against_it("  gin"), control_keeps, "{text}");
        assert_eq!(is_held_against_it("  nginx"), !control_keeps, "{text}");
        let told = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (under, other) = if control_keeps { ("gin", "nginx") } else { ("nginx", "gin") };
        let control =
            format!("the client reaches 1200/s of the calibration target {words}: a ceiling of {under}");
        let client = "client: where no control is a ceiling its busiest thread was busy 31 % of the time";
        assert!(told.contains(&format!("{control} {client} at most ({other})")), "{text}");
    }
}

/// All are asked the same, so what counts is how long it takes. A percentile that is only a bound is behind.
#[test]
fn in_the_open_model_the_shorter_p99_is_ahead() {
    let of = |block: u32, stack: &str, p99_us: f64| {
        let mut asked = load(500.0);
        asked.load.rate_per_s = Some(500.0);
        asked.response_time_us.p99 = Some(p99_us);
        with(block, stack, asked)
    };
    let mut trials = Vec::new();
    for block in 0..3 {
        let more = f64::from(block);
        trials.extend([of(block, "slow", 9000.0 + more), of(block, "fast", 1000.0 + more)]);
        let mut silent = silent_load();
        silent.load.rate_per_s = Some(500.0);
        trials.push(with(block, "silent", silent));
    }
    let text = ranking(&manifest(&["fast", "silent", "slow"], 9), &trials);
    let at = |stack: &str| text.find(&format!(" {stack} ")).unwrap_or_else(|| panic!("{stack}:\n{text}"));
    assert!(at("fast") < at("slow") && at("slow") < at("silent") && text.contains("of p99"), "{text}");
}

/// Twelve blocks of a load in the open model, with the 99th percentile that a stack has in each; `None` is one that nobody
/// saw the end of.
fn asked(stack: &str, p99_us: impl Fn(u32) -> Option<f64>) -> Vec<Trial> {
    let of = |block: u32| {
        let mut asked = load(1000.0);
        asked.load.rate_per_s = Some(1000.0);
        asked.response_time_us.p99 = Some(p99_us(block).unwrap_or(2e6));
        if p99_us(block).is_none() {
            asked.response_time_us.lower_bounds.push("p99".into());
            asked.response_time_us.censored = 20;
        }
        with(block, stack, asked)
    };
    (0..12).map(of).collect()
}

/// The control is loaded in the closed model, whatever the table is.
#[test]
fn a_control_that_comes_last_does_not_change_what_its_table_is_ranked_by() {
    let mut trials = asked("slow", |block| Some(9000.0 + f64::from(block)));
    trials.extend(asked("fast", |block| Some(6000.0 + f64::from(block))));
    trials.extend((0..12).map(|block| Trial { role: Role::Control, ..at(block, CONTROL, 50_000.0) }));
    let text = ranking(&manifest(&["fast", "slow"], 36), &trials);
    assert!(text.contains("p99 to the best") && text.contains("+50 ("), "{text}");
    assert!(text.contains("1 a  fast") && text.contains("2 b  slow"), "{text}");
}

/// It has the better 99th percentile in the six blocks in which it answers in time.
#[test]
fn who_behaves_in_half_of_its_blocks_is_not_ahead_of_who_always_does() {
    let mut trials = asked("steady", |block| Some(12_000.0 + f64::from(block)));
    trials.extend(asked("moody", |block| (block % 2 == 0).then(|| 8000.0 + f64::from(block))));
    let text = ranking(&manifest(&["moody", "steady"], 24), &trials);
    let place = |stack: &str| text.find(&format!("  {stack} ")).unwrap_or_else(|| panic!("{stack}:\n{text}"));
    assert!(place("steady") < place("moody"), "{text}");
    assert!(text.contains("over 1 % unanswered in 6 of 12"), "{text}");
    assert!(!text.contains("1 a  moody"), "{text}");
}

#[test]
fn who_answers_nothing_in_half_of_its_blocks_is_not_first() {
    let mut trials: Vec<Trial> =
        (0..12).map(|block| at(block, "steady", 1000.0 + f64::from(block))).collect();
    trials.extend((0..12).map(|block| match block % 2 {
        0 => at(block, "moody", 5000.0 + f64::from(block)),
        _ => with(block, "moody", silent_load()),
    }));
    let text = ranking(&manifest(&["moody", "steady"], 24), &trials);
    assert!(text.contains("1–2 a  steady") && text.contains("1–2 a  moody"), "{text}");
    assert!(text.contains("no good answer in 6 of 12"), "{text}");
}

/// Two rounds of one run, of which one has too few blocks for a test.
#[test]
fn a_tables_own_blocks_say_whether_it_is_tested() {
    let mut trials: Vec<Trial> = (0..12)
        .flat_map(|block| [at(block, "gin", 900.0 + f64::from(block)), at(block, "nginx", 500.0)])
        .collect();
    for block in [90, 4_000_000_000] {
        for (stack, rate) in [("gin", 900.0), ("nginx", 500.0)] {
            trials.push(Trial { round: "short".into(), ..at(block, stack, rate) });
        }
    }
    let text = ranking(&manifest(&["gin", "nginx"], 28), &trials);
    let (tested, short) = text.split_once("short, 64 connections").expect("both rounds are shown");
    assert!(tested.contains("to the best"), "{text}");
    assert!(short.contains("range") && !short.contains("to the best"), "{text}");
}

#[test]
fn fewer_than_six_blocks_have_no_interval_anywhere() {
    let of = |blocks: u32| {
        let mut trials = Vec::new();
        for block in 0..blocks {
            let wobble = 5.0 * f64::from(block);
            trials.extend([at(block, "gin", 900.0), at(block, "nginx", 700.0 + wobble)]);
            trials.push(Trial { role: Role::Twin, ..at(block, "gin", 890.0 + wobble) });
            trials.push(told_by(Driver::Wrk, at(block, "gin", 910.0 + wobble)));
        }
        ranking(&manifest(&["gin", "nginx"], 4 * blocks), &trials)
    };
    let line = |text: &str, part: &str| {
        text.lines().find(|line| line.contains(part)).map_or_else(|| panic!("{part}:\n{text}"), str::to_owned)
    };
    let (few, enough) = (of(5), of(6));
    assert!(
        !line(&few, "A/A: gin").contains('…') && line(&enough, "A/A: gin").contains('…'),
        "{few}\n{enough}"
    );
    assert!(!line(&few, "× ").contains('…') && line(&enough, "× ").contains('…'), "{few}\n{enough}");
}

fn measured(trial: &mut Trial) -> &mut Measured {
    match &mut trial.result {
        TrialResult::Measured(measured) => measured,
        TrialResult::Failed { .. } => panic!("it was measured"),
    }
}

/// The same, as another driver tells it.
fn told_by(driver: Driver, mut trial: Trial) -> Trial {
    trial.driver = driver;
    let load = &mut measured(&mut trial).load;
    load.response_time_us = Distribution::default();
    load.driver = Some(ForeignDriver {
        name: driver.name().into(),
        version: format!("{} 1.0", driver.name()),
        command: Vec::new(),
        cannot_know: vec!["when a request was due".into(), "what each second was like".into()],
        cpu_cores: Some(0.5),
        cores: 2,
    });
    trial
}

#[test]
fn drivers_have_tables_of_their_own_and_stand_side_by_side() {
    let mut trials = Vec::new();
    for (driver, shift) in [(Driver::Proofload, 1.0), (Driver::Wrk, 1.04), (Driver::Jmeter, 0.6)] {
        for block in 0..3 {
            let noise = 1.0 + 0.01 * f64::from(block);
            let of = |stack: &str, per_s: f64| match driver {
                Driver::Proofload => at(block, stack, per_s),
                driver => told_by(driver, at(block, stack, per_s)),
            };
            trials.push(of("gin", 9000.0 * shift * noise));
            trials.push(of("nginx", 20_000.0 * shift * noise * noise));
            trials.push(Trial { role: Role::Control, ..of(CONTROL, 26_000.0 * shift) });
        }
    }
    for trial in trials.iter_mut().filter(|trial| trial.driver == Driver::Jmeter && trial.stack == "gin") {
        let law = LittlesLaw { users: 64.0, throughput_per_s: 5400.0, mean_response_s: 0.009, gap: 0.24 };
        measured(trial).load.littles_law = Some(law);
    }
    let text = ranking(&manifest(&["gin", "nginx"], 27), &trials);
    let tables: Vec<&str> = text.lines().filter(|line| line.starts_with("hello, 64 connections")).collect();
    assert_eq!(tables, ["", ", by wrk", ", by JMeter"].map(|by| format!("hello, 64 connections{by}")));
    // nginx by wrk: 77 % of what wrk can, and gin by JMeter: of 64 users 49 were waiting for gin.
    assert!(text.contains("client-bound") && text.contains("Little's law broken"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn where_loads_came_from_is_said_where_it_is_not_the_run_itself() {
    let mut trials = blocks(&[("gin", [900.0; 3]), ("nginx", [910.0; 3])]);
    let of_one = manifest(&["gin", "nginx"], 6);
    assert!(!ranking(&of_one, &trials).contains("loads came from"));
    for trial in &mut trials {
        let agent =
            |number: usize| record::AgentResult { name: format!("h{number}\u{1b}"), ..Default::default() };
        let measured = measured(trial);
        measured.load.agents = (0..10).map(agent).collect();
        measured.surroundings.client_cpus = Some("0-1".into());
    }
    let text = ranking(&of_one, &trials);
    assert!(text.contains("The loads came from 10 agents: h0") && text.contains(" and 2 more.\n"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    for trial in &mut trials {
        measured(trial).surroundings.client_cpus = None;
    }
    let text = ranking(&of_one, &trials);
    assert!(text.contains("The loads came from 10 agents, on other machines than the servers: h0"), "{text}");
}

#[test]
fn attempts_that_came_to_nothing_are_told_with_their_reasons() {
    let mut trials = blocks(&[("gin", [900.0; 3]), ("nginx", [910.0; 3])]);
    assert!(!ranking(&manifest(&["gin", "nginx"], 6), &trials).contains("made again"));
    let lost = |why: &str| format!("agent 1 of 2 (b) was lost: it {why}");
    trials[3].lost_attempts = vec![lost("ended\u{1b}\nat once"), lost("fell silent")];
    let (stack, block) = (trials[3].stack.clone(), trials[3].block + 1);
    let text = ranking(&manifest(&["gin", "nginx"], 6), &trials);
    let told = format!(
        "\nmade again: {stack}, in hello, block {block}, since agent 1 of 2 (b) was lost: it ended\\u{{1b}} at once; agent 1 \
         of 2 (b) was lost: it fell silent; attempt 3 is the one in the record\n"
    );
    assert!(text.contains(&told), "{text}");
}
