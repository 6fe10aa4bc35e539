//! Which cells a run still measures that goes on until claims are decided.

use std::collections::BTreeSet;

use plan::{CellId, Claim};
use record::{RunDir, Trial};

use crate::error::LabError;

/// The cells that `claims` leave open after the blocks before `block`; `None` where nothing is looked at then. By the run's
/// records alone, so that one that is resumed comes to the same.
pub(crate) fn open_before(
    block: u32,
    claims: &[Claim],
    run: &RunDir,
) -> Result<Option<BTreeSet<CellId>>, LabError> {
    if !stats::LOOKS.contains(&(block as usize)) {
        return Ok(None);
    }
    let manifest = RunDir::read_manifest(run.path())?;
    let mut trials: Vec<Trial> = RunDir::read_trials(run.path())?;
    trials.retain(|trial| trial.block < block);
    Ok(Some(explain::open_cells(claims, &trials, &manifest)))
}
