//! `proofload report`: the report of a recorded run.

use std::path::Path;
use std::process::ExitCode;

use record::RunDir;
use report::{RunReport, ranking_text};

use crate::arguments::Report;
use crate::exit::Failure;
use crate::output::print;

/// Runs the command.
pub fn run(arguments: &Report) -> Result<ExitCode, Failure> {
    if arguments.json {
        for trial in RunDir::read_trials(&arguments.run)? {
            print(&serde_json::to_string(&trial).expect("a trial is plain data"))?;
        }
    } else {
        print_ranking(&arguments.run)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the ranking of the run in `dir`.
pub fn print_ranking(dir: &Path) -> Result<(), Failure> {
    let manifest = RunDir::read_manifest(dir)?;
    let trials = RunDir::read_trials(dir)?;
    let dir = dir.display().to_string();
    print(ranking_text(&RunReport { manifest: &manifest, trials: &trials, dir: &dir }).trim_end())?;
    Ok(())
}
