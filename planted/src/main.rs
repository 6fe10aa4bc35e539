//! How often the reason is named: one limit is planted at a time, `proofload` measures and explains it, and what it
//! names first is counted.
//!
//! The cases are data (`table.rs`). Each size of each case is a run of the real binary, with an experiment, a record
//! and an explanation of its own; nothing here knows how a diagnosis is made. What was measured is kept, so that it can be
//! explained again when the rules have changed (`again.rs`).
#![forbid(unsafe_code)]

mod again;
mod arguments;
mod case;
mod evidence;
mod experiment;
mod matrix;
mod page;
mod process;
mod program;
mod record;
mod session;
mod speaks;
mod surroundings;
mod table;
mod trial;
mod verdict;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use tempfile::TempDir;

use crate::again::Again;
use crate::arguments::Arguments;
use crate::case::Case;
use crate::matrix::Matrix;
use crate::process::{Failure, Interrupt};
use crate::record::{Lines, Writer};
use crate::trial::Bench;

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

/// Whether as much was named as should be.
fn run(arguments: &Arguments) -> Result<bool, Failure> {
    let cases = chosen(arguments)?;
    if arguments.list {
        let lines: String = cases.iter().map(line).collect();
        let runs = session::runs(arguments, &cases).len();
        put(&format!("{lines}{runs} runs\n"));
        return Ok(true);
    }
    let page = arguments.page()?;
    if let Some(record) = &arguments.again {
        let is_good = say_again(record, &cases, arguments.only.is_empty())?;
        write_page(page)?;
        return Ok(is_good);
    }
    let own_exe = std::env::current_exe()?;
    let proofload = own_exe.with_file_name("proofload");
    if !proofload.is_file() {
        let why = "proofload is not beside this program: cargo build --release";
        return Err(Failure::Because(why.into()));
    }
    let binary = record::binary(&proofload)?;
    let mut made = session::made(arguments, &binary)?;
    let mut writer = Writer::append(arguments.record.as_deref())?;
    let interrupt = Interrupt::on_signals()?;
    let folder = make_folder(arguments)?;
    let servers = arguments.servers.canonicalize().map_err(|error| {
        Failure::Usage(format!("{}: {error}; --servers names the folder", arguments.servers.display()))
    })?;
    let bench = Bench {
        proofload: &proofload,
        binary: &binary,
        own_exe: &own_exe,
        stacks: &arguments.stacks,
        servers: &servers,
        interrupt: &interrupt,
    };
    let runs = session::runs(arguments, &cases);
    let ended = session::make_all(&runs, &bench, folder.path(), &mut writer, &mut made);
    if arguments.keep {
        println!("runs: {}", folder.keep().display());
    }
    ended?;
    let matrix = Matrix::of(&cases, &made);
    println!("{matrix}");
    write_page(page)?;
    Ok(matrix.summary().is_good())
}

/// Says what today's rules say of the runs of `cases` on `record`; whether as much is named as should be. What a case lacks is no
/// success, nor, where they `are_all`, a run of no case.
fn say_again(record: &Path, cases: &[Case], are_all: bool) -> Result<bool, Failure> {
    let told = again::again(&Lines::read(record)?, cases);
    let Again { lines, changes, origin } =
        told.map_err(|why| Failure::Usage(format!("{}: {why}", record.display())))?;
    for change in changes {
        eprintln!("{change}");
    }
    let matrix = Matrix::of(cases, &lines);
    println!("{origin}\n\n{matrix}");
    let missing = matrix.not_on_record();
    for case in &missing {
        eprintln!("not on record: {}", case.name);
    }
    let strangers = if are_all { matrix.strangers.as_slice() } else { &[] };
    for line in strangers {
        eprintln!("on record of no case: {}, {}", line.key.case, line.key.size);
    }
    Ok(matrix.summary().is_good() && missing.is_empty() && strangers.is_empty())
}

/// Writes the matrix of a record, of whichever cases, into its page.
fn write_page(page: Option<(&Path, &Path)>) -> Result<(), Failure> {
    let Some((page, record)) = page else { return Ok(()) };
    page::write(page, &table::cases(), record)
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

/// Prints a list; whoever reads it may have read enough.
#[expect(clippy::disallowed_methods, reason = "it prints nothing from outside")]
fn put(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// A case as `--list` shows it.
fn line(case: &Case) -> String {
    let sizes: Vec<&str> = case.sizes.iter().map(|size| size.label).collect();
    format!("{:<36} {:<24} {}\n", case.name, case.expected.join(" or "), sizes.join("; "))
}

/// A folder that goes with the value, however the program ends in good order.
fn make_folder(arguments: &Arguments) -> Result<TempDir, Failure> {
    std::fs::create_dir_all(&arguments.runs)?;
    // Stacks run in folders of their own and are told paths.
    let runs = arguments.runs.canonicalize()?;
    Ok(tempfile::Builder::new().prefix("planted-").tempdir_in(runs)?)
}
