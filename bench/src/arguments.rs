//! The command line.

use std::path::PathBuf;

use clap::Parser;

const ROUNDS_QUICK: u32 = 3;
const SECONDS_QUICK: u32 = 1;

/// CPU time a request of Proofload, a null client and other load generators, alternated
#[derive(Debug, Parser)]
#[command(name = "bench")]
pub(crate) struct Arguments {
    /// Rounds; each has one run of every client, so that any two make a pair
    #[arg(long, default_value_t = 10)]
    pairs: u32,
    /// Seconds a run
    #[arg(long, default_value_t = 3)]
    seconds: u32,
    /// Only scenarios whose name begins so; may be repeated
    #[arg(long, value_name = "SCENARIO")]
    pub(crate) only: Vec<String>,
    /// The scenarios, and nothing else
    #[arg(long)]
    pub(crate) list: bool,
    /// Three rounds of a second: whether it works, not what it costs
    #[arg(long)]
    pub(crate) quick: bool,
    /// Print what would go into the docs instead of writing it
    #[arg(long)]
    pub(crate) print: bool,
    /// Where the figures go
    #[arg(long, value_name = "FILE", default_value = "docs/benchmarks.md")]
    pub(crate) docs: PathBuf,
}

impl Arguments {
    pub(crate) fn rounds(&self) -> u32 {
        if self.quick { ROUNDS_QUICK } else { self.pairs.max(1) }
    }

    pub(crate) fn seconds(&self) -> u32 {
        if self.quick { SECONDS_QUICK } else { self.seconds.max(1) }
    }
}
