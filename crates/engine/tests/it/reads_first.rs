//! The loop reads all that came in before it sends, so a connection may be found gone with a request that is still to
//! go out on it.

use engine::{Action, Conn, Engine, Event, Load, Outcome, Sample, Sink};
use units::Duration;

use crate::common::{self, at, tell};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// One user, whose connection has come up.
fn connected<S: Sink>(sink: S) -> (Engine<S>, Conn) {
    let config = common::config(1, Load::SATURATING, Duration::from_secs(1));
    let mut engine = Engine::new(config, sink, at(0));
    let Some(Action::Connect(conn)) = engine.poll_action(at(0)) else { panic!("it connects first") };
    tell(&mut engine, 1, conn, Event::Connected);
    (engine, conn)
}

#[test]
fn a_request_still_to_go_out_goes_out_on_the_next_connection() {
    for gone in [Event::PeerClosed, Event::Reset, Event::Received(b"unasked")] {
        let mut samples = Vec::new();
        let (mut engine, first) = connected(|sample: &Sample| samples.push(*sample));
        assert_eq!(engine.poll_action(at(1)), Some(Action::Send(first)));
        tell(&mut engine, 1, first, Event::Sent);
        // The answer and the end of the connection are seen in one turn; the next request waits to be sent.
        tell(&mut engine, 2, first, Event::Received(ANSWER));
        tell(&mut engine, 2, first, gone);
        assert_eq!(engine.poll_action(at(3)), Some(Action::Close(first)), "{gone:?}");
        let Some(Action::Connect(second)) = engine.poll_action(at(3)) else { panic!("it connects anew") };
        tell(&mut engine, 4, second, Event::Connected);
        assert_eq!(engine.poll_action(at(5)), Some(Action::Send(second)));
        tell(&mut engine, 5, second, Event::Sent);
        tell(&mut engine, 6, second, Event::Received(ANSWER));
        drop(engine);
        let answered = |sample: &Sample| matches!(sample.outcome, Outcome::Answered { status: 200, .. });
        assert!(samples.len() == 2 && samples.iter().all(answered), "{gone:?}: {samples:?}");
        // Due when the first was answered, and sent when there was a connection: the wait is in its response time.
        assert_eq!((samples[1].intended, samples[1].sent), (at(2), Some(at(5))), "{gone:?}");
    }
}

#[test]
fn a_connection_that_never_served_and_is_gone_costs_its_request() {
    for (gone, outcome) in [(Event::PeerClosed, Outcome::ClosedEarly), (Event::Reset, Outcome::Reset)] {
        let mut samples = Vec::new();
        let (mut engine, conn) = connected(|sample: &Sample| samples.push(*sample));
        tell(&mut engine, 2, conn, gone);
        drop(engine);
        assert_eq!(samples.iter().map(|sample| sample.outcome).collect::<Vec<_>>(), [outcome]);
        assert!(samples[0].sent.is_some_and(|sent| samples[0].ready <= sent && sent <= samples[0].done));
    }
}
