//! HdrHistogram interval logs, which HdrHistogram's own tools read.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Duration as StdDuration;

use base64::Engine as _;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{
    IntervalLogHistogram, IntervalLogIterator, IntervalLogWriterBuilder, IntervalLogWriterError, LogEntry,
    Tag,
};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializeError, V2DeflateSerializer};
use stats::Distribution;
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
            let parts = [(EXACT, Some(times.exact())), (CENSORED, times.censored())];
            for (kind, histogram) in parts {
                let name = format!("{kind}-{thread}");
                let tag = if kind == EXACT && thread == 0 { None } else { Tag::new(&name) };
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

/// The name of a trial's interval log, in its folder.
const FILE: &str = "response_time.hlog";
/// What the tag of a load thread's times begins with; thread 0 has none.
const EXACT: &str = "thread";
/// What the tag of its censored times begins with.
const CENSORED: &str = "censored";

/// An interval of a log: all threads together.
#[derive(Debug, Clone, PartialEq)]
pub struct LoggedInterval {
    /// From the window's start to its own.
    pub start: Duration,
    /// How long it was.
    pub length: Duration,
    /// The times of what was done in it.
    pub times: Distribution,
}

impl LoggedInterval {
    /// All of them together.
    pub fn whole(intervals: &[Self]) -> Distribution {
        let mut whole = Distribution::default();
        for interval in intervals {
            whole.merge(&interval.times);
        }
        whole
    }
}

/// Reads the interval log of a trial, in order of time; nothing where there is none, as where another driver made the load.
pub fn read_interval_log(trial_dir: &Path) -> Result<Vec<LoggedInterval>, RecordError> {
    let path = trial_dir.join(FILE);
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(RecordError::io(&path, "reading", error)),
    };
    parse_interval_log(&bytes).map_err(|(line, what)| RecordError::Malformed { path, line, what })
}

/// Its intervals, or on which line it is broken and how. A log whose last line was not finished ends before it.
fn parse_interval_log(bytes: &[u8]) -> Result<Vec<LoggedInterval>, (usize, String)> {
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let mut intervals: BTreeMap<Duration, LoggedInterval> = BTreeMap::new();
    let mut deserializer = Deserializer::new();
    for (index, line) in bytes[..whole].split_inclusive(|byte| *byte == b'\n').enumerate() {
        let broken = |what: String| (index + 1, what);
        for entry in IntervalLogIterator::new(line) {
            let entry = entry.map_err(|error| broken(format!("no line of an interval log: {error:?}")))?;
            let LogEntry::Interval(logged) = entry else { continue };
            let histogram = decoded(&logged, &mut deserializer).map_err(broken)?;
            let (start, length) = (logged.start_timestamp().into(), logged.duration().into());
            let new = || LoggedInterval { start, length, times: Distribution::default() };
            let interval = intervals.entry(start).or_insert_with(new);
            interval.length = interval.length.max(length);
            let tag = logged.tag().map_or(EXACT, |tag| tag.as_str());
            match tag.split('-').next() {
                Some(EXACT) => interval.times.add_exact(&histogram),
                Some(CENSORED) => interval.times.add_censored(&histogram),
                _ => return Err(broken(format!("the tag `{tag}` is none of ours"))),
            }
        }
    }
    Ok(intervals.into_values().collect())
}

fn decoded(
    logged: &IntervalLogHistogram<'_>,
    deserializer: &mut Deserializer,
) -> Result<Histogram<u64>, String> {
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(logged.encoded_histogram())
        .map_err(|error| format!("its histogram is not base64: {error}"))?;
    deserializer
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| format!("its histogram can't be read: {error:?}"))
}

/// What the operating system said, where it was asked: the advice depends on it.
fn reason(error: IntervalLogWriterError<V2DeflateSerializeError>) -> std::io::Error {
    match error {
        IntervalLogWriterError::IoError(error)
        | IntervalLogWriterError::SerializeError(V2DeflateSerializeError::IoError(error)) => error,
        IntervalLogWriterError::SerializeError(error) => std::io::Error::other(format!("{error:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_with_threads_put_together() {
        let folder = tempfile::tempdir().unwrap();
        let of = |ms: u64| {
            let mut times = Distribution::default();
            for _ in 0..3 {
                times.record(Duration::from_millis(ms));
            }
            times
        };
        let mut cut = of(7);
        for _ in 0..2 {
            cut.record_censored(Duration::from_millis(50));
        }
        let second = Duration::from_secs(1);
        with_interval_log(Some(&folder.path().join(FILE)), |log| {
            log(0, Duration::ZERO, second, &of(5));
            log(1, Duration::ZERO, second, &cut);
            log(0, second, Duration::from_millis(250), &of(6));
        })
        .unwrap();
        let read = read_interval_log(folder.path()).unwrap();
        assert_eq!(
            read.iter().map(|it| (it.start, it.length)).collect::<Vec<_>>(),
            [(Duration::ZERO, second), (second, Duration::from_millis(250)),]
        );
        assert_eq!((read[0].times.count(), read[0].times.censored_count()), (8, 2));
        assert_eq!(read[1].times.count(), 3);
        let median = read[1].times.quantile(0.5).unwrap();
        assert!((median.value.as_secs_f64() / 0.006 - 1.0).abs() < stats::RELATIVE_ERROR);
    }
}
