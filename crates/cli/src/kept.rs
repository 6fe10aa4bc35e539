//! Where runs are kept, and which of them go when a new one is made.

use std::path::{Path, PathBuf};

use jiff::{Timestamp, ToSpan};
use lab::experiment::Ended;
use plan::kept_runs::{KeptRuns, RUNS};
use plan::toml_file;
use record::{Manifest, RecordError, RunDir, VERSIONS_FILE};

use crate::exit::Failure;
use crate::output::say;
use crate::workbench::PROJECT_FILE;

/// Runs of a folder that are looked at: more are a folder of something else.
const RUNS_MAX: usize = 100_000;

/// Where runs are: as typed, else as the project says in whose folder this is run, else in `runs`.
pub fn folder(typed: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(typed) = typed {
        return Ok(typed.to_owned());
    }
    let file = Path::new(PROJECT_FILE);
    if !file.is_file() {
        return Ok(RUNS.into());
    }
    Ok(KeptRuns::of_experiment(file, &toml_file::read(file)?)?.folder(Path::new("")))
}

/// The directories in `runs` that hold a run, by name.
pub fn run_dirs(runs: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable =
        |error: std::io::Error| Failure::usage(RecordError::io(runs, "reading the directory", error));
    let mut dirs = Vec::new();
    for entry in std::fs::read_dir(runs).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.join("manifest.json").is_file() {
            dirs.push(path);
        }
    }
    dirs.sort();
    Ok(dirs)
}

/// Removes the runs beside the one that `ended` which it takes the place of, and that `kept` does not keep. A run that is not
/// whole takes nobody's place. What is no run, can't be read, or goes on stays; so does the run itself, and so do those that
/// began after it: one that was gone on with may end when they are long there.
pub fn tidy(kept: &KeptRuns, ended: &Ended) {
    let dir = &ended.dir.canonicalize().unwrap_or_else(|_| ended.dir.clone());
    let (Some(folder), Ok(own)) = (dir.parent(), RunDir::read_manifest(dir)) else { return };
    let is_whole = !ended.interrupted && ended.failed == 0 && ended.left_out.is_empty();
    if kept.keeps_all() || !is_whole {
        return;
    }
    let mut others = replaced(folder, &own, has_versions(dir));
    others.retain(|(_, path)| path != dir);
    // The newest first.
    others.sort_by(|a, b| b.cmp(a));
    let Ok(began) = own.started.parse::<Timestamp>() else { return };
    let newest = kept.newest.map_or(usize::MAX, |it| it.get() as usize - 1);
    let age = kept.days.map(|days| (i64::from(days.get()) * 24).hours());
    let oldest = age.and_then(|age| Timestamp::now().checked_sub(age).ok());
    let is_old = |started: &Timestamp| oldest.is_some_and(|oldest| *started < oldest);
    let is_gone =
        |place: usize, started: &Timestamp| *started <= began && (place >= newest || is_old(started));
    let gone = others.iter().enumerate().filter(|(place, (started, _))| is_gone(*place, started));
    let removed = gone.filter(|(_, (_, path))| match RunDir::remove(path) {
        Ok(()) => true,
        Err(error) => {
            say(format_args!("proofload: an old run stays: {error}"));
            false
        }
    });
    let removed = removed.count();
    if removed > 0 {
        let plural = if removed == 1 { "run is" } else { "runs are" };
        say(format_args!(
            "proofload: {removed} old {plural} removed from {}, as [runs] says",
            folder.display()
        ));
    }
}

/// The runs in a folder whose place `own` takes, and when they started: of its experiment by the title, as thorough, on two versions
/// where it is, and of no cells that it does not have, also by no other driver.
fn replaced(folder: &Path, own: &Manifest, is_of_versions: bool) -> Vec<(Timestamp, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let has_its_cells = |it: &Manifest| own.selection.is_none() || own.selection == it.selection;
    let has_its_drivers = |it: &Manifest| it.drivers.iter().all(|driver| own.drivers.contains(driver));
    let is_alike = |it: &Manifest| {
        (&it.title, &it.pace) == (&own.title, &own.pace) && has_its_cells(it) && has_its_drivers(it)
    };
    let run = |path: PathBuf| {
        let manifest = RunDir::read_manifest(&path).ok().filter(is_alike)?;
        (has_versions(&path) == is_of_versions).then_some(())?;
        Some((manifest.started.parse().ok()?, path))
    };
    entries.take(RUNS_MAX).flatten().filter_map(|entry| run(entry.path())).collect()
}

/// Whether a run is of two versions of a project.
fn has_versions(dir: &Path) -> bool {
    dir.join(VERSIONS_FILE).is_file()
}
