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

/// What is asked of a load or a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gate {
    /// It fails when one of them holds.
    pub fail_if: Vec<Condition>,
    /// Whom others are held against.
    pub baseline: Option<Baseline>,
}

/// Another stack of the same run, and how far others may be behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// Its id.
    pub stack: String,
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
    pub fn new(
        fail_if: Vec<Condition>,
        baseline: Option<String>,
        max_loss: Option<Share>,
    ) -> Result<Option<Self>, PlanError> {
        let baseline = match (baseline, max_loss) {
            (Some(stack), loss) => {
                Some(Baseline { stack, max_loss: loss.unwrap_or_else(Baseline::max_loss_default) })
            }
            (None, None) => None,
            (None, Some(_)) => {
                let help = "name the stack that others are held against, such as baseline = \"main\"";
                return Err(PlanError::new("a loss is allowed, and there is no baseline", help));
            }
        };
        let gate = Self { fail_if, baseline };
        Ok((gate != Self::default()).then_some(gate))
    }

    /// The gate of the experiment in `text`, the content of `path`, where it has one.
    pub fn of_experiment(path: &Path, text: &str) -> Result<Option<Self>, PlanError> {
        file::of_experiment(path, text)
    }

    /// This gate with what another one asks, too; where both have a baseline, the other one's.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.fail_if.extend(other.fail_if);
        Self { baseline: other.baseline.or(self.baseline), ..self }
    }

    /// The first condition on what a load alone can't know.
    pub fn beyond_a_load(&self) -> Option<&Condition> {
        self.fail_if.iter().find(|it| it.metric.is_of_server())
    }
}
