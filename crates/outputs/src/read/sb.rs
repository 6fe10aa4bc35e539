//! SuperBenchmarker.

use crate::number::{Figure, number, time_ms};
use crate::outline::Outline;
use crate::read::Rows;
use crate::read::command::{Asked, command, path_of};
use crate::row::{Row, SB_EXCEPTION, Tool, is_good};

/// Its names. What it is called for .NET Core comes last.
const NAMES: [&str; 5] = ["sb", "sb.exe", "superbenchmarker", "sbcore", "sbcore.exe"];

/// Reads all outputs of sb in the text.
pub(super) fn read(outline: &Outline<'_>) -> Rows {
    let mut rows = Rows::default();
    let mut asked: Option<Asked> = None;
    let mut current: Option<Reading> = None;
    for line in &outline.lines {
        if let Some(found) = command(line.text, &NAMES) {
            rows.extend(current.take().map(close));
            asked = Some(found);
        } else if line.text.starts_with("[Press C to stop the test]")
            || starts_alone(line.text, current.as_ref())
        {
            rows.extend(current.take().map(close));
            current = Some(open(line.number, &asked.take().unwrap_or_default()));
            let reading = current.as_mut().expect("it was just opened");
            take(reading, line.text);
        } else if let Some(reading) = &mut current {
            take(reading, line.text);
            if reading.row.percentiles_ms.last().is_some_and(|(percent, _)| *percent > 99.5) {
                rows.extend(current.take().map(close));
            }
        }
    }
    rows.extend(current.map(close));
    rows
}

/// An output of which the head is lost.
fn starts_alone(text: &str, current: Option<&Reading>) -> bool {
    current.is_none() && text.contains("Finished!---")
}

/// What was read so far.
struct Reading {
    row: Row,
    /// Whether there is a line `Avg`. Ours may say no more in it than what the mean is above.
    has_mean: bool,
    /// Whether the time that it took begins with a warm-up, of which no request counts.
    warms_up: bool,
}

fn open(line: usize, asked: &Asked) -> Reading {
    let row = Row {
        tool: Tool::Sb,
        line,
        connections: asked.connections,
        duration_s: asked.duration_s,
        may_wait: asked.may_wait,
        path: asked.url.as_deref().and_then(path_of),
        ..Row::default()
    };
    Reading { row, has_mean: false, warms_up: asked.warms_up }
}

fn close(reading: Reading) -> Row {
    let Reading { mut row, has_mean, warms_up } = reading;
    if warms_up {
        // sb starts a user a second at least, however long it was to take.
        row.elapsed_s = None;
    }
    if !row.statuses.is_empty() {
        // The line that is rewritten during the run is one short now and then; what ended has a status.
        row.requests = Some(row.answers_with(|_| true));
        let is_bad = |status: u16| status == SB_EXCEPTION || !is_good(status);
        row.errors.bad_answers = Some(row.answers_with(is_bad));
    }
    row.note_missing([
        ("the line `RPS`", row.rate_per_s.is_none()),
        ("the line `Avg`", !has_mean),
        ("the lines `Status`", row.statuses.is_empty()),
    ]);
    row
}

fn take(reading: &mut Reading, text: &str) {
    let row = &mut reading.row;
    reading.warms_up |= text.contains("Warmup [Users ");
    let field = |name: &str| text.strip_prefix(name).map(str::trim);
    if let Some(figure) = field("RPS:") {
        row.rate_per_s = figure.split_whitespace().next().and_then(|it| number(it, false));
    } else if let Some(time) = field("Max:") {
        row.max_ms = time_ms(time);
    } else if let Some(time) = field("Min:") {
        row.min_ms = time_ms(time);
    } else if let Some(time) = field("Avg:") {
        row.mean_ms = time_ms(time);
        reading.has_mean = row.mean_ms.is_some() || time.starts_with("above ");
    } else if let Some((status, count)) = field("Status").and_then(|it| it.split_once(':')) {
        if let (Ok(status), Ok(count)) = (status.trim().parse(), count.trim().parse()) {
            row.statuses.insert(status, count);
        }
    } else if let Some((percent, time)) =
        // A tab in sb's own output, blanks where it was copied.
        text.split_once('%').filter(|(_, it)| it.trim().starts_with("below"))
    {
        let time = time_ms(time.trim().trim_start_matches("below").trim());
        if let (Some(percent), Some(time)) = (number(percent, false), time) {
            row.percentiles_ms.push((percent.value, time));
        }
    } else if let Some((_, took)) = text.split_once("(took ") {
        row.elapsed_s = clock_s(took.trim_end_matches(')'));
    } else if let Some((counts, _)) = text.rsplit_once("(RPS:") {
        // What a terminal shows in turn stands behind one another in a file.
        row.requests = counts.rsplit('\r').next().and_then(|last| last.trim().parse().ok());
    }
}

/// `00:01:03.9043972` in seconds.
fn clock_s(text: &str) -> Option<Figure> {
    let parts: Vec<Figure> = text.trim().split(':').map(|it| number(it, false)).collect::<Option<_>>()?;
    let [hours, minutes, seconds] = parts[..] else { return None };
    Some(Figure { value: hours.value * 3600.0 + minutes.value * 60.0 + seconds.value, step: seconds.step })
}
