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

Only what the claims are about is measured. They are checked after 6, 8, 10, 14 and 20 blocks, and a claim that is decided is
not measured further. Each claim is confirmed, reversed or tied, or it stays open: too little or nothing was measured, or it
can't be tested here. A claimed size is judged besides its direction (docs/claims.md). Measurements are kept under --runs.
The same command continues where the last one stopped, after Ctrl-C, the end of its budget or a restart of the machine, and
does nothing when everything is measured. --new begins again.

A write-up (a published benchmark) can be measured in parts: --claims names some of its claims. Each claim is judged by one
run, the last one that measured all of its cells; blocks of two runs are never combined.")]
pub struct Replicate {
    /// The write-up: the name of a file in --published, or its path
    #[arg(conflicts_with = "all")]
    pub write_up: Option<String>,
    /// All write-ups
    #[arg(long)]
    pub all: bool,
    /// Measure what these claims need, in a run of its own: their names, separated by commas
    #[arg(long, value_name = "ID,…", value_delimiter = ',', conflicts_with_all = ["all", "no_load"])]
    pub claims: Vec<String>,
    /// One block of short loads: shows where each claim points, decides none
    #[arg(long)]
    pub quick: bool,
    /// Measure for at most this long, with short loads: the cells that decide the most claims
    #[arg(long, value_name = "DURATION", conflicts_with = "quick")]
    pub budget: Option<Duration>,
    /// Begin a new run instead of continuing the last one
    #[arg(long)]
    pub new: bool,
    /// Measure nothing; judge the last run, or the records in --records where there is no run
    #[arg(long, conflicts_with_all = ["new", "budget"])]
    pub no_load: bool,
    /// Measure nothing; say what would be measured, how long it would take, and how small a difference it would probably find
    #[arg(long, conflicts_with_all = ["no_load", "quick", "budget"])]
    pub dry_run: bool,
    /// Measure nothing; copy the records of the last run of all claims, or of those in --claims, into this folder. Files that no
    /// report uses are left out
    #[arg(long, value_name = "DIR", conflicts_with_all = ["all", "no_load", "dry_run", "new", "budget"])]
    pub export: Option<PathBuf>,
    /// Folder of earlier records, each in NAME/records
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
    /// Show no progress
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
