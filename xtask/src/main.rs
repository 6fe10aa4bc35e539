//! Repository chores, run as `cargo xtask <chore>`.
//!
//! - `edges` checks the rules of the layout: which crate may depend on which, that no modules need each other in a
//!   circle, what none of them may do, that each crate has what it includes, and that no test is run by nobody.
//! - `test` is what `make test` runs: edges, format, tests.
//! - `lint` is clippy over all features and over those that `make run` compiles.
//! - `test-slow` is what `make test-slow` runs: `lint`, and the tests that are ignored as slow.
//! - `luck` runs tests many times, and counts which failed and which measured more than once.
//! - `sbom` prints what the binary is made of, as CycloneDX.
#![forbid(unsafe_code)]

mod binaries;
mod edges;
mod luck;
mod modules;
mod sbom;
mod source;
mod tiers;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

const USAGE: &str = "usage: cargo xtask edges | test | lint | test-slow | luck TIMES [--only BINARY] [ARGUMENTS OF THE TESTS...] | sbom TRIPLE";
const EXIT_USAGE: u8 = 2;
/// How many tests a test binary runs at one time.
const THREADS: &str = "RUST_TEST_THREADS";

/// What `test` runs after `edges` and before the tests, as arguments of cargo.
const FORMAT: &[&str] = &["fmt", "--all", "--check"];
/// What `lint` runs. It shares nothing with what the tests compile, so from nothing it costs as much as they do: the slow
/// tier has it, and `make test` answers two minutes earlier.
const LINT_STEPS: [&[&str]; 2] = [
    &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
    // What `make run` compiles. All else is the same and not looked at again.
    &["clippy", "--workspace", "--no-default-features", "--locked", "--", "-D", "warnings"],
];
/// What `test-slow` runs after `lint`.
const SLOW_STEPS: [&[&str]; 1] = [&["test", "--workspace", "--locked", "--no-fail-fast", "--", "--ignored"]];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let passed = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["edges"] => check_edges(),
        ["test"] => check_edges() && run_cargo(FORMAT) && binaries::pass(&root(), cores()),
        ["lint"] => lint(),
        // They build, or measure by themselves: one a core.
        ["test-slow"] => lint() && SLOW_STEPS.iter().all(|step| run_cargo(step)),
        ["luck", times, ref rest @ ..] => match times.parse() {
            Ok(times) => {
                let (only, rest) = match rest {
                    ["--only", binary, rest @ ..] => (Some(*binary), rest),
                    _ => (None, rest),
                };
                let arguments: Vec<String> = rest.iter().map(ToString::to_string).collect();
                luck::luck(&root(), times, only, &arguments, cores())
            }
            Err(_) => return usage(),
        },
        ["sbom", triple] => print_sbom(triple),
        _ => return usage(),
    };
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(EXIT_USAGE)
}

/// How many tests a binary runs at one time: so many, unless whoever calls says otherwise.
fn threads(number: usize) -> String {
    std::env::var(THREADS).unwrap_or_else(|_| number.to_string())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// The workspace's folder: the one that this crate's is in. Cargo says which when it runs us; what it said when it
/// built us may have been another clone, where two share a target folder.
fn root() -> PathBuf {
    let own = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let own = PathBuf::from(own);
    own.parent().map_or_else(|| own.clone(), Path::to_path_buf)
}

fn print_sbom(triple: &str) -> bool {
    match sbom::sbom(&root(), triple) {
        Ok(document) => println!("{document}"),
        Err(error) => {
            eprintln!("sbom: {error}");
            return false;
        }
    }
    true
}

fn lint() -> bool {
    LINT_STEPS.iter().all(|step| run_cargo(step))
}

fn check_edges() -> bool {
    let violations = [edges::check(&root()), tiers::check(&root())].concat();
    for violation in &violations {
        eprintln!("{violation}");
    }
    if violations.is_empty() {
        eprintln!("edges: ok");
    }
    violations.is_empty()
}

fn run_cargo(step: &[&str]) -> bool {
    // The toolchain that runs us, rather than another one on the path.
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let line = format!("cargo {}", step.join(" "));
    eprintln!("--- {line}");
    let mut command = Command::new(cargo);
    command.args(step).current_dir(root());
    command.env(THREADS, threads(cores()));
    let begun = Instant::now();
    match command.status() {
        Ok(status) if status.success() => {
            eprintln!("--- {line}: {} s", begun.elapsed().as_secs());
            true
        }
        Ok(status) => {
            eprintln!("--- {line}: {status}");
            false
        }
        Err(error) => {
            eprintln!("--- {line}: {error}");
            false
        }
    }
}
