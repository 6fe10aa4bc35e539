//! `proofload replicate` as typed.

use std::path::PathBuf;

use clap::Args;
use units::Duration;

use super::Stacks;

/// `proofload replicate`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of a command line")]
#[command(after_help = "\
Examples:
  proofload replicate                                   which write-ups there are
  proofload replicate servlet-containers                measure it, and judge each of its claims
  proofload replicate --all --quick                     one short block of each: where claims point
  proofload replicate gateways --budget 20m             the cells that decide the most claims, in short loads
  proofload replicate gateways --claims slow-api-2000,zuul-200   what these claims need, in a run of its own
  proofload replicate gateways --dry-run                which cells it would measure, and how long that takes
  proofload replicate servlet-containers --no-load      judge what is measured so far, here or in --records
  proofload replicate --all --no-load                   every claim with its verdict
  proofload replicate gateways --export DIR             the records of its last run of all claims, made small

What claims name is measured, and nothing else. Claims are held against the blocks after 6, 8, 10, 14 and 20 of them; one
that is decided goes no further. Each is confirmed, reversed or tied, or it stays open: too little or nothing was measured,
or nothing here can test it. A claimed size is judged beside its direction (docs/claims.md). What is measured is kept under
--runs. The same command goes on where the last one stopped, after Ctrl-C, the end of its budget or a restart of the
machine, and does nothing when all is measured. --new begins again.

A write-up can be measured in parts: --claims names some of its claims. Each claim is judged by one run, the last that
measured all of its cells; blocks of two runs are never put together.")]
pub struct Replicate {
    /// Which write-up: the name of a file in --published, or its path
    #[arg(conflicts_with = "all")]
    pub write_up: Option<String>,
    /// All of them
    #[arg(long)]
    pub all: bool,
    /// Measure what these claims need, in a run of its own: their names, with commas between them
    #[arg(long, value_name = "ID,…", value_delimiter = ',', conflicts_with_all = ["all", "no_load"])]
    pub claims: Vec<String>,
    /// One block of short loads; it supports no claim and shows where each points
    #[arg(long)]
    pub quick: bool,
    /// Measure for so long at most, with short loads: the cells that decide the most claims
    #[arg(long, value_name = "DURATION", conflicts_with = "quick")]
    pub budget: Option<Duration>,
    /// Begin a new run instead of going on with the last one
    #[arg(long)]
    pub new: bool,
    /// Measure nothing; judge the last run, or the records in --records where there is no run
    #[arg(long, conflicts_with_all = ["new", "budget"])]
    pub no_load: bool,
    /// Measure nothing; say what would be measured, how long it takes, and how small a difference it is likely to find
    #[arg(long, conflicts_with_all = ["no_load", "quick", "budget"])]
    pub dry_run: bool,
    /// Measure nothing; copy the records of the last run of all claims, or of those in --claims alone, into this folder. Files
    /// that no report uses are left out
    #[arg(long, value_name = "DIR", conflicts_with_all = ["all", "no_load", "dry_run", "new", "budget"])]
    pub export: Option<PathBuf>,
    /// Folder of records that were measured before, each in NAME/records
    #[arg(long, default_value = "docs/replication", value_name = "DIR")]
    pub records: PathBuf,
    /// Folder of the write-ups
    #[arg(long, default_value = "published", value_name = "DIR")]
    pub published: PathBuf,
    /// Where run directories are made
    #[arg(long, default_value = "runs", value_name = "DIR")]
    pub runs: PathBuf,
    #[command(flatten)]
    pub stacks: Stacks,
    /// Print JSON lines (docs/claims.md), one a write-up, instead of text
    #[arg(long)]
    pub json: bool,
    /// No progress
    #[arg(short, long)]
    pub quiet: bool,
}

impl Replicate {
    /// Whether something was said that only makes sense of write-ups that are named.
    pub fn is_about_one(&self) -> bool {
        let of_run = self.quick || self.new || self.budget.is_some();
        of_run || self.no_load || self.dry_run || self.export.is_some() || !self.claims.is_empty()
    }
}
