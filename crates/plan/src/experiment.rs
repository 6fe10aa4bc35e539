//! An experiment: rounds of stacks × loads × endpoint, read from a TOML file.

pub mod bounds;
mod companions;
mod driver;
mod file;
mod latency;
mod load_table;
mod only;
mod procedure;
mod versions;

use std::collections::BTreeSet;

use engine::{Expect, GoodStatus};
use serde::{Deserialize, Serialize};
use units::{Duration, Seed, Share};

use self::companions::add_companions;
pub use self::driver::{Driver, Drivers};
pub use self::latency::latency_of;
pub use self::only::Only;
pub use self::procedure::{Bursts, Companions, Ends, Placement, Procedure, Processes};
pub use self::versions::Until;
use crate::cell_id::CellId;
use crate::error::PlanError;
use crate::http_version::HttpVersion;
use crate::load::LoadPlan;
use crate::request::{HttpTarget, RequestArguments};
use crate::stack::{ConnectionUse, Endpoint, Speaks};

/// How thoroughly an experiment is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// As its file says.
    Full,
    /// One block, and loads as its table `[quick]` says: a shape in minutes that supports no claim.
    Quick,
    /// As short as quick ones, at every load of the file, and so many blocks that rows can be told apart: what a budget
    /// of minutes can decide. JVMs are hardly warm.
    Coarse,
}

impl Pace {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Quick => "quick",
            Self::Coarse => "coarse",
        }
    }

    /// The pace of that name; the full one of no other.
    pub fn named(name: &str) -> Self {
        [Self::Quick, Self::Coarse].into_iter().find(|it| it.name() == name).unwrap_or(Self::Full)
    }
}

/// An experiment, checked against the catalogue.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// What it is about.
    pub title: String,
    /// Seed of the order of trials and of arrivals.
    pub seed: Seed,
    /// How trials are made, and how many.
    pub procedure: Procedure,
    /// How thoroughly.
    pub pace: Pace,
    /// What measures each cell.
    pub drivers: Drivers,
    /// The tables.
    pub rounds: Vec<Round>,
    /// The file's text, kept with the record.
    pub source: String,
    /// The cells it was cut down to; `None` where it is whole.
    pub selection: Option<BTreeSet<CellId>>,
}

/// Tables: every stack at every load on one endpoint, by every driver.
#[derive(Debug, Clone)]
pub struct Round {
    /// Its name, unique in the experiment.
    pub name: String,
    /// Its cells, by load, then by driver and then by stack; behind those of a load and driver their twins and their
    /// control.
    pub cells: Vec<Cell>,
    /// Shares of what the slowest stack carries, at which answer times are compared in the open model afterwards.
    pub latency: Vec<Share>,
    /// Whether a stack of each of its loads runs twice.
    pub twin: bool,
    /// Whether each of its loads is held against the calibration target.
    pub control: bool,
}

/// What a cell, or a trial of it, is measured for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A stack of the round.
    #[default]
    Stack,
    /// A stack of a load once more: what lies between the two is no difference.
    Twin,
    /// The same client against the calibration target: what it can do at all.
    Control,
}

impl Role {
    /// Whether it is a stack's own.
    pub const fn is_stack(&self) -> bool {
        matches!(self, Self::Stack)
    }
}

/// One stack at one load on one endpoint.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Which stack; of a control, none of the catalogue's.
    pub stack: String,
    /// What for.
    pub role: Role,
    /// What carries its measured load.
    pub driver: Driver,
    /// What is asked of it, and what it should say.
    pub endpoint: Endpoint,
    /// What is spoken with it.
    pub speaks: Speaks,
    /// Connections or rate, times, bounds.
    pub load: LoadPlan,
    /// Whether bursts come before the load, until the stack is steady.
    pub until_steady: bool,
}

/// How long a control is warmed up and measured at most: its server needs no warming, and a rate of several 10,000/s is
/// known to a percent after a second.
const CONTROL_WARM_UP: Duration = Duration::from_secs(1);
const CONTROL_DURATION: Duration = Duration::from_secs(3);

impl Cell {
    fn twin(&self) -> Self {
        Self { role: Role::Twin, ..self.clone() }
    }

    /// The control of a load: its users at once against the calibration target, for no longer than the stacks are
    /// measured. Of a server that closes each connection they have a new one for each request, whatever they meant to do.
    fn control(&self, name: &str, endpoint: &Endpoint) -> Self {
        let stacks = self.load.stop.duration;
        let duration = if stacks.is_zero() { CONTROL_DURATION } else { CONTROL_DURATION.min(stacks) };
        let mut load = self.load.burst(duration);
        load.warm_up = CONTROL_WARM_UP.min(duration / 3);
        if let engine::Load::Open { .. } = load.load {
            load.load = engine::Load::SATURATING;
        }
        if self.endpoint.connection == ConnectionUse::Close {
            load.reuse = engine::Reuse::FreshConnection;
        }
        let (stack, endpoint) = (name.to_owned(), endpoint.clone());
        load.http = HttpVersion::Http1;
        let (role, speaks) = (Role::Control, Speaks::default());
        Self { stack, role, driver: self.driver, endpoint, speaks, load, until_steady: false }
    }

    /// The request of this cell to a server at `authority` (`host:port`).
    pub fn target(&self, authority: &str) -> Result<HttpTarget, PlanError> {
        let is_fresh = self.load.reuse == engine::Reuse::FreshConnection;
        let asked = RequestArguments {
            url: format!("{}://{authority}{}", self.speaks.scheme(), self.endpoint.path),
            // HTTP/2 has no such field; the client closes.
            close: is_fresh && self.load.http == HttpVersion::Http1,
            ..RequestArguments::default()
        };
        HttpTarget::over(self.load.http, &asked)
    }

    /// What counts as a good answer.
    pub fn expect(&self) -> Expect {
        Expect {
            status: GoodStatus::Only(self.endpoint.status),
            body: self.endpoint.body.as_ref().map(|body| body.as_bytes().into()),
        }
    }
}

impl Experiment {
    /// The stacks that take part, each once, in order of first use.
    pub fn stacks(&self) -> Vec<&str> {
        stacks_of(&self.rounds)
    }

    /// Leaves of the experiment only the cells named; what goes with them, twins and controls, is chosen anew.
    pub fn select(&mut self, names: &BTreeSet<CellId>) -> Result<(), PlanError> {
        for round in &mut self.rounds {
            round.cells.retain(|cell| {
                let (round, stack) = (round.name.clone(), cell.stack.clone());
                let connections = cell.load.connections.get();
                cell.role == Role::Stack && names.contains(&CellId { round, stack, connections })
            });
        }
        self.rounds.retain(|round| !round.cells.is_empty());
        add_companions(&mut self.rounds, &self.procedure);
        self.selection = Some(names.clone());
        if self.rounds.is_empty() {
            return Err(PlanError::new(
                "no cell of the experiment was selected",
                "name a round and a stack of it",
            ));
        }
        Ok(())
    }
}

impl Experiment {
    /// Leaves of the experiment what it takes to decide claims that are about `cells`: these, one control a round, and of each round
    /// one of its stacks with a twin, on processes of a block each, in as many blocks as `looks` says: as few as the first of them,
    /// as many as the last.
    pub fn decide(&mut self, cells: &BTreeSet<CellId>, looks: &[u32]) -> Result<(), PlanError> {
        let (Some(first), Some(last)) = (looks.first(), looks.last()) else { return self.select(cells) };
        let procedure = &mut self.procedure;
        (procedure.blocks, procedure.blocks_max) = (*first, *last);
        procedure.companions = Companions::OfRounds;
        procedure.processes = Processes::Block;
        procedure.ends = Ends::Decided;
        self.select(cells)
    }
}

impl Experiment {
    /// How many requests all trials of one cell make together at most, where that is known beforehand of every cell.
    pub fn requests_max(&self) -> Option<u64> {
        // How many are due at a share of a capacity depends on that.
        let are_all_counted = self.rounds.iter().all(|round| round.latency.is_empty());
        let cells = self.rounds.iter().flat_map(|round| &round.cells).filter(|cell| cell.role.is_stack());
        let of_trials: Option<Vec<u64>> = cells.map(|cell| cell.load.requests_max()).collect();
        let most = of_trials.filter(|_| are_all_counted)?.into_iter().max()?;
        let blocks = self.procedure.blocks.max(self.procedure.blocks_max);
        Some(most.saturating_mul(blocks.into()))
    }

    /// Trials of a block, and about how long they take.
    pub fn block_guess(&self) -> (u32, Duration) {
        self.guess_of(self.rounds.iter().flat_map(|round| &round.cells), false)
    }

    /// The same of a later block, which differs where processes are kept.
    pub fn next_block_guess(&self) -> (u32, Duration) {
        let cells = self.rounds.iter().flat_map(|round| &round.cells);
        self.guess_of(cells, self.procedure.processes == Processes::Kept)
    }

    /// The same of a block in which answer times are compared, at all shares.
    pub fn latency_block_guess(&self) -> (u32, Duration) {
        let of_round = |round| Round::cells_at_shares(round).flat_map(|cell| vec![cell; round.latency.len()]);
        self.guess_of(self.rounds.iter().flat_map(of_round), self.procedure.processes == Processes::Kept)
    }

    /// How many cells there are, and how long a trial of each takes in all; `is_up` where their processes are up and warm.
    fn guess_of<'a>(&'a self, cells: impl Iterator<Item = &'a Cell>, is_up: bool) -> (u32, Duration) {
        let mut warm = BTreeSet::new();
        let (mut trials, mut guess) = (0, Duration::ZERO);
        for cell in cells {
            let is_new = !is_up && warm.insert((&cell.stack, cell.role, &cell.endpoint.name));
            guess += self.procedure.trial_guess(cell, is_new || self.procedure.processes == Processes::Fresh);
            trials += 1;
        }
        (trials, guess)
    }
}

fn stacks_of(rounds: &[Round]) -> Vec<&str> {
    let mut seen = BTreeSet::new();
    let all = rounds.iter().flat_map(|round| &round.cells);
    let stacks = all.filter(|cell| cell.role != Role::Control).map(|cell| cell.stack.as_str());
    stacks.filter(|stack| seen.insert(*stack)).collect()
}

#[cfg(test)]
mod tests;
