//! The server's own record of every request.
//!
//! CSV with the header `arrived_ns,answered_ns,connection,status`, one line a request, times in nanoseconds of
//! `CLOCK_MONOTONIC`. `answered_ns` and `status` are empty for a request that was never answered. Each thread
//! buffers its lines, so they are in order within a thread only: sort by `arrived_ns`.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use units::Instant;

use crate::answer::Status;
use crate::error::TargetError;

/// What a busy thread keeps of its lines before it appends them to the file.
pub(crate) const BUFFER_BYTES: usize = 64 * 1024;

/// The file that all threads append to.
#[derive(Debug)]
pub(crate) struct TruthFile {
    path: PathBuf,
    sink: Mutex<Sink>,
}

#[derive(Debug)]
struct Sink {
    file: File,
    /// The first failure; nothing is written after it.
    failure: Option<io::Error>,
}

impl TruthFile {
    pub(crate) fn create(path: &Path) -> Result<Self, TargetError> {
        let failed = |source| TargetError::Truth { file: path.to_owned(), source };
        let mut file = File::create(path).map_err(failed)?;
        file.write_all(b"arrived_ns,answered_ns,connection,status\n").map_err(failed)?;
        Ok(Self { path: path.to_owned(), sink: Mutex::new(Sink { file, failure: None }) })
    }

    /// The summary's place beside this file.
    pub(crate) fn summary_path(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".summary.json");
        name.into()
    }

    /// Whether every line so far was written; the failure is told once.
    pub(crate) fn check(&self) -> Result<(), TargetError> {
        let failure = self.sink.lock().unwrap_or_else(PoisonError::into_inner).failure.take();
        failure.map_or(Ok(()), |source| Err(TargetError::Truth { file: self.path.clone(), source }))
    }

    fn append(&self, lines: &[u8]) {
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        if sink.failure.is_none() {
            sink.failure = sink.file.write_all(lines).err();
        }
    }
}

/// One thread's lines on their way to the file; they are all there once this is dropped.
#[derive(Debug)]
pub(crate) struct TruthLog<'a> {
    file: Option<&'a TruthFile>,
    lines: Vec<u8>,
    buffer_bytes: usize,
}

impl<'a> TruthLog<'a> {
    /// Keeps at most `buffer_bytes` and a line; nothing at all without a `file`.
    pub(crate) fn new(file: Option<&'a TruthFile>, buffer_bytes: usize) -> Self {
        Self { file, lines: Vec::new(), buffer_bytes }
    }

    /// Notes a request that arrived on `connection`, and its answer where it had one.
    pub(crate) fn note(&mut self, connection: u64, arrived: Instant, answered: Option<(Instant, Status)>) {
        let Some(file) = self.file else { return };
        let arrived_ns = arrived.as_nanos();
        // Writing into a Vec cannot fail.
        let _ = match answered {
            Some((at, status)) => {
                writeln!(self.lines, "{arrived_ns},{},{connection},{}", at.as_nanos(), status.code())
            }
            None => writeln!(self.lines, "{arrived_ns},,{connection},"),
        };
        if self.lines.len() >= self.buffer_bytes {
            file.append(&self.lines);
            self.lines.clear();
        }
    }
}

impl Drop for TruthLog<'_> {
    fn drop(&mut self) {
        if let Some(file) = self.file.filter(|_| !self.lines.is_empty()) {
            file.append(&self.lines);
        }
    }
}
