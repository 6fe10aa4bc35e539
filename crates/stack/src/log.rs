//! What a stack or a build printed.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::error::{LogEnd, StackError};

/// No tail is longer than this.
const TAIL_BYTES: u64 = 64 * 1024;
/// The lines of a log that an error shows.
const LINES_IN_ERROR: usize = 20;

/// Opens `log` to append to it, and says how long it is now. It may lie in the folder of a run that somebody sent: what is there in
/// its place, a link or a pipe, is not written to.
pub(crate) fn open(log: &Path) -> Result<(File, u64), StackError> {
    let failed = |error| StackError::io("write the log", log, "choose a writable folder for it")(error);
    let as_it_is = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = OpenOptions::new().create(true).append(true).custom_flags(as_it_is).open(log);
    let file = file.map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    if !found.is_file() {
        return Err(failed(std::io::Error::new(ErrorKind::InvalidInput, "it is no regular file")));
    }
    Ok((file, found.len()))
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
    fn a_log_is_appended_to_and_leads_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let [log, link] = ["log", "link"].map(|name| folder.path().join(name));
        std::fs::write(&log, "ours").unwrap();
        assert_eq!(open(&log).unwrap().1, 4);
        std::os::unix::fs::symlink(&log, &link).unwrap();
        assert!(open(&link).unwrap_err().to_string().contains("write the log"));
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "ours");
        assert!(open(Path::new("/dev/null")).unwrap_err().to_string().contains("no regular file"));
    }

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
