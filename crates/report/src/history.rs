//! A figure over recorded runs, for a person.

use std::fmt::Write;

use explain::{HistoryMetric, HistoryPoint, Series};
use stats::samples_needed;

use crate::figure::{NONE, by_driver, micros, p_words, per_s, plain_line, signed_percent, time_us};

/// Characters of the longest bar.
const BAR_CHARS: f64 = 30.0;
/// Characters of a value's column.
const VALUE_CHARS: usize = 10;

/// Each series with a line a run and a mark at each change.
pub fn history_text(all: &[Series]) -> String {
    let mut text = String::new();
    for series in all {
        series_text(&mut text, series, Apart::of(series, all));
    }
    text.push_str(
        "Changes by E-divisive with 999 random orders at 5 %, and nothing nearer than 2 %: of 20 series that never change \
         one shows\na change, and more often the more often they are looked at. Whatever else changed on the machine is in it; \
         * marks runs in\nwhich the stack was built from something else than in the one before.\n",
    );
    text
}

/// By what a series must be told from others of the same heading.
#[derive(Clone, Copy)]
struct Apart {
    processes: bool,
    machine: bool,
}

impl Apart {
    fn of(series: &Series, all: &[Series]) -> Self {
        let alike = || all.iter().filter(|other| is_same_heading(series, other));
        Self {
            processes: alike().any(|other| other.processes != series.processes),
            machine: alike().any(|other| (&other.cpu, other.cores) != (&series.cpu, series.cores)),
        }
    }
}

/// Whether nothing in the heading tells the two apart but what is said where it must be.
fn is_same_heading(one: &Series, other: &Series) -> bool {
    (&one.title, &one.round, &one.load, &one.stack) == (&other.title, &other.round, &other.load, &other.stack)
        && (&one.pace, &one.placement, one.driver, &one.agents)
            == (&other.pace, &other.placement, other.driver, &other.agents)
}

/// How its runs differ from others; nothing where they are the usual ones.
fn runs_words(series: &Series, apart: Apart) -> String {
    let mut words = match (series.pace.as_str(), series.placement.as_str()) {
        ("full", "" | "shared") => Vec::new(),
        (pace, "" | "shared") => vec![format!("{} runs", plain_line(pace))],
        (pace, placement) => {
            vec![format!("{} runs", plain_line(pace)), format!("cores {}", plain_line(placement))]
        }
    };
    if apart.processes {
        words.push(match series.processes.as_str() {
            "" => "processes of a trial each".to_owned(),
            "block" => "processes of a block each".to_owned(),
            other => format!("{} processes", plain_line(other)),
        });
    }
    if apart.machine {
        let cpu = series.cpu.as_ref().map_or_else(String::new, |it| format!(" of {}", plain_line(it)));
        let cores = if series.cores == 1 { "core" } else { "cores" };
        words.push(format!("on {} {cores}{cpu}", series.cores));
    }
    if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
}

fn series_text(text: &mut String, series: &Series, apart: Apart) {
    let metric = match series.metric {
        HistoryMetric::Goodput => "goodput",
        HistoryMetric::Cpu => "server CPU time a request",
        // Another driver knows no instant at which a request was due.
        HistoryMetric::P99 if !series.driver.is_own() => "99th percentile of its own times",
        HistoryMetric::P99 => "99th percentile of response time",
    };
    let runs = runs_words(series, apart);
    let from: Vec<String> = series.agents.iter().map(|it| plain_line(it)).collect();
    let from = if from.is_empty() { String::new() } else { format!(", loads from {}", from.join(", ")) };
    let parts = [&series.title, &series.round, &series.load, &series.stack].map(|it| plain_line(it));
    // Writing into a String cannot fail.
    let _ = writeln!(text, "{}{}{from}: {metric}{runs}", parts.join(", "), by_driver(series.driver));
    let largest = series.points.iter().filter_map(|it| it.value).fold(0.0, f64::max);
    let mut inputs: Option<&Option<String>> = None;
    for (index, point) in series.points.iter().enumerate() {
        let other_inputs = inputs.is_some_and(|it| *it != point.inputs);
        inputs = Some(&point.inputs);
        if let Some(change) = series.changes.iter().find(|it| it.at == index) {
            let shift = signed_percent((change.ratio - 1.0) * 100.0, 1);
            let between = change.commits.as_ref().map_or_else(String::new, between);
            let _ = writeln!(text, "  ---- change: {shift} % ({}){between} ----", p_words(change.p));
            for it in &change.conditions {
                let (what, a, b) = (plain_line(&it.what), plain_line(&it.a), plain_line(&it.b));
                let _ = writeln!(text, "       it need not be the stack's: {what}: {a} → {b}");
            }
        }
        let _ = writeln!(text, "  {}", line(point, series.metric, largest, other_inputs).trim_end());
    }
    if let Some(needed) = series.runs_needed {
        // A run that brought nothing is no shift of another, and counts for none.
        let count = series.points.iter().filter(|it| it.value.is_some_and(|value| value > 0.0)).count();
        let with = if count == series.points.len() { "" } else { " with a figure above 0" };
        let plural = if count == 1 { "is" } else { "are" };
        let runs = if count == 1 { "run" } else { "runs" };
        let _ = writeln!(
            text,
            "  {count} {runs}{with} {plural} too few to find a change (needs at least {needed})"
        );
    } else if series.changes.is_empty() {
        text.push_str("  no change found\n");
    }
    text.push('\n');
}

/// Where a change came in, as far as commits say.
fn between([before, after]: &[String; 2]) -> String {
    let [before, after] = [before, after].map(|it| plain_line(it));
    if before == after {
        format!(", within commit {before}")
    } else {
        format!(", from commit {before} to {after}")
    }
}

fn line(point: &HistoryPoint, metric: HistoryMetric, largest: f64, other_inputs: bool) -> String {
    let shown = |value: f64| match metric {
        HistoryMetric::Goodput => per_s(value),
        HistoryMetric::Cpu => micros(Some(value)),
        HistoryMetric::P99 => time_us(value),
    };
    let value = point.value.map_or_else(|| NONE.into(), shown);
    let share = point.value.map_or(0.0, |value| value / largest.max(f64::MIN_POSITIVE));
    let bar = "#".repeat((share * BAR_CHARS).round() as usize);
    let mark = if other_inputs { "*" } else { " " };
    let failed = match (point.failed, metric) {
        (0, _) => String::new(),
        (failed, HistoryMetric::P99) => format!(", {failed} failed or only a lower bound"),
        (failed, _) => format!(", {failed} failed"),
    };
    let too_few = match point.too_few_requests {
        0 => String::new(),
        few => format!(", {few} with too few requests: p99 takes {}", samples_needed(0.99)),
    };
    format!(
        "{} {mark} {value:>VALUE_CHARS$}  {bar:<width$}  {} ({}{failed}{too_few})",
        plain_line(&point.started),
        plain_line(&point.run),
        point.trials,
        width = BAR_CHARS as usize
    )
}
