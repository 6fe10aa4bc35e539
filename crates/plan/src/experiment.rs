//! An experiment: rounds of stacks × loads × endpoint, read from a TOML file.

mod load_table;

use std::collections::BTreeSet;
use std::path::Path;

use engine::Expect;
use serde::Deserialize;
use toml::Spanned;
use units::{Duration, Seed};

use self::load_table::{Layers, LoadTable};
use crate::error::PlanError;
use crate::load::LoadPlan;
use crate::request::{HttpTarget, RequestArguments};
use crate::stack::{Catalogue, ConnectionUse, Endpoint, StackManifest};
use crate::toml_file;

/// Blocks when the file says nothing.
const BLOCKS_DEFAULT: u32 = 3;
/// Blocks at most: a bound on how long a typing error can keep a machine busy.
const BLOCKS_MAX: u32 = 1000;

/// A quick run's window and warm-up when the file says nothing of quick runs.
const QUICK_SPAN_DEFAULT: Duration = Duration::from_secs(3);

/// How thoroughly an experiment is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// As its file says.
    Full,
    /// One block, and loads as its table `[quick]` says: a shape in minutes that supports no claim.
    Quick,
}

/// An experiment, checked against the catalogue.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// What it is about.
    pub title: String,
    /// Seed of the order of trials and of arrivals.
    pub seed: Seed,
    /// How often every cell is measured.
    pub blocks: u32,
    /// How thoroughly.
    pub pace: Pace,
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
    pub fn read(path: &Path, catalogue: &Catalogue, pace: Pace) -> Result<Self, PlanError> {
        Self::parse(path, &toml_file::read(path)?, catalogue, pace)
    }

    /// Checks the experiment in `text`, the content of `path`.
    pub fn parse(path: &Path, text: &str, catalogue: &Catalogue, pace: Pace) -> Result<Self, PlanError> {
        let file: ExperimentFile = toml_file::parse(path, text)?;
        let quick = file.quick.unwrap_or_else(|| LoadTable::lasting(QUICK_SPAN_DEFAULT));
        let reader = Reader {
            path,
            text,
            catalogue,
            quick: (pace == Pace::Quick).then_some(&quick),
            defaults: &file.load,
            seed: Seed(file.seed.unwrap_or(0)),
        };
        let blocks = file.blocks.as_ref().map_or(BLOCKS_DEFAULT, |it| *it.get_ref());
        if !(1..=BLOCKS_MAX).contains(&blocks) {
            let error = PlanError::new(format!("{blocks} blocks"), format!("give 1 to {BLOCKS_MAX}"));
            return Err(reader.place(error, file.blocks.as_ref()));
        }
        let blocks = if pace == Pace::Quick { 1 } else { blocks };
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
        Ok(Self { title: file.title, seed: reader.seed, blocks, pace, rounds, source: text.to_owned() })
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
    quick: Option<LoadTable>,
    #[serde(default)]
    round: Vec<RoundTable>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RoundTable {
    name: Spanned<String>,
    endpoint: Spanned<String>,
    stacks: Vec<Spanned<String>>,
    /// Measure each proxy's upstream alone, too.
    #[serde(default)]
    with_upstreams: bool,
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
        let quick = self.quick.map_or(&empty, |quick| table.quick.as_ref().unwrap_or(quick));
        let layers = Layers([quick, own, self.defaults]);
        let name = table.name.get_ref();
        let connections = layers.connections().unwrap_or_else(|| vec![50]);
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
                let arguments = layers.arguments(count, fresh, self.seed);
                let load = LoadPlan::new(&arguments).map_err(|error| match &table.load {
                    Some(load) => self.place(error, Some(load)),
                    None => self.place(error, Some(&table.name)),
                })?;
                cells.push(Cell { stack: stack.id.clone(), endpoint: (*endpoint).clone(), load });
            }
        }
        self.no_cell_twice(table, &cells)?;
        Ok(Round { name: name.clone(), cells })
    }

    /// The round's stacks and what is asked of each. Upstreams come before the first proxy that has them.
    fn stacks(&self, table: &RoundTable) -> Result<Vec<(&StackManifest, &Endpoint)>, PlanError> {
        let mut stacks: Vec<(&StackManifest, &Endpoint)> = Vec::new();
        for id in &table.stacks {
            let named = self.endpoint(id, &table.endpoint)?;
            let behind = named.0.upstream.iter().filter(|_| table.with_upstreams);
            for upstream in behind {
                let at = |error| self.place(error, Some(id));
                let upstream = self.catalogue.get(upstream).map_err(at)?;
                let is_named = table.stacks.iter().any(|named| *named.get_ref() == upstream.id);
                if !is_named && stacks.iter().all(|(stack, _)| stack.id != upstream.id) {
                    stacks.push((upstream, upstream.endpoint(table.endpoint.get_ref()).map_err(at)?));
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
                let what = format!("the round `{}` has {} twice", table.name.get_ref(), cell.stack);
                Err(self.place(PlanError::new(what, "name it once"), Some(&table.name)))
            }
            None => Ok(()),
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
        Experiment::parse(Path::new("x.toml"), text, &catalogue(), Pace::Full)
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

    #[test]
    fn a_quick_run_has_one_block_and_the_loads_of_its_table() {
        let quick = |text: &str| {
            let experiment = Experiment::parse(Path::new("x.toml"), text, &catalogue(), Pace::Quick).unwrap();
            let cells = &experiment.rounds[0].cells;
            (experiment.blocks, cells.len(), cells[0].load.stop.duration, cells[0].load.timeouts.request)
        };
        let five = Duration::from_secs(5);
        assert_eq!(quick(GOOD), (1, 4, QUICK_SPAN_DEFAULT, five));
        let table = "[quick]\nconnections = [4]\nduration = \"1s\"\ntimeout = \"9s\"\n[[round]]";
        let text = GOOD.replacen("[[round]]", table, 1);
        assert_eq!(quick(&text), (1, 2, Duration::from_secs(1), Duration::from_secs(9)));
        assert_eq!(parse(&text).unwrap().blocks, BLOCKS_DEFAULT);
        let own = text.trim_end().to_owned() + "\nquick = { duration = \"7s\" }\n";
        assert_eq!(
            quick(&own),
            (1, 4, Duration::from_secs(7), five),
            "a round's own table replaces the other"
        );
    }

    #[test]
    fn a_round_with_upstreams_measures_each_alone_once() {
        let text = GOOD.replace(
            "stacks = [\"target-pool\", \"target-single\"]",
            "stacks = [\"nginx-proxy\", \"haproxy\"]\nwith_upstreams = true",
        );
        assert_eq!(parse(&text).unwrap().stacks(), ["tomcat-nio", "nginx-proxy", "haproxy"]);
        let text = text.replace("[\"nginx-proxy\"", "[\"nginx-proxy\", \"tomcat-nio\"");
        assert_eq!(parse(&text).unwrap().stacks(), ["nginx-proxy", "tomcat-nio", "haproxy"]);
    }

    /// The experiments of this repository, whole and quick.
    #[test]
    fn every_experiment_is_valid() {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
        let mut count = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            for pace in [Pace::Full, Pace::Quick] {
                let experiment = Experiment::read(&path, &catalogue(), pace);
                assert!(experiment.is_ok(), "{}", experiment.unwrap_err());
            }
            count += 1;
        }
        assert!(count >= 11, "{count} experiments");
    }
}
