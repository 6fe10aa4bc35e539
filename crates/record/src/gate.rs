//! What came of a gate: beside a load's result, and in `gate.json` of a run.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{bounds, files};

/// Version of [`GateResult`].
pub const GATE_VERSION: u32 = 1;

/// Its name in a run's directory.
pub const GATE_FILE: &str = "gate.json";

/// What came of a gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateResult {
    /// [`GATE_VERSION`] of the writer.
    pub version: u32,
    /// The whole gate's: failed if any check did, else not told if any is not, else passed.
    pub answer: GateAnswer,
    /// How likely it is that all intervals hold what they are of: 0.95.
    pub confidence: f64,
    /// Each condition, in a run for each cell.
    pub checks: Vec<GateCheck>,
}

/// The three answers of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateAnswer {
    /// What was measured shows that the service keeps to it.
    Passed,
    /// What was measured is in line with both.
    CouldNotTell,
    /// What was measured shows that it does not.
    Failed,
}

impl GateAnswer {
    /// The words for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::CouldNotTell => "could not tell",
            Self::Failed => "failed",
        }
    }
}

/// One condition, held against what was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GateCheck {
    /// When it fails: `p99 > 50.0ms`.
    pub fails_if: String,
    /// Whether nobody asked for it: a service that fails must not pass because nobody looked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_default: bool,
    /// In a run, what it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<GateCell>,
    /// What came of it.
    pub answer: GateAnswer,
    /// The unit of the figures that follow.
    pub unit: GateUnit,
    /// Where it becomes too much or too little.
    pub limit: f64,
    /// What was measured; absent where nothing was.
    pub value: Option<f64>,
    /// Whether `value` is only a lower bound.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_lower_bound: bool,
    /// The lower end of the interval in which the service's own figure lies; absent where none is known.
    pub low: Option<f64>,
    /// The upper end, likewise.
    pub high: Option<f64>,
    /// Why nothing can be told, or what else is to be known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Where it could not be told: what would decide it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub would_decide: Option<String>,
}

/// A cell of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GateCell {
    /// Its round.
    pub round: String,
    /// Its load, in words.
    pub load: String,
    /// Its stack.
    pub stack: String,
}

/// The unit of a check's figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum GateUnit {
    /// Microseconds.
    #[serde(rename = "us")]
    Micros,
    /// A second.
    #[serde(rename = "1/s")]
    PerSecond,
    /// Part of the requests, 0 to 1.
    #[serde(rename = "share")]
    Share,
    /// Requests.
    #[serde(rename = "requests")]
    Requests,
    /// Bytes.
    #[serde(rename = "bytes")]
    Bytes,
    /// Trials.
    #[serde(rename = "trials")]
    Trials,
    /// What is lost to the baseline, as a part of the baseline's; below 0 where something is gained.
    #[serde(rename = "loss")]
    Loss,
}

impl GateResult {
    /// Of these checks, whose intervals hold together with such a confidence.
    pub fn of(checks: Vec<GateCheck>, confidence: f64) -> Self {
        let answer = checks.iter().map(|it| it.answer).max().unwrap_or(GateAnswer::CouldNotTell);
        Self { version: GATE_VERSION, answer, confidence, checks }
    }

    /// What came of the gate of the run in `dir`; `None` where it had none, or where it can't be read.
    pub fn of_run(dir: &Path) -> Option<Self> {
        let text = files::read_text(&dir.join(GATE_FILE), bounds::MANIFEST_BYTES_MAX).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// How many checks came to an answer.
    pub fn count(&self, answer: GateAnswer) -> usize {
        self.checks.iter().filter(|it| it.answer == answer).count()
    }

    /// As indented JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("it is plain data")
    }
}
