//! The Universal Scalability Law (Gunther, 2007, "Guerrilla Capacity Planning"; 2008, arXiv:0808.1431), fitted.
//!
//! N / X = 1/λ + σ/λ · (N − 1) + κ/λ · N(N − 1) is linear in its three coefficients, so least squares has one answer and
//! needs no start. An error of X is an error of N / X, times N / X² ; weighted with X / N it is a relative one of X. σ and
//! κ are shares of time and not negative, and σ is not above 1. Where the best coefficients are outside of that, the best
//! within it are on one of its edges, and all of those are tried.

use units::Seed;

use super::sweep::{block_count, doubts_of_any, intervals, levels, residual, usable, without_block_effects};
use super::{Doubt, Estimate, LoadPoint, TooFewLevels};

/// Levels of concurrency that a fit takes: one more than there are coefficients.
pub const LAW_LEVELS_MIN: usize = 4;
/// λ, σ and κ.
pub(super) const PARAMETERS: usize = 3;
/// So much of λ a user must get at the smallest level for λ to be seen rather than guessed.
const FIRST_LEVEL_SHARE_MIN: f64 = 0.5;
/// How far beyond what was measured a peak may be taken for one, as a factor.
const BEYOND_MAX: f64 = 2.0;
/// Squares of relative errors, a point, by which a fit with more coefficients must be better: less is rounding.
const SQUARES_SAME: f64 = 1e-12;
/// How much of a column, squared and as a share, the others must leave for it to have a coefficient of its own.
const PIVOT_MIN: f64 = 1e-12;
/// The inside of what (1/λ, σ/λ, κ/λ) may be and its edges, each by the directions that are free in it; those with fewer
/// come first, and stay where more explain no more.
const FACES: [&[[f64; 3]]; 6] = [
    &[[1.0, 0.0, 0.0]],
    &[[1.0, 1.0, 0.0]],
    &[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
    &[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
    &[[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    &[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
];

/// X(N) = λN / (1 + σ(N − 1) + κN(N − 1)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Law {
    /// λ: answers a second that a single user gets.
    pub lambda_per_s: f64,
    /// σ, contention: the share of the work that users must do one after another. 0 to 1.
    pub sigma: f64,
    /// κ, coherency: what each pair of users costs each other, as a share of a user's time.
    pub kappa: f64,
}

impl Law {
    /// X(N).
    pub fn rate_per_s(&self, users: f64) -> f64 {
        self.lambda_per_s * users / (1.0 + (self.sigma + self.kappa * users) * (users - 1.0))
    }

    /// N*: how many users get the most; with more, throughput falls. At least 1. `None` where κ is 0: then it never falls.
    pub fn bends_at_users(&self) -> Option<f64> {
        (self.kappa > 0.0).then(|| libm::sqrt((1.0 - self.sigma) / self.kappa).max(1.0))
    }

    /// The most answers a second: X(N*), or what X comes near to where it never falls. Infinite where it grows for ever.
    pub fn peak_per_s(&self) -> f64 {
        match self.bends_at_users() {
            Some(users) => self.rate_per_s(users),
            None if self.sigma > 0.0 => self.lambda_per_s / self.sigma,
            None => f64::INFINITY,
        }
    }

    /// From the coefficients of N / X; `None` where they are of no law.
    fn of([whole, contention, coherency]: [f64; 3]) -> Option<Self> {
        let is_law = whole > 0.0 && (0.0..=whole).contains(&contention) && coherency >= 0.0;
        let law = Self { lambda_per_s: 1.0 / whole, sigma: contention / whole, kappa: coherency / whole };
        (is_law && law.lambda_per_s.is_finite() && law.kappa.is_finite()).then_some(law)
    }
}

/// The law that fits a sweep, and how far it is to be trusted.
#[derive(Debug, Clone, PartialEq)]
pub struct LawFit {
    /// λ: answers a second that a single user gets.
    pub lambda_per_s: Estimate,
    /// σ, contention.
    pub sigma: Estimate,
    /// κ, coherency.
    pub kappa: Estimate,
    /// N*, the number of users beyond which throughput falls; `None` where κ is 0 and it never does. The upper end is
    /// infinite where resamples have none.
    pub bends_at_users: Option<Estimate>,
    /// The most answers a second, at N* or for any number of users; infinite where nothing in the sweep slows down.
    pub peak_per_s: Estimate,
    /// Relative error of the fit, root mean square over all measurements.
    pub residual: f64,
    /// Standard deviation of one measurement within its level and block, relative; `None` where that can't be told.
    pub noise: Option<f64>,
    /// What speaks against it; empty where nothing does.
    pub doubts: Vec<Doubt>,
}

impl LawFit {
    /// The law without its intervals.
    pub const fn law(&self) -> Law {
        Law { lambda_per_s: self.lambda_per_s.value, sigma: self.sigma.value, kappa: self.kappa.value }
    }
}

/// Fits the law to a sweep. What has no logarithm is as good as not measured; the order of `points` does not matter.
pub fn scalability(points: &[LoadPoint], seed: Seed) -> Result<LawFit, TooFewLevels> {
    let points = usable(points);
    let found = levels(&points);
    let too_few = TooFewLevels { levels: found.len(), needed: LAW_LEVELS_MIN };
    // A mean of uneven machines would be too high by the square of their spread; by logarithms it is not.
    let centred = without_block_effects(&points);
    let law = fit(&centred.points).ok_or(too_few)?;
    let bend = |law: &Law| law.bends_at_users().unwrap_or(f64::INFINITY);
    let figures = |law: Law| [law.lambda_per_s, law.sigma, law.kappa, bend(&law), law.peak_per_s()];
    let [lambda, sigma, kappa, bends_at, peak] =
        intervals(&centred, seed, |resample| fit(resample).map(figures));
    let mut doubts = doubts_of_any(&centred, block_count(&points), PARAMETERS, |users| law.rate_per_s(users));
    doubts.extend(saturated(law, &found));
    doubts.extend(extrapolated(law, &found));
    Ok(LawFit {
        lambda_per_s: Estimate::of(law.lambda_per_s, lambda),
        sigma: Estimate::of(law.sigma, sigma),
        kappa: Estimate::of(law.kappa, kappa),
        bends_at_users: law.bends_at_users().map(|it| Estimate::of(it, bends_at)),
        peak_per_s: Estimate::of(law.peak_per_s(), peak),
        residual: residual(&points, |users| law.rate_per_s(users)),
        noise: centred.noise,
        doubts,
    })
}

fn saturated(law: Law, levels: &[u32]) -> Option<Doubt> {
    let users = f64::from(*levels.first()?);
    let share = law.rate_per_s(users) / (law.lambda_per_s * users);
    (share < FIRST_LEVEL_SHARE_MIN).then_some(Doubt::Saturated { share })
}

/// The peak is beyond the largest level, or, where throughput never falls, far above what it came to there.
fn extrapolated(law: Law, levels: &[u32]) -> Option<Doubt> {
    let users = f64::from(*levels.last()?);
    let beyond = match law.bends_at_users() {
        Some(bend) => bend / users,
        None => law.peak_per_s() / law.rate_per_s(users),
    };
    (beyond > BEYOND_MAX).then_some(Doubt::Extrapolated)
}

/// The law that is off least, by relative errors. `None` of too few levels.
pub(super) fn fit(points: &[LoadPoint]) -> Option<Law> {
    fit_weighted(points, |_| 1.0)
}

/// As [`fit`], with errors that count `weight` times as much.
pub(super) fn fit_weighted(points: &[LoadPoint], weight: impl Fn(&LoadPoint) -> f64) -> Option<Law> {
    if levels(points).len() < LAW_LEVELS_MIN {
        return None;
    }
    let mut products = [[0.0; 4]; 3];
    for point in points {
        let row = weighted_row(point, weight(point));
        for (sums, left) in products.iter_mut().zip(row) {
            sums.iter_mut().zip(row).for_each(|(sum, right)| *sum += left * right);
        }
    }
    let squares = |law: Law| -> f64 {
        let error = |it: &LoadPoint| weight(it) * (1.0 - it.rate_per_s / law.rate_per_s(f64::from(it.users)));
        points.iter().map(|it| error(it) * error(it)).sum()
    };
    let rounding = SQUARES_SAME * points.iter().map(|it| weight(it) * weight(it)).sum::<f64>();
    let mut best: Option<(f64, Law)> = None;
    for law in FACES.iter().filter_map(|face| on_face(&products, face).and_then(Law::of)) {
        let squares = squares(law);
        if best.is_none_or(|(least, _)| squares < least - rounding) {
            best = Some((squares, law));
        }
    }
    best.map(|it| it.1)
}

/// What the three coefficients and N / X itself are multiplied with in the equation of a point.
fn weighted_row(point: &LoadPoint, weight: f64) -> [f64; 4] {
    let users = f64::from(point.users);
    let relative = weight * point.rate_per_s / users;
    [relative, relative * (users - 1.0), relative * users * (users - 1.0), weight]
}

/// The coefficients with the least squares among those that `directions` reach. `products` are the sums of products of
/// the columns with each other, and with what they are to add up to.
fn on_face(products: &[[f64; 4]; 3], directions: &[[f64; 3]]) -> Option<[f64; 3]> {
    let sum = |row: &[f64; 4], along: &[f64; 3]| -> f64 { row.iter().zip(along).map(|(a, b)| a * b).sum() };
    let mut equations: Vec<Vec<f64>> = Vec::with_capacity(directions.len());
    for left in directions {
        let row = |right: &[f64; 3]| products.iter().zip(left).map(|(row, by)| by * sum(row, right)).sum();
        let target: f64 = products.iter().zip(left).map(|(row, by)| by * row[3]).sum();
        equations.push(directions.iter().map(row).chain([target]).collect());
    }
    let free = solve(equations)?;
    let mut coefficients = [0.0; 3];
    for (direction, by) in directions.iter().zip(free) {
        coefficients.iter_mut().zip(direction).for_each(|(it, along)| *it += by * along);
    }
    Some(coefficients)
}

/// Solves normal equations, each with its right side behind it, by elimination. They are scaled first, so that a pivot is
/// what the other columns leave of one; `None` where they leave nothing.
fn solve(mut equations: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let scales: Vec<f64> = equations.iter().enumerate().map(|(index, row)| libm::sqrt(row[index])).collect();
    for (row, own) in equations.iter_mut().zip(&scales) {
        let others = scales.iter().chain([&1.0]);
        row.iter_mut().zip(others).for_each(|(it, other)| *it /= own * other);
    }
    let count = equations.len();
    for pivot in 0..count {
        let (done, below) = equations.split_at_mut(pivot + 1);
        let row = &done[pivot];
        if row[pivot].is_nan() || row[pivot] < PIVOT_MIN {
            return None;
        }
        for other in below {
            let factor = other[pivot] / row[pivot];
            other.iter_mut().zip(row).for_each(|(it, by)| *it -= factor * by);
        }
    }
    let mut solved = vec![0.0; count];
    for index in (0..count).rev() {
        let row = &equations[index];
        let known: f64 = (index + 1..count).map(|it| row[it] * solved[it]).sum();
        solved[index] = (row[count] - known) / row[index];
    }
    Some(solved.iter().zip(&scales).map(|(it, scale)| it / scale).collect())
}
