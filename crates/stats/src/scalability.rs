//! How throughput grows with concurrency: Gunther's Universal Scalability Law, the model of a pool, and which of the two
//! explains what was measured.
//!
//! A sweep is a number of levels of concurrency, each measured once a block. Errors of a throughput are relative to it,
//! so both models are fitted by relative errors; and what the machine does during a block it does to all its levels, so
//! intervals are made by resampling whole blocks.

pub(crate) mod law;
pub(crate) mod pool;
mod sweep;

use self::pool::{Knee, PoolFit};
use self::sweep::{log_squares, without_block_effects};

/// By so much the corrected Akaike criterion of one model must be below that of the other before it is called the better
/// one: the evidence is then e³ : 1, as 20 to 1 (Burnham and Anderson, 2002, "Model Selection and Multimodel Inference").
const AICC_GAP_MIN: f64 = 6.0;
/// Relative errors, root mean square, below which a fit is exact: what is left is rounding.
const EXACT_WITHIN: f64 = 1e-6;
/// A fit misses the levels if it is off by more than so many standard errors of their means, root mean square over the
/// degrees of freedom. Chance alone does that less than once in twenty times, even with a single degree of freedom.
const MISFIT_ERRORS_MAX: f64 = 2.0;

/// One measurement: what so many users at a time, each with one request under way, got.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadPoint {
    /// Which block it is of: what is measured in one block is side by side.
    pub block: u32,
    /// Users at a time, N.
    pub users: u32,
    /// Answers a second, X.
    pub rate_per_s: f64,
}

/// A figure of a fit, and the interval that holds the true one with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The fit to all blocks, not to a resampled choice of them.
    pub value: f64,
    /// The lower end; `None` of a single block, which has no spread.
    pub low: Option<f64>,
    /// The upper end; infinite where the measurements set none.
    pub high: Option<f64>,
}

impl Estimate {
    fn of(value: f64, interval: Option<(f64, f64)>) -> Self {
        Self { value, low: interval.map(|it| it.0), high: interval.map(|it| it.1) }
    }
}

/// Why there is no fit: a curve goes through so few levels whatever they say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooFewLevels {
    /// Levels of concurrency with a throughput.
    pub levels: usize,
    /// Levels that it takes.
    pub needed: usize,
}

/// What speaks against taking a fit at its word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Doubt {
    /// The levels lie off the curve by more than the noise within a level accounts for: it is another curve.
    WorseThanNoise {
        /// How far the levels' means are off, relative, root mean square.
        misfit: f64,
        /// Standard deviation of one measurement within its level and block, relative.
        noise: f64,
    },
    /// The smallest level already waited: λ is what the curve would do below all that was measured.
    Saturated {
        /// What a user got at the smallest level, as a share of λ.
        share: f64,
    },
    /// The peak lies far beyond the largest level: nobody has seen it.
    Extrapolated,
    /// A single block has no spread: how far any of it is chance can't be told.
    OneBlock,
}

/// Which model explains a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Explained {
    /// The Universal Scalability Law.
    ByLaw,
    /// A pool.
    ByPool,
    /// The sweep does not decide.
    Undecided,
}

/// Which of the two models explains the sweep better, by the corrected Akaike criterion (Hurvich and Tsai, 1989) of the
/// logarithms of throughput without what blocks have in common. A pool is named only where the sweep saw it bend, on
/// both sides, and where it is the closer of the two: having fewer parameters is no evidence by itself.
pub fn explained_by(points: &[LoadPoint], pool: &PoolFit) -> Explained {
    let sweep = without_block_effects(&sweep::usable(points));
    let (Some(law), Some(model)) = (law::fit(&sweep.points), pool::fit(&sweep.points)) else {
        return Explained::Undecided;
    };
    let count = sweep.freedom;
    let exact = EXACT_WITHIN * EXACT_WITHIN * count;
    let of_law = log_squares(&sweep.points, |users| law.rate_per_s(users)).max(exact);
    let of_pool = log_squares(&sweep.points, |users| model.rate_per_s(users)).max(exact);
    let (Some(law), Some(model)) =
        (aicc(of_law, count, law::PARAMETERS), aicc(of_pool, count, pool::PARAMETERS))
    else {
        return Explained::Undecided;
    };
    if law + AICC_GAP_MIN <= model {
        Explained::ByLaw
    } else if model + AICC_GAP_MIN <= law && of_pool < of_law && pool.knee == Knee::Seen {
        Explained::ByPool
    } else {
        Explained::Undecided
    }
}

/// Akaike's criterion, corrected for few measurements; `None` where they are too few for so many parameters. The noise is
/// one parameter more.
fn aicc(squares: f64, count: f64, parameters: usize) -> Option<f64> {
    let k = parameters as f64 + 1.0;
    let spare = count - k - 1.0;
    (spare > 0.0).then(|| count * libm::log(squares / count) + 2.0 * k + 2.0 * k * (k + 1.0) / spare)
}

#[cfg(test)]
mod tests;
