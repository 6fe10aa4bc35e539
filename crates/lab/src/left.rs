//! Which trials of a run are left to make, by what came of it so far. Pure: what was measured is an argument.

use std::collections::{BTreeMap, BTreeSet};

use plan::CellId;

use crate::failures::Failures;
use crate::order::Place;
use crate::phase::{CellAt, Done, Phase, TableKey};

/// What is known of a run so far.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    /// What came of the trials that are written down.
    pub(crate) done: &'a Done,
    pub(crate) failures: &'a Failures,
    /// Stacks that take no part.
    pub(crate) left_out: &'a BTreeMap<String, String>,
    /// The cells that claims leave open, once they were looked at.
    pub(crate) open: Option<&'a BTreeSet<CellId>>,
    /// The tables that are precise.
    pub(crate) precise: &'a [TableKey],
}

impl Known<'_> {
    /// Whether the trial at a place is to be made.
    pub(crate) fn leaves(&self, phase: &Phase, place: &Place) -> bool {
        !self.done.contains_key(&place.index)
            && !self.left_out.contains_key(&phase.cell(place).stack)
            && !self.has_failed(phase, (place.round, place.cell), u32::MAX)
            && !self.precise.contains(&phase.table(place))
            && self.open.is_none_or(|open| phase.is_for(place, open))
            && phase.is_alike(place, |cell, block| self.has_failed(phase, cell, block))
    }

    /// Whether a trial of the cell did, in the blocks before `block`.
    fn has_failed(&self, phase: &Phase, cell: CellAt, block: u32) -> bool {
        let its = phase.places.iter().filter(|it| (it.round, it.cell) == cell && it.block < block);
        self.failures.any(its.map(|it| it.index))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use plan::stack::Catalogue;
    use plan::{Driver, Experiment, Pace, Role};
    use stats::Observation;

    use super::*;
    use crate::phase::Came;

    const BLOCKS: u32 = 4;
    const POOL: &str = "target-pool";
    const SINGLE: &str = "target-single";

    fn cell(round: &str, stack: &str, connections: u32) -> CellId {
        CellId { round: round.into(), stack: stack.into(), connections }
    }

    fn experiment(text: &str) -> Experiment {
        let stacks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../stacks");
        let catalogue = Catalogue::load(&stacks).expect("the catalogue is valid");
        Experiment::parse(Path::new("x.toml"), text, &catalogue, Pace::Full).expect("it is valid")
    }

    /// What it takes to decide claims about two stacks in one round and one of them in another: a twin of that one.
    fn phase(seed: u64) -> Phase {
        let mut experiment = experiment(&format!(
            "title = \"t\"\nseed = {seed}\n[load]\nconnections = [4, 8, 16]\nduration = \"1s\"\n\
             [[round]]\nname = \"a\"\nendpoint = \"hello\"\nstacks = [\"{SINGLE}\", \"{POOL}\"]\n\
             [[round]]\nname = \"b\"\nendpoint = \"sleep\"\nstacks = [\"{POOL}\"]\n"
        ));
        let of_single = [4, 8].map(|connections| cell("a", SINGLE, connections));
        let of_pool = [("a", 4), ("a", 8), ("a", 16), ("b", 4), ("b", 8)];
        let of_pool = of_pool.map(|(round, connections)| cell(round, POOL, connections));
        let cells = of_single.into_iter().chain(of_pool).collect();
        experiment.decide(&cells, &[2, BLOCKS]).expect("the cells are there");
        Phase::of_capacity(&experiment)
    }

    /// What a made-up run comes to.
    #[derive(Default)]
    struct World {
        /// The trials of the pool that fail: which role, round, connections and block.
        failing: Vec<(Role, &'static str, u32, u32)>,
        /// What claims leave open, from a block on.
        open: BTreeMap<u32, BTreeSet<CellId>>,
    }

    impl World {
        fn fails(&self, phase: &Phase, place: &Place) -> bool {
            let (round, cell) = (phase.rounds[place.round].name.as_str(), phase.cell(place));
            let its = (cell.role, round, cell.load.connections.get(), place.block);
            cell.stack == POOL && self.failing.contains(&its)
        }
    }

    /// All that is made, and whether it failed, where so much of it was made when the run went on.
    fn go_on(phase: &Phase, world: &World, begun: &[(Place, bool)]) -> Vec<(Place, bool)> {
        let (mut done, mut failures, left_out) = (Done::new(), Failures::default(), BTreeMap::new());
        let mut made = Vec::new();
        let mut add = |done: &mut Done, failures: &mut Failures, place: Place, failed: bool| {
            done.insert(place.index, Came { goodput_per_s: None, ranked: Observation::Failed });
            failures.add(place.index, false, failed);
            made.push((place, failed));
        };
        for (place, failed) in begun {
            add(&mut done, &mut failures, *place, *failed);
        }
        for place in &phase.places {
            let open = world.open.range(..=place.block).next_back().map(|(_, open)| open);
            let known = Known { done: &done, failures: &failures, left_out: &left_out, open, precise: &[] };
            if known.leaves(phase, place) {
                add(&mut done, &mut failures, *place, world.fails(phase, place));
            }
        }
        made
    }

    /// What a process of a block served, in order.
    fn served(
        phase: &Phase,
        made: &[(Place, bool)],
        block: u32,
        (stack, role): (&str, Role),
    ) -> Vec<TableKey> {
        let of_block = made.iter().map(|(place, _)| place).filter(|place| place.block == block);
        let its = of_block.filter(|place| {
            let cell = phase.cell(place);
            cell.stack == stack && cell.role == role
        });
        its.map(|place| phase.table(place)).collect()
    }

    #[test]
    fn a_twin_of_a_block_serves_what_its_stack_does_in_the_same_order() {
        let phase = phase(9);
        let made = go_on(&phase, &World::default(), &[]);
        assert_eq!(made.len(), 14 * BLOCKS as usize, "twelve of stacks and twins, and two controls");
        let mut orders = BTreeSet::new();
        for block in 0..BLOCKS {
            let of = |stack, role| served(&phase, &made, block, (stack, role));
            let own = of(POOL, Role::Stack);
            assert_eq!(own.len(), 5);
            assert_eq!(of(POOL, Role::Twin), own);
            // Another stack comes to a load from the same ones, as far as it serves them.
            let other = of(SINGLE, Role::Stack);
            let of_both: Vec<TableKey> = own.iter().copied().filter(|load| other.contains(load)).collect();
            assert_eq!((other.len(), &other), (2, &of_both));
            orders.insert(own);
        }
        assert!(orders.len() > 1, "{orders:?}");
        assert_ne!(phase.places, self::phase(10).places);
    }

    #[test]
    fn a_twin_of_a_block_goes_on_where_its_stack_does() {
        let phase = phase(9);
        let open = BTreeMap::from([
            (1, BTreeSet::from([cell("a", POOL, 8), cell("a", SINGLE, 8)])),
            (2, BTreeSet::from([cell("a", SINGLE, 4)])),
        ]);
        let made = go_on(&phase, &World { open, ..World::default() }, &[]);
        let of = |block, stack, role| served(&phase, &made, block, (stack, role));
        for role in [Role::Stack, Role::Twin] {
            assert_eq!(of(0, POOL, role).len(), 5);
            assert_eq!(of(1, POOL, role), [(0, 8, Driver::Proofload)]);
            assert_eq!(of(2, POOL, role), []);
        }
        assert_eq!(of(2, SINGLE, Role::Stack), [(0, 4, Driver::Proofload)]);
        assert_eq!(of(2, "control", Role::Control).len(), 1, "that of the first round");
    }

    /// The stack fails at one load in the first block; so does the twin by itself, at another, in the second.
    fn failing() -> World {
        let failing = vec![(Role::Stack, "a", 16, 0), (Role::Twin, "b", 8, 1)];
        World { failing, ..World::default() }
    }

    #[test]
    fn a_twin_that_can_not_serve_what_its_stack_does_is_none() {
        let phase = phase(9);
        let made = go_on(&phase, &failing(), &[]);
        let of = |block, role| served(&phase, &made, block, (POOL, role));
        assert_eq!((of(0, Role::Stack).len(), of(0, Role::Twin).len()), (5, 5));
        assert_eq!((of(1, Role::Stack).len(), of(1, Role::Twin)), (4, of(1, Role::Stack)));
        assert_eq!((of(2, Role::Stack).len(), of(2, Role::Twin).len()), (4, 0));
    }

    /// A twin of each round's first stack would serve that round alone, and its stack both.
    #[test]
    fn a_twin_of_kept_processes_serves_what_its_stack_does() {
        let phase = Phase::of_capacity(&experiment(&format!(
            "title = \"t\"\nblocks = {BLOCKS}\nprocesses = \"kept\"\n[load]\nconnections = [4]\nduration = \"1s\"\n\
             [[round]]\nname = \"a\"\nendpoint = \"hello\"\nstacks = [\"{POOL}\", \"{SINGLE}\"]\n\
             [[round]]\nname = \"b\"\nendpoint = \"sleep\"\nstacks = [\"{SINGLE}\", \"{POOL}\"]\n"
        )));
        let both: Vec<TableKey> = vec![(0, 4, Driver::Proofload), (1, 4, Driver::Proofload)];
        let made = go_on(&phase, &World::default(), &[]);
        assert_eq!(made.len(), 8 * BLOCKS as usize, "four of stacks, two of a twin, and two controls");
        for block in 0..BLOCKS {
            let of = |stack, role| served(&phase, &made, block, (stack, role));
            assert_eq!([of(POOL, Role::Stack), of(POOL, Role::Twin)], [both.clone(), both.clone()]);
            assert_eq!([of(SINGLE, Role::Stack), of(SINGLE, Role::Twin)], [both.clone(), Vec::new()]);
        }
        // It alone fails in the second block: what is left of it would serve less.
        let world = World { failing: vec![(Role::Twin, "b", 4, 1)], ..World::default() };
        let made = go_on(&phase, &world, &[]);
        let of = |block, role| served(&phase, &made, block, (POOL, role)).len();
        assert_eq!([of(1, Role::Stack), of(1, Role::Twin)], [2, 2]);
        assert_eq!([of(2, Role::Stack), of(2, Role::Twin)], [2, 0]);
    }

    #[test]
    fn a_run_that_ended_within_a_block_goes_on_as_it_would_have() {
        let open = BTreeSet::from([cell("a", POOL, 4), cell("b", POOL, 4), cell("a", SINGLE, 8)]);
        let world = World { open: BTreeMap::from([(2, open)]), ..failing() };
        let whole = go_on(&phase(9), &world, &[]);
        let again = phase(9);
        for count in 0..=whole.len() {
            assert_eq!(go_on(&again, &world, &whole[..count]), whole, "after {count} trials");
        }
    }
}
