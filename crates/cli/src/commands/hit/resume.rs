//! A load whose conductor was killed is taken over.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use driver::Control;
use lab::agents::{Fleet, Left, Listening, Reached};

use super::beside::Beside;
use super::{agents, kubernetes};
use crate::arguments::Hit;
use crate::exit::Failure;
use crate::interrupt;

/// Goes on with the load whose ledger is in `dir`, or has its agents tell what they kept of it.
pub fn run(arguments: &Hit, dir: &Path) -> Result<ExitCode, Failure> {
    let left = Left::open(dir, env!("PROOFLOAD_VERSION"))?;
    // Whoever ends pods ends their load: a mistake in what is made of it must not.
    let beside = Beside::open(arguments)?;
    match left.reached().clone() {
        Reached::Listening(addresses) => {
            take_over(arguments, beside, left, Arc::new(Listening::new(addresses)), &interrupt::on_signals()?)
        }
        Reached::Pods { context, namespace, run, pods } => {
            kubernetes::resume(arguments, beside, left, (context.as_deref(), namespace.as_str()), &run, &pods)
        }
    }
}

/// The same with agents that are reached by `fleet`.
pub fn take_over(
    arguments: &Hit,
    beside: Beside<'_>,
    left: Left,
    fleet: Arc<dyn Fleet>,
    control: &Arc<Control>,
) -> Result<ExitCode, Failure> {
    let (url, plan) = (left.url().to_owned(), left.plan().clone());
    agents::carry(arguments, beside, (&url, &plan), control, |observe| {
        lab::agents::resume(left, arguments.hlog.as_deref(), fleet, control, observe)
    })
}
