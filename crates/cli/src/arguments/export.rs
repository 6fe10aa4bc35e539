//! `proofload export` as typed.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};

/// `proofload export`.
#[derive(Debug, Args)]
#[command(group(
    ArgGroup::new("to").required(true).multiple(true).args(["prometheus", "open_metrics", "remote_write", "otlp", "hgrm"])
))]
#[command(after_help = "\
Examples:
  proofload export runs/gateways-20260101-120000 --prometheus -
  proofload export runs/gateways-20260101-120000 --otlp http://127.0.0.1:4318
  proofload export runs/gateways-20260101-120000 --remote-write http://127.0.0.1:9090 --at now
  proofload export runs/gateways-20260101-120000 --hgrm percentiles/
  proofload hit http://127.0.0.1:8080/ --json | proofload export - --prometheus hit.prom

Metrics, their units and labels: docs/exports.md. Data is sent over plain http; to reach a receiver
behind TLS, use a collector or an agent on this machine. A receiver in trouble (5xx, 429) is asked
again for a quarter of a minute. The record is not changed. Exit codes: 0; 1 if a file can't be
written or a receiver refuses; 2 if the record can't be read; 3 if nothing listens at the
address.")]
pub struct Export {
    /// A run's directory, or what `hit --json` printed: a file, or - for standard input
    pub record: PathBuf,
    /// Write Prometheus' text format, version 0.0.4, to a file, completely or not at all, or - for standard output
    #[arg(long, value_name = "FILE")]
    pub prometheus: Option<PathBuf>,
    /// Write OpenMetrics 1.0, with timestamps, units and infos, to a file, or - for standard output
    #[arg(long, value_name = "FILE")]
    pub open_metrics: Option<PathBuf>,
    /// Send by Prometheus remote write 1.0; a URL without a path gets /api/v1/write
    #[arg(long, value_name = "URL")]
    pub remote_write: Option<String>,
    /// Send to an OpenTelemetry collector, OTLP over HTTP; a URL without a path gets /v1/metrics
    #[arg(long, value_name = "URL")]
    pub otlp: Option<String>,
    /// Write the percentiles of each measured trial as HdrHistogram prints them: DIR/NNNN.hgrm
    #[arg(long, value_name = "DIR")]
    pub hgrm: Option<PathBuf>,
    /// Timestamp of the samples: when they were measured, or now, for receivers that refuse old samples
    #[arg(long, value_enum, default_value_t = At::Record)]
    pub at: At,
    /// Add this header to what is sent, 'Name: value'; may be repeated
    #[arg(short = 'H', long = "header")]
    pub headers: Vec<String>,
}

/// What samples are dated to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum At {
    /// The time of the measurement; if the record does not have it, now.
    Record,
    /// The current time.
    Now,
}
