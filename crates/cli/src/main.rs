//! The `proofload` binary: arguments, files and wiring only.
//!
//! Each command is a file in `commands`, and what can be typed after it is in `arguments`. What is measured,
//! judged or rendered is in the crates below. Everything printed goes through `output`, and how a command ends is one of
//! the codes in `exit`.
#![forbid(unsafe_code)]
// All that is printed goes through `output`, which makes text from outside harmless.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod arguments;
mod clock;
mod commands;
mod compact;
mod environment;
mod exit;
mod gate;
mod inside;
mod interrupt;
mod kept;
mod output;
mod page;
#[cfg(feature = "kubernetes")]
mod pods;
#[cfg(not(feature = "kubernetes"))]
#[path = "no_pods.rs"]
mod pods;
mod progress;
mod recorded;
mod scratch;
mod text;
mod watching;
mod workbench;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches};

use crate::arguments::{Arguments, Command};
use crate::exit::Failure;
use crate::output::say;

/// Tools whose command line we have, by the name that a link to us may have.
const STANDS_IN_FOR: [&str; 4] = ["wrk", "h2load", "jmeter", "sb"];

fn main() -> ExitCode {
    let typed = match arguments() {
        Ok(typed) => typed,
        Err(error) => return not_understood(error),
    };
    let outcome = match typed.command {
        Command::Hit(arguments) => commands::hit::run(&arguments),
        Command::Run(arguments) => commands::run::run(&arguments),
        Command::Init(arguments) => commands::init::run(&arguments),
        Command::Completions(arguments) => {
            commands::completions::completions(&arguments, &Arguments::command())
        }
        Command::Man(arguments) => commands::completions::man(&arguments, Arguments::command()),
        Command::Report(arguments) => commands::report::run(&arguments),
        Command::Export(arguments) => commands::export::run(&arguments),
        Command::Explain(arguments) => commands::explain::run(&arguments),
        Command::Compare(arguments) => commands::compare::run(&arguments),
        Command::Diff(arguments) => commands::diff::run(&arguments),
        Command::History(arguments) => commands::history::run(&arguments),
        Command::View(arguments) => commands::view::run(&arguments),
        Command::Replicate(arguments) => commands::replicate::run(&arguments),
        Command::List(arguments) => commands::list::run(&arguments),
        Command::Build(arguments) => commands::build::run(&arguments),
        Command::Check(arguments) => commands::check::run(&arguments),
        Command::Calibrate(arguments) => commands::calibrate::run(&arguments),
        Command::ErrorRates(arguments) => commands::error_rates::run(&arguments),
        Command::Audit(arguments) => commands::audit::run(&arguments),
        Command::Wrk(arguments) => return commands::wrk::run(&arguments.arguments),
        Command::H2load(arguments) => return commands::h2load::run(&arguments.arguments),
        Command::Jmeter(arguments) => return commands::jmeter::run(&arguments),
        Command::Sb(arguments) => commands::sb::run(&arguments),
        Command::Agent(arguments) => commands::agent::run(&arguments),
        Command::Target(arguments) => commands::target::run(*arguments),
        Command::Doctor(arguments) => commands::doctor::run(&arguments),
        Command::Supervise(arguments) => return stack::supervise(&arguments.command),
    };
    outcome.unwrap_or_else(|failure: Failure| {
        say(format_args!("proofload: {failure}"));
        failure.code()
    })
}

/// The command line, or what clap says of it.
fn arguments() -> Result<Arguments, clap::Error> {
    let mut command = arguments::negative::refused_by_their_parsers(Arguments::command());
    let typed = as_called(std::env::args_os().collect());
    let matches = command.try_get_matches_from_mut(typed)?;
    arguments::presupposed::refuse(&mut command, &matches)?;
    Arguments::from_arg_matches(&matches)
}

/// Says what clap says of the command line: help as clap shows it, and an error, in which is what was typed, as all text from
/// outside.
fn not_understood(error: clap::Error) -> ExitCode {
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        error.exit();
    }
    let error = arguments::negative::without_advice(error);
    say(error.render().to_string().trim_end());
    ExitCode::from(exit::USAGE)
}

/// The arguments with the subcommand that the name of the program stands for, where it is called by a link.
fn as_called(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let name = arguments.first().and_then(|it| Path::new(it).file_name()?.to_str());
    let stands_for = STANDS_IN_FOR.into_iter().find(|tool| Some(*tool) == name);
    if let Some(tool) = stands_for {
        arguments.splice(..1, ["proofload".into(), tool.into()]);
    }
    arguments
}
