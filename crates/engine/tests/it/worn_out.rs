//! A connection whose keys are worn out carries nothing new: what is out on it is awaited, and what comes next goes out on
//! another.

use engine::{Action, Arrivals, Engine, Event, Load, Sample, UserStart};
use units::{Duration, Rate};

use crate::common::{self, at, tell};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#[test]
fn the_next_request_of_a_user_goes_out_on_another_connection() {
    let config = common::config(1, Load::SATURATING, Duration::from_secs(1));
    let mut samples = Vec::new();
    let mut engine = Engine::new(config, |sample: &Sample| samples.push(*sample), at(0));
    let Some(Action::Connect(first)) = engine.poll_action(at(0)) else { panic!("it connects first") };
    tell(&mut engine, 1, first, Event::Connected);
    assert_eq!(engine.poll_action(at(1)), Some(Action::Send(first)));
    tell(&mut engine, 1, first, Event::WornOut);
    assert_eq!(engine.poll_action(at(1)), None, "its answer is awaited");
    tell(&mut engine, 2, first, Event::Received(ANSWER));
    assert_eq!(engine.poll_action(at(2)), Some(Action::Close(first)));
    let Some(Action::Connect(second)) = engine.poll_action(at(2)) else { panic!("it connects anew") };
    tell(&mut engine, 5, second, Event::Connected);
    assert_eq!(engine.poll_action(at(5)), Some(Action::Send(second)));
    tell(&mut engine, 6, second, Event::Received(ANSWER));
    let counters = engine.counters();
    drop(engine);
    assert_eq!((counters.connections_opened, counters.connections_closed_by_server), (2, 0));
    assert!(samples.len() == 2 && samples.iter().all(|it| it.outcome.is_answered()), "{samples:?}");
    // As long as a connection was missing is in its response time, and not in its service time.
    let Sample { intended, ready, sent, .. } = samples[1];
    assert_eq!((intended, ready, sent), (at(2), at(5), Some(at(5))));
}

#[test]
fn what_is_due_later_opens_another_connection() {
    let arrivals = Arrivals::Constant(Rate::per_sec(10.0).expect("above zero"));
    let load = Load::Open { arrivals, backlog_max: Load::BACKLOG_MAX_DEFAULT };
    let config = common::config(1, load, Duration::from_secs(1));
    let mut samples = Vec::new();
    let mut engine = Engine::new(config, |sample: &Sample| samples.push(*sample), at(0));
    let Some(Action::Connect(first)) = engine.poll_action(at(0)) else { panic!("it connects first") };
    tell(&mut engine, 1, first, Event::Connected);
    engine.handle_timeout(at(1));
    assert_eq!(engine.poll_action(at(1)), Some(Action::Send(first)));
    tell(&mut engine, 1, first, Event::WornOut);
    tell(&mut engine, 2, first, Event::Received(ANSWER));
    assert_eq!(engine.poll_action(at(2)), None, "nothing is due");
    engine.handle_timeout(at(101));
    assert_eq!(engine.poll_action(at(101)), Some(Action::Close(first)));
    let Some(Action::Connect(second)) = engine.poll_action(at(101)) else { panic!("it connects anew") };
    tell(&mut engine, 102, second, Event::Connected);
    assert_eq!(engine.poll_action(at(102)), Some(Action::Send(second)));
    tell(&mut engine, 103, second, Event::Received(ANSWER));
    drop(engine);
    let took: Vec<_> = samples.iter().map(Sample::response_time).collect();
    assert_eq!(took, [1, 2].map(Duration::from_millis));
}

/// Whoever says so may do it late.
#[test]
fn a_connection_that_is_worn_out_and_idle_is_closed() {
    let think = Duration::from_millis(100);
    let load = Load::Closed { think, start: UserStart::WithWarmUp, requests_per_user: None };
    let config = common::config(1, load, Duration::from_secs(1));
    let mut engine = Engine::new(config, |_: &Sample| {}, at(0));
    let Some(Action::Connect(first)) = engine.poll_action(at(0)) else { panic!("it connects first") };
    tell(&mut engine, 1, first, Event::Connected);
    assert_eq!(engine.poll_action(at(1)), Some(Action::Send(first)));
    tell(&mut engine, 2, first, Event::Received(ANSWER));
    tell(&mut engine, 3, first, Event::WornOut);
    assert_eq!(engine.poll_action(at(3)), Some(Action::Close(first)));
    engine.handle_timeout(at(102));
    assert!(matches!(engine.poll_action(at(102)), Some(Action::Connect(_))), "the user thought long enough");
}
