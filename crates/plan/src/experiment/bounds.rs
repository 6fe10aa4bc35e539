//! What a run can have at most. Its record is read back within these bounds, as somebody may have sent it: what is beyond them is
//! refused before anything is measured, since nobody could read it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Driver, Experiment, Role, Round};
use crate::error::PlanError;

/// The longest file of an experiment, bytes: a run keeps it.
pub const FILE_BYTES_MAX: u64 = 1 << 20;
/// Trials of a run, repeated ones included.
pub const TRIALS_MAX: u64 = 20_000;
/// Cells of a run, over all of its rounds, loads and drivers.
pub const CELLS_MAX: u64 = 2_000;
/// Stacks of one table, its control included: each pair of them is compared.
pub const STACKS_OF_A_TABLE_MAX: u64 = 64;
/// Bytes of a name: a round's, a stack's, a load's, a step's.
pub const NAME_BYTES_MAX: u64 = 4096;
/// One in so many blocks may be made once more.
pub const REPEATED_ONE_IN: u32 = 5;

/// How much of a name is shown that is too long, characters.
const SHOWN_CHARS: usize = 40;

impl Experiment {
    /// Refuses an experiment whose record nobody could read back.
    ///
    /// # Errors
    /// If there is more of something than a run can have.
    pub fn fits_a_record(&self) -> Result<(), PlanError> {
        let bytes = self.source.len() as u64;
        if bytes > FILE_BYTES_MAX {
            let what = format!("the experiment has {bytes} bytes, and a run keeps at most {FILE_BYTES_MAX}");
            return Err(PlanError::new(what, "take out of its file what it does not need"));
        }
        self.has_short_names()?;
        let tables = self.rounds.iter().flat_map(tables_of);
        let mut cells = 0;
        for stacks in tables {
            cells += stacks;
            at_most(stacks, STACKS_OF_A_TABLE_MAX, "stacks in one table with its control")?;
        }
        at_most(cells, CELLS_MAX, "cells")?;
        let of_block = u64::from(self.block_guess().0) + u64::from(self.latency_block_guess().0);
        let blocks = u64::from(self.procedure.blocks_max);
        let trials = of_block.saturating_mul(blocks + blocks / u64::from(REPEATED_ONE_IN));
        at_most(trials, TRIALS_MAX, "trials with those of repeated blocks")
    }

    fn has_short_names(&self) -> Result<(), PlanError> {
        let rounds = self.rounds.iter();
        let rounds = rounds.flat_map(|it| std::iter::once(it.name.clone()).chain(it.names_at_shares()));
        let rounds = rounds.map(|name| ("round", name));
        let stacks = self.stacks().into_iter().map(|id| ("stack", id.to_owned()));
        rounds.chain(stacks).try_for_each(|(of, name)| short_name(of, &name))
    }
}

/// Refuses a name that a record has no room for. `of` is what has it.
///
/// # Errors
/// If it is too long.
pub fn short_name(of: &str, name: &str) -> Result<(), PlanError> {
    if name.len() as u64 <= NAME_BYTES_MAX {
        return Ok(());
    }
    let begins: String = name.chars().take(SHOWN_CHARS).collect();
    let what = format!(
        "the name of the {of} `{begins}…` has {} bytes, and none has more than {NAME_BYTES_MAX}",
        name.len()
    );
    Err(PlanError::new(what, "give it a shorter one"))
}

/// How many stacks each table of a round has, and each in which their answer times are compared. A twin is of a stack that is there
/// already.
fn tables_of(round: &Round) -> Vec<u64> {
    let mut tables: BTreeMap<(u32, Driver), (BTreeSet<&str>, u64)> = BTreeMap::new();
    for cell in &round.cells {
        let (all, controls) = tables.entry((cell.load.connections.get(), cell.driver)).or_default();
        let is_new = all.insert(cell.stack.as_str());
        *controls += u64::from(is_new && cell.role == Role::Control);
    }
    let of_capacity = tables.values().map(|(all, _)| all.len() as u64);
    let of_latency = tables.values().map(|(all, controls)| all.len() as u64 - controls);
    let shares = round.latency.iter().flat_map(|_| of_latency.clone());
    of_capacity.chain(shares).collect()
}

fn at_most(count: u64, most: u64, of: &str) -> Result<(), PlanError> {
    if count <= most {
        return Ok(());
    }
    let what = format!("a run of it would have {count} {of}, and at most {most} can be read back");
    Err(PlanError::new(what, "take fewer stacks, loads or blocks, or make several experiments of it"))
}
