//! Looking at a comparison while it goes on: a group-sequential signed-rank test with repeated confidence intervals.
//!
//! Who looks at a comparison again and again, and stops once it shows something, finds differences where there are none.
//! So chance is spent: of the 5 % that may be wrong, so much at the first look and so much more at each later one, by the
//! spending function of Hwang, Shih and DeCani (1990) with γ = 3.1, the flattest with which six blocks can decide anything.
//! The signed-rank test has few possible levels, so each look takes the largest that what is spent by then leaves room for
//! (Slud and Wei, 1982). How likely a comparison of equals is to come that far is counted, over all orders of ranks and all
//! choices of signs, with those that stopped earlier left out: so nothing is approximated ([`CRITICAL`]).
//!
//! The interval at a look is every ratio that the test at that look would not reject (Jennison and Turnbull, 1989). All
//! looks together miss the truth in 5 % of comparisons at most, *whatever makes a run stop or go on*; so what one look
//! excluded stays excluded, and the intervals of all looks are cut with each other.

use super::LEAST_EFFECT;
use super::paired::{LogRatios, Ratio};

/// Blocks after which a comparison is looked at. Between two looks it stands where it stood at the one before.
pub const LOOKS: [usize; 5] = [6, 8, 10, 14, 20];

/// A row for so many comparisons that share the 5 %, or fewer; in it, of each look, the largest sum of ranks of the rarer
/// sign at which two are told apart. `None` where no figures of so few blocks could.
const CRITICAL: [(usize, [Option<usize>; LOOKS.len()]); 9] = [
    (1, [Some(0), Some(1), Some(3), Some(13), Some(35)]),
    (2, [None, Some(1), Some(3), Some(11), Some(30)]),
    (3, [None, Some(0), Some(2), Some(11), Some(27)]),
    (4, [None, Some(0), Some(1), Some(8), Some(26)]),
    (6, [None, None, Some(2), Some(8), Some(23)]),
    (8, [None, None, Some(1), Some(7), Some(23)]),
    (12, [None, None, Some(0), Some(7), Some(19)]),
    (16, [None, None, Some(0), Some(5), Some(17)]),
    (24, [None, None, None, Some(6), Some(19)]),
];

/// What the looks at one comparison have told so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Looked {
    /// Blocks at the last look.
    pub blocks: usize,
    /// The ratio, with the interval of this comparison by itself.
    pub own: Ratio,
    /// The ends of the interval that holds together with those of all comparisons it stands among.
    pub(super) joint: (f64, f64),
}

/// What became of a question about a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// It is so.
    Yes,
    /// It is surely not.
    No,
    /// Neither: the two are surely nearer than what counts as a difference.
    Neither,
    /// Nothing yet; more blocks may.
    NotYet,
    /// Nothing, and that was the last look.
    Never,
}

impl LogRatios {
    /// What the looks at these blocks tell, one of `comparisons` that a claim stands or falls with. `None` before the first
    /// look, and where failures leave no ratio.
    pub fn looked(&self, comparisons: usize) -> Option<Looked> {
        let blocks = LOOKS.into_iter().rev().find(|look| *look <= self.blocks())?;
        let (low, high) = self.first(blocks).within(critical(1));
        let joint = self.first(blocks).within(critical(comparisons));
        let estimate = self.first(blocks).estimate().filter(|it| it.is_finite())?;
        // An earlier look may have left no ratio of figures at all.
        let value = Some(estimate.clamp(low, high)).filter(|it| it.is_finite())?;
        let end = |it: f64| it.is_finite().then(|| libm::exp(it));
        let own = Ratio { value: libm::exp(value), low: end(low), high: end(high) };
        Some(Looked { blocks, own, joint: (libm::exp(joint.0), libm::exp(joint.1)) })
    }

    /// Whether no look so far has found an upper end, or a lower one, and none will, whatever figures more blocks bring: of the means of
    /// two blocks, those with one that is infinite fill the places up to that end already.
    pub(super) fn is_endless(&self, above: bool) -> bool {
        // A comparison by itself has the ends that are nearest.
        LOOKS.into_iter().zip(critical(1)).all(|(look, sum)| {
            let infinite = self.0.iter().copied().take(look).filter(|it| it.is_infinite());
            let (own, others): (Vec<f64>, Vec<f64>) = infinite.partition(|it| it.is_sign_positive() == above);
            let (own, others) = (own.len(), others.len());
            // With one that is as far to the other side, the mean is between.
            let means = own * (look - others) - own * own.saturating_sub(1) / 2;
            sum.is_none_or(|sum| means > sum)
        })
    }

    /// What the intervals of all looks have in common. Where two looks contradict each other, one of them misses the truth,
    /// and the later one counts.
    fn within(&self, critical: [Option<usize>; LOOKS.len()]) -> (f64, f64) {
        let mut within = (f64::NEG_INFINITY, f64::INFINITY);
        for (look, sum) in LOOKS.into_iter().zip(critical).filter(|(look, _)| *look <= self.blocks()) {
            let Some(sum) = sum else { continue };
            let (low, high) = self.first(look).between_means(sum + 1);
            let both = (within.0.max(low), within.1.min(high));
            within = if both.0 <= both.1 { both } else { (low, high) };
        }
        within
    }
}

/// What is called a difference, as shares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Least {
    /// What is no further from 1 is no difference: [`LEAST_EFFECT`], or how far a stack was from its twin.
    pub effect: f64,
    /// What is surely nearer to 1 is a tie: [`LEAST_EFFECT`], or how far a stack surely is from its twin. A twin that may be as near
    /// as any makes nothing surely near.
    pub surely: f64,
}

impl Least {
    /// Where no twin says otherwise.
    pub const KNOWN: Self = Self { effect: LEAST_EFFECT, surely: LEAST_EFFECT };

    /// With what a stack over its twin was, too.
    #[must_use]
    pub fn beside(self, twin: Ratio) -> Self {
        let off = |ratio: f64| ratio.max(1.0 / ratio) - 1.0;
        let surely = match (twin.low, twin.high) {
            (Some(low), _) if low > 1.0 => off(low),
            (_, Some(high)) if high < 1.0 => off(high),
            _ => 0.0,
        };
        Self { effect: self.effect.max(off(twin.value)), surely: self.surely.max(surely) }
    }
}

impl Looked {
    /// Whether the first is above the second, by more than `least.effect`. "Yes" is said by the interval of this comparison
    /// alone: who asks it of several at once errs only where the one that is wrong does (Berger, 1982). "No" is said by the
    /// interval that holds for all of them.
    pub fn is_above(&self, least: Least) -> Told {
        let (low, high) = self.own_ends();
        let (margin, tied) = (1.0 + least.effect, 1.0 + least.surely);
        if low > 1.0 && self.own.value > margin {
            Told::Yes
        } else if self.joint.1 < 1.0 && self.own.value < 1.0 / margin {
            Told::No
        } else if low > 1.0 / tied && high < tied {
            Told::Neither
        } else {
            self.open()
        }
    }

    /// Whether the ratio is within so much of 1, a share. Said as [`Looked::is_above`] does.
    pub fn is_near(&self, within: f64) -> Told {
        let (low, high) = self.own_ends();
        let margin = 1.0 + within;
        if low >= 1.0 / margin && high <= margin {
            Told::Yes
        } else if self.joint.0 > margin || self.joint.1 < 1.0 / margin {
            Told::No
        } else {
            self.open()
        }
    }

    /// What is told of the second over the first.
    #[must_use]
    pub fn turned_round(&self) -> Self {
        let (low, high) = (self.own.high.map(|it| 1.0 / it), self.own.low.map(|it| 1.0 / it));
        let own = Ratio { value: 1.0 / self.own.value, low, high };
        Self { own, joint: (1.0 / self.joint.1, 1.0 / self.joint.0), ..*self }
    }

    /// The interval of this comparison by itself, open ends being without bound.
    pub fn own_ends(&self) -> (f64, f64) {
        (self.own.low.unwrap_or(0.0), self.own.high.unwrap_or(f64::INFINITY))
    }

    /// The interval that holds together with those of the other comparisons.
    pub const fn joint_ends(&self) -> (f64, f64) {
        self.joint
    }

    /// What is to be said where nothing is known yet.
    pub fn open(&self) -> Told {
        if self.blocks < LOOKS[LOOKS.len() - 1] { Told::NotYet } else { Told::Never }
    }
}

/// Whether a claim needs more blocks, by what its comparisons came to; `None` of one that was not looked at yet. It
/// holds if all of them do, so a single one that does not, or of which more blocks tell nothing, ends it.
pub fn goes_on(comparisons: impl IntoIterator<Item = Option<Told>>) -> bool {
    let mut is_open = false;
    for told in comparisons {
        match told {
            Some(Told::No | Told::Neither | Told::Never) => return false,
            None | Some(Told::NotYet) => is_open = true,
            Some(Told::Yes) => {}
        }
    }
    is_open
}

/// The difference, in standard deviations of a trial within its block, that a single comparison finds in four of five cases
/// by its last look, by simulation.
const FOUND_AT_DEVIATIONS: f64 = 1.22;

/// The smallest difference, as a share, that a comparison of two stacks is likely to find by its last look, where trials
/// have so much `noise` (standard deviation of a logarithm within a block) and nothing nearer than `least_effect` counts:
/// 80 % likely.
pub fn findable(noise: f64, least_effect: f64) -> f64 {
    libm::expm1(FOUND_AT_DEVIATIONS * noise).max(least_effect)
}

fn critical(comparisons: usize) -> [Option<usize>; LOOKS.len()] {
    let row = CRITICAL.iter().find(|(most, _)| comparisons <= *most);
    // More than any claim has: they are told apart by nothing, rather than by what they have not been counted for.
    row.map_or([None; LOOKS.len()], |(_, sums)| *sums)
}

#[cfg(test)]
mod tests {
    use super::super::ALPHA;
    use super::super::paired::Observation;
    use super::*;

    /// The share of the 5 % that is spent by so many of twenty blocks.
    fn spent_by(blocks: usize) -> f64 {
        const GAMMA: f64 = 3.1;
        let share = blocks as f64 / LOOKS[LOOKS.len() - 1] as f64;
        ALPHA * libm::expm1(-GAMMA * share) / libm::expm1(-GAMMA)
    }

    /// How likely each choice of signs is, by rank from the smallest up, after one more block: its distance from 0 is as
    /// likely to be of any rank, and above 0 as below.
    fn with_one_more(chances: &[f64], blocks: usize) -> Vec<f64> {
        let mut more = vec![0.0; 2 * chances.len()];
        let each = 1.0 / (2.0 * (blocks + 1) as f64);
        for (signs, chance) in chances.iter().enumerate().filter(|it| *it.1 > 0.0) {
            for rank in 0..=blocks {
                let below = signs & ((1 << rank) - 1);
                let above = (signs >> rank) << (rank + 1);
                more[below | above] += chance * each;
                more[below | above | 1 << rank] += chance * each;
            }
        }
        more
    }

    /// The sum of ranks of the rarer sign.
    fn rarer(signs: usize, blocks: usize) -> usize {
        let sum: usize = (0..blocks).filter(|rank| signs >> rank & 1 == 1).map(|rank| rank + 1).sum();
        sum.min(blocks * (blocks + 1) / 2 - sum)
    }

    /// The largest sums that keep to what is spent, among so many comparisons, and what they come to together.
    fn counted(comparisons: usize) -> ([Option<usize>; LOOKS.len()], f64) {
        let (mut blocks, mut spent, mut sums) = (LOOKS[0], 0.0, [None; LOOKS.len()]);
        let mut chances = vec![1.0 / (1_u64 << blocks) as f64; 1 << blocks];
        for (look, sum) in LOOKS.into_iter().zip(&mut sums) {
            while blocks < look {
                chances = with_one_more(&chances, blocks);
                blocks += 1;
            }
            let mut of_sum = vec![0.0; blocks * (blocks + 1) / 4 + 1];
            for (signs, chance) in chances.iter().enumerate() {
                of_sum[rarer(signs, blocks)] += chance;
            }
            let bound = spent_by(look) / comparisons as f64;
            let mut with = spent;
            for (candidate, chance) in of_sum.iter().enumerate() {
                with += chance;
                if with > bound {
                    break;
                }
                (*sum, spent) = (Some(candidate), with);
            }
            if let Some(sum) = *sum {
                for (signs, chance) in chances.iter_mut().enumerate() {
                    *chance = if rarer(signs, blocks) <= sum { 0.0 } else { *chance };
                }
            }
        }
        (sums, spent)
    }

    #[test]
    #[ignore = "slow: counts a million choices of signs, nine times"]
    fn the_table_is_the_one_that_counting_gives_and_spends_no_more_than_it_may() {
        for (comparisons, sums) in CRITICAL {
            let (told, spent) = counted(comparisons);
            assert_eq!(told, sums, "{comparisons}");
            assert!(spent <= ALPHA / comparisons as f64, "{comparisons}: {spent}");
        }
    }

    fn ratios(figures: &[f64]) -> LogRatios {
        let of = |it: &f64| Some(Observation::Figure(*it));
        let ones = vec![Some(Observation::Figure(1.0)); figures.len()];
        LogRatios::of(&figures.iter().map(of).collect::<Vec<_>>(), &ones)
    }

    #[test]
    fn between_looks_nothing_changes_and_before_the_first_nothing_is_told() {
        let figures = [1.2, 1.21, 1.19, 1.22, 1.18, 1.2, 0.5];
        assert_eq!(ratios(&figures[..5]).looked(1), None);
        let six = ratios(&figures[..6]).looked(1).unwrap();
        assert_eq!(ratios(&figures).looked(1), Some(six));
        assert_eq!(six.is_above(Least::KNOWN), Told::Yes);
        assert!(six.own.low.unwrap() > 1.17 && six.own.high.unwrap() < 1.23, "{six:?}");
    }

    /// Six blocks decide a comparison by itself. Among four, that one is the other way round takes eight.
    #[test]
    fn the_other_way_round_is_said_of_all_comparisons_together() {
        let below = [0.8, 0.81, 0.79, 0.82, 0.78, 0.8, 0.8, 0.81];
        assert_eq!(ratios(&below[..6]).looked(1).unwrap().is_above(Least::KNOWN), Told::No);
        assert_eq!(ratios(&below[..6]).looked(4).unwrap().is_above(Least::KNOWN), Told::NotYet);
        assert_eq!(ratios(&below).looked(4).unwrap().is_above(Least::KNOWN), Told::No);
        assert_eq!(ratios(&below[..6]).looked(4).unwrap().is_near(0.05), Told::NotYet);
    }

    #[test]
    fn what_is_surely_nearer_than_counts_is_neither() {
        let near = [1.001, 1.002, 0.999, 1.0, 1.003, 0.998];
        let looked = ratios(&near).looked(1).unwrap();
        assert_eq!((looked.is_above(Least::KNOWN), looked.is_near(0.05)), (Told::Neither, Told::Yes));
    }

    /// The first six are alike and the others are not: what the first look excluded stays so.
    #[test]
    fn an_interval_never_grows() {
        let mut figures = vec![1.10, 1.11, 1.09, 1.10, 1.12, 1.08];
        let six = ratios(&figures).looked(1).unwrap();
        figures.extend([0.9, 1.3, 1.0, 1.25]);
        let ten = ratios(&figures).looked(1).unwrap();
        assert_eq!(ten.blocks, 10);
        assert!(ten.own.low >= six.own.low && ten.own.high <= six.own.high, "{ten:?}");
    }

    #[test]
    fn a_claim_goes_on_until_all_of_it_is_decided_or_one_part_refutes_it() {
        assert!(goes_on([Some(Told::Yes), Some(Told::NotYet)]));
        assert!(goes_on([Some(Told::Yes), None]));
        assert!(!goes_on([Some(Told::No), Some(Told::NotYet)]));
        assert!(!goes_on([Some(Told::Neither), None]));
        assert!(!goes_on([Some(Told::Yes), Some(Told::Never), Some(Told::NotYet)]));
        assert!(!goes_on([Some(Told::Yes), Some(Told::Yes)]));
    }

    /// One answers nothing in the first six blocks, the other in the next four: the first look left no ratio but an infinite one.
    #[test]
    fn where_a_look_left_no_ratio_there_is_none() {
        let in_turn = |first: Observation, then: Observation| -> Vec<Option<Observation>> {
            (0..10).map(|block| Some(if block < 6 { first } else { then })).collect()
        };
        let (well, failed) = (Observation::Figure(1.0), Observation::Failed);
        let ratios = LogRatios::of(&in_turn(well, failed), &in_turn(failed, well));
        assert!(ratios.estimate().is_some_and(f64::is_finite));
        assert_eq!(ratios.looked(1), None);
    }

    #[test]
    fn more_comparisons_than_were_counted_refute_nothing() {
        let below = vec![0.5; 20];
        let told = ratios(&below).looked(25).unwrap();
        assert_eq!((told.is_above(Least::KNOWN), told.joint_ends()), (Told::Never, (0.0, f64::INFINITY)));
    }

    /// Of trials with this noise, four of five comparisons that far apart are found.
    #[test]
    #[ignore = "slow: thousands of runs"]
    fn a_difference_that_is_called_findable_is_found() {
        let (noise, seed) = (0.04, units::Seed(3));
        let effect = findable(noise, 0.02);
        let setting = crate::ClaimSetting {
            world: crate::World::Rates,
            comparisons: 1,
            noise,
            effect,
            experiments: 2_000,
            seed,
        };
        let found = crate::claim_rates(&setting).confirmed;
        assert!((0.77..0.83).contains(&found), "{found}");
    }
}
