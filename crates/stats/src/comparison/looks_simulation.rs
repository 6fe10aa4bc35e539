//! How often a claim that is looked at while it is measured comes out wrong, found out on made-up blocks of which the truth
//! is known. The functions that stop a run are the ones that stop here.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use units::Seed;

use super::bounded::BoundedRatios;
use super::looks::{LOOKS, Least, Looked, Told, goes_on};
use super::paired::{LogRatios, Observation};
use super::simulation::{Block, World};

/// Made-up runs that hold one claim against blocks: in each of its comparisons the first is above the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClaimSetting {
    /// What trials are.
    pub world: World,
    /// Comparisons that the claim stands or falls with.
    pub comparisons: usize,
    /// Standard deviation of a trial's logarithm within its block.
    pub noise: f64,
    /// By what share the first of a comparison is better, where it is.
    pub effect: f64,
    /// Runs of each kind.
    pub experiments: u32,
    /// Of the random numbers.
    pub seed: Seed,
}

/// How often such a claim came to what.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClaimRates {
    /// Share of the runs in which it was confirmed though its first comparison is of equals.
    pub falsely_confirmed: f64,
    /// Share of the runs in which it was confirmed or reversed though all are equal.
    pub falsely_decided: f64,
    /// Share of the runs in which it was confirmed where all comparisons are as claimed.
    pub confirmed: f64,
    /// Share of the runs in which it was reversed where all are the other way round.
    pub reversed: f64,
    /// Blocks of a run in which all are as claimed, on average.
    pub blocks: f64,
    /// Share of the intervals, as they stood at the end, that held the true ratio; over all kinds of runs.
    pub covered: f64,
}

/// What came of one run.
struct Run {
    told: Vec<Option<Told>>,
    blocks: usize,
    held: usize,
    intervals: usize,
}

/// Carries the runs out; needs one comparison at least.
pub fn claim_rates(setting: &ClaimSetting) -> ClaimRates {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(setting.seed.0);
    let (effect, comparisons) = (setting.effect, setting.comparisons);
    let mut one_is_equal = vec![effect; comparisons];
    one_is_equal[0] = 0.0;
    let other_way = 1.0 / (1.0 + effect) - 1.0;
    let kinds =
        [one_is_equal, vec![0.0; comparisons], vec![effect; comparisons], vec![other_way; comparisons]];
    let mut counts = [[0_u32; 2]; 4];
    let (mut blocks, mut held, mut intervals) = (0, 0, 0);
    for (kind, effects) in kinds.iter().enumerate() {
        for _ in 0..setting.experiments {
            let run = run(setting, effects, &mut random);
            let is = |told: Told| move |it: &Option<Told>| *it == Some(told);
            let (confirmed, reversed) =
                (run.told.iter().all(is(Told::Yes)), run.told.iter().any(is(Told::No)));
            counts[kind][0] += u32::from(confirmed);
            counts[kind][1] += u32::from(reversed);
            blocks += if kind == 2 { run.blocks } else { 0 };
            held += run.held;
            intervals += run.intervals;
        }
    }
    let runs = f64::from(setting.experiments.max(1));
    let share = |count: u32| f64::from(count) / runs;
    ClaimRates {
        falsely_confirmed: share(counts[0][0]),
        falsely_decided: share(counts[1][0] + counts[1][1]),
        confirmed: share(counts[2][0]),
        reversed: share(counts[3][1]),
        blocks: blocks as f64 / runs,
        covered: held as f64 / intervals.max(1) as f64,
    }
}

/// Blocks until the claim is decided, or there are no more.
fn run(setting: &ClaimSetting, effects: &[f64], random: &mut Xoshiro256PlusPlus) -> Run {
    let mut pairs: Vec<[Vec<Option<Observation>>; 2]> = vec![[Vec::new(), Vec::new()]; effects.len()];
    loop {
        let block = Block::of(setting.world, setting.noise, random);
        for (pair, effect) in pairs.iter_mut().zip(effects) {
            pair[0].push(Some(block.trial(*effect, true, random)));
            pair[1].push(Some(block.trial(0.0, false, random)));
        }
        let blocks = pairs[0][0].len();
        if !LOOKS.contains(&blocks) {
            continue;
        }
        let ratios = pairs.iter().map(|[a, b]| BoundedRatios::exactly(LogRatios::of(a, b)));
        let looked: Vec<Option<Looked>> = ratios.map(|it| it.looked(effects.len())).collect();
        let told: Vec<Option<Told>> =
            looked.iter().map(|it| it.map(|it| it.is_above(Least::KNOWN))).collect();
        if goes_on(told.iter().copied()) && blocks < LOOKS[LOOKS.len() - 1] {
            continue;
        }
        let with_truth = looked.iter().zip(effects).filter_map(|(it, effect)| Some(((*it)?, 1.0 + effect)));
        let held = with_truth.clone().filter(|(it, truth)| {
            let (low, high) = it.own_ends();
            (low..=high).contains(truth)
        });
        return Run { blocks, held: held.count(), intervals: with_truth.count(), told };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SETTING: ClaimSetting = ClaimSetting {
        world: World::Rates,
        comparisons: 1,
        noise: 0.03,
        effect: 0.2,
        experiments: 400,
        seed: Seed(7),
    };

    /// Of 400 runs at a true rate of 5 %, more than 8.3 % happen once in a thousand times; of intervals that hold the truth
    /// 95 times in 100, fewer than 93 % of 1,600.
    #[test]
    #[ignore = "slow: thousands of runs"]
    fn claims_are_seldom_decided_wrongly_however_often_they_are_looked_at() {
        for world in [World::Rates, World::Failing(0.1), World::Censored(0.15)] {
            for comparisons in [1, 4] {
                for effect in [0.05, 0.2] {
                    let rates = claim_rates(&ClaimSetting { world, comparisons, effect, ..SETTING });
                    let wrongly = rates.falsely_confirmed.max(rates.falsely_decided);
                    assert!(wrongly <= 0.083 && rates.covered >= 0.93, "{world:?} {comparisons} {rates:?}");
                }
            }
        }
    }

    #[test]
    fn what_is_far_apart_is_decided_by_six_blocks_and_what_is_near_takes_more() {
        let of = |effect: f64| claim_rates(&ClaimSetting { effect, experiments: 60, ..SETTING });
        let (far, near) = (of(0.5), of(0.04));
        assert!(far.confirmed > 0.99 && far.blocks < 6.1, "{far:?}");
        assert!(near.blocks > 7.0, "{near:?}");
    }

    /// The other way round is said of all comparisons together, for which six blocks are too few.
    #[test]
    fn a_claim_of_four_is_reversed_by_eight_blocks_and_not_by_six() {
        let rates = claim_rates(&ClaimSetting { comparisons: 4, effect: 0.5, experiments: 60, ..SETTING });
        assert!(rates.reversed > 0.99 && rates.confirmed > 0.99, "{rates:?}");
    }
}
