//! What the tests of the engine start from.

use std::num::NonZeroU32;

use engine::{
    Action, Begin, Completion, Config, Conn, Engine, Event, Expect, Load, Request, Reuse, Share, Sink, Stop,
    Timeouts,
};
use http::{Limits, RequestKind};
use units::{Duration, Instant, Seed};

/// When an engine begins that is to begin later than the clock.
pub const START: Instant = Instant::from_nanos(1_000);

/// `load` on so many connections that are kept, without a warm-up and for `duration` at most; nothing may take longer
/// than a second, and nothing is awaited after the end.
pub fn config(connections: u32, load: Load, duration: Duration) -> Config {
    let second = Duration::from_secs(1);
    Config {
        connections: NonZeroU32::new(connections).expect("one connection at least"),
        load,
        stop: Stop { duration, requests: None },
        warm_up: Duration::ZERO,
        begin: Begin::WhenOpen,
        timeouts: Timeouts { connect: second, request: second, idle: Duration::MAX, drain: Duration::ZERO },
        reuse: Reuse::KeepAlive,
        request: Request { bytes: b"GET / HTTP/1.1\r\n\r\n"[..].into(), kind: RequestKind::Ordinary },
        expect: Expect::default(),
        keep_wrong: 0,
        limits: Limits::default(),
        seed: Seed(0),
        share: Share::WHOLE,
        requests_of_all: None,
    }
}

/// So many milliseconds after [`START`].
pub fn at(millis: u64) -> Instant {
    START + Duration::from_millis(millis)
}

/// So many milliseconds after the beginning of the clock.
pub fn at_ms(ms: u64) -> Instant {
    Instant::ORIGIN + Duration::from_millis(ms)
}

/// Tells the engine what happened so many milliseconds after [`START`].
pub fn tell<S: Sink>(engine: &mut Engine<S>, millis: u64, conn: Conn, event: Event<'_>) {
    engine.handle_completion(at(millis), Completion { conn, event, arrived: None });
}

/// The actions that are ready at `now`.
pub fn actions<S: Sink>(engine: &mut Engine<S>, now: Instant) -> Vec<Action> {
    std::iter::from_fn(|| engine.poll_action(now)).collect()
}
