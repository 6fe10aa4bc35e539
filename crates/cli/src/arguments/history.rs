//! `proofload history` as typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// `proofload history`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  proofload history
  proofload history runs --stack gin --load 1000
  proofload history runs --metric p99 --round slow-api --json

One line per run, in the order of their start, and a mark where the figure changed (E-divisive; docs/compare.md). The runs of
one experiment are a series; quick runs, coarse runs and those of another machine are series of their own. Ends with 2 if
there is no run, or no run with such a cell.")]
pub struct History {
    /// The folder with the runs [default: as [runs] of the proofload.toml of this folder says, or runs]
    #[arg(value_name = "RUNS_DIR")]
    pub runs: Option<PathBuf>,
    /// The figure to show
    #[arg(long, value_enum, default_value_t = Metric::Goodput)]
    pub metric: Metric,
    /// Only this stack
    #[arg(long)]
    pub stack: Option<String>,
    /// Only this round
    #[arg(long)]
    pub round: Option<String>,
    /// Only this load: its label, or the number that it begins with
    #[arg(long)]
    pub load: Option<String>,
    /// Print JSON (version 1; docs/compare.md) instead of text
    #[arg(long)]
    pub json: bool,
}

/// Which figure of a cell is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Metric {
    /// Expected answers per second
    Goodput,
    /// Server CPU time per request
    Cpu,
    /// 99th percentile of response time
    P99,
}
