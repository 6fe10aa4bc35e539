//! Repository chores, run as `cargo xtask <chore>`.
//!
//! - `edges` checks the rules of the layout: which crate may depend on which, that no modules need each other in a
//!   circle, and what none of them may do.
//! - `ci` is what `make test` runs: edges, format, lints, tests.
#![forbid(unsafe_code)]

mod edges;
mod modules;
mod source;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "usage: cargo xtask edges | ci";
const EXIT_USAGE: u8 = 2;

/// What `ci` runs after `edges`, as arguments of cargo.
const CARGO_STEPS: [&[&str]; 3] = [
    &["fmt", "--all", "--check"],
    &["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
    &["test", "--workspace", "--locked"],
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let passed = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["edges"] => check_edges(),
        ["ci"] => check_edges() && CARGO_STEPS.iter().all(|step| run_cargo(step)),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(EXIT_USAGE);
        }
    };
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The workspace's folder: the one that this crate's is in. Cargo says which when it runs us; what it said when it
/// built us may have been another clone, where two share a target folder.
fn root() -> PathBuf {
    let own = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let own = PathBuf::from(own);
    own.parent().map_or_else(|| own.clone(), Path::to_path_buf)
}

fn check_edges() -> bool {
    let violations = edges::check(&root());
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
    match Command::new(cargo).args(step).current_dir(root()).status() {
        Ok(status) if status.success() => true,
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
