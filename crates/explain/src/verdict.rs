//! What stopped a server, with evidence.

use schemars::JsonSchema;
use serde::Serialize;

/// What it was. The names are those of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerdictKind {
    /// The client had no port left to open a connection from.
    PortExhaustion,
    /// The server had no file descriptor left.
    DescriptorLimit,
    /// The generator was the limit.
    ClientBound,
    /// Something else used the machine.
    NoisyHost,
    /// Memory grew all the time.
    MemoryGrowth,
    /// The rate had a trend: the server was still warming up, or failing.
    NotSteady,
    /// Wrong answers.
    IncorrectService,
    /// A CPU quota of a control group.
    QuotaBound,
    /// Half of an answer waited for the client's delayed acknowledgement.
    DelayedAck,
    /// None: the rate asked for was kept.
    KeepsRate,
    /// None: every user waited for an idle server's answer.
    IdlePace,
    /// Writing to a disk.
    LogBound,
    /// Garbage collection.
    GarbageCollection,
    /// So many connections to what is behind it.
    UpstreamPoolLimit,
    /// What is behind it.
    BackendBound,
    /// Virtual threads that block the few threads that carry them.
    PinnedCarriers,
    /// A pool of so many threads, or processes.
    PoolLimit,
    /// One thread, which serves all connections.
    BlockedEventLoop,
    /// A section that one thread at a time may be in.
    SerialSection,
    /// So many requests at a time, by something inside the server that is no group of threads or processes.
    LimitInside,
    /// So many requests a second, whatever the users.
    RateLimiter,
    /// TLS handshakes, which take most of the CPU time there is.
    TlsHandshakes,
    /// So many streams of HTTP/2 at a time, which the server allows.
    StreamLimit,
    /// Windows of HTTP/2, within which the server lets bodies be sent.
    FlowControl,
    /// A network link between client and server that carries no more.
    NetworkLink,
    /// Connections that could not wait to be accepted.
    AcceptQueueOverflow,
    /// A new connection for each request.
    NoKeepAlive,
    /// A new connection for each k-th request.
    KeepAliveCap,
    /// The server's CPU time.
    CpuBound,
    /// The CPU time of client and server together.
    BoxBound,
    /// Threads in each other's way.
    Contention,
    /// The evidence does not decide.
    Unexplained,
}

impl VerdictKind {
    /// Whether it fails requests, which is told however fast the others are.
    pub const fn fails_requests(self) -> bool {
        matches!(self, Self::PortExhaustion | Self::IncorrectService)
    }

    /// Whether it is told only where nothing else is found.
    pub(crate) const fn is_last_resort(self) -> bool {
        matches!(self, Self::LimitInside | Self::RateLimiter)
    }

    /// Whether it is a limit of the server's, and nothing that decides before the server does.
    pub(crate) const fn is_limit_of_server(self) -> bool {
        !self.is_no_limit()
            && !matches!(
                self,
                Self::PortExhaustion
                    | Self::DescriptorLimit
                    | Self::RateLimiter
                    | Self::IncorrectService
                    | Self::QuotaBound
                    | Self::ClientBound
                    | Self::NoisyHost
                    | Self::MemoryGrowth
                    | Self::NotSteady
                    | Self::NetworkLink
            )
    }

    /// Whether it says that the server had no limit at this load.
    pub const fn is_no_limit(self) -> bool {
        matches!(self, Self::KeepsRate | Self::IdlePace)
    }
}

/// How sure a verdict is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// A counter of exactly this says so.
    Sure,
    /// Several figures fit, and nothing else does.
    Likely,
    /// It fits, and so might something else.
    Possible,
}

impl Confidence {
    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sure => "sure",
            Self::Likely => "likely",
            Self::Possible => "possible",
        }
    }
}

/// A setting that an intervention changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// Threads, or processes, that serve.
    Pool,
    /// Connections to what is behind.
    UpstreamPool,
    /// Connections that may wait to be accepted.
    AcceptQueue,
    /// The most memory of a JVM.
    Heap,
    /// Requests a connection may carry.
    KeepAlive,
    /// The garbage collector.
    Collector,
    /// Cores.
    Cores,
}

/// One change that would confirm a verdict, and what would come of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Intervention {
    /// In a sentence.
    pub text: String,
    /// What is changed, where a stack's manifest could have a variant for it.
    pub setting: Option<Setting>,
    /// What the setting is now, where that is a number: threads, connections, bytes of heap.
    pub now: Option<f64>,
    /// Of a pool, the names of its threads.
    pub threads: Vec<String>,
    /// The rate, requests a second.
    pub rate_per_s: f64,
    /// The next limit: what the load itself and the CPU would allow, requests a second.
    pub rate_max_per_s: Option<f64>,
}

impl Intervention {
    /// The rate that is to be expected when the setting is `factor` times what it is: the limit grows with it, until the
    /// next one is met.
    pub fn predict(&self, factor: f64) -> f64 {
        let grown = self.rate_per_s * factor;
        self.rate_max_per_s.map_or(grown, |most| grown.min(most))
    }
}

/// A limit with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Verdict {
    /// Which limit it is.
    pub kind: VerdictKind,
    /// In a phrase, for a table.
    pub phrase: String,
    /// How sure.
    pub confidence: Confidence,
    /// How much of the rate this can account for at most, from 0 to 1, as far as the figures tell: of what is used up, the
    /// part that is used; of what takes time, its part of the time; of what fails requests, its part of the requests. Absent
    /// where no figure tells, and of what is no matter of the rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accounts_for: Option<f64>,
    /// The figures it rests on.
    pub evidence: Vec<String>,
    /// What it was not, and by which figure.
    pub excluded: Vec<String>,
    /// One change that would confirm it.
    pub confirm: Option<Intervention>,
}

impl Verdict {
    /// One that rests on `evidence`.
    pub(crate) fn new(
        kind: VerdictKind,
        confidence: Confidence,
        phrase: impl Into<String>,
        evidence: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            phrase: phrase.into(),
            confidence,
            accounts_for: None,
            evidence: vec![evidence.into()],
            excluded: Vec::new(),
            confirm: None,
        }
    }

    /// With what it can account for; what is no share stays unknown.
    pub(crate) fn accounting_for(mut self, share: f64) -> Self {
        self.accounts_for = share.is_finite().then(|| share.clamp(0.0, 1.0));
        self
    }

    /// With what it can account for, where that is known.
    pub(crate) fn accounting_for_maybe(self, share: Option<f64>) -> Self {
        match share {
            Some(share) => self.accounting_for(share),
            None => self,
        }
    }

    /// With one more figure.
    pub(crate) fn and(mut self, evidence: impl Into<String>) -> Self {
        self.evidence.push(evidence.into());
        self
    }

    /// With one more figure, where there is one.
    pub(crate) fn and_maybe(mut self, evidence: Option<String>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    /// With a change that would confirm it, and that no variant carries out.
    pub(crate) fn confirmed_by(mut self, text: impl Into<String>, rate_per_s: f64) -> Self {
        self.confirm = Some(Intervention {
            text: text.into(),
            setting: None,
            now: None,
            threads: Vec::new(),
            rate_per_s,
            rate_max_per_s: None,
        });
        self
    }

    /// With a change of a setting.
    pub(crate) fn confirmed_with(mut self, confirm: Intervention) -> Self {
        self.confirm = Some(confirm);
        self
    }
}
