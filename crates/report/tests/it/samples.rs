//! Made-up records.

use std::collections::BTreeMap;

use record::{
    Connections, Contract, Distribution, Driver, Generator, LOAD_VERSION, LittlesLaw, Load, LoadResult,
    MANIFEST_VERSION, Machine, Manifest, Measured, Outcomes, Role, Server, StackManifest, Surroundings,
    TRIAL_VERSION, Trial, TrialResult, Window,
};

/// Figures that rise from `us` by half of it each.
pub(crate) fn times(count: u64, us: f64) -> Distribution {
    let figure = |steps: u32| Some(us * (1.0 + f64::from(steps) / 2.0));
    Distribution {
        count,
        mean: figure(1),
        p50: figure(0),
        p75: figure(2),
        p90: figure(4),
        p95: figure(6),
        p99: figure(8),
        p99_9: figure(10),
        p99_99: figure(12),
        max: figure(14),
        ..Distribution::default()
    }
}

/// Two seconds of 64 closed connections at `per_s`, all well.
pub(crate) fn load(per_s: f64) -> LoadResult {
    let count = (per_s * 2.0) as u64;
    let response_us = 64.0 / per_s * 1e6;
    LoadResult {
        version: LOAD_VERSION,
        url: "http://127.0.0.1:8080/hello".into(),
        load: Load {
            label: "64 connections".into(),
            model: "closed".into(),
            arrivals: None,
            rate_per_s: None,
            think_us: Some(0.0),
            ramp_up_s: None,
            requests_per_user: None,
            connections: 64,
            streams: None,
            protocol: None,
            threads: 1,
            threads_why: None,
            keep_alive: true,
            warm_up_s: 0.5,
            duration_s: Some(2.0),
            requests: None,
            timeout_s: 2.0,
            timeout_max_s: None,
            seed: 7,
            io: "epoll".into(),
            backend_refused: None,
        },
        request: None,
        driver: None,
        window: Window { start_monotonic_ns: 5_646_552_071_102, duration_s: 2.0 },
        interrupted: false,
        intended: count,
        outcomes: Outcomes { answered: count, ..Outcomes::default() },
        answered_as_expected: count,
        first_wrong_answer: None,
        statuses: BTreeMap::from([("200".to_owned(), count)]),
        connect_failures: BTreeMap::new(),
        tls_failures: BTreeMap::new(),
        malformations: BTreeMap::new(),
        go_aways: BTreeMap::new(),
        goodput_per_s: per_s,
        throughput_per_s: per_s,
        received_bytes_per_s: per_s * 83.0,
        service_time_us: times(count, response_us),
        fast_service_time_us: None,
        first_byte_us: None,
        response_time_us: times(count, response_us),
        lag_us: times(count, 2.0),
        generator_lag_us: times(count, 0.1),
        receive_lag_us: times(count / 16, 0.1),
        cpu_us_per_request: Some(4.56),
        generator: Generator { busy_share: 0.31, cpu_s: 0.62, ..Generator::default() },
        connections: Connections { opened: 64, ..Connections::default() },
        via: None,
        tls: None,
        littles_law: Some(LittlesLaw {
            users: 64.0,
            throughput_per_s: per_s,
            mean_response_s: 64.0 / per_s,
            gap: 0.0,
        }),
        seconds: Vec::new(),
        steps: Vec::new(),
        agents: Vec::new(),
        server_pods: None,
    }
}

/// A load of which nothing came: no request was due, nothing was seen.
pub(crate) fn empty_load() -> LoadResult {
    let nothing = Distribution::default;
    LoadResult {
        window: Window { start_monotonic_ns: 0, duration_s: 0.0 },
        intended: 0,
        outcomes: Outcomes::default(),
        answered_as_expected: 0,
        first_wrong_answer: None,
        statuses: BTreeMap::new(),
        goodput_per_s: 0.0,
        throughput_per_s: 0.0,
        received_bytes_per_s: 0.0,
        service_time_us: nothing(),
        first_byte_us: None,
        response_time_us: nothing(),
        lag_us: nothing(),
        generator_lag_us: nothing(),
        receive_lag_us: nothing(),
        cpu_us_per_request: None,
        generator: Generator { busy_share: 0.0, cpu_s: 0.0, ..Generator::default() },
        connections: Connections::default(),
        littles_law: None,
        ..load(1.0)
    }
}

/// A load against a server that never answers: all time out at 2 s.
pub(crate) fn silent_load() -> LoadResult {
    let names = ["mean", "p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99", "max"];
    let two_s = Some(2e6);
    let lost = Distribution {
        too_few_samples: std::collections::BTreeMap::new(),
        count: 64,
        censored: 64,
        lower_bounds: names.map(Into::into).to_vec(),
        mean: two_s,
        p50: two_s,
        p75: two_s,
        p90: two_s,
        p95: two_s,
        p99: two_s,
        p99_9: two_s,
        p99_99: two_s,
        max: two_s,
    };
    LoadResult {
        intended: 64,
        outcomes: Outcomes { timed_out: 64, ..Outcomes::default() },
        answered_as_expected: 0,
        first_wrong_answer: None,
        statuses: BTreeMap::new(),
        goodput_per_s: 0.0,
        throughput_per_s: 32.0,
        received_bytes_per_s: 0.0,
        service_time_us: lost.clone(),
        first_byte_us: None,
        response_time_us: lost,
        littles_law: Some(LittlesLaw { users: 64.0, throughput_per_s: 32.0, mean_response_s: 2.0, gap: 0.0 }),
        ..load(32.0)
    }
}

/// A load with some of every outcome.
pub(crate) fn mixed_load() -> LoadResult {
    let mut load = load(1000.0);
    load.outcomes = Outcomes {
        answered: 1900,
        timed_out: 60,
        connect_failed: 18,
        tls_failed: 2,
        reset: 10,
        closed_early: 4,
        malformed: 3,
        refused_stream: 0,
        stream_reset: 0,
        gone_away: 0,
        unsent: 1,
        backlog_overflow: 1,
        in_flight: 1,
        lost: 0,
    };
    load.answered_as_expected = 1890;
    load.statuses = BTreeMap::from([("200".to_owned(), 1890), ("503".to_owned(), 10)]);
    load.connect_failures = BTreeMap::from([("refused".to_owned(), 17), ("timed out".to_owned(), 1)]);
    load.tls_failures = BTreeMap::from([("certificate".to_owned(), 2)]);
    load.malformations = BTreeMap::from([("bad status line".to_owned(), 3)]);
    load.goodput_per_s = 945.0;
    load.response_time_us.censored = 100;
    load.response_time_us.lower_bounds =
        ["mean", "p95", "p99", "p99_9", "p99_99", "max"].map(Into::into).to_vec();
    load
}

pub(crate) fn measured_of(load: LoadResult) -> Measured {
    let server = Server {
        cpu_us_per_request: Some(33.3),
        cpu_cores: Some(0.4),
        thread_groups: BTreeMap::from([("pool-*".to_owned(), 16)]),
        ..Server::default()
    };
    let contract = Contract { status: 200, idle_service_time_us: 100_000.0, ..Contract::default() };
    Measured {
        load,
        server,
        upstreams: Vec::new(),
        contract,
        warm_up: None,
        surroundings: Surroundings::default(),
        host: None,
    }
}

pub(crate) fn trial(block: u32, stack: &str, result: TrialResult) -> Trial {
    Trial {
        version: TRIAL_VERSION,
        index: block,
        block,
        round: "hello".into(),
        stack: stack.into(),
        role: Role::Stack,
        driver: Driver::Proofload,
        load: record::load_of_label("64 connections"),
        started: "2026-11-21T11:30:07Z".into(),
        repeats: None,
        lost_attempts: Vec::new(),
        result,
    }
}

/// A trial of a stack at so many a second.
pub(crate) fn at(block: u32, stack: &str, per_s: f64) -> Trial {
    with(block, stack, load(per_s))
}

pub(crate) fn with(block: u32, stack: &str, load: LoadResult) -> Trial {
    trial(block, stack, TrialResult::Measured(Box::new(measured_of(load))))
}

pub(crate) fn failed(block: u32, stack: &str, error: &str) -> Trial {
    trial(block, stack, TrialResult::Failed { error: error.into() })
}

/// A run of 3 blocks in which `stacks` take part.
pub(crate) fn manifest(stacks: &[&str], trials: u32) -> Manifest {
    let stacks = stacks.iter().map(|stack| ((*stack).to_owned(), StackManifest::default()));
    Manifest {
        version: MANIFEST_VERSION,
        proofload: "0.1.0".into(),
        commit: None,
        looks: Vec::new(),
        argv: vec!["proofload".into(), "run".into(), "experiments/quick.toml".into()],
        title: "Quick look".into(),
        started: "2026-11-21T11:30:07Z".into(),
        seed: 7,
        blocks: 3,
        blocks_max: 3,
        precision: Some(0.02),
        pace: "full".into(),
        placement: "shared".into(),
        sides: None,
        processes: String::new(),
        same_loads: false,
        drivers: Vec::new(),
        selection: None,
        quick: false,
        trials,
        complete: None,
        stacks: stacks.collect(),
        left_out: BTreeMap::new(),
        tools: BTreeMap::new(),
        machine: Machine { cores: 2, ..Machine::default() },
    }
}
