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

/// Every trial of `blocks` blocks, where a block's trials of one process come one after another: processes in random order,
/// and so are the trials of each. `cells_of_processes` has the round and the index in it of every cell. Same seed, same order.
pub(crate) fn order_by_process(
    seed: Seed,
    blocks: u32,
    cells_of_processes: &[Vec<(usize, usize)>],
) -> Vec<Place> {
    let mut places = Vec::new();
    for block in 0..blocks {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.derive(u64::from(block)).0);
        let mut processes: Vec<&Vec<(usize, usize)>> = cells_of_processes.iter().collect();
        shuffle(&mut processes, &mut random);
        for cells in processes {
            let mut cells = cells.clone();
            shuffle(&mut cells, &mut random);
            for (round, cell) in cells {
                places.push(Place { index: places.len() as u32, block, round, cell });
            }
        }
    }
    places
}

/// Fisher and Yates.
fn shuffle<T>(items: &mut [T], random: &mut impl Rng) {
    for last in (1..items.len()).rev() {
        let other = (random.next_u64() % (last as u64 + 1)) as usize;
        items.swap(last, other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_of_a_process_come_together_in_an_order_of_their_own() {
        let cells = [vec![(0, 0), (0, 3), (1, 0)], vec![(0, 1), (0, 4)], vec![(0, 2)]];
        let places = order_by_process(Seed(5), 6, &cells);
        assert_eq!(places.len(), 36);
        let process = |it: &Place| cells.iter().position(|all| all.contains(&(it.round, it.cell))).unwrap();
        let mut orders = std::collections::BTreeSet::new();
        for block in places.chunk_by(|a, b| a.block == b.block) {
            let runs: Vec<usize> =
                block.chunk_by(|a, b| process(a) == process(b)).map(|run| process(&run[0])).collect();
            assert_eq!(runs.len(), 3, "{runs:?}");
            orders.insert(block.iter().map(|it| (it.round, it.cell)).collect::<Vec<_>>());
        }
        assert!(orders.len() > 3, "{orders:?}");
        assert!(places.iter().enumerate().all(|(index, place)| place.index as usize == index));
        assert_eq!(places, order_by_process(Seed(5), 6, &cells));
    }

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
