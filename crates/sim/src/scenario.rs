//! A whole run from one number: configuration, server and faults.

use std::convert::Infallible;
use std::num::{NonZeroU32, NonZeroU64};

use engine::{
    Arrivals, Begin, Config, Counters, Engine, Expect, GoodStatus, Io, Load, Request, Reuse, Sample, Script,
    Share, Sink, Stop, Timeouts, UserStart, Window, drive,
};
use http::{Limits, Protocol, RequestKind};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use units::{Duration, Instant, Rate, Seed};

use crate::fault::{Answer, Fault, Faults, below};
use crate::io::SimIo;
use crate::server::{ServerPlan, Stall};

/// A load and the server it meets.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The load.
    pub config: Config,
    /// The server.
    pub server: ServerPlan,
    /// Seed of the server's and the network's chances.
    pub seed: Seed,
    /// Whether the run is interrupted, and when.
    pub interrupt_at: Option<Instant>,
}

/// What a simulated run gave.
#[derive(Debug)]
pub struct Outcome {
    /// Every finished request, in the order in which they finished.
    pub samples: Vec<Sample>,
    /// The engine's counters.
    pub counters: Counters,
    /// The measured window.
    pub window: Window,
    /// Requests without an outcome; zero, or a law is broken.
    pub outstanding: u64,
    /// Connections left open; zero, or a law is broken.
    pub open_connections: usize,
    /// Equal for equal runs.
    pub fingerprint: u64,
}

/// Runs a scenario to its end.
pub fn run(scenario: &Scenario) -> Outcome {
    let mut io = SimIo::new(scenario.server.clone(), scenario.seed);
    run_over(scenario, &mut io, |io| io)
}

/// The same over an IO that has the simulated one within, where `inner` finds it.
pub fn run_over<I: Io<Error = Infallible>>(
    scenario: &Scenario,
    io: &mut I,
    inner: impl Fn(&I) -> &SimIo,
) -> Outcome {
    let mut samples = Vec::new();
    let sink = |sample: &Sample| samples.push(*sample);
    let mut engine = Engine::new(scenario.config.clone(), sink, Instant::ORIGIN);
    drive_until(&mut engine, io, scenario.interrupt_at);
    let (counters, window, outstanding) = (engine.counters(), engine.window(), engine.outstanding());
    drop(engine);
    let io = inner(io);
    let (open_connections, fingerprint) = (io.open_connections(), io.fingerprint());
    Outcome { samples, counters, window, outstanding, open_connections, fingerprint }
}

/// Runs `engine` over `io` until its load is finished, which is interrupted at `interrupt_at` where there is such an instant.
pub fn drive_until<S: Sink, P: Script<H>, H: Protocol, I: Io<Error = Infallible>>(
    engine: &mut Engine<S, P, H>,
    io: &mut I,
    interrupt_at: Option<Instant>,
) {
    let Ok(()) = drive(engine, io, |engine, now| {
        match interrupt_at {
            Some(at) if now >= at => engine.interrupt(now),
            at => return at,
        }
        None
    });
}

impl Scenario {
    /// A load of `connections` closed-model users for `duration`, against `server`.
    pub fn closed(connections: u32, duration: Duration, server: ServerPlan) -> Self {
        let config = Config {
            connections: NonZeroU32::new(connections).expect("at least one connection"),
            load: Load::SATURATING,
            stop: Stop { duration, requests: None },
            warm_up: Duration::ZERO,
            begin: Begin::WhenOpen,
            timeouts: Timeouts {
                connect: Duration::from_secs(2),
                request: Duration::from_secs(2),
                idle: Duration::MAX,
                drain: Duration::from_secs(2),
            },
            reuse: Reuse::KeepAlive,
            request: Request { bytes: b"GET / HTTP/1.1\r\n\r\n"[..].into(), kind: RequestKind::Ordinary },
            expect: Expect { status: GoodStatus::Only(200), body: Some(server.body.as_bytes().into()) },
            keep_wrong: 0,
            limits: Limits::default(),
            seed: Seed(0),
            share: Share::WHOLE,
            requests_of_all: None,
        };
        Self { config, server, seed: Seed(0), interrupt_at: None }
    }

    /// The same with requests due at a constant rate.
    pub fn open(connections: u32, rate: Rate, duration: Duration, server: ServerPlan) -> Self {
        let mut scenario = Self::closed(connections, duration, server);
        let arrivals = Arrivals::Constant(rate);
        scenario.config.load = Load::Open { arrivals, backlog_max: Load::BACKLOG_MAX_DEFAULT };
        scenario
    }

    /// A random scenario: any load against any server with any faults.
    pub fn from_seed(seed: Seed) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.0);
        let random = &mut random;
        let server = random_server(random);
        let duration = Duration::from_millis(20 + below(random, 200));
        let mut scenario = Self::closed(1 + below(random, 8) as u32, duration, server);
        scenario.seed = seed;
        scenario.config.load = random_load(random, scenario.config.connections);
        scenario.config.seed = seed;
        scenario.config.warm_up = Duration::from_millis(pick(random, &[0, 0, 10, 100]));
        if below(random, 4) == 0 {
            scenario.config.stop.requests = NonZeroU64::new(1 + below(random, 300));
        }
        if below(random, 3) == 0 {
            scenario.config.reuse = Reuse::FreshConnection;
        }
        scenario.config.timeouts = Timeouts {
            connect: Duration::from_millis(pick(random, &[5, 50, 500])),
            request: Duration::from_millis(pick(random, &[3, 30, 300])),
            idle: Duration::from_millis(pick(random, &[2, 40, u64::MAX])),
            drain: Duration::from_millis(pick(random, &[0, 10, 300])),
        };
        if below(random, 10) == 0 {
            scenario.interrupt_at = Some(Instant::from_nanos(below(random, 200_000_000)));
        }
        scenario
    }
}

fn pick<T: Copy>(random: &mut Xoshiro256PlusPlus, from: &[T]) -> T {
    from[below(random, from.len() as u64) as usize]
}

fn random_load(random: &mut Xoshiro256PlusPlus, users: NonZeroU32) -> Load {
    let think_us = pick(random, &[0, 0, 700, 20_000]);
    let rate = Rate::per_sec(pick(random, &[3.0, 200.0, 1_500.0])).expect("above zero");
    let backlog_max = NonZeroU32::new(pick(random, &[1, 20, 100_000])).expect("above zero");
    match below(random, 4) {
        0 | 1 => random_users(random, Duration::from_micros(think_us), users),
        2 => Load::Open { arrivals: Arrivals::Constant(rate), backlog_max },
        _ => Load::Open { arrivals: Arrivals::Poisson(rate), backlog_max },
    }
}

fn random_users(random: &mut Xoshiro256PlusPlus, think: Duration, users: NonZeroU32) -> Load {
    let span = Duration::from_millis(pick(random, &[1, 40, 150]));
    let start = match below(random, 3) {
        0 => UserStart::RampUp { span, users },
        _ => UserStart::WithWarmUp,
    };
    let requests_per_user =
        if below(random, 4) == 0 { NonZeroU32::new(1 + below(random, 40) as u32) } else { None };
    Load::Closed { think, start, requests_per_user }
}

fn random_server(random: &mut Xoshiro256PlusPlus) -> ServerPlan {
    let all = [
        Fault::Delay(Duration::from_millis(25)),
        Fault::Reset,
        Fault::ResetWithin,
        Fault::HalfClose,
        Fault::Garbage,
        Fault::NeverAnswer,
        Fault::ErrorStatus,
        Fault::WrongBody,
        Fault::Surplus,
    ];
    let mut faults = Faults { split_reads: below(random, 2) == 0, ..Faults::default() };
    for fault in all {
        if below(random, 3) == 0 {
            faults.per_mille.push((fault, pick(random, &[1, 20, 110])));
        }
    }
    if below(random, 4) == 0 {
        faults.refused_per_mille = pick(random, &[10, 300, 1000]);
    }
    if below(random, 6) == 0 {
        faults.black_hole_per_mille = pick(random, &[5, 200]);
    }
    let stalls = Stall { for_: Duration::from_millis(30), every: Duration::from_millis(150) };
    ServerPlan {
        workers: 1 + below(random, 8) as u32,
        service_min: Duration::from_micros(pick(random, &[0, 90, 1_000, 40_000])),
        service_spread: Duration::from_micros(pick(random, &[0, 100, 9_000])),
        network: Duration::from_micros(pick(random, &[150, 400, 2_000])),
        stall: (below(random, 4) == 0).then_some(stalls),
        answer: pick(random, &Answer::ALL),
        body: pick(random, &["hello", "", "a longer body, cut in many places"]).into(),
        close_every: (below(random, 3) == 0).then(|| 1 + below(random, 5) as u32),
        early_answer: None,
        faults,
    }
}
