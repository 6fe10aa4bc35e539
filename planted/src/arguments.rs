//! The command line.

use std::path::PathBuf;

use clap::Parser;

/// Plants one limit at a time, has `proofload` measure and explain it, and counts what is named first
#[derive(Debug, Parser)]
#[command(
    name = "planted",
    after_help = "\
Exit codes:
  0    each limit was named first in all of its runs, and nothing healthy was accused
  1    the system refused something
  2    what was asked for is not valid
  4    something was not named, or accused wrongly, or could not be tried
  130  it was interrupted"
)]
pub(crate) struct Arguments {
    /// Only cases in whose names this is; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// One size of each case and one seed: some minutes
    #[arg(long)]
    pub(crate) quick: bool,
    /// How often each size is run, each time with another seed
    #[arg(long, value_name = "COUNT", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=100))]
    seeds: u8,
    /// The cases with their sizes and what must be named, and nothing else
    #[arg(long)]
    pub(crate) list: bool,
    /// Keep the runs, and say where they are
    #[arg(long)]
    pub(crate) keep: bool,
    /// Where runs are made while they are looked at; on a disk, since one case waits for it
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Folder of the repository's stacks, some of which are cases
    #[arg(long, value_name = "DIR", default_value = "stacks")]
    pub(crate) stacks: PathBuf,
    /// Use CPU time for so many seconds, or until the parent is gone
    #[arg(long, hide = true, value_name = "SECONDS")]
    pub(crate) hog: Option<u64>,
}

impl Arguments {
    /// The seeds of each size.
    pub(crate) fn seeds(&self) -> std::ops::RangeInclusive<u64> {
        1..=if self.quick { 1 } else { u64::from(self.seeds) }
    }
}
