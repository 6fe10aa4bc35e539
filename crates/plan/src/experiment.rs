//! An experiment: rounds of stacks × loads × endpoint, read from a TOML file.

pub mod bounds;
mod companions;
mod driver;
mod latency;
mod load_table;
mod only;
mod procedure;
mod versions;

use std::collections::BTreeSet;
use std::path::Path;

use engine::{Expect, GoodStatus};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use toml::Spanned;
use units::{Duration, Seed, Share};

use self::companions::add_companions;
pub use self::driver::{Driver, Drivers};
pub use self::latency::latency_of;
use self::load_table::{Layers, LoadTable};
pub use self::only::Only;
pub use self::procedure::{Bursts, Companions, Ends, Placement, Procedure, Processes};
use self::procedure::{BurstsTable, ProcedureTable};
pub use self::versions::Until;
use crate::cell_id::CellId;
use crate::error::PlanError;
use crate::gate::GateTable;
use crate::http_version::HttpVersion;
use crate::load::{LoadArguments, LoadPlan};
use crate::request::{HttpTarget, RequestArguments};
use crate::stack::{Catalogue, ConnectionUse, Endpoint, Speaks, StackManifest};
use crate::toml_file;

/// A quick run's window and warm-up when the file says nothing of quick runs.
const QUICK_SPAN_DEFAULT: Duration = Duration::from_secs(3);

/// The page that shows every key.
const DOCS: &str = "docs/experiments.md";

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
    /// measured.
    fn control(&self, name: &str, endpoint: &Endpoint) -> Self {
        let stacks = self.load.stop.duration;
        let duration = if stacks.is_zero() { CONTROL_DURATION } else { CONTROL_DURATION.min(stacks) };
        let mut load = self.load.burst(duration);
        load.warm_up = CONTROL_WARM_UP.min(duration / 3);
        if let engine::Load::Open { .. } = load.load {
            load.load = engine::Load::SATURATING;
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
    /// Reads and checks the experiment in `path`.
    pub fn read(path: &Path, catalogue: &Catalogue, pace: Pace) -> Result<Self, PlanError> {
        Self::read_driven(path, catalogue, pace, None)
    }

    /// The same, measured by `drivers` and not by those that the file names, where there are any.
    pub fn read_driven(
        path: &Path,
        catalogue: &Catalogue,
        pace: Pace,
        drivers: Option<&Drivers>,
    ) -> Result<Self, PlanError> {
        Self::parse_driven(path, &toml_file::read(path)?, catalogue, pace, drivers)
    }

    /// Checks the experiment in `text`, the content of `path`.
    pub fn parse(path: &Path, text: &str, catalogue: &Catalogue, pace: Pace) -> Result<Self, PlanError> {
        Self::parse_driven(path, text, catalogue, pace, None)
    }

    fn parse_driven(
        path: &Path,
        text: &str,
        catalogue: &Catalogue,
        pace: Pace,
        drivers: Option<&Drivers>,
    ) -> Result<Self, PlanError> {
        let mut file: ExperimentFile = toml_file::parse(path, text, DOCS)?;
        let procedure =
            file.procedure().check(pace).map_err(|(error, at)| error.at_offset(path, text, at))?;
        let quick = file.quick.unwrap_or_else(|| LoadTable::lasting(QUICK_SPAN_DEFAULT));
        let reader = Reader {
            path,
            text,
            catalogue,
            quick: (pace != Pace::Full).then_some(&quick),
            at_every_load: pace != Pace::Quick,
            defaults: &file.load,
        };
        let drivers = drivers.or(file.driver.as_ref()).cloned().unwrap_or_default();
        let mut names = BTreeSet::new();
        let mut rounds = Vec::new();
        for round in &file.round {
            if !names.insert(round.name.get_ref().as_str()) {
                let what = format!("two rounds are called `{}`", round.name.get_ref());
                return Err(reader.place(PlanError::new(what, "rename one"), Some(&round.name)));
            }
            let driven = with_drivers(reader.round(round, &procedure)?, &drivers)
                .map_err(|error| reader.place(error, Some(&round.name)))?;
            rounds.push(driven);
        }
        add_companions(&mut rounds, &procedure);
        if rounds.is_empty() {
            let error = PlanError::new("the experiment has no round", "add a [[round]] with stacks in it");
            return Err(error.in_file(path));
        }
        if let Some(gate) = &file.gate {
            // Held against the trials when they are made; a mistake in it is told before.
            let stacks = stacks_of(&rounds);
            GateTable::check(gate, Some(&stacks)).map_err(|(error, at)| error.at_offset(path, text, at))?;
        }
        Ok(Self {
            title: file.title,
            seed: Seed(file.seed.unwrap_or(0)),
            procedure,
            pace,
            drivers,
            rounds,
            source: text.to_owned(),
            selection: None,
        })
    }

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

/// The round with its cells measured by each driver, all of which can make their loads.
fn with_drivers(round: Round, drivers: &Drivers) -> Result<Round, PlanError> {
    drivers.iter().try_for_each(|driver| driver.can_carry_all(&round))?;
    let of_load = round.cells.chunk_by(|a, b| a.load.connections == b.load.connections);
    let cells = of_load.flat_map(|of_load| {
        drivers.iter().flat_map(move |driver| of_load.iter().map(move |cell| Cell { driver, ..cell.clone() }))
    });
    Ok(Round { cells: cells.collect(), ..round })
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExperimentFile {
    title: String,
    seed: Option<u64>,
    blocks: Option<Spanned<u32>>,
    blocks_max: Option<Spanned<u32>>,
    #[serde(default, deserialize_with = "load_table::parsed")]
    precision: Option<Share>,
    twin: Option<bool>,
    control: Option<bool>,
    #[serde(default, deserialize_with = "load_table::parsed")]
    driver: Option<Drivers>,
    #[serde(default)]
    placement: Placement,
    #[serde(default)]
    processes: Processes,
    #[serde(default)]
    jvm_events: bool,
    #[serde(default)]
    bursts: BurstsTable,
    #[serde(default, deserialize_with = "load_table::parsed")]
    cool_down_max: Option<Duration>,
    idle_look: Option<Spanned<String>>,
    #[serde(default)]
    load: LoadTable,
    quick: Option<LoadTable>,
    gate: Option<Spanned<GateTable>>,
    /// Read by [`StackManifest::services`].
    #[serde(default, rename = "service")]
    _services: IgnoredAny,
    /// Read by [`crate::KeptRuns`].
    #[serde(default, rename = "runs")]
    _runs: IgnoredAny,
    #[serde(default)]
    round: Vec<RoundTable>,
}

impl ExperimentFile {
    /// The keys that are about its trials; serde can't flatten what has spans.
    fn procedure(&mut self) -> ProcedureTable {
        ProcedureTable {
            blocks: self.blocks.take(),
            blocks_max: self.blocks_max.take(),
            precision: self.precision,
            twin: self.twin,
            control: self.control,
            placement: self.placement,
            processes: self.processes,
            jvm_events: self.jvm_events,
            bursts: std::mem::take(&mut self.bursts),
            cool_down_max: self.cool_down_max,
            idle_look: self.idle_look.take(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RoundTable {
    name: Spanned<String>,
    endpoint: Spanned<String>,
    stacks: Vec<Spanned<String>>,
    /// Measure the stacks right behind each one alone, too.
    #[serde(default)]
    with_upstreams: bool,
    /// Shares of the slowest stack's capacity at which latency is compared.
    #[serde(default)]
    latency: Vec<Spanned<String>>,
    /// In place of the experiment's.
    twin: Option<bool>,
    control: Option<bool>,
    load: Option<Spanned<LoadTable>>,
    quick: Option<LoadTable>,
}

/// What every part of a file is read against.
struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    catalogue: &'a Catalogue,
    /// In a quick run, what goes before a round's `load`, unless the round says so itself.
    quick: Option<&'a LoadTable>,
    /// Whether those of a quick run's connections that are left out are loaded all the same.
    at_every_load: bool,
    defaults: &'a LoadTable,
}

impl Reader<'_> {
    fn place<T>(&self, error: PlanError, at: Option<&Spanned<T>>) -> PlanError {
        error.at_offset(self.path, self.text, at.map_or(0, |at| at.span().start))
    }

    fn round(&self, table: &RoundTable, procedure: &Procedure) -> Result<Round, PlanError> {
        let empty = LoadTable::default();
        let own = table.load.as_ref().map_or(&empty, Spanned::get_ref);
        let quick = self.quick.map_or(&empty, |quick| table.quick.as_ref().unwrap_or(quick));
        let layers = Layers([quick, own, self.defaults]);
        let name = table.name.get_ref();
        let connections = layers.connections(self.at_every_load).unwrap_or_else(|| vec![50]);
        if table.stacks.is_empty() || connections.is_empty() {
            let error =
                PlanError::new(format!("the round `{name}` has no cells"), "name stacks and connections");
            return Err(self.place(error, Some(&table.name)));
        }
        let stacks = self.stacks(table)?;
        let mut cells = Vec::new();
        for count in connections {
            for (stack, endpoint) in &stacks {
                let by_design = || endpoint.connection == ConnectionUse::Close;
                let fresh = layers.fresh_connections().unwrap_or_else(by_design);
                let speaks = self.speaks(table, stack, &layers)?;
                let streams = layers.streams();
                if let Some(streams) = streams.filter(|_| !speaks.http2) {
                    let what = format!("{streams} streams, and `{}` speaks HTTP/1.1", stack.id);
                    let help = "leave streams out, or name stacks that speak HTTP/2 only";
                    return Err(self.place(PlanError::new(what, help), Some(&table.name)));
                }
                let arguments =
                    LoadArguments { http2: speaks.http2(streams), ..layers.arguments(count, fresh) };
                let load = LoadPlan::new(&arguments).map_err(|error| match &table.load {
                    Some(load) => self.place(error, Some(load)),
                    None => self.place(error, Some(&table.name)),
                })?;
                let (stack, endpoint) = (stack.id.clone(), (*endpoint).clone());
                cells.push(Cell {
                    stack,
                    role: Role::Stack,
                    driver: Driver::default(),
                    endpoint,
                    speaks,
                    load,
                    until_steady: layers.until_steady(),
                });
            }
        }
        self.no_cell_twice(table, &cells)?;
        let latency = table.latency.iter().map(|share| {
            let wrong =
                |error| PlanError::new(format!("`{}`: {error}", share.get_ref()), "write shares as \"70%\"");
            share.get_ref().parse::<Share>().map_err(|error| self.place(wrong(error), Some(share)))
        });
        Ok(Round {
            name: name.clone(),
            cells,
            latency: latency.collect::<Result<_, _>>()?,
            twin: table.twin.unwrap_or(procedure.twin),
            control: table.control.unwrap_or(procedure.control),
        })
    }

    /// What is spoken with `stack`: what the load says, if the stack speaks it, or else what the stack does by itself.
    fn speaks(
        &self,
        table: &RoundTable,
        stack: &StackManifest,
        layers: &Layers<'_>,
    ) -> Result<Speaks, PlanError> {
        let Some(protocol) = layers.protocol() else { return Ok(stack.spoken.first()) };
        stack.spoken.by(protocol).ok_or_else(|| {
            let spoken: Vec<&str> = stack.spoken.all().map(|it| it.protocol().name()).collect();
            let what = format!("`{}` speaks {}, and no {}", stack.id, spoken.join(" and "), protocol.name());
            let help = "leave protocol out, or name stacks whose [run] offers it";
            self.place(PlanError::new(what, help), Some(&table.name))
        })
    }

    /// The round's stacks and what is asked of each. Upstreams come before the first proxy that has them.
    fn stacks(&self, table: &RoundTable) -> Result<Vec<(&StackManifest, &Endpoint)>, PlanError> {
        let mut stacks: Vec<(&StackManifest, &Endpoint)> = Vec::new();
        for id in &table.stacks {
            let named = self.endpoint(id, &table.endpoint)?;
            if table.with_upstreams {
                let behind = self.catalogue.behind(named.0, table.endpoint.get_ref());
                for (upstream, endpoint) in behind.map_err(|error| self.place(error, Some(id)))? {
                    let is_named = table.stacks.iter().any(|named| *named.get_ref() == upstream.id);
                    if !is_named && stacks.iter().all(|(stack, _)| stack.id != upstream.id) {
                        stacks.push((upstream, endpoint));
                    }
                }
            }
            stacks.push(named);
        }
        Ok(stacks)
    }

    fn endpoint(
        &self,
        stack: &Spanned<String>,
        endpoint: &Spanned<String>,
    ) -> Result<(&StackManifest, &Endpoint), PlanError> {
        let manifest = self.catalogue.get(stack.get_ref()).map_err(|error| self.place(error, Some(stack)))?;
        let found = manifest.endpoint(endpoint.get_ref()).map_err(|error| self.place(error, Some(stack)))?;
        Ok((manifest, found))
    }

    fn no_cell_twice(&self, table: &RoundTable, cells: &[Cell]) -> Result<(), PlanError> {
        let mut seen = BTreeSet::new();
        match cells.iter().find(|cell| !seen.insert((&cell.stack, cell.load.label()))) {
            Some(cell) => {
                let (round, stack) = (table.name.get_ref(), &cell.stack);
                let named = table.stacks.iter().filter(|it| it.get_ref() == stack).count();
                let error = if named > 1 {
                    PlanError::new(format!("the round `{round}` has {stack} twice"), "name it once")
                } else {
                    let what = format!("the round `{round}` has the load of {} twice", cell.load.label());
                    PlanError::new(what, "write each number of connections once")
                };
                Err(self.place(error, Some(&table.name)))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
