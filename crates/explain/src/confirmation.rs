//! Did a change do what the verdict said it would?

use schemars::JsonSchema;
use serde::Serialize;

use crate::level::Level;

/// How far a rate may lie from the prediction: that of a pool is as exact as Little's law, and a tenth is what two runs on
/// a machine that is not idle may differ by.
pub(crate) const NEAR: f64 = 0.1;
/// A change of the rate that is none.
const NO_CHANGE: f64 = 0.05;

/// What was changed, what was predicted, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Confirmation {
    /// The variant that makes the change; absent where other numbers of users do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The rates at other numbers of users, by those; empty where a variant makes the change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Level>,
    /// The rate without the change, measured beside it, requests a second.
    pub before_per_s: f64,
    /// What the verdict predicts of it, with twice the users where those are changed; absent where it predicts nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted_per_s: Option<f64>,
    /// What it was.
    pub measured_per_s: f64,
    /// What follows.
    pub outcome: Outcome,
    /// Why, in a sentence, where that is more than the rates say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What follows from a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It came true.
    Confirmed,
    /// The rate moved as predicted, and by another amount: there is another limit close by.
    Partly,
    /// The rate did not move as predicted, or the other way.
    Refuted,
    /// The rates differ too much, or fit neither what was predicted nor its opposite.
    CouldNotTell,
}

impl Outcome {
    /// In a word, as on record.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Partly => "partly",
            Self::Refuted => "refuted",
            Self::CouldNotTell => "could_not_tell",
        }
    }

    /// In a word or two.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Partly => "partly: it moved that way, and another limit is near",
            Self::Refuted => "refuted",
            Self::CouldNotTell => "could not tell",
        }
    }
}

impl Confirmation {
    /// Compares the rate of a variant with the prediction.
    pub fn of(variant: &str, before_per_s: f64, predicted_per_s: f64, measured_per_s: f64) -> Self {
        let (wanted, got) = (predicted_per_s / before_per_s - 1.0, measured_per_s / before_per_s - 1.0);
        let is_near = (measured_per_s / predicted_per_s - 1.0).abs() <= NEAR;
        // The next limit leaves no room for it: a rate that stays is what was predicted, and what its opposite would be.
        let shows_nothing = wanted.abs() <= NO_CHANGE && got.abs() <= NO_CHANGE;
        let outcome = if shows_nothing {
            Outcome::CouldNotTell
        } else if is_near && got.abs() > NO_CHANGE {
            Outcome::Confirmed
        } else if got.abs() > NO_CHANGE && got.signum() == wanted.signum() {
            Outcome::Partly
        } else {
            Outcome::Refuted
        };
        Self {
            variant: Some(variant.into()),
            levels: Vec::new(),
            before_per_s,
            predicted_per_s: Some(predicted_per_s),
            measured_per_s,
            outcome,
            why: shows_nothing.then(|| "the next limit is so near that nothing was to be seen".to_owned()),
        }
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
        // A prediction of no change is not confirmed by none, nor refuted: nothing was shown.
        assert_eq!(outcome(200.0, 200.0, 200.0), Outcome::CouldNotTell);
        assert_eq!(outcome(200.0, 207.0, 206.0), Outcome::CouldNotTell);
        assert_eq!(outcome(200.0, 207.0, 150.0), Outcome::Refuted);
    }
}
