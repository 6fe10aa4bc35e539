//! Rows of data that users take from.

use std::path::PathBuf;

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
