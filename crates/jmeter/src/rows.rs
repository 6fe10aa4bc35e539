//! A row a request, of a load that makes one request again and again.

use std::io::{self, Write};

use engine::{Outcome, Sample};
use units::{Duration, Instant};

use crate::clock::{epoch_ms, milliseconds};
use crate::failure::Failure;
use crate::jtl::{JtlWriter, SampleResult};

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

/// Rows in the making.
#[derive(Debug)]
pub struct RequestRows<W: Write> {
    of: RowsOf,
    writer: JtlWriter<W>,
}

impl<W: Write> RequestRows<W> {
    /// Rows that go to `writer`.
    pub fn new(of: RowsOf, writer: JtlWriter<W>) -> Self {
        Self { of, writer }
    }

    /// Writes the row of a request that load thread number `thread` made.
    ///
    /// # Errors
    /// Where it can't be written.
    pub fn write(&mut self, thread: u32, sample: &Sample) -> io::Result<()> {
        let of = &self.of;
        let elapsed = sample.response_time();
        let (code, message) = match sample.outcome {
            Outcome::Answered { status, .. } => (status.to_string(), String::new()),
            outcome => {
                let failure = Failure::of(outcome, &of.server, &of.address, sample.received_bytes);
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
            // 0 where nothing came.
            latency_ms: milliseconds(
                sample.first_byte.map_or(Duration::ZERO, |at| at.since(sample.intended)),
            ),
            idle_ms: 0,
            connect_ms: milliseconds(connect_time(sample, of.fresh_connections)),
        })
    }

    /// Hands what is left of the rows of a load that was made to the system. Without any there is a header alone.
    ///
    /// # Errors
    /// Where they can't be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.writer.begin()?;
        self.writer.flush()
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
        Outcome::ConnectFailed(_) | Outcome::TlsFailed(_) => sample.response_time(),
        _ if fresh_connections && sample.sent.is_some() => sample.ready.since(sample.intended),
        _ => Duration::ZERO,
    }
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
            first_byte: None,
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
        let mut rows = RequestRows::new(of(fresh_connections), JtlWriter::new(&mut text));
        for sample in samples {
            rows.write(2, sample).unwrap();
        }
        rows.finish().unwrap();
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
    fn the_latency_is_that_of_the_first_byte() {
        let good = sample(Outcome::Answered { status: 200, expected: true });
        let row = &written(&[Sample { first_byte: Some(at_ms(130)), ..good }], false)[0];
        assert!(row.starts_with("999100,50,") && row.ends_with(",30,0,0"), "{row}");
    }

    #[test]
    fn a_connection_of_its_own_is_told() {
        let good = Outcome::Answered { status: 200, expected: true };
        assert!(written(&[sample(good)], true)[0].ends_with(",0,0,2"));
    }
}
