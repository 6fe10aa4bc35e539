//! The command line.

use std::path::{Path, PathBuf};

use clap::Parser;

use crate::matrix::NEIGHBOURS_MAX;
use crate::process::Failure;

/// Plants one limit at a time, has `proofload` measure and explain it, and counts what is named first
#[derive(Debug, Parser)]
#[command(
    name = "planted",
    after_help = "\
Exit codes:
  0    of planted limits 95 % were named first, beside neighbours 85 %, and at most 1 % of healthy runs accused
  1    the system refused something
  2    what was asked for is not valid
  4    less was named, or more accused, or a run could not be made
  130  it was interrupted; --record keeps what was made, and --resume goes on from there"
)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct Arguments {
    /// Only cases in whose names this is; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// One size of each case, quiet, and one seed: some minutes
    #[arg(long, conflicts_with_all = ["seeds", "neighbours"])]
    pub(crate) quick: bool,
    /// How often each size is run, each time with another seed
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=100))]
    seeds: u8,
    /// Beside how many processes that burn CPU time each size is run
    #[arg(
        long,
        value_name = "COUNTS",
        value_delimiter = ',',
        default_value = "0,1,2",
        value_parser = clap::value_parser!(u8).range(..=i64::from(NEIGHBOURS_MAX))
    )]
    neighbours: Vec<u8>,
    /// Put the verdict of one quiet run of each case to the test where other numbers of users could refute it, by `explain
    /// --confirm`: some minutes more
    #[arg(long)]
    pub(crate) probe: bool,
    /// The cases with their sizes and what must be named, and nothing else
    #[arg(long)]
    pub(crate) list: bool,
    /// Write a line of JSON for each run to this file, as it is made
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Leave out what this build of proofload has made, by the record
    #[arg(long, requires = "record")]
    pub(crate) resume: bool,
    /// Make no runs: say of those on this record what today's rules say, by the evidence that it keeps of each
    #[arg(long, value_name = "FILE", conflicts_with_all = ["record", "quick", "probe", "keep"])]
    pub(crate) again: Option<PathBuf>,
    /// Write the matrix of all that is on record into this page, between its markers; behind the runs, where some are made
    #[arg(long, value_name = "FILE", conflicts_with = "only")]
    pub(crate) matrix: Option<PathBuf>,
    /// Keep the runs, and say where they are
    #[arg(long)]
    pub(crate) keep: bool,
    /// Where runs are made while they are looked at; on a disk, since one case waits for it
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Folder of the repository's stacks, some of which are cases
    #[arg(long, value_name = "DIR", default_value = "stacks")]
    pub(crate) stacks: PathBuf,
    /// Folder of the programs of one file each, which are cases
    #[arg(long, value_name = "DIR", default_value = "planted/servers")]
    pub(crate) servers: PathBuf,
    /// Use CPU time for so many seconds, or until the parent is gone
    #[arg(long, hide = true, value_name = "SECONDS")]
    pub(crate) hog: Option<u64>,
}

impl Arguments {
    /// The page to write into, and the record that its matrix is of.
    pub(crate) fn page(&self) -> Result<Option<(&Path, &Path)>, Failure> {
        let Some(page) = self.matrix.as_deref() else { return Ok(None) };
        let record = self.again.as_deref().or(self.record.as_deref());
        let of_none = || Failure::Usage("--matrix wants --again or --record, whose matrix it is".into());
        Ok(Some((page, record.ok_or_else(of_none)?)))
    }

    /// The seeds of each size.
    pub(crate) fn seeds(&self) -> std::ops::RangeInclusive<u64> {
        1..=if self.quick { 1 } else { u64::from(self.seeds) }
    }

    /// Beside how many neighbours each size is run.
    pub(crate) fn neighbours(&self) -> &[u8] {
        if self.quick { &[0] } else { &self.neighbours }
    }
}
