//! Files of a record, opened with care: somebody else may have made the directory that they are in.
//!
//! A link in it could have us read, or write over, any file of ours; a pipe would keep us waiting; and a file could be
//! longer than memory. So files are opened as they are, never through a link, nothing but a regular file is read, and
//! each has a bound.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use crate::error::RecordError;

/// Neither through a link, nor waiting for the other end of a pipe.
pub(crate) fn as_it_is(options: &mut OpenOptions) -> &mut OpenOptions {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    options.custom_flags(flags.bits().cast_signed())
}

/// What to do where a file can't be locked, and not because somebody has.
const NO_LOCKS: &str = "its file system may have no locks, as some over a network have none: choose a folder on a disk of this machine";

/// Locks `file`, which is in what is at `path`, until it is closed. `busy` says what another process that has it does with it.
pub(crate) fn lock(file: &File, path: &Path, action: &'static str, busy: &str) -> Result<(), RecordError> {
    file.try_lock().map_err(|error| not_locked(path, action, busy, error))
}

fn not_locked(path: &Path, action: &'static str, busy: &str, error: TryLockError) -> RecordError {
    match error {
        TryLockError::WouldBlock => {
            RecordError::io(path, action, std::io::Error::new(ErrorKind::ResourceBusy, busy))
        }
        TryLockError::Error(source) => {
            RecordError::Io { path: path.to_owned(), action, source, help: NO_LOCKS }
        }
    }
}

/// Opens a file to read it; `None` where there is none.
pub(crate) fn open(path: &Path) -> Result<Option<File>, RecordError> {
    let failed = |error| RecordError::io(path, "reading", error);
    let file = match as_it_is(OpenOptions::new().read(true)).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(failed(std::io::Error::new(ErrorKind::InvalidInput, "it is no regular file")));
    }
    Ok(Some(file))
}

/// Opens a file that has to be there.
pub(crate) fn open_existing(path: &Path) -> Result<File, RecordError> {
    let missing = || RecordError::io(path, "reading", ErrorKind::NotFound.into());
    open(path)?.ok_or_else(missing)
}

/// The whole of a text file of at most `bytes_max` bytes.
pub(crate) fn read_text(path: &Path, bytes_max: u64) -> Result<String, RecordError> {
    let failed = |error| RecordError::io(path, "reading", error);
    let mut text = String::new();
    open_existing(path)?.take(bytes_max + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > bytes_max {
        return Err(too_long(path, None, "the file", bytes_max));
    }
    Ok(text)
}

/// The whole of a file of at most `bytes_max` bytes, as it is; `None` where there is none.
pub(crate) fn read_bytes(path: &Path, bytes_max: u64) -> Result<Option<Vec<u8>>, RecordError> {
    let Some(file) = open(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    let read = file.take(bytes_max + 1).read_to_end(&mut bytes);
    read.map_err(|error| RecordError::io(path, "reading", error))?;
    if bytes.len() as u64 > bytes_max {
        return Err(too_long(path, None, "the file", bytes_max));
    }
    Ok(Some(bytes))
}

/// How long a file of lines may be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinesBound {
    /// All of it, bytes.
    pub(crate) file_bytes_max: u64,
    /// Each line, bytes, without its end.
    pub(crate) line_bytes_max: u64,
}

/// Hands each finished line of `file` and its number, from 1, to `each`; empty ones are passed over. Gives how many bytes
/// the finished lines are long: a last line without an end was not finished.
pub(crate) fn each_line(
    path: &Path,
    file: &File,
    bound: LinesBound,
    mut each: impl FnMut(usize, &[u8]) -> Result<(), RecordError>,
) -> Result<u64, RecordError> {
    let failed = |error| RecordError::io(path, "reading", error);
    let mut reader = BufReader::new(file);
    let (mut line, mut whole, mut number) = (Vec::new(), 0, 0);
    loop {
        line.clear();
        number += 1;
        // One more for the line's end.
        let read = (&mut reader).take(bound.line_bytes_max + 1).read_until(b'\n', &mut line);
        let bytes = read.map_err(failed)? as u64;
        match line.pop() {
            Some(b'\n') => {}
            Some(_) if bytes > bound.line_bytes_max => {
                return Err(too_long(path, Some(number), "the line", bound.line_bytes_max));
            }
            Some(_) | None => return Ok(whole),
        }
        whole += bytes;
        if whole > bound.file_bytes_max {
            return Err(too_long(path, Some(number), "the file", bound.file_bytes_max));
        }
        if !line.is_empty() {
            each(number, &line)?;
        }
    }
}

fn too_long(path: &Path, line: Option<usize>, what: &str, bytes_max: u64) -> RecordError {
    let what = match bytes_max >> 20 {
        0 => format!("{what} is longer than {bytes_max} bytes"),
        mib => format!("{what} is longer than {mib} MiB"),
    };
    RecordError::OutOfBounds { path: path.to_owned(), line: line.unwrap_or(1), what }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUND: LinesBound = LinesBound { file_bytes_max: 12, line_bytes_max: 4 };

    /// The lines that were handed over, and how it ended.
    fn lines(text: &str) -> (Vec<(usize, String)>, Result<u64, String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        std::fs::write(&path, text).unwrap();
        let mut told = Vec::new();
        let file = open_existing(&path).unwrap();
        let end = each_line(&path, &file, BOUND, |number, line| {
            told.push((number, String::from_utf8_lossy(line).into_owned()));
            Ok(())
        });
        (told, end.map_err(|error| error.to_string().replace(&*folder.path().to_string_lossy(), "")))
    }

    #[test]
    fn finished_lines_are_read_and_what_is_longer_than_its_bound_is_not() {
        let line = |number, text: &str| (number, text.to_owned());
        assert_eq!(lines("ab\n\ncd\nhal"), (vec![line(1, "ab"), line(3, "cd")], Ok(7)));
        assert_eq!(lines(""), (Vec::new(), Ok(0)));
        let (told, end) = lines("1234\n12345\n");
        assert_eq!(told, [line(1, "1234")]);
        assert!(end.unwrap_err().starts_with("/f:2: the line is longer than 4 bytes"));
        let (told, end) = lines("1234\n1234\n123\n");
        assert_eq!(told.len(), 2);
        assert!(end.unwrap_err().starts_with("/f:3: the file is longer than 12 bytes"));
    }

    #[test]
    fn a_file_is_read_as_it_is_up_to_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        assert!(read_bytes(&path, 4).unwrap().is_none());
        std::fs::write(&path, b"\xff\n12").unwrap();
        assert_eq!(read_bytes(&path, 4).unwrap().as_deref(), Some(&b"\xff\n12"[..]));
        let told = read_bytes(&path, 3).unwrap_err().to_string();
        assert!(told.contains("f:1: the file is longer than 3 bytes"), "{told}");
    }

    /// Nobody is to be waited for, or ended, who is not there.
    #[test]
    fn where_there_are_no_locks_nobody_is_said_to_hold_one() {
        let told = |error| not_locked(Path::new("runs/a"), "locking the run", "another writes it", error);
        let busy = told(TryLockError::WouldBlock).to_string();
        assert_eq!(
            busy,
            "runs/a: locking the run failed: another writes it; wait until it has ended, or end it"
        );
        let none = told(TryLockError::Error(rustix::io::Errno::NOLCK.into())).to_string();
        assert!(none.starts_with("runs/a: locking the run failed: No locks available"), "{none}");
        assert!(none.ends_with("choose a folder on a disk of this machine"), "{none}");
        assert!(!none.contains("another") && !none.contains("wait"), "{none}");
    }

    #[test]
    fn links_and_pipes_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let [link, directory] = ["link", "directory"].map(|name| folder.path().join(name));
        std::os::unix::fs::symlink("/etc/hostname", &link).unwrap();
        std::fs::create_dir(&directory).unwrap();
        for path in [&link, &directory] {
            let told = open(path).unwrap_err().to_string();
            assert!(told.contains(": reading failed: "), "{told}");
        }
        assert!(open(Path::new("/dev/zero")).unwrap_err().to_string().contains("no regular file"));
        assert!(open(&folder.path().join("none")).unwrap().is_none());
    }
}
