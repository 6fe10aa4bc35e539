//! The `proofload` binary: arguments and wiring only.
#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod exit;
mod interrupt;
mod output;
mod progress;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::{Arguments, Command};
use crate::exit::Failure;

fn main() -> ExitCode {
    // clap prints usage errors itself, with exit code 2.
    let outcome = match Arguments::parse().command {
        Command::Hit(arguments) => commands::hit::run(&arguments),
        Command::Run(arguments) => commands::run::run(&arguments),
        Command::Report(arguments) => commands::report::run(&arguments),
        Command::Explain(arguments) => commands::explain::run(&arguments),
        Command::Compare(arguments) => commands::compare::run(&arguments),
        Command::History(arguments) => commands::history::run(&arguments),
        Command::Replicate(arguments) => commands::replicate::run(&arguments),
        Command::List(arguments) => commands::list::run(&arguments),
        Command::Build(arguments) => commands::build::run(&arguments),
        Command::Check(arguments) => commands::check::run(&arguments),
        Command::Calibrate(arguments) => commands::calibrate::run(&arguments),
        Command::ErrorRates(arguments) => commands::error_rates::run(&arguments),
        Command::Audit(arguments) => commands::audit::run(&arguments),
        Command::Target(arguments) => commands::target::run(*arguments),
        Command::Doctor(arguments) => commands::doctor::run(&arguments),
        Command::Supervise(arguments) => return stack::supervise(&arguments.command),
    };
    outcome.unwrap_or_else(|failure: Failure| {
        eprintln!("proofload: {failure}");
        failure.code()
    })
}
