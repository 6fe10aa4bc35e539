//! A part of an experiment by what its cells are: `round=hello`, `stack=gin`, `connections=300`.

use std::collections::BTreeSet;
use std::str::FromStr;

use super::{Cell, Experiment, Role, Round};
use crate::cell_id::CellId;
use crate::error::PlanError;
use crate::nearest;

/// What a cell must be to be measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Only {
    /// Of this round.
    Round(String),
    /// Of this stack.
    Stack(String),
    /// At so many connections.
    Connections(u32),
}

impl FromStr for Only {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Self, PlanError> {
        let wrong = || {
            let help = "write round=NAME, stack=ID or connections=NUMBER";
            PlanError::new(format!("`{text}` names no part of an experiment"), help)
        };
        let (key, value) = text.split_once('=').ok_or_else(wrong)?;
        match key {
            "round" => Ok(Self::Round(value.to_owned())),
            "stack" => Ok(Self::Stack(value.to_owned())),
            "connections" => value.parse().map(Self::Connections).map_err(|_| wrong()),
            _ => Err(wrong()),
        }
    }
}

impl Experiment {
    /// Leaves of the experiment only what `only` names: a cell is of one of its rounds, of one of its stacks and at one
    /// of its connections, where such are named. Each of them names something that is there.
    pub fn keep_only(&mut self, only: &[Only]) -> Result<(), PlanError> {
        let all = || self.rounds.iter().flat_map(|round| round.cells.iter().map(move |cell| (round, cell)));
        let stacks = || all().filter(|(_, cell)| cell.role == Role::Stack);
        if let Some(nothing) = only.iter().find(|it| !stacks().any(|(round, cell)| it.is(round, cell))) {
            let what = format!("the experiment has no cell of {}", nothing.shown());
            let help = "name what is in its file; a quick run has fewer loads";
            let help = match nothing {
                Only::Round(name) => {
                    nearest::help(name, stacks().map(|(round, _)| round.name.as_str()), help)
                }
                Only::Stack(id) => nearest::help(id, stacks().map(|(_, cell)| cell.stack.as_str()), help),
                Only::Connections(_) => help.to_owned(),
            };
            return Err(PlanError::new(what, help));
        }
        let named = stacks().filter(|(round, cell)| {
            only.iter().all(|one| {
                let alike =
                    only.iter().filter(|it| std::mem::discriminant(*it) == std::mem::discriminant(one));
                alike.into_iter().any(|it| it.is(round, cell))
            })
        });
        let cells: BTreeSet<CellId> = named
            .map(|(round, cell)| CellId {
                round: round.name.clone(),
                stack: cell.stack.clone(),
                connections: cell.load.connections.get(),
            })
            .collect();
        self.select(&cells)
    }
}

impl Only {
    fn is(&self, round: &Round, cell: &Cell) -> bool {
        match self {
            Self::Round(name) => round.name == *name,
            Self::Stack(id) => cell.stack == *id,
            Self::Connections(count) => cell.load.connections.get() == *count,
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Round(name) => format!("round `{name}`"),
            Self::Stack(id) => format!("stack `{id}`"),
            Self::Connections(count) => format!("{count} connections"),
        }
    }
}
