//! What can go wrong with files.

use std::path::{Path, PathBuf};

/// A record could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The operating system refused.
    #[error("{}: {action} failed: {source}; {help}", .path.display())]
    Io {
        /// Which file or directory.
        path: PathBuf,
        /// What was attempted.
        action: &'static str,
        /// Why it failed.
        source: std::io::Error,
        /// What to do.
        help: &'static str,
    },
    /// A text is something else, or what is left of a record: no JSON, or without the version that each record has.
    #[error("{}:{line}: no record of Proofload: {what}; {help}", .path.display())]
    NoRecord {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
        /// What to do.
        help: &'static str,
    },
    /// There is no ledger of a load.
    #[error("{} is no ledger; name a directory that `proofload hit --ledger` wrote", .path.display())]
    NoLedger {
        /// What was named.
        path: PathBuf,
    },
    /// A record has a version that is not known here, or other fields than that version has.
    #[error("{}:{line}: not a record of this version: {what}; use the version of Proofload that wrote it", .path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// A figure, a line or a file is beyond every bound that a run has. It is not read on: a record may be anybody's, and
    /// what follows from it takes time and memory.
    #[error("{}:{line}: {what}; no run of Proofload has that, so it is not read", .path.display())]
    OutOfBounds {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: usize,
        /// The figure, its value and its bound.
        what: String,
    },
}

/// What to do about a file in a run's directory that is no record.
const IN_A_RUN: &str = "it was changed or damaged: take it from a copy, or leave this run out";

impl RecordError {
    /// A text in a run's directory that is none of its records.
    pub(crate) fn no_record(path: &Path, line: usize, what: String) -> Self {
        Self::NoRecord { path: path.to_owned(), line, what, help: IN_A_RUN }
    }

    /// The same of one that does not say its version, as each record does.
    pub(crate) fn without_version(path: &Path, line: usize, error: &serde_json::Error) -> Self {
        Self::no_record(path, line, error.to_string())
    }

    /// A text in a run's directory that could not be read as a record. Only where it is JSON with other fields may another version
    /// be why.
    pub(crate) fn in_json(path: &Path, line: usize, error: &serde_json::Error) -> Self {
        if error.is_data() {
            Self::Malformed { path: path.to_owned(), line, what: error.to_string() }
        } else {
            Self::without_version(path, line, error)
        }
    }

    /// An IO error with the advice that fits its kind.
    pub fn io(path: &Path, action: &'static str, source: std::io::Error) -> Self {
        use std::io::ErrorKind;
        let help = match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space, then resume the run",
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                "choose a directory you may write to, with --runs DIR"
            }
            ErrorKind::NotFound => "check the path",
            ErrorKind::ResourceBusy => "wait until it has ended, or end it",
            ErrorKind::AlreadyExists => "choose another name",
            _ => "check the path and the disk",
        };
        Self::Io { path: path.to_owned(), action, source, help }
    }
}
