//! What stopped a server, with evidence.

use schemars::JsonSchema;
use serde::Serialize;

pub use crate::kind::VerdictKind;

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
