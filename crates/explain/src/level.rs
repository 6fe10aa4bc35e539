//! A number of users, and what its trials came to.

use record::Measured;
use schemars::JsonSchema;
use serde::Serialize;

use crate::facts::{Context, Facts};
use crate::usable::median;

/// How far the trials of one number of users may lie apart, as a share of their mean, for that to be a rate.
const APART_MAX: f64 = 0.15;

/// A load of so many users, as its trials were.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Level {
    /// How many.
    pub users: u32,
    /// Expected answers a second, median of its trials.
    pub goodput_per_s: f64,
    /// The lowest of them.
    pub low_per_s: f64,
    /// The highest.
    pub high_per_s: f64,
    /// X·S₀, requests at a time at an idle server's pace; absent where S₀ says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub under_way: Option<f64>,
    /// Share of the cores that was used: of all, client and servers together, or of the servers' own where these were fuller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_share: Option<f64>,
    /// Whether the cores were used up in each of its trials.
    pub is_short_of_cores: bool,
}

impl Level {
    /// Of its trials, on a machine of `cores` cores. `None` of none, and where none brought a good answer.
    pub fn of(users: u32, trials: &[&Measured], cores: usize) -> Option<Self> {
        let context = Context { cores, ..Context::default() };
        let facts: Vec<Facts<'_>> = trials.iter().map(|trial| Facts::of(trial, &context)).collect();
        let rates: Vec<f64> = trials.iter().map(|trial| trial.load.goodput_per_s).collect();
        let goodput_per_s = median(&rates).filter(|rate| *rate > 0.0 && rate.is_finite())?;
        let median_of = |figure: &dyn Fn(&Facts<'_>) -> Option<f64>| {
            median(&facts.iter().filter_map(figure).collect::<Vec<f64>>())
        };
        Some(Self {
            users,
            goodput_per_s,
            low_per_s: rates.iter().copied().fold(f64::MAX, f64::min),
            high_per_s: rates.iter().copied().fold(0.0, f64::max),
            under_way: median_of(&|it| Some(it.concurrency()?.mid)),
            cpu_share: median_of(&|it| it.saturation()),
            is_short_of_cores: facts.iter().all(Facts::is_short_of_cores),
        })
    }

    /// Whether its trials tell one rate.
    pub(crate) fn is_one_rate(&self) -> bool {
        self.high_per_s - self.low_per_s <= APART_MAX * self.goodput_per_s
    }
}
