//! Rows of data that users take from, and values that each of them has for itself.

use std::path::PathBuf;

use crate::template::Template;

/// Rows of data from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSet {
    /// The file, as found.
    pub file: PathBuf,
    /// Its columns' names; empty takes the first line for them.
    pub variables: Vec<String>,
    /// Between fields.
    pub delimiter: char,
    /// Whether fields may be quoted.
    pub quoted: bool,
    /// Whether the first line is left out (where `variables` are given).
    pub skip_first: bool,
    /// What becomes of the variables of fields that a row lacks.
    pub lacking: Lacking,
    /// What happens after the last row.
    pub at_end: DataAtEnd,
    /// Who takes rows in turn.
    pub sharing: DataSharing,
}

/// What becomes of the variables of fields that a row lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lacking {
    /// They are empty.
    Empty,
    /// They stay as they were, which may be without a value, as in JMeter.
    AsBefore,
}

/// What happens after the last row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataAtEnd {
    /// The first again.
    Recycle,
    /// The user ends.
    StopUser,
    /// The variables are `<EOF>`, as in JMeter.
    Eof,
}

/// Who takes rows in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataSharing {
    /// All users.
    All,
    /// The users of a group.
    Group,
    /// Each user for itself.
    User,
}

/// Values of variables that go by the number of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserValues {
    /// The variables, in the order in which they are set.
    pub names: Vec<String>,
    /// A row of values for each user of a group by its number, and the first again behind the last. What a row has no value for
    /// stays as it was.
    pub rows: Vec<Vec<Template>>,
}

impl UserValues {
    /// The variables and values of the user with this number.
    pub(crate) fn of(&self, user: u32) -> impl Iterator<Item = (&str, &Template)> {
        let row = (user as usize).checked_rem(self.rows.len()).and_then(|place| self.rows.get(place));
        self.names.iter().map(String::as_str).zip(row.into_iter().flatten())
    }
}
