//! HdrHistogram interval logs, which HdrHistogram's own tools read.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration as StdDuration;

use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, IntervalLogWriterError, Tag};
use hdrhistogram::serialization::{V2DeflateSerializeError, V2DeflateSerializer};
use units::Duration;

use crate::error::RecordError;

/// Runs `body` with a function that appends one interval to the log at `path`: its thread, its start since
/// the start of the log, its length, and its distribution (in nanoseconds; censored samples at their
/// bounds under the tag `censored-THREAD`). Without a path nothing is written.
///
/// The first failure to write is returned after `body` has ended: a full disk loses the log, not the load.
pub fn with_interval_log<T>(
    path: Option<&Path>,
    body: impl FnOnce(&mut dyn FnMut(u32, Duration, Duration, &stats::Distribution)) -> T,
) -> Result<T, RecordError> {
    let Some(path) = path else { return Ok(body(&mut |_, _, _, _| {})) };
    let failed = |error| RecordError::io(path, "writing the interval log", error);
    let mut file = BufWriter::new(File::create(path).map_err(failed)?);
    let mut serializer = V2DeflateSerializer::new();
    let mut first_error: Option<std::io::Error> = None;
    let result = {
        let mut log = IntervalLogWriterBuilder::new()
            .add_comment("proofload; times in ns; intervals by the instant a request was done")
            .begin_log_with(&mut file, &mut serializer)
            .map_err(failed)?;
        body(&mut |thread, start, length, times| {
            let parts = [("thread", Some(times.exact())), ("censored", times.censored())];
            for (kind, histogram) in parts {
                let name = format!("{kind}-{thread}");
                let tag = if kind == "thread" && thread == 0 { None } else { Tag::new(&name) };
                let (Some(histogram), None) = (histogram, &first_error) else { continue };
                let written =
                    log.write_histogram(&histogram, StdDuration::from(start), StdDuration::from(length), tag);
                first_error = written.err().map(reason);
            }
        })
    };
    let flushed = file.flush();
    match first_error {
        Some(error) => Err(failed(error)),
        None => flushed.map(|()| result).map_err(failed),
    }
}

/// What the operating system said, where it was asked: the advice depends on it.
fn reason(error: IntervalLogWriterError<V2DeflateSerializeError>) -> std::io::Error {
    match error {
        IntervalLogWriterError::IoError(error)
        | IntervalLogWriterError::SerializeError(V2DeflateSerializeError::IoError(error)) => error,
        IntervalLogWriterError::SerializeError(error) => std::io::Error::other(format!("{error:?}")),
    }
}
