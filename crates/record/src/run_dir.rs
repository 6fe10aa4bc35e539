//! The directory of a run.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use memchr::memmem;

use crate::bounds;
use crate::cells::standing;
use crate::error::RecordError;
use crate::files;
use crate::load::LOAD_VERSION;
use crate::manifest::{MANIFEST_VERSION, Manifest};
use crate::stamp::Stamp;
use crate::trial::{TRIAL_VERSION, Trial, TrialResult};

const MANIFEST: &str = "manifest.json";
const EXPERIMENT: &str = "experiment.toml";
const TRIALS: &str = "trials.jsonl";
const TRIAL_DIRS: &str = "trials";

/// An open run directory, to which trials are appended.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    trials: File,
    /// Held while the run goes on, so that two processes never append to one run.
    lock: File,
}

impl Drop for RunDir {
    fn drop(&mut self) {
        // Said, and not left to closing: a process that another thread is just starting holds a copy of the
        // descriptor for a moment, and with it the lock.
        let _ = self.lock.unlock();
    }
}

impl RunDir {
    /// Makes the directory and writes what was asked for. A directory that holds a run is refused and left
    /// as it is.
    pub fn create(path: &Path, experiment: &str) -> Result<Self, RecordError> {
        let making = |error| RecordError::io(path, "making the directory", error);
        std::fs::create_dir_all(path.join(TRIAL_DIRS)).map_err(making)?;
        let run = Self::open(path)?;
        if path.join(EXPERIMENT).symlink_metadata().is_ok() {
            let taken = std::io::Error::new(std::io::ErrorKind::AlreadyExists, "there is a run in it");
            return Err(making(taken));
        }
        write_whole(&path.join(EXPERIMENT), experiment.as_bytes())?;
        Ok(run)
    }

    /// Opens a run to go on with it: all its trials, repeated ones included. A last line that was not finished is cut off.
    pub fn resume(path: &Path) -> Result<(Self, Manifest, Vec<Trial>), RecordError> {
        let manifest = Self::read_manifest(path)?;
        let run = Self::open(path)?;
        let file = path.join(TRIALS);
        let long = run.trials.metadata().map_err(|error| RecordError::io(&file, "reading", error))?.len();
        // First read, then cut: what can't be read is left as it is.
        let (trials, whole) = parse_trials(&file, &run.trials)?;
        if whole < long {
            let cut = |error| RecordError::io(&file, "cutting off an unfinished line", error);
            run.trials.set_len(whole).map_err(cut)?;
        }
        Ok((run, manifest, trials))
    }

    /// Nothing in the directory is followed or written to before it is known to be what it should be, and ours alone:
    /// it may be a directory that somebody sent.
    fn open(path: &Path) -> Result<Self, RecordError> {
        let trial_dirs = path.join(TRIAL_DIRS);
        make_dir(&trial_dirs).map_err(|error| RecordError::io(&trial_dirs, "making the directory", error))?;
        let lock_path = path.join("lock");
        let mut to_lock = OpenOptions::new();
        let lock = files::as_it_is(to_lock.write(true).create(true).truncate(false))
            .open(&lock_path)
            .map_err(|error| RecordError::io(&lock_path, "making", error))?;
        files::lock(&lock, path, "locking the run", "another process is writing this run")?;
        let file = path.join(TRIALS);
        let mut to_append = OpenOptions::new();
        let trials = files::as_it_is(to_append.read(true).append(true).create(true))
            .open(&file)
            .map_err(|error| RecordError::io(&file, "opening", error))?;
        Ok(Self { path: path.to_owned(), trials, lock })
    }

    /// Notes in the manifest that all is made.
    pub fn complete(&self) -> Result<(), RecordError> {
        let manifest = Self::read_manifest(&self.path)?;
        self.write_manifest(&Manifest { complete: Some(true), ..manifest })
    }

    /// Removes the run in `path`, which nobody may be writing.
    pub fn remove(path: &Path) -> Result<(), RecordError> {
        // A directory without one is no run, and opening would make one of it.
        Self::read_manifest(path)?;
        let run = Self::open(path)?;
        std::fs::remove_dir_all(&run.path).map_err(|error| RecordError::io(path, "removing the run", error))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the manifest, whole or not at all.
    pub fn write_manifest(&self, manifest: &Manifest) -> Result<(), RecordError> {
        let mut text = serde_json::to_string_pretty(manifest).expect("a manifest is plain data");
        text.push('\n');
        write_whole(&self.path.join(MANIFEST), text.as_bytes())
    }

    /// Appends a finished trial and waits until it is on the disk. Where that fails, no part of it stays.
    ///
    /// # Panics
    /// In debug builds if a figure of the trial is not finite: JSON has no such number.
    pub fn append(&mut self, trial: &Trial) -> Result<(), RecordError> {
        let mut line = serde_json::to_vec(trial).expect("a trial is plain data");
        debug_assert!(serde_json::from_slice::<Trial>(&line).is_ok(), "a figure is not finite: {trial:?}");
        line.push(b'\n');
        let failed = |error| RecordError::io(&self.path.join(TRIALS), "writing a trial", error);
        let before = self.trials.metadata().map_err(failed)?.len();
        self.trials.write_all(&line).and_then(|()| self.trials.sync_data()).map_err(|error| {
            // Best effort: a reader skips an unfinished line, and resuming cuts it off.
            let _ = self.trials.set_len(before);
            failed(error)
        })
    }

    /// A new directory for trial `index`. What a try of it left there that was killed is removed.
    pub fn trial_dir(&self, index: u32) -> Result<PathBuf, RecordError> {
        let path = Self::trial_path(&self.path, index);
        let made = match std::fs::remove_dir_all(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => std::fs::create_dir(&path),
        };
        made.map_err(|error| RecordError::io(&path, "making the directory", error))?;
        Ok(path)
    }

    /// Where the directory of trial `index` of the run in `path` is, if there is one.
    pub fn trial_path(path: &Path, index: u32) -> PathBuf {
        path.join("trials").join(format!("{index:04}"))
    }

    /// The manifest of the run in `path`.
    pub fn read_manifest(path: &Path) -> Result<Manifest, RecordError> {
        let file = path.join(MANIFEST);
        let text = files::read_text(&file, bounds::MANIFEST_BYTES_MAX)?;
        let malformed = |line: usize, what: String| RecordError::Malformed { path: file.clone(), line, what };
        let without_version =
            |error: serde_json::Error| RecordError::without_version(&file, error.line().max(1), &error);
        let stamp: Stamp = serde_json::from_str(&text).map_err(without_version)?;
        if let Err(what) = stamp.check("the manifest", MANIFEST_VERSION) {
            let line = text.lines().position(|line| line.contains("\"version\"")).map_or(1, |at| at + 1);
            return Err(malformed(line, what));
        }
        let manifest = serde_json::from_str(&text)
            .map_err(|error| RecordError::in_json(&file, error.line().max(1), &error))?;
        bounds::check_manifest(&manifest).map_err(|what| RecordError::OutOfBounds {
            path: file.clone(),
            line: 1,
            what,
        })?;
        Ok(manifest)
    }

    /// Where what was asked for in the run in `path` is written.
    pub fn experiment_path(path: &Path) -> PathBuf {
        path.join(EXPERIMENT)
    }

    /// What was asked for in the run in `path`.
    pub fn read_experiment(path: &Path) -> Result<String, RecordError> {
        files::read_text(&Self::experiment_path(path), bounds::EXPERIMENT_BYTES_MAX)
    }

    /// The finished trials of the run in `path` that stand for their places ([`standing`]). An unfinished last line is not one.
    pub fn read_trials(path: &Path) -> Result<Vec<Trial>, RecordError> {
        let file = path.join(TRIALS);
        Ok(standing(parse_trials(&file, &files::open_existing(&file)?)?.0))
    }

    /// The trials of the run in `path` as they are written, for who reads them as any other text.
    ///
    /// # Errors
    /// If there is no such file, or it is none of the record's own.
    pub fn open_trials(path: &Path) -> Result<File, RecordError> {
        files::open_existing(&path.join(TRIALS))
    }

    /// How many trials are written down, those aside that repeat another; none where there is no file yet. Their lines are hardly
    /// looked at: a record is long.
    pub fn count_trials(path: &Path) -> Result<usize, RecordError> {
        let file = path.join(TRIALS);
        let Some(opened) = files::open(&file)? else { return Ok(0) };
        let mut count = 0;
        files::each_line(&file, &opened, bounds::TRIALS, |_, line| {
            count += usize::from(!is_repeat(line));
            Ok(())
        })?;
        Ok(count)
    }
}

/// Whether a line is of a trial that was made once more. No text can have this in it: a quote in one is written with a backslash
/// before it.
fn is_repeat(line: &[u8]) -> bool {
    const KEY: &[u8] = b",\"repeats\":{";
    memmem::find(line, KEY).is_some()
}

/// The trials of a file, and how long their lines are together.
fn parse_trials(path: &Path, file: &File) -> Result<(Vec<Trial>, u64), RecordError> {
    let mut trials = Vec::new();
    let mut cells = bounds::Cells::default();
    let whole = files::each_line(path, file, bounds::TRIALS, |number, line| {
        let malformed = |what: String| RecordError::Malformed { path: path.to_owned(), line: number, what };
        let out_of_bounds =
            |what: String| RecordError::OutOfBounds { path: path.to_owned(), line: number, what };
        let stamp: Stamp = serde_json::from_slice(line)
            .map_err(|error| RecordError::without_version(path, number, &error))?;
        stamp.check("the trial", TRIAL_VERSION).map_err(malformed)?;
        let trial: Trial =
            serde_json::from_slice(line).map_err(|error| RecordError::in_json(path, number, &error))?;
        if let TrialResult::Measured(measured) = &trial.result {
            let stamp = Stamp { version: measured.load.version };
            stamp.check("the load", LOAD_VERSION).map_err(malformed)?;
        }
        bounds::check_trial(&trial).and_then(|()| cells.add(&trial)).map_err(out_of_bounds)?;
        trials.push(trial);
        Ok(())
    })?;
    Ok((trials, whole))
}

/// Makes a directory where there is none; a link to one is none.
fn make_dir(path: &Path) -> std::io::Result<()> {
    match std::fs::create_dir(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let is_dir = path.symlink_metadata()?.is_dir();
            is_dir.then_some(()).ok_or_else(|| std::io::ErrorKind::NotADirectory.into())
        }
        made => made,
    }
}

/// Writes a file under another name, syncs it, and renames it: a reader sees all of it or nothing.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    // What a writer left that was killed goes first; what comes there after that is not written to.
    let make = |partial: &Path| {
        let _ = std::fs::remove_file(partial);
        File::create_new(partial)
    };
    replace(path, bytes, make).map_err(|error| RecordError::io(path, "writing", error))
}

fn replace(
    path: &Path,
    bytes: &[u8],
    make: impl FnOnce(&Path) -> std::io::Result<File>,
) -> std::io::Result<()> {
    let partial = path.with_extension("partial");
    let write = || {
        let mut file = make(&partial)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&partial, path)
    };
    write().inspect_err(|_| {
        // What was there under the name itself is untouched; the half goes, if it can.
        let _ = std::fs::remove_file(&partial);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `/dev/full` stands for a disk without room: whatever is written to it fails as there.
    fn full() -> std::io::Result<File> {
        OpenOptions::new().read(true).write(true).open("/dev/full")
    }

    #[test]
    fn a_full_disk_leaves_no_half_of_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("manifest.json");
        std::fs::write(&path, "before").unwrap();
        let half = |partial: &Path| File::create_new(partial).and_then(|_| full());
        let error = replace(&path, b"after", half).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_full_disk_is_one_error_with_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let mut run = RunDir::create(dir.path(), "").unwrap();
        run.trials = full().unwrap();
        let trial: Trial = serde_json::from_str(
            r#"{"version":1,"index":0,"block":0,"round":"","stack":"","load":"","started":"","failed":{"error":""}}"#,
        )
        .unwrap();
        let told = run.append(&trial).unwrap_err().to_string();
        assert!(told.contains("trials.jsonl: writing a trial failed"), "{told}");
        assert!(told.ends_with("free some space, then resume the run"), "{told}");
    }
}
