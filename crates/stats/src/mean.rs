//! The mean of a few values with an interval, where they may be skewed: times of answers have a long tail on one side.
//!
//! Hall (1992, "On the Removal of Skewness by Transformation"): Student's t of a skewed sample is skewed itself, and a
//! cubic of it, which can be inverted, is not. Without skewness this is Student's interval.

use crate::probability::student_975;

/// Values from which a mean has an interval: of two, the skewness is always 0.
pub const MEAN_VALUES_MIN: usize = 3;
/// Skewness below which the cubic is a straight line.
const SKEWNESS_MIN: f64 = 1e-6;

/// A mean, and where the true one is with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanInterval {
    /// In the unit of the values, as both bounds.
    pub mean: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

impl MeanInterval {
    /// Of independent values. `None` of fewer than [`MEAN_VALUES_MIN`], and of what is no number.
    pub fn of(values: &[f64]) -> Option<Self> {
        let count = values.len() as f64;
        if values.len() < MEAN_VALUES_MIN || !values.iter().all(|it| it.is_finite()) {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count;
        let moment = |order: i32| values.iter().map(|it| (it - mean).powi(order)).sum::<f64>();
        let deviation = libm::sqrt(moment(2) / (count - 1.0));
        // What is equal but for rounding is equal.
        if deviation <= libm::fabs(mean) * 1e-12 {
            return Some(Self { mean, low: mean, high: mean });
        }
        let skewness = moment(3) / count / (deviation * deviation * deviation);
        let error = deviation / libm::sqrt(count);
        let t = student_975(values.len() - 1);
        let bound = |t: f64| mean - error * without_skewness(t, skewness, count);
        Some(Self { mean, low: bound(t), high: bound(-t) })
    }
}

/// The value whose cubic is `t`: the inverse of Hall's transformation, with the skewness as it was found.
fn without_skewness(t: f64, skewness: f64, count: f64) -> f64 {
    if libm::fabs(skewness) < SKEWNESS_MIN {
        return t;
    }
    let a = skewness / libm::sqrt(count);
    3.0 / a * (libm::cbrt(1.0 + a * (t - a / 6.0)) - 1.0)
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::comparison::simulation::normal;

    #[test]
    fn of_few_of_equal_and_of_even_values() {
        assert_eq!(MeanInterval::of(&[1.0, 2.0]), None);
        assert_eq!(MeanInterval::of(&[1.0, f64::NAN, 2.0]), None);
        let equal = MeanInterval::of(&[0.1; 7]).unwrap();
        assert_eq!((equal.low, equal.high), (equal.mean, equal.mean));
        // 1 to 9: mean 5, standard deviation √7.5, and 2.306 for 8 degrees of freedom.
        let even = MeanInterval::of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]).unwrap();
        let half = 2.306 * (7.5_f64 / 9.0).sqrt();
        assert!((even.high - 5.0 - half).abs() < 0.005 && (5.0 - even.low - half).abs() < 0.005, "{even:?}");
    }

    /// In how many of 100 samples the true mean is within the interval, for what servers are like: constant but for some
    /// noise, exponential, log-normal, and a cache that answers nine in ten.
    #[test]
    fn the_interval_holds_the_true_mean_as_often_as_it_says() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
        let uniform =
            |random: &mut Xoshiro256PlusPlus| (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let mut draw = |world: usize| match world {
            0 => 10.0 + normal(&mut random),
            1 => -libm::log(1.0 - uniform(&mut random)),
            2 => libm::exp(0.5 * normal(&mut random)),
            _ => {
                if uniform(&mut random) < 0.1 {
                    20.0
                } else {
                    1.0
                }
            }
        };
        let truth = [10.0, 1.0, libm::exp(0.125), 2.9];
        for (world, count, least) in [
            (0, 5, 0.93),
            (0, 100, 0.93),
            (1, 5, 0.89),
            (1, 30, 0.92),
            (1, 100, 0.93),
            (2, 30, 0.92),
            (2, 100, 0.93),
            (3, 30, 0.92),
            (3, 100, 0.93),
        ] {
            let tries = 2_000;
            let held = (0..tries).filter(|_| {
                let values: Vec<f64> = (0..count).map(|_| draw(world)).collect();
                MeanInterval::of(&values).is_some_and(|it| it.low <= truth[world] && truth[world] <= it.high)
            });
            let share = held.count() as f64 / f64::from(tries);
            assert!(share >= least, "{share} of samples of {count} of world {world}");
        }
    }
}
