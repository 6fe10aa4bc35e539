//! Outputs of every format, the published ones, and what no tool would print.

mod bad_input;
mod checks;
mod formats;
mod published;
mod tables;

use audit::{Audit, Document, Finding, Kind, Level};

/// What is read of a text.
fn read(text: &str) -> Document {
    audit::read("test", text).unwrap_or_else(|error| panic!("{error}"))
}

/// What is found in a text.
fn found(text: &str) -> Audit {
    audit::audit(&[read(text)])
}

/// All findings of an audit.
fn all(audit: &Audit) -> Vec<&Finding> {
    audit.files.iter().flat_map(|file| &file.findings).collect()
}

/// Levels and kinds in a text, without those that every lone text has.
fn kinds(text: &str) -> Vec<(Level, Kind)> {
    all(&found(text)).iter().filter(|it| it.kind != Kind::NoRepeats).map(|it| (it.level, it.kind)).collect()
}

/// A file of this repository.
fn file(path: &str) -> String {
    let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// An output of a tool.
fn format(name: &str) -> String {
    file(&format!("crates/audit/tests/formats/{name}"))
}
