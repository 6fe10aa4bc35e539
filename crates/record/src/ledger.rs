//! What whoever conducts a load on several machines writes down while it goes on, so that another can take it over: the
//! load and how its machines are reached (`load.json`), and what they told (`told.jsonl`, a line each).
//!
//! What a line says is not known here: whoever writes it reads it again. The load may hold secrets, such as a header with a
//! password, so nobody else may read either file.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::RecordError;
use crate::files::{self, LinesBound};

const LOAD: &str = "load.json";
const TOLD: &str = "told.jsonl";
/// `load.json`: a message of the protocol has 16 MiB at most.
const LOAD_BYTES_MAX: u64 = 32 << 20;
/// `told.jsonl`: some 20 KB a second and load thread; ten of them fill it in six hours.
const TOLD_LINES: LinesBound = LinesBound { file_bytes_max: 4 << 30, line_bytes_max: 32 << 20 };
/// Only for its owner.
const DIR_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// The ledger of a load that goes on. Nobody else can open it meanwhile.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    told: File,
    bytes: u64,
}

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// It is written.
    Written,
    /// There is no room for it.
    Full,
}

impl Drop for Ledger {
    fn drop(&mut self) {
        // Said, and not left to closing: see `RunDir`.
        let _ = self.told.unlock();
    }
}

impl Ledger {
    /// Makes the directory and writes down what the load is. A directory that has a ledger is refused and left as it is.
    ///
    /// # Errors
    /// If it can't be written, or there is one.
    pub fn create(dir: &Path, load: &impl Serialize) -> Result<Self, RecordError> {
        let making = |error| RecordError::io(dir, "making the directory", error);
        DirBuilder::new().recursive(true).mode(DIR_MODE).create(dir).map_err(making)?;
        let path = dir.join(TOLD);
        let mut options = OpenOptions::new();
        options.append(true).create_new(true).mode(FILE_MODE);
        let told = files::as_it_is(&mut options).open(&path).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => {
                let taken = "there is one in it; take its load over with `proofload hit --resume`";
                making(std::io::Error::new(ErrorKind::AlreadyExists, taken))
            }
            _ => RecordError::io(&path, "making", error),
        })?;
        let ledger = Self { path, told, bytes: 0 };
        ledger.lock()?;
        let file = dir.join(LOAD);
        let writing = |error| RecordError::io(&file, "writing", error);
        let bytes = serde_json::to_vec(load).map_err(|error| writing(error.into()))?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(FILE_MODE);
        let mut opened = files::as_it_is(&mut options).open(&file).map_err(writing)?;
        opened.write_all(&bytes).and_then(|()| opened.sync_all()).map_err(writing)?;
        Ok(ledger)
    }

    /// Opens one whose writer is gone, and says what its load is.
    ///
    /// # Errors
    /// If there is none, or it is none, or it is still written.
    pub fn open<L: DeserializeOwned>(dir: &Path) -> Result<(Self, L), RecordError> {
        let path = dir.join(TOLD);
        let mut options = OpenOptions::new();
        let told = files::as_it_is(options.read(true).append(true)).open(&path);
        let told = told.map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => RecordError::NoLedger { path: dir.to_owned() },
            _ => RecordError::io(&path, "reading", error),
        })?;
        let is_file = told.metadata().is_ok_and(|it| it.is_file());
        if !is_file {
            let other = std::io::Error::new(ErrorKind::InvalidInput, "it is no regular file");
            return Err(RecordError::io(&path, "reading", other));
        }
        let ledger = Self { path, told, bytes: 0 };
        ledger.lock()?;
        let file = dir.join(LOAD);
        let text = files::read_text(&file, LOAD_BYTES_MAX)?;
        let load = serde_json::from_str(&text).map_err(|error| malformed(&file, 1, error))?;
        Ok((ledger, load))
    }

    /// Hands each line to `each`, which says what is wrong with it. A last line that was not finished is cut off.
    ///
    /// # Errors
    /// If a line can't be read, or is none.
    pub fn replay<T: DeserializeOwned>(
        &mut self,
        mut each: impl FnMut(T) -> Result<(), String>,
    ) -> Result<(), RecordError> {
        let path = self.path.clone();
        self.told.rewind().map_err(|error| RecordError::io(&path, "reading", error))?;
        let whole = files::each_line(&path, &self.told, TOLD_LINES, |number, line| {
            let told = serde_json::from_slice(line).map_err(|error| malformed(&path, number, error))?;
            each(told).map_err(|what| malformed(&path, number, what))
        })?;
        let cut = |error| RecordError::io(&path, "cutting off an unfinished line", error);
        self.told.set_len(whole).map_err(cut)?;
        self.bytes = whole;
        Ok(())
    }

    /// Appends a line, of which nothing stays where that fails.
    ///
    /// # Errors
    /// If it can't be written.
    pub fn append(&mut self, told: &impl Serialize) -> Result<Appended, RecordError> {
        let failed = |error| RecordError::io(&self.path, "writing the ledger", error);
        let mut line = serde_json::to_vec(told).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        let bytes = self.bytes + line.len() as u64;
        if bytes > TOLD_LINES.file_bytes_max || line.len() as u64 > TOLD_LINES.line_bytes_max {
            return Ok(Appended::Full);
        }
        if let Err(error) = self.told.write_all(&line) {
            let _ = self.told.set_len(self.bytes);
            return Err(failed(error));
        }
        self.bytes = bytes;
        Ok(Appended::Written)
    }

    fn lock(&self) -> Result<(), RecordError> {
        let busy = "its load is still conducted by another process";
        files::lock(&self.told, &self.path, "locking the ledger", busy)
    }
}

fn malformed(path: &Path, line: usize, what: impl std::fmt::Display) -> RecordError {
    RecordError::Malformed { path: path.to_owned(), line, what: what.to_string() }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn lines(ledger: &mut Ledger) -> Vec<u32> {
        let mut lines = Vec::new();
        ledger
            .replay(|line| {
                lines.push(line);
                Ok(())
            })
            .unwrap();
        lines
    }

    #[test]
    fn what_was_written_is_read_again_but_for_a_line_that_was_not_finished() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("a/b");
        let mut ledger = Ledger::create(&dir, &"a load").unwrap();
        for line in [1, 2, 3] {
            assert_eq!(ledger.append(&line).unwrap(), Appended::Written);
        }
        let busy = Ledger::open::<String>(&dir).unwrap_err();
        assert!(busy.to_string().contains("still conducted by another process"), "{busy}");
        ledger.told.write_all(b"[4").unwrap();
        drop(ledger);
        let (mut again, load) = Ledger::open::<String>(&dir).unwrap();
        assert_eq!((load.as_str(), lines(&mut again)), ("a load", vec![1, 2, 3]));
        again.append(&5).unwrap();
        drop(again);
        let (mut again, _) = Ledger::open::<String>(&dir).unwrap();
        assert_eq!(lines(&mut again), [1, 2, 3, 5]);
        drop(again);
        let taken = Ledger::create(&dir, &"another").unwrap_err();
        assert!(taken.to_string().contains("--resume"), "{taken}");
        for (path, mode) in [(dir.clone(), 0o700), (dir.join(LOAD), 0o600), (dir.join(TOLD), 0o600)] {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, mode, "{path:?}");
        }
    }

    #[test]
    fn what_is_no_ledger_is_said_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("notes.txt");
        std::fs::write(&file, "no ledger").unwrap();
        for no_ledger in [folder.path(), folder.path().join("none").as_path(), file.as_path()] {
            let none = Ledger::open::<String>(no_ledger).unwrap_err().to_string();
            assert!(none.starts_with(&format!("{} is no ledger; ", no_ledger.display())), "{none}");
        }
        let mut ledger = Ledger::create(folder.path(), &"a load").unwrap();
        ledger.append(&1).unwrap();
        ledger.append(&"two").unwrap();
        drop(ledger);
        let (mut ledger, _) = Ledger::open::<String>(folder.path()).unwrap();
        let told = ledger.replay(|_: u32| Ok(())).unwrap_err().to_string();
        assert!(told.contains("told.jsonl:2: "), "{told}");
        let told = ledger.replay(|_: serde_json::Value| Err("it is no line".into())).unwrap_err().to_string();
        assert!(told.contains("told.jsonl:1: ") && told.contains("it is no line"), "{told}");
    }
}
