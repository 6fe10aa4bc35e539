//! `proofload compare` as typed.

use std::path::PathBuf;

use clap::Args;

use units::Share;

/// `proofload compare`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  proofload compare runs/gateways-20260101-120000 runs/gateways-20260108-120000
  proofload compare runs/before runs/after --threshold 5%      fail a CI job on a loss above 5 %
  proofload compare runs/before runs/after --json
  proofload compare runs/before runs/after --junit junit.xml   for a CI server

Cells of both runs with the same round, load and stack are compared by the rank-sum test, with Holm's method over all
of them: by goodput, and at a rate by the 99th percentile of response time.

Exit codes:
  0  what was measured shows that no cell lost more than is allowed
  2  the runs have no cell in common, or can't be read
  4  a cell lost more, fails more or no longer answers
  5  that could not be told: trials are too few or too uneven, or the runs differ in more than the stack
     (machine, kernel, version of Proofload, load)")]
pub struct Compare {
    /// The directory of the run before
    #[arg(value_name = "RUN_A")]
    pub a: PathBuf,
    /// The directory of the run after
    #[arg(value_name = "RUN_B")]
    pub b: PathBuf,
    /// How much loss of goodput, or of p99 at a rate, is allowed [default: 2%, below which nothing is called a change]
    #[arg(long, value_name = "PERCENT")]
    pub threshold: Option<Share>,
    /// Also write JUnit XML to this file: a cell that got worse is a failure
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Print JSON (version 2; docs/compare.md) instead of text
    #[arg(long)]
    pub json: bool,
}
