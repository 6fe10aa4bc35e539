//! What a verdict can be, and what is true of a kind whatever its figures.
//!
//! [`VerdictKind::nature`] is the one place that says it, of every kind: where it stands among the others, and what it predicts of
//! other numbers of users. A kind that is new is told there or does not compile; its rule has its place in the order of
//! [`crate::explain`].

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

/// Where a kind stands among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// It fails requests, which is told however fast the others are.
    FailsRequests,
    /// It decides before the server does: the client, the host, what is set from outside, a trend.
    BeforeServer,
    /// It says that the server had no limit at this load.
    NoLimit,
    /// It is a limit of the server's.
    Server,
    /// It is told only where nothing else is found.
    LastResort,
}

/// What a verdict predicts of other numbers of users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Predicts {
    /// The rate stays from some users on, and follows them below; one core may be all that it takes.
    Stays,
    /// The same with CPU left.
    StaysWithCpuLeft,
    /// It stays, and the cores are used up.
    StaysAndIsFull,
    /// It follows the users.
    Follows,
    /// Nothing; what the rates say is told all the same.
    Nothing,
}

/// What is true of a kind whatever its figures.
#[derive(Debug, Clone, Copy)]
struct Nature {
    standing: Standing,
    /// `None` where other numbers of users tell nothing: of what fails requests, of what is no matter of the users, and of what more
    /// of them bring about.
    predicts: Option<Predicts>,
}

impl Nature {
    const fn of(standing: Standing, predicts: Option<Predicts>) -> Self {
        Self { standing, predicts }
    }
}

impl VerdictKind {
    const fn nature(self) -> Nature {
        match self {
            Self::PortExhaustion | Self::IncorrectService => Nature::of(Standing::FailsRequests, None),
            Self::DescriptorLimit
            | Self::ClientBound
            | Self::NoisyHost
            | Self::MemoryGrowth
            | Self::NotSteady
            | Self::NetworkLink => Nature::of(Standing::BeforeServer, None),
            Self::QuotaBound => Nature::of(Standing::BeforeServer, Some(Predicts::Stays)),
            Self::KeepsRate => Nature::of(Standing::NoLimit, None),
            Self::IdlePace => Nature::of(Standing::NoLimit, Some(Predicts::Follows)),
            Self::PoolLimit | Self::UpstreamPoolLimit | Self::PinnedCarriers => {
                Nature::of(Standing::Server, Some(Predicts::StaysWithCpuLeft))
            }
            Self::SerialSection | Self::BlockedEventLoop | Self::BackendBound => {
                Nature::of(Standing::Server, Some(Predicts::Stays))
            }
            Self::CpuBound | Self::BoxBound => Nature::of(Standing::Server, Some(Predicts::StaysAndIsFull)),
            Self::DelayedAck
            | Self::LogBound
            | Self::GarbageCollection
            | Self::TlsHandshakes
            // Twice the connections have twice the streams, and twice the windows.
            | Self::StreamLimit
            | Self::FlowControl
            | Self::AcceptQueueOverflow
            | Self::NoKeepAlive
            | Self::KeepAliveCap => Nature::of(Standing::Server, None),
            Self::LimitInside | Self::RateLimiter => {
                Nature::of(Standing::LastResort, Some(Predicts::StaysWithCpuLeft))
            }
            Self::Unexplained => Nature::of(Standing::LastResort, Some(Predicts::Nothing)),
            Self::Contention => Nature::of(Standing::LastResort, None),
        }
    }

    /// Whether it fails requests, which is told however fast the others are.
    pub const fn fails_requests(self) -> bool {
        matches!(self.nature().standing, Standing::FailsRequests)
    }

    /// Whether it is told only where nothing else is found.
    pub(crate) const fn is_last_resort(self) -> bool {
        matches!(self.nature().standing, Standing::LastResort)
    }

    /// Whether it is a limit of the server's, and nothing that decides before the server does.
    pub(crate) const fn is_limit_of_server(self) -> bool {
        matches!(self.nature().standing, Standing::Server)
    }

    /// Whether it says that the server had no limit at this load.
    pub const fn is_no_limit(self) -> bool {
        matches!(self.nature().standing, Standing::NoLimit)
    }

    /// What it predicts of other numbers of users, where they tell anything of it.
    pub(crate) const fn predicts(self) -> Option<Predicts> {
        self.nature().predicts
    }
}
