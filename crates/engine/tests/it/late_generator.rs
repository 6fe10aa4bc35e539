//! A generator that is held up must not lose what was due meanwhile.

use std::num::NonZeroU32;

use engine::{Action, Arrivals, Completion, Config, Engine, Event, Load, Outcome, Sample};
use units::{Duration, Instant, Rate};

use crate::common;

fn config(rate_per_s: f64, duration: Duration) -> Config {
    let load = Load::Open {
        arrivals: Arrivals::Constant(Rate::per_sec(rate_per_s).unwrap()),
        backlog_max: NonZeroU32::new(10).unwrap(),
    };
    common::config(1, load, duration)
}

#[test]
fn every_request_due_before_the_deadline_is_intended_however_late_the_loop_turns() {
    let mut outcomes = Vec::new();
    let start = Instant::from_nanos(1_000);
    // 100,000 are due, far more than one turn handles.
    let config = config(1e6, Duration::from_millis(100));
    let mut engine = Engine::new(config, |sample: &Sample| outcomes.push(sample.outcome), start);
    let Some(Action::Connect(conn)) = engine.poll_action(start) else { panic!("it connects first") };
    engine.handle_completion(start, Completion { conn, event: Event::Connected, arrived: None });
    // The process was stopped for a second: the first turn after the start is past the deadline.
    let late = start + Duration::from_secs(1);
    engine.handle_timeout(late);
    while engine.poll_action(late).is_some() {}
    engine.handle_timeout(late + Duration::from_secs(2));
    while engine.poll_action(late).is_some() {}
    assert!(engine.is_finished());
    assert_eq!(engine.counters().intended, 100_000);
    drop(engine);
    assert_eq!(outcomes.len(), 100_000);
    let never_sent = |outcome: &&Outcome| matches!(outcome, Outcome::Unsent | Outcome::BacklogOverflow);
    let unsent = outcomes.iter().filter(never_sent).count();
    assert!(unsent >= 99_989, "one connection and a backlog of ten took at most eleven: {unsent}");
}
