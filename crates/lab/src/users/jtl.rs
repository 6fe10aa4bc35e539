//! Users' results as JMeter writes them down: from the load thread to the one that keeps the books.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use engine::{ConnectFailure, Outcome};
use jmeter::{Aggregate, Failure, JtlWriter, SampleResult, Summariser, ThreadCounts};
use scenario::{Transaction, Unsent};
use units::{Duration, Instant};

use super::results::{Crowd, Report, StepSample};

/// Results that are under way between the threads. When the books fall behind by as many, the load thread waits for
/// them, and its users are late: that is seen as the generator's lag.
const UNDER_WAY_MAX: usize = 1 << 16;

/// A result, as it is under way.
#[derive(Debug)]
struct Row {
    start: Instant,
    end: Instant,
    elapsed: Duration,
    label: String,
    code: String,
    message: String,
    group: usize,
    user: u32,
    data_type: &'static str,
    success: bool,
    failure_message: String,
    bytes: u64,
    sent_bytes: u64,
    crowd: Crowd,
    url: Option<String>,
    latency: Duration,
    idle: Duration,
    connect: Duration,
    is_transaction: bool,
}

/// The load thread's end.
#[derive(Debug)]
pub struct JtlReport(SyncSender<Row>);

/// The other end.
#[derive(Debug)]
pub struct JtlBooks<W: Write> {
    rows: Receiver<Row>,
    writer: Option<JtlWriter<W>>,
    /// Names of the groups.
    groups: Vec<String>,
    /// An instant of the load's clock, and the milliseconds since 1970 at it.
    clock: (Instant, u64),
    summariser: Summariser,
    aggregate: Aggregate,
    last: ThreadCounts,
    failed: Option<io::Error>,
}

/// Both ends. `clock` is an instant and the milliseconds since 1970 at it; without `writer` only sums are kept.
pub fn jtl<W: Write>(
    groups: Vec<String>,
    clock: (Instant, u64),
    writer: Option<JtlWriter<W>>,
) -> (JtlReport, JtlBooks<W>) {
    let (sender, rows) = sync_channel(UNDER_WAY_MAX);
    let books = JtlBooks {
        rows,
        writer,
        groups,
        clock,
        summariser: Summariser::new("summary", clock.1),
        aggregate: Aggregate::default(),
        last: ThreadCounts::default(),
        failed: None,
    };
    (JtlReport(sender), books)
}

impl JtlReport {
    fn send(&self, row: Row) {
        // The books are closed only where their thread has panicked; then there is nobody to tell.
        let _ = self.0.send(row);
    }
}

impl Report for JtlReport {
    fn sample(&mut self, crowd: &Crowd, user: u32, sample: &StepSample) {
        if sample.within_parent {
            return;
        }
        let (code, message) = code_and_message(sample);
        self.send(Row {
            start: sample.intended,
            end: sample.done,
            elapsed: sample.elapsed,
            label: sample.label.clone(),
            code,
            message,
            group: crowd.group,
            user,
            // JMeter writes it for requests without an answer, too.
            data_type: "text",
            success: sample.ok,
            failure_message: failed_assertion(sample).unwrap_or_default(),
            bytes: sample.received_bytes,
            sent_bytes: sample.sent_bytes,
            crowd: *crowd,
            url: Some(sample.url.to_string()),
            latency: sample.latency,
            idle: Duration::ZERO,
            connect: match sample.outcome {
                Outcome::ConnectFailed(_) => sample.elapsed,
                _ => sample.connect,
            },
            is_transaction: false,
        });
    }

    fn unsent(&mut self, crowd: &Crowd, user: u32, unsent: &Unsent, now: Instant) {
        if unsent.within_parent {
            return;
        }
        let failure = Failure::BadUrl { url: &unsent.url };
        self.send(Row {
            start: now,
            end: now,
            elapsed: Duration::ZERO,
            label: unsent.label.clone(),
            code: failure.code(),
            message: failure.message(),
            group: crowd.group,
            user,
            data_type: "",
            success: false,
            failure_message: unsent.message.clone(),
            bytes: 0,
            sent_bytes: 0,
            crowd: *crowd,
            url: None,
            latency: Duration::ZERO,
            idle: Duration::ZERO,
            connect: Duration::ZERO,
            is_transaction: false,
        });
    }

    fn transaction(&mut self, crowd: &Crowd, user: u32, transaction: &Transaction) {
        if transaction.within_parent {
            return;
        }
        let Transaction { label, from, to, elapsed, samples, failed, ok, parent_only, .. } = transaction;
        self.send(Row {
            start: *from,
            end: *to,
            elapsed: *elapsed,
            label: label.clone(),
            code: if *ok { "200".into() } else { String::new() },
            message: format!(
                "Number of samples in transaction : {samples}, number of failing samples : {failed}"
            ),
            group: crowd.group,
            user,
            data_type: "",
            success: *ok,
            failure_message: String::new(),
            bytes: 0,
            sent_bytes: 0,
            crowd: *crowd,
            url: None,
            latency: Duration::ZERO,
            idle: to.since(*from).saturating_sub(*elapsed),
            connect: Duration::ZERO,
            // One that stands for its requests is counted as a sample is.
            is_transaction: !parent_only,
        });
    }
}

/// Why an assertion failed: what is said of a bad status alone stands in the column of the status.
fn failed_assertion(sample: &StepSample) -> Option<String> {
    let of_status = format!("status {}", sample.status?);
    sample.message.clone().filter(|message| *message != of_status)
}

/// What JMeter writes for the status and the reason.
fn code_and_message(sample: &StepSample) -> (String, String) {
    if let Some(status) = sample.status {
        return (status.to_string(), sample.reason.clone());
    }
    let server = format!(
        "{}:{}",
        sample.url.host_str().unwrap_or_default(),
        sample.url.port_or_known_default().unwrap_or(80)
    );
    let address = sample.url.host_str().unwrap_or_default();
    let failure = failure_of(sample.outcome, &server, address, sample.received_bytes);
    (failure.code(), failure.message())
}

/// What JMeter makes of a request that was not answered: of `server`, which is host and port, at `address`.
pub(crate) fn failure_of<'a>(
    outcome: Outcome,
    server: &'a str,
    address: &'a str,
    received_bytes: u64,
) -> Failure<'a> {
    match outcome {
        Outcome::ConnectFailed(ConnectFailure::Refused) => Failure::ConnectRefused { server, address },
        Outcome::ConnectFailed(ConnectFailure::TimedOut) => Failure::ConnectTimedOut { server, address },
        Outcome::ConnectFailed(ConnectFailure::Reset) | Outcome::Reset => Failure::Reset,
        Outcome::ConnectFailed(_) => Failure::Unreachable { server, address },
        Outcome::TimedOut => Failure::ReadTimedOut,
        Outcome::ClosedEarly if received_bytes == 0 => Failure::NoAnswer { server },
        Outcome::ClosedEarly => Failure::CutOff,
        Outcome::Malformed(_) => Failure::Malformed,
        Outcome::Unsent | Outcome::BacklogOverflow | Outcome::InFlight | Outcome::Answered { .. } => {
            Failure::Interrupted
        }
    }
}

impl<W: Write> JtlBooks<W> {
    /// Writes results down until the load has ended; `say` is given the summary lines as they are due. Gives back what
    /// the reports are made of.
    ///
    /// # Errors
    /// The first result that could not be written; those after it are summed up all the same.
    pub fn keep(mut self, mut say: impl FnMut(&str), now_ms: impl Fn() -> u64) -> io::Result<Aggregate> {
        while let Some(row) = self.next_row() {
            for line in self.take(&row) {
                say(&line);
            }
        }
        for line in self.summariser.finish(now_ms(), self.last) {
            say(&line);
        }
        let flushed = self.writer.as_mut().map_or(Ok(()), JtlWriter::flush);
        match self.failed {
            Some(error) => Err(error),
            None => flushed.map(|()| self.aggregate),
        }
    }

    /// Waits for the next result; before it waits, what came is handed to the system, so that nothing of it is lost with
    /// this process.
    fn next_row(&mut self) -> Option<Row> {
        if let Ok(row) = self.rows.try_recv() {
            return Some(row);
        }
        let flushed = self.writer.as_mut().map_or(Ok(()), JtlWriter::flush);
        self.note(flushed);
        self.rows.recv().ok()
    }

    /// Takes note of the first failure to write, after which nothing more is written.
    fn note(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            self.failed.get_or_insert(error);
            self.writer = None;
        }
    }

    fn take(&mut self, row: &Row) -> Vec<String> {
        let Crowd { in_group, in_all, started, finished, .. } = row.crowd;
        let (active, started, finished) = (in_all.into(), started.into(), finished.into());
        self.last = ThreadCounts { active, started, finished };
        let group = self.groups.get(row.group).map_or("", String::as_str);
        let thread = format!("{group} {}-{}", row.group + 1, row.user + 1);
        let result = SampleResult {
            start_ms: self.epoch_ms(row.start),
            elapsed_ms: milliseconds(row.elapsed),
            label: &row.label,
            code: &row.code,
            message: &row.message,
            thread: &thread,
            data_type: row.data_type,
            success: row.success,
            failure_message: &row.failure_message,
            bytes: row.bytes,
            sent_bytes: row.sent_bytes,
            group_threads: in_group,
            all_threads: in_all,
            url: row.url.as_deref(),
            latency_ms: milliseconds(row.latency),
            idle_ms: milliseconds(row.idle),
            connect_ms: milliseconds(row.connect),
        };
        let written = self.writer.as_mut().map_or(Ok(()), |writer| writer.write(&result));
        self.aggregate.sample(&result);
        let elapsed_ms = result.elapsed_ms;
        self.note(written);
        if row.is_transaction {
            return Vec::new();
        }
        let end_ms = self.epoch_ms(row.end);
        self.summariser.sample(elapsed_ms, row.success, end_ms, self.last)
    }

    fn epoch_ms(&self, at: Instant) -> u64 {
        let (clock, epoch_ms) = self.clock;
        (epoch_ms + milliseconds(at.since(clock))).saturating_sub(milliseconds(clock.since(at)))
    }
}

/// Rounded down, as JMeter's clock does.
fn milliseconds(span: Duration) -> u64 {
    span.as_nanos() / 1_000_000
}
