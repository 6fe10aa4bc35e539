//! What a run works with, and how it ended.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use driver::Control;
use plan::stack::Catalogue;
use plan::{Claim, Experiment, PlanError};

use crate::hosts::Hosts;

/// Where stacks and programs are.
pub struct Bench<'a> {
    /// The stacks.
    pub catalogue: &'a Catalogue,
    /// The `proofload` binary.
    pub proofload_exe: &'a Path,
    /// Version of Proofload.
    pub version: &'a str,
    /// The command line, for the manifest.
    pub argv: &'a [String],
    /// Ends the run when interrupted.
    pub interrupt: &'a Control,
    /// No trial begins after this; the run can be resumed.
    pub until: Option<std::time::Instant>,
    /// What a run is to decide whose blocks end when it is decided.
    pub claims: &'a [Claim],
    /// The commit that is checked out where this runs, where there is one; with a mark where files differ from it.
    pub commit: Option<&'a str>,
    /// How long the first trial waits at most until others leave the machine alone.
    pub wait_for_quiet: std::time::Duration,
    /// The machines that loads come from; `None` where this process makes them.
    pub hosts: Option<&'a Hosts>,
    /// Whether nothing is measured where one of its stacks can't be: the others by themselves would tell nothing.
    pub takes_all: bool,
}

impl Bench<'_> {
    /// Refuses what its record can't hold, and what the machines that loads come from can't carry.
    ///
    /// # Errors
    /// If there is any.
    pub fn can_carry(&self, experiment: &Experiment) -> Result<(), PlanError> {
        experiment.fits_a_record()?;
        self.hosts.map_or(Ok(()), |hosts| hosts.check(experiment, self.catalogue))
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The run's directory.
    pub dir: PathBuf,
    /// Whether it was interrupted.
    pub interrupted: bool,
    /// Trials that failed.
    pub failed: u32,
    /// Whether trials are left that there was no time for.
    pub out_of_time: bool,
    /// Stacks that were never started, since they could not be built or lack a tool, and why.
    pub left_out: BTreeMap<String, String>,
}
