//! The load ends while a connection is being opened for a request.

use std::cell::RefCell;

use engine::{Action, Completion, Conn, Engine, Event, Load, Outcome, Reuse, Sample, Sink};
use units::Duration;

use crate::common::{self, at_ms};

const ANSWER: &[u8] = b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn tell<S: Sink>(engine: &mut Engine<S>, ms: u64, conn: Conn, event: Event<'_>) {
    engine.handle_completion(at_ms(ms), Completion { conn, event, arrived: None });
}

/// The sample of the one request of a user whose connection is being opened at the deadline, 10 ms after its beginning. Answers
/// are awaited for half a second then.
fn connecting_at_the_deadline(then: impl FnOnce(&mut Engine<&dyn Fn(&Sample)>, Conn)) -> Sample {
    let mut config = common::config(1, Load::SATURATING, Duration::from_millis(10));
    config.reuse = Reuse::FreshConnection;
    config.timeouts.drain = Duration::from_millis(500);
    let samples = RefCell::new(Vec::new());
    let sink = |sample: &Sample| samples.borrow_mut().push(*sample);
    // A closure behind a reference can be named.
    let sink: &dyn Fn(&Sample) = &sink;
    let mut engine = Engine::new(config, sink, at_ms(0));
    let Some(Action::Connect(conn)) = engine.poll_action(at_ms(0)) else { panic!("it connects first") };
    assert_eq!(engine.poll_timeout(), Some(at_ms(10)));
    engine.handle_timeout(at_ms(10));
    assert_eq!(engine.poll_action(at_ms(10)), None, "the connection is awaited");
    then(&mut engine, conn);
    while engine.poll_action(at_ms(600)).is_some() {}
    assert!(engine.is_finished(), "{:?}", engine.stage());
    drop(engine);
    let samples = samples.into_inner();
    assert_eq!(samples.len(), 1, "{samples:?}");
    samples[0]
}

/// As one that is out at the deadline: its set-up is part of its time, and it had begun.
#[test]
fn a_request_whose_connection_is_being_opened_at_the_deadline_may_still_be_answered() {
    let sample = connecting_at_the_deadline(|engine, conn| {
        tell(engine, 12, conn, Event::Connected);
        assert_eq!(engine.poll_action(at_ms(12)), Some(Action::Send(conn)));
        engine.handle_sent(conn);
        tell(engine, 15, conn, Event::Received(ANSWER));
    });
    assert_eq!(sample.outcome, Outcome::Answered { status: 200, expected: true });
    assert_eq!(sample.response_time(), Duration::from_millis(15));
    assert!(sample.due_in_window && !sample.done_in_window, "{sample:?}");
}

#[test]
fn a_connection_that_is_not_there_in_time_leaves_its_request_unsent() {
    let sample = connecting_at_the_deadline(|engine, _| {
        assert_eq!(engine.poll_timeout(), Some(at_ms(510)));
        engine.handle_timeout(at_ms(510));
    });
    assert_eq!((sample.outcome, sample.sent), (Outcome::Unsent, None));
}

#[test]
fn whoever_ends_the_load_at_once_waits_for_no_connection() {
    let sample = connecting_at_the_deadline(|engine, _| engine.interrupt(at_ms(11)));
    assert_eq!((sample.outcome, sample.sent), (Outcome::Unsent, None));
}
