//! What is measured beside the cells of rounds: their twins and controls.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{Cell, Companions, Procedure, Processes, Round};
use crate::stack::StackManifest;

/// Puts twins and controls behind the cells that they stand beside, in rounds that have none yet.
pub(super) fn add_companions(rounds: &mut [Round], procedure: &Procedure) {
    let doubled = match procedure.processes {
        Processes::Block | Processes::Kept => Some(stacks_doubled(rounds, procedure.companions)),
        Processes::Fresh => None,
    };
    for round in rounds {
        round.cells = with_companions(round, procedure.companions, doubled.as_ref());
    }
}

/// The round's own cells, each table with its twins and its control behind it. `doubled` are the stacks of which every cell has a
/// twin; without them the first of a table has one.
fn with_companions(round: &Round, companions: Companions, doubled: Option<&BTreeSet<String>>) -> Vec<Cell> {
    let target = StackManifest::control();
    let tables: Vec<&[Cell]> = tables_of(&round.cells).collect();
    let mut cells: Vec<Cell> = Vec::new();
    for (index, table) in tables.iter().enumerate() {
        cells.extend_from_slice(table);
        let first = table.first().filter(|_| has_companions(&tables, index, companions));
        let twins: Vec<&Cell> = match doubled {
            Some(stacks) => table.iter().filter(|cell| stacks.contains(&cell.stack)).collect(),
            None => first.filter(|_| round.twin).into_iter().collect(),
        };
        cells.extend(twins.into_iter().map(Cell::twin));
        let control = first.filter(|_| round.control);
        cells.extend(control.map(|first| first.control(&target.id, &target.endpoints[0])));
    }
    cells
}

/// Whether companions stand beside the table at `index`: where a round has one of each, beside its largest, by each driver.
fn has_companions(tables: &[&[Cell]], index: usize, companions: Companions) -> bool {
    let driver = |table: usize| tables[table][0].driver;
    match companions {
        Companions::OfTables => true,
        Companions::OfRounds => (0..tables.len())
            .filter(|other| driver(*other) == driver(index))
            .max_by_key(|other| (tables[*other].len(), Reverse(*other)))
            .is_some_and(|largest| largest == index),
    }
}

/// The stacks that have a twin where a process serves all of its stack's cells, of a block or of the run. A twin's process has to
/// serve them all, too: one that was never at the loads before is another kind of process. So one twin does for all rounds that its
/// stack is in, and where there is a choice it is the stack with the fewest cells. Who has the least choice goes first: others may do
/// with what it takes.
fn stacks_doubled(rounds: &[Round], companions: Companions) -> BTreeSet<String> {
    let counts = count_by_stack(rounds.iter().flat_map(|round| &round.cells));
    let groups = rounds.iter().filter(|round| round.twin).flat_map(|round| match companions {
        Companions::OfTables => tables_of(&round.cells).collect::<Vec<_>>(),
        Companions::OfRounds => vec![&round.cells[..]],
    });
    let mut choices: Vec<Vec<&str>> = groups.map(with_most_cells).collect();
    choices.sort_by_key(Vec::len);
    let mut doubled: BTreeSet<String> = BTreeSet::new();
    for stacks in choices {
        if stacks.iter().any(|stack| doubled.contains(*stack)) {
            continue;
        }
        let cheapest = stacks.into_iter().min_by_key(|stack| counts[stack]);
        doubled.extend(cheapest.map(str::to_owned));
    }
    doubled
}

/// The stacks that have the most of these cells, in their order: whose twin stands beside as many loads as can be.
fn with_most_cells(cells: &[Cell]) -> Vec<&str> {
    let counts = count_by_stack(cells);
    let most = counts.values().max();
    let mut seen = BTreeSet::new();
    let stacks = cells.iter().map(|cell| cell.stack.as_str()).filter(|stack| seen.insert(*stack));
    stacks.filter(|stack| counts.get(stack) == most).collect()
}

fn count_by_stack<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> BTreeMap<&'a str, usize> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for cell in cells {
        *counts.entry(cell.stack.as_str()).or_default() += 1;
    }
    counts
}

/// Cells that are compared with each other: those at a load, by a driver.
fn tables_of(cells: &[Cell]) -> impl Iterator<Item = &[Cell]> {
    cells.chunk_by(|a, b| (a.load.connections, a.driver) == (b.load.connections, b.driver))
}
