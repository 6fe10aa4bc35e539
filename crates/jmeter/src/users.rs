//! Users' results as JMeter writes them down.

use std::collections::BTreeMap;
use std::io::{self, Write};

use engine::Outcome;
use scenario::{Crowd, StepSample, Sums, Transaction, Unsent, UserResult, What};
use units::Instant;

use crate::aggregate::Aggregate;
use crate::clock::{epoch_ms, milliseconds};
use crate::failure::Failure;
use crate::jtl::{JtlWriter, SampleResult};
use crate::summariser::{Summariser, ThreadCounts};

/// The books of a load of users: rows, summary lines and what the reports are made of.
#[derive(Debug)]
pub struct UserBooks<W: Write> {
    writer: Option<JtlWriter<W>>,
    /// Names of the groups.
    groups: Vec<String>,
    /// The number of the first of them, from 1.
    first: usize,
    /// An instant of the load's clock, and the milliseconds since 1970 at it.
    clock: (Instant, u64),
    summariser: Summariser,
    aggregate: Aggregate,
    last: ThreadCounts,
    /// Of each user within a transaction that stands for its requests: its group and number.
    within: BTreeMap<(usize, u32), Within>,
    failed: Option<io::Error>,
}

/// What the requests so far within a transaction come to that stands for them.
#[derive(Debug, Default)]
struct Within {
    /// The code of the first that failed, or else of the last.
    code: String,
    has_failed: bool,
    bytes: u64,
    sent_bytes: u64,
    /// Not added up in JMeter either.
    latency_ms: u64,
    connect_ms: u64,
}

impl Within {
    /// The same of one whose requests stand for themselves, which has no code of theirs.
    fn beside(sums: &Sums) -> Self {
        Self {
            bytes: sums.received_bytes,
            sent_bytes: sums.sent_bytes,
            latency_ms: milliseconds(sums.latency),
            connect_ms: milliseconds(sums.connect),
            ..Self::default()
        }
    }

    fn take(&mut self, row: &SampleResult<'_>) {
        if !self.has_failed {
            row.code.clone_into(&mut self.code);
        }
        self.has_failed |= !row.success;
        self.bytes = self.bytes.saturating_add(row.bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(row.sent_bytes);
        self.connect_ms = self.connect_ms.saturating_add(row.connect_ms);
    }
}

impl<W: Write> UserBooks<W> {
    /// Books of users of `groups`, by their names. `clock` is an instant of the load's clock and the milliseconds since
    /// 1970 at it; without `writer` only sums are kept.
    pub fn new(groups: Vec<String>, clock: (Instant, u64), writer: Option<JtlWriter<W>>) -> Self {
        Self {
            writer,
            groups,
            first: 1,
            clock,
            summariser: Summariser::new("summary", clock.1),
            aggregate: Aggregate::default(),
            last: ThreadCounts::default(),
            within: BTreeMap::new(),
            failed: None,
        }
    }

    /// Users of other groups follow: these are their names, and `first` is the number of the first, from 1.
    pub fn turn_to(&mut self, groups: Vec<String>, first: usize) {
        self.groups = groups;
        self.first = first;
        self.last = ThreadCounts::default();
        self.within.clear();
    }

    /// Writes a result down, and gives the summary lines that are due with it. A request that is reported as part of a
    /// transaction only has its row, as in JMeter, and counts nowhere else.
    pub fn take(&mut self, result: &UserResult) -> Vec<String> {
        let UserResult { crowd, user, what } = result;
        let Crowd { group, in_group, in_all, started, finished } = *crowd;
        self.last =
            ThreadCounts { active: in_all.into(), started: started.into(), finished: finished.into() };
        let name = self.groups.get(group).map_or("", String::as_str);
        let thread = format!("{name} {}-{}", group + self.first, user + 1);
        let of_user = SampleResult {
            thread: &thread,
            group_threads: in_group,
            all_threads: in_all,
            ..SampleResult::default()
        };
        let of = what.is_within_parent().then_some((group, *user));
        match what {
            What::Sample(it) => self.sample(it, of_user, of),
            What::Unsent { unsent, at } => self.unsent(unsent, *at, of_user, of),
            // JMeter has no use for those that end with the load, nor for those that a user breaks off for good, but where they
            // stand for requests.
            What::Transaction(it) if it.within_parent || it.cut_off || (it.broken_off && !it.parent_only) => {
                Vec::new()
            }
            What::Transaction(it) => self.transaction(it, of_user, (group, *user)),
        }
    }

    fn sample(
        &mut self,
        sample: &StepSample,
        of_user: SampleResult<'_>,
        of: Option<(usize, u32)>,
    ) -> Vec<String> {
        let (code, message) = code_and_message(sample);
        let failure_message = failed_assertion(sample).unwrap_or_default();
        let connect = match sample.outcome {
            Outcome::ConnectFailed(_) | Outcome::TlsFailed(_) => sample.elapsed,
            _ => sample.connect,
        };
        let row = SampleResult {
            start_ms: epoch_ms(self.clock, sample.intended),
            elapsed_ms: milliseconds(sample.elapsed),
            label: &sample.label,
            code: &code,
            message: &message,
            // JMeter writes it for requests without an answer, too.
            data_type: "text",
            success: sample.ok,
            failure_message: &failure_message,
            bytes: sample.received_bytes,
            sent_bytes: sample.sent_bytes,
            url: Some(sample.url.as_str()),
            latency_ms: milliseconds(sample.latency),
            connect_ms: milliseconds(connect),
            ..of_user
        };
        self.request(&row, sample.done, of)
    }

    fn unsent(
        &mut self,
        unsent: &Unsent,
        at: Instant,
        of_user: SampleResult<'_>,
        of: Option<(usize, u32)>,
    ) -> Vec<String> {
        let failure = Failure::BadUrl { url: &unsent.url };
        let (code, message) = (failure.code(), failure.message());
        let row = SampleResult {
            start_ms: epoch_ms(self.clock, at),
            label: &unsent.label,
            code: &code,
            message: &message,
            failure_message: &unsent.message,
            ..of_user
        };
        self.request(&row, at, of)
    }

    /// A request that was over at `end`; `of` is the user within whose transaction it is, where that stands for it.
    fn request(&mut self, row: &SampleResult<'_>, end: Instant, of: Option<(usize, u32)>) -> Vec<String> {
        let Some(user) = of else {
            self.write(row);
            return self.sum_up(row, end);
        };
        self.within.entry(user).or_default().take(row);
        self.write_row(row);
        Vec::new()
    }

    fn transaction(
        &mut self,
        transaction: &Transaction,
        of_user: SampleResult<'_>,
        user: (usize, u32),
    ) -> Vec<String> {
        let Transaction { label, from, to, elapsed, samples, failed, sums, ok, parent_only, .. } =
            transaction;
        let message =
            format!("Number of samples in transaction : {samples}, number of failing samples : {failed}");
        let within =
            if *parent_only { self.within.remove(&user).unwrap_or_default() } else { Within::beside(sums) };
        let row = SampleResult {
            start_ms: epoch_ms(self.clock, *from),
            elapsed_ms: milliseconds(*elapsed),
            label,
            code: if *ok { "200" } else { &within.code },
            message: &message,
            success: *ok,
            bytes: within.bytes,
            sent_bytes: within.sent_bytes,
            latency_ms: within.latency_ms,
            connect_ms: within.connect_ms,
            idle_ms: milliseconds(to.since(*from).saturating_sub(*elapsed)),
            ..of_user
        };
        self.write(&row);
        // One that stands for its requests is counted as a sample is.
        if *parent_only { self.sum_up(&row, *to) } else { Vec::new() }
    }

    fn write(&mut self, row: &SampleResult<'_>) {
        self.write_row(row);
        self.aggregate.sample(row);
    }

    fn write_row(&mut self, row: &SampleResult<'_>) {
        let written = self.writer.as_mut().map_or(Ok(()), |writer| writer.write(row));
        self.note(written);
    }

    fn sum_up(&mut self, row: &SampleResult<'_>, end: Instant) -> Vec<String> {
        self.summariser.sample(row.elapsed_ms, row.success, epoch_ms(self.clock, end), self.last)
    }

    /// A load was made: its rows have a header, even if there are none.
    pub fn begin(&mut self) {
        let begun = self.writer.as_mut().map_or(Ok(()), JtlWriter::begin);
        self.note(begun);
    }

    /// Hands the rows so far to the system, so that nothing of them is lost with this process.
    pub fn flush(&mut self) {
        let flushed = self.writer.as_mut().map_or(Ok(()), JtlWriter::flush);
        self.note(flushed);
    }

    /// Takes note of the first failure to write, after which nothing more is written.
    fn note(&mut self, written: io::Result<()>) {
        if let Err(error) = written {
            self.failed.get_or_insert(error);
            self.writer = None;
        }
    }

    /// Closes the books at `now_ms`, in milliseconds since 1970: the last summary lines, and what the reports are made
    /// of. An error is the first result that could not be written; those after it are summed up all the same.
    pub fn finish(mut self, now_ms: u64) -> (Vec<String>, io::Result<Aggregate>) {
        self.flush();
        let lines = self.summariser.finish(now_ms, self.last);
        (lines, self.failed.map_or(Ok(self.aggregate), Err))
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
    let host = sample.url.host_str().unwrap_or_default();
    let server = format!("{host}:{}", sample.url.port_or_known_default().unwrap_or(80));
    let failure = Failure::of(sample.outcome, &server, host, sample.received_bytes);
    (failure.code(), failure.message())
}

#[cfg(test)]
mod tests {
    use engine::ConnectFailure;
    use units::Duration;

    use super::*;

    const CROWD: Crowd = Crowd { group: 1, in_group: 3, in_all: 5, started: 7, finished: 2 };

    fn at_ms(ms: u64) -> Instant {
        Instant::ORIGIN + Duration::from_millis(ms)
    }

    fn sample() -> StepSample {
        StepSample {
            label: "home".into(),
            method: "GET".into(),
            url: "http://h:1/a?b=1".parse().unwrap(),
            intended: at_ms(100),
            done: at_ms(150),
            elapsed: Duration::from_millis(50),
            latency: Duration::from_millis(40),
            connect: Duration::from_millis(2),
            outcome: Outcome::Answered { status: 200, expected: true },
            status: Some(200),
            reason: "OK".into(),
            ok: true,
            message: None,
            received_bytes: 120,
            sent_bytes: 40,
            within_parent: false,
        }
    }

    fn transaction() -> Transaction {
        Transaction {
            label: "all".into(),
            from: at_ms(100),
            to: at_ms(190),
            elapsed: Duration::from_millis(50),
            samples: 2,
            failed: 0,
            sums: Sums {
                received_bytes: 240,
                sent_bytes: 80,
                latency: Duration::from_millis(80),
                connect: Duration::from_millis(4),
            },
            ok: true,
            is_whole: true,
            broken_off: false,
            cut_off: false,
            parent_only: false,
            within_parent: false,
        }
    }

    /// The rows of these results, and the last summary line.
    fn written(results: impl IntoIterator<Item = What>) -> (Vec<String>, String) {
        let mut text = Vec::new();
        let groups = vec!["first".into(), "buyers".into()];
        let clock = (at_ms(1000), 1_000_000);
        let mut books = UserBooks::new(groups, clock, Some(JtlWriter::new(&mut text)));
        for what in results {
            let _ = books.take(&UserResult { crowd: CROWD, user: 8, what });
        }
        let (mut lines, kept) = books.finish(1_000_000);
        kept.unwrap();
        let rows = String::from_utf8(text).unwrap().lines().skip(1).map(str::to_owned).collect();
        (rows, lines.pop().unwrap())
    }

    #[test]
    fn requests_and_transactions_are_rows_of_their_user() {
        let unsent = Unsent {
            label: "away".into(),
            method: "GET".into(),
            url: "no url".into(),
            message: "the URL is none".into(),
            within_parent: false,
        };
        let unsent = What::Unsent { unsent, at: at_ms(300) };
        let (rows, last) =
            written([What::Sample(Box::new(sample())), unsent, What::Transaction(transaction())]);
        assert_eq!(rows[0], "999100,50,home,200,OK,buyers 2-9,text,true,,120,40,3,5,http://h:1/a?b=1,40,0,2");
        assert!(rows[1].starts_with("999300,0,away,Non HTTP response code: java.net.MalformedURLException,"));
        assert!(rows[1].ends_with(",buyers 2-9,,false,the URL is none,0,0,3,5,null,0,0,0"), "{}", rows[1]);
        assert!(rows[2].starts_with("999100,50,all,200,\"Number of samples in transaction : 2, "));
        assert!(rows[2].ends_with(",buyers 2-9,,true,,240,80,3,5,null,80,40,4"), "{}", rows[2]);
        assert!(last.starts_with("summary =      2 in"), "the transaction's requests are counted: {last}");
    }

    #[test]
    fn what_stands_within_a_parent_has_its_row_and_the_parent_counts_as_a_request() {
        let within = StepSample { within_parent: true, ..sample() };
        let failed = StepSample {
            label: "bad".into(),
            outcome: Outcome::Answered { status: 500, expected: false },
            status: Some(500),
            ok: false,
            ..within.clone()
        };
        let unsent = Unsent {
            label: "away".into(),
            method: "GET".into(),
            url: "no url".into(),
            message: "the URL is none".into(),
            within_parent: true,
        };
        let sample = |it: StepSample| What::Sample(Box::new(it));
        let inner = Transaction { label: "inner".into(), within_parent: true, ..transaction() };
        let parent = Transaction { parent_only: true, ..transaction() };
        let (rows, last) = written([
            sample(within.clone()),
            What::Transaction(inner),
            What::Transaction(parent.clone()),
            sample(within),
            sample(failed),
            What::Unsent { unsent, at: at_ms(300) },
            What::Transaction(Transaction { failed: 1, ok: false, ..parent.clone() }),
            What::Transaction(parent),
        ]);
        let of = |label: &str, code: &str, success: &str, figures: &str| {
            rows.iter().any(|row| {
                row.contains(&format!(",50,{label},{code},"))
                    && row.ends_with(&format!(",buyers 2-9,,{success},,{figures}"))
            })
        };
        assert!(of("all", "200", "true", "120,40,3,5,null,0,40,2"), "bytes are added up: {rows:?}");
        assert!(of("all", "500", "false", "240,80,3,5,null,0,40,4"), "the first failure's code: {rows:?}");
        assert!(of("all", "200", "true", "0,0,3,5,null,0,40,0"), "each has its own: {rows:?}");
        assert_eq!(rows.len(), 7, "{rows:?}");
        assert!(last.starts_with("summary =      3 in"), "{last}");
    }

    /// JMeter makes no sample of a transaction whose thread ends within it, unless it stands for its requests.
    #[test]
    fn a_transaction_that_is_broken_off_for_good_is_no_row() {
        let broken = Transaction { ok: false, broken_off: true, ..transaction() };
        let parent = Transaction { parent_only: true, label: "parent".into(), ..broken.clone() };
        let cut_off = Transaction { broken_off: false, cut_off: true, ..parent.clone() };
        let (rows, _) = written([broken, cut_off, parent].map(What::Transaction));
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert!(rows[0].contains(",parent,"), "{rows:?}");
    }

    #[test]
    fn a_failed_connection_took_all_of_the_time_and_a_bad_status_is_told_once() {
        let refused = StepSample {
            outcome: Outcome::ConnectFailed(ConnectFailure::Refused),
            status: None,
            reason: String::new(),
            ok: false,
            message: Some("connect failed".into()),
            ..sample()
        };
        let bad = StepSample {
            outcome: Outcome::Answered { status: 500, expected: false },
            status: Some(500),
            ok: false,
            message: Some("status 500".into()),
            ..sample()
        };
        let (rows, _) = written([refused, bad].map(|it| What::Sample(Box::new(it))));
        assert!(
            rows[0].contains("Connect to h:1 [h/h] failed: Connection refused") && rows[0].ends_with(",50")
        );
        assert!(rows[1].contains(",500,OK,buyers 2-9,text,false,,"), "{}", rows[1]);
    }

    #[test]
    fn a_load_that_was_made_has_a_header_and_one_that_was_not_has_nothing() {
        let written = |is_made: bool| {
            let mut text = Vec::new();
            let writer = JtlWriter::new(&mut text);
            let mut books = UserBooks::new(vec!["users".into()], (at_ms(0), 0), Some(writer));
            books.flush();
            if is_made {
                books.begin();
            }
            books.finish(1000).1.unwrap();
            String::from_utf8(text).unwrap()
        };
        assert_eq!(written(false), "");
        let header = written(true);
        assert!(header.starts_with("timeStamp,elapsed,") && header.lines().count() == 1, "{header}");
    }

    #[test]
    fn a_full_disk_is_told_at_the_end_and_sums_go_on() {
        let file = std::fs::File::create("/dev/full").unwrap();
        let writer = JtlWriter::new(file);
        let mut books = UserBooks::new(vec!["users".into()], (at_ms(0), 0), Some(writer));
        let result = UserResult { crowd: CROWD, user: 0, what: What::Sample(Box::new(sample())) };
        let _ = books.take(&result);
        books.flush();
        let _ = books.take(&result);
        let (lines, kept) = books.finish(1000);
        assert!(kept.unwrap_err().to_string().contains("No space left"));
        assert!(lines[0].starts_with("summary =      2 in"), "{lines:?}");
    }
}
