//! What is tested of the cells that two runs have in common, and how often chance alone would bring as much.

use stats::{Ratio, TwoSamples, fisher_p, holm, rank_sum_p_above};

use super::side::Side;

/// The tests of one cell. A test that could not come out but one way, whatever had been the case, is none: the second and
/// third where nothing failed in either run. To leave those out costs the family no error (Tarone 1990).
pub(super) struct CellTests {
    shown: TwoSamples,
    /// What speaks most against a loss: the least of the first run's figures beside the most of the second's. The same as what is
    /// shown where all are known.
    loss: TwoSamples,
    /// What speaks most against a gain, likewise.
    gain: TwoSamples,
    /// Of figures, in either direction; absent where a run has no trial that counts.
    figure: Option<f64>,
    /// Whether more trials failed.
    failed_trials: Option<f64>,
    /// Whether larger shares of the requests failed.
    failed_share: Option<f64>,
}

/// The p of a cell's tests, adjusted for all tests of all cells.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Adjusted {
    pub(super) figure: Option<f64>,
    pub(super) failed_trials: Option<f64>,
    pub(super) failed_share: Option<f64>,
}

impl CellTests {
    pub(super) fn of(a: &Side<'_>, b: &Side<'_>) -> Self {
        let loss = TwoSamples::of(&a.figures.least, &b.figures.most);
        let gain = TwoSamples::of(&a.figures.most, &b.figures.least);
        let has_figures = !a.figures.least.is_empty() && !b.figures.least.is_empty();
        let has_both = a.trials() > 0 && b.trials() > 0;
        let failed = a.failed_trials + b.failed_trials > 0;
        let any_failed = a.failed_shares.iter().chain(&b.failed_shares).any(|share| *share > 0.0);
        Self {
            shown: TwoSamples::of(&a.figures.shown, &b.figures.shown),
            figure: has_figures.then(|| (2.0 * loss.tails().0.min(gain.tails().1)).min(1.0)),
            loss,
            gain,
            failed_trials: (has_both && failed)
                .then(|| fisher_p((a.failed_trials, a.trials()), (b.failed_trials, b.trials()))),
            failed_share: (has_both && any_failed)
                .then(|| rank_sum_p_above(&a.failed_shares, &b.failed_shares)),
        }
    }

    /// The second run's figure over the first's, of the trials whose figures are known, larger being better.
    pub(super) fn shown(&self) -> Option<Ratio> {
        self.shown.ratio()
    }

    /// The same as far as it speaks for a loss: the second is surely no further below.
    pub(super) fn of_loss(&self) -> Option<Ratio> {
        self.loss.ratio()
    }

    /// The same as far as it speaks for a gain.
    pub(super) fn of_gain(&self) -> Option<Ratio> {
        self.gain.ratio()
    }

    /// Whether the test of figures is of a loss rather than of a gain.
    pub(super) fn is_of_loss(&self) -> bool {
        self.loss.tails().0 < self.gain.tails().1
    }

    /// Between what the true ratio lies, open ends being without bound; beyond each with a probability of `tail` at most.
    pub(super) fn range(&self, tail: f64) -> (f64, f64) {
        (self.gain.ends(tail).0.unwrap_or(0.0), self.loss.ends(tail).1.unwrap_or(f64::INFINITY))
    }

    /// How many figures there are of either run.
    pub(super) fn counts(&self) -> (usize, usize) {
        self.loss.counts()
    }
}

/// Holm's method over all tests, and how many they are.
pub(super) fn adjusted(cells: &[CellTests]) -> (Vec<Adjusted>, usize) {
    let all: Vec<f64> =
        cells.iter().flat_map(|it| [it.figure, it.failed_trials, it.failed_share]).flatten().collect();
    let mut adjusted = holm(&all).into_iter();
    let mut next = |test: Option<f64>| test.and_then(|_| adjusted.next());
    let each = cells.iter().map(|it| Adjusted {
        figure: next(it.figure),
        failed_trials: next(it.failed_trials),
        failed_share: next(it.failed_share),
    });
    (each.collect(), all.len())
}

/// How many of them are of figures.
pub(super) fn of_figures(cells: &[CellTests]) -> usize {
    cells.iter().filter(|it| it.figure.is_some()).count()
}
