//! JTL: JMeter's results, a CSV line a sample.

use std::io::{self, Write};

/// The columns that JMeter writes by default.
const HEADER: [&str; 17] = [
    "timeStamp",
    "elapsed",
    "label",
    "responseCode",
    "responseMessage",
    "threadName",
    "dataType",
    "success",
    "failureMessage",
    "bytes",
    "sentBytes",
    "grpThreads",
    "allThreads",
    "URL",
    "Latency",
    "IdleTime",
    "Connect",
];

/// One request or transaction, as JMeter tells of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SampleResult<'a> {
    /// When it began, in milliseconds since 1970.
    pub start_ms: u64,
    /// How long it took, in milliseconds.
    pub elapsed_ms: u64,
    /// Its label.
    pub label: &'a str,
    /// The status, or [`crate::Failure::code`].
    pub code: &'a str,
    /// The reason phrase, or [`crate::Failure::message`].
    pub message: &'a str,
    /// Group, number of the group and number of the user: `users 1-17`.
    pub thread: &'a str,
    /// `text` or `bin`, by the answer's type; `text` where there is no answer, and empty for a transaction.
    pub data_type: &'a str,
    /// Whether it succeeded, its assertions included.
    pub success: bool,
    /// Why the first assertion failed; empty where none did.
    pub failure_message: &'a str,
    /// Size of the answer, head and body.
    pub bytes: u64,
    /// Size of the request, head and body.
    pub sent_bytes: u64,
    /// Users of its group who were running at its end.
    pub group_threads: u32,
    /// Users of all groups who were running at its end.
    pub all_threads: u32,
    /// The URL; none for a transaction.
    pub url: Option<&'a str>,
    /// Milliseconds to the first byte of the answer; 0 where none came.
    pub latency_ms: u64,
    /// Milliseconds of pauses within a transaction that are no part of its time.
    pub idle_ms: u64,
    /// Milliseconds for the connection; 0 where there was one, and all of the time where it failed.
    pub connect_ms: u64,
}

/// Writes results one by one; nothing that was written is touched again.
#[derive(Debug)]
pub struct JtlWriter<W: Write> {
    csv: csv::Writer<W>,
    has_header: bool,
}

impl<W: Write> JtlWriter<W> {
    /// Writes nothing yet, and so touches nothing of a load that is refused.
    pub fn new(writer: W) -> Self {
        let csv = csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(writer);
        Self { csv, has_header: false }
    }

    /// Writes the header, unless it is there. The first result does so, too.
    pub fn begin(&mut self) -> io::Result<()> {
        if !self.has_header {
            self.csv.write_record(HEADER)?;
            self.has_header = true;
        }
        Ok(())
    }

    /// Writes a result. Lines go out in blocks; [`Self::flush`] sends what is left.
    pub fn write(&mut self, sample: &SampleResult<'_>) -> io::Result<()> {
        self.begin()?;
        let numbers = [
            sample.start_ms,
            sample.elapsed_ms,
            sample.bytes,
            sample.sent_bytes,
            u64::from(sample.group_threads),
            u64::from(sample.all_threads),
            sample.latency_ms,
            sample.idle_ms,
            sample.connect_ms,
        ]
        .map(|number| number.to_string());
        let [start, elapsed, bytes, sent, group, all, latency, idle, connect] = &numbers;
        let success = if sample.success { "true" } else { "false" };
        self.csv.write_record([
            start,
            elapsed,
            sample.label,
            sample.code,
            sample.message,
            sample.thread,
            sample.data_type,
            success,
            sample.failure_message,
            bytes,
            sent,
            group,
            all,
            sample.url.unwrap_or("null"),
            latency,
            idle,
            connect,
        ])?;
        Ok(())
    }

    /// Hands everything that was written to the system; before the header that is nothing.
    pub fn flush(&mut self) -> io::Result<()> {
        self.csv.flush()
    }
}
