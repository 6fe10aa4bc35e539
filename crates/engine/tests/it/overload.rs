//! More is due than connections can carry, or than a generator can even look at.

use std::num::NonZeroU32;

use engine::{Action, Arrivals, Completion, Config, Engine, Event, Load, Outcome, Sample, Sink};
use units::{Duration, Instant, Rate};

use crate::common;

fn config(arrivals: Arrivals, backlog_max: u32, duration: Duration) -> Config {
    let backlog_max = NonZeroU32::new(backlog_max).unwrap();
    common::config(1, Load::Open { arrivals, backlog_max }, duration)
}

fn rate(per_sec: f64) -> Rate {
    Rate::per_sec(per_sec).unwrap()
}

/// An engine whose only connection is up at `start` and never brings an answer.
fn silent<S: Sink>(config: Config, sink: S, start: Instant) -> Engine<S> {
    let mut engine = Engine::new(config, sink, start);
    let Some(Action::Connect(conn)) = engine.poll_action(start) else { panic!("it connects first") };
    engine.handle_completion(start, Completion { conn, event: Event::Connected, arrived: None });
    engine
}

/// What a sink is told, and how often it is called.
#[derive(Default)]
struct Told {
    samples: Vec<(Sample, u64)>,
}

impl Sink for Told {
    fn record(&mut self, sample: &Sample) {
        self.samples.push((*sample, 1));
    }

    fn record_many(&mut self, sample: &Sample, count: u64) {
        self.samples.push((*sample, count));
    }
}

#[test]
fn a_request_dropped_from_a_full_backlog_is_known_to_have_waited_until_then_and_no_longer() {
    let start = Instant::from_nanos(7);
    let config = config(Arrivals::Constant(rate(100.0)), 2, Duration::from_millis(900));
    let mut engine = silent(config, Told::default(), start);
    // Due at 0, 10, … 890 ms: one is out, two wait, the rest is dropped. The generator wakes every 40 ms.
    for ms in (0..=920).step_by(40) {
        let now = start + Duration::from_millis(ms);
        engine.handle_timeout(now);
        while engine.poll_action(now).is_some() {}
    }
    engine.handle_timeout(start + Duration::from_secs(3));
    assert_eq!(engine.counters().backlog_overflow, 87);
    let samples = engine.into_sink().samples;
    let of = |outcome| samples.iter().filter(move |(it, _)| it.outcome == outcome).map(|(it, _)| it);
    assert_eq!(of(Outcome::BacklogOverflow).count(), 87);
    let waited = |it: &Sample| it.response_time().as_nanos() / 1_000_000;
    assert_eq!(
        of(Outcome::BacklogOverflow).map(waited).max(),
        Some(30),
        "they were dropped when they were seen"
    );
    assert!(of(Outcome::BacklogOverflow).all(|it| it.sent.is_none() && !it.done_in_window));
    // Those that did wait are known to have waited until the deadline.
    assert_eq!(of(Outcome::Unsent).map(waited).collect::<Vec<_>>(), [890, 880]);
}

/// At 1000 million a second for an hour, one by one would take a day.
#[test]
fn thousands_of_millions_that_nobody_got_round_to_are_accounted_for_at_once() {
    let hour = Duration::from_secs(3600);
    for arrivals in [Arrivals::Constant(rate(1e9)), Arrivals::Poisson(rate(1e9))] {
        for interrupted in [false, true] {
            let start = Instant::from_nanos(1_000);
            let mut config = config(arrivals, 10, hour);
            config.warm_up = Duration::from_secs(600);
            let mut engine = silent(config, Told::default(), start);
            let end = start + Duration::from_secs(4200);
            if interrupted {
                engine.interrupt(end - Duration::from_secs(3000));
            } else {
                engine.handle_timeout(end);
                engine.handle_timeout(end + hour);
            }
            let (intended, outstanding) = (engine.counters().intended, engine.outstanding());
            let due = if interrupted { 1200e9 } else { 4200e9 };
            // The Poisson count has a deviation of two millions.
            let near = |count: u64, due: f64| (count as f64 - due).abs() < 1e7;
            assert!(near(intended, due), "{arrivals:?}: {intended}");
            assert_eq!(outstanding, 0);
            let samples = engine.into_sink().samples;
            assert!(samples.len() < 40_000, "{}: {} calls", intended, samples.len());
            let in_window = samples.iter().filter(|(it, _)| it.due_in_window).map(|(_, count)| count).sum();
            assert!(near(in_window, due - 600e9), "{arrivals:?}: {in_window} in the window");
            // Evenly spread dues wait half of the time on average.
            let waited = samples.iter().map(|(it, count)| it.response_time().as_secs_f64() * *count as f64);
            let mean = waited.sum::<f64>() / intended as f64;
            assert!((mean / (due / 2e9) - 1.0).abs() < 1e-3, "{arrivals:?}: they waited {mean} s");
        }
    }
}

#[test]
fn a_bound_on_requests_bounds_those_that_nobody_got_round_to() {
    for arrivals in [Arrivals::Constant(rate(1e6)), Arrivals::Poisson(rate(1e6))] {
        let mut config = config(arrivals, 10, Duration::from_secs(1));
        config.stop.requests = std::num::NonZeroU64::new(123_456);
        let mut engine = silent(config, Told::default(), Instant::ORIGIN);
        engine.handle_timeout(Instant::ORIGIN + Duration::from_secs(2));
        engine.interrupt(Instant::ORIGIN + Duration::from_secs(2));
        assert_eq!(engine.counters().intended, 123_456);
        let samples = engine.into_sink().samples;
        assert_eq!(samples.iter().map(|(_, count)| count).sum::<u64>(), 123_456);
    }
}
