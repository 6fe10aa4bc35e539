//! Did the change do what the verdict said it would?

use schemars::JsonSchema;
use serde::Serialize;

/// How far a rate may lie from the prediction: that of a pool is as exact as Little's law, and a tenth is what two runs on
/// a machine that is not idle may differ by.
const NEAR: f64 = 0.1;
/// A change of the rate that is none.
const NO_CHANGE: f64 = 0.05;

/// A prediction and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Confirmation {
    /// The variant that makes the change.
    pub variant: String,
    /// The rate without it, measured beside it, requests a second.
    pub before_per_s: f64,
    /// What the verdict predicts.
    pub predicted_per_s: f64,
    /// What it was.
    pub measured_per_s: f64,
    /// What follows.
    pub outcome: Outcome,
}

/// What follows from a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It came true.
    Confirmed,
    /// The rate moved as predicted, and by another amount: there is another limit close by.
    Partly,
    /// The rate did not move, or the other way.
    Refuted,
}

impl Outcome {
    /// In a word, as on record.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Partly => "partly",
            Self::Refuted => "refuted",
        }
    }

    /// In a word or two.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Partly => "partly: it moved that way, and another limit is near",
            Self::Refuted => "refuted",
        }
    }
}

impl Confirmation {
    /// Compares the rates.
    pub fn of(variant: &str, before_per_s: f64, predicted_per_s: f64, measured_per_s: f64) -> Self {
        let (wanted, got) = (predicted_per_s / before_per_s - 1.0, measured_per_s / before_per_s - 1.0);
        let outcome = if (measured_per_s / predicted_per_s - 1.0).abs() <= NEAR && got.abs() > NO_CHANGE {
            Outcome::Confirmed
        } else if got.abs() > NO_CHANGE && got.signum() == wanted.signum() {
            Outcome::Partly
        } else {
            Outcome::Refuted
        };
        Self { variant: variant.into(), before_per_s, predicted_per_s, measured_per_s, outcome }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prediction_comes_true_in_part_or_not() {
        let outcome =
            |before, predicted, measured| Confirmation::of("a@b", before, predicted, measured).outcome;
        assert_eq!(outcome(200.0, 400.0, 398.0), Outcome::Confirmed);
        assert_eq!(outcome(200.0, 400.0, 300.0), Outcome::Partly);
        assert_eq!(outcome(200.0, 400.0, 600.0), Outcome::Partly);
        assert_eq!(outcome(200.0, 400.0, 201.0), Outcome::Refuted);
        assert_eq!(outcome(200.0, 400.0, 150.0), Outcome::Refuted);
        // A prediction of no change is not confirmed by none: nothing was shown.
        assert_eq!(outcome(200.0, 200.0, 200.0), Outcome::Refuted);
    }
}
