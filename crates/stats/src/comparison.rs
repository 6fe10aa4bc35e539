//! Several treatments compared: which of them can be told apart, and how they rank.

pub(crate) mod bounded;
pub(crate) mod earlier;
pub(crate) mod fisher;
pub(crate) mod letters;
pub(crate) mod looks;
pub(crate) mod looks_simulation;
pub(crate) mod paired;
#[cfg(test)]
mod repeated;
pub(crate) mod simulation;
pub(crate) mod unpaired;

use self::letters::letters;
use self::paired::{LogRatios, Observation, Ratio, hodges_lehmann};

/// A difference is called one if chance brings it about less often than this, over all pairs together.
pub const ALPHA: f64 = 0.05;
/// The least effect that is called a difference, whatever its p: below it machines differ from themselves.
pub const LEAST_EFFECT: f64 = 0.02;

/// What can be said of two treatments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// They differ.
    Different,
    /// Nothing shows that they do.
    Tied,
    /// So few blocks can't show it, however they came out.
    TooFewBlocks,
}

/// Two treatments compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// Index of the first.
    pub a: usize,
    /// Index of the second.
    pub b: usize,
    /// Blocks that say something of the two: both were tried, and not both failed.
    pub blocks: usize,
    /// ln(first / second), estimated; infinite where one of them failed so often that no ratio says how they compare.
    /// `None` without such a block.
    pub estimate: Option<f64>,
    /// First over second; `None` without such a block, and where the estimate is infinite.
    pub ratio: Option<Ratio>,
    /// Adjusted for the number of pairs by Holm's method.
    pub p: f64,
    /// What can be said.
    pub verdict: Verdict,
}

/// One of the treatments once more, under another name: what lies between the two is no difference between others
/// either. It is compared with nothing else, and takes no part in the ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct Twin {
    /// Whose twin it is.
    pub of: usize,
    /// What came of it in each block.
    pub values: Vec<Option<Observation>>,
}

/// Treatments compared with each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Every two of them, the first index below the second.
    pub pairs: Vec<Pair>,
    /// Indices from the best down, by their medians over blocks; those without a measurement last.
    pub order: Vec<usize>,
    /// Of each treatment, which of [`Comparison::order`]'s groups it belongs to, as letters: two that share one can't be
    /// told apart.
    pub letters: Vec<String>,
    /// Of each treatment, the best and the worst rank, from 1, that the differences leave it.
    pub ranks: Vec<(usize, usize)>,
    /// Below this, as a share, nothing was called a difference.
    pub least_effect: f64,
}

impl Comparison {
    /// Compares treatments by `values[treatment][block]`, larger being better; `None` is a block in which one was not tried.
    pub fn of(values: &[Vec<Option<Observation>>], twin: Option<&Twin>) -> Self {
        let ratios = |a: usize, b: usize| LogRatios::of(&values[a], &values[b]);
        // A twin that failed so often that no ratio says how far it is from its stack tells of no difference between others.
        let apart = |twin: &Twin| {
            let estimate = LogRatios::of(values.get(twin.of)?, &twin.values).estimate();
            estimate.filter(|it| it.is_finite())
        };
        let gap = twin.and_then(apart).map_or(0.0, effect);
        let least_effect = LEAST_EFFECT.max(gap);
        let all: Vec<(usize, usize)> =
            (0..values.len()).flat_map(|a| (a + 1..values.len()).map(move |b| (a, b))).collect();
        let compared: Vec<LogRatios> = all.iter().map(|(a, b)| ratios(*a, *b)).collect();
        let adjusted = holm(&compared.iter().map(LogRatios::p_value).collect::<Vec<_>>());
        let pairs: Vec<Pair> = all
            .iter()
            .zip(&compared)
            .zip(adjusted)
            .map(|((&(a, b), ratios), p)| {
                let (blocks, estimate) = (ratios.blocks(), ratios.estimate());
                let verdict = verdict(blocks, estimate, p, least_effect, all.len());
                Pair { a, b, blocks, estimate, ratio: ratios.ratio(), p, verdict }
            })
            .collect();
        let order = order(values, &pairs);
        let differ = |a: usize, b: usize| {
            pairs.iter().any(|it| (it.a, it.b) == (a.min(b), a.max(b)) && it.verdict == Verdict::Different)
        };
        let mut by_treatment = vec![String::new(); values.len()];
        for (place, text) in letters(order.len(), |a, b| differ(order[a], order[b])).into_iter().enumerate() {
            by_treatment[order[place]] = text;
        }
        let ranks = (0..values.len()).map(|it| rank_range(it, values.len(), &pairs)).collect();
        Self { pairs, order, letters: by_treatment, ranks, least_effect }
    }

    /// The pair of two treatments, whichever comes first.
    pub fn pair(&self, a: usize, b: usize) -> Option<&Pair> {
        self.pairs.iter().find(|it| (it.a, it.b) == (a.min(b), a.max(b)))
    }
}

/// Whether treatments are compared as precisely as wished: of every two of them, the half-width of the 95 % interval
/// of their ratio is below `half_width`, a share, and there are blocks enough for a test of them. `values[treatment][block]`
/// as in [`Comparison::of`]; a pair without two common blocks is one that more blocks would not mend.
pub fn is_precise(values: &[Vec<Option<Observation>>], half_width: f64) -> bool {
    let tried = |row: &Vec<Option<Observation>>| row.iter().flatten().count();
    let blocks = values.iter().map(tried).max().unwrap_or(0);
    if blocks < blocks_needed(pairs_of(values.len())) {
        return false;
    }
    let bound = libm::log(1.0 + half_width);
    let mut pairs = (0..values.len()).flat_map(|a| (a + 1..values.len()).map(move |b| (a, b)));
    pairs.all(|(a, b)| LogRatios::of(&values[a], &values[b]).half_width().is_none_or(|it| it <= bound))
}

/// How many pairs so many treatments make.
pub const fn pairs_of(treatments: usize) -> usize {
    treatments * treatments.saturating_sub(1) / 2
}

/// How far a ratio is from 1, by its logarithm: the same for a ratio and its inverse.
fn effect(log_ratio: f64) -> f64 {
    libm::expm1(log_ratio.abs())
}

fn verdict(blocks: usize, estimate: Option<f64>, p: f64, least_effect: f64, pairs: usize) -> Verdict {
    if least_p(blocks) * pairs as f64 > ALPHA {
        return Verdict::TooFewBlocks;
    }
    match estimate {
        Some(estimate) if p <= ALPHA && effect(estimate) > least_effect => Verdict::Different,
        _ => Verdict::Tied,
    }
}

/// The smallest p that so many blocks can come to.
fn least_p(blocks: usize) -> f64 {
    libm::exp2(1.0 - blocks as f64).min(1.0)
}

/// How many blocks it takes before any of so many pairs can be told apart.
pub fn blocks_needed(pairs: usize) -> usize {
    (1..64).find(|blocks| least_p(*blocks) * pairs as f64 <= ALPHA).unwrap_or(64)
}

/// Probabilities adjusted for being many (Holm, 1979): with them, the chance that any pair is called different though
/// none is stays below the level, whatever hangs together with what. In the order they came.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut largest: f64 = 0.0;
    for (place, index) in order.into_iter().enumerate() {
        largest = largest.max(p[index] * (p.len() - place) as f64).min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}

/// An infinite estimate counts as far as this in an order: more than any ratio of figures.
const FAR: f64 = 1e3;

/// From the best down, by the centre of each one's logarithms; where they were not tried in the same blocks, by how far each is
/// ahead of the others in the blocks that they share. That the machine was slow in the others is nobody's lead.
fn order(values: &[Vec<Option<Observation>>], pairs: &[Pair]) -> Vec<usize> {
    let is_tried = |row: &Vec<Option<Observation>>| row.iter().any(Option::is_some);
    let blocks = |row: &Vec<Option<Observation>>| row.iter().map(Option::is_some).collect::<Vec<bool>>();
    let mut of_tried = values.iter().filter(|row| is_tried(row)).map(blocks);
    let first = of_tried.next();
    let are_alike = of_tried.all(|blocks| Some(blocks) == first);
    let ahead = |index: usize| {
        let of = |pair: &Pair| match pair.estimate.unwrap_or(0.0).clamp(-FAR, FAR) {
            estimate if pair.a == index => estimate,
            estimate if pair.b == index => -estimate,
            _ => 0.0,
        };
        if is_tried(&values[index]) { pairs.iter().map(of).sum::<f64>() } else { f64::NEG_INFINITY }
    };
    let centre = |blocks: &Vec<Option<Observation>>| {
        let logarithms: Vec<f64> = blocks.iter().flatten().map(|it| it.ln()).collect();
        hodges_lehmann(&logarithms).unwrap_or(f64::NEG_INFINITY)
    };
    let of = |index: usize| if are_alike { centre(&values[index]) } else { ahead(index) };
    let centres: Vec<f64> = (0..values.len()).map(of).collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| centres[*b].total_cmp(&centres[*a]));
    order
}

/// Those that are surely better stand above it, those that are surely worse below.
fn rank_range(index: usize, count: usize, pairs: &[Pair]) -> (usize, usize) {
    let (mut better, mut worse) = (0, 0);
    for pair in pairs.iter().filter(|it| it.verdict == Verdict::Different) {
        let first_wins = pair.estimate.is_some_and(|it| it > 0.0);
        if pair.a == index || pair.b == index {
            if (pair.a == index) == first_wins { worse += 1 } else { better += 1 }
        }
    }
    (1 + better, count - worse)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks in which treatments have these rates, with a machine that is faster in some blocks than in others.
    fn blocks(rates: &[f64], count: usize) -> Vec<Vec<Option<Observation>>> {
        let machine = |block: usize| 1.0 + 0.3 * ((block * 7 % 5) as f64 - 2.0) / 2.0;
        let noise = |treatment: usize, block: usize| 1.0 + 0.001 * ((treatment * 3 + block * 5) % 7) as f64;
        rates
            .iter()
            .enumerate()
            .map(|(treatment, rate)| {
                (0..count)
                    .map(|block| Some(Observation::of(rate * machine(block) * noise(treatment, block))))
                    .collect()
            })
            .collect()
    }

    /// The example of R's `p.adjust`, whose documentation takes Holm's definition.
    #[test]
    fn holm_adjusts_as_r_does() {
        let adjusted = holm(&[0.01, 0.02, 0.03, 0.04, 0.05]);
        for (told, truth) in adjusted.iter().zip([0.05, 0.08, 0.09, 0.09, 0.09]) {
            assert!((told - truth).abs() < 1e-12, "{adjusted:?}");
        }
        let unordered = holm(&[0.04, 0.01, 0.9]);
        assert!((unordered[0] - 0.08).abs() < 1e-12 && (unordered[1] - 0.03).abs() < 1e-12);
        assert!(holm(&[]).is_empty());
    }

    /// The machine became slow after the sixth block; in the seventh the second failed, and nobody tries it again.
    #[test]
    fn who_was_tried_in_the_fast_blocks_alone_is_not_the_best() {
        let mut rates = blocks(&[100.0, 95.0], 12);
        for row in &mut rates {
            for it in &mut row[6..] {
                *it = it.and_then(Observation::figure).map(|figure| Observation::Figure(0.4 * figure));
            }
        }
        rates[1][6] = Some(Observation::Failed);
        rates[1][7..].fill(None);
        let told = Comparison::of(&rates, None);
        assert_eq!(told.pairs[0].verdict, Verdict::Different);
        assert_eq!((told.order, told.ranks), (vec![0, 1], vec![(1, 1), (2, 2)]));
        assert_eq!(told.letters, ["a", "b"]);
    }

    #[test]
    fn a_machine_that_changes_between_blocks_hides_nothing() {
        let told = Comparison::of(&blocks(&[100.0, 110.0, 100.0], 10), None);
        assert_eq!(told.order[0], 1);
        assert_eq!(told.pair(0, 1).unwrap().verdict, Verdict::Different);
        assert_eq!(told.pair(2, 0).unwrap().verdict, Verdict::Tied);
        assert_eq!(told.letters, ["b", "a", "b"]);
        assert_eq!(told.ranks, [(2, 3), (1, 1), (2, 3)]);
    }

    #[test]
    fn what_lies_between_twins_is_no_difference() {
        let mut rates = blocks(&[100.0, 104.0, 100.0, 105.0], 10);
        let twin = Twin { of: 2, values: rates.pop().unwrap() };
        assert_eq!(Comparison::of(&rates, None).pair(0, 1).unwrap().verdict, Verdict::Different);
        let told = Comparison::of(&rates, Some(&twin));
        assert_eq!(told.pair(0, 1).unwrap().verdict, Verdict::Tied);
        assert!(told.least_effect > 0.045);
    }

    /// It was well in the first block, failed in the next, and was tried no more.
    #[test]
    fn a_twin_that_failed_makes_no_stacks_alike() {
        let rates = blocks(&[100.0, 120.0], 10);
        let mut values = vec![None; 10];
        values[0] = rates[0][0];
        values[1] = Some(Observation::Failed);
        let told = Comparison::of(&rates, Some(&Twin { of: 0, values }));
        assert_eq!((told.pairs[0].verdict, told.least_effect), (Verdict::Different, LEAST_EFFECT));
    }

    #[test]
    fn precision_is_of_ratios_within_blocks() {
        let rates = blocks(&[100.0, 110.0], 10);
        assert!(is_precise(&rates, 0.01) && !is_precise(&rates, 1e-6));
        let few = blocks(&[100.0, 110.0], 5);
        assert!(!is_precise(&few, 0.5), "five blocks can tell no two rows apart");
        assert!(!is_precise(&blocks(&[100.0; 8], 10), 0.5), "eight rows take eleven blocks");
        assert!(is_precise(&blocks(&[100.0; 8], 11), 0.5));
        let mut failing = blocks(&[100.0, 110.0], 10);
        failing[0][3] = Some(Observation::Failed);
        assert!(!is_precise(&failing, 0.5));
    }

    #[test]
    fn few_blocks_say_so() {
        let told = Comparison::of(&blocks(&[100.0, 200.0], 5), None);
        assert_eq!(told.pairs[0].verdict, Verdict::TooFewBlocks);
        assert_eq!((blocks_needed(1), blocks_needed(6), blocks_needed(10)), (6, 8, 9));
    }

    #[test]
    fn a_treatment_that_was_hardly_measured_is_compared_where_it_was() {
        let mut rates = blocks(&[100.0, 120.0, 140.0], 12);
        rates[2][..6].fill(None);
        let told = Comparison::of(&rates, None);
        assert_eq!((told.pairs[0].blocks, told.pairs[1].blocks), (12, 6));
        assert_eq!(told.pair(0, 1).unwrap().verdict, Verdict::Different);
        // 2 / 2⁶ for each of three pairs is above the level.
        assert_eq!(told.pair(0, 2).unwrap().verdict, Verdict::TooFewBlocks);
    }

    #[test]
    fn a_treatment_without_a_measurement_comes_last() {
        let told = Comparison::of(&[vec![None; 2], vec![Some(Observation::Figure(1.0)); 2]], None);
        assert_eq!((told.order, told.pairs[0].ratio), (vec![1, 0], None));
    }

    /// It is five times as fast as the next in six blocks, and answers nothing in the other six.
    #[test]
    fn who_fails_in_half_of_the_blocks_is_ahead_of_nobody() {
        let mut rates = blocks(&[500.0, 100.0], 12);
        rates[0][6..].fill(Some(Observation::Failed));
        let told = Comparison::of(&rates, None);
        assert_eq!(told.order, [1, 0]);
        assert_eq!(told.pairs[0].verdict, Verdict::Tied);
        assert_eq!(told.ranks, [(1, 2), (1, 2)]);
    }

    #[test]
    fn who_fails_in_every_block_is_last_though_no_ratio_says_by_how_much() {
        let mut rates = blocks(&[500.0, 100.0], 12);
        rates[0].fill(Some(Observation::Failed));
        let told = Comparison::of(&rates, None);
        assert_eq!((told.pairs[0].verdict, told.pairs[0].ratio), (Verdict::Different, None));
        assert_eq!((told.order, told.ranks), (vec![1, 0], vec![(2, 2), (1, 1)]));
        assert_eq!(told.letters, ["b", "a"]);
    }
}
