//! A gate as typed: what `hit` and `run` have in common.

use std::path::PathBuf;

use clap::Args;
use plan::gate::{Against, Condition, max_loss};
use units::{Share, whole};

/// What a service must keep to, and where it is written what came of it.
#[derive(Debug, Args)]
pub struct Gate {
    /// Fail if this holds: p99>50ms, errors>1%, goodput<2000/s, ...; may be repeated (docs/gate.md)
    #[arg(long, value_name = "CONDITION", help_heading = "Gate")]
    pub fail_if: Vec<Condition>,
    /// Write the result of the gate to this file as JUnit XML, for a CI server
    #[arg(long, value_name = "FILE", help_heading = "Gate")]
    pub junit: Option<PathBuf>,
    /// Write the result of the gate to this file as Markdown, for a pull request
    #[arg(long, value_name = "FILE", help_heading = "Gate")]
    pub markdown: Option<PathBuf>,
}

/// What a load can be held to of loads before it.
#[derive(Debug, Args)]
pub struct AgainstLoads {
    /// Fail if this load lost more than --max-loss compared with earlier loads: the results in this folder, as --json prints them.
    /// At least six of them must be of the same load
    #[arg(long, value_name = "DIR", help_heading = "Gate")]
    pub baseline: Option<PathBuf>,
    /// How much loss against the baseline is allowed: of goodput, or of p99 where a rate is given [default: 10%]
    #[arg(long, value_name = "PERCENT", requires = "baseline", help_heading = "Gate", value_parser = max_loss)]
    pub max_loss: Option<Share>,
}

/// What only a run can be held to.
#[derive(Debug, Args)]
pub struct AgainstBaseline {
    /// Fail if a stack lost more than --max-loss compared with this stack of the same run
    #[arg(long, value_name = "STACK", help_heading = "Gate")]
    pub baseline: Option<String>,
    /// Fail if a stack lost more than --max-loss compared with this many earlier runs of the same experiment
    #[arg(long, value_name = "COUNT", help_heading = "Gate", value_parser = whole::<u32>)]
    pub last_runs: Option<u32>,
    /// How much loss against either is allowed: of goodput, or of p99 where rates are given [default: as the file says, or 10%]
    #[arg(long, value_name = "PERCENT", help_heading = "Gate", value_parser = max_loss)]
    pub max_loss: Option<Share>,
}

impl AgainstBaseline {
    /// As a gate takes it.
    pub fn against(&self) -> Against {
        Against { baseline: self.baseline.clone(), last_runs: self.last_runs, max_loss: self.max_loss }
    }
}
