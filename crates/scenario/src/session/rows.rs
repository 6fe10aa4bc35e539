//! Rows of data that a user takes: with each iteration, or in the midst of one.

use super::user::counted;
use super::walk::State;
use super::{Ended, Next};
use crate::model::{DataSharing, Group};
use crate::prepared::Prepared;
use crate::world::{Row, World, row_at};

impl State {
    /// Takes a row of each of the group's data sets; false where one has come to an end that is the user's, too.
    pub(super) fn take_rows(&mut self, group: &Group, prepared: &Prepared, world: &mut World) -> bool {
        match &group.rows {
            Some(sets) => sets.iter().all(|set| self.take_row(*set, prepared, world)),
            None => (0..prepared.tables.len()).all(|set| self.take_row(set, prepared, world)),
        }
    }

    /// Takes a row of the data set of this number; false where it has come to an end that is the user's, too.
    pub(super) fn take_row(&mut self, number: usize, prepared: &Prepared, world: &mut World) -> bool {
        let sets = &prepared.scenario().data;
        // Numbers were looked at before the start.
        let Some((set, table)) = sets.get(number).zip(prepared.tables.get(number)) else { return true };
        let row = match set.sharing {
            DataSharing::All => world.row((number, set), table, None),
            DataSharing::Group => world.row((number, set), table, Some(self.user.group)),
            DataSharing::User => {
                let taken = counted(&mut self.user.taken, number);
                *taken += 1;
                row_at(set, table, *taken - 1)
            }
        };
        match row {
            Row::At(index) => {
                table.row(index).for_each(|(name, value)| self.user.variables.set(name, value));
            }
            Row::Eof => table.names.iter().for_each(|name| self.user.variables.set(name, "<EOF>")),
            Row::Stop => return false,
        }
        true
    }

    /// Takes a row within an iteration. A user for whom there is none ends at once, and what it is in the midst of is cut off.
    pub(super) fn row_or_end(
        &mut self,
        number: usize,
        prepared: &Prepared,
        world: &mut World,
    ) -> Option<Next> {
        if self.take_row(number, prepared, world) {
            return None;
        }
        self.break_off(world.now);
        Some(self.end(Ended::Finished))
    }
}
