//! A load from pods in a build that has no client of Kubernetes.

use std::process::ExitCode;

use lab::agents::Left;
use record::IntervalLog;

use super::agents::Several;
use super::beside::Beside;
use crate::arguments::Hit;
use crate::arguments::kubernetes::Server;
use crate::exit::Failure;
use crate::pods::WHY;

/// Refuses it.
pub fn run(_: &Hit, _: &Several<'_>, _: Option<Server<'_>>) -> Result<ExitCode, Failure> {
    Err(Failure::usage(WHY))
}

/// Refuses it.
pub fn resume(
    _: &Hit,
    _: (Beside<'_>, Option<&IntervalLog>),
    _: Left,
    _: (Option<&str>, &str),
    _: &str,
    _: &[(String, String)],
) -> Result<ExitCode, Failure> {
    Err(Failure::usage(WHY))
}
