//! What a run was and what it ran on.

use std::collections::BTreeMap;

use plan::CellId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Version of [`Manifest`].
pub const MANIFEST_VERSION: u32 = 1;

/// `manifest.json`: enough to repeat the run and to know what its figures are of.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Manifest {
    /// [`MANIFEST_VERSION`] of the writer.
    pub version: u32,
    /// Version of Proofload.
    pub proofload: String,
    /// The commit that was checked out where it ran, with `+` behind it where files differed from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The command line.
    pub argv: Vec<String>,
    /// Title of the experiment.
    pub title: String,
    /// When it started, RFC 3339.
    pub started: String,
    /// Seed of the order of trials and of arrivals.
    pub seed: u64,
    /// Blocks made at any rate.
    pub blocks: u32,
    /// Blocks made at most; beyond [`Manifest::blocks`], a table goes on until it is precise. 0 in records of versions
    /// that made as many as planned.
    #[serde(default)]
    pub blocks_max: u32,
    /// Half-width of the 95 % intervals, as a share, below which a table is precise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<f64>,
    /// Blocks after which claims were held against it, where it went on until they were decided; empty of other runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub looks: Vec<u32>,
    /// `full`, `quick` or `coarse`; empty in records of versions that knew the first two only.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pace: String,
    /// Where client and servers run: `shared` or `split`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub placement: String,
    /// Where `split` cores are of several kinds or NUMA nodes: which of them servers and client had, in words. Absent of others, and in
    /// records of versions that split them by number alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sides: Option<String>,
    /// How long a stack's process lives: `kept` for the whole run, `block` for a block; empty, for one trial.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub processes: String,
    /// Whether a twin's process served all that its stack's did, and where processes lived for a block, all of them went through its
    /// loads in one order. Absent where a process was for one trial, and in records of versions in which a twin served less.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same_loads: bool,
    /// What measures each cell: `proofload`, `wrk`, `jmeter`; empty in records of versions that knew the first only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drivers: Vec<String>,
    /// The cells that are measured, where it is not all of the experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Vec<CellId>>,
    /// Whether it was to be a quick look, with the experiment's shorter loads.
    #[serde(default)]
    pub quick: bool,
    /// Trials of [`Manifest::blocks`] blocks.
    pub trials: u32,
    /// Whether all was made that was to be made; absent in records of versions that did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complete: Option<bool>,
    /// The stacks that take part.
    pub stacks: BTreeMap<String, StackManifest>,
    /// Stacks left out, and why.
    pub left_out: BTreeMap<String, String>,
    /// Versions of the tools the stacks need.
    pub tools: BTreeMap<String, String>,
    /// The machine.
    pub machine: Machine,
}

impl Manifest {
    /// Whether its blocks ended when claims were decided.
    pub const fn ends_when_decided(&self) -> bool {
        !self.looks.is_empty()
    }
}

/// What is known of a stack before it runs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StackManifest {
    /// Its title.
    pub title: String,
    /// Hash of what it was built from; absent where nothing is built.
    pub inputs: Option<String>,
    /// Hash of what it is started with: its own file without comments, and its templates; absent of records before that was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<String>,
    /// Where it was running already; absent of what is started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Version of the JDK it is built and run with, where it asks for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jdk: Option<String>,
    /// The stacks behind it, by id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub upstreams: BTreeMap<String, StackManifest>,
}

impl StackManifest {
    /// Whether it is, and what stands behind it is, as it was `then`, as far as that was recorded.
    pub fn is_as(&self, then: &Self) -> bool {
        let known = |now: &Option<String>, then: &Option<String>| then.is_none() || now == then;
        let of = |it: &Self| (it.title.clone(), it.inputs.clone(), it.url.clone(), it.jdk.clone());
        of(self) == of(then)
            && known(&self.settings, &then.settings)
            && self.upstreams.len() == then.upstreams.len()
            && self.upstreams.iter().all(|(id, it)| then.upstreams.get(id).is_some_and(|then| it.is_as(then)))
    }
}

/// Facts of the machine; what can't be read is absent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// Kernel release.
    pub kernel: Option<String>,
    /// CPU model.
    pub cpu: Option<String>,
    /// Cores this process may use.
    pub cores: usize,
    /// Memory, bytes.
    pub memory_bytes: Option<u64>,
    /// Soft limit of open files.
    pub open_files: Option<u64>,
    /// Kernel settings that bear on the figures.
    pub sysctls: BTreeMap<String, String>,
}
