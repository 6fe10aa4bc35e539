//! The order of trials: complete blocks, each in a random order of its own.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use units::Seed;

/// One trial to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// From 0, in the order in which trials are made.
    pub(crate) index: u32,
    /// From 0.
    pub(crate) block: u32,
    /// Index of the round.
    pub(crate) round: usize,
    /// Index of the cell in its round.
    pub(crate) cell: usize,
}

/// Every trial of `blocks` blocks over rounds of so many cells. Same seed, same order.
pub(crate) fn order(seed: Seed, blocks: u32, cells_of_rounds: &[usize]) -> Vec<Place> {
    let mut places = Vec::new();
    for block in 0..blocks {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.derive(u64::from(block)).0);
        for (round, cells) in cells_of_rounds.iter().enumerate() {
            let mut shuffled: Vec<usize> = (0..*cells).collect();
            shuffle(&mut shuffled, &mut random);
            for cell in shuffled {
                places.push(Place { index: places.len() as u32, block, round, cell });
            }
        }
    }
    places
}

/// Fisher and Yates.
fn shuffle(items: &mut [usize], random: &mut impl Rng) {
    for last in (1..items.len()).rev() {
        let other = (random.next_u64() % (last as u64 + 1)) as usize;
        items.swap(last, other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_every_cell_once_in_its_own_order() {
        let places = order(Seed(5), 4, &[9, 3]);
        assert_eq!(places.len(), 48);
        let cells = |block: u32| -> Vec<usize> {
            places.iter().filter(|it| it.block == block && it.round == 0).map(|it| it.cell).collect()
        };
        for block in 0..4 {
            let mut sorted = cells(block);
            sorted.sort_unstable();
            assert_eq!(sorted, (0..9).collect::<Vec<_>>());
        }
        assert_ne!(cells(0), cells(1));
        assert_eq!(places, order(Seed(5), 4, &[9, 3]));
        assert_ne!(places, order(Seed(6), 4, &[9, 3]));
    }
}
