//! What is seen after its bound came too late, in whatever order a generator that was held up gets to see it.

use std::cell::RefCell;
use std::num::NonZeroU32;

use engine::{
    Action, Arrivals, Completion, Conn, ConnectFailure, Engine, Event, Load, Outcome, Sample, Sink,
};
use units::{Duration, Instant, Rate};

use crate::common::{self, actions, at_ms};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// `common::config` gives up after a second.
const TIMEOUT: Duration = Duration::from_secs(1);

fn closed(connections: u32) -> engine::Config {
    common::config(connections, Load::SATURATING, Duration::from_secs(60))
}

fn told<S: Sink>(engine: &mut Engine<S>, ms: u64, conn: Conn, event: Event<'_>) {
    engine.handle_completion(at_ms(ms), Completion { conn, event, arrived: None });
}

/// An engine with one user whose request went out at 0, its connection, and what was sampled after `then`.
fn after_sending(then: impl FnOnce(&mut Engine<&dyn Fn(&Sample)>, Conn)) -> Vec<Sample> {
    let samples = RefCell::new(Vec::new());
    let sink = |sample: &Sample| samples.borrow_mut().push(*sample);
    // A closure behind a reference can be named.
    let sink: &dyn Fn(&Sample) = &sink;
    let mut engine = Engine::new(closed(1), sink, at_ms(0));
    let [Action::Connect(conn)] = actions(&mut engine, at_ms(0))[..] else { panic!("it connects first") };
    told(&mut engine, 0, conn, Event::Connected);
    assert_eq!(actions(&mut engine, at_ms(0)), [Action::Send(conn)]);
    engine.handle_sent(conn);
    then(&mut engine, conn);
    drop(engine);
    samples.into_inner()
}

#[test]
fn an_answer_that_is_seen_after_its_deadline_timed_out_at_it() {
    // Whole, in two pieces, and ended by the close.
    let (first, second) = ANSWER.split_at(20);
    let unframed = b"HTTP/1.1 200 OK\r\n\r\nok";
    let ways: [&[Event<'_>]; 3] = [
        &[Event::Received(ANSWER)],
        &[Event::Received(first), Event::Received(second)],
        &[Event::Received(unframed), Event::PeerClosed],
    ];
    for events in ways {
        let samples = after_sending(|engine, conn| {
            for event in events {
                told(engine, 1001, conn, *event);
            }
            // The connection may still bring something, and the user goes on with another.
            let next = actions(engine, at_ms(1001));
            assert!(matches!(next[..], [Action::Close(closed), Action::Connect(_)] if closed == conn));
        });
        assert_eq!(samples.len(), 1);
        assert_eq!(samples[0].outcome, Outcome::TimedOut, "{events:?}");
        assert_eq!(samples[0].service_time(), Some(TIMEOUT), "{events:?}");
        assert!(samples[0].received_bytes > 0, "{events:?}");
    }
}

#[test]
fn an_answer_at_its_deadline_is_one() {
    let samples = after_sending(|engine, conn| told(engine, 1000, conn, Event::Received(ANSWER)));
    assert!(samples[0].outcome.is_answered());
}

#[test]
fn an_answer_that_the_kernel_had_in_time_is_one() {
    for (arrived_ms, answered) in [(400, true), (1000, true), (1001, false)] {
        let samples = after_sending(|engine, conn| {
            let event = Event::Received(ANSWER);
            let arrived = Some(at_ms(arrived_ms));
            engine.handle_completion(at_ms(1500), Completion { conn, event, arrived });
        });
        assert_eq!(samples[0].outcome.is_answered(), answered, "arrived at {arrived_ms} ms");
        if answered {
            // How late it was seen is the generator's, and is told.
            assert_eq!(samples[0].receive_lag(), Some(Duration::from_millis(1500 - arrived_ms)));
        }
    }
}

/// The clock that the kernel stamps by may be set forward while an answer lies there.
#[test]
fn no_answer_lay_there_for_longer_than_since_its_request_went_out() {
    let samples = after_sending(|engine, conn| {
        told(engine, 10, conn, Event::Received(ANSWER));
        assert_eq!(actions(engine, at_ms(20)), [Action::Send(conn)]);
        engine.handle_sent(conn);
        let event = Event::Received(ANSWER);
        engine.handle_completion(at_ms(50), Completion { conn, event, arrived: Some(at_ms(5)) });
    });
    assert_eq!(samples[1].receive_lag(), Some(Duration::from_millis(30)));
}

#[test]
fn whatever_else_is_seen_after_the_deadline_timed_out_too() {
    for event in [Event::Reset, Event::PeerClosed, Event::Received(b"\x16\x03 no answer\r\n\r\n")] {
        for (ms, outcome) in [(999, "not"), (1001, "timed_out")] {
            let samples = after_sending(|engine, conn| told(engine, ms, conn, event));
            let name = samples[0].outcome.name();
            assert_eq!(name == "timed_out", outcome == "timed_out", "{event:?} at {ms} ms: {name}");
            assert!(samples[0].service_time() <= Some(TIMEOUT), "{event:?} at {ms} ms");
        }
    }
    let samples = after_sending(|engine, _| engine.interrupt(at_ms(1001)));
    assert_eq!((samples[0].outcome, samples[0].service_time()), (Outcome::TimedOut, Some(TIMEOUT)));
}

#[test]
fn a_connection_that_is_seen_up_after_its_bound_was_none_until_then() {
    // An open model: a connection is opened for the first request that is due.
    let arrivals = Arrivals::Constant(Rate::per_sec(0.01).unwrap());
    let load = Load::Open { arrivals, backlog_max: NonZeroU32::MIN };
    let mut config = common::config(1, load, Duration::from_secs(60));
    config.reuse = engine::Reuse::FreshConnection;
    for event in [Event::Connected, Event::ConnectFailed(ConnectFailure::Refused), Event::Reset] {
        let mut samples = Vec::new();
        let mut engine =
            Engine::new(config.clone(), |sample: &Sample| samples.push(*sample), Instant::ORIGIN);
        engine.handle_timeout(at_ms(0));
        let [Action::Connect(conn)] = actions(&mut engine, at_ms(0))[..] else { panic!("it connects") };
        told(&mut engine, 1500, conn, event);
        let closed = actions(&mut engine, at_ms(1500)).contains(&Action::Close(conn));
        assert_eq!(closed, !matches!(event, Event::ConnectFailed(_)), "{event:?}: what is there is closed");
        drop(engine);
        assert_eq!(samples.len(), 1);
        assert_eq!(samples[0].outcome, Outcome::ConnectFailed(ConnectFailure::TimedOut), "{event:?}");
        assert_eq!(samples[0].response_time(), TIMEOUT, "{event:?}");
    }
}

#[test]
fn a_request_that_has_yet_to_go_out_does_not_time_out() {
    let samples = after_sending(|engine, conn| {
        // The next request is given to the connection, and then the generator is held up before it sends it.
        told(engine, 10, conn, Event::Received(ANSWER));
        engine.handle_timeout(at_ms(1500));
        assert_eq!(actions(engine, at_ms(1500)), [Action::Send(conn)]);
        engine.handle_sent(conn);
        told(engine, 1600, conn, Event::Received(ANSWER));
        // And its own timeout is kept.
        assert_eq!(actions(engine, at_ms(1600)), [Action::Send(conn)]);
        engine.handle_timeout(at_ms(2600));
    });
    let outcomes: Vec<&str> = samples.iter().map(|it| it.outcome.name()).collect();
    assert_eq!(outcomes, ["answered", "answered", "timed_out"]);
    assert_eq!(samples[1].service_time(), Some(Duration::from_millis(100)));
    assert_eq!(samples[2].service_time(), Some(TIMEOUT));
}
