//! Where runs are kept, and which of them go when a new one is made.

use std::path::{Path, PathBuf};

use jiff::{Timestamp, ToSpan};
use lab::experiment::Ended;
use plan::kept_runs::{KeptRuns, RUNS};
use plan::toml_file;
use record::{GateAnswer, GateResult, Manifest, RecordError, RunDir, VERSIONS_FILE};

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
    let mut alike = alike(folder, &own, has_versions(dir));
    // The newest first.
    alike.sort_by(|a, b| b.cmp(a));
    let Ok(began) = own.started.parse::<Timestamp>() else { return };
    let newest = kept.newest.map_or(usize::MAX, |it| it.get() as usize);
    let age = kept.days.map(|days| (i64::from(days.get()) * 24).hours());
    let oldest = age.and_then(|age| Timestamp::now().checked_sub(age).ok());
    let is_old = |started: &Timestamp| oldest.is_some_and(|oldest| *started < oldest);
    let is_gone = |(place, it): &(usize, Alike)| {
        it.path != *dir && it.started <= began && (*place >= newest || is_old(&it.started))
    };
    // As many of either: enough of the others would leave none that the next run can be held against.
    let (measures, others): (Vec<Alike>, Vec<Alike>) = alike.into_iter().partition(|it| it.is_measure);
    let places = measures.into_iter().enumerate().chain(others.into_iter().enumerate());
    let gone = places.filter(is_gone);
    let removed = gone.filter(|(_, it)| match RunDir::remove(&it.path) {
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

/// A run beside another one; by when it began.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Alike {
    started: Timestamp,
    path: PathBuf,
    /// Whether later runs are held against it, where they are against any.
    is_measure: bool,
}

/// The runs in a folder whose place `own` takes, itself among them: of its experiment by the title, as thorough, on two versions where
/// it is, and of no cells that it does not have, also by no other driver.
fn alike(folder: &Path, own: &Manifest, is_of_versions: bool) -> Vec<Alike> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let has_its_cells = |it: &Manifest| own.selection.is_none() || own.selection == it.selection;
    let has_its_drivers = |it: &Manifest| it.drivers.iter().all(|driver| own.drivers.contains(driver));
    let is_alike = |it: &Manifest| {
        (&it.title, &it.pace) == (&own.title, &own.pace) && has_its_cells(it) && has_its_drivers(it)
    };
    let run = |path: PathBuf| {
        let manifest = RunDir::read_manifest(&path).ok().filter(is_alike)?;
        (has_versions(&path) == is_of_versions).then_some(())?;
        let is_measure = is_of_versions || is_measure(&path, &manifest);
        Some(Alike { started: manifest.started.parse().ok()?, path, is_measure })
    };
    entries.take(RUNS_MAX).flatten().filter_map(|entry| run(entry.path())).collect()
}

/// Whether others can be held against the run in `dir`: not one whose own gate failed, as the next one as bad would pass, nor one that
/// was cut short, which has no answer of its gate.
fn is_measure(dir: &Path, manifest: &Manifest) -> bool {
    let has_failed = || GateResult::of_run(dir).is_some_and(|it| it.answer == GateAnswer::Failed);
    manifest.complete != Some(false) && !has_failed()
}

/// Whether a run is of two versions of a project.
fn has_versions(dir: &Path) -> bool {
    dir.join(VERSIONS_FILE).is_file()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Week after week of them would leave nothing to hold the next one against.
    #[test]
    fn runs_that_are_no_measure_take_no_place_of_one_that_is() {
        let runs = tempfile::tempdir().unwrap();
        let write = |day: u32, has_failed: bool, complete: bool| {
            let dir = runs.path().join(format!("run-{day}"));
            let run = RunDir::create(&dir, "").unwrap();
            let manifest = Manifest {
                version: record::MANIFEST_VERSION,
                started: format!("2026-01-{day:02}T00:00:00Z"),
                complete: Some(complete),
                ..Manifest::default()
            };
            run.write_manifest(&manifest).unwrap();
            if has_failed {
                let failed = r#"{"version": 1, "answer": "failed", "confidence": 0.95, "checks": []}"#;
                std::fs::write(dir.join(record::GATE_FILE), failed).unwrap();
            }
            dir
        };
        let kept = KeptRuns::of_experiment(Path::new("x.toml"), "[runs]\nkeep = 2\n").unwrap();
        let end = |dir: PathBuf| {
            let left_out = BTreeMap::new();
            tidy(&kept, &Ended { dir, interrupted: false, failed: 0, out_of_time: false, left_out });
            let mut left: Vec<String> = std::fs::read_dir(runs.path())
                .unwrap()
                .map(|it| it.unwrap().file_name().to_string_lossy().into_owned())
                .collect();
            left.sort();
            left.join(" ")
        };
        for (day, has_failed, complete) in [(1, false, true), (2, false, true), (3, true, true)] {
            write(day, has_failed, complete);
        }
        // Cut short.
        write(4, false, false);
        assert_eq!(end(write(5, true, true)), "run-1 run-2 run-4 run-5");
        assert_eq!(end(write(6, false, true)), "run-2 run-4 run-5 run-6");
    }
}
