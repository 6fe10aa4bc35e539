//! HdrHistogram interval logs, which HdrHistogram's own tools read.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration as StdDuration;

use base64::Engine as _;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{
    IntervalLogHistogram, IntervalLogIterator, IntervalLogWriterBuilder, IntervalLogWriterError, LogEntry,
    Tag,
};
use hdrhistogram::serialization::{Deserializer, V2DeflateSerializeError, V2DeflateSerializer};
use stats::Distribution;
use units::Duration;

use crate::bounds;
use crate::error::RecordError;
use crate::files;

/// Where a load's response times go, and whether they came there.
#[derive(Debug)]
pub struct IntervalLog {
    path: PathBuf,
    file: File,
    /// The first failure to write.
    failed: Mutex<Option<io::Error>>,
}

impl IntervalLog {
    /// A new log at `path`, in place of what is there, which stays until the log begins.
    ///
    /// # Errors
    /// If it can't be made.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, RecordError> {
        let path = path.into();
        let file = File::options().write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(|error| failed(&path, error))?;
        Ok(Self { path, file, failed: Mutex::default() })
    }

    /// Whether all of it was written, to be asked once the load is over.
    ///
    /// # Errors
    /// The first failure, once.
    pub fn written(&self) -> Result<(), RecordError> {
        let error = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        error.map_or(Ok(()), |error| Err(failed(&self.path, error)))
    }
}

/// Takes out what an earlier load left in a file; what is no file of the disk, as a pipe, holds nothing.
///
/// # Errors
/// If it can't be cut.
pub fn empty(file: &File) -> io::Result<()> {
    if file.metadata()?.is_file() { file.set_len(0) } else { Ok(()) }
}

fn failed(path: &Path, error: io::Error) -> RecordError {
    RecordError::io(path, "writing the interval log", error)
}

/// Runs `body` with a function that appends one interval to the log: its thread, its start since the start of the log, its
/// length, and its distribution (in nanoseconds; censored samples at their bounds under the tag `censored-THREAD`).
/// Without a log nothing is written. A full disk loses the log, and not the load: [`IntervalLog::written`] tells of it.
pub fn with_interval_log<T>(
    log: Option<&IntervalLog>,
    body: impl FnOnce(&mut dyn FnMut(u32, Duration, Duration, &stats::Distribution)) -> T,
) -> T {
    let Some(log) = log else { return body(&mut |_, _, _, _| {}) };
    let emptied = empty(&log.file);
    let mut file = BufWriter::new(&log.file);
    let mut serializer = V2DeflateSerializer::new();
    let mut first_error: Option<io::Error> = None;
    let begun = emptied.and_then(|()| {
        IntervalLogWriterBuilder::new()
            .add_comment("proofload; times in ns; intervals by the instant a request was done")
            .begin_log_with(&mut file, &mut serializer)
    });
    let result = match begun {
        Err(error) => {
            first_error = Some(error);
            body(&mut |_, _, _, _| {})
        }
        Ok(mut writer) => body(&mut |thread, start, length, times| {
            let parts = [(EXACT, Some(times.exact())), (CENSORED, times.censored())];
            for (kind, histogram) in parts {
                let name = format!("{kind}-{thread}");
                let tag = if kind == EXACT && thread == 0 { None } else { Tag::new(&name) };
                let (Some(histogram), None) = (histogram, &first_error) else { continue };
                let (start, length) = (StdDuration::from(start), StdDuration::from(length));
                first_error = writer.write_histogram(&histogram, start, length, tag).err().map(reason);
            }
        }),
    };
    let first_error = first_error.or(file.flush().err());
    *log.failed.lock().unwrap_or_else(PoisonError::into_inner) = first_error;
    result
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

/// Intervals that are told apart at most: a log of more is read with neighbours put together, two, four or more of them.
/// Nobody draws more columns than this.
const INTERVALS_MAX: usize = 1024;
/// Memory that the intervals may take together whatever their log is like, bytes, and how much more for each byte that was read of
/// it; beyond that neighbours are put together as well. One may take half a megabyte, and be told in a line of ninety bytes.
const MEMORY_FREE: u64 = 64 << 20;
const MEMORY_A_BYTE: u64 = 8;
/// A distribution takes memory by the page, bytes: one for each half of the times that share a power of two.
const PAGE_BYTES: u64 = 4096;
/// Bytes of a histogram once it is inflated: some 54,000 counts of the longest range with three digits, nine bytes each.
const HISTOGRAM_BYTES_MAX: u64 = 512 * 1024;
/// Significant digits of a histogram; each more takes ten times the memory.
const DIGITS_MAX: u32 = 3;

/// Reads the interval log of a trial, in order of time; nothing where there is none, as where another driver made the load.
/// A log whose last line was not finished ends before it.
pub fn read_interval_log(trial_dir: &Path) -> Result<Vec<LoggedInterval>, RecordError> {
    let path = trial_dir.join(FILE);
    let Some(file) = files::open(&path)? else { return Ok(Vec::new()) };
    let mut log = Log::new(INTERVALS_MAX);
    files::each_line(&path, &file, bounds::INTERVAL_LOG, |line, text| {
        log.take(text).map_err(|broken| match broken {
            Broken::Malformed(what) => RecordError::no_record(&path, line, what),
            Broken::OutOfBounds(what) => RecordError::OutOfBounds { path: path.clone(), line, what },
        })
    })?;
    Ok(log.into_intervals())
}

/// The interval log of a trial as it lies there, to be copied; `None` where there is none.
///
/// # Errors
/// If it can't be read, is no file of the record's own, or is longer than any that is read.
pub fn interval_log_bytes(trial_dir: &Path) -> Result<Option<Vec<u8>>, RecordError> {
    files::read_bytes(&trial_dir.join(FILE), bounds::INTERVAL_LOG.file_bytes_max)
}

/// Why a line can't be read.
enum Broken {
    Malformed(String),
    OutOfBounds(String),
}

/// An interval of a log, and which pages its times take, a bit each: of those that were seen to their end and of the others.
struct Kept {
    logged: LoggedInterval,
    pages: [u128; 2],
}

/// The intervals of a log so far.
struct Log {
    intervals: BTreeMap<Duration, Kept>,
    intervals_max: usize,
    /// What the intervals take, bytes, and may take if nothing had been read.
    memory: u64,
    memory_free: u64,
    bytes_read: u64,
    /// Whether neighbours were put together, so that a line may belong to an interval that began earlier.
    coarse: bool,
    deserializer: Deserializer,
    samples: u64,
}

impl Log {
    fn new(intervals_max: usize) -> Self {
        Self {
            intervals: BTreeMap::new(),
            intervals_max,
            memory: 0,
            memory_free: MEMORY_FREE,
            bytes_read: 0,
            coarse: false,
            deserializer: Deserializer::new(),
            samples: 0,
        }
    }

    fn into_intervals(self) -> Vec<LoggedInterval> {
        self.intervals.into_values().map(|it| it.logged).collect()
    }

    fn memory_max(&self) -> u64 {
        self.memory_free + MEMORY_A_BYTE * self.bytes_read
    }

    fn take(&mut self, line: &[u8]) -> Result<(), Broken> {
        self.bytes_read += line.len() as u64;
        // The library tells the end of a line by it.
        let line = [line, b"\n"].concat();
        for entry in IntervalLogIterator::new(&line) {
            let entry =
                entry.map_err(|error| Broken::Malformed(format!("no line of an interval log: {error:?}")))?;
            let LogEntry::Interval(logged) = entry else { continue };
            self.add(&logged)?;
        }
        Ok(())
    }

    fn add(&mut self, logged: &IntervalLogHistogram<'_>) -> Result<(), Broken> {
        let tag = logged.tag().map_or(EXACT, |tag| tag.as_str());
        let is_exact = match tag.split('-').next() {
            Some(EXACT) => true,
            Some(CENSORED) => false,
            _ => return Err(Broken::Malformed(format!("the tag `{tag}` is none of ours"))),
        };
        let (histogram, samples) = decoded(logged, &mut self.deserializer)?;
        self.samples = self.samples.saturating_add(samples);
        if self.samples > bounds::COUNT_MAX {
            return Err(Broken::OutOfBounds(format!(
                "there are {} samples up to here, and at most {} are read",
                self.samples,
                bounds::COUNT_MAX
            )));
        }
        let kept = self.interval(logged.start_timestamp().into(), logged.duration().into());
        if is_exact {
            kept.logged.times.add_exact(&histogram);
        } else {
            kept.logged.times.add_censored(&histogram);
        }
        let (pages, taken) = (pages_of(&histogram), &mut kept.pages[usize::from(!is_exact)]);
        let more = pages & !*taken;
        *taken |= pages;
        self.memory += bytes_of(more);
        while self.memory > self.memory_max() && self.intervals.len() > 1 {
            self.put_neighbours_together();
        }
        Ok(())
    }

    /// The interval that what began at `start` belongs to.
    fn interval(&mut self, start: Duration, length: Duration) -> &mut Kept {
        let mut key = self.covering(start).unwrap_or(start);
        if !self.intervals.contains_key(&key) && self.intervals.len() >= self.intervals_max {
            self.put_neighbours_together();
            key = self.covering(start).unwrap_or(start);
        }
        let new = || Kept {
            logged: LoggedInterval { start, length, times: Distribution::default() },
            pages: [0; 2],
        };
        let kept = self.intervals.entry(key).or_insert_with(new);
        let end = start + length;
        kept.logged.length = kept.logged.length.max(end.saturating_sub(kept.logged.start));
        kept
    }

    /// Where neighbours were put together, the start of the interval within which `start` is.
    fn covering(&self, start: Duration) -> Option<Duration> {
        let (at, before) = self.intervals.range(..=start).next_back().filter(|_| self.coarse)?;
        (start < before.logged.start + before.logged.length).then_some(*at)
    }

    fn put_neighbours_together(&mut self) {
        self.coarse = true;
        let mut all = std::mem::take(&mut self.intervals).into_values();
        while let Some(mut first) = all.next() {
            if let Some(second) = all.next() {
                let end = second.logged.start + second.logged.length;
                first.logged.length = first.logged.length.max(end.saturating_sub(first.logged.start));
                first.logged.times.merge(&second.logged.times);
                for (ours, theirs) in first.pages.iter_mut().zip(second.pages) {
                    *ours |= theirs;
                }
            }
            self.intervals.insert(first.logged.start, first);
        }
        self.memory = self.intervals.values().flat_map(|it| it.pages).map(bytes_of).sum();
    }
}

/// Which pages the times of a histogram take in a distribution, a bit each: it counts as many values in each half of the times that
/// share a power of two, and these are a page.
fn pages_of(histogram: &Histogram<u64>) -> u128 {
    histogram.iter_recorded().fold(0, |all, step| {
        let ns = step.value_iterated_to().max(1);
        let power = ns.ilog2();
        let half = power.checked_sub(1).map_or(0, |bit| (ns >> bit) & 1);
        all | (1_u128 << (2 * u64::from(power) + half))
    })
}

fn bytes_of(pages: u128) -> u64 {
    u64::from(pages.count_ones()) * PAGE_BYTES
}

/// The histogram of a line, and its samples. It is inflated and looked through here before the library reads it: that makes
/// room for whatever its header says, up to gigabytes of a line of ninety bytes.
fn decoded(
    logged: &IntervalLogHistogram<'_>,
    deserializer: &mut Deserializer,
) -> Result<(Histogram<u64>, u64), Broken> {
    let malformed = |what: &str| Broken::Malformed(format!("its histogram can't be read: {what}"));
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(logged.encoded_histogram())
        .map_err(|error| Broken::Malformed(format!("its histogram is not base64: {error}")))?;
    let Some(([0x1c, 0x84, 0x93, 0x14, ..], deflated)) = bytes.split_first_chunk::<8>() else {
        return Err(malformed("it is no compressed one of the second version"));
    };
    let mut inflated = Vec::new();
    ZlibDecoder::new(deflated)
        .take(HISTOGRAM_BYTES_MAX + 1)
        .read_to_end(&mut inflated)
        .map_err(|error| malformed(&error.to_string()))?;
    if inflated.len() as u64 > HISTOGRAM_BYTES_MAX {
        let what = format!("its histogram is longer than {HISTOGRAM_BYTES_MAX} bytes");
        return Err(Broken::OutOfBounds(what));
    }
    let samples = check_histogram(&inflated)?;
    let histogram = deserializer
        .deserialize(&mut inflated.as_slice())
        .map_err(|error| malformed(&format!("{error:?}")))?;
    Ok((histogram, samples))
}

/// What HdrHistogram's second version puts before the counts, bytes: cookie, length of the counts, offset, digits, lowest
/// and highest value, ratio.
const HEADER_BYTES: usize = 40;

/// Whether a histogram has no more counts than it says and no more samples than a load has; gives its samples.
fn check_histogram(bytes: &[u8]) -> Result<u64, Broken> {
    let malformed = |what: &str| Broken::Malformed(format!("its histogram can't be read: {what}"));
    let Some((header, counts)) = bytes.split_first_chunk::<HEADER_BYTES>() else {
        return Err(malformed("it ends within its header"));
    };
    let number = |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let (length, digits) = (number(4), number(12));
    if usize::try_from(length) != Ok(counts.len()) {
        return Err(malformed("its counts are not as long as it says"));
    }
    if digits > DIGITS_MAX {
        let what =
            format!("its histogram has {digits} significant digits, and at most {DIGITS_MAX} are read");
        return Err(Broken::OutOfBounds(what));
    }
    let (mut samples, mut rest) = (0_u64, counts);
    while !rest.is_empty() {
        let Some((value, behind)) = varint(rest) else { return Err(malformed("it ends within a count")) };
        rest = behind;
        // Zigzag: an odd one is negative, and a run of so many zeros.
        let count = value >> 1;
        if value & 1 == 0 {
            samples = samples.saturating_add(count);
        } else if count >= HISTOGRAM_BYTES_MAX {
            return Err(malformed("it has more zeros than places"));
        }
    }
    if samples > bounds::COUNT_MAX {
        let most = bounds::COUNT_MAX;
        return Err(Broken::OutOfBounds(format!("it has {samples} samples, and at most {most} are read")));
    }
    Ok(samples)
}

/// A number of seven bits a byte, the lowest first; its ninth byte has eight. Also what comes behind it.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (place, byte) in bytes.iter().enumerate().take(9) {
        let is_last = place == 8 || byte & 0x80 == 0;
        let bits = if place == 8 { *byte } else { byte & 0x7f };
        value |= u64::from(bits) << (7 * place);
        if is_last {
            return Some((value, &bytes[place + 1..]));
        }
    }
    None
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
        with_interval_log(Some(&IntervalLog::create(folder.path().join(FILE)).unwrap()), |log| {
            log(0, Duration::ZERO, second, &of(5));
            log(1, Duration::ZERO, second, &cut);
            log(0, second, Duration::from_millis(250), &of(6));
        });
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

    /// A log of more intervals than are kept loses no sample and no time, in whatever order its threads wrote.
    #[test]
    fn of_too_many_intervals_neighbours_are_put_together() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let (seconds, second) = (21, Duration::from_secs(1));
        with_interval_log(Some(&IntervalLog::create(&path).unwrap()), |log| {
            for thread in 0..2 {
                for start in 0..seconds {
                    let mut times = Distribution::default();
                    times.record(Duration::from_millis(start + 1));
                    log(thread, second * start, second, &times);
                }
            }
        });
        let mut log = Log::new(8);
        let text = std::fs::read(&path).unwrap();
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            assert!(log.take(line).is_ok());
            assert!(log.intervals.len() <= 8);
        }
        let all = log.into_intervals();
        assert_eq!(LoggedInterval::whole(&all).count(), 2 * seconds);
        let mut end = Duration::ZERO;
        for interval in &all {
            assert_eq!(interval.start, end, "they are side by side");
            end += interval.length;
            assert_eq!(interval.times.count(), 2 * interval.length.as_nanos() / second.as_nanos());
        }
        assert_eq!(end, second * seconds);
    }
}
