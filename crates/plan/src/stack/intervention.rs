//! The one limit that a variant changes, and by how much: what a verdict such as "a pool of 200" can be tried by.

use std::fmt;
use std::num::NonZeroU64;

use serde::Deserialize;
use units::Bytes;

/// A limit of a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InterventionOn {
    /// Threads that work on requests, those of one pool.
    Pool,
    /// Connections to the stack behind it.
    UpstreamPool,
    /// Connections that wait to be accepted.
    AcceptQueue,
    /// Memory for objects.
    Heap,
    /// Requests after which a connection is closed.
    KeepAlive,
    /// Which garbage collector there is.
    Collector,
    /// Processors that it makes use of.
    Cores,
}

impl InterventionOn {
    /// The name in manifests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pool => "pool",
            Self::UpstreamPool => "upstream-pool",
            Self::AcceptQueue => "accept-queue",
            Self::Heap => "heap",
            Self::KeepAlive => "keep-alive",
            Self::Collector => "collector",
            Self::Cores => "cores",
        }
    }

    /// Whether it may be changed without a size: keep-alive is lifted, a collector is another one, and cores are as many
    /// as the machine has.
    pub(super) const fn may_lack_size(self) -> bool {
        matches!(self, Self::KeepAlive | Self::Collector | Self::Cores)
    }
}

impl fmt::Display for InterventionOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A number above 0, other than 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Factor(f64);

/// It is never NaN.
impl Eq for Factor {}

impl Factor {
    /// `None` of what would change nothing or is no number to multiply with.
    pub fn new(factor: f64) -> Option<Self> {
        let changes = factor > 0.0 && factor.is_finite() && (factor - 1.0).abs() > f64::EPSILON;
        changes.then_some(Self(factor))
    }

    /// The number.
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// By how much a limit is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitChange {
    /// So many times what the stack as such has.
    Factor(Factor),
    /// To so many threads, connections, requests or processors.
    To(NonZeroU64),
    /// To so much memory.
    ToBytes(Bytes),
    /// It has no size: lifted, another one, or whatever the machine has.
    Unsized,
}

/// What a variant changes, where that is one limit and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intervention {
    /// The limit.
    pub on: InterventionOn,
    /// By how much.
    pub change: LimitChange,
    /// Of a pool, how the names of its threads begin, where the manifest says: a stack may have several pools.
    pub threads: Option<String>,
}

impl Intervention {
    /// How many times as large the limit becomes, where the stack as such has `size` of it (bytes, of a heap). `None`
    /// where it has no size.
    pub fn factor_over(&self, size: f64) -> Option<f64> {
        match self.change {
            LimitChange::Factor(factor) => Some(factor.get()),
            LimitChange::To(count) => (size > 0.0).then(|| count.get() as f64 / size),
            LimitChange::ToBytes(bytes) => (size > 0.0).then(|| bytes.0 as f64 / size),
            LimitChange::Unsized => None,
        }
    }
}
