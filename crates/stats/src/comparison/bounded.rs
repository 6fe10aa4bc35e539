//! Ratios of two treatments of which some figures are only known to lie between two ends: a rate that something else held down, a
//! time that something else added to.
//!
//! Whether a figure is seen in full hangs together with how large it is. To leave its block out is to go by the blocks in which it
//! was seen, and moves the ratio to one side: that is informative censoring, and no number of blocks mends it. So each block stays,
//! with the least and the most that its ratio may be (Manski, 2003, "Partial Identification of Probability Distributions"); an end
//! that is not known is beyond all others, the worst rank (Lachin, 1999, "Worst-rank score analysis with informatively missing
//! observations in clinical trials").
//!
//! Estimate, test and interval go by the means of two ratios, and those grow with each ratio. So whatever the true ratios are, what
//! the least of them come to is no more than what they come to, and what the most come to is no less: an interval from the lower end
//! of the one to the upper end of the other holds the truth at least as often, and a test of the least that finds them above 1 is
//! wrong no more often. A bound that decides its block counts in full, and one that does not speaks for nobody.

use super::looks::{LOOKS, Looked};
use super::paired::{LogRatios, Observation, Ratio};

/// Between what the figures of a treatment lie, block by block.
#[derive(Debug, Clone, PartialEq)]
pub struct Ends {
    /// What they are at least.
    pub least: Vec<Option<Observation>>,
    /// What they are at most: a figure that is infinite where nothing says.
    pub most: Vec<Option<Observation>>,
}

impl Ends {
    /// Of figures that are known.
    pub fn exactly(figures: Vec<Option<Observation>>) -> Self {
        Self { least: figures.clone(), most: figures }
    }
}

/// The ratios of two treatments within each block, each between two ends.
#[derive(Debug, Clone, PartialEq)]
pub struct BoundedRatios {
    least: LogRatios,
    most: LogRatios,
}

impl BoundedRatios {
    /// Of the blocks in which something is known of both.
    pub fn of(a: &Ends, b: &Ends) -> Self {
        Self { least: LogRatios::of(&a.least, &b.most), most: LogRatios::of(&a.most, &b.least) }
    }

    /// Of ratios that are known.
    pub fn exactly(ratios: LogRatios) -> Self {
        Self { least: ratios.clone(), most: ratios }
    }

    /// Whether all of them are known.
    pub fn is_exact(&self) -> bool {
        self.least == self.most
    }

    /// How many blocks say something of the two.
    pub fn blocks(&self) -> usize {
        self.least.blocks()
    }

    /// The same of a / (b · `factor`).
    #[must_use]
    pub fn over(&self, factor: f64) -> Self {
        Self { least: self.least.over(factor), most: self.most.over(factor) }
    }

    /// Between what a / b lies, estimated; 0 and infinite where nothing says.
    pub fn estimates(&self) -> (f64, f64) {
        let of = |ratios: &LogRatios, without: f64| ratios.estimate().map_or(without, libm::exp);
        (of(&self.least, 0.0), of(&self.most, f64::INFINITY))
    }

    /// Whether anything is known of a / b.
    pub fn tells(&self) -> bool {
        let (least, most) = self.estimates();
        least > 0.0 || most.is_finite()
    }

    /// The ratio a / b: of its two estimates the one that is nearer to 1, or what is between them where they are on both sides of it,
    /// and an interval that holds the truth whatever the figures are. `None` where nothing is known.
    pub fn ratio(&self) -> Option<Ratio> {
        let (least, most) = (self.least.ratio(), self.most.ratio());
        let value = nearest(least.map(|it| it.value), most.map(|it| it.value))?;
        Some(Ratio { value, low: least.and_then(|it| it.low), high: most.and_then(|it| it.high) })
    }

    /// The ends of that interval, beyond each of which chance puts the true ratio with a probability of `tail` at most.
    pub fn ends(&self, tail: f64) -> (Option<f64>, Option<f64>) {
        (self.least.ends(tail).0, self.most.ends(tail).1)
    }

    /// How often chance alone would bring ranks as uneven, whatever the figures are; 1 where they may be on either side of 1.
    pub fn p_value(&self) -> f64 {
        let (least, most) = self.estimates();
        if self.is_exact() || least > 1.0 {
            self.least.p_value()
        } else if most < 1.0 {
            self.most.p_value()
        } else {
            1.0
        }
    }

    /// What the looks at these blocks tell, whatever the figures are, as [`LogRatios::looked`].
    pub fn looked(&self, comparisons: usize) -> Option<Looked> {
        // Both would tell the same.
        if self.is_exact() {
            return self.least.looked(comparisons);
        }
        let (least, most) = (self.least.looked(comparisons), self.most.looked(comparisons));
        let blocks = least.or(most)?.blocks;
        let value = nearest(least.map(|it| it.own.value), most.map(|it| it.own.value))?;
        let own =
            Ratio { value, low: least.and_then(|it| it.own.low), high: most.and_then(|it| it.own.high) };
        let joint = (least.map_or(0.0, |it| it.joint.0), most.map_or(f64::INFINITY, |it| it.joint.1));
        Some(Looked { blocks, own, joint })
    }

    /// Whether the bounds leave open for good on which side of `edge` the ratio is: the least that it may be is surely below, or has no
    /// lower end and will have none, and the most is surely above, or has no upper end likewise. Of what more blocks bring, nothing but
    /// failures would say more.
    pub fn leaves_open(&self, edge: f64) -> bool {
        let is_below = |it: Looked| it.own_ends().1 < edge;
        let is_above = |it: Looked| it.own_ends().0 > edge;
        self.blocks() >= LOOKS[0]
            && (self.least.looked(1).is_none_or(is_below) || self.least.is_endless(false))
            && (self.most.looked(1).is_none_or(is_above) || self.most.is_endless(true))
    }
}

/// Of what a ratio is at least and at most the one that is nearer to 1; their middle where they are on both sides of it, and the one
/// that there is where the other is not known.
fn nearest(least: Option<f64>, most: Option<f64>) -> Option<f64> {
    match (least, most) {
        (Some(least), Some(most)) if least <= 1.0 && most >= 1.0 => Some(libm::sqrt(least * most)),
        (Some(_), Some(most)) if most < 1.0 => Some(most),
        (Some(least), _) => Some(least),
        (None, most) => most,
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::super::ALPHA;
    use super::super::looks::{Least, Told};
    use super::super::simulation::normal;
    use super::*;

    fn known(figures: &[f64]) -> Vec<Option<Observation>> {
        figures.iter().map(|it| Some(Observation::Figure(*it))).collect()
    }

    /// Figures of which the first `bounded` are at least so much.
    fn at_least(figures: &[f64], bounded: usize) -> Ends {
        let end = |(at, it): (usize, &f64)| if at < bounded { f64::INFINITY } else { *it };
        let most: Vec<f64> = figures.iter().enumerate().map(end).collect();
        Ends { least: known(figures), most: known(&most) }
    }

    /// So many that are all `ratio` but for a little.
    fn near(ratio: f64, count: usize) -> Vec<f64> {
        (0..count).map(|at| ratio * (1.0 + 0.001 * (at % 5) as f64)).collect()
    }

    fn over_one(of: &Ends) -> BoundedRatios {
        BoundedRatios::of(of, &Ends::exactly(known(&vec![1.0; of.least.len()])))
    }

    #[test]
    fn without_bounds_it_is_what_the_ratios_are() {
        for ratio in [0.8, 1.0, 1.25] {
            let figures = known(&near(ratio, 10));
            let exact = LogRatios::of(&figures, &known(&[1.0; 10]));
            let told = over_one(&Ends::exactly(figures));
            assert!(told.is_exact() && told.tells());
            assert_eq!((told.ratio(), told.blocks()), (exact.ratio(), 10));
            assert_eq!((told.looked(3), told.ends(0.01)), (exact.looked(3), exact.ends(0.01)));
            assert!((told.p_value() - exact.p_value()).abs() < 1e-15);
            assert!((told.over(2.0).p_value() - exact.over(2.0).p_value()).abs() < 1e-15);
            assert!(!told.leaves_open(1.0));
        }
    }

    /// Ahead by what is known at least: each block counts. Behind it is only where those that may be above are outweighed.
    #[test]
    fn a_bound_counts_where_it_decides_its_block_and_speaks_for_nobody_elsewhere() {
        let told = |ratio: f64, blocks: usize, bounded: usize| {
            let ratios = over_one(&at_least(&near(ratio, blocks), bounded));
            let is_told = ratios.p_value() <= ALPHA;
            (is_told, ratios.looked(1).map_or(Told::NotYet, |it| it.is_above(Least::KNOWN)))
        };
        assert_eq!(told(1.2, 6, 6), (true, Told::Yes));
        assert_eq!(told(1.2, 20, 3), (true, Told::Yes));
        assert_eq!(told(0.8, 6, 0), (true, Told::No));
        assert_eq!(told(0.8, 6, 1), (false, Told::NotYet));
        // Of 12 one has the rank 12, and 13 is what the test can have; of 20 two have 39 of the 52, and looks can have 35.
        assert!(told(0.8, 12, 1).0 && !told(0.8, 12, 2).0);
        assert_eq!(told(0.8, 20, 1), (true, Told::No));
        assert_eq!(told(0.8, 20, 2), (true, Told::Never));
        assert_eq!(told(0.8, 20, 3), (false, Told::Never));
    }

    #[test]
    fn more_of_the_same_is_not_waited_for() {
        let of = |ratio: f64, bounded: usize| over_one(&at_least(&near(ratio, 8), bounded));
        assert!(of(0.8, 8).leaves_open(1.0) && of(0.8, 5).leaves_open(1.0));
        // One more of eight may turn out to be one of twenty; and what is ahead is no open question.
        assert!(!of(0.8, 1).leaves_open(1.0) && !of(1.2, 8).leaves_open(1.0));
        assert!(!over_one(&at_least(&near(0.8, 5), 5)).leaves_open(1.0), "nobody has looked yet");
    }

    /// Of eight blocks two are 15 of the means of two, and of twenty 39: the upper end would have to be the 36th from above at most.
    #[test]
    fn two_bounds_leave_the_side_that_they_say_nothing_of_open_whatever_more_blocks_bring() {
        let then = |ratio: f64, bounded: usize| {
            let figures = [near(0.8, 8), vec![ratio; 12]].concat();
            over_one(&at_least(&figures, bounded)).looked(1).and_then(|it| it.own.high)
        };
        for ratio in [0.01, 0.8, 1.2] {
            assert_eq!(then(ratio, 2), None, "{ratio}");
        }
        assert!(then(0.01, 1).is_some(), "of twenty, one is outweighed");
        let two = at_least(&near(0.8, 8), 2);
        assert!(over_one(&two).leaves_open(1.0));
        // The same of the other one, which is ahead.
        let one = Ends::exactly(known(&[1.0; 8]));
        assert!(BoundedRatios::of(&one, &two).leaves_open(1.0));
        // The first look, at six, has told that it is behind before there were bounds.
        let reversed = |all: &[Option<Observation>]| all.iter().rev().copied().collect();
        let late = Ends { least: reversed(&two.least), most: reversed(&two.most) };
        assert!(!over_one(&late).leaves_open(1.0));
        assert_eq!(over_one(&late).looked(1).map(|it| it.is_above(Least::KNOWN)), Some(Told::No));
    }

    #[test]
    fn of_two_bounds_nothing_is_told() {
        let bounds = at_least(&near(1.2, 8), 8);
        let ratios = BoundedRatios::of(&bounds, &bounds);
        assert_eq!((ratios.tells(), ratios.ratio(), ratios.looked(1)), (false, None, None));
        assert!((ratios.p_value() - 1.0).abs() < 1e-15);
    }

    /// Two that are equal, and a client that comes no further than the median of the first: whoever goes by the blocks in which it
    /// was no limit finds the first behind.
    #[test]
    fn leaving_bounds_out_finds_differences_between_equals_and_keeping_them_does_not() {
        const EXPERIMENTS: u32 = 200;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(11);
        let (mut left_out, mut kept) = (0, 0);
        for _ in 0..EXPERIMENTS {
            let (mut seen, mut least, mut most, mut other) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for _ in 0..60 {
                let own = 0.05 * normal(&mut random);
                let is_seen = own < 0.0;
                let figure = |log: f64| Some(Observation::Figure(libm::exp(log)));
                seen.push(figure(own).filter(|_| is_seen));
                least.push(figure(own.min(0.0)));
                most.push(figure(if is_seen { own } else { f64::INFINITY }));
                other.push(figure(0.05 * normal(&mut random)));
            }
            left_out += u32::from(LogRatios::of(&seen, &other).p_value() <= ALPHA);
            let ratios = BoundedRatios::of(&Ends { least, most }, &Ends::exactly(other));
            kept += u32::from(ratios.p_value() <= ALPHA);
        }
        // Of 200 at a true rate of 5 %, more than 21 happen once in a thousand times.
        assert!(left_out > EXPERIMENTS / 2, "{left_out}");
        assert!(kept <= 21, "{kept}");
    }
}
