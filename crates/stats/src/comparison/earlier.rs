//! A new value of a series, such as a run's figure, held against the ones before it.

use super::paired::{INTERVAL_BLOCKS_MIN, Ratio};
use crate::probability::student_above;

/// The new value over what the earlier ones lie around, with the interval that misses the true ratio with probability `tail` on
/// either side. The true one is that of the states in which values are made: each value is off by what one run differs from the
/// next, and that is what the earlier ones say of each other. So it is Student's interval for one further value (Hahn and Meeker
/// 1991, 4.8), of logarithms. `None` where there are fewer than [`INTERVAL_BLOCKS_MIN`] earlier ones, or one is no positive number.
pub fn ratio_to_earlier(earlier: &[f64], new: f64, tail: f64) -> Option<Ratio> {
    let is_positive = |it: &f64| it.is_finite() && *it > 0.0;
    let count = earlier.len();
    if count < INTERVAL_BLOCKS_MIN || !is_positive(&new) || !earlier.iter().all(is_positive) {
        return None;
    }
    let logarithms: Vec<f64> = earlier.iter().map(|it| libm::log(*it)).collect();
    let (count, freedom) = (count as f64, count as f64 - 1.0);
    let mean = logarithms.iter().sum::<f64>() / count;
    let variance = logarithms.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / freedom;
    let above = libm::log(new) - mean;
    let reach = student_above(tail, freedom) * libm::sqrt(variance * (1.0 + 1.0 / count));
    let ratio = |logarithm: f64| libm::exp(logarithm);
    Some(Ratio { value: ratio(above), low: Some(ratio(above - reach)), high: Some(ratio(above + reach)) })
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::probability::normal_above;

    const TAIL: f64 = 0.025;
    const SERIES: usize = 4_000;

    fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
        let uniform = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let tail = uniform.clamp(1e-12, 1.0 - 1e-12);
        if tail < 0.5 { normal_above(tail) } else { -normal_above(1.0 - tail) }
    }

    /// How often the interval misses that nothing changed, of `count` earlier runs whose noise is as `noise` draws it.
    fn missed(count: usize, noise: impl Fn(&mut Xoshiro256PlusPlus) -> f64) -> [f64; 2] {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut missed = [0.0, 0.0];
        for _ in 0..SERIES {
            let mut value = || 1000.0 * libm::exp(0.03 * noise(&mut random));
            let earlier: Vec<f64> = (0..count).map(|_| value()).collect();
            let ratio = ratio_to_earlier(&earlier, value(), TAIL).expect("there are enough");
            missed[0] += f64::from(ratio.low.expect("it has one") > 1.0);
            missed[1] += f64::from(ratio.high.expect("it has one") < 1.0);
        }
        missed.map(|it| it / SERIES as f64)
    }

    #[test]
    #[ignore = "slow: thousands of simulated runs"]
    fn an_interval_misses_as_often_as_it_says() {
        for count in [6, 10, 30] {
            let missed = missed(count, normal);
            assert!(missed.iter().all(|it| (0.015..0.035).contains(it)), "{count}: {missed:?}");
        }
    }

    /// A run in ten that somebody else's job disturbed makes it slower, and never faster.
    #[test]
    fn runs_that_were_disturbed_make_no_more_false_alarms_than_they_are() {
        let disturbed = |random: &mut Xoshiro256PlusPlus| {
            let noise = normal(random);
            if random.next_u64().is_multiple_of(10) { noise - 4.0 } else { noise }
        };
        let [_, slower] = missed(10, disturbed);
        assert!(slower < 0.06, "{slower}");
    }

    #[test]
    fn few_earlier_values_tell_nothing() {
        assert_eq!(ratio_to_earlier(&[1.0; 5], 2.0, TAIL), None);
        assert_eq!(ratio_to_earlier(&[1.0, 1.0, 1.0, 1.0, 1.0, 0.0], 2.0, TAIL), None);
        assert_eq!(ratio_to_earlier(&[1.0; 6], f64::INFINITY, TAIL), None);
        let same = ratio_to_earlier(&[4.0; 6], 2.0, TAIL).expect("there are enough");
        assert!(
            (same.value - 0.5).abs() < 1e-9 && same.high.is_some_and(|it| (it - 0.5).abs() < 1e-9),
            "{same:?}"
        );
    }
}
