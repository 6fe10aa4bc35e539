//! A load as wrk 4.1 prints it: the same lines, widths and units, so that what reads wrk's output reads this.
//!
//! Where wrk's own figures are not those of the load, ours differ in value and never in shape; `docs/drop-ins.md` says
//! where.

use std::fmt::Write;

use record::LoadResult;
use stats::{Deviation, Distribution};
use units::Duration;

use crate::books::Books;

/// The percentiles of `--latency`, in percent.
const PERCENTILES: [f64; 4] = [50.0, 75.0, 90.0, 99.0];
/// Share of a unit's scale from which on the next unit is used.
const NEXT_UNIT_FROM: f64 = 0.85;

/// A finished load, and what wrk was asked to show of it.
#[derive(Debug, Clone, Copy)]
pub struct WrkRun<'a> {
    /// What was sampled, with the distributions in full.
    pub books: &'a Books,
    /// The record of the same load.
    pub result: &'a LoadResult,
    /// `--timeout`: an answer that takes longer counts as a timeout, too.
    pub timeout: Duration,
    /// `--latency`.
    pub percentiles: bool,
}

/// The two lines that wrk prints before a load, each with its line end.
pub fn wrk_head(duration: Duration, url: &str, threads: u64, connections: u64) -> String {
    let duration = in_units(duration.as_secs_f64(), &SECONDS, 0);
    format!("Running {duration} test @ {url}\n  {threads} threads and {connections} connections\n")
}

/// What wrk prints after it, without the last line end.
pub fn wrk_text(run: &WrkRun<'_>) -> String {
    let WrkRun { books, result, timeout, percentiles } = *run;
    let waits = books.waits(timeout);
    let length_s = result.window.duration_s;
    let per_s = |count: u64| if length_s > 0.0 { count as f64 / length_s } else { 0.0 };
    let (answered, bytes) = (books.tally.done_answered(), books.tally.done_received_bytes);

    let mut text = format!("  Thread Stats{:>6}{:>11}{:>8}{:>12}\n", "Avg", "Stdev", "Max", "+/- Stdev");
    stats_line(&mut text, "Latency", &latency(&waits), micros);
    stats_line(&mut text, "Req/Sec", &books.rates.deviation(), metric);
    if percentiles {
        distribution(&mut text, &waits);
    }
    // Writing into a String cannot fail.
    let _ = writeln!(
        text,
        "  {answered} requests in {}, {}B read",
        micros(length_s * 1e6),
        in_units(bytes as f64, &BINARY, 2)
    );
    let errors = SocketErrors::of(run);
    if errors != SocketErrors::default() {
        let SocketErrors { connect, read, timeout } = errors;
        let _ = writeln!(text, "  Socket errors: connect {connect}, read {read}, write 0, timeout {timeout}");
    }
    let bad = answered.saturating_sub(books.tally.done_as_expected);
    if bad > 0 {
        let _ = writeln!(text, "  Non-2xx or 3xx responses: {bad}");
    }
    let _ = writeln!(text, "Requests/sec: {:9.2}", per_s(answered));
    let _ = write!(text, "Transfer/sec: {:>10}B", in_units(per_s(bytes), &BINARY, 2));
    text
}

/// The figures of [`wrk_text`] as numbers, for a script's `done`.
#[derive(Debug, Clone, PartialEq)]
pub struct WrkFigures {
    /// Length of the load.
    pub length: Duration,
    /// Answers, and their bytes.
    pub requests: u64,
    /// See `requests`.
    pub bytes: u64,
    /// `Socket errors`: connections that did not come up, connections that broke, late answers and those that never came.
    pub connect: u64,
    /// See `connect`.
    pub read: u64,
    /// See `connect`.
    pub timeout: u64,
    /// `Non-2xx or 3xx responses`.
    pub status: u64,
    /// `Latency`, µs, and each latency in whole µs with how often it occurred.
    pub latency: (Deviation, Vec<(u64, u64)>),
    /// `Req/Sec`, and each rate with how often it occurred.
    pub rates: (Deviation, Vec<(u64, u64)>),
}

/// See [`WrkFigures`].
pub fn wrk_figures(run: &WrkRun<'_>) -> WrkFigures {
    let WrkRun { books, result, timeout, .. } = *run;
    let waits = books.waits(timeout);
    let errors = SocketErrors::of(run);
    let answered = books.tally.done_answered();
    let micros = waits.times().into_iter().map(|(time, count)| (time.as_nanos().div_ceil(1000), count));
    WrkFigures {
        length: Duration::from_nanos((result.window.duration_s * 1e9) as u64),
        requests: answered,
        bytes: books.tally.done_received_bytes,
        connect: errors.connect,
        read: errors.read,
        timeout: errors.timeout,
        status: answered.saturating_sub(books.tally.done_as_expected),
        latency: (latency(&waits), micros.collect()),
        rates: (books.rates.deviation(), books.rates.rates().collect()),
    }
}

/// A line of what wrk does not say of its timeouts; `None` where no answer was late.
pub fn late_answers_note(run: &WrkRun<'_>) -> Option<String> {
    let late = run.books.response.longer_than(run.timeout);
    (late > 0).then(|| {
        format!(
            "{late} answers took longer than {}; they are in `Latency` and count as timeouts",
            run.timeout
        )
    })
}

/// Of the line `Socket errors`. A write that fails is known to us as the connection's reset and counts as a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct SocketErrors {
    connect: u64,
    read: u64,
    timeout: u64,
}

impl SocketErrors {
    fn of(run: &WrkRun<'_>) -> Self {
        let (outcomes, response) = (&run.result.outcomes, &run.books.response);
        // Nobody gives a request up before its time, unless the load was interrupted: then what is still out is a
        // timeout only if it was out for as long.
        let given_up = response.without_censored_below(run.timeout).censored_count();
        Self {
            connect: run.result.connections.opening_failures + outcomes.connect_failed + outcomes.tls_failed,
            read: outcomes.reset + outcomes.closed_early + outcomes.malformed,
            timeout: response.longer_than(run.timeout)
                + outcomes.timed_out
                + outcomes.in_flight.min(given_up),
        }
    }
}

/// Of response times, µs. Mean and maximum are exact, and not those of the distribution's steps.
fn latency(waits: &Distribution) -> Deviation {
    let exact = |quantile: Option<stats::Quantile>| quantile.map_or(0.0, |it| it.value.as_micros_f64());
    let Deviation { standard, within, .. } = waits.deviation();
    Deviation { mean: exact(waits.mean()), standard: standard / 1e3, max: exact(waits.max()), within }
}

fn stats_line(text: &mut String, name: &str, spread: &Deviation, shown: fn(f64) -> String) {
    let _ = writeln!(
        text,
        "    {name:<10}{}{}{}{:8.2}%",
        padded(&shown(spread.mean), 8),
        padded(&shown(spread.standard), 10),
        padded(&shown(spread.max), 9),
        spread.within * 100.0
    );
}

fn distribution(text: &mut String, waits: &Distribution) {
    let _ = writeln!(text, "  Latency Distribution");
    let quantiles = waits.quantiles(PERCENTILES.map(|percent| percent / 100.0));
    for (index, percent) in PERCENTILES.iter().enumerate() {
        let us = quantiles.map_or(0.0, |all| all[index].value.as_micros_f64());
        let _ = writeln!(text, "{percent:7.0}%{}", padded(&micros(us), 10));
    }
}

/// A base unit, and the larger ones that wrk gets to.
struct Units {
    scale: f64,
    base: &'static str,
    larger: &'static [&'static str],
}

const MICROSECONDS: Units = Units { scale: 1000.0, base: "us", larger: &["ms"] };
const SECONDS: Units = Units { scale: 60.0, base: "s", larger: &["m"] };
const BINARY: Units = Units { scale: 1024.0, base: "", larger: &["K", "M", "G", "T"] };
const METRIC: Units = Units { scale: 1000.0, base: "", larger: &["k", "M", "G", "T"] };

fn in_units(value: f64, units: &Units, decimals: usize) -> String {
    let (mut amount, mut name) = (value, units.base);
    for larger in units.larger {
        if amount < units.scale * NEXT_UNIT_FROM {
            break;
        }
        amount /= units.scale;
        name = larger;
    }
    format!("{amount:.decimals$}{name}")
}

/// A time in µs. What rounds to a second is one; wrk has `1000.00ms` there, and cuts it to `1000.00m` in its columns.
fn micros(us: f64) -> String {
    if us >= 999_995.0 { in_units(us / 1e6, &SECONDS, 2) } else { in_units(us, &MICROSECONDS, 2) }
}

fn metric(value: f64) -> String {
    in_units(value, &METRIC, 2)
}

/// Right-aligned in `width`, of which the last two columns are the unit's: blanks stand for letters that it lacks.
fn padded(text: &str, width: usize) -> String {
    let letters = text.chars().rev().take(2).filter(char::is_ascii_alphabetic).count();
    let blanks = 2 - letters;
    format!("{text:>width$}{:blanks$}", "", width = width - blanks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_change_at_85_percent_of_the_next_one() {
        for (us, text) in [
            (0.0, "0.00us"),
            (7.0, "7.00us"),
            (849.99, "849.99us"),
            (850.0, "0.85ms"),
            (1_020.0, "1.02ms"),
            (196_940.0, "196.94ms"),
            (999_990.0, "999.99ms"),
            (999_999.0, "1.00s"),
            (1_000_000.0, "1.00s"),
            (1_020_000.0, "1.02s"),
            (30_100_000.0, "30.10s"),
            (50_990_000.0, "50.99s"),
            (51_000_000.0, "0.85m"),
            (60_000_000.0, "1.00m"),
            (7_200_000_000.0, "120.00m"),
        ] {
            assert_eq!(micros(us), text, "{us} us");
        }
        for (value, text) in [
            (0.0, "0.00"),
            (849.99, "849.99"),
            (850.0, "0.85k"),
            (12_345.0, "12.35k"),
            (850_000.0, "0.85M"),
            (2e15, "2000.00T"),
        ] {
            assert_eq!(metric(value), text, "{value}");
        }
        for (value, text) in
            [(870.0, "870.00"), (871.0, "0.85K"), (148_000.0, "144.53K"), (2_160_000.0, "2.06M")]
        {
            assert_eq!(in_units(value, &BINARY, 2), text, "{value} bytes");
        }
        for (seconds, text) in [
            (1, "1s"),
            (30, "30s"),
            (50, "50s"),
            (51, "1m"),
            (60, "1m"),
            (90, "2m"),
            (150, "2m"),
            (3600, "60m"),
        ] {
            let head = wrk_head(Duration::from_secs(seconds), "http://x/", 2, 10);
            assert!(head.starts_with(&format!("Running {text} test @ http://x/\n")), "{head}");
        }
    }

    #[test]
    fn a_column_keeps_two_places_for_the_unit() {
        for (text, width, shown) in [
            ("12.34ms", 8, " 12.34ms"),
            ("1.02s", 8, "  1.02s "),
            ("849.99us", 8, "849.99us"),
            ("5.00", 8, "  5.00  "),
            ("849.99", 8, "849.99  "),
            ("1.23k", 10, "    1.23k "),
            ("10.00m", 9, "  10.00m "),
        ] {
            assert_eq!(padded(text, width), shown);
        }
    }
}
