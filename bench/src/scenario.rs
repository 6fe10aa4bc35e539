//! What is measured: a server, a kind of load, who makes it, and what is to come out.

use std::fmt;

/// Who makes the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contestant {
    NullEpoll,
    NullUring,
    Epoll,
    Uring,
    /// Proofload over io_uring with its view on a terminal.
    Drawn,
    /// The same with its page in a browser.
    Served,
    Wrk,
    Ab,
    H2load,
    Hey,
    Oha,
}

impl fmt::Display for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::NullEpoll => "null client, epoll",
            Self::NullUring => "null client, io_uring",
            Self::Epoll => "proofload, epoll",
            Self::Uring => "proofload, io_uring",
            Self::Drawn => "proofload, watched on a terminal",
            Self::Served => "proofload, watched in a browser",
            Self::Wrk => "wrk",
            Self::Ab => "ab",
            Self::H2load => "h2load",
            Self::Hey => "hey",
            Self::Oha => "oha",
        })
    }
}

/// A client with so many connections: a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) contestant: Contestant,
    pub(crate) connections: u32,
}

/// What answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Server {
    pub(crate) program: Program,
    /// Whether over TLS.
    pub(crate) is_secured: bool,
    /// Whether over HTTP/2: by ALPN where it is secured.
    pub(crate) is_http2: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    /// The built-in target; the size of its bodies as its option has it, or five bytes. It answers all requests of a read in
    /// one write.
    Target { body: Option<&'static str> },
    /// One worker of nginx; five bytes, and a write for each answer. It resumes no session.
    Nginx,
}

impl Server {
    pub(crate) const TARGET: Self = Self::of(Program::Target { body: None });
    pub(crate) const NGINX: Self = Self::of(Program::Nginx);

    pub(crate) const fn of(program: Program) -> Self {
        Self { program, is_secured: false, is_http2: false }
    }

    pub(crate) const fn secured(self) -> Self {
        Self { is_secured: true, ..self }
    }

    pub(crate) const fn http2(self) -> Self {
        Self { is_http2: true, ..self }
    }

    /// What URLs of it begin with.
    pub(crate) fn scheme(self) -> &'static str {
        if self.is_secured { "https" } else { "http" }
    }

    /// What the built-in target is told; `None` where it is another's.
    pub(crate) fn target_options(self) -> Option<Vec<&'static str>> {
        let Program::Target { body } = self.program else { return None };
        let body = body.map_or_else(Vec::new, |bytes| vec!["--body-bytes", bytes]);
        let http2 = self.is_http2.then_some("--http2");
        let tls = self.is_secured.then_some("--tls");
        Some(body.into_iter().chain(http2).chain(tls).collect())
    }
}

/// How requests follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Each connection sends when its last answer came.
    Closed,
    /// The same, each time on a fresh connection, and so many times in all where the client can count. Bounded, since
    /// a closed connection holds its port for a minute.
    Churn { requests: u32 },
    /// So many are due a second.
    Open { rate_per_s: u32 },
    /// HTTP/2: so many streams of each connection send when their last answer came.
    Streams { streams: u32 },
}

impl Kind {
    /// Requests that share a connection at one time.
    pub(crate) fn streams(self) -> u32 {
        match self {
            Self::Streams { streams } => streams,
            Self::Closed | Self::Churn { .. } | Self::Open { .. } => 1,
        }
    }
}

/// What a row is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Metric {
    /// CPU time of the whole process, set-up included, over all its requests.
    CpuWhole,
    /// The same from the first request on, as the client itself reads its clock: for many connections, the set-up of
    /// which would be a good part of a short run.
    CpuSending,
    /// Peak resident memory beyond a fixed share, over connections.
    MemoryPerConnection,
    /// How late requests arrived, by the server's log: the 99th percentile.
    LagP99,
    /// How late they were sent, by the client's own word: the 99th percentile, µs.
    SentLagP99,
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CpuWhole => "CPU a request",
            Self::CpuSending => "CPU a request while sending",
            Self::MemoryPerConnection => "bytes a connection beyond 8 MiB",
            Self::LagP99 => "lag, p99",
            Self::SentLagP99 => "µs from due to sent, p99",
        })
    }
}

/// What is to come out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Goal {
    pub(crate) of: Entry,
    pub(crate) metric: Metric,
    /// As a ratio to this row; or else as it is.
    pub(crate) versus: Option<Entry>,
    pub(crate) at_most: f64,
}

/// One table of the docs.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    /// The name of its markers, too.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) server: Server,
    pub(crate) kind: Kind,
    /// In the order of the first round. Those that a goal compares stand side by side.
    pub(crate) entries: Vec<Entry>,
    pub(crate) goals: Vec<Goal>,
}
