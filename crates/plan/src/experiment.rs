//! An experiment: rounds of stacks × loads × endpoint, read from a TOML file.

use std::collections::BTreeSet;
use std::path::Path;
use std::str::FromStr;

use engine::Expect;
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use toml::Spanned;
use units::{Duration, Rate, Seed};

use crate::error::PlanError;
use crate::load::{LoadArguments, LoadPlan};
use crate::request::{HttpTarget, RequestArguments};
use crate::stack::{Catalogue, ConnectionUse, Endpoint, StackManifest};
use crate::toml_file;

/// Blocks when the file says nothing.
const BLOCKS_DEFAULT: u32 = 3;
/// Blocks at most: a bound on how long a typing error can keep a machine busy.
const BLOCKS_MAX: u32 = 1000;

/// An experiment, checked against the catalogue.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// What it is about.
    pub title: String,
    /// Seed of the order of trials and of arrivals.
    pub seed: Seed,
    /// How often every cell is measured.
    pub blocks: u32,
    /// The tables.
    pub rounds: Vec<Round>,
    /// The file's text, kept with the record.
    pub source: String,
}

/// One table: every stack at every load on one endpoint.
#[derive(Debug, Clone)]
pub struct Round {
    /// Its name, unique in the experiment.
    pub name: String,
    /// Its cells, by load and then by stack.
    pub cells: Vec<Cell>,
}

/// One stack at one load on one endpoint.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Which stack.
    pub stack: String,
    /// What is asked of it, and what it should say.
    pub endpoint: Endpoint,
    /// How.
    pub load: LoadPlan,
}

impl Cell {
    /// The request of this cell to a server at `authority` (`host:port`).
    pub fn target(&self, authority: &str) -> Result<HttpTarget, PlanError> {
        HttpTarget::new(&RequestArguments {
            url: format!("http://{authority}{}", self.endpoint.path),
            close: self.load.reuse == engine::Reuse::FreshConnection,
            ..RequestArguments::default()
        })
    }

    /// What counts as a good answer.
    pub fn expect(&self) -> Expect {
        Expect {
            status: Some(self.endpoint.status),
            body: self.endpoint.body.as_ref().map(|body| body.as_bytes().into()),
        }
    }
}

impl Experiment {
    /// Reads and checks the experiment in `path`.
    pub fn read(path: &Path, catalogue: &Catalogue) -> Result<Self, PlanError> {
        Self::parse(path, &toml_file::read(path)?, catalogue)
    }

    /// Checks the experiment in `text`, the content of `path`.
    pub fn parse(path: &Path, text: &str, catalogue: &Catalogue) -> Result<Self, PlanError> {
        let file: ExperimentFile = toml_file::parse(path, text)?;
        let reader =
            Reader { path, text, catalogue, defaults: &file.load, seed: Seed(file.seed.unwrap_or(0)) };
        let blocks = file.blocks.as_ref().map_or(BLOCKS_DEFAULT, |it| *it.get_ref());
        if !(1..=BLOCKS_MAX).contains(&blocks) {
            let error = PlanError::new(format!("{blocks} blocks"), format!("give 1 to {BLOCKS_MAX}"));
            return Err(reader.place(error, file.blocks.as_ref()));
        }
        let mut names = BTreeSet::new();
        let mut rounds = Vec::new();
        for round in &file.round {
            if !names.insert(round.name.get_ref().as_str()) {
                let what = format!("two rounds are called `{}`", round.name.get_ref());
                return Err(reader.place(PlanError::new(what, "rename one"), Some(&round.name)));
            }
            rounds.push(reader.round(round)?);
        }
        if rounds.is_empty() {
            let error = PlanError::new("the experiment has no round", "add a [[round]] with stacks in it");
            return Err(error.in_file(path));
        }
        Ok(Self { title: file.title, seed: reader.seed, blocks, rounds, source: text.to_owned() })
    }

    /// The stacks that take part, each once, in order of first use.
    pub fn stacks(&self) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let all = self.rounds.iter().flat_map(|round| &round.cells).map(|cell| cell.stack.as_str());
        all.filter(|stack| seen.insert(*stack)).collect()
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExperimentFile {
    title: String,
    seed: Option<u64>,
    blocks: Option<Spanned<u32>>,
    #[serde(default)]
    load: LoadTable,
    #[serde(default)]
    round: Vec<RoundTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RoundTable {
    name: Spanned<String>,
    endpoint: Spanned<String>,
    stacks: Vec<Spanned<String>>,
    #[serde(default)]
    load: Option<Spanned<LoadTable>>,
}

/// The keys of `[load]` and `[round.load]`; the latter's go before.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LoadTable {
    connections: Option<Vec<u32>>,
    threads: Option<u32>,
    #[serde(default, deserialize_with = "parsed")]
    rate: Option<Rate>,
    arrivals: Option<ArrivalsName>,
    backlog_max: Option<u32>,
    #[serde(default, deserialize_with = "parsed")]
    think: Option<Duration>,
    #[serde(default, deserialize_with = "parsed")]
    ramp_up: Option<Duration>,
    requests_per_user: Option<u32>,
    /// As the endpoint's `connection` says, if not given.
    reuse: Option<ReuseName>,
    #[serde(default, deserialize_with = "parsed")]
    duration: Option<Duration>,
    requests: Option<u64>,
    #[serde(default, deserialize_with = "parsed")]
    warm_up: Option<Duration>,
    #[serde(default, deserialize_with = "parsed")]
    timeout: Option<Duration>,
    #[serde(default, deserialize_with = "parsed")]
    connect_timeout: Option<Duration>,
    #[serde(default, deserialize_with = "parsed")]
    idle_timeout: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ArrivalsName {
    Constant,
    Poisson,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ReuseName {
    KeepAlive,
    Fresh,
}

/// A quantity with its unit, as text.
fn parsed<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: std::fmt::Display>,
{
    let text = String::deserialize(deserializer)?;
    text.parse().map(Some).map_err(|error| D::Error::custom(format!("`{text}`: {error}")))
}

/// What every part of a file is read against.
struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    catalogue: &'a Catalogue,
    defaults: &'a LoadTable,
    seed: Seed,
}

impl Reader<'_> {
    fn place<T>(&self, error: PlanError, at: Option<&Spanned<T>>) -> PlanError {
        error.at_offset(self.path, self.text, at.map_or(0, |at| at.span().start))
    }

    fn round(&self, table: &RoundTable) -> Result<Round, PlanError> {
        let empty = LoadTable::default();
        let own = table.load.as_ref().map_or(&empty, Spanned::get_ref);
        let name = table.name.get_ref();
        let connections = own.connections.as_ref().or(self.defaults.connections.as_ref());
        let default = vec![50];
        let connections = connections.unwrap_or(&default);
        if table.stacks.is_empty() || connections.is_empty() {
            let error =
                PlanError::new(format!("the round `{name}` has no cells"), "name stacks and connections");
            return Err(self.place(error, Some(&table.name)));
        }
        let mut cells = Vec::new();
        for count in connections {
            let arguments = self.arguments(own, *count);
            for id in &table.stacks {
                let (stack, endpoint) = self.endpoint(id, &table.endpoint)?;
                let fresh_connections = match own.reuse.or(self.defaults.reuse) {
                    Some(reuse) => reuse == ReuseName::Fresh,
                    None => endpoint.connection == ConnectionUse::Close,
                };
                let arguments = LoadArguments { fresh_connections, ..arguments.clone() };
                let load = LoadPlan::new(&arguments).map_err(|error| match &table.load {
                    Some(load) => self.place(error, Some(load)),
                    None => self.place(error, Some(&table.name)),
                })?;
                cells.push(Cell { stack: stack.id.clone(), endpoint: endpoint.clone(), load });
            }
        }
        self.no_cell_twice(table, &cells)?;
        Ok(Round { name: name.clone(), cells })
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
                let what = format!("the round `{}` has {} twice", table.name.get_ref(), cell.stack);
                Err(self.place(PlanError::new(what, "name it once"), Some(&table.name)))
            }
            None => Ok(()),
        }
    }

    fn arguments(&self, own: &LoadTable, connections: u32) -> LoadArguments {
        let base = self.defaults;
        LoadArguments {
            connections: Some(connections),
            threads: own.threads.or(base.threads),
            rate: own.rate.or(base.rate),
            poisson: own.arrivals.or(base.arrivals) == Some(ArrivalsName::Poisson),
            backlog_max: own.backlog_max.or(base.backlog_max),
            think: own.think.or(base.think),
            ramp_up: own.ramp_up.or(base.ramp_up),
            requests_per_user: own.requests_per_user.or(base.requests_per_user),
            duration: own.duration.or(base.duration),
            requests: own.requests.or(base.requests),
            warm_up: own.warm_up.or(base.warm_up),
            timeout: own.timeout.or(base.timeout),
            connect_timeout: own.connect_timeout.or(base.connect_timeout),
            idle_timeout: own.idle_timeout.or(base.idle_timeout),
            fresh_connections: false,
            seed: Some(self.seed),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn catalogue() -> Catalogue {
        let stacks = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../stacks");
        Catalogue::load(&stacks).expect("the catalogue is valid")
    }

    fn parse(text: &str) -> Result<Experiment, PlanError> {
        Experiment::parse(Path::new("x.toml"), text, &catalogue())
    }

    const GOOD: &str = r#"
title = "t"
[load]
connections = [4, 8]
duration = "2s"
[[round]]
name = "hello"
endpoint = "hello"
stacks = ["target-pool", "target-single"]
load = { timeout = "5s" }
"#;

    #[test]
    fn a_round_is_stacks_times_loads() {
        let experiment = parse(GOOD).unwrap();
        let cells = &experiment.rounds[0].cells;
        assert_eq!(cells.len(), 4);
        assert_eq!(cells[1].stack, "target-single");
        assert_eq!(cells[2].load.connections.get(), 8);
        assert_eq!(cells[0].load.timeouts.request, Duration::from_secs(5));
        assert_eq!(cells[0].load.stop.duration, Duration::from_secs(2));
        assert_eq!(experiment.stacks(), ["target-pool", "target-single"]);
    }

    #[test]
    fn a_round_may_say_how_users_start_and_how_connections_are_used() {
        let keys = r#"ramp_up = "50s", requests_per_user = 1000, reuse = "fresh""#;
        let text = GOOD.replace("duration = \"2s\"\n", "").replace("timeout = \"5s\"", keys);
        let load = &parse(&text).unwrap().rounds[0].cells[0].load;
        assert_eq!(load.label(), "4 users, ramp-up 50s, 1000 requests each, fresh");
        let text = text.replace("\"fresh\"", "\"keep-alive\"");
        assert_eq!(parse(&text).unwrap().rounds[0].cells[0].load.reuse, engine::Reuse::KeepAlive);
    }

    #[test]
    fn every_mistake_names_its_line_and_what_to_do() {
        let with = |from: &str, to: &str| GOOD.replace(from, to);
        for (text, start, part) in [
            (with("duration", "durration"), "x.toml:5:1", "unknown field"),
            (with("\"2s\"", "\"2\""), "x.toml:5:", "unknown unit"),
            (with("[4, 8]", "[0]"), "x.toml:10:", "zero connections"),
            (with("target-pool", "target-pol"), "x.toml:9:", "target-pool"),
            (with("endpoint = \"hello\"", "endpoint = \"helo\""), "x.toml:9:", "helo"),
            (with("\"target-single\"", "\"target-pool\""), "x.toml:7:", "twice"),
            (with("title = \"t\"", "title = \"t\"\nblocks = 0"), "x.toml:3:", "0 blocks"),
            (with("title = \"t\"", ""), "x.toml:1:1", "title"),
            ("title = \"t\"".into(), "x.toml: ", "no round"),
            ("title = ".into(), "x.toml:1:", ""),
        ] {
            let error = parse(&text).unwrap_err().to_string();
            assert!(error.starts_with(start) && error.contains(part), "{error}\nshould be {start} … {part}");
        }
    }
}
