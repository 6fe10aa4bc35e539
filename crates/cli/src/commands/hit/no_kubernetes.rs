//! Loads from pods in a build that has no client of Kubernetes.

use std::process::ExitCode;

use lab::agents::Left;

use super::agents::Several;
use super::beside::Beside;
use crate::arguments::Hit;
use crate::exit::Failure;

const WHY: &str = "this proofload was built without its client of Kubernetes; build it with the feature `kubernetes`: \
                   cargo build --release";

/// Refuses it.
pub fn print_rbac() -> Result<ExitCode, Failure> {
    Err(Failure::usage(WHY))
}

/// Refuses it.
pub fn run(_: &Hit, _: &Several<'_>) -> Result<ExitCode, Failure> {
    Err(Failure::usage(WHY))
}

/// Refuses it.
pub fn resume(
    _: &Hit,
    _: Beside<'_>,
    _: Left,
    _: (Option<&str>, &str),
    _: &str,
    _: &[(String, String)],
) -> Result<ExitCode, Failure> {
    Err(Failure::usage(WHY))
}
