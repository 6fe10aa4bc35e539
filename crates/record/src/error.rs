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
    /// A line or file is not what it should be.
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

impl RecordError {
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
