//! A part of a run whose order of trials is known beforehand: first what each stack can carry, then how long answers
//! take at shares of that. Pure: what was measured is an argument.

use std::collections::{BTreeMap, BTreeSet};

use plan::{ArrivalsOf, Cell, CellId, Driver, Ends, Experiment, NamedLoad, Processes, Role, Round};
use record::{RankedBy, Trial, TrialResult, observed};
use stats::{Observation, blocks_needed, is_precise, pairs_of};
use units::{Duration, Seed, Share};

use crate::order::{Place, Served, order, order_by_process};

/// Cells that are compared with each other: those of a round at the same number of connections, by the same driver.
pub(crate) type TableKey = (usize, u32, Driver);

/// A cell: its round, and its index in that.
pub(crate) type CellAt = (usize, usize);

/// What came of trials, by their index.
pub(crate) type Done = BTreeMap<u32, Came>;

/// What came of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Came {
    /// Expected answers a second; `None` where it failed.
    pub(crate) goodput_per_s: Option<f64>,
    /// What its table is ranked by.
    pub(crate) ranked: Observation,
}

impl Came {
    pub(crate) fn of(trial: &Trial) -> Self {
        match &trial.result {
            TrialResult::Measured(measured) => Self {
                goodput_per_s: Some(measured.load.goodput_per_s),
                ranked: observed(trial, RankedBy::of(measured)),
            },
            TrialResult::Failed { .. } => Self { goodput_per_s: None, ranked: Observation::Failed },
        }
    }
}

/// The order of the second phase is drawn apart from that of the first.
const LATENCY_SEED: u64 = 0x6c61_7465;

/// A part of a run.
pub(crate) struct Phase {
    /// What tells its arrivals from those of the other.
    name: &'static str,
    /// The experiment's.
    seed: Seed,
    /// How long a stack's process lives.
    processes: Processes,
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
        let places = places_of(experiment, experiment.seed, procedure.blocks_max, &rounds);
        let blocks = blocks_of(experiment, &rounds);
        let (trials, guess) = experiment.latency_block_guess();
        let behind = (trials * blocks, guess * u64::from(blocks));
        Self {
            name: "capacity",
            seed: experiment.seed,
            processes: procedure.processes,
            rounds,
            places,
            blocks,
            precision: (procedure.ends == Ends::Precise).then_some(procedure.precision),
            behind,
        }
    }

    /// How long answers take at shares of what the slowest stack of each table of `capacity` was seen to carry.
    pub(crate) fn of_latency(experiment: &Experiment, capacity: &Self, done: &Done) -> Self {
        let rounds: Vec<Round> = capacity
            .rounds
            .iter()
            .enumerate()
            .flat_map(|(index, round)| {
                // No other driver keeps a rate, so none has such a round.
                round.at_shares(|connections| capacity.slowest((index, connections, Driver::Proofload), done))
            })
            .collect();
        let blocks = blocks_of(experiment, &rounds);
        let mut places = places_of(experiment, Seed(experiment.seed.0 ^ LATENCY_SEED), blocks, &rounds);
        for place in &mut places {
            place.index += capacity.places.len() as u32;
        }
        Self {
            name: "latency",
            seed: experiment.seed,
            processes: experiment.procedure.processes,
            rounds,
            places,
            blocks,
            precision: None,
            behind: (0, Duration::ZERO),
        }
    }

    pub(crate) fn cell(&self, place: &Place) -> &Cell {
        &self.rounds[place.round].cells[place.cell]
    }

    /// The cell as its trial measures it: with the arrivals of its block.
    pub(crate) fn cell_of_trial(&self, place: &Place) -> Cell {
        let mut cell = self.cell(place).clone();
        let of = ArrivalsOf {
            phase: self.name,
            round: &self.rounds[place.round].name,
            connections: cell.load.connections.get(),
            block: place.block,
        };
        cell.load.seed = of.seed(self.seed);
        cell
    }

    pub(crate) fn table(&self, place: &Place) -> TableKey {
        let cell = self.cell(place);
        (place.round, cell.load.connections.get(), cell.driver)
    }

    /// The load as a trial names it. A control has that of the stacks it belongs to, though its own is shorter.
    pub(crate) fn load(&self, place: &Place) -> NamedLoad {
        let cell = self.cell(place);
        let of_stacks = if cell.role == Role::Control { self.load_of_table(self.table(place)) } else { None };
        of_stacks.unwrap_or_else(|| cell.load.named())
    }

    /// The load of a table: that of its first stack.
    pub(crate) fn load_of_table(&self, (round, connections, _): TableKey) -> Option<NamedLoad> {
        let mut cells = self.rounds[round].cells.iter();
        let of_table = cells.find(|cell| cell.load.connections.get() == connections);
        of_table.map(|cell| cell.load.named())
    }

    /// Whether one of `open` is measured at this place; of a control, beside it in its round. A twin goes on where its stack does:
    /// nothing else is beside it, and it is to serve what its stack does.
    pub(crate) fn is_for(&self, place: &Place, open: &BTreeSet<CellId>) -> bool {
        let (round, cell) = (&self.rounds[place.round].name, self.cell(place));
        let connections = cell.load.connections.get();
        open.iter()
            .filter(|it| it.round == *round)
            .any(|it| cell.role == Role::Control || (&it.stack, it.connections) == (&cell.stack, connections))
    }

    /// Whether a twin at this place serves what its stack does, where processes live for longer than a trial. Neither is tried again at
    /// a load at which it failed. So the twin ends where its stack did, and at all loads once it alone failed at one: what is left of it
    /// would be another kind of process. `has_failed` says of a cell whether it did in the blocks before one.
    pub(crate) fn is_alike(&self, place: &Place, has_failed: impl Fn(CellAt, u32) -> bool) -> bool {
        let cell = self.cell(place);
        if self.processes == Processes::Fresh || cell.role != Role::Twin {
            return true;
        }
        self.doubled(&cell.stack).into_iter().all(|[own, twin]| {
            let is_here = twin == (place.round, place.cell);
            if has_failed(own, place.block) { !is_here } else { !has_failed(twin, place.block) }
        })
    }

    /// The cells of a stack, each with that of its twin, which has as many.
    fn doubled(&self, stack: &str) -> Vec<[CellAt; 2]> {
        let mut pairs = Vec::new();
        for (round, cells) in self.rounds.iter().map(|round| &round.cells).enumerate() {
            let of = move |role: Role| {
                let is_its = move |it: &(usize, &Cell)| it.1.role == role && it.1.stack == stack;
                cells.iter().enumerate().filter(is_its).map(move |(cell, _)| (round, cell))
            };
            pairs.extend(of(Role::Stack).zip(of(Role::Twin)).map(|(own, twin)| [own, twin]));
        }
        pairs
    }

    /// The tables that are as precise as was asked for after the blocks before `block`.
    pub(crate) fn precise_before(&self, block: u32, done: &Done) -> Vec<TableKey> {
        let Some(precision) = self.precision.filter(|_| block >= self.blocks) else { return Vec::new() };
        let tables = self.by_block(block, |place| done.get(&place.index).map(|it| it.ranked)).into_iter();
        tables.filter(|(_, rows)| is_precise(rows, precision.get())).map(|(key, _)| key).collect()
    }

    /// The median rate of the slowest stack of a table that was measured.
    fn slowest(&self, key: TableKey, done: &Done) -> Option<f64> {
        let blocks = self.places.last()?.block + 1;
        let goodput = |place: &Place| done.get(&place.index)?.goodput_per_s;
        let rows = self.by_block(blocks, goodput).remove(&key)?;
        let medians = rows.into_iter().filter_map(|row| {
            let measured: Vec<f64> = row.into_iter().flatten().collect();
            Some(stats::Spread::of(&measured)?.median)
        });
        medians.filter(|rate| *rate > 0.0).min_by(f64::total_cmp)
    }

    /// Of each table and each stack of it, what came of it in each of the blocks before `block`.
    fn by_block<T: Copy>(
        &self,
        block: u32,
        came: impl Fn(&Place) -> Option<T>,
    ) -> BTreeMap<TableKey, Vec<Vec<Option<T>>>> {
        let mut tables: BTreeMap<TableKey, BTreeMap<usize, Vec<Option<T>>>> = BTreeMap::new();
        for place in self.places.iter().filter(|it| it.block < block && self.cell(it).role == Role::Stack) {
            let rows = tables.entry(self.table(place)).or_default();
            let row = rows.entry(place.cell).or_insert_with(|| vec![None; block as usize]);
            row[place.block as usize] = came(place);
        }
        tables.into_iter().map(|(key, rows)| (key, rows.into_values().collect())).collect()
    }
}

/// The blocks that are made at any rate: those asked for, and as many as it takes before any two rows of the largest
/// table can be told apart, as far as the experiment allows so many.
pub(crate) fn blocks_of(experiment: &Experiment, rounds: &[Round]) -> u32 {
    let procedure = &experiment.procedure;
    if procedure.ends == Ends::Decided {
        return procedure.blocks;
    }
    let mut rows: BTreeMap<TableKey, usize> = BTreeMap::new();
    for (index, round) in rounds.iter().enumerate() {
        for cell in round.cells.iter().filter(|cell| cell.role == Role::Stack) {
            *rows.entry((index, cell.load.connections.get(), cell.driver)).or_default() += 1;
        }
    }
    let pairs = rows.into_values().map(pairs_of).max().unwrap_or(0);
    let needed = if pairs == 0 { 0 } else { blocks_needed(pairs) as u32 };
    procedure.blocks.max(needed.min(procedure.blocks_max))
}

/// Every trial that rounds may come to. Where processes live for a block, what is measured of one comes together.
fn places_of(experiment: &Experiment, seed: Seed, blocks: u32, rounds: &[Round]) -> Vec<Place> {
    if experiment.procedure.processes != Processes::Block {
        return order(seed, blocks, &sizes(rounds));
    }
    let mut loads: BTreeMap<TableKey, usize> = BTreeMap::new();
    let mut processes: BTreeMap<(&str, Role), Vec<Served>> = BTreeMap::new();
    for (round, cells) in rounds.iter().map(|round| &round.cells).enumerate() {
        for (index, cell) in cells.iter().enumerate() {
            let next = loads.len();
            let load = *loads.entry((round, cell.load.connections.get(), cell.driver)).or_insert(next);
            processes.entry((&cell.stack, cell.role)).or_default().push(Served { round, cell: index, load });
        }
    }
    order_by_process(seed, blocks, loads.len(), &processes.into_values().collect::<Vec<_>>())
}

fn sizes(rounds: &[Round]) -> Vec<usize> {
    rounds.iter().map(|round| round.cells.len()).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use plan::Pace;
    use plan::stack::Catalogue;

    use super::*;

    fn experiment(text: &str) -> Experiment {
        let stacks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../stacks");
        let catalogue = Catalogue::load(&stacks).expect("the catalogue is valid");
        Experiment::parse(Path::new("x.toml"), text, &catalogue, Pace::Full).expect("it is valid")
    }

    fn with_stacks(stacks: &[&str], load: &str, round: &str) -> Experiment {
        let stacks = stacks.iter().map(|it| format!("\"{it}\"")).collect::<Vec<_>>().join(", ");
        experiment(&format!(
            "title = \"t\"\n[load]\nconnections = [4]\nduration = \"1s\"\n{load}\n[[round]]\nname = \"r\"\n\
             endpoint = \"hello\"\nstacks = [{stacks}]\n{round}"
        ))
    }

    const EIGHT: [&str; 8] = [
        "target-single",
        "target-event-loop",
        "target-pool",
        "target-thread-per-connection",
        "nginx",
        "gin",
        "java-http-fixed-pool",
        "tomcat-today",
    ];

    /// The same in every block, but for what `observation` says of a cell.
    fn done(phase: &Phase, observation: impl Fn(usize, u32) -> Observation) -> Done {
        let came = |place: &Place| Came {
            goodput_per_s: Some(1000.0),
            ranked: observation(place.cell, place.block),
        };
        phase.places.iter().map(|place| (place.index, came(place))).collect()
    }

    #[test]
    fn eight_rows_are_given_the_blocks_that_their_test_needs() {
        let phase = Phase::of_capacity(&with_stacks(&EIGHT, "", ""));
        assert_eq!(phase.blocks, 11);
        let steady = done(&phase, |_, _| Observation::Figure(1000.0));
        assert_eq!(phase.precise_before(10, &steady), []);
        assert_eq!(phase.precise_before(11, &steady).len(), 1);
        assert_eq!(Phase::of_capacity(&with_stacks(&EIGHT[..2], "", "")).blocks, 10);
    }

    #[test]
    fn times_at_a_share_of_what_they_carry_get_as_many_blocks() {
        let experiment = with_stacks(&EIGHT, "", "latency = [\"50%\"]");
        let capacity = Phase::of_capacity(&experiment);
        let latency =
            Phase::of_latency(&experiment, &capacity, &done(&capacity, |_, _| Observation::Figure(1.0)));
        let blocks = latency.places.iter().map(|place| place.block + 1).max();
        assert_eq!((latency.blocks, blocks), (11, Some(11)));
    }

    /// Else a process of a block would be booted and warmed up for each of its shares.
    #[test]
    fn times_of_a_process_of_a_block_come_one_after_another() {
        let mut experiment = with_stacks(&EIGHT[..3], "", "latency = [\"50%\", \"80%\"]");
        experiment.procedure.processes = Processes::Block;
        let capacity = Phase::of_capacity(&experiment);
        let latency =
            Phase::of_latency(&experiment, &capacity, &done(&capacity, |_, _| Observation::Figure(1.0)));
        let process =
            |place: &Place| (place.block, latency.cell(place).stack.clone(), latency.cell(place).role);
        let processes = latency.places.chunk_by(|a, b| process(a) == process(b)).count() as u32;
        assert_eq!(processes, 4 * latency.blocks);
        assert_eq!(latency.places.len() as u32, 2 * processes);
        assert_eq!(latency.places.first().map(|it| it.index), Some(capacity.places.len() as u32));
    }

    /// What stands beside a table is found by the load of that table.
    #[test]
    fn a_control_is_of_the_load_of_its_table_though_its_own_is_another() {
        let phase = Phase::of_capacity(&with_stacks(&EIGHT[..2], "rate = \"300/s\"", ""));
        let control = phase.places.iter().find(|it| phase.cell(it).role == Role::Control).unwrap();
        assert_eq!(phase.cell(control).load.label(), "4 connections");
        assert!(phase.places.iter().all(|place| phase.load(place) == phase.load(control)));
        assert_eq!(phase.load(control).to_string(), "300/s on 4");
    }

    /// Where a rate is asked for, everybody carries it, to the request.
    #[test]
    fn a_table_of_times_goes_on_until_its_times_are_known() {
        let phase = Phase::of_capacity(&with_stacks(&EIGHT[..2], "rate = \"100/s\"", ""));
        let noisy = done(&phase, |cell, block| {
            let off = if (cell as u32 + block).is_multiple_of(2) { 1.3 } else { 0.7 };
            Observation::Figure(off / 5000.0)
        });
        assert_eq!(phase.precise_before(12, &noisy), []);
        let failing = done(&phase, |cell, block| match (cell, block) {
            (0, 3) => Observation::Failed,
            _ => Observation::Figure(1.0 / 5000.0),
        });
        assert_eq!(phase.precise_before(12, &failing), []);
        let steady = done(&phase, |_, _| Observation::Figure(1.0 / 5000.0));
        assert_eq!(phase.precise_before(12, &steady).len(), 1);
    }
}
