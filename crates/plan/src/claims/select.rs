//! Which claims to test when there is no time for all.

use std::collections::BTreeSet;

use units::Duration;

use super::Claim;
use crate::cell_id::CellId;

/// What a budget is spent on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// Indices of the claims that its cells decide, from 0, in their order. Claims that no cell can decide are among
    /// them: they cost nothing.
    pub claims: Vec<usize>,
    /// The cells, each once.
    pub cells: Vec<CellId>,
    /// What they take together.
    pub cost: Duration,
}

/// The cells that decide the most claims for their time: again and again, the claim whose missing cells bring the most
/// claims to a decision for the time they take, until none fits into what is left of `budget`. Greedy, and so not
/// always the best there is; it never costs more than `budget`, and takes all claims where that suffices.
///
/// `cost` is what a cell takes with all its blocks.
pub fn cheapest(claims: &[Claim], cost: impl Fn(&CellId) -> Duration, budget: Duration) -> Selection {
    let needed: Vec<BTreeSet<CellId>> =
        claims.iter().map(|claim| claim.cells().into_iter().collect()).collect();
    let price = |cells: &mut dyn Iterator<Item = &CellId>| {
        cells.map(&cost).fold(0_u64, |sum, each| sum.saturating_add(each.as_nanos()))
    };
    let mut taken: BTreeSet<CellId> = BTreeSet::new();
    let mut spent = 0_u64;
    loop {
        let decided_with = |more: &BTreeSet<CellId>| {
            needed
                .iter()
                .filter(|cells| cells.iter().all(|it| taken.contains(it) || more.contains(it)))
                .count()
        };
        let already = decided_with(&BTreeSet::new());
        let affordable = needed
            .iter()
            .filter(|cells| !cells.is_subset(&taken))
            .map(|cells| (cells, price(&mut cells.difference(&taken))))
            .filter(|(_, price)| spent.saturating_add(*price) <= budget.as_nanos());
        // By claims a nanosecond, compared without dividing. Of equals the first is taken.
        let mut best: Option<(&BTreeSet<CellId>, u64, u128)> = None;
        for (cells, price) in affordable {
            let gain = (decided_with(cells) - already) as u128;
            let better = best.is_none_or(|(_, other, others_gain)| {
                gain * u128::from(other) > others_gain * u128::from(price)
            });
            if better {
                best = Some((cells, price, gain));
            }
        }
        let Some((cells, price, _)) = best else { break };
        taken.extend(cells.iter().cloned());
        spent += price;
    }
    let decided = |index: &usize| needed[*index].is_subset(&taken);
    Selection {
        claims: (0..claims.len()).filter(decided).collect(),
        cells: taken.into_iter().collect(),
        cost: Duration::from_nanos(spent),
    }
}
