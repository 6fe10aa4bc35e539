//! Whole numbers by Poisson's distribution.

use rand_xoshiro::Xoshiro256PlusPlus;

use super::user::random_unit;

/// Up to this mean they are counted one by one.
const COUNTED_MAX: f64 = 30.0;

/// A number with this mean, which is no less than 0.
pub(super) fn poisson(random: &mut Xoshiro256PlusPlus, mean: f64) -> f64 {
    if mean <= COUNTED_MAX { counted(random, mean) } else { rejected(random, mean) }
}

/// How many arrivals there are in a time in which `mean` are expected (Knuth).
fn counted(random: &mut Xoshiro256PlusPlus, mean: f64) -> f64 {
    let least = libm::exp(-mean);
    let mut left = random_unit(random);
    let mut count = 0.0;
    while left > least {
        count += 1.0;
        left *= random_unit(random);
    }
    count
}

/// By transformed rejection (PTRS: Hörmann 1993, "The transformed rejection method for generating Poisson random variables").
fn rejected(random: &mut Xoshiro256PlusPlus, mean: f64) -> f64 {
    let scale = 0.931 + 2.53 * libm::sqrt(mean);
    let slope = 0.024_83 * scale - 0.059;
    let inverse_alpha = 1.1239 + 1.1328 / (scale - 3.4);
    let accepted_at_once = 0.9277 - 3.6224 / (scale - 2.0);
    loop {
        let at = random_unit(random) - 0.5;
        let height = random_unit(random);
        let edge = 0.5 - at.abs();
        let number = ((2.0 * slope / edge + scale) * at + mean + 0.43).floor();
        if edge >= 0.07 && height <= accepted_at_once {
            return number;
        }
        if number < 0.0 || (edge < 0.013 && height > edge) {
            continue;
        }
        let hat = libm::log(height * inverse_alpha / (slope / (edge * edge) + scale));
        if hat <= number * libm::log(mean) - mean - libm::lgamma(number + 1.0) {
            return number;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;

    use super::*;

    #[test]
    fn numbers_have_the_mean_and_the_variance_of_poissons_distribution() {
        const DRAWN: u32 = 20_000;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
        for mean in [0.4, 5.0, 30.0, 31.0, 300.0, 50_000.0] {
            let numbers: Vec<f64> = (0..DRAWN).map(|_| poisson(&mut random, mean)).collect();
            assert!(numbers.iter().all(|it| *it >= 0.0 && it.fract() == 0.0), "{mean}");
            let found = numbers.iter().sum::<f64>() / f64::from(DRAWN);
            let variance = numbers.iter().map(|it| (it - found).powi(2)).sum::<f64>() / f64::from(DRAWN);
            // Five standard errors, of the mean and of the variance.
            let error = (mean / f64::from(DRAWN)).sqrt();
            assert!((found - mean).abs() < 5.0 * error, "{found} for {mean}");
            let error = ((2.0 * mean * mean + mean) / f64::from(DRAWN)).sqrt();
            assert!((variance - mean).abs() < 5.0 * error, "{variance} for {mean}");
        }
        assert!((0..100).all(|_| poisson(&mut random, 0.0) < 1.0));
    }
}
