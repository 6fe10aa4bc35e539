//! A load as SuperBenchmarker (sb) prints it; `docs/drop-ins.md` says where our figures are others than its own.

use std::collections::BTreeMap;
use std::fmt::Write;

use record::LoadResult;
use stats::{Distribution, Quantile, RELATIVE_ERROR};
use units::Duration;

use crate::books::Books;
use crate::figure::plain_line;

/// The percentiles, and their names in the columns of the output.
const PERCENTILES: [(&str, f64); 9] = [
    ("  50%", 0.5),
    ("  60%", 0.6),
    ("  70%", 0.7),
    ("  80%", 0.8),
    ("  90%", 0.9),
    ("  95%", 0.95),
    ("  98%", 0.98),
    ("  99%", 0.99),
    ("99.9%", 0.999),
];

/// The line that is rewritten while a load goes on, without its line end.
pub fn sb_progress(answered: u64, elapsed: Duration) -> String {
    format!("{answered}\t(RPS: {})\t\t\t", tenths(rate(answered, elapsed.as_secs_f64())))
}

/// A finished load, as far as sb prints it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SbRun {
    statuses: BTreeMap<String, u64>,
    failures: Vec<(String, u64)>,
    rate_per_s: f64,
    waits: Distribution,
}

impl SbRun {
    /// Of a load. Requests that were given up after `patience` take part in the percentiles; what failed sooner is no
    /// response time.
    pub fn new(books: &Books, result: &LoadResult, patience: Duration) -> Self {
        Self {
            statuses: result.statuses.clone(),
            failures: failures(result),
            rate_per_s: rate(books.tally.done_answered(), result.window.duration_s),
            waits: books.waits(patience),
        }
    }

    /// Of the one request of a dry run: its status, or what became of it, after `took`.
    pub fn single(outcome: Result<u16, String>, took: Duration) -> Self {
        let mut run = Self::default();
        match outcome {
            Ok(status) => {
                run.statuses.insert(status.to_string(), 1);
                run.rate_per_s = rate(1, took.as_secs_f64());
                run.waits.record(took);
            }
            Err(failure) => run.failures.push((failure, 1)),
        }
        run
    }
}

/// What sb prints below `Finished at`, without the last line end.
pub fn sb_text(run: &SbRun) -> String {
    let mut text = String::new();
    // Writing into a String cannot fail.
    for (status, count) in &run.statuses {
        let _ = writeln!(text, "Status {}:    {count}", plain_line(status));
    }
    for (name, count) in &run.failures {
        let _ = writeln!(text, "{}:    {count}", plain_line(name));
    }
    let _ = write!(text, "\nRPS: {} (requests/second)", tenths(run.rate_per_s));
    let Some(quantiles) = run.waits.quantiles(PERCENTILES.map(|(_, quantile)| quantile)) else {
        return text;
    };
    let _ = writeln!(
        text,
        "\nMax: {}ms\nMin: {}ms\nAvg: {}ms",
        or_bound(run.waits.max(), tenths_up),
        or_bound(shortest(&run.waits), tenths_down),
        or_bound(run.waits.mean(), tenths)
    );
    let longest = run.waits.max().map(|it| it.value);
    for ((name, _), quantile) in PERCENTILES.iter().zip(quantiles) {
        // Where the truth is known only to be longer, `below` would be wrong.
        let bound = if quantile.is_lower_bound {
            above(quantile.value)
        } else {
            // What the distribution's steps add does not make it the next tenth; to the longest, which is known, they add
            // nothing.
            let is_longest = longest.is_some_and(|it| quantile.value >= it);
            let added = if is_longest { 0.0 } else { RELATIVE_ERROR };
            format!("below {}", tenths_up(ms(quantile.value) * (1.0 - added)))
        };
        let _ = write!(text, "\n{name}\t{bound}ms");
    }
    text
}

/// A time in ms, rounded as it is to be; of one that is known only to be longer, what it is above.
fn or_bound(time: Option<Quantile>, rounded: fn(f64) -> f64) -> String {
    match time {
        Some(time) if time.is_lower_bound => above(time.value),
        Some(time) => rounded(ms(time.value)).to_string(),
        None => "0".to_owned(),
    }
}

/// The shortest time: a bound where nothing that was answered is known to be as short.
fn shortest(waits: &Distribution) -> Option<Quantile> {
    let is_lower_bound = waits.quantile(0.0)?.is_lower_bound;
    waits.min().map(|value| Quantile { value, is_lower_bound })
}

fn above(bound: Duration) -> String {
    format!("above {}", tenths_down(ms(bound)))
}

fn ms(time: Duration) -> f64 {
    time.as_micros_f64() / 1e3
}

/// What sb counts as status 303, by its own name.
fn failures(result: &LoadResult) -> Vec<(String, u64)> {
    let by_kind = |name: &str, kinds: &BTreeMap<String, u64>| {
        kinds.iter().map(|(kind, count)| (format!("{name} ({})", plain_line(kind)), *count)).collect()
    };
    let named = |(name, count): (&str, u64)| -> Vec<(String, u64)> {
        match name {
            "connect_failed" => by_kind("connect failed", &result.connect_failures),
            "tls_failed" => by_kind("tls failed", &result.tls_failures),
            "malformed" => by_kind("malformed", &result.malformations),
            _ => vec![(name.replace('_', " "), count)],
        }
    };
    let failed = result.outcomes.failures().into_iter().filter(|(_, count)| *count > 0);
    failed.flat_map(named).collect()
}

fn rate(count: u64, length_s: f64) -> f64 {
    if length_s > 0.0 { count as f64 / length_s } else { 0.0 }
}

fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn tenths_up(value: f64) -> f64 {
    (value * 10.0).ceil() / 10.0
}

fn tenths_down(value: f64) -> f64 {
    (value * 10.0).floor() / 10.0
}
