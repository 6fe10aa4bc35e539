use std::path::Path;

use engine::{Outcome, Sample};
use events::AgentNow;
use plan::stack::{ConnectionUse, Endpoint};
use plan::{Cell, LoadArguments, LoadPlan};
use record::{Burst, Contract, Driver, LoadResult, Measured, Role, Server, Surroundings, TRIAL_VERSION};

use super::*;

const SECOND: Duration = Duration::from_secs(1);
/// What `proofload hit --json` printed of a load without fault.
const LOAD: &str = include_str!("../../../../bench/src/samples/proofload.json");

fn at(ms: u64) -> Instant {
    Instant::ORIGIN + Duration::from_millis(ms)
}

fn plan() -> LoadPlan {
    let duration = Some(Duration::from_secs(3));
    LoadPlan::new(&LoadArguments { connections: Some(4), duration, ..LoadArguments::default() }).unwrap()
}

fn cell(stack: &str) -> Cell {
    let endpoint = Endpoint {
        name: "hello".into(),
        path: "/hello".into(),
        status: 200,
        body: None,
        delay: None,
        connection: ConnectionUse::KeepAlive,
        wire_bytes: None,
        framing: None,
        thread: None,
        upstream_connections_max: None,
    };
    let stack = stack.to_owned();
    let (role, driver) = (plan::Role::Stack, plan::Driver::Proofload);
    let speaks = plan::stack::Speaks::default();
    Cell { stack, role, driver, endpoint, speaks, load: plan(), until_steady: true }
}

fn ahead(trials: u32) -> Ahead {
    let left = Duration::from_secs(u64::from(trials) * 10);
    Ahead { trials, left, trials_max: trials, left_max: left }
}

fn starting(number: u32, of: u32, cell: &Cell) -> Event<'_> {
    Event::Starting { number, ahead: ahead(of + 1 - number), block: 1, round: "hello", cell }
}

fn trial(stack: &str, result: TrialResult) -> Trial {
    Trial {
        version: TRIAL_VERSION,
        index: 0,
        block: 0,
        round: "hello".into(),
        stack: stack.into(),
        role: Role::Stack,
        driver: Driver::Proofload,
        load: record::load_of_label("4 connections"),
        started: "2026-11-22T08:00:00Z".into(),
        repeats: None,
        lost_attempts: Vec::new(),
        result,
    }
}

fn measured(change: impl FnOnce(&mut LoadResult)) -> TrialResult {
    let mut load: LoadResult = serde_json::from_str(LOAD).unwrap();
    change(&mut load);
    TrialResult::Measured(Box::new(Measured {
        load,
        server: Server::default(),
        upstreams: Vec::new(),
        contract: Contract::default(),
        warm_up: None,
        surroundings: Surroundings::default(),
        host: None,
    }))
}

fn answers(count: usize) -> Interval {
    let mut interval = Interval::default();
    for _ in 0..count {
        interval.record(&Sample {
            intended: at(0),
            ready: at(0),
            sent: Some(at(0)),
            done: at(2),
            first_byte: None,
            arrived: None,
            outcome: Outcome::Answered { status: 200, expected: true },
            received_bytes: 1,
            due_in_window: true,
            done_in_window: true,
        });
    }
    interval
}

fn interval(state: &mut State, second: u64, answered: usize, at: Instant) {
    let (from, interval) = (SECOND * second, answers(answered));
    state.during(&Moment::Interval { from, interval: &interval, length: SECOND, rates: &[], threads: 1 }, at);
}

#[test]
fn a_trial_is_followed_from_its_boot_to_its_line() {
    let mut state = State::of_experiment(2, at(0));
    let cell = cell("gin");
    state.observe(&Event::Begun { title: "Quick look", dir: Path::new("runs/quick") }, at(0));
    state.observe(&Event::Building { stack: "gin" }, at(10));
    let view = state.view(at(1010));
    assert_eq!((view.title.as_str(), view.dir.as_deref()), ("Quick look", Some("runs/quick")));
    assert_eq!((view.stage.name, view.stage.detail.as_deref()), (StageName::Building, Some("gin")));
    state.observe(&Event::Waiting { stack: "gin", for_what: "another build" }, at(1100));
    let detail = state.view(at(1200)).stage.detail;
    assert_eq!(detail.as_deref(), Some("gin waits for another build"));

    state.observe(&starting(3, 12, &cell), at(2000));
    state.observe(&Event::During(Moment::Stage(Stage::Booting)), at(2000));
    assert_eq!(state.view(at(2500)).stage.name, StageName::Booting);
    state.during(&Moment::Burst { number: 1, of: 12 }, at(3000));
    interval(&mut state, 0, 80, at(4000));
    let burst = Burst { goodput_per_s: 80.0, jit_share: Some(0.5) };
    state.during(&Moment::Warmed { burst: &burst, told: Steadiness::Compiling(0.5) }, at(4100));
    let view = state.view(at(4200));
    assert_eq!(view.bursts, [BurstView { goodput_per_s: 80.0, jit_share: Some(0.5) }]);
    assert_eq!(view.steadiness.as_deref(), Some("the JVM's compilers are busy for 50 % of a core"));

    state.during(&Moment::Load(&plan()), at(5000));
    state.during(&Moment::Opening(4), at(5100));
    interval(&mut state, 0, 100, at(6100));
    let view = state.view(at(6200));
    let trial_view = view.trial.unwrap();
    assert_eq!((trial_view.number, trial_view.of, trial_view.stack.as_str()), (3, 12, "gin"));
    assert_eq!(view.stage.name, StageName::Measuring);
    assert_eq!(view.outcomes.intended, 100, "of the measured load alone");
    assert_eq!(view.outcomes_so_far.intended, 180, "a counter never goes back");
    assert_eq!(view.seconds.iter().map(|it| it.burst).collect::<Vec<_>>(), [Some(1), None]);
    assert!((view.left.unwrap().left_s - 95.8).abs() < 1e-6, "{:?}", view.left);

    state.observe(&Event::Finished { trial: &trial("gin", measured(|_| {})) }, at(9000));
    let view = state.view(at(9000));
    assert_eq!((view.finished_count, view.finished[0].verdict.as_str()), (1, "valid"));
    assert!(view.finished[0].goodput_per_s.unwrap() > 60_000.0 && view.finished[0].p99_us.is_some());
    assert_eq!(view.warnings, []);
    let (lines, seen) = state.lines_after(0);
    assert!(lines[0].starts_with("trial 3/12, block 1, hello, 4 connections: gin: 67"), "{lines:?}");
    assert_eq!((state.lines_after(seen).0, seen), (Vec::<String>::new(), 1));
}

#[test]
fn what_speaks_against_something_is_a_warning() {
    let mut state = State::of_experiment(2, at(0));
    state.observe(&Event::LeftOut { stack: "zuul", why: "JDK 17 is missing" }, at(0));
    state.observe(&starting(1, 2, &cell("gin")), at(1));
    let error = format!("died under load\n{}", "x".repeat(100_000));
    state.observe(&Event::Finished { trial: &trial("gin", TrialResult::Failed { error }) }, at(2));
    state.observe(&starting(2, 2, &cell("nginx")), at(3));
    state.observe(&Event::MadeAgain { attempt: 2, of: 3, why: "agent 1 of 2 (b)\u{1b} was lost" }, at(3));
    let late = measured(|load| load.interrupted = true);
    state.observe(&Event::Finished { trial: &trial("nginx", late) }, at(4));
    let view = state.view(at(5));
    let told: Vec<_> = view.warnings.iter().map(|it| (it.kind, it.of.as_str())).collect();
    let expected =
        [(WarningKind::LeftOut, "zuul"), (WarningKind::Failed, "gin"), (WarningKind::Doubt, "nginx")];
    assert_eq!(told, expected);
    assert!(view.warnings[2].text.starts_with("interrupted: "), "{:?}", view.warnings[2]);
    assert!(view.finished[0].failure.as_ref().unwrap().len() < 1000);
    let lines = state.lines_after(0).0;
    let again = "attempt 2 of 3 at this trial, since agent 1 of 2 (b)\\u{1b} was lost";
    assert_eq!((lines.len(), lines[2].as_str()), (4, again));
}

fn agents(state: &mut State, at: Instant) {
    let silent_for = Duration::ZERO;
    let agent = AgentNow { number: 0, name: "load1", generator_lag_p99: None, silent_for, is_lost: true };
    state.during(&Moment::Agents(&[agent]), at);
}

#[test]
fn how_machines_did_under_a_load_is_not_shown_of_the_next_trial() {
    let mut state = State::of_experiment(2, at(0));
    state.observe(&starting(1, 2, &cell("gin")), at(0));
    agents(&mut state, at(1000));
    assert_eq!(state.view(at(1000)).agents.len(), 1);
    state.observe(&starting(2, 2, &cell("nginx")), at(2000));
    assert_eq!(state.view(at(2000)).agents, []);
}

#[test]
fn one_load_is_followed_without_a_trial() {
    let mut state = State::of_load("http://127.0.0.1:1/", &plan(), 2, at(0));
    assert_eq!(state.view(at(100)).stage.name, StageName::Opening);
    state.during(&Moment::Opening(4), at(200));
    interval(&mut state, 0, 50, at(1200));
    let view = state.view(at(1200));
    assert_eq!((view.kind, view.trial.is_none()), (Kind::Load, true));
    assert_eq!(view.title, "http://127.0.0.1:1/   4 connections");
    assert!((view.left.unwrap().left_s - 2.0).abs() < 1e-6, "{:?}", view.left);
    assert_eq!(view.histogram.iter().map(|it| it.count).sum::<u64>(), 50);
    state.end(true, None, at(1300));
    let view = state.view(at(2000));
    assert_eq!((view.stage.name, view.left), (StageName::Over, None));
    assert!(view.ended.unwrap().interrupted);
}

#[test]
fn how_long_ago_the_last_second_ended_is_told() {
    let mut state = State::of_load("http://127.0.0.1:1/", &plan(), 2, at(0));
    state.during(&Moment::Opening(4), at(200));
    assert_eq!(state.view(at(1200)).last_second_ago_s, None);
    // By the first the window began at 300 ms or before, by the second at 250 ms or before.
    interval(&mut state, 0, 50, at(1300));
    interval(&mut state, 1, 50, at(2250));
    let ago_s = state.view(at(2500)).last_second_ago_s.expect("there is one");
    assert!((ago_s - 0.25).abs() < 1e-9, "{ago_s}");
    state.during(&Moment::Load(&plan()), at(3000));
    let view = state.view(at(3100));
    assert_eq!((view.seconds.len(), view.last_second_ago_s), (2, None), "they are of an earlier load");
}

#[test]
fn a_run_of_days_takes_no_more_than_one_of_minutes() {
    let mut state = State::of_experiment(2, at(0));
    let (hostile, good) = ("\u{1b}[2J".repeat(50_000), trial("gin", measured(|_| {})));
    for number in 1..=3000_u32 {
        let now = at(u64::from(number) * 10_000);
        state.observe(&starting(number, 3000, &cell("gin")), now);
        state.observe(&Event::LeftOut { stack: "gin", why: &hostile[..500] }, now);
        state.observe(&Event::Finished { trial: &good }, now);
    }
    let view = state.view(at(40_000_000));
    assert_eq!(view.finished_count, 3000);
    let json = serde_json::to_string(&view).unwrap();
    assert!(json.len() < 200_000, "{}", json.len());
    assert!(state.lines.len() <= LINES_MAX);
    assert!(state.lines.iter().all(|line| !line.contains('\u{1b}')), "a line steers no terminal");
    // Who looks again after a long while misses some, and is not told any twice.
    let (lines, seen) = state.lines_after(10);
    assert_eq!((lines.len(), seen), (LINES_MAX, 6000));
}

#[test]
fn the_json_says_its_version_and_the_names_that_the_page_reads() {
    let mut state = State::of_experiment(2, at(0));
    state.observe(&starting(1, 2, &cell("名前<script>")), at(1));
    let json: serde_json::Value =
        serde_json::from_str(&serde_json::to_string(&state.view(at(2))).unwrap()).unwrap();
    assert_eq!((json["version"].as_u64(), json["kind"].as_str()), (Some(1), Some("experiment")));
    assert_eq!(json["stage"]["name"], "starting");
    assert_eq!((&json["trial"]["stack"], &json["trial"]["role"]), (&"名前<script>".into(), &"stack".into()));
    assert_eq!(json["trial"]["driver"], "proofload");
}
