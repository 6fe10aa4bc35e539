//! A part of a run whose order of trials is known beforehand: first what each stack can carry, then how long answers
//! take at shares of that. Pure: what was measured is an argument.

use std::collections::BTreeMap;

use plan::{Cell, Driver, Experiment, Role, Round};
use stats::is_precise;
use units::{Duration, Seed, Share};

use crate::order::{Place, order};

/// Cells that are compared with each other: those of a round at the same number of connections, by the same driver.
pub(crate) type TableKey = (usize, u32, Driver);

/// What came of trials, by their index: a goodput, or nothing.
pub(crate) type Done = BTreeMap<u32, Option<f64>>;

/// The order of the second phase is drawn apart from that of the first.
const LATENCY_SEED: u64 = 0x6c61_7465;

/// A part of a run.
pub(crate) struct Phase {
    pub(crate) rounds: Vec<Round>,
    /// Every trial it may make, in order.
    pub(crate) places: Vec<Place>,
    /// Blocks that are made at any rate.
    pub(crate) blocks: u32,
    /// Where tables go on beyond that until they are precise, the half-width of their intervals then.
    precision: Option<Share>,
    /// Trials that come behind it and are not known yet, and about how long they take.
    pub(crate) behind: (u32, Duration),
}

impl Phase {
    /// What each stack can carry, with the loads of the experiment.
    pub(crate) fn of_capacity(experiment: &Experiment) -> Self {
        let procedure = &experiment.procedure;
        let rounds = experiment.rounds.clone();
        let places = order(experiment.seed, procedure.blocks_max, &sizes(&rounds));
        let mut behind = (0, Duration::ZERO);
        for round in &rounds {
            let each = round.latency.len() as u32 * procedure.blocks;
            for cell in round.cells.iter().filter(|cell| cell.role != Role::Control) {
                behind.0 += each;
                behind.1 += procedure.trial_guess(cell) * u64::from(each);
            }
        }
        Self { rounds, places, blocks: procedure.blocks, precision: Some(procedure.precision), behind }
    }

    /// How long answers take at shares of what the slowest stack of each table of `capacity` was seen to carry.
    pub(crate) fn of_latency(experiment: &Experiment, capacity: &Self, done: &Done) -> Self {
        let blocks = experiment.procedure.blocks;
        let rounds: Vec<Round> = capacity
            .rounds
            .iter()
            .enumerate()
            .flat_map(|(index, round)| {
                // No other driver keeps a rate, so none has such a round.
                round.at_shares(|connections| capacity.slowest((index, connections, Driver::Proofload), done))
            })
            .collect();
        let mut places = order(Seed(experiment.seed.0 ^ LATENCY_SEED), blocks, &sizes(&rounds));
        for place in &mut places {
            place.index += capacity.places.len() as u32;
        }
        Self { rounds, places, blocks, precision: None, behind: (0, Duration::ZERO) }
    }

    pub(crate) fn cell(&self, place: &Place) -> &Cell {
        &self.rounds[place.round].cells[place.cell]
    }

    pub(crate) fn table(&self, place: &Place) -> TableKey {
        let cell = self.cell(place);
        (place.round, cell.load.connections.get(), cell.driver)
    }

    /// The load in words. A control has that of the stacks it belongs to, though its own is shorter.
    pub(crate) fn load_label(&self, place: &Place) -> String {
        match self.cell(place) {
            cell if cell.role == Role::Control => self.table_label(self.table(place)),
            cell => cell.load.label(),
        }
    }

    /// The load of a table in words: that of its first stack.
    pub(crate) fn table_label(&self, (round, connections, _): TableKey) -> String {
        let mut cells = self.rounds[round].cells.iter();
        let of_table = cells.find(|cell| cell.load.connections.get() == connections);
        of_table.map_or_else(String::new, |cell| cell.load.label())
    }

    /// The tables that are as precise as was asked for after the blocks before `block`.
    pub(crate) fn precise_before(&self, block: u32, done: &Done) -> Vec<TableKey> {
        let Some(precision) = self.precision.filter(|_| block >= self.blocks) else { return Vec::new() };
        let tables = self.goodput_by_block(block, done).into_iter();
        tables.filter(|(_, rows)| is_precise(rows, precision.get())).map(|(key, _)| key).collect()
    }

    /// The median rate of the slowest stack of a table that was measured.
    fn slowest(&self, key: TableKey, done: &Done) -> Option<f64> {
        let blocks = self.places.last()?.block + 1;
        let rows = self.goodput_by_block(blocks, done).remove(&key)?;
        let medians = rows.into_iter().filter_map(|row| {
            let measured: Vec<f64> = row.into_iter().flatten().collect();
            Some(stats::Spread::of(&measured)?.median)
        });
        medians.filter(|rate| *rate > 0.0).min_by(f64::total_cmp)
    }

    /// Of each table and each stack of it, what it carried in each of the blocks before `block`.
    fn goodput_by_block(&self, block: u32, done: &Done) -> BTreeMap<TableKey, Vec<Vec<Option<f64>>>> {
        let mut tables: BTreeMap<TableKey, BTreeMap<usize, Vec<Option<f64>>>> = BTreeMap::new();
        for place in self.places.iter().filter(|it| it.block < block && self.cell(it).role == Role::Stack) {
            let rows = tables.entry(self.table(place)).or_default();
            let row = rows.entry(place.cell).or_insert_with(|| vec![None; block as usize]);
            row[place.block as usize] = done.get(&place.index).copied().flatten();
        }
        tables.into_iter().map(|(key, rows)| (key, rows.into_values().collect())).collect()
    }
}

fn sizes(rounds: &[Round]) -> Vec<usize> {
    rounds.iter().map(|round| round.cells.len()).collect()
}
