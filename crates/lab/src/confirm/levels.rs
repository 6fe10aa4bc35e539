//! Half, as many and twice the users: what any stack can be put to the test by.

use std::path::Path;

use explain::{CellExplanation, Confirmation, Level, confirmed_by_levels, is_told_by_users};
use plan::Experiment;
use plan::stack::Catalogue;
use record::{Driver, Measured, RunDir, Trial, TrialResult, trials_of};

use super::{NotTried, Recorded, nothing};
use crate::beside::Beside;
use crate::error::LabError;

/// Blocks of it: a second one says whether the first was an accident, and each takes three boots.
const BLOCKS: u32 = 2;
/// The longest load, seconds: rates that stay and rates that double are told apart by less.
const WINDOW_S_MAX: f64 = 8.0;

/// Other numbers of users for a cell.
#[derive(Debug)]
pub(super) struct Levels<'a> {
    cell: &'a CellExplanation,
    /// As many connections as the verdict was found with, and exchanges on each.
    users: u32,
    streams: u32,
    /// What measures all numbers of users side by side.
    pub(super) experiment: Experiment,
}

impl<'a> Levels<'a> {
    /// Those for `cell`, of a run with these `trials` and this experiment on record.
    ///
    /// # Errors
    /// A cell of which other numbers of users tell nothing, or whose record lacks what it takes. A load that can't be made again.
    pub(super) fn of(
        cell: &'a CellExplanation,
        trials: &[Trial],
        recorded: &Experiment,
        catalogue: &'a Catalogue,
    ) -> Result<Self, NotTried> {
        let first = cell.explanation.first();
        if !is_told_by_users(first.kind) {
            return nothing(format!("other numbers of users tell nothing of `{}`", first.phrase));
        }
        let recorded = Recorded::of(cell, trials, recorded)?;
        let load = &recorded.measured.load.load;
        let (users, streams) = (load.connections, load.streams.unwrap_or(1));
        let beside = Beside {
            title: &format!("{}: {}", cell.stack, first.phrase),
            endpoint: recorded.endpoint,
            stacks: &[&cell.stack],
            users: &numbers(users),
            blocks: BLOCKS,
            window_s_max: WINDOW_S_MAX,
        };
        let experiment = recorded.experiment(&beside, catalogue)?;
        Ok(Self { cell, users, streams, experiment })
    }

    /// What the rates of the experiment's run in `measured` say of the verdict. `None` where a number of users was not measured.
    pub(super) fn judged(&self, measured: &Path) -> Result<Option<Confirmation>, LabError> {
        let (manifest, trials) = (RunDir::read_manifest(measured)?, RunDir::read_trials(measured)?);
        let own =
            trials_of(&trials, |trial| trial.stack == self.cell.stack && trial.driver == Driver::Proofload);
        let measured: Vec<&Measured> = own
            .filter_map(|trial| match &trial.result {
                TrialResult::Measured(measured) => Some(&**measured),
                TrialResult::Failed { .. } => None,
            })
            .collect();
        let level = |users: u32| {
            let of_level: Vec<&Measured> =
                measured.iter().filter(|it| it.load.load.connections == users).copied().collect();
            // Each connection carries as many users as there are exchanges on it.
            Level::of(self.exchanges(users), &of_level, manifest.machine.cores)
        };
        let levels: Option<Vec<Level>> = numbers(self.users).into_iter().map(level).collect();
        let kind = self.cell.explanation.first().kind;
        Ok(levels.and_then(|levels| confirmed_by_levels(kind, self.exchanges(self.users), levels)))
    }

    fn exchanges(&self, connections: u32) -> u32 {
        connections.saturating_mul(self.streams)
    }
}

/// Half, as many and twice; one user has no half.
fn numbers(users: u32) -> Vec<u32> {
    let half = (users >= 2).then_some(users / 2);
    half.into_iter().chain([users, users.saturating_mul(2)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_halved_and_doubled() {
        assert_eq!(numbers(64), [32, 64, 128]);
        assert_eq!(numbers(3), [1, 3, 6]);
        assert_eq!(numbers(1), [1, 2]);
    }
}
