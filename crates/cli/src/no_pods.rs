//! Loads from pods in a build that has no client of Kubernetes.

use std::process::ExitCode;

use crate::exit::Failure;

/// What is said of it.
pub const WHY: &str =
    "this proofload was built without its client of Kubernetes (`make run` does so); run `make build`";

/// Refuses it.
pub fn print_rbac(_: bool) -> Result<ExitCode, Failure> {
    Err(Failure::usage(WHY))
}
