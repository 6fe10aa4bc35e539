//! What a stack or a build printed.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::error::{LogEnd, StackError};

/// No tail is longer than this.
const TAIL_BYTES: u64 = 64 * 1024;
/// The lines of a log that an error shows.
const LINES_IN_ERROR: usize = 20;

/// Opens `log` to append to it, and says how long it is now.
pub(crate) fn open(log: &Path) -> Result<(File, u64), StackError> {
    let failed = |error| StackError::io("write the log", log, "choose a writable folder for it")(error);
    let file = OpenOptions::new().create(true).append(true).open(log).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    Ok((file, length))
}

/// The end of `log`, for an error.
pub(crate) fn end(log: &Path, from: u64) -> LogEnd {
    LogEnd { file: log.to_owned(), tail: tail(log, from, LINES_IN_ERROR) }
}

/// The last `lines` lines of `log` from the byte `from` on; empty where it cannot be read.
pub(crate) fn tail(log: &Path, from: u64, lines: usize) -> String {
    let read = || {
        let mut file = File::open(log)?;
        let end = file.metadata()?.len();
        file.seek(SeekFrom::Start(from.max(end.saturating_sub(TAIL_BYTES))))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        std::io::Result::Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_the_last_lines_of_this_run() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        std::fs::write(&log, "old\none\ntwo\nthree\n").unwrap();
        assert_eq!(tail(&log, 4, 2), "two\nthree");
        assert_eq!(tail(&log, 4, 9), "one\ntwo\nthree");
        assert_eq!(tail(&folder.path().join("none"), 0, 9), "");
    }
}
