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

/// A cell that a process serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Served {
    /// Index of the round.
    pub(crate) round: usize,
    /// Index of the cell in its round.
    pub(crate) cell: usize,
    /// Which of a block's loads it is, from 0.
    pub(crate) load: usize,
}

/// Every trial of `blocks` blocks, where a block's trials of one process come one after another. A block draws an order of its
/// processes, and one order of its `loads`, in which each process goes through those that it serves: what is compared at a load
/// came there by the same way. Same seed, same order.
pub(crate) fn order_by_process(
    seed: Seed,
    blocks: u32,
    loads: usize,
    processes: &[Vec<Served>],
) -> Vec<Place> {
    let mut places = Vec::new();
    for block in 0..blocks {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.derive(u64::from(block)).0);
        let mut turns: Vec<usize> = (0..loads).collect();
        shuffle(&mut turns, &mut random);
        let mut in_turn: Vec<&Vec<Served>> = processes.iter().collect();
        shuffle(&mut in_turn, &mut random);
        for cells in in_turn {
            let mut cells = cells.clone();
            cells.sort_by_key(|it| turns[it.load]);
            for Served { round, cell, .. } in cells {
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
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn trials_of_a_process_come_together_and_all_processes_go_through_a_blocks_loads_in_one_order() {
        let of = |cells: &[(usize, usize, usize)]| -> Vec<Served> {
            cells.iter().map(|&(round, cell, load)| Served { round, cell, load }).collect()
        };
        let processes = [
            of(&[(0, 0, 0), (0, 3, 1), (1, 0, 2)]),
            of(&[(0, 1, 0), (0, 4, 1)]),
            of(&[(0, 2, 0), (1, 1, 2)]),
        ];
        let places = order_by_process(Seed(5), 12, 3, &processes);
        assert_eq!(places.len(), 84);
        let found = |place: &Place| -> (usize, usize) {
            let all = processes.iter().enumerate();
            let mut all = all.flat_map(|(process, cells)| cells.iter().map(move |it| (process, *it)));
            let at = all.find(|(_, it)| (it.round, it.cell) == (place.round, place.cell)).unwrap();
            (at.0, at.1.load)
        };
        let (mut orders, mut orders_of_loads) = (BTreeSet::new(), BTreeSet::new());
        for block in places.chunk_by(|a, b| a.block == b.block) {
            let runs: Vec<Vec<(usize, usize)>> = block
                .chunk_by(|a, b| found(a).0 == found(b).0)
                .map(|run| run.iter().map(found).collect())
                .collect();
            assert_eq!(runs.len(), 3, "{runs:?}");
            let loads = |run: &Vec<(usize, usize)>| run.iter().map(|it| it.1).collect::<Vec<_>>();
            let all = loads(runs.iter().find(|run| run.len() == 3).unwrap());
            for own in runs.iter().map(loads) {
                let of_all: Vec<usize> = all.iter().copied().filter(|load| own.contains(load)).collect();
                assert_eq!(own, of_all, "{runs:?}");
            }
            orders_of_loads.insert(all);
            orders.insert(runs);
        }
        assert!(orders.len() > 3 && orders_of_loads.len() > 1, "{orders:?}");
        assert!(places.iter().enumerate().all(|(index, place)| place.index as usize == index));
        assert_eq!(places, order_by_process(Seed(5), 12, 3, &processes));
        assert_ne!(places, order_by_process(Seed(6), 12, 3, &processes));
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
