//! `proofload audit`.

use std::path::PathBuf;

use clap::Args;

/// `proofload audit`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  proofload audit blog-post.txt
  wrk -t4 -c300 -d30s --latency http://127.0.0.1:8080/ | proofload audit -
  proofload audit results.jtl aggregate.csv k6-summary.json --json
  proofload audit runs/quick-20260101-120000

It reads output of wrk, wrk2, sb, h2load, ab, hey, oha, k6, vegeta, bombardier, autocannon, siege and
Gatling, also many in one text with prose in between; JMeter's JTL and its aggregate and summary
tables; Locust's _stats.csv; JSON of oha, k6, vegeta, bombardier, autocannon, Fortio, siege and
Gatling; and Proofload's own records. What a log writes before each line is passed over. Files that
are given together are compared with each other.
Findings are `broken` (the figures contradict each other), `unknown` (what one wants to know can't be
known from them) and `note`; docs/audit.md says how each is found. It ends with 4 where anything is
broken or unknown, and with 2 where a file can't be read or holds no output that it knows.")]
pub struct Audit {
    /// Files, run directories, or - for standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Print JSON (version 1; docs/audit.md) instead of text
    #[arg(long)]
    pub json: bool,
}
