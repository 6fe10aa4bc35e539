//! The TOML of an experiment, and how its rounds are spelt out in cells.

use std::collections::BTreeSet;
use std::path::Path;

use engine::Load;
use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;
use units::{Duration, ParseError, Seed, Share};

use super::companions::add_companions;
use super::driver::{Driver, Drivers};
use super::load_table::{self, Layers, LoadTable};
use super::procedure::{BurstsTable, Placement, Procedure, ProcedureTable, Processes};
use super::{Cell, Experiment, Pace, Role, Round, latency_of, stacks_of};
use crate::error::PlanError;
use crate::gate::GateTable;
use crate::load::{LoadArguments, LoadPlan};
use crate::stack::{Catalogue, ConnectionUse, Endpoint, Speaks, StackManifest};
use crate::toml_file;

/// A quick run's window and warm-up when the file says nothing of quick runs.
pub(super) const QUICK_SPAN_DEFAULT: Duration = Duration::from_secs(3);

/// The page that shows every key.
const DOCS: &str = "docs/experiments.md";

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

    pub(super) fn parse_driven(
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
            if latency_of(round.name.get_ref()).is_some() {
                let what = format!("`{}` is how answer times of a round are called", round.name.get_ref());
                return Err(reader.place(PlanError::new(what, "rename the round"), Some(&round.name)));
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
        Ok(Round {
            name: name.clone(),
            latency: self.latency(table, &cells)?,
            cells,
            twin: table.twin.unwrap_or(procedure.twin),
            control: table.control.unwrap_or(procedure.control),
        })
    }

    /// The shares at which answer times are compared, each once: two tables of one name would be one in the record. Only where users
    /// ask as fast as they are answered is it seen what they are shares of.
    fn latency(&self, table: &RoundTable, cells: &[Cell]) -> Result<Vec<Share>, PlanError> {
        let mut shares: Vec<Share> = Vec::new();
        for written in &table.latency {
            let text = written.get_ref();
            let wrong =
                |error: ParseError| PlanError::new(format!("`{text}`: {error}"), "write shares as \"70%\"");
            let share: Share = text.parse().map_err(|error| self.place(wrong(error), Some(written)))?;
            if shares.contains(&share) {
                let error = PlanError::new(format!("latency has {share} twice"), "write each share once");
                return Err(self.place(error, Some(written)));
            }
            shares.push(share);
        }
        // All cells of a round have one load, but for their connections.
        let held_back = match cells.first().map(|cell| cell.load.load) {
            Some(Load::Open { .. }) => Some("a rate"),
            Some(Load::Closed { think, .. }) if !think.is_zero() => Some("a think time"),
            _ => None,
        };
        match held_back.zip(table.latency.first()) {
            Some((by, first)) => {
                let what = format!(
                    "with {by} it is not seen what a stack can carry, and `latency` takes shares of that"
                );
                let help = format!("leave {by} out of this round, or leave `latency` out");
                Err(self.place(PlanError::new(what, help), Some(first)))
            }
            None => Ok(shares),
        }
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
