//! A load whose conductor was killed is taken over.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use driver::Control;
use lab::agents::{Fleet, Left, Listening, Reached};
use record::IntervalLog;

use super::beside::{self, Beside};
use super::{agents, kubernetes};
use crate::arguments::Hit;
use crate::exit::Failure;
use crate::interrupt;

/// Goes on with the load whose ledger is in `dir`, or has its agents tell what they kept of it.
pub fn run(arguments: &Hit, dir: &Path) -> Result<ExitCode, Failure> {
    let left = Left::open(dir, env!("PROOFLOAD_VERSION"))?;
    // Whoever ends pods ends their load: a mistake in what is made of it must not.
    let (beside, log) = (Beside::open(arguments, left.plan().requests_max())?, beside::log(arguments)?);
    let made = (beside, log.as_ref());
    match left.reached().clone() {
        Reached::Listening(addresses) => {
            take_over(arguments, made, left, Arc::new(Listening::new(addresses)), &interrupt::on_signals()?)
        }
        Reached::Pods { context, namespace, run, pods } => {
            kubernetes::resume(arguments, made, left, (context.as_deref(), namespace.as_str()), &run, &pods)
        }
    }
}

/// The same with agents that are reached by `fleet`.
pub fn take_over(
    arguments: &Hit,
    made: (Beside<'_>, Option<&IntervalLog>),
    left: Left,
    fleet: Arc<dyn Fleet>,
    control: &Arc<Control>,
) -> Result<ExitCode, Failure> {
    let (url, plan) = (left.url().to_owned(), left.plan().clone());
    let log = made.1;
    agents::carry(arguments, made, (&url, &plan), control, |observe| {
        lab::agents::resume(left, log, fleet, control, observe)
    })
}
