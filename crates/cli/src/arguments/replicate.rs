//! `proofload replicate` as typed.

use std::path::PathBuf;

use clap::Args;
use units::Duration;

use super::Stacks;

/// `proofload replicate`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of a command line")]
#[command(after_help = "\
Examples:
  proofload replicate                                   which write-ups there are
  proofload replicate servlet-containers                measure it, and judge each of its claims
  proofload replicate --all --quick                     one short block of each: where claims point
  proofload replicate gateways --budget 20m             the cells that decide the most claims, in short loads
  proofload replicate servlet-containers --no-load      judge what is measured so far

Each claim is confirmed, reversed or tied, one with a size in its direction and in its size; or it is open, because too
little or nothing was measured or nothing here can test it (docs/claims.md). What is measured is kept under --runs; the
same command goes on where the last one stopped, be it for Ctrl-C, for the end of its budget or for a
restart of the machine, and does nothing when all is measured. --new begins again.")]
pub struct Replicate {
    /// Which write-up: the name of a file in --published, or its path
    #[arg(conflicts_with = "all")]
    pub write_up: Option<String>,
    /// All of them
    #[arg(long)]
    pub all: bool,
    /// One block of short loads; it supports no claim and shows where each points
    #[arg(long)]
    pub quick: bool,
    /// Measure for so long at most, with short loads: the cells that decide the most claims
    #[arg(long, value_name = "DURATION", conflicts_with = "quick")]
    pub budget: Option<Duration>,
    /// Begin a new run instead of going on with the last one
    #[arg(long)]
    pub new: bool,
    /// Measure nothing; judge the last run
    #[arg(long, conflicts_with_all = ["new", "budget"])]
    pub no_load: bool,
    /// Folder of the write-ups
    #[arg(long, default_value = "published", value_name = "DIR")]
    pub published: PathBuf,
    /// Where run directories are made
    #[arg(long, default_value = "runs", value_name = "DIR")]
    pub runs: PathBuf,
    #[command(flatten)]
    pub stacks: Stacks,
    /// Print JSON lines (version 1; docs/claims.md), one a write-up, instead of text
    #[arg(long)]
    pub json: bool,
    /// No progress
    #[arg(short, long)]
    pub quiet: bool,
}
