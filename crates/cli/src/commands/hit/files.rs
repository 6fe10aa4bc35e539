//! Files that a load writes beside its result: percentiles, and a row for each request.

use std::io::{self, Write};
use std::path::Path;

use driver::monotonic_now;
use events::Moment;
use jmeter::{JtlWriter, RequestRows, RowsOf};
use lab::load::Job;
use lab::tap::{Kept, Samples};
use plan::{HttpTarget, PlanError};
use stats::Distribution;
use units::Duration;

use crate::arguments::Hit;
use crate::clock::now_ms;
use crate::exit::Failure;
use crate::output::{self, Replaced};

/// Refuses one file for two of what is written: only the last would be in it.
pub fn each_has_its_own(arguments: &Hit) -> Result<(), PlanError> {
    let named = [
        ("--hlog", &arguments.hlog),
        ("--hgrm", &arguments.hgrm),
        ("--jtl", &arguments.jtl),
        ("--junit", &arguments.gate.junit),
        ("--markdown", &arguments.gate.markdown),
    ];
    output::each_has_its_own(named.map(|(option, path)| (option, path.as_deref())))
}

/// Percentiles in the making.
pub struct Percentiles<'a> {
    path: &'a Path,
    file: Replaced,
    times: Distribution,
}

impl<'a> Percentiles<'a> {
    /// Opens the file of `--hgrm` before the load, so that nothing is measured for a file that can't be.
    pub fn open(arguments: &'a Hit) -> Result<Option<Self>, Failure> {
        let Some(path) = &arguments.hgrm else { return Ok(None) };
        let file = Replaced::open(path).map_err(|error| unwritable(path, &error, "--hgrm"))?;
        Ok(Some(Self { path, file, times: Distribution::default() }))
    }

    /// Takes in what a load tells of an interval.
    pub fn see(&mut self, moment: &Moment<'_>) {
        if let Moment::Interval { interval, .. } = moment {
            self.times.merge(&interval.times.response);
        }
    }

    /// Writes them, with what was lost with machines: of those requests no interval tells.
    pub fn write(mut self, lost: u64) -> Result<(), Failure> {
        if lost > 0 {
            self.times.record_censored_many(Duration::ZERO, lost);
        }
        let text = exports::hgrm(&self.times);
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|error| unwritable(self.path, &error, "--hgrm"))
    }
}

/// Opens the file of `--jtl`.
pub fn jtl_writer(arguments: &Hit) -> Result<Option<JtlWriter<Replaced>>, Failure> {
    let Some(path) = &arguments.jtl else { return Ok(None) };
    let file = Replaced::open(path).map_err(|error| unwritable(path, &error, "--jtl"))?;
    Ok(Some(JtlWriter::new(file)))
}

/// What the rows of a load of one request have in common.
pub fn rows_of(job: &Job<'_>, target: &HttpTarget) -> RowsOf {
    RowsOf {
        // Without the query, which may be another each time that somebody compares two files.
        label: format!("{} {}", target.method, target.path),
        url: target.url.clone(),
        server: format!("{}:{}", target.host, target.port),
        address: job.targets.first().map_or_else(String::new, |it| it.ip().to_string()),
        connections: job.plan.connections.get(),
        fresh_connections: job.plan.reuse != engine::Reuse::KeepAlive,
        sent_bytes: job.request.bytes.len() as u64,
        clock: (monotonic_now(), now_ms()),
    }
}

/// A row for each sample, and what became of the samples.
type Rows = (RequestRows<Replaced>, Kept);

/// Writes a row for each sample until the load has ended.
pub fn keep(samples: Samples, mut rows: RequestRows<Replaced>) -> io::Result<Rows> {
    let kept = samples.keep(|thread, sample| rows.write(thread, sample))?;
    Ok((rows, kept))
}

/// Whether all rows of a load that was made are in its file.
pub fn all_rows(arguments: &Hit, rows: io::Result<Rows>) -> Result<(), Failure> {
    let Some(path) = &arguments.jtl else { return Ok(()) };
    let kept = rows.and_then(|(rows, kept)| rows.finish().map(|()| kept));
    let Kept { written, lost } = kept.map_err(|error| unwritable(path, &error, "--jtl"))?;
    if lost == 0 {
        return Ok(());
    }
    let all = written + lost;
    Err(Failure::system(format!(
        "{} lacks {lost} of {all} rows: they came faster than they could be written; lower the load, or write elsewhere",
        path.display()
    )))
}

/// A file that can't be written.
pub fn unwritable(path: &Path, error: &io::Error, option: &str) -> Failure {
    Failure::system(format!("{} can't be written ({error}); check {option} and the disk", path.display()))
}
