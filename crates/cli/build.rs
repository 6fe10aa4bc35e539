//! What the binary has inside: the commit that it is built from, where that is known, which `--version` tells; and our own
//! stacks, experiments, scenarios and write-ups, for where there is no checkout.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Says it where there is no git, as whoever packages the sources may.
const VARIABLE: &str = "PROOFLOAD_COMMIT";

/// What is inside, from the root of the repository.
const INSIDE: [&str; 4] = ["experiments", "published", "scenarios", "stacks"];
/// Folders within, which builds make.
const MADE: [&str; 2] = ["build", "target"];

fn main() {
    tell_version();
    put_inside();
    start_sooner_in_tests();
}

/// Tests start the binary thousands of times. The addresses in one without optimisation are so many that filling them in is
/// most of a start, unless it lies where the linker put it.
fn start_sooner_in_tests() {
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "debug") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}

fn tell_version() {
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

/// Writes `inside.rs`: each file by its path, and a hash of all. Nothing is inside where the crate is built by itself.
fn put_inside() {
    let own = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where");
    let root = Path::new(&own).join("../..");
    let mut files = BTreeSet::new();
    for folder in INSIDE {
        collect(&root.join(folder), &mut files);
    }
    // In an order of its own, so that the same files make the same bytes.
    let mut source = String::from("/// Each file by its path.\nconst FILES: &[(&str, &[u8])] = &[\n");
    let mut hasher = DefaultHasher::new();
    for file in &files {
        println!("cargo::rerun-if-changed={}", file.display());
        let name = file.strip_prefix(&root).expect("it is in there");
        (name, std::fs::read(file).expect("it can be read")).hash(&mut hasher);
        // Writing into a String cannot fail.
        let [name, file] = [name, file].map(|path| path.display().to_string());
        let _ = writeln!(source, "    ({name:?}, include_bytes!({file:?})),");
    }
    let _ =
        writeln!(source, "];\n/// A hash of them all.\nconst STAMP: &str = \"{:016x}\";", hasher.finish());
    let out = std::env::var_os("OUT_DIR").expect("cargo says where");
    std::fs::write(Path::new(&out).join("inside.rs"), source).expect("it is ours");
}

/// Adds the files of a folder, without what builds made in it.
fn collect(folder: &Path, files: &mut BTreeSet<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_made = MADE.iter().any(|made| entry.file_name() == *made);
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !is_made => collect(&entry.path(), files),
            Ok(kind) if kind.is_file() => {
                files.insert(entry.path());
            }
            _ => {}
        }
    }
}

/// What git says; `None` where it is not there, or this is no checkout of ours.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    (output.status.success()).then(|| said.trim().to_owned())
}
