//! The laws the product keeps, over many seeds.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::num::NonZeroU32;

use engine::{
    Completion, Config, Conn, Engine, Event, Io, Load, Outgoing, Reuse, Sample, Sending, Share, Stop,
    UserStart, drive,
};
use sim::{Outcome, Scenario, ServerPlan, SimIo, Stall, run, run_over};
use stats::{Interval, LITTLE_TOLERANCE, figures};
use units::{Duration, Instant, Rate, Seed};

use sim::laws;

laws! {
    every_intended_request_has_one_outcome_whatever_goes_wrong,
    the_same_seed_gives_the_same_run,
    littles_law_holds_in_the_closed_model,
    what_a_generator_sees_late_is_no_more_than_its_timeouts_allow,
    every_user_starts_in_its_turn_and_makes_exactly_its_requests_whatever_goes_wrong,
}

fn every_intended_request_has_one_outcome_whatever_goes_wrong(seed: Seed) {
    let scenario = Scenario::from_seed(seed);
    let outcome = run(&scenario);
    outcomes_add_up(&outcome);
    instants_are_in_order(&outcome);
    bounds_are_kept(&scenario, &outcome);
    assert_eq!(outcome.open_connections, 0, "connections are left open");
}

fn outcomes_add_up(outcome: &Outcome) {
    assert_eq!(outcome.outstanding, 0, "requests without an outcome");
    assert_eq!(outcome.samples.len() as u64, outcome.counters.intended, "one sample a request");
    let mut whole = Interval::default();
    outcome.samples.iter().for_each(|sample| whole.record(sample));
    let sum: u64 = whole.tally.outcomes().iter().map(|(_, count)| count).sum();
    assert_eq!(sum, whole.tally.intended, "the outcomes add up");
    let due_in_window = outcome.samples.iter().filter(|sample| sample.due_in_window).count() as u64;
    assert_eq!(due_in_window, whole.tally.intended);
    assert_eq!(whole.times.response.count(), whole.tally.intended, "every request stays in the statistics");
    assert_eq!(whole.times.response.censored_count(), whole.tally.intended - whole.tally.answered);
}

fn instants_are_in_order(outcome: &Outcome) {
    for sample in &outcome.samples {
        assert!(sample.intended <= sample.ready && sample.intended <= sample.done, "{sample:?}");
        if let Some(sent) = sample.sent {
            assert!(sample.ready <= sent && sent <= sample.done, "{sample:?}");
        }
    }
}

fn bounds_are_kept(scenario: &Scenario, outcome: &Outcome) {
    let timeouts = scenario.config.timeouts;
    for sample in &outcome.samples {
        let service = sample.service_time().unwrap_or(Duration::ZERO);
        assert!(service <= timeouts.request, "{sample:?} outlives its timeout");
    }
    if let Load::Open { backlog_max, .. } = scenario.config.load {
        assert!(outcome.counters.backlog_peak <= u64::from(backlog_max.get()));
    }
    if let Load::Closed { requests_per_user: Some(each), .. } = scenario.config.load {
        let users = u64::from(scenario.config.connections.get());
        assert!(outcome.counters.intended <= users * u64::from(each.get()));
    }
    if let Some(limit) = scenario.config.stop.requests {
        assert!(outcome.counters.intended <= limit.get());
    }
    let mut intended: BTreeMap<_, u32> = BTreeMap::new();
    for sample in &outcome.samples {
        *intended.entry(sample.intended).or_default() += 1;
        assert!(sample.intended <= outcome.window.end, "{sample:?} is due after the deadline");
    }
}

fn the_same_seed_gives_the_same_run(seed: Seed) {
    if seed.0.is_multiple_of(10) {
        let scenario = Scenario::from_seed(seed);
        let (one, two) = (run(&scenario), run(&scenario));
        assert_eq!(one.fingerprint, two.fingerprint);
        assert_eq!(one.samples, two.samples);
    }
}

fn littles_law_holds_in_the_closed_model(seed: Seed) {
    let mut scenario = Scenario::from_seed(seed);
    // Healthy, without think time, and at least 40 response times long.
    scenario.server.faults =
        sim::Faults { split_reads: scenario.server.faults.split_reads, ..<_>::default() };
    scenario.config.load = Load::SATURATING;
    scenario.config.stop.requests = None;
    scenario.config.timeouts.request = Duration::from_secs(100);
    scenario.config.timeouts.connect = Duration::from_secs(100);
    scenario.interrupt_at = None;
    let users = scenario.config.connections.get();
    let round_trips = scenario.server.network * 6;
    let longest = (scenario.server.service_min + scenario.server.service_spread) * u64::from(users)
        + round_trips
        + Duration::from_millis(60);
    scenario.config.stop.duration = (longest * 40).min(Duration::from_secs(4));
    if longest * 40 > Duration::from_secs(4) || !seed.0.is_multiple_of(20) {
        return;
    }
    let outcome = run(&scenario);
    let mut whole = Interval::default();
    outcome.samples.iter().for_each(|sample| whole.record(sample));
    let window = outcome.window.end.since(outcome.window.start);
    let law = figures(&whole, window, Some(users.into()), &[]).littles_law.expect("something was done");
    assert!(law.gap() <= LITTLE_TOLERANCE, "{law:?}");
}

/// A generator that is held up now and then: it wakes late, and finds all that happened meanwhile.
struct Dozing {
    io: SimIo,
    turns: u64,
    seed: u64,
}

impl Io for Dozing {
    type Error = Infallible;

    fn now(&self) -> Instant {
        self.io.now()
    }

    fn connect(&mut self, conn: Conn, target: Option<u32>) -> Option<Event<'static>> {
        self.io.connect(conn, target)
    }

    fn send(&mut self, conn: Conn, bytes: Outgoing<'_>) -> Sending {
        self.io.send(conn, bytes)
    }

    fn close(&mut self, conn: Conn) {
        self.io.close(conn);
    }

    fn wait(&mut self, until: Option<Instant>) -> Result<(), Infallible> {
        self.io.wait(until)?;
        self.turns += 1;
        let chance = Seed(self.seed).derive(self.turns).0;
        if chance.is_multiple_of(10) {
            let awake = self.now() + Duration::from_micros(chance / 10 % 100_000);
            while self.now() < awake {
                self.io.wait(Some(awake))?;
            }
        }
        Ok(())
    }

    fn next(&mut self) -> Option<(Instant, Completion<'_>)> {
        self.io.next()
    }
}

fn what_a_generator_sees_late_is_no_more_than_its_timeouts_allow(seed: Seed) {
    let scenario = Scenario::from_seed(seed);
    let io = SimIo::new(scenario.server.clone(), scenario.seed);
    let mut io = Dozing { io, turns: 0, seed: seed.0 };
    let outcome = run_over(&scenario, &mut io, |dozing| &dozing.io);
    outcomes_add_up(&outcome);
    instants_are_in_order(&outcome);
    bounds_are_kept(&scenario, &outcome);
    assert_eq!(outcome.open_connections, 0, "connections are left open");
}

/// What each slot was asked to do, on the way to the simulated network.
struct Watched {
    io: SimIo,
    first_connect: BTreeMap<u32, Instant>,
    sends: BTreeMap<u32, u32>,
}

impl Io for Watched {
    type Error = Infallible;

    fn now(&self) -> Instant {
        self.io.now()
    }

    fn connect(&mut self, conn: Conn, target: Option<u32>) -> Option<Event<'static>> {
        self.first_connect.entry(conn.slot).or_insert(self.io.now());
        self.io.connect(conn, target)
    }

    fn send(&mut self, conn: Conn, bytes: Outgoing<'_>) -> Sending {
        *self.sends.entry(conn.slot).or_default() += 1;
        self.io.send(conn, bytes)
    }

    fn close(&mut self, conn: Conn) {
        self.io.close(conn);
    }

    fn wait(&mut self, until: Option<Instant>) -> Result<(), Infallible> {
        self.io.wait(until)
    }

    fn next(&mut self) -> Option<(Instant, Completion<'_>)> {
        self.io.next()
    }
}

fn every_user_starts_in_its_turn_and_makes_exactly_its_requests_whatever_goes_wrong(seed: Seed) {
    let mut scenario = Scenario::from_seed(seed);
    // Everything may fail but connecting: then what was made was sent, and can be counted.
    scenario.server.faults.refused_per_mille = 0;
    scenario.server.faults.black_hole_per_mille = 0;
    scenario.config.timeouts.connect = Duration::from_secs(100);
    scenario.config.stop = Stop { duration: Duration::MAX, requests: None };
    let users = scenario.config.connections;
    let span = Duration::from_micros(1 + seed.0 * 37 % 100_000);
    let each = 1 + seed.0 as u32 % 9;
    scenario.config.load = Load::Closed {
        think: Duration::from_micros(seed.0 % 2 * 300),
        start: UserStart::RampUp { span, users },
        requests_per_user: NonZeroU32::new(each),
    };
    let of = NonZeroU32::new(1 + seed.0 as u32 % 3).unwrap().min(users);
    for index in 0..of.get() {
        let share = Share { index, of };
        let connections = (index..users.get()).step_by(of.get() as usize).count() as u32;
        let connections = NonZeroU32::new(connections).unwrap();
        let config = Config { connections, share, ..scenario.config.clone() };
        let due = |slot: u32| {
            let turn = u64::from(slot * of.get() + index);
            Instant::ORIGIN + Duration::from_nanos(span.as_nanos() * turn / u64::from(users.get()))
        };
        users_keep_to(config, &scenario, each, due);
    }
}

fn users_keep_to(config: Config, scenario: &Scenario, each: u32, due: impl Fn(u32) -> Instant) {
    let users = config.connections.get();
    let io = SimIo::new(scenario.server.clone(), scenario.seed);
    let mut io = Watched { io, first_connect: BTreeMap::new(), sends: BTreeMap::new() };
    let mut samples = Vec::new();
    let mut engine = Engine::new(config, |sample: &Sample| samples.push(*sample), Instant::ORIGIN);
    let Ok(()) = drive(&mut engine, &mut io, |_, _| None);
    let (end, outstanding) = (engine.window().end, engine.outstanding());
    drop(engine);
    assert_eq!((samples.len() as u32, outstanding), (users * each, 0), "as many requests as all users make");
    assert_eq!(io.sends, (0..users).map(|slot| (slot, each)).collect(), "every user makes its own");
    assert_eq!(
        io.first_connect,
        (0..users).map(|slot| (slot, due(slot))).collect(),
        "nobody jumps the queue"
    );
    assert_eq!(io.io.open_connections(), 0, "connections are left open");
    assert_eq!(samples.iter().map(|sample| sample.done).max(), Some(end), "the last answer ends the load");
}

/// 1 s of standstill in 10 s at 1000/s with enough connections: a request due t before the end of the
/// standstill waits t, so the response-time percentiles follow from the schedule alone.
#[test]
fn a_stall_raises_response_time_by_what_the_schedule_implies() {
    let stall = Stall { for_: Duration::from_secs(1), every: Duration::from_secs(10) };
    let server = ServerPlan { stall: Some(stall), ..ServerPlan::healthy(5000, Duration::ZERO) };
    let rate = Rate::per_sec(1000.0).unwrap();
    for connections in [2000, 20] {
        // With 20 connections most of the wait is in our own queue; what a user waits is the same.
        let mut scenario = Scenario::open(connections, rate, Duration::from_secs(10), server.clone());
        // The window is from 5 to 15 s, the standstill from 9 to 10 s.
        scenario.config.warm_up = Duration::from_secs(5);
        let outcome = run(&scenario);
        let mut whole = Interval::default();
        outcome.samples.iter().for_each(|sample| whole.record(sample));
        assert_eq!(whole.tally.answered, 10_000);
        for (quantile, seconds) in [(0.90, 0.0), (0.95, 0.5), (0.99, 0.9), (0.999, 0.99)] {
            let told = whole.times.response.quantile(quantile).unwrap().value.as_secs_f64();
            assert!((told - seconds).abs() <= 0.003, "{connections} connections, q{quantile}: {told} s");
        }
    }
}

#[test]
fn a_pool_of_k_workers_serves_k_over_service_time() {
    for workers in [1, 4, 16] {
        let server = ServerPlan::healthy(workers, Duration::from_millis(100));
        let mut scenario = Scenario::closed(64, Duration::from_secs(20), server);
        scenario.config.timeouts.request = Duration::from_secs(10);
        scenario.config.timeouts.drain = Duration::from_secs(10);
        let outcome = run(&scenario);
        let mut whole = Interval::default();
        outcome.samples.iter().for_each(|sample| whole.record(sample));
        let goodput = figures(&whole, Duration::from_secs(20), None, &[]).goodput_per_s;
        let due = f64::from(workers) / 0.1;
        assert!((goodput - due).abs() / due < 0.01, "{workers} workers: {goodput}/s instead of {due}/s");
    }
}

#[test]
fn a_server_that_never_answers_gives_only_time_outs() {
    let mut server = ServerPlan::healthy(1000, Duration::ZERO);
    server.faults.per_mille = vec![(sim::Fault::NeverAnswer, 1000)];
    let outcome = run(&Scenario::closed(10, Duration::from_secs(5), server));
    let mut whole = Interval::default();
    outcome.samples.iter().for_each(|sample| whole.record(sample));
    assert_eq!(whole.tally.timed_out, whole.tally.intended);
    assert_eq!(whole.tally.intended, 30, "at 0, 2 and 4 s");
    assert_eq!(whole.times.response.quantile(0.5).unwrap().to_string(), ">2.00s");
}

#[test]
fn fresh_connections_charge_their_set_up_to_the_response_and_not_to_the_service() {
    let server = ServerPlan { network: Duration::from_millis(1), ..ServerPlan::healthy(10, Duration::ZERO) };
    let mut scenario = Scenario::closed(1, Duration::from_millis(100), server);
    scenario.config.reuse = Reuse::FreshConnection;
    for sample in run(&scenario).samples {
        assert_eq!(sample.service_time(), Some(Duration::from_millis(2)), "{sample:?}");
        assert_eq!(sample.response_time(), Duration::from_millis(4), "{sample:?}");
        assert_eq!(sample.generator_lag(), Some(Duration::ZERO), "{sample:?}");
    }
}
