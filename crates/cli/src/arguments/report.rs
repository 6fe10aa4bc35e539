//! `proofload report` as typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::arguments::Stacks;

/// `proofload report`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  proofload report runs/quick-20260101-120000                        the ranking, as text
  proofload report runs/quick-20260101-120000 -o report.html         one file for a browser: open it, mail it
  proofload report runs/quick-20260101-120000 -o summary.md          for a pull request or a CI job's summary
  proofload report runs/quick-20260101-120000 -o junit.xml           rows and claims as test cases
  proofload report runs/quick-20260101-120000 --format json | jq .answers
  proofload report runs/quick-20260101-120000 --export quick         its records, as small as reports allow
  proofload report --schema > report.schema.json                     what the JSON is like

The format follows from the file name (.html, .md, .xml, .csv, .json, .txt) unless --format is given. If the run's experiment
is that of a published write-up, its claims are judged, too. docs/report.md describes the page.")]
pub struct Report {
    /// The run's directory
    #[arg(required_unless_present = "schema")]
    pub run: Option<PathBuf>,
    /// Write to this file instead of the terminal
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Print the recorded trials as JSON lines
    #[arg(long, conflicts_with_all = ["output", "format"])]
    pub json: bool,
    /// Copy the run's records into this new folder, without the files that no report uses
    #[arg(long, value_name = "DIR", conflicts_with_all = ["output", "format", "json"])]
    pub export: Option<PathBuf>,
    /// Print the JSON Schema of --format json
    #[arg(long, conflicts_with_all = ["run", "output", "format", "json", "export"])]
    pub schema: bool,
    /// Where write-ups and their claims are
    #[arg(long, value_name = "DIR", default_value = "published")]
    pub published: PathBuf,
    #[command(flatten)]
    pub stacks: Stacks,
}

/// A form of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// The ranking, for a terminal
    Text,
    /// One self-contained file for a browser
    Html,
    /// GitHub's Markdown
    Markdown,
    /// JUnit's XML
    Junit,
    /// The rankings, one line per row
    Csv,
    /// Everything, as docs/report.schema.json describes it
    Json,
}
