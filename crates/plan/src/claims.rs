//! What a write-up claims, as data: read from a TOML file and checked against the experiment that repeats it.
//!
//! A claim is a sentence and a statement that records can be held against. After reading, every statement is spelt out
//! in cells: what the file says of three stacks at four loads is so many pairs of cells here, each with the figures that
//! were published of it. `docs/claims.md` has every key and the rules by which claims are judged.

mod file;
mod select;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cell_id::CellId;
use crate::error::PlanError;
use crate::experiment::{Experiment, Pace};
use crate::nearest;
use crate::stack::Catalogue;
use crate::toml_file;

pub use self::select::{Selection, cheapest};

/// How near two figures have to be before they count as the same, as a share, where neither the file nor the published
/// figures say otherwise: what machines of one kind differ by, and far above what a pool's ceiling is missed by.
pub const WITHIN_DEFAULT: f64 = 0.05;

/// A write-up: what it measured on, and what it claims.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteUp {
    /// What it is about.
    pub title: String,
    /// Where it was published, as far as it says.
    pub source: String,
    /// When, as far as it says.
    pub when: String,
    /// What it measured on.
    pub machine: PublishedMachine,
    /// What made its load, and with which options.
    pub driver: String,
    /// What is otherwise here than it was there, beside machine and JDK.
    pub settings: Vec<OtherSetting>,
    /// The experiment that repeats it: as the file names it, and from [`WriteUp::read`] where that lies.
    pub experiment: PathBuf,
    /// What it claims, in its order.
    pub claims: Vec<Claim>,
}

/// The machine of a write-up.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedMachine {
    /// Cores, where it says so.
    pub cores: Option<u32>,
    /// Memory, GB, where it says so.
    pub memory_gb: Option<f64>,
    /// Version of its JDK, where it says so.
    pub jdk: Option<String>,
    /// In words: the product, the system, where the client ran.
    pub description: String,
}

/// Something that stacks were set to otherwise than they are here.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherSetting {
    /// The stacks that have it.
    pub stacks: Vec<String>,
    /// What it is.
    pub what: String,
    /// Its value there; of what grows with the cores, `per_core` says it.
    pub there: Option<String>,
    /// Its value here, likewise.
    pub here: Option<String>,
    /// So many a core, there as here.
    pub per_core: Option<u32>,
}

/// One claim.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// Its name, unique in the write-up.
    pub id: String,
    /// What is claimed, in our words.
    pub sentence: String,
    /// Whether it is in the write-up's figures and not in its words.
    pub is_derived: bool,
    /// What it is about.
    pub metric: Metric,
    /// What is to be held against records.
    pub statement: Statement,
}

/// What a claim is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Expected answers a second.
    #[default]
    Goodput,
    /// The mean response time, µs.
    ResponseMean,
    /// The median response time, µs.
    ResponseP50,
    /// The 90th percentile of response time, µs.
    ResponseP90,
    /// The 99th percentile of response time, µs.
    ResponseP99,
    /// The longest response time, µs.
    ResponseMax,
    /// Requests that were not answered as expected, as a share of all.
    FailedShare,
    /// Threads of the server, as many as were seen at once.
    ServerThreads,
}

impl Metric {
    /// The figure's name in a record's distribution of response times; `None` of what is no such time.
    pub const fn response_figure(self) -> Option<&'static str> {
        match self {
            Self::Goodput | Self::FailedShare | Self::ServerThreads => None,
            Self::ResponseMean => Some("mean"),
            Self::ResponseP50 => Some("p50"),
            Self::ResponseP90 => Some("p90"),
            Self::ResponseP99 => Some("p99"),
            Self::ResponseMax => Some("max"),
        }
    }

    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Goodput => "goodput",
            Self::ResponseMean => "mean response time",
            Self::ResponseP50 => "median response time",
            Self::ResponseP90 => "90th percentile of response time",
            Self::ResponseP99 => "99th percentile of response time",
            Self::ResponseMax => "longest response time",
            Self::FailedShare => "share of requests that failed",
            Self::ServerThreads => "threads of the server",
        }
    }
}

/// Two cells, and what was published of them in the metric's unit (1/s, or µs).
#[derive(Debug, Clone, PartialEq)]
pub struct CellPair {
    /// The first.
    pub a: CellId,
    /// The second.
    pub b: CellId,
    /// Of the first and of the second, where both were published.
    pub published: Option<(f64, f64)>,
}

/// What a cell's figure should come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// The cell.
    pub cell: CellId,
    /// The figure that the claim implies on the machine of the write-up, in the metric's unit.
    pub value: f64,
    /// What was published of the cell.
    pub published: Option<f64>,
}

/// What is to be held against records.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// In each pair the first figure is above the second.
    Order(Vec<CellPair>),
    /// In each pair the first figure is so many times the second.
    Ratio {
        /// The pairs.
        pairs: Vec<CellPair>,
        /// So many times.
        ratio: f64,
    },
    /// Each cell's figure is at its level: a limit that something other than the load sets.
    Ceiling {
        /// The levels.
        levels: Vec<Level>,
        /// On how many cores, where the level is in proportion to them.
        cores_published: Option<u32>,
        /// How near it has to be, as a share of the level.
        within: f64,
    },
    /// A stack's figure is the same at every load; each load is paired with the first.
    Invariance {
        /// The pairs.
        pairs: Vec<CellPair>,
        /// How near they have to be, as a share.
        within: f64,
    },
    /// Two stacks' figures are the same.
    Equal {
        /// The pairs.
        pairs: Vec<CellPair>,
        /// How near they have to be, as a share.
        within: f64,
    },
    /// Nothing here can test it.
    NotTestable {
        /// Why not.
        why: String,
    },
}

impl Claim {
    /// The cells it takes to judge this claim, each once; none of one that can't be tested.
    pub fn cells(&self) -> Vec<CellId> {
        let mut cells: BTreeSet<&CellId> = BTreeSet::new();
        match &self.statement {
            Statement::Order(pairs)
            | Statement::Ratio { pairs, .. }
            | Statement::Invariance { pairs, .. }
            | Statement::Equal { pairs, .. } => cells.extend(pairs.iter().flat_map(|it| [&it.a, &it.b])),
            Statement::Ceiling { levels, .. } => cells.extend(levels.iter().map(|it| &it.cell)),
            Statement::NotTestable { .. } => {}
        }
        cells.into_iter().cloned().collect()
    }
}

impl Claim {
    /// The claim load by load, each part a claim of its own that says so: what a run of some of the loads can decide. A
    /// claim that compares loads with each other, or is of one load, is whole.
    pub fn by_load(&self) -> Vec<Self> {
        let loads: BTreeSet<u32> = self.cells().iter().map(|cell| cell.connections).collect();
        if loads.len() < 2 || !self.keeps_loads_apart() {
            return vec![self.clone()];
        }
        let at = |load: u32| Self {
            id: format!("{}/{load}", self.id),
            sentence: format!("{} (here: at {load} connections)", self.sentence),
            is_derived: self.is_derived,
            metric: self.metric,
            statement: self.statement.at(load),
        };
        loads.into_iter().map(at).collect()
    }

    fn keeps_loads_apart(&self) -> bool {
        match &self.statement {
            Statement::Order(pairs)
            | Statement::Ratio { pairs, .. }
            | Statement::Invariance { pairs, .. }
            | Statement::Equal { pairs, .. } => pairs.iter().all(|it| it.a.connections == it.b.connections),
            Statement::Ceiling { .. } | Statement::NotTestable { .. } => true,
        }
    }
}

impl Statement {
    /// What it says of one load.
    fn at(&self, load: u32) -> Self {
        let mut own = self.clone();
        match &mut own {
            Self::Order(pairs)
            | Self::Ratio { pairs, .. }
            | Self::Invariance { pairs, .. }
            | Self::Equal { pairs, .. } => pairs.retain(|it| it.a.connections == load),
            Self::Ceiling { levels, .. } => levels.retain(|it| it.cell.connections == load),
            Self::NotTestable { .. } => {}
        }
        own
    }
}

impl WriteUp {
    /// Reads the write-up in `path` and checks it against its experiment, which it names relative to itself.
    pub fn read(path: &Path, catalogue: &Catalogue) -> Result<Self, PlanError> {
        let text = toml_file::read(path)?;
        let named = file::experiment_of(path, &text)?;
        let experiment_path = path.parent().unwrap_or(Path::new("")).join(named);
        let experiment = Experiment::read(&experiment_path, catalogue, Pace::Full)?;
        Ok(Self { experiment: experiment_path, ..Self::parse(path, &text, &experiment)? })
    }

    /// The write-up with those of its claims alone that `ids` name, in its own order; all of them where none is named.
    pub fn with_claims(&self, ids: &[String]) -> Result<Self, PlanError> {
        let known = || self.claims.iter().map(|claim| claim.id.as_str());
        if let Some(unknown) = ids.iter().find(|id| known().all(|it| it != id.as_str())) {
            let choose = format!("choose {}", known().collect::<Vec<_>>().join(", "));
            let help = nearest::help(unknown, known(), &choose);
            return Err(PlanError::new(format!("there is no claim `{unknown}` in `{}`", self.title), help));
        }
        let claims = self.claims.iter().filter(|claim| ids.is_empty() || ids.contains(&claim.id));
        Ok(Self { claims: claims.cloned().collect(), ..self.clone() })
    }

    /// Checks the write-up in `text`, the content of `path`, against `experiment`.
    pub fn parse(path: &Path, text: &str, experiment: &Experiment) -> Result<Self, PlanError> {
        file::parse(path, text, experiment)
    }
}

#[cfg(test)]
mod tests;
