//! `proofload report`: the report of a recorded run, in every form.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use plan::WriteUp;
use plan::stack::Catalogue;
use record::{RecordError, RunDir, read_confirmations, read_interval_log, read_signals};
use report::page::model::Page;
use report::page::{PageOf, TrialDetail, page};
use report::{RunReport, ranking_text};

use crate::arguments::report::{Format, Report};
use crate::commands::recorded;
use crate::exit::Failure;
use crate::output::{print, print_json, say, write_whole};

/// The report that a run leaves in its own directory.
const IN_RUN: &str = "report.html";

/// Runs the command.
pub fn run(arguments: &Report) -> Result<ExitCode, Failure> {
    let Some(run) = &arguments.run else {
        print_json(report::schema().trim_end())?;
        return Ok(ExitCode::SUCCESS);
    };
    if arguments.json {
        for trial in recorded::read(run)?.1 {
            print_json(&serde_json::to_string(&trial).expect("a trial is plain data"))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let text = match format(arguments)? {
        Format::Text => ranking(run)?,
        format => {
            let from = Sources { published: &arguments.published, stacks: &arguments.stacks.dir };
            render(&read_page(run, &from)?, format)
        }
    };
    match &arguments.output {
        Some(path) => write_whole(path, text.as_bytes())?,
        None if arguments.format == Some(Format::Json) => print_json(text.trim_end())?,
        None => print(text.trim_end())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the ranking of the run in `dir`.
pub fn print_ranking(dir: &Path) -> Result<(), Failure> {
    print(ranking(dir)?.trim_end())?;
    Ok(())
}

/// Leaves the HTML report in the run's own directory and says where. A run of which it can't be written is not lost: that is
/// said, and no more.
pub fn leave_html(dir: &Path, from: &Sources<'_>, quiet: bool) {
    let path = dir.join(IN_RUN);
    let written = html(dir, from).and_then(|text| write_whole(&path, text.as_bytes()));
    match written {
        Ok(()) if quiet => {}
        Ok(()) => say(format_args!("Report: {}", path.display())),
        Err(failure) => say(format_args!("proofload: the report could not be written: {failure}")),
    }
}

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

fn ranking(dir: &Path) -> Result<String, Failure> {
    let (manifest, trials) = recorded::read(dir)?;
    let dir = dir.display().to_string();
    Ok(ranking_text(&RunReport { manifest: &manifest, trials: &trials, dir: &dir }))
}

fn read_page(run: &Path, from: &Sources<'_>) -> Result<Page, Failure> {
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
    let is_of = |it: &WriteUp| std::fs::read_to_string(&it.experiment).is_ok_and(|text| text == experiment);
    write_ups.into_iter().find(is_of)
}

fn format(arguments: &Report) -> Result<Format, Failure> {
    let Some(path) = &arguments.output else { return Ok(arguments.format.unwrap_or(Format::Text)) };
    let extension = path.extension().map(|it| it.to_string_lossy().to_lowercase());
    let by_name = match extension.as_deref() {
        Some("html" | "htm") => Some(Format::Html),
        Some("md" | "markdown") => Some(Format::Markdown),
        Some("xml") => Some(Format::Junit),
        Some("csv") => Some(Format::Csv),
        Some("json") => Some(Format::Json),
        Some("txt") => Some(Format::Text),
        _ => None,
    };
    arguments.format.or(by_name).ok_or_else(|| {
        Failure::usage(format!(
            "{}: its name does not say what to make; end it in .html, .md, .xml, .csv, .json or .txt, or give --format",
            path.display()
        ))
    })
}

fn render(page: &Page, format: Format) -> String {
    match format {
        Format::Text => unreachable!("text is made of the records"),
        Format::Html => report::html(page),
        Format::Markdown => report::markdown(page),
        Format::Junit => report::junit(page),
        Format::Csv => report::csv(page),
        Format::Json => report::json(page),
    }
}
