//! The loads of a run from pods in a build that has no client of Kubernetes.

use std::process::ExitCode;

use lab::hosts::Hosts;

use crate::arguments::agents::Clients;
use crate::exit::Failure;
use crate::pods::WHY;

/// Refuses it.
pub fn print_manifest(_: &Clients) -> Result<ExitCode, Failure> {
    Err(Failure::usage(WHY))
}

/// Refuses it.
pub fn hosts(_: &Clients) -> Result<Hosts, Failure> {
    Err(Failure::usage(WHY))
}
