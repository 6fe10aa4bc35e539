//! The list of runs: little of each, so that a folder of hundreds is listed at once.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use record::{Manifest, RunDir};
use serde::Serialize;

/// What a run's directory has in it, one or the other of which is enough to say so.
const FILES: [&str; 3] = ["manifest.json", "experiment.toml", "trials.jsonl"];

/// A run in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Listed {
    /// The name of its directory, by which its report is asked for.
    pub(super) name: String,
    title: String,
    /// RFC 3339; empty where it can't be read.
    started: String,
    pace: String,
    /// Trials that are written down, failed ones included.
    trials: usize,
    /// Trials that it makes at any rate, where all stacks take part.
    planned: u32,
    state: State,
    /// Why it can't be read.
    pub(super) error: Option<String>,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum State {
    /// A process is writing it.
    Running,
    /// It has its trials.
    Complete,
    /// It ended before: interrupted, or stacks of it failed.
    Partial,
    /// It can't be read.
    Unreadable,
}

/// The runs in `folder`, the latest first, those that can't be read last.
pub(super) fn list(folder: &Path) -> io::Result<Vec<Listed>> {
    let locked = fs::read_to_string("/proc/locks").unwrap_or_default();
    let mut runs = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let dir = entry.path();
        // A name that is no text could not be asked for.
        let Ok(name) = entry.file_name().into_string() else { continue };
        if FILES.iter().any(|file| dir.join(file).is_file()) {
            runs.push(listed(name, &dir, &locked));
        }
    }
    runs.sort_by(|a, b| b.started.cmp(&a.started).then_with(|| b.name.cmp(&a.name)));
    Ok(runs)
}

fn listed(name: String, dir: &Path, locked: &str) -> Listed {
    let read = RunDir::read_manifest(dir).and_then(|manifest| Ok((manifest, RunDir::count_trials(dir)?)));
    match read.map_err(|error| error.to_string()) {
        Err(error) => Listed {
            name,
            title: String::new(),
            started: String::new(),
            pace: String::new(),
            trials: 0,
            planned: 0,
            state: State::Unreadable,
            error: Some(error),
        },
        Ok((manifest, trials)) => {
            let state = match () {
                () if is_locked(dir, locked) => State::Running,
                () if manifest.complete == Some(false) => State::Partial,
                () if trials >= manifest.trials as usize => State::Complete,
                () => State::Partial,
            };
            let Manifest { title, started, pace, quick, trials: planned, .. } = manifest;
            // Older versions knew two paces.
            let pace = match pace.as_str() {
                "" if quick => "quick".to_owned(),
                "" => "full".to_owned(),
                _ => pace,
            };
            Listed { name, title, started, pace, trials, planned, state, error: None }
        }
    }
}

/// Whether a process holds the lock of the run in `dir`, as the kernel's list of locks says: taking the lock to find out
/// could keep its owner from it.
fn is_locked(dir: &Path, locked: &str) -> bool {
    let Ok(file) = fs::metadata(dir.join("lock")) else { return false };
    let inode = format!(":{}", file.ino());
    // `1: FLOCK  ADVISORY  WRITE 1234 fd:01:5678 0 EOF`
    locked.lines().any(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        fields.get(1) == Some(&"FLOCK") && fields.get(5).is_some_and(|file| file.ends_with(&inode))
    })
}
