//! What the author says against what was measured.

use crate::findings::{Finding, Kind, Level};
use outputs::Figure;
use outputs::Row;
use outputs::shown;
use outputs::{Comparison, Document};

/// A summary that is nearer than this was rounded at will, and not copied from elsewhere.
const ROUNDED: f64 = 0.01;

/// Summaries, orders, launches, and what was left out.
pub(super) fn all(document: &Document) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        document.rows.iter().filter_map(|row| summary(row, &document.rows)).collect();
    findings.extend(document.comparisons.iter().flat_map(|it| comparison(it, &document.rows)));
    findings.extend(document.launches.iter().map(|launch| Finding {
        level: Level::Note,
        kind: Kind::JvmOptions,
        line: launch.line,
        row: shown::quoted(&launch.jar),
        text: format!(
            "{} stand behind -jar FILE: they are arguments of the program, and the JVM never applied them",
            shown::quoted(&launch.options.join(" "))
        ),
    }));
    if document.rows_left_out > 0 {
        findings.push(Finding {
            level: Level::Unknown,
            kind: Kind::TooMany,
            line: document.rows.last().map_or(0, |row| row.line),
            row: "all rows".into(),
            text: format!("{} more rows were not read; split the file", document.rows_left_out),
        });
    }
    findings
}

/// The author's summary of a row against its raw output.
fn summary(row: &Row, rows: &[Row]) -> Option<Finding> {
    let rate = row.summary.rate_per_s.zip(row.rate_per_s).filter(|(told, raw)| !told.agrees(*raw));
    let mean = row.summary.mean_ms.zip(row.mean_ms).filter(|(told, raw)| !told.agrees(*raw));
    let off = |(told, raw): (Figure, Figure)| (told.value / raw.value - 1.0).abs();
    let gap = [rate, mean].into_iter().flatten().map(off).fold(0.0, f64::max);
    if rate.is_none() && mean.is_none() {
        return None;
    }
    let mut parts = Vec::new();
    let told = |told: String, raw: String| format!("{told} where the raw output has {raw}");
    parts.extend(rate.map(|it| told(decimal(it.0) + "/s", decimal(it.1) + "/s")));
    parts.extend(mean.map(|it| told(shown::time(it.0.value), shown::time(it.1.value))));
    let has_rate = |other: &&Row| rate.is_some_and(|(told, _)| same(Some(told), other.rate_per_s));
    let has_mean = |other: &&Row| mean.is_some_and(|(told, _)| same(Some(told), other.mean_ms));
    let others = || rows.iter().filter(|other| !std::ptr::eq(*other, row));
    // The row that has both, else the one that has the rate, which has more digits.
    let copied = others().find(|it| has_rate(it) && has_mean(it)).or_else(|| others().find(has_rate));
    let copied = copied.or_else(|| others().find(has_mean));
    let from =
        copied.map_or(String::new(), |other| format!("; it repeats {} (line {})", other.label(), other.line));
    let level = if gap > ROUNDED { Level::Broken } else { Level::Note };
    let text = format!("the summary in line {} says {}{from}", row.summary.line, parts.join(", and "));
    Some(Finding::of(row, level, Kind::Summary, text))
}

fn same(told: Option<Figure>, raw: Option<Figure>) -> bool {
    told.zip(raw)
        .is_some_and(|(told, raw)| told.value != 0.0 && told.agrees(raw) && told.step <= raw.step * 10.0)
}

/// A rate with the digits that it was printed with.
fn decimal(figure: Figure) -> String {
    if figure.step >= 1.0 { format!("{:.0}", figure.value) } else { format!("{:.2}", figure.value) }
}

/// The figures of an order against the rows of which it speaks.
fn comparison(comparison: &Comparison, rows: &[Row]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, told) in &comparison.ranked {
        let is_meant = |row: &&Row| {
            row.rate_per_s.is_some()
                && (comparison.connections.is_none() || row.connections == comparison.connections)
                && (comparison.round.is_none() || row.round == comparison.round)
                && row.system.as_deref().is_some_and(|system| plain(system) == plain(name))
        };
        let meant: Vec<&Row> = rows.iter().filter(is_meant).collect();
        let agrees = |row: &&Row| row.rate_per_s.is_some_and(|raw| told.agrees(raw));
        let [raw, ..] = meant[..] else { continue };
        if meant.iter().any(agrees) {
            continue;
        }
        let measured = raw.rate_per_s.map_or(String::new(), decimal);
        let copied = rows.iter().find(|other| same(Some(*told), other.rate_per_s));
        let from =
            copied.map_or(String::new(), |it| format!("; it repeats {} (line {})", it.label(), it.line));
        let text = format!(
            "the order in line {} says {}/s where the raw output in line {} has {measured}/s{from}",
            comparison.line,
            decimal(*told),
            raw.line
        );
        findings.push(Finding {
            line: comparison.line,
            ..Finding::of(raw, Level::Broken, Kind::Comparison, text)
        });
    }
    findings
}

/// A name without what people write differently.
fn plain(name: &str) -> String {
    name.chars().filter(|it| it.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
