//! The loads and servers of a calibration, as data.

use plan::{Http2Arguments, IoChoice, LoadArguments, LoadPlan, PlanError, nearest};
use units::{Duration, Rate};

use super::truth::Due;

/// The path that every case asks for.
pub(super) const PATH: &str = "/case";
/// Load before the window. Users of the closed model start spread over it; the first request of each lies in it,
/// which has no answer before it to be counted from.
const WARM_UP_S: u64 = 1;
/// Length of another generator's run.
const PEER_SECONDS_MAX: u64 = 4;
/// An answer may take this long: more than any stall, and than any queue that these loads build.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Why the log of a server that stands still cannot date a request's wait.
const UNREAD_IN_A_STALL: &str =
    "a server that stands still reads nothing: its log begins after the wait that a client sees";
/// The same of a pool.
const UNREAD_IN_A_QUEUE: &str =
    "a request waits in its socket for a worker: the log begins when one has read it";

/// Streams of a connection where HTTP/2 is spoken: there are as many times fewer connections.
const STREAMS: u32 = 10;

/// What is spoken with the servers of a calibration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spoken {
    /// Whether connections are secured.
    pub tls: bool,
    /// Whether it is HTTP/2.
    pub http2: bool,
}

impl Spoken {
    /// Requests that share a connection at one time.
    pub(super) fn streams(self) -> u32 {
        if self.http2 { STREAMS } else { 1 }
    }
}

/// A load on a server whose truth is known.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// The server in words.
    pub server: &'static str,
    /// Length of the measured window, seconds.
    pub seconds: u64,
    /// What `proofload target` is told beside address and log.
    pub(super) target: &'static [&'static str],
    pub(super) load: Shape,
    /// Why the log does not hold the wait that the client calls service time.
    pub(super) service_not_logged: Option<&'static str>,
}

/// A load but for its length.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// Requests are due at a constant rate for the length of the window; what is under way then is awaited.
    Open { rate_per_s: u32, connections: u32 },
    /// The same number of requests, and the window lasts until the last of them is answered: where the server
    /// cannot keep up, none is lost to the deadline.
    OpenToTheLast { rate_per_s: u32, connections: u32 },
    /// Each connection sends when its last answer came.
    Closed { connections: u32 },
}

impl Case {
    /// The load of our own generator, carried by `io`.
    pub(super) fn plan(&self, io: IoChoice, spoken: Spoken) -> Result<LoadPlan, PlanError> {
        let seconds = Duration::from_secs(self.seconds);
        let warm_up = Duration::from_secs(WARM_UP_S);
        let (rate, connections) = match self.load {
            Shape::Open { rate_per_s, connections } | Shape::OpenToTheLast { rate_per_s, connections } => {
                (Rate::per_sec(f64::from(rate_per_s)), connections)
            }
            Shape::Closed { connections } => (None, connections),
        };
        let requests = match self.load {
            Shape::OpenToTheLast { rate_per_s, .. } => {
                Some(u64::from(rate_per_s) * (WARM_UP_S + self.seconds))
            }
            Shape::Open { .. } | Shape::Closed { .. } => None,
        };
        LoadPlan::new(&LoadArguments {
            connections: Some(connections / spoken.streams()),
            rate,
            requests,
            duration: requests.is_none().then_some(seconds),
            warm_up: Some(warm_up),
            timeout: Some(TIMEOUT),
            io,
            http2: spoken.http2.then(|| Http2Arguments {
                streams: Some(spoken.streams()),
                prior_knowledge: true,
                ..Http2Arguments::default()
            }),
            ..LoadArguments::default()
        })
    }

    /// Whether its server speaks HTTP/2: those do not that have a request at a time on each connection.
    fn speaks_http2(&self) -> bool {
        !self.target.contains(&"--model")
    }

    /// When the requests of a window that starts at `window_start_ns` are due, warm-up included; `None` in the
    /// closed model, which has no schedule.
    pub(super) fn due(&self, window_start_ns: u64) -> Option<Due> {
        self.due_from(window_start_ns - Duration::from_secs(WARM_UP_S).as_nanos())
    }

    fn due_from(&self, start_ns: u64) -> Option<Due> {
        Some(Due { start_ns, rate: self.rate()? })
    }

    pub(super) fn rate(&self) -> Option<Rate> {
        self.rate_per_s().and_then(|per_s| Rate::per_sec(f64::from(per_s)))
    }

    /// How long other generators run: as long where the server stands still at a certain time, else shorter,
    /// since there are four of them and their figures are not judged.
    pub(super) fn peer_seconds(&self) -> u64 {
        if self.target.contains(&"--stall") { self.seconds } else { self.seconds.min(PEER_SECONDS_MAX) }
    }

    pub(super) fn rate_per_s(&self) -> Option<u32> {
        match self.load {
            Shape::Open { rate_per_s, .. } | Shape::OpenToTheLast { rate_per_s, .. } => Some(rate_per_s),
            Shape::Closed { .. } => None,
        }
    }

    pub(super) fn connections(&self) -> u32 {
        match self.load {
            Shape::Open { connections, .. }
            | Shape::OpenToTheLast { connections, .. }
            | Shape::Closed { connections } => connections,
        }
    }
}

/// A server that reads at once whatever comes.
const EVENT_LOOP: Case = Case {
    name: "",
    server: "",
    seconds: 10,
    target: &[],
    load: Shape::Open { rate_per_s: 1000, connections: 300 },
    service_not_logged: None,
};

const FIXED_5_MS: Case = Case {
    name: "fixed-5ms",
    server: "every answer after 5 ms",
    target: &["--path", "/case=5ms"],
    ..EVENT_LOOP
};

const EXPONENTIAL: Case = Case {
    name: "exponential",
    server: "exponential delays, mean 5 ms",
    target: &["--path", "/case=exp:5ms"],
    ..EVENT_LOOP
};

const STALL: Case = Case {
    name: "stall",
    server: "answers at once, and stands still for 1 s in 10 s",
    target: &["--path", "/case", "--stall", "1s/10s"],
    load: Shape::Open { rate_per_s: 2000, connections: 300 },
    service_not_logged: Some(UNREAD_IN_A_STALL),
    ..EVENT_LOOP
};

/// 16 workers of 10 ms on average: 1600 answers a second at most.
const CAPACITY: Case = Case {
    server: "16 workers, exponential service of 10 ms: at most 1600/s",
    target: &["--model", "pool", "--threads", "16", "--path", "/case=exp:10ms"],
    service_not_logged: Some(UNREAD_IN_A_QUEUE),
    ..EVENT_LOOP
};

const FULL: [Case; 14] = [
    Case {
        name: "fixed-1ms",
        server: "every answer after 1 ms",
        target: &["--path", "/case=1ms"],
        ..EVENT_LOOP
    },
    FIXED_5_MS,
    Case {
        name: "fixed-100ms",
        server: "every answer after 100 ms",
        target: &["--path", "/case=100ms"],
        ..EVENT_LOOP
    },
    EXPONENTIAL,
    Case {
        name: "bimodal",
        // No compared percentile falls between the modes, where chance would say which of them it is.
        server: "1 ms, and 50 ms for a fifth of the answers",
        target: &["--path", "/case=bimodal:1ms,50ms,0.2"],
        ..EVENT_LOOP
    },
    STALL,
    Case {
        name: "freeze",
        server: "answers at once, and stands still once for 1.4 s",
        // The second freeze would come after the load's end.
        target: &["--path", "/case", "--stall", "1400ms/8s"],
        ..STALL
    },
    Case { name: "capacity-30", load: Shape::Open { rate_per_s: 480, connections: 300 }, ..CAPACITY },
    Case { name: "capacity-70", load: Shape::Open { rate_per_s: 1120, connections: 300 }, ..CAPACITY },
    Case { name: "capacity-95", load: Shape::Open { rate_per_s: 1520, connections: 300 }, ..CAPACITY },
    Case {
        name: "capacity-120",
        load: Shape::OpenToTheLast { rate_per_s: 1920, connections: 300 },
        ..CAPACITY
    },
    Case {
        name: "closed-300",
        server: "every answer after 100 ms",
        target: &["--path", "/case=100ms"],
        load: Shape::Closed { connections: 300 },
        ..EVENT_LOOP
    },
    Case {
        name: "closed-5000",
        server: "every answer after 900 ms",
        target: &["--path", "/case=900ms"],
        load: Shape::Closed { connections: 5000 },
        ..EVENT_LOOP
    },
    Case {
        name: "closed-stall",
        target: &["--path", "/case=5ms", "--stall", "1s/10s"],
        server: "every answer after 5 ms, and stands still for 1 s in 10 s",
        load: Shape::Closed { connections: 20 },
        ..STALL
    },
];

const QUICK: [Case; 3] = [
    Case { seconds: 4, ..FIXED_5_MS },
    Case { seconds: 4, ..EXPONENTIAL },
    Case {
        server: "answers at once, and stands still for 500 ms in 4 s",
        target: &["--path", "/case", "--stall", "500ms/4s"],
        seconds: 4,
        ..STALL
    },
];

/// The cases of a calibration; of a quick one fewer and shorter, and of one over HTTP/2 those whose servers speak it. `names`
/// chooses among them, none is all. Each has a connection for each of the agents that carry it, at least.
pub fn choose(quick: bool, names: &[String], spoken: Spoken, agents: u32) -> Result<Vec<Case>, PlanError> {
    let all: &[Case] = if quick { &QUICK } else { &FULL };
    let is_spoken = |case: &&Case| !spoken.http2 || case.speaks_http2();
    let is_named = |case: &&Case| names.iter().any(|name| name == case.name);
    if let Some(case) = all.iter().find(|case| is_named(case) && !is_spoken(case)) {
        let what =
            format!("the server of `{}` has a thread for each request, and HTTP/2 no such server", case.name);
        return Err(PlanError::new(what, "leave --http2 out, or choose another case"));
    }
    let can_be_shared = |case: &&Case| case.connections() / spoken.streams() >= agents;
    if let Some(case) = all.iter().find(|case| is_named(case) && !can_be_shared(case)) {
        let what = format!("`{}` has fewer connections than {agents} agents", case.name);
        return Err(PlanError::new(what, "give fewer --agents, or choose another case"));
    }
    let known = |name: &str| all.iter().any(|case| case.name == name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        let all: Vec<&str> = all.iter().map(|case| case.name).collect();
        let among = if quick { " among the quick ones" } else { "" };
        return Err(PlanError::new(
            format!("there is no case `{unknown}`{among}"),
            nearest::help(unknown, all.iter().copied(), &format!("choose of {}", all.join(", "))),
        ));
    }
    let is_chosen =
        |case: &&Case| is_spoken(case) && can_be_shared(case) && (names.is_empty() || is_named(case));
    Ok(all.iter().filter(is_chosen).copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_is_a_load_and_has_a_name_of_its_own() {
        for quick in [false, true] {
            let cases = choose(quick, &[], Spoken::default(), 1).unwrap();
            for (index, case) in cases.iter().enumerate() {
                for http2 in [false, true] {
                    let plan = case.plan(IoChoice::Auto, Spoken { tls: false, http2 }).unwrap();
                    assert_eq!(plan.exchanges(), case.connections());
                }
                assert!(cases[..index].iter().all(|earlier| earlier.name != case.name), "{}", case.name);
                assert!(!case.name.is_empty() && !case.server.is_empty());
            }
        }
    }

    #[test]
    fn a_schedule_begins_a_warm_up_before_the_window() {
        let case = choose(false, &["fixed-5ms".into()], Spoken::default(), 1).unwrap()[0];
        assert_eq!(case.due(3_000_000_000).unwrap().start_ns, 2_000_000_000);
        assert!(
            choose(false, &["closed-300".into()], Spoken::default(), 1).unwrap()[0]
                .due(3_000_000_000)
                .is_none()
        );
    }

    #[test]
    fn an_unknown_name_is_told_the_known_ones() {
        let error = choose(false, &["fixed".into()], Spoken::default(), 1).unwrap_err().to_string();
        assert!(error.contains("no case `fixed`") && error.contains("fixed-5ms, fixed-100ms"), "{error}");
        let error = choose(true, &["freeze".into()], Spoken::default(), 1).unwrap_err().to_string();
        assert!(error.contains("among the quick ones"), "{error}");
    }

    #[test]
    fn what_so_many_agents_cannot_share_is_left_out() {
        let spoken = Spoken { tls: false, http2: true };
        let cases = choose(false, &[], spoken, 3).unwrap();
        assert!(!cases.is_empty() && cases.iter().all(|case| case.name != "closed-stall"));
        let error = choose(false, &["closed-stall".into()], spoken, 3).unwrap_err().to_string();
        assert!(error.contains("fewer connections than 3 agents"), "{error}");
        assert!(choose(false, &["closed-stall".into()], spoken, 2).is_ok());
    }

    #[test]
    fn over_http_2_the_servers_with_a_thread_a_request_are_left_out() {
        let spoken = Spoken { tls: true, http2: true };
        let cases = choose(false, &[], spoken, 1).unwrap();
        assert!(!cases.is_empty() && cases.iter().all(|case| !case.name.starts_with("capacity")));
        let error = choose(false, &["capacity-30".into()], spoken, 1).unwrap_err().to_string();
        assert!(error.contains("leave --http2 out"), "{error}");
    }
}
