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

A line a run, by start, and a mark where the figure changed (E-divisive; docs/compare.md). Runs of one experiment make
a series; quick and coarse ones, and those of another machine, make series of their own. It ends with 2 where there is no
run, or none with such a cell.")]
pub struct History {
    /// Where run directories are [default: as [runs] of the proofload.toml of this folder says, or runs]
    #[arg(value_name = "RUNS_DIR")]
    pub runs: Option<PathBuf>,
    /// Which figure
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
    /// Expected answers a second
    Goodput,
    /// Server CPU time a request
    Cpu,
    /// 99th percentile of response time
    P99,
}
