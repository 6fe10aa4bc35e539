//! The table to choose by, for a person.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table};
use stats::Ratio;
use units::Bytes;

use super::super::order::off_the_best;
use super::super::{INDENT, lines_of, wrapped};
use super::{Boots, Choice, ChoiceAt, ChoiceRow};
use crate::figure::{NONE, heading, name, per_s, plain_line, time_us};
use crate::told::{Interval, TimeUs};

/// The table, with what stops each stack below its row, and what is to be known to read it.
pub(crate) fn choice_text(choice: &Choice) -> String {
    let mut table = Table::new();
    let header = header(choice);
    table.load_style(comfy_table::presets::NOTHING).set_header(header.clone());
    let mut below = Vec::new();
    for row in &choice.rows {
        let cells = cells(choice, row, "\n");
        below.push((lines_of(&cells), wrapped(&format!("limit: {}", limit(choice, row)), INDENT)));
        table.add_row(cells);
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let table = table.trim_fmt();
    let mut lines = table.lines();
    let mut text: Vec<String> = lines.by_ref().take(lines_of(&header)).map(str::to_owned).collect();
    for (height, limit) in below {
        text.extend(lines.by_ref().take(height).map(str::to_owned));
        text.extend(limit);
    }
    let of = format!("{}, {}", heading(&choice.round), heading(&choice.load.to_string()));
    let mut said = format!("\nTo choose by: {of}\n{}\n", text.join("\n"));
    for line in wrapped(&legend(choice), INDENT) {
        // Writing into a String cannot fail.
        let _ = writeln!(said, "{}", line.trim_start());
    }
    said
}

/// The titles of the columns; those from the third on are of numbers.
pub(crate) fn header(choice: &Choice) -> Vec<String> {
    let at = choice.rates.iter().map(|rate| format!("p99 at\n{}", at_share(rate.share)));
    let memory = choice.rates.last().map_or_else(String::new, |rate| at_share(rate.share));
    ["#", "stack", "goodput"]
        .map(str::to_owned)
        .into_iter()
        .chain(at)
        .chain([format!("memory\nat {memory}"), "boot".into()])
        .collect()
}

/// The figures of a row, each with its interval behind `between`.
pub(crate) fn cells(choice: &Choice, row: &ChoiceRow, between: &str) -> Vec<String> {
    let rank = rank(row.rank_from, row.rank_to, &row.letters, choice.tested);
    let goodput = with(per_s(row.goodput_per_s.value), goodput_interval(choice, row), between);
    let at = row.at.iter().map(|at| at.as_ref().map_or_else(|| NONE.into(), |at| p99(at, between)));
    let last = row.at.last().and_then(Option::as_ref);
    let memory = last.and_then(|at| at.rss_bytes).map_or_else(|| NONE.into(), bytes);
    let boot = row.boot.map_or_else(|| NONE.into(), |it| boot(&it, between));
    [rank, name(&row.stack), goodput].into_iter().chain(at).chain([memory, boot]).collect()
}

/// What stops a row's stack, what speaks against its figures, and what failed.
pub(crate) fn limit(choice: &Choice, row: &ChoiceRow) -> String {
    let phrase = if row.limit.is_empty() { NONE.into() } else { plain_line(&row.limit) };
    let behind = |doubts: &[String], of: &str| {
        // What the verdict says need not be doubted once more.
        let said: Vec<String> =
            doubts.iter().map(|it| plain_line(it)).filter(|it| !phrase.starts_with(it.as_str())).collect();
        (!said.is_empty()).then(|| format!("; {of}{}", said.join(", ")))
    };
    let at = choice
        .rates
        .iter()
        .zip(&row.at)
        .filter_map(|(rate, at)| behind(&at.as_ref()?.doubts, &format!("at {}: ", at_share(rate.share))));
    let own = behind(&row.doubts, "at full load: ");
    format!("{phrase}{}", own.into_iter().chain(at).collect::<String>())
}

/// What is to be known to read it.
pub(crate) fn legend(choice: &Choice) -> String {
    let rates: Vec<String> = choice
        .rates
        .iter()
        .map(|rate| format!("{} ({})", at_share(rate.share), rate.per_s.map_or_else(|| NONE.into(), per_s)))
        .collect();
    let below = match (choice.tested, choice.rows.len()) {
        (true, _) => {
            "In parentheses: 95 % intervals, of a rate or time against that of the best, of a boot of its median. Rows that \
             share a letter can't be told apart, by goodput or by that time"
        }
        // One has no order.
        (false, 0 | 1) => "In parentheses: the range of trials, of a boot the 95 % interval of its median",
        (false, _) if choice.ended_by_claims => {
            "In parentheses: the range of trials, of a boot the 95 % interval of its median. Blocks ended when claims were \
             decided, which no test of a ranking counts: no order here supports a claim"
        }
        (false, _) => {
            "In parentheses: the range of trials, of a boot the 95 % interval of its median. Too few blocks to test: no order \
             here supports a claim"
        }
    };
    format!(
        "p99 is the 99th percentile of response time where all are asked {} of what the slowest of them carries. {below}. \
         Memory is the most that was resident, warm-up at full load included, without what stands behind the stack; boot is \
         from the start to the first right answer, and has an interval from six boots on.",
        rates.join(" and "),
    )
}

/// A share as it is asked for, to the tenth of a percent.
fn at_share(share: f64) -> String {
    format!("{} %", (share * 1000.0).round() / 10.0)
}

fn rank(from: usize, to: usize, letters: &str, tested: bool) -> String {
    match (tested, from == to) {
        (true, true) => format!("{from} {letters}"),
        (true, false) => format!("{from}–{to} {letters}"),
        (false, true) => from.to_string(),
        (false, false) => format!("{from}="),
    }
}

fn with(mut value: String, interval: Option<String>, between: &str) -> String {
    if let Some(interval) = interval {
        value.push_str(between);
        value.push_str(&interval);
    }
    value
}

fn goodput_interval(choice: &Choice, row: &ChoiceRow) -> Option<String> {
    if choice.tested {
        return row.to_best.map(to_best);
    }
    let Interval { low, high, .. } = row.goodput_per_s;
    low.zip(high).map(|(low, high)| format!("({}…{})", per_s(low), per_s(high)))
}

fn to_best(it: Interval) -> String {
    off_the_best(Ratio { value: it.value, low: it.low, high: it.high })
}

fn p99(at: &ChoiceAt, between: &str) -> String {
    let Some(TimeUs { us, is_lower_bound }) = at.p99 else { return NONE.into() };
    let bound = if is_lower_bound { ">" } else { "" };
    let letters = if at.letters.is_empty() { String::new() } else { format!(" {}", at.letters) };
    with(format!("{bound}{}{letters}", time_us(us)), at.to_best.map(to_best), between)
}

fn bytes(bytes: f64) -> String {
    Bytes(bytes.max(0.0) as u64).to_string()
}

fn boot(boots: &Boots, between: &str) -> String {
    let time = |seconds: f64| time_us(seconds.max(0.0) * 1e6);
    let Interval { value, low, high } = boots.seconds;
    let interval = low.zip(high).map(|(low, high)| format!("({}…{})", time(low), time(high)));
    with(time(value), interval, between)
}
