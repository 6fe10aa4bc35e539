//! The directory of a run.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use crate::error::RecordError;
use crate::manifest::{MANIFEST_VERSION, Manifest};
use crate::trial::{TRIAL_VERSION, Trial};

const MANIFEST: &str = "manifest.json";
const EXPERIMENT: &str = "experiment.toml";
const TRIALS: &str = "trials.jsonl";

/// An open run directory, to which trials are appended.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    trials: File,
    /// Held while the run goes on, so that two processes never append to one run.
    _lock: File,
}

impl RunDir {
    /// Makes the directory and writes what was asked for.
    pub fn create(path: &Path, experiment: &str) -> Result<Self, RecordError> {
        std::fs::create_dir_all(path.join("trials"))
            .map_err(|error| RecordError::io(path, "making the directory", error))?;
        write_whole(&path.join(EXPERIMENT), experiment.as_bytes())?;
        Self::open(path)
    }

    /// Opens a run to go on with it. A last line that was not finished is cut off.
    pub fn resume(path: &Path) -> Result<(Self, Manifest, Vec<Trial>), RecordError> {
        let manifest = Self::read_manifest(path)?;
        let mut run = Self::open(path)?;
        let file = path.join(TRIALS);
        let mut bytes = Vec::new();
        run.trials.read_to_end(&mut bytes).map_err(|error| RecordError::io(&file, "reading", error))?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let cut = |error| RecordError::io(&file, "cutting off an unfinished line", error);
        run.trials.set_len(whole as u64).map_err(cut)?;
        run.trials.seek(std::io::SeekFrom::End(0)).map_err(cut)?;
        let trials = parse_trials(&file, &bytes[..whole])?;
        Ok((run, manifest, trials))
    }

    fn open(path: &Path) -> Result<Self, RecordError> {
        let lock_path = path.join("lock");
        let lock = File::create(&lock_path).map_err(|error| RecordError::io(&lock_path, "making", error))?;
        lock.try_lock().map_err(|error| {
            let busy = std::io::Error::other(format!("another process is writing this run ({error})"));
            RecordError::io(path, "locking the run", busy)
        })?;
        let file = path.join(TRIALS);
        let trials = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&file)
            .map_err(|error| RecordError::io(&file, "opening", error))?;
        Ok(Self { path: path.to_owned(), trials, _lock: lock })
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

    /// Appends a finished trial and waits until it is on the disk.
    pub fn append(&mut self, trial: &Trial) -> Result<(), RecordError> {
        let mut line = serde_json::to_vec(trial).expect("a trial is plain data");
        line.push(b'\n');
        self.trials
            .write_all(&line)
            .and_then(|()| self.trials.sync_data())
            .map_err(|error| RecordError::io(&self.path.join(TRIALS), "writing a trial", error))
    }

    /// The directory of trial `index`, made if it isn't there.
    pub fn trial_dir(&self, index: u32) -> Result<PathBuf, RecordError> {
        let path = self.path.join("trials").join(format!("{index:04}"));
        std::fs::create_dir_all(&path)
            .map_err(|error| RecordError::io(&path, "making the directory", error))?;
        Ok(path)
    }

    /// The manifest of the run in `path`.
    pub fn read_manifest(path: &Path) -> Result<Manifest, RecordError> {
        let file = path.join(MANIFEST);
        let text =
            std::fs::read_to_string(&file).map_err(|error| RecordError::io(&file, "reading", error))?;
        let malformed = |what: String| RecordError::Malformed { path: file.clone(), line: 1, what };
        let manifest: Manifest = serde_json::from_str(&text).map_err(|error| malformed(error.to_string()))?;
        if manifest.version > MANIFEST_VERSION {
            return Err(malformed(format!("it has version {}", manifest.version)));
        }
        Ok(manifest)
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

fn parse_trials(file: &Path, bytes: &[u8]) -> Result<Vec<Trial>, RecordError> {
    let lines = bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty());
    lines
        .map(|(index, line)| {
            let malformed =
                |what: String| RecordError::Malformed { path: file.to_owned(), line: index + 1, what };
            let trial: Trial = serde_json::from_slice(line).map_err(|error| malformed(error.to_string()))?;
            if trial.version > TRIAL_VERSION {
                return Err(malformed(format!("it has version {}", trial.version)));
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
    write().map_err(|error| RecordError::io(path, "writing", error))
}
