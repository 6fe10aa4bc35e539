//! `proofload report`: the report of a recorded run, in every form.

use std::path::Path;
use std::process::ExitCode;

use explain::compare_versions;
use record::Versions;
use report::page::model::Page;
use report::{RunReport, plain_line, ranking_text, versions_text};

use crate::arguments::report::{Format, Report};
use crate::exit::Failure;
use crate::output::{print, print_json, say, write_into_run, write_whole};
use crate::page::{Sources, read_page};
use crate::{compact, recorded};

/// The report that a run leaves in its own directory.
const IN_RUN: &str = "report.html";

/// Runs the command.
pub fn run(arguments: &Report) -> Result<ExitCode, Failure> {
    let Some(run) = &arguments.run else {
        print_json(report::schema().trim_end())?;
        return Ok(ExitCode::SUCCESS);
    };
    if let Some(to) = &arguments.export {
        compact::copy(run, to)?;
        return Ok(ExitCode::SUCCESS);
    }
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

/// Leaves the HTML report in the run's own directory and says where; gives what is on it. A run of which it can't be written is not
/// lost: that is said, and no more.
pub fn leave_html(dir: &Path, from: &Sources<'_>, quiet: bool) -> Option<Page> {
    let path = dir.join(IN_RUN);
    let written = read_page(dir, from).and_then(|page| {
        write_into_run(&path, report::html(&page).as_bytes())?;
        Ok(page)
    });
    match written {
        Ok(page) => {
            if !quiet {
                say(format_args!("Report: {}", path.display()));
            }
            Some(page)
        }
        Err(failure) => {
            say(format_args!("proofload: the report could not be written: {failure}"));
            None
        }
    }
}

/// What each table of a page comes to, a line each.
pub fn in_short(page: &Page) -> Vec<String> {
    let told = page.tables.iter().zip(&page.answers);
    told.map(|(table, answer)| plain_line(&format!("{}, {}: {}", table.round, table.load, answer.sentence)))
        .collect()
}

fn ranking(dir: &Path) -> Result<String, Failure> {
    let (manifest, trials) = recorded::read(dir)?;
    let shown = dir.display().to_string();
    let ranking = ranking_text(&RunReport { manifest: &manifest, trials: &trials, dir: &shown });
    let versions = Versions::of_run(dir).map_err(|error| recorded::unreadable(dir, &error))?;
    Ok(match versions {
        Some(of) => format!("{ranking}\n{}", versions_text(&of, &compare_versions(&trials, &of.services))),
        None => ranking,
    })
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
