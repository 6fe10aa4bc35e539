//! The commit that the binary is built from, where that is known: `--version` tells it.

use std::path::Path;
use std::process::Command;

/// Says it where there is no git, as whoever packages the sources may.
const VARIABLE: &str = "PROOFLOAD_COMMIT";

fn main() {
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    // Of a path that is not there cargo would build anew each time.
    let watched =
        ["HEAD", "logs/HEAD"].into_iter().filter_map(|name| git(&["rev-parse", "--git-path", name]));
    for path in watched.filter(|path| Path::new(path).exists()) {
        println!("cargo::rerun-if-changed={path}");
    }
    println!("cargo::rerun-if-changed=build.rs");
    let commit = std::env::var(VARIABLE).ok().or_else(|| git(&["rev-parse", "--short=12", "HEAD"]));
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let is_plain =
        |it: &String| !it.is_empty() && it.chars().all(|c| c.is_ascii_alphanumeric() || "-+.".contains(c));
    let shown = match commit.filter(is_plain) {
        Some(commit) => format!("{version} (commit {commit})"),
        None => version,
    };
    println!("cargo::rustc-env=PROOFLOAD_VERSION={shown}");
}

/// What git says; `None` where it is not there, or this is no checkout of ours.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    (output.status.success()).then(|| said.trim().to_owned())
}
