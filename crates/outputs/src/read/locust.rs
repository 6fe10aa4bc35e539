//! Locust: the file `…_stats.csv` of `--csv`. One row a name; the total mixes them.

use csv::StringRecord;

use crate::number::Figure;
use crate::read::Rows;
use crate::row::{Row, Tool};

/// Columns without which it is no such file. The one of its history calls them `Total …`.
const NEEDED: [&str; 4] = ["Name", "Request Count", "Average Response Time", "Requests/s"];
/// The total.
const TOTAL: &str = "Aggregated";
/// It keeps times as 147 becomes 150, and 3432 becomes 3400: from so many ms on, to so many.
const ROUNDED_MS: [(f64, f64); 3] = [(10_000.0, 1000.0), (1000.0, 100.0), (100.0, 10.0)];

/// The rows if the text is such a file. An error is one that can't be used.
pub(super) fn read(text: &str) -> Result<Option<Rows>, String> {
    let text = text.trim_start_matches('\u{feff}');
    let header = text.lines().next().unwrap_or_default();
    if !NEEDED.iter().all(|name| header.split(',').any(|it| it.trim().trim_matches('"') == *name)) {
        return Ok(None);
    }
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let columns = reader.headers().map_err(|error| error.to_string())?.clone();
    let (mut rows, mut total) = (Rows::default(), None);
    for record in reader.records() {
        let record = record.map_err(|error| format!("a line of Locust's file can't be read ({error})"))?;
        let row = row(&columns, &record);
        if row.path.as_deref() == Some(TOTAL) {
            total = Some(Row { path: None, ..row });
        } else {
            rows.push(row);
        }
    }
    if rows.kept.is_empty() {
        rows.extend(total);
    }
    if rows.kept.is_empty() {
        return Err("Locust's file has a header and no row".into());
    }
    Ok(Some(rows))
}

fn row(columns: &StringRecord, record: &StringRecord) -> Row {
    let text = |name: &str| {
        let at = columns.iter().position(|it| it == name)?;
        record.get(at).map(str::trim).filter(|it| !it.is_empty())
    };
    // It writes numbers as Python does, `1e-05` among them.
    let number = |name: &str| text(name)?.parse::<f64>().ok().filter(|it| it.is_finite());
    let count = |name: &str| number(name).filter(|it| (0.0..1e18).contains(it)).map(|it| it as u64);
    let exact = |name: &str| number(name).and_then(Figure::of_json);
    let name = text("Name").unwrap_or_default();
    let mut row = Row {
        tool: Tool::Locust,
        line: record.position().map_or(0, |it| usize::try_from(it.line()).unwrap_or(0)),
        path: Some(text("Type").map_or_else(|| name.to_owned(), |kind| format!("{kind} {name}"))),
        requests: count("Request Count"),
        rate_per_s: exact("Requests/s"),
        mean_ms: exact("Average Response Time"),
        min_ms: exact("Min Response Time"),
        max_ms: exact("Max Response Time"),
        answer_bytes: exact("Average Content Size").filter(|it| it.value > 0.0),
        ..Row::default()
    };
    row.errors.bad_answers = count("Failure Count");
    for (name, time) in columns.iter().zip(record.iter()) {
        let percent = name.strip_suffix('%').and_then(|it| it.parse::<f64>().ok());
        let percent = percent.filter(|it| (0.0..100.0).contains(it));
        let time = time.trim().parse::<f64>().ok().filter(|it| it.is_finite());
        row.percentiles_ms.extend(percent.zip(time.map(rounded)));
    }
    if row.requests.is_none() || row.mean_ms.is_none() || record.len() < columns.len() {
        row.missing.push("columns at the end of the line");
    }
    row
}

fn rounded(ms: f64) -> Figure {
    let step = ROUNDED_MS.into_iter().find(|(from, _)| ms >= *from).map_or(1.0, |(_, step)| step);
    Figure { value: ms, step }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_as_exact_as_they_are_kept() {
        for (ms, step) in
            [(0.0, 1.0), (99.0, 1.0), (100.0, 10.0), (990.0, 10.0), (3400.0, 100.0), (59e3, 1e3)]
        {
            assert_eq!(rounded(ms), Figure { value: ms, step });
        }
    }
}
