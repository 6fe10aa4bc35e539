//! Where runs are kept, and which of them go when a new one is made.

use std::path::{Path, PathBuf};

use jiff::{Timestamp, ToSpan};
use plan::kept_runs::{KeptRuns, RUNS};
use plan::toml_file;
use record::{Manifest, RunDir};

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

/// Removes the runs beside the one in `dir` that are of the same experiment, by its title, and that `kept` does not keep. What
/// is no run, can't be read, or goes on stays; so does the run in `dir`.
pub fn tidy(kept: &KeptRuns, dir: &Path) {
    let (Some(folder), Ok(own)) = (dir.parent(), RunDir::read_manifest(dir)) else { return };
    if kept.keeps_all() {
        return;
    }
    let mut others = alike(folder, &own);
    others.retain(|(_, path)| path != dir);
    // The newest first; this one is newer than all of them.
    others.sort_by(|a, b| b.cmp(a));
    let newest = kept.newest.map_or(usize::MAX, |it| it.get() as usize - 1);
    let age = kept.days.map(|days| (i64::from(days.get()) * 24).hours());
    let oldest = age.and_then(|age| Timestamp::now().checked_sub(age).ok());
    let is_old = |started: &Timestamp| oldest.is_some_and(|oldest| *started < oldest);
    let gone = others.iter().enumerate().filter(|(place, (started, _))| *place >= newest || is_old(started));
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

/// The runs in a folder of the experiment that `own` is of, as thorough as it, and when they started: a quick look takes no
/// other run's place.
fn alike(folder: &Path, own: &Manifest) -> Vec<(Timestamp, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let run = |path: PathBuf| {
        let is_alike = |it: &Manifest| (&it.title, &it.pace) == (&own.title, &own.pace);
        let manifest = RunDir::read_manifest(&path).ok().filter(is_alike)?;
        Some((manifest.started.parse().ok()?, path))
    };
    entries.take(RUNS_MAX).flatten().filter_map(|entry| run(entry.path())).collect()
}
