//! `proofload jmeter`, as typed.

use std::path::PathBuf;

use clap::Args;
use units::Seed;

/// Run a JMeter test plan.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of a command line")]
#[command(after_help = "\
Examples:
  proofload jmeter --check -t plan.jmx                    what share of a plan is supported, and what is not
  proofload jmeter -n -t plan.jmx -l out.jtl              run it, and write its results
  proofload jmeter -n -t plan.jmx -l out.jtl -Jusers=500  the same with a property of the plan
  proofload jmeter -n -t plan.jmx -l out.jtl -e -o report with its Aggregate and Summary reports as CSV

What a plan has that is not supported is named, all of it with its place, before anything is sent (docs/jmeter.md).
Exit codes are JMeter's: 0 when the plan was run, whatever its samples say, else 1.")]
pub struct Jmeter {
    /// Run without a window; there is none, so it changes nothing
    #[arg(short, long)]
    pub nongui: bool,
    /// The test plan
    #[arg(short = 't', long = "testfile", value_name = "FILE")]
    pub plan: PathBuf,
    /// Write results here, as JMeter's CSV
    #[arg(short = 'l', long = "logfile", value_name = "FILE")]
    pub results: Option<PathBuf>,
    /// Make reports after the run; needs -l and -o
    #[arg(short = 'e', long = "reportatendofloadtests", requires_all = ["results", "output"])]
    pub reports: bool,
    /// Folder of the reports; must not be there, or be empty
    #[arg(short = 'o', long = "reportoutputfolder", value_name = "DIR", requires = "reports")]
    pub output: Option<PathBuf>,
    /// Replace what -l and -o name
    #[arg(short = 'f', long = "forceDeleteResultFile")]
    pub force: bool,
    /// A property: what ${__P(name)} is in the plan; may be repeated
    #[arg(short = 'J', long = "jmeterproperty", value_name = "NAME=VALUE")]
    pub properties: Vec<String>,
    /// A file of properties, a line each: name=value; -J comes after it
    #[arg(short = 'q', long = "addprop", value_name = "FILE")]
    pub property_files: Vec<PathBuf>,
    /// Say what share of the plan is supported, and send nothing
    #[arg(long)]
    pub check: bool,
    /// A server that the plan's variables name while it runs: host:port, or https://host:port; may be repeated
    #[arg(long = "host", value_name = "HOST:PORT")]
    pub hosts: Vec<String>,
    /// Seed of every random choice
    #[arg(long, default_value = "0")]
    pub seed: Seed,
}
