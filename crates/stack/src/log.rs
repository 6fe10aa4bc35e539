//! What a stack or a build printed.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::error::{LogEnd, StackError};

/// No tail is longer than this.
const TAIL_BYTES: u64 = 64 * 1024;
/// Longer than this, a log is shortened when a trial is over: of a server that logs each request, those of a long run would fill a disk.
const LOG_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// What is then kept of its beginning, where a server says how it was set up, and as much of its end.
const KEPT_BYTES: u64 = 4 * 1024 * 1024;
/// The lines of a log that an error shows.
const LINES_IN_ERROR: usize = 20;

/// Opens `log` to append to it, and says how long it is now.
pub(crate) fn open(log: &Path) -> Result<(File, u64), StackError> {
    let failed = |error| StackError::io("write the log", log, "choose a writable folder for it")(error);
    regular(OpenOptions::new().create(true).append(true), log).map_err(failed)
}

/// Opens a file, and says how long it is. It may lie in the folder of a run that somebody sent: what is there in its place, a link or a
/// pipe, is not written to.
fn regular(options: &mut OpenOptions, log: &Path) -> std::io::Result<(File, u64)> {
    let as_it_is = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = options.custom_flags(as_it_is).open(log)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(std::io::Error::new(ErrorKind::InvalidInput, "it is no regular file"));
    }
    Ok((file, found.len()))
}

/// Takes the middle out of `log` where it is too long. Whoever writes it appends, and so goes on behind what is kept; what is written
/// at this moment may be lost.
pub(crate) fn shorten(log: &Path) -> std::io::Result<()> {
    let (mut file, bytes) = regular(OpenOptions::new().read(true).append(true), log)?;
    if bytes <= LOG_BYTES_MAX {
        return Ok(());
    }
    let left_out = bytes - 2 * KEPT_BYTES;
    let note = format!("\n[proofload left out {left_out} bytes here: the log had become too long]\n");
    let mut end = note.into_bytes();
    file.seek(SeekFrom::Start(bytes - KEPT_BYTES))?;
    (&file).take(KEPT_BYTES).read_to_end(&mut end)?;
    file.set_len(KEPT_BYTES)?;
    file.write_all(&end)
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
        // A log that was shortened may end before where this run of it began.
        let from = if from > end { 0 } else { from };
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

    /// One who goes on writing appends, as a server does that is kept for the next trial.
    #[test]
    fn a_log_that_is_too_long_keeps_its_beginning_and_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let (mut writer, _) = open(&log).unwrap();
        writer.write_all(b"set up\n").unwrap();
        // A hole, which takes no disk.
        writer.set_len(LOG_BYTES_MAX - 5).unwrap();
        writer.write_all(b"last\n").unwrap();
        shorten(&log).unwrap();
        assert_eq!(log.metadata().unwrap().len(), LOG_BYTES_MAX, "it is no longer than it may be");
        writer.write_all(b"!\n").unwrap();
        shorten(&log).unwrap();
        let text = std::fs::read(&log).unwrap();
        assert!(text.starts_with(b"set up\n") && text.ends_with(b"last\n!\n"));
        let said = format!("\n[proofload left out {} bytes here", LOG_BYTES_MAX + 2 - 2 * KEPT_BYTES);
        assert!(text[KEPT_BYTES as usize..].starts_with(said.as_bytes()));
        assert!(text.len() as u64 <= 2 * KEPT_BYTES + 100, "{}", text.len());
        writer.write_all(b"next\n").unwrap();
        assert_eq!(tail(&log, 0, 2), "!\nnext");
        assert_eq!(tail(&log, LOG_BYTES_MAX, 1), "next", "it began where the log does not reach any more");
    }

    /// What leads elsewhere is left as it is.
    #[test]
    fn only_a_log_is_shortened() {
        let folder = tempfile::tempdir().unwrap();
        let [long, link] = ["long", "link"].map(|name| folder.path().join(name));
        File::create(&long).unwrap().set_len(LOG_BYTES_MAX + 1).unwrap();
        std::os::unix::fs::symlink(&long, &link).unwrap();
        assert!(shorten(&link).is_err());
        assert_eq!(long.metadata().unwrap().len(), LOG_BYTES_MAX + 1);
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
