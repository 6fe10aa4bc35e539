//! A load as h2load 1.52 prints it: the same lines, widths and units, so that what reads h2load's output reads this.
//!
//! What is not measured here is `-`. Where h2load's own figures are not those of the load, ours differ in value and never in
//! shape; `docs/drop-ins.md` says where.

use std::fmt::Write;

use record::{Agreed, LoadResult};
use stats::{Deviation, Distribution};
use units::Duration;

use crate::books::Books;

/// The columns of a line whose figures are not known.
const NOT_MEASURED: &str = "         -           -           -           -        -";

/// A finished load, and what bounded it.
#[derive(Debug, Clone, Copy)]
pub struct H2loadRun<'a> {
    /// What was sampled, with the distributions in full.
    pub books: &'a Books,
    /// The record of the same load.
    pub result: &'a LoadResult,
    /// Whether a duration bounded it, and not a number of requests.
    pub is_timed: bool,
    /// How long an answer was waited for: who gave up sooner, since the connection broke, has no time.
    pub patience: Duration,
}

/// What one of h2load's threads is to do.
#[derive(Debug, Clone, Copy)]
pub struct H2loadThread {
    /// Its connections.
    pub clients: u32,
    /// Its requests; none where a duration bounds the load.
    pub requests: Option<u64>,
}

/// How long a load lasts, and how long it warms up before.
#[derive(Debug, Clone, Copy)]
pub struct H2loadSpan {
    /// Before.
    pub warm_up: Duration,
    /// Measured.
    pub main: Duration,
}

/// What is printed before the load, each line with its end. `span` where a duration bounds it.
pub fn h2load_head(threads: &[H2loadThread], span: Option<H2loadSpan>) -> String {
    let mut text = "starting benchmark...\n".to_owned();
    for (index, thread) in threads.iter().enumerate() {
        // Writing into a String cannot fail.
        let _ = write!(text, "spawning thread #{index}: {} total client(s). ", thread.clients);
        let _ = match (span, thread.requests) {
            (Some(H2loadSpan { warm_up, main }), _) => writeln!(
                text,
                "Timing-based test with {}s of warm-up time and {}s of main duration for measurements.",
                warm_up.as_secs_f64(),
                main.as_secs_f64()
            ),
            (None, requests) => writeln!(text, "{} total requests", requests.unwrap_or(0)),
        };
    }
    text
}

/// What is printed of the protocols below it, each line with its end. `protocol` is the name of what is spoken within.
pub fn h2load_protocols(agreed: Option<&Agreed>, protocol: &str) -> String {
    let mut text = String::new();
    if let Some(agreed) = agreed {
        let _ = writeln!(text, "TLS Protocol: {}", agreed.version.replace("TLS ", "TLSv"));
        let _ = writeln!(text, "Cipher: {}", agreed.cipher);
        if let Some(group) = &agreed.group {
            let _ = writeln!(text, "Server Temp Key: {}", temporary_key(group));
        }
    }
    let _ = writeln!(text, "Application protocol: {protocol}");
    text
}

fn temporary_key(group: &str) -> String {
    match group {
        "X25519" => "X25519 253 bits".into(),
        "secp256r1" => "ECDH P-256 256 bits".into(),
        "secp384r1" => "ECDH P-384 384 bits".into(),
        other => other.to_owned(),
    }
}

/// What is printed after the load, without the last line end.
pub fn h2load_text(run: &H2loadRun<'_>) -> String {
    let length_s = run.result.window.duration_s;
    let bytes = run.books.tally.done_received_bytes;
    let per_s = |count: u64| if length_s > 0.0 { count as f64 / length_s } else { 0.0 };
    let counts = Counts::of(run);
    let [ok, moved, refused, failed] = classes(run, &counts);
    let waits = run.books.waits(run.patience);

    let mut text = format!(
        "\nfinished in {}, {:.2} req/s, {}B/s\n",
        time(length_s),
        per_s(counts.answered),
        size(per_s(bytes) as u64)
    );
    let _ = writeln!(
        text,
        "requests: {} total, {} started, {} done, {} succeeded, {} failed, {} errored, {} timeout",
        counts.total,
        counts.started,
        counts.done,
        counts.succeeded,
        counts.failed,
        counts.errored,
        counts.timed_out
    );
    let _ = writeln!(text, "status codes: {ok} 2xx, {moved} 3xx, {refused} 4xx, {failed} 5xx");
    let _ = writeln!(text, "traffic: {}B ({bytes}) total, - headers (space savings -), - data", size(bytes));
    let _ = writeln!(text, "                     min         max         mean         sd        +/- sd");
    let _ = writeln!(text, "time for request: {}", times(&waits));
    let _ = writeln!(text, "time for connect: {NOT_MEASURED}");
    let _ = writeln!(text, "time to 1st byte: {NOT_MEASURED}");
    let _ = write!(text, "req/s           : {NOT_MEASURED}");
    text
}

/// A line of what the columns of `time for request` can't say: a number stands in each, and some of them are only bounds. `None`
/// where every request has its time.
pub fn given_up_note(run: &H2loadRun<'_>) -> Option<String> {
    let given_up = run.books.waits(run.patience).censored_count();
    let (requests, they_were) = match given_up {
        0 => return None,
        1 => ("request that was given up is", "it was"),
        _ => ("requests that were given up are", "they were"),
    };
    Some(format!(
        "{given_up} {requests} in `time for request` for as long as {they_were} waited for: max and mean are lower \
         bounds, and sd is not known"
    ))
}

/// The line `requests:`. Of a load that a duration bounds it counts what was done within it, as its rate does.
#[derive(Debug, Clone, Copy)]
struct Counts {
    total: u64,
    started: u64,
    done: u64,
    answered: u64,
    succeeded: u64,
    failed: u64,
    errored: u64,
    timed_out: u64,
}

impl Counts {
    fn of(run: &H2loadRun<'_>) -> Self {
        let (tally, outcomes) = (&run.books.tally, &run.result.outcomes);
        let (answered, succeeded) = (tally.done_answered(), tally.done_as_expected);
        let sent = run.result.intended.saturating_sub(outcomes.unsent + outcomes.backlog_overflow);
        let total = if run.is_timed { tally.done } else { run.result.intended };
        Self {
            total,
            started: sent.max(tally.done),
            done: tally.done,
            answered,
            succeeded,
            // What was never sent failed as well, as with h2load.
            failed: total.saturating_sub(succeeded),
            errored: total.saturating_sub(answered),
            timed_out: if run.is_timed {
                let others = run.result.intended.saturating_sub(outcomes.answered + outcomes.timed_out);
                timed_out_within(outcomes.timed_out, others, total.saturating_sub(answered))
            } else {
                outcomes.timed_out
            },
        }
    }
}

/// How many of those that ended within the window without an answer timed out. How each ended is known of the requests that were
/// due in the window: where all of these ended alike it is exact, and else no more than there are.
fn timed_out_within(timed_out: u64, others: u64, errored: u64) -> u64 {
    match (timed_out, others) {
        (0, _) => 0,
        (_, 0) => errored,
        _ => timed_out.min(errored),
    }
}

/// Answers by the first digit of their status, from 2 to 5. Statuses are known of the requests that were due in the window,
/// and what was done within it only as good or bad: where one class holds all of either, it is exact.
fn classes(run: &H2loadRun<'_>, counts: &Counts) -> [u64; 4] {
    let of = |digit: char| -> u64 {
        let is_of = |(status, _): &(&String, &u64)| status.starts_with(digit);
        run.result.statuses.iter().filter(is_of).map(|(_, count)| *count).sum()
    };
    let due = ['2', '3', '4', '5'].map(of);
    let exact = |pair: [u64; 2], all: u64| match pair {
        [_, 0] => [all, 0],
        [0, _] => [0, all],
        both => both,
    };
    let [ok, moved] = exact([due[0], due[1]], counts.succeeded);
    let [refused, failed] = exact([due[2], due[3]], counts.answered.saturating_sub(counts.succeeded));
    [ok, moved, refused, failed]
}

/// The five columns of response times.
fn times(waits: &Distribution) -> String {
    let seconds = |ns: f64| time(ns / 1e9);
    let Deviation { mean, standard, max, within } = waits.deviation();
    let exact =
        |quantile: Option<stats::Quantile>, or: f64| quantile.map_or(or, |it| it.value.as_nanos() as f64);
    let (mean, max) = (exact(waits.mean(), mean), exact(waits.max(), max));
    let min = waits.min().map_or(0.0, |time| time.as_nanos() as f64);
    let [min, max, mean, standard] = [min, max, mean, standard].map(seconds);
    format!("{min:>10}  {max:>10}  {mean:>10}  {standard:>10}{:>9.2}%", within * 100.0)
}

/// A time with h2load's units: whole microseconds below a millisecond.
fn time(seconds: f64) -> String {
    if seconds >= 1.0 {
        format!("{seconds:.2}s")
    } else if seconds >= 0.001 {
        format!("{:.2}ms", seconds * 1e3)
    } else {
        format!("{:.0}us", (seconds * 1e6).floor())
    }
}

/// A size with h2load's units, without the B.
fn size(bytes: u64) -> String {
    let units = [(30, 'G'), (20, 'M'), (10, 'K')];
    match units.into_iter().find(|(bits, _)| bytes >= 1 << bits) {
        Some((bits, unit)) => format!("{:.2}{unit}", bytes as f64 / f64::from(1 << bits)),
        None => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_change_where_h2loads_do() {
        for (seconds, text) in
            [(0.0, "0us"), (0.000_293_9, "293us"), (0.001, "1.00ms"), (0.029_95, "29.95ms"), (2.651, "2.65s")]
        {
            assert_eq!(time(seconds), text);
        }
        for (bytes, text) in [(999, "999"), (1024, "1.00K"), (41_430, "40.46K"), (3_502_000, "3.34M")] {
            assert_eq!(size(bytes), text);
        }
    }

    /// A line of h2load's where more time out than are done helps nobody.
    #[test]
    fn what_timed_out_is_counted_where_what_is_done_is() {
        assert_eq!(timed_out_within(0, 5, 4), 0);
        assert_eq!(timed_out_within(10, 0, 7), 7, "three of them after the window");
        assert_eq!(timed_out_within(10, 2, 7), 7);
        assert_eq!(timed_out_within(3, 2, 7), 3);
    }

    #[test]
    fn the_head_says_what_each_thread_is_to_do() {
        let thread = |requests| H2loadThread { clients: 5, requests };
        let counted = h2load_head(&[thread(Some(50)), thread(Some(50))], None);
        assert_eq!(
            counted,
            "starting benchmark...\nspawning thread #0: 5 total client(s). 50 total requests\n\
             spawning thread #1: 5 total client(s). 50 total requests\n"
        );
        let span = H2loadSpan { warm_up: Duration::from_millis(500), main: Duration::from_secs(1) };
        let timed = h2load_head(&[thread(None)], Some(span));
        assert!(timed.ends_with(
            "Timing-based test with 0.5s of warm-up time and 1s of main duration for measurements.\n"
        ));
    }

    #[test]
    fn what_is_spoken_is_named_as_openssl_does() {
        let agreed = Agreed {
            version: "TLS 1.3".into(),
            cipher: "TLS_AES_128_GCM_SHA256".into(),
            group: Some("X25519".into()),
            alpn: Some("h2".into()),
        };
        assert_eq!(
            h2load_protocols(Some(&agreed), "h2"),
            "TLS Protocol: TLSv1.3\nCipher: TLS_AES_128_GCM_SHA256\nServer Temp Key: X25519 253 bits\n\
             Application protocol: h2\n"
        );
        assert_eq!(h2load_protocols(None, "h2c"), "Application protocol: h2c\n");
    }
}
