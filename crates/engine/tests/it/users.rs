//! Users who come one after another and leave when they have made their requests.

use std::num::NonZeroU32;

use engine::{Action, Config, ConnectFailure, Engine, Event, Load, RETRY_PAUSE, Sample, Sink, UserStart};
use units::Duration;

use crate::common::{self, START, at, tell};

/// Two users, the second 10 ms after the first, with two requests each.
fn config() -> Config {
    let users = NonZeroU32::new(2).unwrap();
    let load = Load::Closed {
        think: Duration::ZERO,
        start: UserStart::RampUp { span: Duration::from_millis(20), users },
        requests_per_user: NonZeroU32::new(2),
    };
    common::config(2, load, Duration::MAX)
}

/// Wakes the engine at the instant at which it wants to be, which has to be the given one.
fn wake<S: Sink>(engine: &mut Engine<S>, millis: u64) -> Option<Action> {
    assert_eq!(engine.poll_timeout(), Some(at(millis)));
    engine.handle_timeout(at(millis));
    engine.poll_action(at(millis))
}

#[test]
fn a_user_connects_in_its_turn_and_its_connection_is_closed_after_its_last_answer() {
    let mut samples = Vec::new();
    let mut engine = Engine::new(config(), |sample: &Sample| samples.push(*sample), START);
    assert_eq!(engine.poll_action(START), None, "nothing is opened before its turn");
    let Some(Action::Connect(first)) = wake(&mut engine, 0) else { panic!("the first user starts") };
    assert_eq!(engine.poll_action(at(0)), None, "the second one has to wait");
    tell(&mut engine, 3, first, Event::Connected);
    for request in 1..=2 {
        assert_eq!(engine.poll_action(at(3)), Some(Action::Send(first)), "request {request}");
        tell(&mut engine, 3, first, Event::Sent);
        tell(&mut engine, 3, first, Event::Received(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
    }
    assert_eq!(engine.poll_action(at(3)), Some(Action::Close(first)), "it has made its two");
    assert_eq!(engine.poll_action(at(3)), None);
    let Some(Action::Connect(_)) = wake(&mut engine, 10) else { panic!("the second user starts") };
    let counters = engine.counters();
    assert_eq!((counters.connections_opened, counters.connections_opened_in_window), (1, 1));
    drop(engine);
    let waits: Vec<Duration> = samples.iter().map(Sample::response_time).collect();
    assert_eq!(waits, [Duration::from_millis(3), Duration::ZERO], "set-up is in the first");
}

#[test]
fn a_request_that_failed_is_made_all_the_same() {
    let mut engine = Engine::new(config(), |_: &Sample| {}, START);
    let refused = Event::ConnectFailed(ConnectFailure::Refused);
    let Some(Action::Connect(first)) = wake(&mut engine, 0) else { panic!("the first user starts") };
    tell(&mut engine, 0, first, refused);
    let Some(Action::Connect(second)) = wake(&mut engine, 10) else { panic!("the second user starts") };
    tell(&mut engine, 10, second, Event::Connected);
    assert_eq!(engine.poll_action(at(10)), Some(Action::Send(second)));
    let pause = RETRY_PAUSE.as_nanos() / 1_000_000;
    let Some(Action::Connect(first)) = wake(&mut engine, pause) else { panic!("it has one more") };
    tell(&mut engine, pause, first, refused);
    // What is left is the second user's answer, or its timeout.
    assert_eq!(engine.poll_timeout(), Some(at(10) + config().timeouts.request));
    assert_eq!((engine.counters().intended, engine.outstanding()), (3, 1));
    engine.handle_timeout(at(1010));
    assert_eq!(engine.poll_action(at(1010)), Some(Action::Close(second)));
    let Some(Action::Connect(second)) = engine.poll_action(at(1010)) else { panic!("it has one more") };
    tell(&mut engine, 1010, second, refused);
    assert!(engine.is_finished(), "all users have made their requests");
}
