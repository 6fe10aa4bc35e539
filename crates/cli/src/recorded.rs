//! Recorded runs as commands are told of them: one way to read one, and one way in which it is none.

use std::io::ErrorKind;
use std::path::Path;

use explain::RecordedRun;
use record::{Manifest, RecordError, RunDir, Trial};

use crate::exit::Failure;

/// What `dir` was begun with and what was measured. What is no run, or none that can be read, was not one to name: an error
/// of usage, whichever command was told.
pub fn read(dir: &Path) -> Result<(Manifest, Vec<Trial>), Failure> {
    let manifest = manifest(dir)?;
    let trials = RunDir::read_trials(dir).map_err(|error| unreadable(dir, &error))?;
    Ok((manifest, trials))
}

/// The same of what it was begun with alone.
pub fn manifest(dir: &Path) -> Result<Manifest, Failure> {
    RunDir::read_manifest(dir).map_err(|error| unreadable(dir, &error))
}

/// Of a file of a run that can't be read.
pub fn unreadable(dir: &Path, error: &RecordError) -> Failure {
    match error {
        RecordError::Io { path, source, .. }
            if matches!(source.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
        {
            let load = if dir.is_file() {
                ". The result of one load (`hit --json`) is not a run; use `hit --compare-to` or `export`"
            } else {
                ""
            };
            Failure::usage(format!(
                "{} is not a recorded run ({}: {source}); name a directory that `proofload run` wrote{load}",
                dir.display(),
                path.display()
            ))
        }
        _ => Failure::usage(error),
    }
}

/// A run as it lies on the disk.
pub struct Recorded {
    manifest: Manifest,
    trials: Vec<Trial>,
    experiment: String,
    dir: String,
}

impl Recorded {
    /// Reads the run in `path`. What is none was not a run to name: an error of usage.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let (manifest, trials) = read(path)?;
        Ok(Self {
            manifest,
            trials,
            experiment: RunDir::read_experiment(path).map_err(|error| unreadable(path, &error))?,
            dir: path.display().to_string(),
        })
    }

    /// Its finished trials.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// Where it lies.
    pub fn dir(&self) -> &str {
        &self.dir
    }

    /// As it is judged.
    pub fn as_run(&self) -> RecordedRun<'_> {
        RecordedRun {
            manifest: &self.manifest,
            trials: &self.trials,
            experiment: &self.experiment,
            dir: &self.dir,
        }
    }
}
