//! What holds of any load over HTTP/2, whatever its server does within the rules and beyond them.

use std::num::NonZeroU64;

use engine::{Arrivals, Config, Counters, Engine, Load, Outcome, Reuse, Sample, Sink};
use h2::{H2, Scheme, Settings};
use http::RequestSpec;
use sim::{Scenario, ServerPlan, drive_until};
use units::{Duration, Instant, Rate, Seed};

use super::server::{BODY, Chances, Seen, Server};
use sim::laws;

/// Numbers from a seed.
pub struct Draw(pub Seed, pub u64);

impl Draw {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.1 += 1;
        self.0.derive(self.1).0 % bound
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

#[derive(Default)]
struct Kept(Vec<Sample>);

impl Sink for Kept {
    fn record(&mut self, sample: &Sample) {
        self.0.push(*sample);
    }
}

/// A load, and what came of it.
struct Ran {
    samples: Vec<Sample>,
    seen: Seen,
    counters: Counters,
}

impl Ran {
    fn count(&self, outcome: &str) -> u64 {
        self.samples.iter().filter(|sample| sample.outcome.name() == outcome).count() as u64
    }

    /// The most that were out at one time.
    fn most_out(&self) -> u64 {
        let mut changes: Vec<(Instant, i64)> = Vec::new();
        for sample in &self.samples {
            let Some(sent) = sample.sent else { continue };
            changes.extend([(sent, 1), (sample.done, -1)]);
        }
        // At one instant, what ends goes before what begins.
        changes.sort_by_key(|(at, change)| (*at, *change));
        let mut out = 0;
        changes
            .iter()
            .map(|(_, change)| {
                out += change;
                out
            })
            .max()
            .unwrap_or(0) as u64
    }
}

fn encoded(body_bytes: usize) -> Vec<u8> {
    let body = vec![b'?'; body_bytes];
    let method = if body.is_empty() { "GET" } else { "POST" };
    let spec = RequestSpec { method, target: "/", host: "a.test", headers: &[], body: &body, close: false };
    h2::encode(&spec, Scheme::Http).expect("a request")
}

fn run(config: &Config, settings: Settings, mut io: Server, interrupt_at: Option<Instant>) -> Ran {
    let mut engine = Engine::<_, _, H2>::over(config.clone(), settings, Kept::default(), Instant::ORIGIN);
    drive_until(&mut engine, &mut io, interrupt_at);
    assert_eq!(engine.outstanding(), 0, "each request has its outcome");
    assert!(io.links.is_empty(), "each connection has its end");
    let counters = engine.counters();
    let samples = engine.into_sink().0;
    for sample in &samples {
        let (Some(first), sent) = (sample.first_byte, sample.sent) else { continue };
        assert!(sent.is_some_and(|sent| sent <= first) && first <= sample.done, "{sample:?}");
    }
    Ran { samples, seen: io.seen, counters }
}

/// A closed load of so many requests, and what its connections are asked to be.
fn closed(draw: &mut Draw) -> (Config, Settings) {
    let connections = 1 + draw.below(3) as u32;
    let plan = ServerPlan::healthy(1, Duration::ZERO);
    let mut config = Scenario::closed(connections, Duration::from_secs(600), plan).config;
    config.stop.requests = NonZeroU64::new(50 + draw.below(150));
    config.request.bytes = encoded(draw.pick(&[0, 0, 5, 3000])).into();
    config.expect.body = Some(BODY.into());
    let settings = Settings {
        streams: draw.pick(&[1, 2, 3, 8, 20]),
        window_bits: draw.pick(&[10, 30]),
        connection_window_bits: draw.pick(&[16, 30]),
        header_table_bytes: draw.pick(&[0, 100, 4096]),
    };
    (config, settings)
}

/// A server that keeps to its windows and says how many streams it wants can always finish: nothing fails, nothing is opened
/// twice, and as much is under way as may be.
fn whoever_keeps_the_rules_answers_all(seed: Seed) {
    let mut draw = Draw(seed, 0);
    let (config, settings) = closed(&mut draw);
    let (limit, window) = (draw.pick(&[1, 2, 5, 100]), draw.pick(&[1000, 65_535, 1 << 20]));
    // Settings that are less than what is under way take a while, and no limit of ours holds of that time.
    let changes = if draw.below(3) == 0 && config.request.bytes.len() < 1000 { 50 } else { 0 };
    let chances = Chances { settings: changes, ..Chances::default() };
    let ran = run(&config, settings, Server::new(seed.0, chances, limit, window), None);
    let (all, connections) = (ran.counters.intended, u64::from(config.connections.get()));
    assert_eq!(
        ran.count("answered"),
        all,
        "{:?}",
        ran.samples.iter().find(|it| it.outcome.name() != "answered")
    );
    let good = |sample: &Sample| matches!(sample.outcome, Outcome::Answered { status: 200, expected: true });
    assert!(ran.samples.iter().all(good), "each stream has its own body");
    assert!(ran.samples.iter().all(|sample| sample.first_byte.is_some()), "each began");
    let in_parts = ran.samples.iter().filter(|it| it.first_byte < Some(it.done)).count() as u64;
    assert!(2 * in_parts > all, "heads are there before bodies: {in_parts} of {all}");
    assert_eq!((ran.seen.connects, ran.seen.asked, ran.counters.resent), (connections, all, 0));
    assert!(ran.seen.pongs <= ran.seen.pings && ran.seen.cancelled == 0, "{:?}", ran.seen);
    if changes == 0 {
        let may = connections * u64::from(settings.streams.min(limit));
        assert_eq!(ran.most_out(), may.min(all), "as many as may be");
        let waits = |sample: &&Sample| sample.ready > sample.intended;
        let waited = ran.samples.iter().filter(waits).count();
        assert_eq!(waited > 0, settings.streams > limit, "who waits for a stream is seen to: {waited}");
    }
}

/// What was not looked at goes out once more, on the next connection; if that does not look at it either, it ends as that.
fn what_a_goaway_leaves_is_sent_again_once(seed: Seed) {
    let mut draw = Draw(seed, 0);
    let (config, settings) = closed(&mut draw);
    let chances = Chances { go_away: draw.pick(&[5, 30, 200]), ..Chances::default() };
    let ran = run(&config, settings, Server::new(seed.0, chances, draw.pick(&[3, 100]), 1 << 20), None);
    let all = ran.counters.intended;
    let gone: Vec<&Sample> = ran.samples.iter().filter(|it| it.outcome == Outcome::GoneAway).collect();
    assert_eq!(ran.count("answered") + gone.len() as u64, all, "nothing else becomes of them");
    // Others were told to go before they went out at all.
    let twice = gone.iter().filter(|sample| sample.sent.is_some()).count() as u64;
    assert!(twice <= ran.counters.resent, "{twice} went out twice, {} again", ran.counters.resent);
    assert!(ran.seen.connects <= u64::from(config.connections.get()) + ran.seen.go_aways, "{:?}", ran.seen);
    let told: u64 = ran.counters.go_aways.counts().iter().sum();
    let named = ran.counters.go_aways.named().all(|(name, _)| name == "no_error");
    assert!(named && told <= ran.seen.go_aways, "{:?}", ran.counters.go_aways);
    // None is opened anew but for one that was ended.
    assert!(ran.seen.connects <= u64::from(config.connections.get()) + told, "{told}: {:?}", ran.seen);
    for sample in &ran.samples {
        let sent = sample.sent.unwrap_or(sample.done);
        assert!(sample.intended <= sample.ready && sample.ready <= sent && sent <= sample.done, "{sample:?}");
    }
}

/// A request that is not answered in time costs its connection nothing, whatever comes of it later.
fn a_timed_out_stream_ends_alone(seed: Seed) {
    let mut draw = Draw(seed, 0);
    let (mut config, settings) = closed(&mut draw);
    config.timeouts.request = Duration::from_micros(draw.pick(&[900, 2_000, 20_000]));
    let chances =
        Chances { silent: draw.pick(&[0, 50]), reset_stream: 20, refused: 20, ..Chances::default() };
    let ran = run(&config, settings, Server::new(seed.0, chances, 100, 1 << 20), None);
    let all = ran.counters.intended;
    assert_eq!(ran.seen.connects, u64::from(config.connections.get()), "no connection is lost");
    let late = ran.count("timed_out");
    assert_eq!(ran.count("answered") + late + ran.count("stream_reset") + ran.count("refused_stream"), all);
    let bound = config.timeouts.request;
    for sample in &ran.samples {
        let service = sample.service_time().expect("all were sent");
        assert!(service <= bound && (sample.outcome != Outcome::TimedOut || service == bound), "{sample:?}");
    }
    // Of some the answer was under way, and so there was nothing to cancel.
    assert!(ran.seen.cancelled <= late, "{:?}", ran.seen);
}

/// Any load against any server: one outcome a request, and instants in their order.
fn every_request_has_one_outcome_whatever_goes_wrong(seed: Seed) {
    let mut draw = Draw(seed, 0);
    let random = Scenario::from_seed(seed);
    let (_, settings) = closed(&mut draw);
    let mut config = random.config;
    config.request.bytes = encoded(draw.pick(&[0, 0, 3000])).into();
    config.expect.body = Some(BODY.into());
    if settings.streams > 1 {
        config.reuse = Reuse::KeepAlive;
    }
    if let Load::Open { arrivals, .. } = &mut config.load
        && draw.below(3) == 0
    {
        *arrivals = Arrivals::Constant(Rate::per_sec(5_000.0).expect("above zero"));
    }
    let mut chance = |often: &[u64]| if draw.below(3) == 0 { draw.pick(often) } else { 0 };
    let chances = Chances {
        silent: chance(&[5, 50]),
        reset_stream: chance(&[5, 50]),
        refused: chance(&[5, 100]),
        go_away: chance(&[5, 100, 500]),
        closes: chance(&[5, 50]),
        resets: chance(&[5, 50]),
        garbage: chance(&[3, 20]),
        connect_refused: chance(&[30, 300]),
        other_protocol: chance(&[30, 300]),
        settings: chance(&[10, 100]),
    };
    let (limit, window) = (draw.pick(&[1, 2, 5, 100]), draw.pick(&[1000, 65_535]));
    let ran = run(&config, settings, Server::new(seed.0, chances, limit, window), random.interrupt_at);
    assert_eq!(ran.samples.len() as u64, ran.counters.intended, "one sample a request");
    assert_eq!(ran.count("backlog_overflow"), ran.counters.backlog_overflow);
    for sample in &ran.samples {
        assert!(sample.intended <= sample.ready && sample.intended <= sample.done, "{sample:?}");
        if let Some(sent) = sample.sent {
            assert!(sample.ready <= sent && sent <= sample.done, "{sample:?}");
            assert!(sample.done.since(sent) <= config.timeouts.request, "{sample:?}");
        }
    }
    if chances.go_away == 0 {
        assert_eq!((ran.counters.resent, ran.count("gone_away")), (0, 0));
    }
    if let Load::Closed { requests_per_user: Some(each), .. } = config.load {
        let users = u64::from(config.connections.get() * settings.streams);
        assert!(ran.counters.intended <= users * u64::from(each.get()));
    }
}

laws! {
    whoever_keeps_the_rules_answers_all,
    what_a_goaway_leaves_is_sent_again_once,
    a_timed_out_stream_ends_alone,
    every_request_has_one_outcome_whatever_goes_wrong,
}

/// The laws are of little worth if they meet hardly anything.
#[test]
fn the_first_seeds_try_what_there_is_to_try() {
    let mut seen = [0_u64; 6];
    for seed in 0..40 {
        let seed = Seed(seed);
        let mut draw = Draw(seed, 0);
        let (config, settings) = closed(&mut draw);
        let chances =
            Chances { go_away: 30, settings: 30, refused: 5, reset_stream: 5, ..Chances::default() };
        let ran = run(&config, settings, Server::new(seed.0, chances, 3, 1000), None);
        let Seen { pongs, stalls, go_aways, refused, broken_off, .. } = ran.seen;
        let these = [pongs, stalls, go_aways, refused, broken_off, ran.counters.resent];
        seen.iter_mut().zip(these).for_each(|(sum, one)| *sum += one);
    }
    assert!(seen.iter().all(|count| *count > 5), "pongs, stalls, goaways, refused, reset, resent: {seen:?}");
}

/// In the open model, none is full while another has room.
#[test]
fn requests_that_are_due_go_round_the_connections() {
    let (connections, streams) = (4, 8);
    for requests in [u64::from(connections), 100 * u64::from(connections)] {
        let rate = Rate::per_sec(1_000.0).expect("above zero");
        let plan = ServerPlan::healthy(1, Duration::ZERO);
        let mut config = Scenario::open(connections, rate, Duration::from_secs(600), plan).config;
        config.stop.requests = NonZeroU64::new(requests);
        config.request.bytes = encoded(0).into();
        config.expect.body = None;
        let settings = Settings { streams, ..Settings::default() };
        let ran = run(&config, settings, Server::new(1, Chances::default(), 100, 1 << 20), None);
        let each: Vec<u64> = ran.seen.asked_on.into_values().collect();
        assert_eq!(each, vec![requests / u64::from(connections); connections as usize]);
    }
}

/// How many requests of two thousand, a thousand a second, went out on each of four connections.
fn asked_on_each(seed: u64, chances: Chances) -> (Vec<u64>, Seen) {
    let rate = Rate::per_sec(1_000.0).expect("above zero");
    let plan = ServerPlan::healthy(1, Duration::ZERO);
    let mut config = Scenario::open(4, rate, Duration::from_secs(600), plan).config;
    config.stop.requests = NonZeroU64::new(2_000);
    config.request.bytes = encoded(0).into();
    let settings = Settings { streams: 8, ..Settings::default() };
    let ran = run(&config, settings, Server::new(seed, chances, 100, 1 << 20), None);
    (ran.seen.asked_on.values().copied().collect(), ran.seen)
}

/// A load at a rate keeps its connections: one that its server ends is opened again, though others could take what is due.
#[test]
fn an_open_load_keeps_its_connections() {
    let ends = [
        Chances { go_away: 10, ..Chances::default() },
        Chances { closes: 10, ..Chances::default() },
        Chances { resets: 10, ..Chances::default() },
    ];
    for (seed, chances) in (1..).zip(ends) {
        let (each, seen) = asked_on_each(seed, chances);
        assert!(seen.connects > 10, "{seen:?}");
        assert!(each.len() == 4 && each.iter().all(|asked| *asked > 300), "{chances:?}: {each:?}");
    }
}

/// Nor does it give one up that can't be opened for a while, and it tries no more often than others do.
#[test]
fn a_lost_connection_that_is_refused_comes_back_later() {
    let chances = Chances { closes: 10, connect_refused: 600, ..Chances::default() };
    let (each, seen) = asked_on_each(7, chances);
    assert!(each.len() == 4 && each.iter().all(|asked| *asked > 100), "{each:?} {seen:?}");
    // Two seconds hold twenty pauses of each.
    assert!(seen.connects < 4 * 20 + 40, "{seen:?}");
}
