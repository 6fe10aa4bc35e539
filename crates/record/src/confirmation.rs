//! Predictions that were put to the test.

use plan::LoadId;
use serde::{Deserialize, Serialize};

/// Version of [`ConfirmationRecord`]: 1 had variants only.
pub const CONFIRMATION_VERSION: u32 = 2;

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
    /// The variant that made the change; absent where other numbers of users did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The rates at other numbers of users, by those; absent where a variant made the change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<LevelRate>,
    /// The rate without it, measured beside it, 1/s.
    pub before_per_s: f64,
    /// What the verdict predicted, with twice the users where those were changed, 1/s; absent where it predicted nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted_per_s: Option<f64>,
    /// What it was, 1/s.
    pub measured_per_s: f64,
    /// `confirmed`, `partly`, `refuted` or `could_not_tell`.
    pub outcome: String,
    /// Why, in a sentence, where that is more than the rates say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The directory of the run that measured it, as the user would name it.
    pub run: String,
}

/// What a number of users was answered.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LevelRate {
    /// How many.
    pub users: u32,
    /// Expected answers, 1/s.
    pub goodput_per_s: f64,
}
