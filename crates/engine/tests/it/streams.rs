//! Exchanges that share a connection, in a protocol that is as small as one can be.

use std::sync::Arc;

use engine::{Action, Arrivals, Completion, Conn, Engine, Event, Load, Outcome, Sample, Sink, Unscripted};
use http::{
    EndOfStream, Fed, Framing, Limits, Listener, Malformed, Protocol, RequestKind, RequestSpec, Response,
};
use units::{Duration, Rate};

use crate::common::{self, at};

/// Places of a connection, of which its server allows one at a time.
const PLACES: u32 = 3;
/// The server's words that it takes no more requests, that it takes none for now, and that it takes them again. Its others are
/// the places of exchanges, which they answer.
const TAKES_NONE: u8 = b'!';
const NONE_FOR_NOW: u8 = b'-';
const TAKES_AGAIN: u8 = b'+';
/// Why it takes no more: ENHANCE_YOUR_CALM.
const CALM: u32 = 11;

#[derive(Debug, Default)]
struct Toy {
    open: Option<u32>,
    takes_none: bool,
    none_for_now: bool,
    is_retired: bool,
}

#[derive(Debug)]
struct Nothing;

impl Protocol for Toy {
    const MULTIPLEXED: bool = true;

    type Settings = ();
    type Shared = Nothing;

    fn shared(_: Limits, _: RequestKind, (): ()) -> Nothing {
        Nothing
    }

    fn room(_: &Nothing) -> u32 {
        PLACES
    }

    fn new(_: &Nothing) -> Self {
        Self::default()
    }

    fn begin(&mut self, _: &Nothing, _: &mut Vec<u8>) -> bool {
        *self = Self::default();
        true
    }

    fn has_room(&self) -> bool {
        self.open.is_none() && !self.takes_none && !self.none_for_now && !self.is_retired
    }

    fn is_over(&self) -> bool {
        self.open.is_none() && (self.takes_none || self.is_retired)
    }

    fn is_ended_by_peer(&self) -> bool {
        self.takes_none
    }

    fn end_code(&self) -> Option<u32> {
        self.takes_none.then_some(CALM)
    }

    fn retire(&mut self) {
        self.is_retired = true;
    }

    fn ask(&mut self, place: u32, request: &Arc<[u8]>, out: &mut Vec<u8>) {
        self.open = Some(place);
        out.extend_from_slice(request);
    }

    fn ask_for(&mut self, _: u32, _: &RequestSpec<'_>, _: bool, _: &mut Vec<u8>) -> u64 {
        panic!("there is no script")
    }

    fn expect(&mut self, _: u32, _: RequestKind) {}

    fn cancel(&mut self, _: u32, _: &mut Vec<u8>) -> bool {
        self.open = None;
        true
    }

    fn whole<'a>(_: &'a Nothing, _: &[u8]) -> Option<&'a Response> {
        None
    }

    fn feed(
        &mut self,
        _: &mut Nothing,
        input: &mut &[u8],
        listener: &mut impl Listener,
        _: &mut Vec<u8>,
    ) -> Result<Fed, Malformed> {
        while let Some((word, rest)) = input.split_first() {
            *input = rest;
            match *word {
                TAKES_NONE => self.takes_none = true,
                NONE_FOR_NOW | TAKES_AGAIN => self.none_for_now = *word == NONE_FOR_NOW,
                _ => {}
            }
            if [TAKES_NONE, NONE_FOR_NOW, TAKES_AGAIN].contains(word) {
                continue;
            }
            let place = u32::from(*word);
            assert_eq!(self.open.take(), Some(place));
            listener.begun(place);
            let response = Response {
                status: 200,
                keep_alive: true,
                framing: Framing::None,
                head_bytes: 1,
                body_bytes: 0,
                wire_bytes: 1,
            };
            return Ok(Fed::Ended { place, response, surplus: false });
        }
        Ok(Fed::NeedMore)
    }

    fn body_bytes_to_come(&self) -> u64 {
        0
    }

    fn skip(&mut self, _: u64) -> Result<Fed, Malformed> {
        Err(Malformed::Unsolicited)
    }

    fn end_of_stream(&mut self) -> EndOfStream {
        EndOfStream::Truncated
    }
}

type ToyEngine<S> = Engine<S, Unscripted, Toy>;

/// Users who ask without a pause, for so many seconds.
fn saturating<S: Sink>(secs: u64, sink: S) -> ToyEngine<S> {
    ToyEngine::over(common::config(1, Load::SATURATING, Duration::from_secs(secs)), (), sink, at(0))
}

fn tell<S: Sink>(engine: &mut ToyEngine<S>, millis: u64, conn: Conn, event: Event<'_>) {
    engine.handle_completion(at(millis), Completion { conn, event, arrived: None });
}

/// The connection that is opened.
fn connects<S: Sink>(engine: &mut ToyEngine<S>, millis: u64) -> Conn {
    match engine.poll_action(at(millis)) {
        Some(Action::Connect(conn)) => conn,
        other => panic!("after {millis} ms it connects, and not {other:?}"),
    }
}

/// What goes out, on the connection that is to be sent on.
fn sends<S: Sink>(engine: &mut ToyEngine<S>, millis: u64, conn: Conn) {
    assert_eq!(engine.poll_action(at(millis)), Some(Action::Send(conn)), "after {millis} ms");
    assert_eq!(engine.poll_action(at(millis)), None, "after {millis} ms");
}

/// Nothing is done.
fn waits<S: Sink>(engine: &mut ToyEngine<S>, millis: u64) {
    engine.handle_timeout(at(millis));
    assert_eq!(engine.poll_action(at(millis)), None, "after {millis} ms");
}

/// A server that ends its connections has them wait on the next one as well: that is one wait, as long as both, and who has
/// waited longest goes first.
#[test]
fn a_request_that_waits_for_a_stream_on_two_connections_waits_once() {
    let mut samples = Vec::new();
    let mut engine = saturating(1, |sample: &Sample| samples.push(*sample));
    let first = connects(&mut engine, 0);
    // Three users, of whom two wait from now on.
    tell(&mut engine, 1, first, Event::Connected);
    sends(&mut engine, 1, first);
    // The second one's turn; the first one waits in its place.
    tell(&mut engine, 2, first, Event::Received(&[0]));
    sends(&mut engine, 2, first);
    tell(&mut engine, 3, first, Event::Received(&[TAKES_NONE]));
    tell(&mut engine, 4, first, Event::Received(&[1]));
    assert_eq!(engine.poll_action(at(4)), Some(Action::Close(first)));
    let second = connects(&mut engine, 4);
    // The third one's turn, then the first one's.
    tell(&mut engine, 10, second, Event::Connected);
    sends(&mut engine, 10, second);
    tell(&mut engine, 11, second, Event::Received(&[2]));
    sends(&mut engine, 11, second);
    let counters = engine.counters();
    drop(engine);
    assert_eq!((counters.intended, counters.stream_waits), (6, 5), "one found room at once");
    let ms = Duration::from_millis;
    assert_eq!((counters.stream_wait, counters.stream_wait_max), (ms(1 + 9 + 9), ms(9)));
    let sent: Vec<_> = samples.iter().map(|sample| sample.sent).collect();
    assert_eq!(sent, [1, 2, 10].map(|millis| Some(at(millis))));
}

/// It is counted once, and not again where the next connection is given up before it has begun.
#[test]
fn it_is_counted_why_a_server_ended_a_connection() {
    let mut engine = saturating(10, |_: &Sample| {});
    let first = connects(&mut engine, 0);
    tell(&mut engine, 1, first, Event::Connected);
    sends(&mut engine, 1, first);
    tell(&mut engine, 2, first, Event::Received(&[TAKES_NONE]));
    assert_eq!(engine.counters().go_aways.named().count(), 0, "it owes an answer");
    tell(&mut engine, 3, first, Event::Received(&[0]));
    assert_eq!(engine.poll_action(at(3)), Some(Action::Close(first)));
    let second = connects(&mut engine, 3);
    // That takes longer than the second it may.
    engine.handle_timeout(at(1004));
    assert_eq!(engine.poll_action(at(1004)), Some(Action::Close(second)));
    let named: Vec<_> = engine.counters().go_aways.named().collect();
    assert_eq!(named, [("enhance_your_calm", 1)]);
}

/// One whose keys are worn out carries what is out on it, and is left for another then. That is not the server's doing, and costs
/// nobody a request.
#[test]
fn a_worn_out_connection_is_left_once_it_owes_no_answer() {
    let mut samples = Vec::new();
    let mut engine = saturating(1, |sample: &Sample| samples.push(*sample));
    let first = connects(&mut engine, 0);
    // Three users, of whom two wait.
    tell(&mut engine, 1, first, Event::Connected);
    sends(&mut engine, 1, first);
    tell(&mut engine, 1, first, Event::WornOut);
    waits(&mut engine, 1);
    tell(&mut engine, 2, first, Event::Received(&[0]));
    assert_eq!(engine.poll_action(at(2)), Some(Action::Close(first)));
    let second = connects(&mut engine, 2);
    tell(&mut engine, 10, second, Event::Connected);
    sends(&mut engine, 10, second);
    let counters = engine.counters();
    drop(engine);
    assert_eq!((counters.connections_opened, counters.connections_closed_by_server), (2, 0));
    assert_eq!((counters.intended, counters.resent), (4, 0), "none of them had gone out");
    assert!(samples.len() == 1 && samples[0].outcome.is_answered(), "{samples:?}");
}

/// A server may allow fewer streams than there are users. Who waits for one has begun, as who is out has.
#[test]
fn users_who_wait_for_a_stream_at_the_end_of_the_load_may_still_be_answered() {
    let mut config = common::config(1, Load::SATURATING, Duration::from_millis(10));
    config.timeouts.drain = Duration::from_millis(500);
    let mut samples = Vec::new();
    let sink = |sample: &Sample| samples.push(*sample);
    let mut engine = ToyEngine::over(config, (), sink, at(0));
    let conn = connects(&mut engine, 0);
    tell(&mut engine, 1, conn, Event::Connected);
    sends(&mut engine, 1, conn);
    engine.handle_timeout(at(11));
    for (millis, place) in [(15, 0), (16, 1)] {
        tell(&mut engine, millis, conn, Event::Received(&[place]));
        sends(&mut engine, millis, conn);
    }
    tell(&mut engine, 17, conn, Event::Received(&[2]));
    assert_eq!(engine.poll_action(at(17)), Some(Action::Close(conn)));
    assert!(engine.is_finished(), "{:?}", engine.stage());
    drop(engine);
    let all = samples.iter().all(|it| it.outcome.is_answered() && it.due_in_window && !it.done_in_window);
    assert!(all, "{samples:?}");
    let took: Vec<_> = samples.iter().map(Sample::response_time).collect();
    assert_eq!(took, [14, 15, 16].map(Duration::from_millis));
}

/// At a rate those that are due and find no stream are a backlog, which says that the rate was not kept.
#[test]
fn what_waits_for_a_stream_at_the_end_of_a_rate_is_unsent() {
    let arrivals = Arrivals::Constant(Rate::per_sec(1_000.0).expect("above zero"));
    let load = Load::Open { arrivals, backlog_max: Load::BACKLOG_MAX_DEFAULT };
    let mut config = common::config(1, load, Duration::from_millis(3));
    config.timeouts.drain = Duration::from_millis(500);
    let mut outcomes = Vec::new();
    let sink = |sample: &Sample| outcomes.push(sample.outcome);
    let mut engine = ToyEngine::over(config, (), sink, at(0));
    let conn = connects(&mut engine, 0);
    tell(&mut engine, 1, conn, Event::Connected);
    engine.handle_timeout(at(1));
    sends(&mut engine, 1, conn);
    for millis in [2, 3, 4] {
        engine.handle_timeout(at(millis));
        assert_eq!(engine.poll_action(at(millis)), None, "one at a time");
    }
    tell(&mut engine, 5, conn, Event::Received(&[0]));
    assert_eq!(engine.poll_action(at(5)), Some(Action::Close(conn)));
    drop(engine);
    let answered = Outcome::Answered { status: 200, expected: true };
    assert_eq!(outcomes, [Outcome::Unsent, Outcome::Unsent, answered]);
}

/// That is no end of its connection: who waits goes on where it is. Only one that owes no answer and lets nobody ask for as
/// long as an answer may take, a second here, is left for another.
#[test]
fn a_server_that_takes_no_requests_for_a_while_is_waited_for() {
    let config = common::config(1, Load::SATURATING, Duration::from_secs(10));
    let mut samples = Vec::new();
    let sink = |sample: &Sample| samples.push(*sample);
    let mut engine = ToyEngine::over(config, (), sink, at(0));
    let first = connects(&mut engine, 0);
    tell(&mut engine, 1, first, Event::Connected);
    sends(&mut engine, 1, first);
    tell(&mut engine, 2, first, Event::Received(&[NONE_FOR_NOW]));
    tell(&mut engine, 3, first, Event::Received(&[0]));
    waits(&mut engine, 3);
    waits(&mut engine, 900);
    tell(&mut engine, 901, first, Event::Received(&[TAKES_AGAIN]));
    // The second user, of the two that have waited longest.
    sends(&mut engine, 901, first);
    tell(&mut engine, 902, first, Event::Received(&[NONE_FOR_NOW]));
    // Timers go off here. It owes an answer.
    waits(&mut engine, 1001);
    tell(&mut engine, 1002, first, Event::Received(&[1]));
    // It owes none from here on. That is seen when the next timer goes off, the second user's after 1901 ms.
    for millis in [1002, 1901, 2001, 2900] {
        waits(&mut engine, millis);
    }
    engine.handle_timeout(at(2901));
    assert_eq!(engine.poll_action(at(2901)), Some(Action::Close(first)));
    let second = connects(&mut engine, 2901);
    tell(&mut engine, 2902, second, Event::Connected);
    // The third one, which has waited all the time.
    sends(&mut engine, 2902, second);
    tell(&mut engine, 2903, second, Event::Received(&[2]));
    drop(engine);
    let answered: Vec<_> = samples.iter().map(|it| (it.outcome.is_answered(), it.done)).collect();
    assert_eq!(answered, [3, 1002, 2903].map(|millis| (true, at(millis))), "nobody's request is lost");
}

/// Else a load of so many requests would have no end.
#[test]
fn what_a_server_never_lets_go_out_has_an_outcome() {
    let config = common::config(1, Load::SATURATING, Duration::from_secs(10));
    let mut samples = Vec::new();
    let sink = |sample: &Sample| samples.push(*sample);
    let mut engine = ToyEngine::over(config, (), sink, at(0));
    let conn = connects(&mut engine, 0);
    tell(&mut engine, 1, conn, Event::Connected);
    tell(&mut engine, 1, conn, Event::Received(&[NONE_FOR_NOW]));
    // A second after they were due it is seen for the first time.
    for millis in [1, 1000, 1001, 2000] {
        waits(&mut engine, millis);
    }
    engine.handle_timeout(at(2001));
    assert_eq!(engine.poll_action(at(2001)), Some(Action::Close(conn)));
    assert!(matches!(engine.poll_action(at(2001)), Some(Action::Connect(_))));
    drop(engine);
    let ended: Vec<_> = samples.iter().map(|it| (it.outcome, it.sent, it.done)).collect();
    assert_eq!(ended, [(Outcome::GoneAway, None, at(2001)); 3]);
}
