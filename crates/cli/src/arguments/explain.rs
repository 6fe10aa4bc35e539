//! `proofload explain` as typed.

use std::path::PathBuf;

use clap::Args;

use crate::arguments::Stacks;

/// `proofload explain`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  proofload explain runs/gateways-20260101-120000
  proofload explain runs/gateways-20260101-120000 --cell zuul          every cell with that stack
  proofload explain runs/gateways-20260101-120000 --cell slow-api/zuul --confirm

Each cell is explained from what was sampled of server, machine and client during the load. The first question is whether
something other than the server was the limit, the second what limited the server. Each verdict shows its evidence, what that
rules out, and one change that would confirm it. --confirm makes that change where the stack has a variant for it. Otherwise
it loads the stack with half, the same number and twice the users. Then it says whether the prediction came true.

Exit codes: 0, also if a cell is unexplained; 4 if --confirm refuted a verdict; 2 if the run can't be read or has no such
cell.")]
pub struct Explain {
    /// The run's directory
    pub run: PathBuf,
    /// Only cells whose round/load/stack contains this; may be repeated
    #[arg(long = "cell", value_name = "TEXT")]
    pub cells: Vec<String>,
    /// Test the first verdict of each cell: make the change that would confirm it, or load with other numbers of users
    #[arg(long)]
    pub confirm: bool,
    /// With --confirm: where run directories are made
    #[arg(long, default_value = "runs", value_name = "DIR", requires = "confirm")]
    pub runs: PathBuf,
    #[command(flatten)]
    pub stacks: Stacks,
    /// Print JSON (version 1; docs/explain.md) instead of text
    #[arg(long)]
    pub json: bool,
    /// Show no progress
    #[arg(short, long)]
    pub quiet: bool,
}
