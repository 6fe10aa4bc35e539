//! The rows of the benchmark, and the targets they are held against.

use crate::scenario::Contestant::{
    Ab, Drawn, Epoll, H2load, Hey, NullEpoll, NullUring, Oha, Served, Uring, Wrk,
};
use crate::scenario::{Contestant, Entry, Goal, Kind, Metric, Program, Scenario, Server};

/// Whom a goal compares stand side by side: io_uring with its null client and wrk, epoll with wrk and its null client.
const CORE: [Contestant; 5] = [NullUring, Uring, Wrk, Epoll, NullEpoll];

/// Targets at a number of connections: ratio to wrk and to the null client, io_uring and epoll.
struct Targets {
    connections: u32,
    uring_to_wrk: f64,
    epoll_to_wrk: f64,
    uring_to_null: f64,
    epoll_to_null: f64,
}

const SMALL: [Targets; 4] = [
    Targets {
        connections: 64,
        uring_to_wrk: 0.68,
        epoll_to_wrk: 0.76,
        uring_to_null: 1.05,
        epoll_to_null: 1.08,
    },
    Targets {
        connections: 300,
        uring_to_wrk: 0.68,
        epoll_to_wrk: 0.76,
        uring_to_null: 1.05,
        epoll_to_null: 1.08,
    },
    Targets {
        connections: 1000,
        uring_to_wrk: 0.66,
        epoll_to_wrk: 0.74,
        uring_to_null: 1.05,
        epoll_to_null: 1.08,
    },
    Targets {
        connections: 5000,
        uring_to_wrk: 0.66,
        epoll_to_wrk: 0.80,
        uring_to_null: 1.05,
        epoll_to_null: 1.10,
    },
];

const CONNECTIONS_MANY: u32 = 15_000;
const CONNECTIONS_FLAT: u32 = 300;
const MANY_TO_NULL: f64 = 1.10;
const FLAT: f64 = 1.15;
const LARGE_TO_WRK: f64 = 0.45;
const SECURED_TO_WRK: f64 = 0.65;
const HANDSHAKE_TO_WRK: f64 = 0.50;
/// Each is a full one, of some hundred microseconds on both sides.
const HANDSHAKES: u32 = 3_000;
const SECURED_BYTES_PER_CONNECTION: f64 = 10.0 * 1024.0;
const STREAMS_TO_OHA: f64 = 0.10;
/// Of requests at 10,000/s, on a core that has nothing else to do.
const LAG_P99_US: f64 = 100.0;
const MEMORY_BYTES_PER_CONNECTION: f64 = 256.0;
/// From as many connections on the memory of each is looked at.
const CONNECTIONS_FOR_MEMORY: u32 = 5000;
/// hey keeps 500 connections open at most and makes the others anew for each request, which is other work.
const HEY_CONNECTIONS_MAX: u32 = 500;
const CHURN_REQUESTS: u32 = 15_000;
/// Of the whole process with its view, to that without.
const WATCHED: f64 = 1.01;

/// Every scenario, in the order in which they run.
pub(crate) fn scenarios() -> Vec<Scenario> {
    let mut all = Vec::new();
    let small = [
        ("small-64", "5-byte answers of the built-in target, 64 connections"),
        ("small-300", "5-byte answers of the built-in target, 300 connections"),
        ("small-1000", "5-byte answers of the built-in target, 1000 connections"),
        ("small-5000", "5-byte answers of the built-in target, 5000 connections"),
    ];
    let nginx = [
        ("nginx-64", "5-byte answers of nginx, 64 connections"),
        ("nginx-300", "5-byte answers of nginx, 300 connections"),
        ("nginx-1000", "5-byte answers of nginx, 1000 connections"),
        ("nginx-5000", "5-byte answers of nginx, 5000 connections"),
    ];
    all.extend(SMALL.iter().zip(small).map(|(targets, names)| small_answers(targets, names, Server::TARGET)));
    all.extend(SMALL.iter().zip(nginx).map(|(targets, names)| small_answers(targets, names, Server::NGINX)));
    all.push(secured(
        ("https-64", "5-byte answers of the built-in target over TLS 1.3, 64 connections"),
        Server::TARGET,
    ));
    all.push(secured(
        ("nginx-https-64", "5-byte answers of nginx over TLS 1.3, 64 connections"),
        Server::NGINX,
    ));
    all.push(many_secured());
    all.push(handshakes());
    all.extend(STREAMS.map(streams));
    all.push(many());
    all.extend([
        large("size-1KiB", "1 KiB answers, 50 connections", "1KiB"),
        large("size-64KiB", "64 KiB answers, 50 connections", "64KiB"),
        large("size-100kB", "100 kB answers, 50 connections", "100000B"),
        large("size-1MiB", "1 MiB answers, 50 connections", "1MiB"),
    ]);
    all.push(churn());
    all.push(open("open-2000", "open model, 300 connections, 2000 requests/s", 2_000));
    all.push(precision());
    all.push(open("open-20000", "open model, 300 connections, 20,000 requests/s", 20_000));
    all.push(live());
    all
}

fn small_answers(targets: &Targets, (name, title): (&'static str, &'static str), server: Server) -> Scenario {
    let at = |contestant| Entry { contestant, connections: targets.connections };
    let ratio = |of, versus, at_most| Goal {
        of: at(of),
        metric: Metric::CpuWhole,
        versus: Some(at(versus)),
        at_most,
    };
    let mut entries: Vec<Entry> = CORE.map(at).into();
    entries.push(at(H2load));
    entries.push(at(Oha));
    if server == Server::NGINX {
        // ab speaks HTTP/1.0, which the built-in target answers and closes.
        entries.push(at(Ab));
    }
    if targets.connections <= HEY_CONNECTIONS_MAX {
        entries.push(at(Hey));
    }
    let mut goals = vec![
        ratio(Uring, Wrk, targets.uring_to_wrk),
        ratio(Epoll, Wrk, targets.epoll_to_wrk),
        ratio(Uring, NullUring, targets.uring_to_null),
        ratio(Epoll, NullEpoll, targets.epoll_to_null),
    ];
    if targets.connections >= CONNECTIONS_FOR_MEMORY {
        goals.extend([Uring, Epoll].map(|of| memory(at(of), MEMORY_BYTES_PER_CONNECTION)));
    }
    Scenario { name, title, server, kind: Kind::Closed, entries, goals }
}

fn secured((name, title): (&'static str, &'static str), server: Server) -> Scenario {
    let at = |contestant| Entry { contestant, connections: 64 };
    let to_wrk =
        |of| Goal { of: at(of), metric: Metric::CpuWhole, versus: Some(at(Wrk)), at_most: SECURED_TO_WRK };
    Scenario {
        name,
        title,
        server: server.secured(),
        kind: Kind::Closed,
        // The null client knows TLS over epoll alone.
        entries: [Uring, Wrk, Epoll, NullEpoll, H2load, Oha].map(at).into(),
        goals: [Uring, Epoll].map(to_wrk).into(),
    }
}

/// What a connection over TLS takes.
fn many_secured() -> Scenario {
    let at = |contestant| Entry { contestant, connections: CONNECTIONS_FOR_MEMORY };
    Scenario {
        name: "https-5000",
        title: "5-byte answers of the built-in target over TLS 1.3, 5000 connections, handshakes included",
        server: Server::TARGET.secured(),
        kind: Kind::Closed,
        entries: [Uring, Wrk, Epoll].map(at).into(),
        goals: [Uring, Epoll].map(|of| memory(at(of), SECURED_BYTES_PER_CONNECTION)).into(),
    }
}

/// nginx, since it resumes no session: wrk asks to go on with the one it had.
fn handshakes() -> Scenario {
    let at = |contestant| Entry { contestant, connections: 50 };
    let to_wrk =
        |of| Goal { of: at(of), metric: Metric::CpuWhole, versus: Some(at(Wrk)), at_most: HANDSHAKE_TO_WRK };
    Scenario {
        name: "handshakes",
        title: "a full TLS 1.3 handshake for each request to nginx, 50 at a time",
        server: Server::NGINX.secured(),
        kind: Kind::Churn { requests: HANDSHAKES },
        entries: [Uring, Wrk, Epoll, Oha].map(at).into(),
        goals: [Uring, Epoll].map(to_wrk).into(),
    }
}

/// A scenario of HTTP/2, and its target, where it has one: the ratio to h2load.
#[derive(Clone, Copy)]
struct OverHttp2 {
    name: &'static str,
    title: &'static str,
    server: Server,
    connections: u32,
    streams: u32,
    to_h2load: Option<f64>,
}

/// nginx has no targets: it writes each answer by itself, and most of what a client does is then the kernel's.
const STREAMS: [OverHttp2; 6] = [
    OverHttp2 {
        name: "h2c-8x32",
        title: "HTTP/2 without TLS: 5-byte answers of the built-in target, 8 connections of 32 streams",
        server: Server::TARGET.http2(),
        connections: 8,
        streams: 32,
        to_h2load: Some(0.35),
    },
    OverHttp2 {
        name: "h2c-64x1",
        title: "HTTP/2 without TLS: 5-byte answers of the built-in target, 64 connections of one stream",
        server: Server::TARGET.http2(),
        connections: 64,
        streams: 1,
        to_h2load: Some(0.62),
    },
    OverHttp2 {
        name: "h2-8x32",
        title: "HTTP/2 over TLS 1.3: 5-byte answers of the built-in target, 8 connections of 32 streams",
        server: Server::TARGET.http2().secured(),
        connections: 8,
        streams: 32,
        to_h2load: Some(0.38),
    },
    OverHttp2 {
        name: "h2-64x1",
        title: "HTTP/2 over TLS 1.3: 5-byte answers of the built-in target, 64 connections of one stream",
        server: Server::TARGET.http2().secured(),
        connections: 64,
        streams: 1,
        to_h2load: Some(0.58),
    },
    OverHttp2 {
        name: "nginx-h2c-8x32",
        title: "HTTP/2 without TLS: 5-byte answers of nginx, 8 connections of 32 streams",
        server: Server::NGINX.http2(),
        connections: 8,
        streams: 32,
        to_h2load: None,
    },
    OverHttp2 {
        name: "nginx-h2-8x32",
        title: "HTTP/2 over TLS 1.3: 5-byte answers of nginx, 8 connections of 32 streams",
        server: Server::NGINX.http2().secured(),
        connections: 8,
        streams: 32,
        to_h2load: None,
    },
];

fn streams(row: OverHttp2) -> Scenario {
    let OverHttp2 { name, title, server, connections, streams, to_h2load } = row;
    let at = |contestant| Entry { contestant, connections };
    let to = |versus, of, at_most| Goal {
        of: at(of),
        metric: Metric::CpuWhole,
        versus: Some(at(versus)),
        at_most,
    };
    let mut goals: Vec<Goal> =
        to_h2load.into_iter().flat_map(|at_most| [Uring, Epoll].map(|of| to(H2load, of, at_most))).collect();
    let mut entries = vec![Uring, H2load, Epoll];
    // oha speaks no HTTP/2 without TLS.
    if server.is_secured {
        entries.push(Oha);
        if streams > 1 && to_h2load.is_some() {
            goals.push(to(Oha, Epoll, STREAMS_TO_OHA));
        }
    }
    entries.push(NullEpoll);
    let entries = entries.into_iter().map(at).collect();
    Scenario { name, title, server, kind: Kind::Streams { streams }, entries, goals }
}

fn memory(of: Entry, at_most: f64) -> Goal {
    Goal { of, metric: Metric::MemoryPerConnection, versus: None, at_most }
}

fn many() -> Scenario {
    let at = |contestant| Entry { contestant, connections: CONNECTIONS_MANY };
    let few = |contestant| Entry { contestant, connections: CONNECTIONS_FLAT };
    let ratio = |of, versus, at_most| Goal { of, metric: Metric::CpuSending, versus: Some(versus), at_most };
    Scenario {
        name: "many-15000",
        title: "5-byte answers of the built-in target, 15,000 connections, and whether cost stays flat",
        server: Server::TARGET,
        kind: Kind::Closed,
        // The null clients with few connections show how much of a rise is the kernel's.
        entries: vec![
            at(NullUring),
            at(Uring),
            few(Uring),
            few(NullUring),
            few(NullEpoll),
            few(Epoll),
            at(Epoll),
            at(NullEpoll),
        ],
        goals: vec![
            ratio(at(Uring), at(NullUring), MANY_TO_NULL),
            ratio(at(Epoll), at(NullEpoll), MANY_TO_NULL),
            ratio(at(Uring), few(Uring), FLAT),
            ratio(at(Epoll), few(Epoll), FLAT),
            memory(at(Uring), MEMORY_BYTES_PER_CONNECTION),
            memory(at(Epoll), MEMORY_BYTES_PER_CONNECTION),
        ],
    }
}

fn large(name: &'static str, title: &'static str, body: &'static str) -> Scenario {
    let at = |contestant| Entry { contestant, connections: 50 };
    let to_wrk =
        |of| Goal { of: at(of), metric: Metric::CpuWhole, versus: Some(at(Wrk)), at_most: LARGE_TO_WRK };
    let goals = if name == "size-100kB" { vec![to_wrk(Uring), to_wrk(Epoll)] } else { Vec::new() };
    let entries = CORE.into_iter().chain([H2load, Hey, Oha]).map(at).collect();
    Scenario {
        name,
        title,
        server: Server::of(Program::Target { body: Some(body) }),
        kind: Kind::Closed,
        entries,
        goals,
    }
}

fn churn() -> Scenario {
    let at = |contestant| Entry { contestant, connections: 50 };
    Scenario {
        name: "churn-50",
        title: "a fresh connection for each request, 50 at a time",
        server: Server::TARGET,
        kind: Kind::Churn { requests: CHURN_REQUESTS },
        entries: [Uring, Wrk, Epoll, Ab, Hey, Oha].map(at).into(),
        goals: Vec::new(),
    }
}

fn open(name: &'static str, title: &'static str, rate_per_s: u32) -> Scenario {
    let at = |contestant| Entry { contestant, connections: 300 };
    let no_more = |of, metric| Goal { of: at(of), metric, versus: Some(at(Oha)), at_most: 1.0 };
    Scenario {
        name,
        title,
        server: Server::TARGET,
        kind: Kind::Open { rate_per_s },
        entries: [Uring, Oha, Epoll].map(at).into(),
        goals: [Uring, Epoll]
            .into_iter()
            .flat_map(|of| [no_more(of, Metric::CpuWhole), no_more(of, Metric::LagP99)])
            .collect(),
    }
}

/// Whether requests go out when they are due.
fn precision() -> Scenario {
    let at = |contestant| Entry { contestant, connections: 300 };
    let to_the_point =
        |of| Goal { of: at(of), metric: Metric::SentLagP99, versus: None, at_most: LAG_P99_US };
    let both = [Uring, Epoll];
    Scenario {
        goals: both.map(to_the_point).into(),
        ..open("open-10000", "open model, 300 connections, 10,000 requests/s", 10_000)
    }
}

/// What it costs to be watched.
fn live() -> Scenario {
    let at = |contestant| Entry { contestant, connections: 300 };
    let unwatched =
        |of| Goal { of: at(of), metric: Metric::CpuWhole, versus: Some(at(Uring)), at_most: WATCHED };
    Scenario {
        name: "live",
        title: "watched and unwatched: 5-byte answers of the built-in target, 300 connections",
        server: Server::TARGET,
        kind: Kind::Closed,
        entries: [Drawn, Uring, Served].map(at).into(),
        goals: [Drawn, Served].map(unwatched).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_goals_speak_of_rows() {
        let all = scenarios();
        for (index, scenario) in all.iter().enumerate() {
            assert!(all[..index].iter().all(|other| other.name != scenario.name), "{}", scenario.name);
            for goal in &scenario.goals {
                assert!(scenario.entries.contains(&goal.of), "{}", scenario.name);
                assert!(
                    goal.versus.is_none_or(|versus| scenario.entries.contains(&versus)),
                    "{}",
                    scenario.name
                );
            }
        }
    }

    #[test]
    fn whom_a_goal_compares_run_one_after_the_other() {
        for scenario in scenarios() {
            for goal in &scenario.goals {
                let place = |entry| scenario.entries.iter().position(|it| *it == entry).unwrap();
                let apart = goal.versus.map_or(1, |versus| place(goal.of).abs_diff(place(versus)));
                assert_eq!(apart, 1, "{}: {:?}", scenario.name, goal);
            }
        }
    }
}
