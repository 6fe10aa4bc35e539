//! How often the reason is named: one limit is planted at a time, `proofload` measures and explains it, and what it
//! names first is counted.
//!
//! The cases are data (`table.rs`). Each size of each case is a run of the real binary, with an experiment, a record
//! and an explanation of its own; nothing here knows how a diagnosis is made.
#![forbid(unsafe_code)]

mod arguments;
mod case;
mod experiment;
mod matrix;
mod process;
mod surroundings;
mod table;
mod trial;
mod verdict;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use tempfile::TempDir;

use crate::arguments::Arguments;
use crate::case::{Case, Size};
use crate::matrix::{NOT_TRIED, Named, Summary, is_right};
use crate::process::{Failure, Interrupt};
use crate::trial::{Bench, Outcome};

/// How often a run is made in which the hypervisor took the CPU time that it needed.
const TRIES_MAX: u32 = 3;
const EXIT_USAGE: u8 = 2;
const EXIT_WRONG: u8 = 4;
const EXIT_INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(seconds) = arguments.hog {
        surroundings::be_a_hog(Duration::from_secs(seconds));
        return ExitCode::SUCCESS;
    }
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(EXIT_WRONG),
        Err(Failure::Interrupted) => {
            eprintln!("planted: interrupted");
            ExitCode::from(EXIT_INTERRUPTED)
        }
        Err(Failure::Usage(why)) => {
            eprintln!("planted: {why}");
            ExitCode::from(EXIT_USAGE)
        }
        Err(Failure::Because(why)) => {
            eprintln!("planted: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all was named as it should be.
fn run(arguments: &Arguments) -> Result<bool, Failure> {
    let cases = chosen(arguments)?;
    if arguments.list {
        cases.iter().for_each(list);
        return Ok(true);
    }
    let interrupt = Interrupt::on_signals()?;
    let own_exe = std::env::current_exe()?;
    let proofload = own_exe.with_file_name("proofload");
    if !proofload.is_file() {
        let why = "proofload is not beside this program: cargo build --release";
        return Err(Failure::Because(why.into()));
    }
    let folder = make_folder(arguments)?;
    let bench =
        Bench { proofload: &proofload, own_exe: &own_exe, stacks: &arguments.stacks, interrupt: &interrupt };
    let named = all_runs(arguments, &cases, &bench, folder.path());
    if arguments.keep {
        println!("runs: {}", folder.keep().display());
    }
    let named = named?;
    let summary = Summary::of(&cases, &named);
    println!("{}\n{summary}", matrix::matrix(&cases, &named));
    Ok(summary.is_good())
}

fn chosen(arguments: &Arguments) -> Result<Vec<Case>, Failure> {
    let is_chosen = |case: &Case| {
        arguments.only.is_empty() || arguments.only.iter().any(|part| case.name.contains(part.as_str()))
    };
    let mut cases: Vec<Case> = table::cases().into_iter().filter(is_chosen).collect();
    if cases.is_empty() {
        return Err(Failure::Usage("no case has such a name; --list shows them".into()));
    }
    if arguments.quick {
        for case in &mut cases {
            case.sizes.truncate(1);
        }
    }
    Ok(cases)
}

fn list(case: &Case) {
    let sizes: Vec<&str> = case.sizes.iter().map(|size| size.label).collect();
    println!("{:<36} {:<24} {}", case.name, case.expected.join(" or "), sizes.join("; "));
}

/// A folder that goes with the value, however the program ends in good order.
fn make_folder(arguments: &Arguments) -> Result<TempDir, Failure> {
    std::fs::create_dir_all(&arguments.runs)?;
    // Stacks run in folders of their own and are told paths.
    let runs = arguments.runs.canonicalize()?;
    Ok(tempfile::Builder::new().prefix("planted-").tempdir_in(runs)?)
}

fn all_runs(
    arguments: &Arguments,
    cases: &[Case],
    bench: &Bench<'_>,
    folder: &Path,
) -> Result<Vec<Named>, Failure> {
    let all: Vec<(&Case, &Size, u64)> = cases
        .iter()
        .flat_map(|case| case.sizes.iter().map(move |size| (case, size)))
        .flat_map(|(case, size)| arguments.seeds().map(move |seed| (case, size, seed)))
        .collect();
    let mut named = Vec::new();
    for (number, (case, size, seed)) in (1..).zip(&all) {
        let mut outcome = bench.measure(case, size, *seed, &folder.join(number.to_string()))?;
        for again in 2..=TRIES_MAX {
            let taken = outcome
                .as_ref()
                .is_ok_and(|verdict| verdict.is_of_the_hypervisor() && !is_right(case, &verdict.kind));
            if !taken {
                break;
            }
            eprintln!("[{number}/{}] the hypervisor took part of the CPU; once more", all.len());
            outcome = bench.measure(case, size, *seed, &folder.join(format!("{number}-{again}")))?;
        }
        eprintln!(
            "[{number}/{}] {}, {}, seed {seed}: {}",
            all.len(),
            case.name,
            size.label,
            told(case, &outcome)
        );
        let kind = outcome.map_or_else(|_| NOT_TRIED.to_owned(), |verdict| verdict.kind);
        named.push(Named { case: case.name, kind });
    }
    Ok(named)
}

/// A run in a line; what is wrong, with what would be right.
fn told(case: &Case, outcome: &Outcome) -> String {
    match outcome {
        Ok(verdict) if is_right(case, &verdict.kind) => format!("{} ({})", verdict.kind, verdict.phrase),
        Ok(verdict) => {
            let expected = case.expected.join(" or ");
            format!("WRONG: {} ({}) instead of {expected}", verdict.kind, verdict.phrase)
        }
        Err(why) => format!("NOT TRIED: {why}"),
    }
}
