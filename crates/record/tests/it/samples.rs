//! Made-up records with a value in every field.

use std::collections::BTreeMap;

use record::{
    AcceptQueue, Agreed, AnswerTimes, Burst, BurstAnswers, CellId, Connections, Contract, Distribution,
    Driver, FastTimes, ForeignDriver, GcPauses, Generator, Held, HostSignals, IdleAnswers, JvmUse,
    LOAD_VERSION, LittlesLaw, Load, LoadResult, MANIFEST_VERSION, Machine, Manifest, Measured, NamedUse,
    Outcomes, PausedSecond, QuantileBounds, Quota, RequestSummary, RestedAnswers, Role, Second, Server,
    ServerSignals, StackManifest, Surroundings, TRIAL_VERSION, ThreadGroupUse, Tls, Trial, TrialResult,
    Upstream, UsageSample, WarmUp, Window, load_of_label,
};

fn map<V: Copy>(pairs: &[(&str, V)]) -> BTreeMap<String, V> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect()
}

fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

/// What was asked for.
fn asked() -> Load {
    Load {
        label: "2000/s (Poisson) on 64".into(),
        model: "open".into(),
        arrivals: Some("poisson".into()),
        rate_per_s: Some(2000.0),
        think_us: None,
        ramp_up_s: Some(50.0),
        requests_per_user: Some(1000),
        connections: 64,
        streams: None,
        protocol: None,
        threads: 2,
        threads_why: None,
        keep_alive: true,
        warm_up_s: 0.5,
        duration_s: Some(2.0),
        requests: Some(11),
        timeout_s: 2.0,
        timeout_max_s: Some(30.0),
        seed: u64::MAX,
        io: "epoll".into(),
        backend_refused: None,
    }
}

pub(crate) fn load() -> LoadResult {
    let times = Distribution {
        count: 10,
        censored: 1,
        lower_bounds: vec!["mean".into(), "max".into()],
        mean: Some(0.1 + 0.2),
        p50: Some(1.0 / 3.0),
        max: Some(2e6),
        ..Distribution::default()
    };
    LoadResult {
        version: LOAD_VERSION,
        url: "http://127.0.0.1:8080/a?b=\"c\"".into(),
        load: asked(),
        request: Some(RequestSummary {
            method: "POST".into(),
            header_names: vec!["authorization".into()],
            body_bytes: 7,
        }),
        driver: Some(ForeignDriver {
            name: "wrk".into(),
            version: "wrk 4.1.0 [epoll]".into(),
            command: vec!["wrk".into(), "-t1".into()],
            cannot_know: vec!["when a request was due".into()],
            cpu_cores: Some(0.7),
            cores: 2,
        }),
        window: Window { start_monotonic_ns: u64::MAX - 1, duration_s: 2.0 },
        interrupted: true,
        intended: 11,
        outcomes: Outcomes { answered: 9, timed_out: 1, malformed: 1, ..Outcomes::default() },
        answered_as_expected: 8,
        first_wrong_answer: None,
        statuses: map(&[("200", 8), ("503", 1)]),
        connect_failures: map(&[("refused", 3)]),
        tls_failures: map(&[("certificate", 2)]),
        malformations: map(&[("bad status line", 1)]),
        go_aways: map(&[("enhance_your_calm", 2)]),
        goodput_per_s: 4.1,
        throughput_per_s: 4.7,
        received_bytes_per_s: 1e9 / 7.0,
        service_time_us: times.clone(),
        fast_service_time_us: Some(FastTimes { p10: 0.5, p25: 1.0 }),
        first_byte_us: None,
        response_time_us: times.clone(),
        lag_us: Distribution::default(),
        generator_lag_us: times.clone(),
        receive_lag_us: times,
        cpu_us_per_request: Some(4.56),
        generator: Generator { busy_share: 0.1, cpu_s: 0.2, ..Generator::default() },
        connections: Connections { opened: 64, backlog_peak: 5, ..Connections::default() },
        via: None,
        tls: Some(tls()),
        littles_law: Some(law()),
        seconds: vec![Second {
            from_s: 1.0,
            length_s: 0.5,
            p50_us: Some(7.5),
            max_us: Some(2_000_000.5),
            max_is_lower_bound: true,
            ..Second::default()
        }],
        steps: Vec::new(),
        agents: Vec::new(),
        server_pods: None,
    }
}

fn law() -> LittlesLaw {
    LittlesLaw { users: 64.0, throughput_per_s: 640.0, mean_response_s: 0.1, gap: 1e-300 }
}

fn tls() -> Tls {
    Tls {
        agreed: Some(Agreed {
            version: "TLS 1.3".into(),
            alpn: Some("http/1.1".into()),
            ..Agreed::default()
        }),
        full_handshakes: 64,
        failed_handshakes: map(&[("certificate", 2)]),
        ..Tls::default()
    }
}

pub(crate) fn server() -> Server {
    Server {
        command: vec!["java".into(), "-jar".into(), "an app.jar\nwith a \u{2028} name".into()],
        jvm_flags: vec!["-Xmx1g".into()],
        boot_s: Some(1.25),
        cpu_us_per_request: Some(33.3),
        cpu_cores: None,
        rss_bytes_max: Some(1 << 40),
        threads_max: Some(216),
        thread_groups: map(&[("http-nio-exec-*", 200), ("GC Thread-*", 16)]),
        usage: vec![UsageSample {
            at_monotonic_ns: 5,
            cpu_user_s: 0.059_987,
            cpu_system_s: 0.018_457,
            rss_bytes: 4096,
            threads: 3,
        }],
        signals: Some(signals()),
        jit_cores: Some(0.5),
        stop_forced: true,
        not_measured: Some("it was running already".into()),
    }
}

fn signals() -> ServerSignals {
    ServerSignals {
        cpu_user_cores: Some(0.1),
        groups: vec![ThreadGroupUse { name: "http-nio-*-exec-*".into(), threads: 200, ..Default::default() }],
        rss_bytes: Some([1, 2, 3]),
        anonymous_bytes: Some([1, 1, 2]),
        threads: Some([200, 201, 202]),
        accept_queue: Some(AcceptQueue { limit: 100, max: 7, mean: 0.5, full_share: 0.0 }),
        connections: Some(Held { mean: 19.5, max: 20, readings: 40 }),
        quota: Some(Quota { cores: Some(0.5), throttled_cores: 0.25 }),
        jvm: Some(JvmUse { gc_share: 0.01, ..JvmUse::default() }),
        gc_pauses: Some(GcPauses {
            seconds: 1,
            ended: vec![PausedSecond { second: 0, least_s: 0.012, most_s: 0.0175 }],
        }),
        ..ServerSignals::default()
    }
}

const FEW: AnswerTimes = AnswerTimes {
    count: 40,
    p25_us: 99.2,
    p50_us: 99.4,
    p75_us: 99.8,
    mean_us: 99.5,
    mean_low_us: 99.0,
    mean_high_us: 100.0,
};

fn host() -> HostSignals {
    HostSignals {
        cores: 2,
        others_cores: Some(0.01),
        others: vec![NamedUse { name: "rustc".into(), cores: 0.01 }],
        network: [("DelayedACKs".to_owned(), 7)].into(),
        not_known: vec!["pressure".into()],
        ..HostSignals::default()
    }
}

pub(crate) fn trial(index: u32, result: TrialResult) -> Trial {
    Trial {
        version: TRIAL_VERSION,
        index,
        block: index / 2,
        round: "hello, \"world\"".into(),
        stack: "target-pool".into(),
        role: Role::Twin,
        driver: Driver::Wrk,
        load: load_of_label("64 connections, fresh"),
        started: "2026-11-21T11:30:07Z".into(),
        repeats: None,
        lost_attempts: Vec::new(),
        result,
    }
}

pub(crate) fn measured(index: u32) -> Trial {
    let contract = Contract {
        status: 200,
        head: "HTTP/1.1 200 OK\r\nX: \u{fffd}\r\n\r\n".into(),
        framing: "Length(5)".into(),
        wire_bytes: 83,
        kept_alive: true,
        afterwards: "kept".into(),
        deviations: vec!["120 bytes on the wire instead of 118".into()],
        idle_service_time_us: 100.5,
        warm_service_time_us: Some(99.5),
        idle_answers: Some(IdleAnswers {
            count: 100,
            shortest_us: 99.5,
            p25_us: 100.0,
            p50_us: 101.0,
            p75_us: 103.0,
            p90_us: 110.0,
            longest_us: 150.0,
            mean_us: 102.0,
            mean_low_us: 101.0,
            mean_high_us: 104.0,
            rested_us: Some(99.8),
            bounds: Some(QuantileBounds {
                p10_us: (None, Some(100.5)),
                p25_us: (Some(99.5), Some(101.0)),
                p50_us: (Some(100.0), Some(102.0)),
                p75_us: (Some(101.0), Some(110.0)),
                p90_us: (Some(103.0), None),
                p95_us: (Some(104.0), None),
            }),
            apart_us: Some(160.0),
            rested: Some(RestedAnswers { pause_us: 204.0, times: FEW }),
            kept: Some(FEW),
            burst: Some(BurstAnswers {
                bursts: 3,
                asked: 8,
                turn: 1,
                first_us: 110.0,
                soonest_us: Some(105.0),
                last_us: 830.0,
                together: Some(1),
            }),
        }),
        tries: 2,
        protocol: Some("https, h2".into()),
    };
    let upstreams = vec![Upstream { stack: "tomcat-nio".into(), server: server() }];
    let bursts = vec![Burst { goodput_per_s: 1e5, jit_share: Some(0.25) }, Burst::default()];
    let why = Some("it drifts".into());
    let warm_up = Some(WarmUp { bursts, steady: false, unsteady_why: why, loads_since: Some(3) });
    let surroundings = Surroundings {
        time_wait_at_boot: Some(17),
        client_cpus: Some("0".into()),
        server_cpus: Some("1-3,5".into()),
    };
    let (load, server) = (load(), server());
    let host = Some(host());
    let measured = Measured { load, server, upstreams, contract, warm_up, surroundings, host };
    trial(index, TrialResult::Measured(Box::new(measured)))
}

pub(crate) fn failed(index: u32) -> Trial {
    trial(index, TrialResult::Failed { error: "it died; the end of its log:\n\tline one\nline two".into() })
}

pub(crate) fn manifest() -> Manifest {
    Manifest {
        version: MANIFEST_VERSION,
        commit: None,
        looks: Vec::new(),
        proofload: "0.1.0".into(),
        argv: vec!["proofload".into(), "run".into(), "an experiment.toml".into()],
        title: "A title\nof two lines".into(),
        started: "2026-11-21T11:30:07Z".into(),
        seed: u64::MAX,
        blocks: 3,
        blocks_max: 20,
        precision: Some(0.02),
        pace: "full".into(),
        placement: "split".into(),
        sides: Some("servers on 4-7 (node 1), client on 0-3 (node 0)".into()),
        processes: "kept".into(),
        same_loads: true,
        drivers: vec!["proofload".into(), "wrk".into()],
        selection: Some(vec![CellId { round: "hello".into(), stack: "gin".into(), connections: 64 }]),
        quick: false,
        trials: 6,
        complete: Some(true),
        stacks: BTreeMap::from([
            (
                "gin".to_owned(),
                StackManifest {
                    title: "Gin".into(),
                    inputs: Some("57674b12d2988ffd".into()),
                    settings: Some("9f86d081884c7d65".into()),
                    url: Some("https://shop.test/api".into()),
                    jdk: Some("17.0.15".into()),
                    upstreams: BTreeMap::from([("back".to_owned(), StackManifest::default())]),
                },
            ),
            ("nginx".to_owned(), StackManifest { title: "nginx".into(), ..StackManifest::default() }),
        ]),
        left_out: texts(&[("zig", "zig is missing: install it")]),
        tools: texts(&[("go", "go version go1.26.8 linux/amd64")]),
        machine: Machine {
            kernel: Some("6.18.0".into()),
            cpu: None,
            cores: 2,
            memory_bytes: Some(1 << 34),
            open_files: None,
            sysctls: texts(&[("net.core.somaxconn", "4096")]),
        },
    }
}
