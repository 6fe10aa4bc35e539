//! Which trials are given the same arrivals, and which are given their own.

use units::Seed;

/// Apart from every other use of an experiment's seed, such as the order of trials.
const PURPOSE: &str = "arrivals";

/// What decides at which instants the requests of a trial are due, where that is drawn.
///
/// A block replicates an experiment, its arrivals too: were they the same in all blocks, the spread over blocks would
/// lack what arrivals add to it, and intervals would hold the truth too seldom. Within a block every stack of a table, its
/// twin and its control are given the same ones, so that none has the luck of an easy draw. That a trial is made again
/// or a run is resumed changes nothing, nor does which other cells there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrivalsOf<'a> {
    /// `capacity` or `latency`.
    pub phase: &'a str,
    /// The round's name. In the second phase it names the share of capacity.
    pub round: &'a str,
    /// Connections of the table.
    pub connections: u32,
    /// From 0.
    pub block: u32,
}

impl ArrivalsOf<'_> {
    /// The seed of such a trial, in an experiment with the seed `experiment`: one part after another is mixed in by
    /// [`Seed::derive`].
    #[must_use]
    pub const fn seed(self, experiment: Seed) -> Seed {
        let of_round = experiment.derive_named(PURPOSE).derive_named(self.phase).derive_named(self.round);
        of_round.derive(self.connections as u64).derive(self.block as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_part_makes_other_arrivals() {
        let mut seeds = BTreeSet::new();
        for experiment in 0..3 {
            for phase in ["capacity", "latency"] {
                for round in ["hello, latency at 50% of the slowest", "hello, latency at 90% of the slowest"]
                {
                    for (connections, block) in [(1, 0), (1, 1), (0, 1), (300, 0), (300, 19)] {
                        let of = ArrivalsOf { phase, round, connections, block };
                        assert_eq!(of.seed(Seed(experiment)), of.seed(Seed(experiment)));
                        seeds.insert(of.seed(Seed(experiment)).0);
                    }
                }
            }
        }
        assert_eq!(seeds.len(), 3 * 2 * 2 * 5);
        let orders = (0..20).map(|block| Seed(0).derive(block).0);
        assert!(orders.into_iter().all(|seed| !seeds.contains(&seed)), "the order of trials is drawn apart");
    }
}
