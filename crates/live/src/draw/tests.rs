use crate::view::{
    AgentView, BurstView, CpuView, LeftView, Outcomes, StageName, StageView, TrialView, VIEW_VERSION,
    Warning, WarningKind,
};

use super::*;

fn second(at: u32) -> Second {
    Second {
        burst: None,
        from_s: f64::from(at),
        goodput_per_s: 5000.0 + f64::from(at % 7) * 10.0,
        p50_us: Some(800.0),
        p50_is_lower_bound: false,
        p99_us: Some(3_400.0),
        p99_is_lower_bound: at.is_multiple_of(2),
        failures: std::collections::BTreeMap::new(),
    }
}

fn warning(kind: WarningKind, of: &str, text: &str) -> Warning {
    Warning { kind, of: of.into(), text: text.into(), times: 2 }
}

fn experiment() -> View {
    View {
        version: VIEW_VERSION,
        kind: Kind::Experiment,
        title: "Quick look: 名前".into(),
        dir: None,
        elapsed_s: 75.0,
        stage: StageView { name: StageName::Measuring, detail: None, for_s: 3.2, of_s: Some(15.0) },
        trial: Some(TrialView {
            number: 7,
            of: 54,
            of_max: 54,
            block: 2,
            round: "hello".into(),
            load: "64 connections".into(),
            stack: "nginx".into(),
            role: record::Role::Twin,
            driver: record::Driver::Wrk,
        }),
        bursts: vec![BurstView { goodput_per_s: 4821.0, jit_share: None }; 3],
        steadiness: Some("steady".into()),
        left: Some(LeftView { trials: 48, trials_max: 48, left_s: 500.0, left_s_max: 900.0 }),
        finished: Vec::new(),
        finished_count: 6,
        seconds: (0..=120).map(second).collect(),
        last_second_ago_s: Some(0.4),
        outcomes: Outcomes {
            intended: 1000,
            answered_as_expected: 985,
            failures: [("timed_out", 12), ("reset", 3)].into(),
        },
        outcomes_so_far: Outcomes::default(),
        histogram: Vec::new(),
        cpu: Some(CpuView {
            cores: 2,
            generator: 0.43,
            servers: Some(1.02),
            others: Some(0.1),
            interrupts: Some(0.2),
            steal: Some(0.0),
        }),
        agents: Vec::new(),
        warnings: vec![
            warning(WarningKind::LeftOut, "zuul", "JDK 17 is missing"),
            warning(WarningKind::Failed, "gin", "died under load\n\u{1b}[2J"),
            warning(WarningKind::Doubt, "nginx", "late generator: lag p99 3 ms"),
            warning(WarningKind::NoisyHost, "", "other processes use 0.9 of 2 cores"),
        ],
        ended: None,
    }
}

fn drawn(view: &View, columns: u16, rows: u16) -> Vec<String> {
    let area = Rect::new(0, 0, columns, rows_wanted(view, rows));
    let mut buffer = Buffer::empty(area);
    draw(view, area, &mut buffer);
    let row =
        |y| (0..columns).filter_map(|x| buffer.cell((x, y))).map(ratatui::buffer::Cell::symbol).collect();
    (0..area.height).map(row).collect()
}

#[test]
fn it_shows_what_goes_on_what_is_left_and_what_goes_wrong() {
    let lines = drawn(&experiment(), 100, 40);
    let text = lines.join("\n");
    for part in [
        "Quick look",
        "75 s, 8 min to 15 min left",
        "trial 7/54, block 2, hello, 64 connections: nginx by wrk, its twin",
        "6 of 54 trials done",
        "measuring  3 s of 15 s ━━━",
        "warm-up  4821/s 4821/s 4821/s  steady",
        "goodput 5010/s",
        "p50 800us  p99 >3.40ms",
        "errors   timed out 12, reset 3 (1.5 %)",
        "CPU      servers 1.02  generator 0.43  others 0.10  irq 0.20  of 2 cores",
        "noise    other processes use 0.9 of 2 cores",
        "doubt    nginx (2 times): late generator",
        "failed   gin (2 times): died under load \\u{1b}[2J",
    ] {
        assert!(text.contains(part), "{part:?} is missing:\n{text}");
    }
    assert!(!text.contains("zuul"), "the oldest warning gives way");
}

#[test]
fn a_second_that_is_long_over_is_told_with_its_age() {
    let mut view = experiment();
    view.last_second_ago_s = Some(2.9);
    assert!(!drawn(&view, 100, 40).join("\n").contains(" ago"));
    view.last_second_ago_s = Some(7.3);
    let text = drawn(&view, 100, 40).join("\n");
    assert!(text.contains("goodput 5010/s, 7 s ago"), "{text}");
}

/// The worst first, as the view has them.
#[test]
fn machines_that_carry_a_load_are_told_by_what_is_wrong_with_them() {
    let agent = |number, name: &str, lag, silent_s, lost| AgentView {
        number,
        name: name.into(),
        generator_lag_p99_us: lag,
        generator_lag_p99_is_lower_bound: number == 4,
        silent_s,
        lost,
    };
    let mut view = experiment();
    assert!(!drawn(&view, 100, 40).join("\n").contains("agents"));
    view.agents = vec![
        agent(2, "load3\u{1b}[2J", Some(3000.0), 12.0, true),
        agent(0, "load1", Some(38.0), 7.0, false),
        agent(1, "load2", Some(1500.0), 0.4, false),
        agent(3, "load4", None, 0.0, false),
        agent(4, "load5", Some(1500.0), 0.0, false),
    ];
    let text = drawn(&view, 160, 40).join("\n");
    let told = "agents   2 (load3\\u{1b}[2J) lost  0 (load1) silent for 7 s  1 (load2) lag 1.50ms  3 (load4) no requests  \
                4 (load5) lag >1.50ms";
    assert!(text.contains(told), "{text}");
}

#[test]
fn it_fits_whatever_room_there_is_and_leaves_out_the_least_important() {
    let mut load = experiment();
    (load.kind, load.trial) = (Kind::Load, None);
    load.histogram = (0..12).map(|at| Bucket { up_to_us: Some(10.0 * f64::from(at)), count: 5 }).collect();
    for view in [experiment(), load] {
        for columns in [COLUMNS_MIN, 59, 60, 80, 200] {
            for rows in ROWS_MIN..40 {
                let lines = drawn(&view, columns, rows);
                assert!(lines.len() <= usize::from(rows));
                assert!(lines[0].contains("Quick"), "{lines:?}");
            }
        }
    }
    let small = drawn(&experiment(), 60, 14).join("\n");
    for part in ["trial 7/54", "nginx", "measuring", "goodput", "p99", "errors", "CPU"] {
        assert!(small.contains(part), "{part:?} is missing:\n{small}");
    }
}

#[test]
fn one_load_has_a_histogram() {
    let mut view = experiment();
    (view.kind, view.trial) = (Kind::Load, None);
    view.bursts.clear();
    let bucket = |up_to_us, count| Bucket { up_to_us, count };
    view.histogram =
        vec![bucket(Some(500.0), 20), bucket(Some(1e3), 70), bucket(Some(2e6), 9), bucket(None, 1)];
    let text = drawn(&view, 80, 30).join("\n");
    for part in ["500us", "1ms", "2s", "more", "70 %", "20 %", "without an answer, how long they were"] {
        assert!(text.contains(part), "{part:?} is missing:\n{text}");
    }
    // An answer that is not the expected one has its response time all the same.
    view.outcomes.failures = [("unexpected", 3)].into();
    let text = drawn(&view, 80, 30).join("\n");
    assert!(text.contains("response times ") && !text.contains("without an answer"), "{text}");
    // Where there is no room for all bars, the first stands for those before it.
    let narrow = Rect::new(0, 0, 17, 6);
    let mut buffer = Buffer::empty(narrow);
    histogram(&view.histogram, "response times", narrow, &mut buffer);
    let cells: String = buffer.content().iter().map(ratatui::buffer::Cell::symbol).collect();
    assert!(cells.contains("90 %") && !cells.contains("500us"), "{cells}");
}

#[test]
fn nothing_yet_is_drawn_as_nothing_yet() {
    let mut view = experiment();
    (view.trial, view.cpu, view.left, view.steadiness) = (None, None, None, None);
    view.seconds.clear();
    view.bursts.clear();
    view.warnings.clear();
    view.outcomes = Outcomes::default();
    view.stage =
        StageView { name: StageName::Building, detail: Some("g\u{7}in".into()), for_s: 1.0, of_s: None };
    let text = drawn(&view, 60, 20).join("\n");
    assert!(text.contains("building g\\u{7}in  1 s") && text.contains("errors   none"), "{text}");
    assert!(text.contains("goodput –") && text.contains("p50 –  p99 –"), "{text}");
}
