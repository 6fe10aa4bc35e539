//! A row a request: from load threads to a file of JMeter's results.
//!
//! A load thread fills blocks of samples and does no more than that; another thread makes rows of them and writes. What
//! is under way is bounded. Where the disk is slower than the load, rows are lost and counted, since to wait for it would
//! delay requests and to keep all would fill the memory. A load without such a file is compiled without a trace of it.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, channel};

use engine::{Outcome, Sample, Sink, Window};
use jmeter::{JtlWriter, SampleResult};
use units::{Duration, Instant};

use crate::feed::Feed;
use crate::users::failure_of;

/// Samples of a block: some 100 KB.
const BLOCK_SAMPLES: usize = 1024;
/// Blocks of one load thread: some 12 MB, and a second of a fast load. Made only as the writer falls behind.
const BLOCKS_MAX: usize = 128;

/// What all rows of a load have in common.
#[derive(Debug, Clone)]
pub struct RowsOf {
    /// What rows are called.
    pub label: String,
    /// Where requests go.
    pub url: String,
    /// The same as host and port, for messages.
    pub server: String,
    /// The address that the host stands for.
    pub address: String,
    /// Connections.
    pub connections: u32,
    /// Whether each request opens one.
    pub fresh_connections: bool,
    /// Size of a request.
    pub sent_bytes: u64,
    /// An instant of the load's clock, and the milliseconds since 1970 at it.
    pub clock: (Instant, u64),
}

/// The load threads' end. Rows end when it is gone.
#[derive(Debug)]
pub struct Rows(Sender<Block>);

/// The other end.
#[derive(Debug)]
pub struct RowBooks<W: Write> {
    blocks: Receiver<Block>,
    writer: JtlWriter<W>,
    of: RowsOf,
}

/// What became of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowsKept {
    /// Written.
    pub written: u64,
    /// Not written, because the writer was too far behind.
    pub lost: u64,
}

/// Both ends. The load's rows are those of requests that were due within its window, as its outcomes are.
pub fn rows<W: Write>(of: RowsOf, writer: JtlWriter<W>) -> (Rows, RowBooks<W>) {
    // Without a bound of its own: it holds the blocks that there are, and of those there are so many at most.
    let (sender, blocks) = channel();
    (Rows(sender), RowBooks { blocks, writer, of })
}

/// Samples on their way, and the way back for the memory.
#[derive(Debug)]
struct Block {
    thread: u32,
    samples: Vec<Sample>,
    lost: u64,
    back: Sender<Vec<Sample>>,
}

impl Rows {
    pub(crate) fn tap(&self, thread: u32) -> Tap {
        let (back, empty) = channel();
        let current = Vec::with_capacity(BLOCK_SAMPLES);
        Tap { thread, current, blocks: 1, lost: 0, full: self.0.clone(), back, empty }
    }
}

/// Where one load thread puts its samples.
#[derive(Debug)]
pub(crate) struct Tap {
    thread: u32,
    current: Vec<Sample>,
    /// Blocks that were made.
    blocks: usize,
    /// Samples that found no room since the last block went.
    lost: u64,
    full: Sender<Block>,
    back: Sender<Vec<Sample>>,
    empty: Receiver<Vec<Sample>>,
}

impl Tap {
    /// A sink that fills `feed` and this.
    pub(crate) fn beside(self, feed: Feed) -> Tapped {
        Tapped { feed, tap: self }
    }

    fn record(&mut self, sample: &Sample) {
        if self.current.len() == BLOCK_SAMPLES {
            let Some(empty) = self.next_block() else {
                self.lost += 1;
                return;
            };
            self.send(empty);
        }
        self.current.push(*sample);
    }

    /// The same for so many that are alike. Once there is no room, the rest is lost at once: there may be thousands of
    /// millions of them.
    fn record_many(&mut self, sample: &Sample, count: u64) {
        for recorded in 0..count {
            let lost = self.lost;
            self.record(sample);
            if self.lost > lost {
                self.lost += count - recorded - 1;
                return;
            }
        }
    }

    fn next_block(&mut self) -> Option<Vec<Sample>> {
        if let Ok(empty) = self.empty.try_recv() {
            return Some(empty);
        }
        let may_grow = self.blocks < BLOCKS_MAX;
        self.blocks += usize::from(may_grow);
        may_grow.then(|| Vec::with_capacity(BLOCK_SAMPLES))
    }

    /// Sends the block at hand and goes on with `next`.
    fn send(&mut self, next: Vec<Sample>) {
        let samples = std::mem::replace(&mut self.current, next);
        let (thread, lost, back) = (self.thread, std::mem::take(&mut self.lost), self.back.clone());
        // The receiver is gone only if its thread panicked; then there is nobody to tell.
        let _ = self.full.send(Block { thread, samples, lost, back });
    }
}

/// A feed with a tap beside it.
pub(crate) struct Tapped {
    feed: Feed,
    tap: Tap,
}

impl Tapped {
    /// Sends off what is left of the rows, and gives the feed back.
    pub(crate) fn into_feed(mut self) -> Feed {
        self.tap.send(Vec::new());
        self.feed
    }
}

impl Sink for Tapped {
    #[expect(clippy::inline_always, reason = "on the path of every request")]
    #[inline(always)]
    fn record(&mut self, sample: &Sample) {
        self.feed.record(sample);
        if sample.due_in_window {
            self.tap.record(sample);
        }
    }

    fn record_many(&mut self, sample: &Sample, count: u64) {
        self.feed.record_many(sample, count);
        if sample.due_in_window {
            self.tap.record_many(sample, count);
        }
    }

    fn tick(&mut self, now: Instant, window: Window) {
        self.feed.tick(now, window);
    }
}

impl<W: Write> RowBooks<W> {
    /// Writes rows until the load has ended.
    ///
    /// # Errors
    /// The first that could not be written; none is written after it.
    pub fn keep(mut self) -> io::Result<RowsKept> {
        let mut kept = RowsKept::default();
        let mut failed = None;
        while let Ok(Block { thread, mut samples, lost, back }) = self.blocks.recv() {
            kept.lost += lost;
            for sample in &samples {
                if failed.is_none() {
                    failed = self.write(thread, sample).err();
                    kept.written += u64::from(failed.is_none());
                }
            }
            samples.clear();
            // A thread that has ended takes nothing back.
            let _ = back.send(samples);
        }
        let flushed = self.writer.flush();
        failed.map_or(flushed, Err).map(|()| kept)
    }

    fn write(&mut self, thread: u32, sample: &Sample) -> io::Result<()> {
        let of = &self.of;
        let elapsed = sample.response_time();
        let (code, message) = match sample.outcome {
            Outcome::Answered { status, .. } => (status.to_string(), String::new()),
            outcome => {
                let failure = failure_of(outcome, &of.server, &of.address, sample.received_bytes);
                (failure.code(), failure.message())
            }
        };
        let thread = format!("hit 1-{}", thread + 1);
        self.writer.write(&SampleResult {
            start_ms: epoch_ms(of.clock, sample.intended),
            elapsed_ms: milliseconds(elapsed),
            label: &of.label,
            code: &code,
            message: &message,
            thread: &thread,
            data_type: "text",
            success: matches!(sample.outcome, Outcome::Answered { expected: true, .. }),
            failure_message: failure_message(sample.outcome),
            bytes: sample.received_bytes,
            sent_bytes: if sample.sent.is_some() { of.sent_bytes } else { 0 },
            group_threads: of.connections,
            all_threads: of.connections,
            url: Some(&of.url),
            // When the first byte came is not noted on this path.
            latency_ms: 0,
            idle_ms: 0,
            connect_ms: milliseconds(connect_time(sample, of.fresh_connections)),
        })
    }
}

/// What JMeter has for an assertion that failed.
const fn failure_message(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Answered { expected: false, .. } => "not the status or body that was expected",
        Outcome::Unsent => "due and not sent before the end of the load",
        Outcome::BacklogOverflow => "due and dropped, since as many as may wait were waiting",
        _ => "",
    }
}

/// How long a connection took, where a request waited for one of its own.
fn connect_time(sample: &Sample, fresh_connections: bool) -> Duration {
    match sample.outcome {
        Outcome::ConnectFailed(_) => sample.response_time(),
        _ if fresh_connections && sample.sent.is_some() => sample.ready.since(sample.intended),
        _ => Duration::ZERO,
    }
}

/// Milliseconds since 1970, rounded down as JMeter's clock does.
fn epoch_ms((clock, epoch_ms): (Instant, u64), at: Instant) -> u64 {
    (epoch_ms + milliseconds(at.since(clock))).saturating_sub(milliseconds(clock.since(at)))
}

fn milliseconds(span: Duration) -> u64 {
    span.as_nanos() / 1_000_000
}

#[cfg(test)]
mod tests {
    use engine::ConnectFailure;

    use super::*;

    fn at_ms(ms: u64) -> Instant {
        Instant::ORIGIN + Duration::from_millis(ms)
    }

    fn sample(outcome: Outcome) -> Sample {
        let sent = (!matches!(outcome, Outcome::Unsent | Outcome::ConnectFailed(_))).then(|| at_ms(103));
        Sample {
            intended: at_ms(100),
            ready: at_ms(102),
            sent,
            done: at_ms(150),
            arrived: None,
            outcome,
            received_bytes: 120,
            due_in_window: true,
            done_in_window: true,
        }
    }

    fn of(fresh_connections: bool) -> RowsOf {
        RowsOf {
            label: "GET /a,b".into(),
            url: "http://h:1/a".into(),
            server: "h:1".into(),
            address: "127.0.0.1".into(),
            connections: 8,
            fresh_connections,
            sent_bytes: 40,
            clock: (at_ms(1000), 1_000_000),
        }
    }

    /// What is written of these samples by one load thread.
    fn written(samples: &[Sample], fresh_connections: bool) -> Vec<String> {
        let mut text = Vec::new();
        let (rows, books) = rows(of(fresh_connections), JtlWriter::new(&mut text).unwrap());
        let mut tap = rows.tap(2);
        for it in samples {
            tap.record(it);
        }
        tap.send(Vec::new());
        drop((rows, tap));
        assert_eq!(books.keep().unwrap(), RowsKept { written: samples.len() as u64, lost: 0 });
        String::from_utf8(text).unwrap().lines().skip(1).map(str::to_owned).collect()
    }

    #[test]
    fn each_request_is_a_row_whatever_became_of_it() {
        let good = Outcome::Answered { status: 200, expected: true };
        let bad = Outcome::Answered { status: 500, expected: false };
        let refused = Outcome::ConnectFailed(ConnectFailure::Refused);
        let rows = written(&[good, bad, Outcome::TimedOut, refused, Outcome::Unsent].map(sample), false);
        assert_eq!(rows[0], "999100,50,\"GET /a,b\",200,,hit 1-3,text,true,,120,40,8,8,http://h:1/a,0,0,0");
        assert!(rows[1].contains(",500,,hit 1-3,text,false,not the status or body that was expected,"));
        assert!(
            rows[2].contains("SocketTimeoutException") && rows[2].contains(",text,false,,"),
            "{}",
            rows[2]
        );
        assert!(rows[3].contains("Connect to h:1 [h/127.0.0.1] failed") && rows[3].ends_with(",0,0,50"));
        assert!(rows[4].contains("due and not sent") && rows[4].contains(",120,0,8,8,"), "{}", rows[4]);
    }

    #[test]
    fn a_connection_of_its_own_is_told() {
        let good = Outcome::Answered { status: 200, expected: true };
        assert!(written(&[sample(good)], true)[0].ends_with(",0,0,2"));
    }

    #[test]
    fn what_the_writer_does_not_keep_up_with_is_counted_and_memory_is_bounded() {
        let (rows, books) = rows(of(false), JtlWriter::new(io::sink()).unwrap());
        let mut tap = rows.tap(0);
        let room = (BLOCKS_MAX * BLOCK_SAMPLES) as u64;
        let one = sample(Outcome::Answered { status: 200, expected: true });
        for _ in 0..room + 7 {
            tap.record(&one);
        }
        tap.send(Vec::new());
        drop((rows, tap));
        assert_eq!(books.keep().unwrap(), RowsKept { written: room, lost: 7 });
    }

    /// One by one, it would take the load thread for minutes.
    #[test]
    fn rows_of_an_overwhelmed_generator_are_lost_at_once() {
        let (rows, books) = rows(of(false), JtlWriter::new(io::sink()).unwrap());
        let mut tap = rows.tap(0);
        let room = (BLOCKS_MAX * BLOCK_SAMPLES) as u64;
        tap.record_many(&sample(Outcome::Unsent), 3);
        tap.record_many(&sample(Outcome::Unsent), 100_000_000_000);
        tap.send(Vec::new());
        drop((rows, tap));
        assert_eq!(books.keep().unwrap(), RowsKept { written: room, lost: 100_000_000_003 - room });
    }

    #[test]
    fn a_full_disk_is_told_and_blocks_go_back_all_the_same() {
        let file = std::fs::File::create("/dev/full").unwrap();
        let (rows, books) = rows(of(false), JtlWriter::new(file).unwrap());
        let mut tap = rows.tap(0);
        let one = sample(Outcome::TimedOut);
        for _ in 0..BLOCK_SAMPLES * 3 {
            tap.record(&one);
        }
        tap.send(Vec::new());
        drop(rows);
        let (empty, back) = (tap.empty, tap.back);
        drop((tap.full, back));
        let told = books.keep().unwrap_err().to_string();
        assert!(told.contains("No space left"), "{told}");
        assert_eq!(empty.iter().count(), 3);
    }
}
