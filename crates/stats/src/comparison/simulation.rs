//! How often the comparison errs, found out on made-up blocks of which the truth is known.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use units::Seed;

use super::{ALPHA, Comparison, Twin, Verdict, is_precise};

/// The most that equal treatments may be called different, as a share of experiments.
pub const FALSE_DIFFERENCE_MAX: f64 = ALPHA;
/// The least that a true difference has to be found, likewise.
pub const FOUND_MIN: f64 = 0.95;
/// How uneven the machine of a block is, which all treatments share, over the noise of a trial.
const MACHINE_TO_NOISE: f64 = 10.0;

/// Made-up experiments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// Treatments that are compared; the last has a twin beside it.
    pub treatments: usize,
    /// Blocks of each experiment at any rate.
    pub blocks: usize,
    /// Blocks of each experiment at most: beyond [`Setting::blocks`] it goes on until it is precise.
    pub blocks_max: usize,
    /// Half-width of the intervals, as a share, below which it is precise.
    pub precision: f64,
    /// Standard deviation of a trial's logarithm within its block.
    pub noise: f64,
    /// By what share the first treatment is better than the others, which are equal.
    pub effect: f64,
    /// Experiments.
    pub experiments: u32,
    /// Of the random numbers.
    pub seed: Seed,
}

/// How often the comparison said what.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Share of experiments in which any two equal treatments were called different.
    pub false_difference: f64,
    /// Share of experiments in which the first was found different from the second.
    pub found: f64,
    /// Blocks of an experiment, on average.
    pub blocks: f64,
    /// Share of pairs with the first treatment whose interval held the true ratio.
    pub covered: f64,
}

/// Carries the experiments out; needs two treatments at least.
pub fn error_rates(setting: &Setting) -> Rates {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(setting.seed.0);
    let truth = 1.0 + setting.effect;
    let (mut falsely, mut found, mut covered, mut pairs, mut blocks_made) = (0, 0, 0, 0, 0);
    for experiment in 0..setting.experiments {
        let mut values = blocks(setting, &mut random);
        blocks_made += values[0].len();
        let twin = values.pop().map(|values| Twin { of: setting.treatments - 1, values });
        let told = Comparison::of(&values, twin.as_ref(), Seed(setting.seed.0 ^ u64::from(experiment)));
        let differs = |a: usize| told.pairs.iter().any(|it| it.a >= a && it.verdict == Verdict::Different);
        // With an effect, the first treatment truly differs from the others.
        falsely += u32::from(differs(usize::from(setting.effect > 0.0)));
        found += u32::from(told.pair(0, 1).is_some_and(|it| it.verdict == Verdict::Different));
        for ratio in told.pairs.iter().filter(|it| it.a == 0).filter_map(|it| it.ratio) {
            pairs += 1;
            let held =
                ratio.low.is_some_and(|low| low <= truth) && ratio.high.is_some_and(|high| truth <= high);
            covered += u32::from(held);
        }
    }
    let share = |count: u32, of: u32| f64::from(count) / f64::from(of.max(1));
    Rates {
        false_difference: share(falsely, setting.experiments),
        found: share(found, setting.experiments),
        blocks: blocks_made as f64 / f64::from(setting.experiments.max(1)),
        covered: share(covered, pairs),
    }
}

/// `[treatment][block]`, the twin last, made as a run makes them: so many, then more until it is precise.
fn blocks(setting: &Setting, random: &mut Xoshiro256PlusPlus) -> Vec<Vec<Option<f64>>> {
    let mut values = vec![Vec::with_capacity(setting.blocks_max); setting.treatments + 1];
    loop {
        let made = values[0].len();
        let precise = || is_precise(&values[..setting.treatments], setting.precision);
        if made >= setting.blocks && (made >= setting.blocks_max || precise()) {
            return values;
        }
        let machine = MACHINE_TO_NOISE * setting.noise * normal(random);
        for (treatment, blocks) in values.iter_mut().enumerate() {
            let effect = if treatment == 0 { libm::log(1.0 + setting.effect) } else { 0.0 };
            blocks.push(Some(libm::exp(machine + effect + setting.noise * normal(random))));
        }
    }
}

/// A standard normal number (Box and Muller, 1958).
pub(crate) fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    // From 53 bits each, the first in (0, 1].
    let unit = 1.0 / (1_u64 << 53) as f64;
    let first = ((random.next_u64() >> 11) + 1) as f64 * unit;
    let second = (random.next_u64() >> 11) as f64 * unit;
    libm::sqrt(-2.0 * libm::log(first)) * libm::cos(core::f64::consts::TAU * second)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTING: Setting = Setting {
        treatments: 4,
        blocks: 10,
        blocks_max: 20,
        precision: 0.02,
        noise: 0.03,
        effect: 0.0,
        experiments: 400,
        seed: Seed(1),
    };

    /// Of 400 experiments at a true rate of 5 %, more than 8.3 % happen once in a thousand times.
    #[test]
    fn equal_treatments_are_seldom_called_different() {
        let rates = error_rates(&SETTING);
        assert!(rates.false_difference <= 0.083, "{rates:?}");
    }

    #[test]
    fn a_difference_of_five_percent_is_found() {
        let rates = error_rates(&Setting { effect: 0.05, ..SETTING });
        assert!(rates.found >= 0.9 && rates.covered >= 0.9, "{rates:?}");
    }

    #[test]
    fn few_blocks_call_nothing_different() {
        let rates =
            error_rates(&Setting { effect: 1.0, blocks: 3, blocks_max: 3, experiments: 20, ..SETTING });
        assert!(rates.false_difference + rates.found < 1e-12, "{rates:?}");
    }
}
