//! What is tested of the cells that two runs have in common, and how often chance alone would bring as much.

use stats::{Ratio, TwoSamples, fisher_p, holm, rank_sum_p_above};

use super::side::Side;

/// The tests of one cell. A test that could not come out but one way, whatever had been the case, is none: the second and
/// third where nothing failed in either run. To leave those out costs the family no error (Tarone 1990).
pub(super) struct CellTests {
    goodputs: TwoSamples,
    /// The two-sided one of goodputs; absent where a run has no trial that counts.
    goodput: Option<f64>,
    /// Whether more trials failed.
    failed_trials: Option<f64>,
    /// Whether larger shares of the requests failed.
    failed_share: Option<f64>,
}

/// The p of a cell's tests, adjusted for all tests of all cells.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Adjusted {
    pub(super) goodput: Option<f64>,
    pub(super) failed_trials: Option<f64>,
    pub(super) failed_share: Option<f64>,
}

impl CellTests {
    pub(super) fn of(a: &Side<'_>, b: &Side<'_>) -> Self {
        let goodputs = TwoSamples::of(&a.goodputs, &b.goodputs);
        let has_both = a.trials() > 0 && b.trials() > 0;
        let failed = a.failed_trials + b.failed_trials > 0;
        let any_failed = a.failed_shares.iter().chain(&b.failed_shares).any(|share| *share > 0.0);
        Self {
            goodput: has_both.then(|| goodputs.p_value()),
            goodputs,
            failed_trials: (has_both && failed)
                .then(|| fisher_p((a.failed_trials, a.trials()), (b.failed_trials, b.trials()))),
            failed_share: (has_both && any_failed)
                .then(|| rank_sum_p_above(&a.failed_shares, &b.failed_shares)),
        }
    }

    /// The second run's goodput over the first's.
    pub(super) fn ratio(&self) -> Option<Ratio> {
        self.goodputs.ratio()
    }
}

/// Holm's method over all tests, and how many they are.
pub(super) fn adjusted(cells: &[CellTests]) -> (Vec<Adjusted>, usize) {
    let all: Vec<f64> =
        cells.iter().flat_map(|it| [it.goodput, it.failed_trials, it.failed_share]).flatten().collect();
    let mut adjusted = holm(&all).into_iter();
    let mut next = |test: Option<f64>| test.and_then(|_| adjusted.next());
    let each = cells.iter().map(|it| Adjusted {
        goodput: next(it.goodput),
        failed_trials: next(it.failed_trials),
        failed_share: next(it.failed_share),
    });
    (each.collect(), all.len())
}
