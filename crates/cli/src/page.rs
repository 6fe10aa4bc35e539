//! The page of a recorded run, made of its records and of what stands beside them in a checkout.

use std::path::{Path, PathBuf};

use plan::stack::Catalogue;
use plan::{WriteUp, toml_file};
use record::{RecordError, RunDir, read_confirmations, read_interval_log, read_signals};
use report::page::model::Page;
use report::page::{PageOf, TrialDetail, page};

use crate::exit::Failure;
use crate::output::say;
use crate::recorded;

/// The HTML report of the run in `dir`.
pub fn html(dir: &Path, from: &Sources<'_>) -> Result<String, Failure> {
    Ok(report::html(&read_page(dir, from)?))
}

/// Where what is not in a run's directory is.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// The write-ups and their claims.
    pub published: &'a Path,
    /// The stacks, which the claims name.
    pub stacks: &'a Path,
}

impl Sources<'static> {
    /// Where they are in a checkout.
    pub fn of_checkout() -> Self {
        Self { published: Path::new("published"), stacks: Path::new("stacks") }
    }
}

/// All that is on the page of the run in `run`.
pub fn read_page(run: &Path, from: &Sources<'_>) -> Result<Page, Failure> {
    let (manifest, trials) = recorded::read(run)?;
    let unreadable = |error: &RecordError| recorded::unreadable(run, error);
    let confirmations = read_confirmations(run).map_err(|error| unreadable(&error))?;
    let experiment = RunDir::read_experiment(run).map_err(|error| unreadable(&error))?;
    let write_up = write_up_of(&experiment, from);
    Ok(page(&PageOf {
        manifest: &manifest,
        trials: &trials,
        dir: &run.display().to_string(),
        experiment: &experiment,
        write_up: write_up.as_ref(),
        confirmations: &confirmations,
        detail: &|index| detail(run, index),
        version: env!("CARGO_PKG_VERSION"),
    }))
}

/// What was kept of a trial. A file of it that is broken takes its curves from the page, not the page.
fn detail(run: &Path, index: u32) -> TrialDetail {
    let dir = RunDir::trial_path(run, index);
    let or_nothing = |error: RecordError| say(format_args!("proofload: left out of the report: {error}"));
    TrialDetail {
        intervals: read_interval_log(&dir).map_err(or_nothing).unwrap_or_default(),
        readings: read_signals(&dir).map_err(or_nothing).unwrap_or_default(),
    }
}

/// The write-up whose experiment this is; none outside a checkout.
fn write_up_of(experiment: &str, from: &Sources<'_>) -> Option<WriteUp> {
    let catalogue = Catalogue::load(from.stacks).ok()?;
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(from.published).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let write_ups = paths
        .iter()
        .filter(|path| path.extension().is_some_and(|it| it == "toml"))
        .filter_map(|path| WriteUp::read(path, &catalogue).ok());
    let is_of = |it: &WriteUp| toml_file::read(&it.experiment).is_ok_and(|text| text == experiment);
    write_ups.into_iter().find(is_of)
}
