//! Predictions that were put to the test.

use plan::LoadId;
use serde::{Deserialize, Serialize};

/// Version of [`ConfirmationRecord`].
pub const CONFIRMATION_VERSION: u32 = 1;

/// One line of `confirmations.jsonl`: what a verdict predicted of one change, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfirmationRecord {
    /// [`CONFIRMATION_VERSION`] of the writer.
    pub version: u32,
    /// The round.
    pub round: String,
    /// The load.
    #[serde(flatten, with = "crate::named_load::written_id")]
    pub load: LoadId,
    /// The stack.
    pub stack: String,
    /// The variant that made the change.
    pub variant: String,
    /// The rate without it, measured beside it, 1/s.
    pub before_per_s: f64,
    /// What the verdict predicted, 1/s.
    pub predicted_per_s: f64,
    /// What it was, 1/s.
    pub measured_per_s: f64,
    /// `confirmed`, `partly` or `refuted`.
    pub outcome: String,
    /// The directory of the run that measured it, as the user would name it.
    pub run: String,
}
