//! What an audit says of a result: that it is what it says, or what speaks against it.

use schemars::JsonSchema;
use serde::Serialize;
use units::Duration;

/// Busiest load thread above which the generator may have been the limit. A thread busier than this queues
/// its own sends: at 80 % busy a random arrival waits four services long on average (M/M/1: ρ / (1 − ρ)).
pub(crate) const BUSY_SHARE_MAX: f64 = 0.8;
/// The generator's own lag, at the 99th percentile, above which it was late. Response time counts from the
/// instant intended, so the lag is in it; a millisecond is what a slice of the scheduler costs now and then,
/// and what a latency of some milliseconds can bear.
pub(crate) const GENERATOR_LAG_P99_MAX: Duration = Duration::from_millis(1);

/// Whether a result is what it says.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Validity {
    /// No reason speaks against it.
    pub valid: bool,
    /// `valid`, or the gravest reason's kind.
    pub verdict: &'static str,
    /// What speaks against it, the gravest first.
    pub reasons: Vec<Reason>,
}

/// One thing that speaks against a result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Reason {
    /// What kind.
    pub kind: ReasonKind,
    /// The figures, and what to do.
    pub text: String,
}

/// Kinds of reasons, the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasonKind {
    /// Nothing was measured.
    Empty,
    /// It was ended before its time.
    Interrupted,
    /// A machine that carried a share of it fell silent.
    LostAgent,
    /// Too many requests failed or were answered wrongly.
    IncorrectService,
    /// Requests were due and never sent.
    Unsent,
    /// Percentiles fall among censored samples.
    Censored,
    /// N ≠ X · R.
    LittlesLaw,
    /// The window is too short for the response time.
    TooShort,
    /// The window ended before all users had started.
    RampNotOver,
    /// The generator had no CPU left, or the rate is near what it can do at all.
    ClientBound,
    /// A CPU quota kept the generator from running.
    Throttled,
    /// The generator sent late.
    LateGenerator,
    /// The generator read late.
    LateReceiver,
    /// Machines that carried it together began apart by more than is known.
    SkewedClocks,
    /// The compilers of a JVM took CPU time that answers had no more of.
    Compiling,
    /// The stack was still getting faster or slower when it was measured.
    NotSteady,
    /// The rate went over from one level to another within the window.
    TwoLevels,
}

impl ReasonKind {
    /// The name in reports: standard terms of the field.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Interrupted => "interrupted",
            Self::LostAgent => "lost agent",
            Self::IncorrectService => "incorrect service",
            Self::Unsent => "unsent requests",
            Self::Censored => "censored",
            Self::LittlesLaw => "Little's law broken",
            Self::TooShort => "too short",
            Self::RampNotOver => "ramp not over",
            Self::ClientBound => "client-bound",
            Self::Throttled => "throttled",
            Self::LateGenerator => "late generator",
            Self::LateReceiver => "late receiver",
            Self::SkewedClocks => "skewed clocks",
            Self::Compiling => "compiling",
            Self::NotSteady => "not steady",
            Self::TwoLevels => "two levels",
        }
    }

    /// The same in a sentence, for somebody who sees the name for the first time.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Empty => "nothing was sent",
            Self::Interrupted => "the load was interrupted",
            Self::LostAgent => "a machine that made a part of the load fell silent",
            Self::IncorrectService => "requests failed, or were answered wrongly",
            Self::Unsent => "requests were due and no connection was free for them",
            Self::Censored => "so many answers did not come that a percentile is only a bound",
            Self::LittlesLaw => "users, rate and response time do not fit together",
            Self::TooShort => {
                "the load was shorter than ten response times, or over before a second request was due"
            }
            Self::RampNotOver => "users were still being added",
            Self::ClientBound => "the client was near its own limit; the rate may be the client's",
            Self::Throttled => "a CPU quota kept the client from running",
            Self::LateGenerator => "the client sent requests later than they were due",
            Self::LateReceiver => "answers waited in the client's socket, so that times read too long",
            Self::SkewedClocks => "the machines that made the load did not begin together for sure",
            Self::Compiling => "the JVM's compilers were still at work, and took CPU time from the answers",
            Self::NotSteady => "the server was still getting faster or slower after its warm-up",
            Self::TwoLevels => {
                "the rate went over to another within the window; its mean is the rate of neither"
            }
        }
    }

    /// Whether the client came no further by itself: the rate that it reached is one that the service carries at least.
    pub const fn limits_the_rate(self) -> bool {
        matches!(self, Self::ClientBound | Self::Throttled)
    }

    /// Whether it is the client's doing: what it adds to times, and what it reached of the rate.
    pub const fn is_clients_doing(self) -> bool {
        self.limits_the_rate() || matches!(self, Self::LateGenerator | Self::LateReceiver)
    }

    /// Whether the server was on its way to another rate: what was measured of it is so, and may not stay so.
    pub const fn is_unsteady(self) -> bool {
        matches!(self, Self::Compiling | Self::NotSteady | Self::TwoLevels)
    }

    /// Whether it is the service that was wrong, and not the measurement.
    pub const fn is_services_fault(self) -> bool {
        matches!(self, Self::IncorrectService | Self::Unsent | Self::Censored)
    }
}
