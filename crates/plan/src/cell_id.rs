//! The name of a cell.

use serde::{Deserialize, Serialize};

/// One stack at one load, as claims and parts of an experiment name it: a round has one load for each number of
/// connections. Who carries it is not said.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CellId {
    /// The experiment's round.
    pub round: String,
    /// The stack.
    pub stack: String,
    /// Connections, or users.
    pub connections: u32,
}
