//! Values of stretches of time, one after another, and how much their sum would differ from load to load.

/// Neighbours that are more alike are one long wave, of which no load of this length knows the mean.
const CORRELATION_MAX: f64 = 0.9;
/// Degrees of freedom that are left at least.
const FREEDOM_MIN: f64 = 2.0;

/// Deviations from a mean, in the order of time.
pub(super) struct Series {
    squares: f64,
    count: f64,
    /// How much neighbours that are alike make sums of them more uneven.
    inflation: f64,
}

impl Series {
    /// Of two or more deviations whose sum is 0.
    pub(super) fn of(deviations: &[f64]) -> Self {
        let count = deviations.len() as f64;
        let squares: f64 = deviations.iter().map(|it| it * it).sum();
        let neighbours: f64 = deviations.windows(2).map(|pair| pair[0] * pair[1]).sum();
        // A correlation of few values reads too low by about so much (Marriott and Pope, 1954).
        let seen = if squares > 0.0 { neighbours / squares } else { 0.0 };
        let correlation = (seen + (1.0 + 3.0 * seen) / count).clamp(0.0, CORRELATION_MAX);
        Self { squares, count, inflation: (1.0 + correlation) / (1.0 - correlation) }
    }

    /// The variance of the sum of as many values, of which neighbours are as alike as these.
    pub(super) fn variance_of_sum(&self) -> f64 {
        self.squares * self.count / (self.count - 1.0) * self.inflation
    }

    /// Degrees of freedom with which it is known.
    pub(super) fn freedom(&self) -> f64 {
        (self.count / self.inflation - 1.0).max(FREEDOM_MIN)
    }
}
