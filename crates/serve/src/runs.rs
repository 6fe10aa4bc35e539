//! The runs that are recorded: a list, the report of each, and figures over all of them.

mod list;

use std::path::{Path, PathBuf};

use explain::{HistoryFilter, HistoryMetric, RecordedRun, points_of_run, series_of};
use percent_encoding::percent_decode_str;
use record::{Manifest, RunDir, Trial, Versions};
use serde::Serialize;

use crate::assets;
use crate::live::Render;
use crate::site::{Page, Site};

use self::list::{Listed, list};

/// Version of what `/runs.json` gives.
const RUNS_VERSION: u32 = 1;
/// Version of what `/history.json` gives: that of `proofload history --json`.
const HISTORY_VERSION: u32 = 1;
/// What the path of a report begins with; the rest is the name of a run in the list.
const REPORT: &str = "/run/";

/// The runs of a folder: `/`, `/runs.json`, `/run/NAME`, `/history.json?metric=goodput`.
pub struct Runs {
    folder: PathBuf,
    /// Where it is one run that is looked at, its name.
    only: Option<String>,
    render: Render,
}

/// What `/runs.json` gives.
#[derive(Debug, Serialize)]
struct RunsList {
    version: u32,
    runs: Vec<Listed>,
}

impl Runs {
    /// The runs in `folder`, or `only` that one. `render` makes the report of one.
    pub fn new(folder: PathBuf, only: Option<String>, render: Render) -> Self {
        Self { folder, only, render }
    }

    /// The runs, the latest first. The list is made anew each time: runs come while it is looked at.
    fn list(&self) -> Result<Vec<Listed>, String> {
        let mut all =
            list(&self.folder).map_err(|why| format!("{} can't be read ({why})", self.folder.display()))?;
        all.retain(|run| self.only.as_ref().is_none_or(|only| *only == run.name));
        Ok(all)
    }

    fn json(&self) -> Page {
        match self.list() {
            Ok(runs) => Page::json(json(&RunsList { version: RUNS_VERSION, runs })),
            Err(why) => Page::refused(500, &why),
        }
    }

    /// The report of a run of the list. A name is compared with those in it and never made part of a path, so there is no
    /// way out of the folder.
    fn report(&self, encoded: &str) -> Page {
        let Ok(name) = percent_decode_str(encoded).decode_utf8() else {
            return Page::refused(404, "there is no such run");
        };
        let found = match self.list() {
            Ok(runs) => runs.into_iter().find(|run| run.name == name),
            Err(why) => return Page::refused(500, &why),
        };
        let Some(run) = found else { return Page::refused(404, "there is no such run") };
        match (self.render)(&self.folder.join(run.name)) {
            Ok(html) => Page::report(html),
            Err(why) => Page::refused(500, &why),
        }
    }

    /// A figure over the runs that can be read.
    fn history(&self, query: &str) -> Page {
        let metric = match query {
            "" | "metric=goodput" => HistoryMetric::Goodput,
            "metric=cpu" => HistoryMetric::Cpu,
            "metric=p99" => HistoryMetric::P99,
            _ => return Page::refused(404, "there is no such figure; there are goodput, cpu and p99"),
        };
        let runs = match self.list() {
            Ok(runs) => runs,
            Err(why) => return Page::refused(500, &why),
        };
        let mut points = Vec::new();
        for run in runs.iter().filter(|run| run.error.is_none()) {
            // One at a time: a record has far more than is shown of it here.
            if let Some((manifest, trials, experiment, versions)) = read(&self.folder.join(&run.name)) {
                let (manifest, trials, experiment) = (&manifest, &trials[..], &experiment[..]);
                let recorded = RecordedRun { dir: &run.name, manifest, trials, experiment };
                let filter = HistoryFilter::default();
                points.extend(points_of_run(recorded, versions.as_ref(), metric, &filter));
            }
        }
        let series = series_of(points, metric);
        Page::json(json(&serde_json::json!({ "version": HISTORY_VERSION, "series": series })))
    }
}

impl Site for Runs {
    fn page(&self, path: &str, query: &str) -> Option<Page> {
        match path {
            "/" => Some(assets::runs()),
            "/runs.json" => Some(self.json()),
            "/history.json" => Some(self.history(query)),
            path => match path.strip_prefix(REPORT) {
                Some(name) => Some(self.report(name)),
                None => assets::file(path),
            },
        }
    }
}

fn read(dir: &Path) -> Option<(Manifest, Vec<Trial>, String, Option<Versions>)> {
    let (experiment, versions) = (RunDir::read_experiment(dir).ok()?, Versions::of_run(dir).ok()?);
    Some((RunDir::read_manifest(dir).ok()?, RunDir::read_trials(dir).ok()?, experiment, versions))
}

fn json(of: &impl Serialize) -> String {
    serde_json::to_string(of).expect("it is plain data")
}

#[cfg(test)]
mod tests;
