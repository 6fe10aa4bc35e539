//! JMeter's Summariser: what a run without a window prints on the console and into `jmeter.log` (`Summariser.java`).
//!
//! `+` begins the figures of the last interval, `=` those of the run so far: the last of these is told of a run. Times are
//! milliseconds, cut off to whole ones, and the length of the run is rounded to whole seconds; in early versions it has a decimal.
//! Who prints it in another country has a comma in the rate.

use std::mem;

use crate::number::{Figure, number};
use crate::outline::{Line, Outline};
use crate::read::Rows;
use crate::row::{Row, Tool};

/// Summarisers that are told apart at a time; a plan has one or two.
const NAMES_MAX: usize = 16;
/// Most words behind the rate that are looked at.
const WORDS_MAX: usize = 16;
/// The name that one has if nobody gave it another, on the command line and in a plan.
const NAMES: [&str; 2] = ["summary", "Generate Summary Results"];
/// Lines with these stand between two runs.
const BETWEEN: [&str; 2] = ["... end of run", "Creating summariser"];

/// Reads the summaries of all runs in the text.
pub(super) fn read(outline: &Outline<'_>) -> Rows {
    let mut rows = Rows::default();
    let mut runs: Vec<Run> = Vec::new();
    for line in &outline.lines {
        if let Some(found) = summary(line) {
            take(found, &mut runs, &mut rows);
        } else if BETWEEN.iter().any(|it| line.text.contains(it)) {
            rows.extend(runs.drain(..).map(Run::close));
        } else if !line.text.is_empty() {
            for run in &mut runs {
                run.is_followed = true;
            }
        }
    }
    rows.extend(runs.into_iter().map(Run::close));
    rows
}

/// A run so far.
struct Run {
    name: String,
    row: Row,
    /// Whether the figures are those of the run, and not of an interval.
    is_total: bool,
    /// Whether an interval of it was told since.
    has_interval: bool,
    /// Whether a line of something else stands below it.
    is_followed: bool,
}

/// Takes a line. What goes on from the run at hand has its place, and anything else is another run.
fn take(found: Run, runs: &mut Vec<Run>, rows: &mut Rows) {
    let Some(at) = runs.iter().position(|it| it.name == found.name) else {
        if runs.len() == NAMES_MAX {
            rows.extend(runs.drain(..).map(Run::close));
        }
        runs.push(found);
        return;
    };
    let run = &mut runs[at];
    if !found.is_total {
        run.has_interval = true;
    } else if run.goes_on_as(&found) {
        *run = found;
    } else {
        rows.push(mem::replace(run, found).close());
    }
}

impl Run {
    /// Whether the figures of a later line may be those of this run. Of a log in which nothing but totals is left, no interval
    /// stands between them.
    fn goes_on_as(&self, later: &Self) -> bool {
        let (a, b) = (&self.row, &later.row);
        let rises = |a: Option<Figure>, b: Option<Figure>| a.zip(b).is_none_or(|(a, b)| a.value <= b.value);
        a.requests <= b.requests
            && a.errors.bad_answers <= b.errors.bad_answers
            && rises(a.elapsed_s, b.elapsed_s)
            && rises(a.max_ms, b.max_ms)
            && rises(b.min_ms, a.min_ms)
            && (self.has_interval || !self.is_followed)
    }

    fn close(self) -> Row {
        let Self { mut row, is_total, .. } = self;
        row.note_missing([("the line with `=`, which is of the whole run,", !is_total)]);
        row
    }
}

/// `summary =   1000 in 00:00:10 =   99.5/s Avg:    45 Min:     1 Max:   500 Err:     0 (0.00%)`.
fn summary(line: &Line<'_>) -> Option<Run> {
    // Nearly every line is none, and need not be taken apart.
    let (head, behind) = line.text.split_once("/s Avg:")?;
    let (head, rate) = head.rsplit_once(" = ")?;
    let (head, elapsed) = head.rsplit_once(" in ")?;
    let (head, requests) = head.trim_end().rsplit_once(' ')?;
    let (head, sign) = head.trim_end().rsplit_once(' ')?;
    // A log has a time and a class before it.
    let name = head.rsplit(": ").next().unwrap_or(head).trim();
    let is_total = sign == "=";
    if !is_total && sign != "+" {
        return None;
    }
    let words: Vec<&str> = behind.split_whitespace().take(WORDS_MAX).collect();
    let time = |text: Option<&&str>| text.and_then(|it| number(it, false));
    let named = |name: &str| words.get(words.iter().position(|it| *it == name)? + 1);
    let mut row = Row {
        tool: Tool::Jmeter,
        line: line.number,
        path: (!NAMES.contains(&name)).then(|| name.to_owned()),
        requests: Some(requests.parse().ok()?),
        elapsed_s: elapsed_s(elapsed.trim()).filter(|it| it.value > 0.0),
        rate_per_s: number(rate, true),
        mean_ms: time(words.first()),
        min_ms: time(named("Min:")),
        max_ms: time(named("Max:")),
        ..Row::default()
    };
    row.errors.bad_answers = named("Err:").and_then(|it| it.parse().ok());
    let name = name.to_owned();
    Some(Run { name, row, is_total, has_interval: !is_total, is_followed: false })
}

/// `00:01:30`, or `9.9s`, in seconds.
fn elapsed_s(text: &str) -> Option<Figure> {
    if let Some(seconds) = text.strip_suffix('s') {
        return number(seconds, true);
    }
    let add = |sum: f64, part: &str| Some(sum * 60.0 + f64::from(part.parse::<u32>().ok()?));
    let value = text.split(':').try_fold(0.0, add)?;
    Some(Figure { value, step: 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_a_run_are_a_clock_or_seconds() {
        for (text, value, step) in
            [("00:00:07", 7.0, 1.0), ("01:02:03", 3723.0, 1.0), ("9.9s", 9.9, 0.1), ("9,9s", 9.9, 0.1)]
        {
            let figure = elapsed_s(text).unwrap_or_else(|| panic!("{text}"));
            assert!((figure.value - value).abs() < 1e-9 && (figure.step - step).abs() < 1e-9, "{figure:?}");
        }
        for text in ["", "s", "1:x", "-1", ":"] {
            assert_eq!(elapsed_s(text), None, "{text}");
        }
    }
}
