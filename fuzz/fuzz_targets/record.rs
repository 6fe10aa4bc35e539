//! Any files as the directory of a run that somebody sent: reading them is refused with the file and the line, or all that
//! is made of them is made, in bounded memory and time.
//!
//! Run: `cargo +nightly fuzz run record fuzz/corpus/record fuzz/seeds/record -- -max_total_time=60`. A new find goes to
//! `fuzz/artifacts`; make it a named test in `crates/record/tests/it/hostile.rs`.
#![no_main]

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use explain::{HistoryFilter, HistoryMetric, RecordedRun, capacity, compare_runs, explain_cells, points_of_run, series_of};
use libfuzzer_sys::fuzz_target;
use record::{Manifest, RunDir, Trial, read_confirmations, read_interval_log, read_signals};
use report::page::{PageOf, TrialDetail, page};
use report::{RunReport, ranking_text};
use tempfile::TempDir;

/// Stands between the files of a run.
const NEXT: &str = "\n%%\n";
const FILES: [&str; 5] =
    ["manifest.json", "experiment.toml", "trials.jsonl", "confirmations.jsonl", "trials/0000/signals.jsonl"];

static DIR: LazyLock<TempDir> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("there is room for a directory");
    fs::create_dir_all(dir.path().join("trials/0000")).expect("there is room for another");
    dir
});

fuzz_target!(|text: &str| {
    let dir = DIR.path();
    let mut parts = text.split(NEXT);
    for file in FILES {
        fs::write(dir.join(file), parts.next().unwrap_or_default()).expect("there is room for a file");
    }
    let told = [
        RunDir::read_manifest(dir).map(drop),
        RunDir::read_trials(dir).map(drop),
        read_confirmations(dir).map(drop),
        read_signals(&dir.join("trials/0000")).map(drop),
    ];
    for error in told.into_iter().filter_map(Result::err) {
        assert!(error.to_string().starts_with(&dir.display().to_string()), "{error}");
    }
    let (Ok(manifest), Ok(trials)) = (RunDir::read_manifest(dir), RunDir::read_trials(dir)) else { return };
    make_all_of(dir, &manifest, &trials);
});

/// What the commands and the server make of a run.
fn make_all_of(dir: &Path, manifest: &Manifest, trials: &[Trial]) {
    let name = dir.display().to_string();
    let experiment = RunDir::read_experiment(dir).unwrap_or_default();
    let confirmations = read_confirmations(dir).unwrap_or_default();
    let _ = ranking_text(&RunReport { manifest, trials, dir: &name });
    let page = page(&PageOf {
        manifest,
        trials,
        dir: &name,
        experiment: &experiment,
        write_up: None,
        confirmations: &confirmations,
        detail: &|_| TrialDetail {
            intervals: read_interval_log(&dir.join("trials/0000")).unwrap_or_default(),
            readings: read_signals(&dir.join("trials/0000")).unwrap_or_default(),
        },
        version: "fuzz",
    });
    for text in [report::html(&page), report::markdown(&page), report::csv(&page), report::junit(&page), report::json(&page)] {
        assert!(!text.is_empty());
    }
    let cells = explain_cells(trials, manifest.machine.cores);
    let _ = report::explanations_text(&cells);
    let _ = report::capacity_text(&capacity(trials));
    let run = || RecordedRun { dir: &name, manifest, trials, experiment: &experiment };
    let _ = report::compare_text(&compare_runs(run(), run(), 0.02));
    let points = points_of_run(run(), HistoryMetric::Goodput, &HistoryFilter::default());
    let _ = series_of(points, HistoryMetric::Goodput);
}
