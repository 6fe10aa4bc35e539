//! A record that nothing speaks against, and trials of such records.

use std::collections::BTreeMap;

use record::{
    Connections, Contract, Distribution, Driver, Generator, LOAD_VERSION, LittlesLaw, Load, LoadResult,
    Measured, Outcomes, Role, Server, Surroundings, TRIAL_VERSION, Trial, TrialResult, Window, load_of_label,
};

/// Figures of `count` samples that all took `us`.
pub(crate) fn times(count: u64, us: f64) -> Distribution {
    let us = Some(us);
    Distribution {
        count,
        mean: us,
        p50: us,
        p75: us,
        p90: us,
        p95: us,
        p99: us,
        p99_9: us,
        p99_99: us,
        max: us,
        ..Distribution::default()
    }
}

/// 64 users, 6400/s, 10 ms each, for 15 s.
pub(crate) fn healthy() -> LoadResult {
    let count = 96_000;
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
            warm_up_s: 1.0,
            duration_s: Some(15.0),
            requests: None,
            timeout_s: 2.0,
            timeout_max_s: None,
            seed: 7,
            io: "epoll".into(),
            backend_refused: None,
        },
        request: None,
        driver: None,
        window: Window { start_monotonic_ns: 1, duration_s: 15.0 },
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
        goodput_per_s: 6400.0,
        throughput_per_s: 6400.0,
        received_bytes_per_s: 640_000.0,
        service_time_us: times(count, 10_000.0),
        fast_service_time_us: None,
        first_byte_us: None,
        response_time_us: times(count, 10_000.0),
        lag_us: times(count, 20.0),
        generator_lag_us: times(count, 10.0),
        receive_lag_us: times(count / 16, 10.0),
        cpu_us_per_request: Some(5.0),
        generator: Generator { busy_share: 0.1, cpu_s: 1.5, ..Generator::default() },
        connections: Connections { opened: 64, ..Connections::default() },
        via: None,
        tls: None,
        littles_law: Some(LittlesLaw {
            users: 64.0,
            throughput_per_s: 6400.0,
            mean_response_s: 0.01,
            gap: 0.0,
        }),
        seconds: Vec::new(),
        steps: Vec::new(),
        agents: Vec::new(),
        server_pods: None,
    }
}

/// `healthy` as a trial that used a quarter of a core.
pub(crate) fn trial() -> Measured {
    let server = Server { cpu_cores: Some(0.25), ..Server::default() };
    let contract = Contract { status: 200, idle_service_time_us: 100_000.0, ..Contract::default() };
    Measured {
        load: healthy(),
        server,
        upstreams: Vec::new(),
        contract,
        warm_up: None,
        surroundings: Surroundings::default(),
        host: None,
    }
}

/// A trial of `stack` at 64 connections, the one of its block, that came to this.
pub(crate) fn trial_in(block: u32, stack: &str, result: TrialResult) -> Trial {
    Trial {
        version: TRIAL_VERSION,
        index: block,
        block,
        round: "hello".into(),
        role: Role::Stack,
        driver: Driver::Proofload,
        stack: stack.into(),
        load: load_of_label("64 connections"),
        started: String::new(),
        repeats: None,
        lost_attempts: Vec::new(),
        result,
    }
}

/// The same of one that was measured.
pub(crate) fn measured_in(block: u32, stack: &str, measured: Measured) -> Trial {
    trial_in(block, stack, TrialResult::Measured(Box::new(measured)))
}

/// Noise that is the same each time, from −1 to 1.
pub(crate) fn noise(seed: u64) -> f64 {
    let mixed = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed ^ (mixed >> 29)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}
