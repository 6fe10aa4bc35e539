//! How each client is asked for each kind of load.

use std::net::SocketAddrV4;

use crate::scenario::{Contestant, Entry, Kind};

/// More requests than a run of any length makes, for clients that want a number.
const REQUESTS_ENDLESS: &str = "10000000";
/// No answer takes as long here, so that none is counted as a failure by one client alone.
const TIMEOUT: &str = "10s";
/// A blank within an argument; others end it.
const BLANK: char = '\u{a0}';
const PATH: &str = "/hello";
/// wrk can't count, and so bounds its fresh connections by time.
const CHURN_SECONDS_OF_WRK: u32 = 1;

impl Contestant {
    /// The program's name on the PATH, or beside this one where it is ours.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::NullEpoll | Self::NullUring => "null-client",
            Self::Epoll | Self::Uring | Self::Drawn | Self::Served => "proofload",
            Self::Wrk => "wrk",
            Self::Ab => "ab",
            Self::H2load => "h2load",
            Self::Hey => "hey",
            Self::Oha => "oha",
        }
    }

    /// Whether it is built from this repository.
    pub(crate) fn is_ours(self) -> bool {
        matches!(self.program(), "null-client" | "proofload")
    }

    /// The null client that `self` is held against.
    pub(crate) fn null(self) -> Option<Self> {
        match self {
            Self::Epoll => Some(Self::NullEpoll),
            Self::Uring => Some(Self::NullUring),
            _ => None,
        }
    }
}

/// What a client is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ask {
    pub(crate) kind: Kind,
    pub(crate) seconds: u32,
    pub(crate) server: SocketAddrV4,
    /// `http` or `https`, of any certificate.
    pub(crate) scheme: &'static str,
    /// Where a client that is watched in a browser serves its page.
    pub(crate) page: SocketAddrV4,
    /// Whether our binary knows `--io`.
    pub(crate) has_io: bool,
}

/// The arguments of the client of `entry`; `None` where it knows no such load.
pub(crate) fn arguments(entry: Entry, ask: &Ask) -> Option<Vec<String>> {
    let Ask { kind, seconds, server, scheme, .. } = *ask;
    let url = format!("{scheme}://{server}{PATH}");
    let is_secured = scheme == "https";
    let tls = if is_secured { " --tls" } else { "" };
    let connections = entry.connections;
    let text = match (entry.contestant, kind) {
        (Contestant::NullEpoll, Kind::Closed) => {
            format!("epoll --connect {server}{tls} --path {PATH} -c {connections} -s {seconds}")
        }
        (Contestant::NullUring, Kind::Closed) if !is_secured => {
            format!("uring --connect {server} --path {PATH} -c {connections} -s {seconds}")
        }
        (Contestant::NullEpoll, Kind::Streams { streams }) => format!(
            "streams --connect {server}{tls} --path {PATH} -c {connections} --streams {streams} -s {seconds}"
        ),
        (Contestant::Epoll | Contestant::Uring | Contestant::Drawn | Contestant::Served, kind) => {
            format!("hit {url} -c {connections} {} {}", how_long(kind, seconds), ours(entry.contestant, ask))
        }
        (Contestant::Wrk, Kind::Closed) => {
            format!("-t1 -c{connections} -d{seconds}s --timeout {TIMEOUT} {url}")
        }
        (Contestant::Wrk, Kind::Churn { .. }) => {
            let header = format!("Connection:{BLANK}close");
            format!("-t1 -c{connections} -d{CHURN_SECONDS_OF_WRK}s --timeout {TIMEOUT} -H {header} {url}")
        }
        (Contestant::Ab, Kind::Closed) => {
            format!("-q -k -c{connections} -t{seconds} -n{REQUESTS_ENDLESS} {url}")
        }
        (Contestant::Ab, Kind::Churn { requests }) => format!("-q -c{connections} -n{requests} {url}"),
        (Contestant::H2load, Kind::Closed) => format!("--h1 -t1 -c{connections} -D{seconds} {url}"),
        (Contestant::H2load, Kind::Streams { streams }) => {
            format!("-t1 -c{connections} -m{streams} -D{seconds} {url}")
        }
        (Contestant::Hey, Kind::Closed) => format!("-cpus 1 -c {connections} -z {seconds}s {url}"),
        (Contestant::Hey, Kind::Churn { requests }) => {
            format!("-cpus 1 -c {connections} -n {requests} -disable-keepalive {url}")
        }
        (Contestant::Oha, kind) => {
            let fresh = if matches!(kind, Kind::Churn { .. }) { "--disable-keepalive " } else { "" };
            let rate = match kind {
                Kind::Open { rate_per_s } => format!("-q {rate_per_s} --latency-correction "),
                Kind::Streams { streams } => format!("--http2 -p {streams} "),
                Kind::Closed | Kind::Churn { .. } => String::new(),
            };
            let long = match kind {
                Kind::Churn { requests } => format!("-n {requests}"),
                Kind::Closed | Kind::Open { .. } | Kind::Streams { .. } => format!("-z {seconds}s"),
            };
            let trust = if is_secured { "--insecure " } else { "" };
            format!("--no-tui --output-format json -c {connections} {long} {fresh}{rate}{trust}{url}")
        }
        (Contestant::H2load | Contestant::Hey | Contestant::Wrk | Contestant::Ab, Kind::Open { .. })
        | (Contestant::H2load, Kind::Churn { .. })
        | (Contestant::Hey | Contestant::Wrk | Contestant::Ab, Kind::Streams { .. })
        | (Contestant::NullEpoll | Contestant::NullUring, _) => return None,
    };
    Some(text.split(' ').filter(|it| !it.is_empty()).map(|it| it.replace(BLANK, " ")).collect())
}

fn how_long(kind: Kind, seconds: u32) -> String {
    match kind {
        Kind::Closed => format!("-d {seconds}s"),
        Kind::Churn { requests } => format!("-n {requests} --no-keep-alive"),
        Kind::Open { rate_per_s } => format!("-d {seconds}s --rate {rate_per_s}"),
        Kind::Streams { streams } => format!("-d {seconds}s --http2-prior-knowledge --streams {streams}"),
    }
}

fn ours(contestant: Contestant, ask: &Ask) -> String {
    let io = match (ask.has_io, contestant) {
        (true, Contestant::Epoll) => " --io epoll",
        (true, _) => " --io uring",
        (false, _) => "",
    };
    let watched = match contestant {
        Contestant::Drawn => String::new(),
        Contestant::Served => format!(" --quiet --serve={}", ask.page),
        _ => " --quiet".to_owned(),
    };
    let trust = if ask.scheme == "https" { " -k" } else { "" };
    format!("-t 1{io}{trust} --timeout {TIMEOUT}{watched} --json")
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn line(contestant: Contestant, kind: Kind, has_io: bool) -> String {
        let [server, page] = [18990, 18991].map(|port| SocketAddrV4::new(Ipv4Addr::LOCALHOST, port));
        let ask = Ask { kind, seconds: 3, server, scheme: "http", page, has_io };
        arguments(Entry { contestant, connections: 50 }, &ask).unwrap_or_default().join(" ")
    }

    #[test]
    fn ours_names_the_driver_where_it_can() {
        let open = Kind::Open { rate_per_s: 2000 };
        assert_eq!(
            line(Contestant::Uring, open, true),
            "hit http://127.0.0.1:18990/hello -c 50 -d 3s --rate 2000 -t 1 --io uring --timeout 10s --quiet --json"
        );
        assert!(!line(Contestant::Epoll, open, false).contains("--io"));
        assert!(!line(Contestant::Drawn, open, true).contains("--quiet"));
        assert!(
            line(Contestant::Served, open, true)
                .contains("--io uring --timeout 10s --quiet --serve=127.0.0.1:18991")
        );
    }

    #[test]
    fn who_can_count_is_bounded_by_count() {
        let churn = Kind::Churn { requests: 15_000 };
        assert!(line(Contestant::Ab, churn, true).contains("-n15000"));
        assert!(line(Contestant::Oha, churn, true).contains("-n 15000 --disable-keepalive"));
        assert!(line(Contestant::Wrk, churn, true).contains("-d1s --timeout 10s -H Connection: close http"));
        assert_eq!(line(Contestant::H2load, churn, true), "", "it can't");
    }

    #[test]
    fn streams_share_connections() {
        let streams = Kind::Streams { streams: 32 };
        assert_eq!(line(Contestant::H2load, streams, true), "-t1 -c50 -m32 -D3 http://127.0.0.1:18990/hello");
        assert!(line(Contestant::Oha, streams, true).contains("-c 50 -z 3s --http2 -p 32 http"));
        assert!(line(Contestant::Uring, streams, true).contains("--http2-prior-knowledge --streams 32"));
        assert!(line(Contestant::NullEpoll, streams, true).starts_with("streams --connect"));
        assert_eq!(line(Contestant::Wrk, streams, true), "", "it can't");
    }
}
