//! Binomial, normal and Student's distributions, as far as intervals take them: all but the normal one by the regularized
//! incomplete beta function.

/// Steps of the continued fraction. It converges after about as many as the root of the larger parameter.
const STEPS_MAX: u32 = 20_000;
/// Halvings of a bracket: beyond, doubles have no more digits.
const HALVINGS: u32 = 100;
/// No normal distribution has anything beyond so many standard deviations that a double could tell.
const DEVIATIONS_MAX: f64 = 38.0;
/// The 97.5 % quantile of Student's distribution with 1, 2, … degrees of freedom.
const STUDENT_975: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];
/// The same of the normal distribution.
const NORMAL_975: f64 = 1.959_964;

/// The share of the beta distribution with parameters `a` and `b`, both above 0, that lies below `x`.
pub(crate) fn beta_below(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    // The fraction converges soon only on this side of the mean.
    if x > (a + 1.0) / (a + b + 2.0) { 1.0 - beta_tail(1.0 - x, b, a) } else { beta_tail(x, a, b) }
}

fn beta_tail(x: f64, a: f64, b: f64) -> f64 {
    let ln_front =
        libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log1p(-x);
    (libm::exp(ln_front) / a * fraction(x, a, b)).clamp(0.0, 1.0)
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let not_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut above = 1.0;
    let mut below = 1.0 / not_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut product = below;
    for step in 1..=STEPS_MAX {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            below = 1.0 / not_zero(1.0 + term * below);
            above = not_zero(1.0 + term / above);
            change = above * below;
            product *= change;
        }
        if (change - 1.0).abs() < 1e-14 {
            break;
        }
    }
    product
}

/// How likely at most `most` of `count` are found, each by itself with probability `share`.
pub(crate) fn binomial_at_most(most: u64, count: u64, share: f64) -> f64 {
    if most >= count {
        return 1.0;
    }
    beta_below(1.0 - share, (count - most) as f64, most as f64 + 1.0)
}

/// Where between `low` and `high` a function that rises comes to `level`.
pub(crate) fn where_it_reaches(level: f64, low: f64, high: f64, rising: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if rising(middle) < level {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// What a normal distribution exceeds with probability `tail`, below one half.
pub(crate) fn normal_above(tail: f64) -> f64 {
    let not_above = |z: f64| -0.5 * libm::erfc(z / core::f64::consts::SQRT_2);
    where_it_reaches(-tail, 0.0, DEVIATIONS_MAX, not_above)
}

/// The same of Student's distribution with so many degrees of freedom.
pub(crate) fn student_above(tail: f64, freedom: f64) -> f64 {
    // P(T > t) = I(freedom / (freedom + t²); freedom / 2, 1/2) / 2
    let squeezed = where_it_reaches(2.0 * tail, 0.0, 1.0, |it| beta_below(it, freedom / 2.0, 0.5));
    libm::sqrt(freedom * (1.0 - squeezed) / squeezed.max(f64::MIN_POSITIVE))
}

/// [`student_above`] of a tail of 2.5 %, for whoever asks often: the table, and beyond it the expansion of Cornish and Fisher
/// (Abramowitz and Stegun, 26.7.5), which is off by less than 0.0001 there. Infinite without a degree of freedom.
pub(crate) fn student_975(degrees: usize) -> f64 {
    let Some(index) = degrees.checked_sub(1) else { return f64::INFINITY };
    if let Some(t) = STUDENT_975.get(index) {
        return *t;
    }
    let (z, n) = (NORMAL_975, degrees as f64);
    let (first, second) = (z * (z * z + 1.0) / 4.0, z * (5.0 * z.powi(4) + 16.0 * z * z + 3.0) / 96.0);
    z + first / n + second / (n * n)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (tail, table) in [(0.025, 1.959_964), (0.005, 2.575_829), (0.000_5, 3.290_527)] {
            assert!((normal_above(tail) - table).abs() < 1e-5, "{tail}");
        }
        for (freedom, tail, table) in [
            (1.0, 0.025, 12.706),
            (4.0, 0.025, 2.776),
            (9.0, 0.025, 2.262),
            (9.0, 0.005, 3.250),
            (39.0, 0.025, 2.023),
        ] {
            assert!((student_above(tail, freedom) - table).abs() < 1e-3, "{freedom} {tail}");
        }
    }

    #[test]
    fn the_quantile_that_is_asked_often_is_the_same() {
        for degrees in [1, 2, 5, 17, 30, 31, 40, 60, 1000] {
            let (quick, exact) = (student_975(degrees), student_above(0.025, degrees as f64));
            assert!((quick - exact).abs() < 1e-3, "{degrees}: {quick} for {exact}");
        }
    }

    /// As counted one by one; of more, the first term is too small for a double.
    fn by_terms(most: u64, count: u64, share: f64) -> f64 {
        let mut term = libm::pow(1.0 - share, count as f64);
        let mut sum = term;
        for found in 0..most.min(count) {
            term *= (count - found) as f64 / (found + 1) as f64 * share / (1.0 - share);
            sum += term;
        }
        sum.min(1.0)
    }

    proptest! {
        #[test]
        fn a_binomial_sum_is_that_of_its_terms(count in 1_u64..150, most in 0_u64..150, percent in 1_u32..99) {
            let share = f64::from(percent) / 100.0;
            let (fast, slow) = (binomial_at_most(most, count, share), by_terms(most, count, share));
            prop_assert!((fast - slow).abs() < 1e-9, "{} {}", fast, slow);
        }
    }

    #[test]
    fn of_millions_it_still_ends() {
        let half = binomial_at_most(5_000_000, 10_000_000, 0.5);
        assert!((half - 0.5).abs() < 1e-3, "{half}");
    }
}
