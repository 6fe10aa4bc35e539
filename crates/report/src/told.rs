//! Figures as documents tell them: with the ends of their intervals, as bounds where they are no more, and with what speaks
//! against them.

use explain::ReasonKind;
use schemars::JsonSchema;
use serde::Serialize;
use stats::{Ratio, Spread};

/// A value with the ends of its 95 % interval, or of a range where a field says so.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Interval {
    /// The estimate.
    pub value: f64,
    /// The lower end; null where it can't be told.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// A time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct TimeUs {
    /// Microseconds.
    pub us: f64,
    /// Whether it is only a lower bound, because it falls among censored samples.
    pub is_lower_bound: bool,
}

/// What speaks against a row.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Doubt {
    /// What kind.
    pub kind: ReasonKind,
    /// In words.
    pub name: String,
    /// In how many of the measured trials.
    pub trials: usize,
    /// The figures and what to do, of the first of them.
    pub text: String,
}

impl Doubt {
    /// Whether most of a row's measured trials, of which there are so many, share it.
    pub(crate) const fn is_of_most(&self, trials: usize) -> bool {
        2 * self.trials >= trials
    }
}

/// What of a row is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Invalid {
    /// Nothing.
    None,
    /// Its times: the rate stands.
    Times,
    /// All of it: the rate is not the server's, or not of correct service.
    All,
}

/// What does not hold of a cell of which so many trials were measured: a doubt that most of them share.
pub(crate) fn invalid(doubts: &[Doubt], trials: usize) -> Invalid {
    doubts
        .iter()
        .filter(|doubt| doubt.is_of_most(trials))
        .map(|doubt| spoils(doubt.kind))
        .max_by_key(|it| *it as u8)
        .unwrap_or(Invalid::None)
}

/// What of a figure a doubt of this kind takes away.
pub(crate) const fn spoils(kind: ReasonKind) -> Invalid {
    match kind {
        ReasonKind::Empty
        | ReasonKind::Interrupted
        | ReasonKind::LostAgent
        | ReasonKind::IncorrectService
        | ReasonKind::RampNotOver
        | ReasonKind::ClientBound
        | ReasonKind::Throttled => Invalid::All,
        ReasonKind::Unsent
        | ReasonKind::Censored
        | ReasonKind::LittlesLaw
        | ReasonKind::TooShort
        | ReasonKind::LateGenerator
        | ReasonKind::LateReceiver
        | ReasonKind::SkewedClocks => Invalid::Times,
        // It is what it was; whether it stays so is said beside it.
        ReasonKind::Compiling | ReasonKind::NotSteady | ReasonKind::TwoLevels => Invalid::None,
    }
}

fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite())
}

impl From<Ratio> for Interval {
    fn from(ratio: Ratio) -> Self {
        Self { value: ratio.value, low: finite(ratio.low), high: finite(ratio.high) }
    }
}

impl From<Spread> for Interval {
    fn from(spread: Spread) -> Self {
        // One value has no range.
        let end = |value: f64| (spread.trials > 1).then_some(value);
        Self { value: spread.median, low: end(spread.low), high: end(spread.high) }
    }
}
