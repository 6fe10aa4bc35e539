//! A gate: what a service must keep to, as conditions on which it fails.

mod condition;
mod file;

use std::path::Path;

use units::{ParseError, Share};

pub use self::condition::{Condition, Limit, Metric};
pub(crate) use self::file::GateTable;
use crate::error::PlanError;

/// The loss that is allowed to whoever names a baseline and no loss.
const MAX_LOSS_DEFAULT_PERCENT: f64 = 10.0;
/// How many earlier runs a run may be held against: what lies between two runs is not known of fewer, and more are of a service
/// of long ago.
pub(crate) const LAST_RUNS: std::ops::RangeInclusive<u32> = 6..=1000;

/// What is asked of a load or a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Gate {
    /// It fails when one of them holds.
    pub fail_if: Vec<Condition>,
    /// Whom others are held against.
    pub baseline: Option<Baseline>,
    /// The runs before it that a run is held against.
    pub last_runs: Option<LastRuns>,
    /// The loss that is allowed, where one is written. That of two versions, too, of which one is the other's baseline.
    pub max_loss: Option<Share>,
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

/// A loss that may be allowed, as text.
pub fn max_loss(text: &str) -> Result<Share, PlanError> {
    let share: Share = text
        .parse()
        .map_err(|error: ParseError| PlanError::new(format!("`{text}` is no loss"), error.to_string()))?;
    if share.get() >= 1.0 {
        let what = format!("`{text}` would be kept to by whatever answers: no more can be lost than all");
        let help = "write less: 50% is half of the goodput, or a p99 that is twice as long";
        return Err(PlanError::new(what, help));
    }
    Ok(share)
}

/// An error where one of the conditions can't hold of so many requests; who does not know how many there are finds none.
pub fn can_hold(conditions: &[Condition], requests_max: Option<u64>) -> Result<(), PlanError> {
    requests_max.map_or(Ok(()), |most| conditions.iter().try_for_each(|it| it.can_hold_of(most)))
}

impl Gate {
    /// Of what was written: `None` where nothing is asked. That a loss is allowed asks for nothing yet: what is written elsewhere may
    /// name whom it is to ([`Gate::is_against_some`]).
    pub fn new(fail_if: Vec<Condition>, against: Against) -> Result<Option<Self>, PlanError> {
        let Against { baseline, last_runs, max_loss } = against;
        if let Some(count) = last_runs.filter(|count| !LAST_RUNS.contains(count)) {
            let help = format!("give {} to {}", LAST_RUNS.start(), LAST_RUNS.end());
            return Err(PlanError::new(format!("a run can't be held against the last {count} runs"), help));
        }
        let loss = max_loss.unwrap_or_else(Baseline::max_loss_default);
        let gate = Self {
            fail_if,
            baseline: baseline.map(|stack| Baseline { stack, max_loss: loss }),
            last_runs: last_runs.map(|count| LastRuns { count, max_loss: loss }),
            max_loss,
        };
        Ok((gate != Self::default()).then_some(gate))
    }

    /// An error where a loss is allowed, and a run is held against nobody.
    pub fn is_against_some(&self) -> Result<(), PlanError> {
        if self.max_loss.is_none() || self.baseline.is_some() || self.last_runs.is_some() {
            return Ok(());
        }
        let help = "name a stack of the run (--baseline, or baseline = \"main\"), or the runs before it (--last-runs, or \
                    last_runs = 10)";
        Err(PlanError::new("a loss is allowed, and there is no baseline", help))
    }

    /// Whether it asks anything of a run.
    pub fn asks_something(&self) -> bool {
        !self.fail_if.is_empty() || self.baseline.is_some() || self.last_runs.is_some()
    }

    /// The gate of the experiment in `text`, the content of `path`, where it has one.
    pub fn of_experiment(path: &Path, text: &str) -> Result<Option<Self>, PlanError> {
        file::of_experiment(path, text)
    }

    /// This gate with what another one asks, too; where both have a baseline, last runs or an allowed loss, the other one's. The
    /// loss is allowed to whomever either of them names.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.fail_if.extend(other.fail_if);
        let written = other.max_loss.or(self.max_loss);
        let max_loss = written.unwrap_or_else(Baseline::max_loss_default);
        Self {
            fail_if: self.fail_if,
            baseline: other.baseline.or(self.baseline).map(|it| Baseline { max_loss, ..it }),
            last_runs: other.last_runs.or(self.last_runs).map(|it| LastRuns { max_loss, ..it }),
            max_loss: written,
        }
    }

    /// The first condition on what a load alone can't know.
    pub fn beyond_a_load(&self) -> Option<&Condition> {
        self.fail_if.iter().find(|it| it.metric.is_of_server())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(baseline: Option<&str>, last_runs: Option<u32>, percent: Option<&str>) -> Option<Gate> {
        let max_loss = percent.map(|it| max_loss(it).expect("it is one"));
        let against = Against { baseline: baseline.map(str::to_owned), last_runs, max_loss };
        Gate::new(Vec::new(), against).expect("it is one")
    }

    #[test]
    fn the_loss_that_is_written_is_allowed_to_whomever_is_named() {
        for (file, typed, due) in [
            (gate(Some("main"), None, None), gate(None, None, Some("5%")), "5%"),
            (gate(None, None, Some("5%")), gate(Some("main"), None, None), "5%"),
            (gate(Some("main"), None, Some("5%")), gate(Some("main"), None, None), "5%"),
            (gate(Some("main"), None, Some("5%")), gate(None, None, Some("2%")), "2%"),
            (gate(Some("main"), None, None), gate(Some("main"), None, None), "10%"),
        ] {
            let both = file.unwrap().and(typed.unwrap());
            assert!(both.is_against_some().is_ok() && both.asks_something());
            assert_eq!(both.baseline.unwrap().max_loss.to_string(), due);
        }
        let both = gate(Some("main"), Some(10), None).unwrap().and(gate(None, None, Some("3%")).unwrap());
        let losses = [both.baseline.unwrap().max_loss, both.last_runs.unwrap().max_loss];
        assert_eq!(losses.map(|it| it.to_string()), ["3%", "3%"]);
    }

    #[test]
    fn a_loss_without_anybody_asks_for_nothing_and_says_so() {
        let alone = gate(None, None, Some("5%")).expect("something is written");
        assert!(!alone.asks_something());
        let told = alone.is_against_some().unwrap_err().to_string();
        assert!(told.contains("a loss is allowed, and there is no baseline"), "{told}");
        assert_eq!(gate(None, None, None), None);
    }

    #[test]
    fn a_loss_that_nothing_can_exceed_is_refused() {
        for (text, said) in [
            ("100%", "`100%` would be kept to by whatever answers"),
            ("100.0 %", "would be kept to by whatever answers"),
            ("5", "`5` is no loss; unknown unit"),
            ("0%", "`0%` is no loss"),
        ] {
            let told = max_loss(text).unwrap_err().to_string();
            assert!(told.contains(said), "{text}: {told}");
        }
        assert_eq!(max_loss("99%").map(|it| it.to_string()), Ok("99%".to_owned()));
    }
}
