//! A gate: what a service must keep to, as conditions on which it fails.

mod condition;
mod file;

use std::path::Path;

use units::Share;

pub use self::condition::{Condition, Limit, Metric};
pub(crate) use self::file::GateTable;
use crate::error::PlanError;

/// The loss that is allowed to whoever names a baseline and no loss.
const MAX_LOSS_DEFAULT_PERCENT: f64 = 10.0;
/// How many earlier runs a run may be held against: what lies between two runs is not known of fewer, and more are of a service
/// of long ago.
const LAST_RUNS: std::ops::RangeInclusive<u32> = 6..=1000;

/// What is asked of a load or a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gate {
    /// It fails when one of them holds.
    pub fail_if: Vec<Condition>,
    /// Whom others are held against.
    pub baseline: Option<Baseline>,
    /// The runs before it that a run is held against.
    pub last_runs: Option<LastRuns>,
}

/// What is written of whom others are held against.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Against {
    /// The id of another stack of the run.
    pub baseline: Option<String>,
    /// So many runs before it.
    pub last_runs: Option<u32>,
    /// The loss that is allowed to either.
    pub max_loss: Option<Share>,
}

/// Another stack of the same run, and how far others may be behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// Its id.
    pub stack: String,
    /// So far, in what a table is ranked by.
    pub max_loss: Share,
}

/// The last runs of the same experiment on the same machine, and how far a stack may be behind what it was in them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LastRuns {
    /// How many, at most.
    pub count: u32,
    /// So far, in what a table is ranked by.
    pub max_loss: Share,
}

impl Baseline {
    /// The loss that is allowed to whoever does not say.
    ///
    /// # Panics
    /// Never: it is a share.
    pub fn max_loss_default() -> Share {
        Share::percent(MAX_LOSS_DEFAULT_PERCENT).expect("it is a share")
    }
}

impl Gate {
    /// Of what was written: `None` where nothing is asked.
    pub fn new(fail_if: Vec<Condition>, against: Against) -> Result<Option<Self>, PlanError> {
        let Against { baseline, last_runs, max_loss } = against;
        if max_loss.is_some() && baseline.is_none() && last_runs.is_none() {
            let help = "name a stack of the run (--baseline, or baseline = \"main\"), or the runs before it (--last-runs, or \
                        last_runs = 10)";
            return Err(PlanError::new("a loss is allowed, and there is no baseline", help));
        }
        if let Some(count) = last_runs.filter(|count| !LAST_RUNS.contains(count)) {
            let help = format!("give {} to {}", LAST_RUNS.start(), LAST_RUNS.end());
            return Err(PlanError::new(format!("a run can't be held against the last {count} runs"), help));
        }
        let max_loss = max_loss.unwrap_or_else(Baseline::max_loss_default);
        let gate = Self {
            fail_if,
            baseline: baseline.map(|stack| Baseline { stack, max_loss }),
            last_runs: last_runs.map(|count| LastRuns { count, max_loss }),
        };
        Ok((gate != Self::default()).then_some(gate))
    }

    /// The gate of the experiment in `text`, the content of `path`, where it has one.
    pub fn of_experiment(path: &Path, text: &str) -> Result<Option<Self>, PlanError> {
        file::of_experiment(path, text)
    }

    /// This gate with what another one asks, too; where both have a baseline or last runs, the other one's.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.fail_if.extend(other.fail_if);
        Self {
            baseline: other.baseline.or(self.baseline),
            last_runs: other.last_runs.or(self.last_runs),
            ..self
        }
    }

    /// The first condition on what a load alone can't know.
    pub fn beyond_a_load(&self) -> Option<&Condition> {
        self.fail_if.iter().find(|it| it.metric.is_of_server())
    }
}
