//! The directory of a run.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::error::RecordError;
use crate::load::LOAD_VERSION;
use crate::manifest::{MANIFEST_VERSION, Manifest};
use crate::trial::{TRIAL_VERSION, Trial, TrialResult};

const MANIFEST: &str = "manifest.json";
const EXPERIMENT: &str = "experiment.toml";
const TRIALS: &str = "trials.jsonl";

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
        std::fs::create_dir_all(path.join("trials")).map_err(making)?;
        let run = Self::open(path)?;
        if path.join(EXPERIMENT).exists() {
            let taken = std::io::Error::new(std::io::ErrorKind::AlreadyExists, "there is a run in it");
            return Err(making(taken));
        }
        write_whole(&path.join(EXPERIMENT), experiment.as_bytes())?;
        Ok(run)
    }

    /// Opens a run to go on with it. A last line that was not finished is cut off.
    pub fn resume(path: &Path) -> Result<(Self, Manifest, Vec<Trial>), RecordError> {
        let manifest = Self::read_manifest(path)?;
        let mut run = Self::open(path)?;
        let file = path.join(TRIALS);
        let mut bytes = Vec::new();
        run.trials.read_to_end(&mut bytes).map_err(|error| RecordError::io(&file, "reading", error))?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        // First read, then cut: what can't be read is left as it is.
        let trials = parse_trials(&file, &bytes[..whole])?;
        if whole < bytes.len() {
            let cut = |error| RecordError::io(&file, "cutting off an unfinished line", error);
            run.trials.set_len(whole as u64).map_err(cut)?;
        }
        Ok((run, manifest, trials))
    }

    fn open(path: &Path) -> Result<Self, RecordError> {
        let lock_path = path.join("lock");
        let lock = File::create(&lock_path).map_err(|error| RecordError::io(&lock_path, "making", error))?;
        lock.try_lock().map_err(|error| {
            let what = format!("another process is writing this run ({error})");
            let busy = std::io::Error::new(std::io::ErrorKind::ResourceBusy, what);
            RecordError::io(path, "locking the run", busy)
        })?;
        let file = path.join(TRIALS);
        let trials = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&file)
            .map_err(|error| RecordError::io(&file, "opening", error))?;
        Ok(Self { path: path.to_owned(), trials, lock })
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

    /// The directory of trial `index`, made if it isn't there.
    pub fn trial_dir(&self, index: u32) -> Result<PathBuf, RecordError> {
        let path = Self::trial_path(&self.path, index);
        std::fs::create_dir_all(&path)
            .map_err(|error| RecordError::io(&path, "making the directory", error))?;
        Ok(path)
    }

    /// Where the directory of trial `index` of the run in `path` is, if there is one.
    pub fn trial_path(path: &Path, index: u32) -> PathBuf {
        path.join("trials").join(format!("{index:04}"))
    }

    /// The manifest of the run in `path`.
    pub fn read_manifest(path: &Path) -> Result<Manifest, RecordError> {
        let file = path.join(MANIFEST);
        let text =
            std::fs::read_to_string(&file).map_err(|error| RecordError::io(&file, "reading", error))?;
        let malformed = |line: usize, what: String| RecordError::Malformed { path: file.clone(), line, what };
        let in_json = |error: serde_json::Error| malformed(error.line().max(1), error.to_string());
        let stamp: Stamp = serde_json::from_str(&text).map_err(in_json)?;
        if let Err(what) = stamp.check("the manifest", MANIFEST_VERSION) {
            let line = text.lines().position(|line| line.contains("\"version\"")).map_or(1, |at| at + 1);
            return Err(malformed(line, what));
        }
        serde_json::from_str(&text).map_err(in_json)
    }

    /// What was asked for in the run in `path`.
    pub fn experiment_path(path: &Path) -> PathBuf {
        path.join(EXPERIMENT)
    }

    /// The finished trials of the run in `path`. An unfinished last line is not one.
    pub fn read_trials(path: &Path) -> Result<Vec<Trial>, RecordError> {
        let file = path.join(TRIALS);
        let bytes = std::fs::read(&file).map_err(|error| RecordError::io(&file, "reading", error))?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        parse_trials(&file, &bytes[..whole])
    }
}

/// What every version of a record has: read first, so that a newer record is called newer, not broken.
#[derive(serde::Deserialize)]
pub(crate) struct Stamp {
    version: u32,
}

impl Stamp {
    pub(crate) fn check(&self, what: &str, known: u32) -> Result<(), String> {
        if self.version <= known {
            return Ok(());
        }
        Err(format!("{what} has version {}, and {known} is the newest known here", self.version))
    }
}

fn parse_trials(file: &Path, bytes: &[u8]) -> Result<Vec<Trial>, RecordError> {
    let lines = bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
    lines
        .map(|(index, line)| {
            let malformed =
                |what: String| RecordError::Malformed { path: file.to_owned(), line: index + 1, what };
            let in_json = |error: serde_json::Error| malformed(error.to_string());
            let stamp: Stamp = serde_json::from_slice(line).map_err(in_json)?;
            stamp.check("the trial", TRIAL_VERSION).map_err(malformed)?;
            let trial: Trial = serde_json::from_slice(line).map_err(in_json)?;
            if let TrialResult::Measured(measured) = &trial.result {
                let stamp = Stamp { version: measured.load.version };
                stamp.check("the load", LOAD_VERSION).map_err(malformed)?;
            }
            Ok(trial)
        })
        .collect()
}

/// Writes a file under another name, syncs it, and renames it: a reader sees all of it or nothing.
fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    let partial = path.with_extension("partial");
    let write = || {
        let mut file = File::create(&partial)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&partial, path)
    };
    write().map_err(|error| {
        // What was there under the name itself is untouched; the half goes, if it can.
        let _ = std::fs::remove_file(&partial);
        RecordError::io(path, "writing", error)
    })
}
