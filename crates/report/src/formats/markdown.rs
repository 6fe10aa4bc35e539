//! A summary in GitHub's Markdown, for a pull request or a job's summary.

use std::fmt::Write;

use explain::{ClaimVerdict, JudgedClaim};
use record::RankedBy;

use crate::figure::{
    NONE, by_driver, heading, micros_bare, per_s, percent, plain_line, signed_percent, time_us,
};
use crate::page::model::{Choice, ChoiceRow, Interval, Invalid, Page, Row, Table, TimeUs};
use crate::ranking::choice::{cells, header, legend, limit};

/// Failed trials that are told; what is beyond is counted.
const FAILURES_MAX: usize = 10;

/// The summary of a run.
pub fn markdown(page: &Page) -> String {
    let mut text = format!("## {}\n", words(&page.run.title));
    text.extend(page.choices.iter().map(choice));
    for (table, answer) in page.tables.iter().zip(&page.answers) {
        let of = format!(
            "{}, {}{}",
            heading(&table.round),
            heading(&table.load.to_string()),
            by_driver(table.driver)
        );
        // Writing into a String cannot fail.
        let _ = write!(text, "\n### {}\n\n**{}**\n\n{}", words(&of), words(&answer.sentence), ranking(table));
    }
    if page.tables.is_empty() {
        text.push_str("\nNothing was measured.\n");
    }
    if let Some(claims) = &page.claims {
        text.push_str("\n### What the write-up claims\n\n| claim | here | why |\n|---|---|---|\n");
        for claim in &claims.claims {
            text.push_str(&claim_row(claim));
        }
    }
    text.push_str(&missing(page));
    text.push_str(&foot(page));
    text
}

/// The table to choose by.
fn choice(choice: &Choice) -> String {
    let header: Vec<String> = header(choice).iter().map(|it| words(&it.replace('\n', " "))).collect();
    let numbers = "---:|".repeat(choice.rates.len() + 3);
    let of = format!("{}, {}", heading(&choice.round), heading(&choice.load.to_string()));
    let mut text = format!(
        "\n### To choose by: {}\n\n| {} | limit |\n|---|---|{numbers}---|\n",
        words(&of),
        header.join(" | ")
    );
    for row in &choice.rows {
        let cells: Vec<String> = cells(choice, row, " ").iter().enumerate().map(|it| cell(row, it)).collect();
        // Writing into a String cannot fail.
        let _ = writeln!(text, "| {} | {} |", cells.join(" | "), words(&limit(choice, row)));
    }
    let _ = writeln!(text, "\n{}", words(&legend(choice)));
    text
}

/// A cell of a row to choose by, by its place; what is not valid is struck out. The second is the stack, the third its goodput,
/// and those behind it are the times at each rate.
fn cell(row: &ChoiceRow, (place, text): (usize, &String)) -> String {
    let at = |index: usize| row.at.get(index).and_then(Option::as_ref);
    let is_out = match place {
        1 => return code(text),
        2 => row.invalid == Invalid::All,
        place => place.checked_sub(3).and_then(at).is_some_and(|it| it.invalid != Invalid::None),
    };
    let text = words(text);
    if is_out && text != NONE { format!("~~{text}~~") } else { text }
}

fn ranking(table: &Table) -> String {
    let to_best = match (table.tested, table.ranked_by) {
        (true, RankedBy::Goodput) => "to the best (95 %)",
        (true, RankedBy::ResponseP99) => "p99 to the best (95 %)",
        (false, _) => "range of trials",
    };
    let mut text =
        format!("| # | stack | goodput | {to_best} | p50 | p99 | p99.9 | server µs/req | limit (doubts) |\n");
    text.push_str("|---|---|---:|---:|---:|---:|---:|---:|---|\n");
    for row in &table.rows {
        text.push_str(&ranking_row(table, row));
    }
    text.push_str(&client(table));
    if let Some(twin) = &table.twin {
        let off = |ratio: f64| signed_percent((ratio - 1.0) * 100.0, 1);
        let interval = ends(&twin.ratio, off);
        let _ =
            write!(text, "\n{} against itself: {}{interval} %.", code(&twin.stack), off(twin.ratio.value));
    }
    text.push('\n');
    text
}

/// What the client reached in the control, and of which rows that is a ceiling; how busy it was with the others.
fn client(table: &Table) -> String {
    let (under, others): (Vec<&Row>, Vec<&Row>) = table.rows.iter().partition(|row| row.as_control);
    let under: Vec<String> = under.iter().map(|row| code(&row.stack)).collect();
    let of_them = format!(": a ceiling of {}", under.join(", "));
    let of_rows = if others.is_empty() { "" } else { of_them.as_str() };
    let control = table
        .ceiling_per_s
        .map(|it| format!("\nThe client reaches {} of the calibration target{of_rows}.", per_s(it)));
    let busy = others.iter().filter_map(|row| Some((row.client_busy_share?, row.stack.as_str())));
    let busiest = busy.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(busy, stack)| {
        let (busy, stack) = (percent(busy), code(stack));
        format!(
            "\nWhere no control is a ceiling, the client's busiest thread was busy {busy} of the time at \
             most ({stack})."
        )
    });
    control.into_iter().chain(busiest).collect()
}

fn ranking_row(table: &Table, row: &Row) -> String {
    let ranks = if row.rank_from == row.rank_to {
        row.rank_from.to_string()
    } else {
        format!("{}–{}", row.rank_from, row.rank_to)
    };
    let struck = |text: String, is: bool| if is { format!("~~{text}~~") } else { text };
    let times = row.invalid != Invalid::None;
    let time = |time: Option<TimeUs>| {
        time.map_or_else(
            || NONE.into(),
            |it| struck(format!("{}{}", if it.is_lower_bound { "\\>" } else { "" }, time_us(it.us)), times),
        )
    };
    let doubts: Vec<&str> = row.doubts.iter().map(|it| it.name.as_str()).collect();
    let doubts = if doubts.is_empty() { String::new() } else { format!(" ({})", doubts.join(", ")) };
    let rank = format!("{ranks} {}", row.letters);
    format!(
        "| {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
        rank.trim_end(),
        code(&row.stack),
        struck(per_s(row.goodput_per_s.value), row.invalid == Invalid::All),
        compared(table, row),
        time(row.p50),
        time(row.p99),
        time(row.p99_9),
        micros_bare(row.server_us_per_request),
        words(&format!("{}{doubts}", row.limit)),
    )
}

fn compared(table: &Table, row: &Row) -> String {
    let off = |ratio: f64| signed_percent((ratio - 1.0) * 100.0, 1);
    if table.tested {
        return row
            .to_best
            .map_or_else(|| NONE.into(), |ratio| format!("{}{} %", off(ratio.value), ends(&ratio, off)));
    }
    let Interval { low, high, .. } = row.goodput_per_s;
    low.zip(high).map_or_else(|| NONE.into(), |(low, high)| format!("{}…{}", per_s(low), per_s(high)))
}

fn ends(ratio: &Interval, off: impl Fn(f64) -> String) -> String {
    ratio.low.zip(ratio.high).map_or_else(String::new, |(low, high)| format!(" ({}…{})", off(low), off(high)))
}

fn claim_row(claim: &JudgedClaim) -> String {
    let mark = match claim.verdict {
        ClaimVerdict::Confirmed => "✅",
        ClaimVerdict::SizeUndecided | ClaimVerdict::SizeRefuted => "🔶",
        ClaimVerdict::Reversed => "❌",
        ClaimVerdict::Tied => "➖",
        ClaimVerdict::Undecided | ClaimVerdict::NotMeasured | ClaimVerdict::NotTestable => "❔",
    };
    format!("| {} | {mark} {} | {} |\n", words(&claim.sentence), claim.verdict.name(), words(&claim.why))
}

fn missing(page: &Page) -> String {
    let missing = &page.missing;
    let mut lines: Vec<String> = missing
        .failures
        .iter()
        .take(FAILURES_MAX)
        .map(|it| {
            let of = format!("{}, {}, block {}", it.round, it.load, it.block);
            format!("- failed: {}, {}: {}", code(&it.stack), words(&of), words(&it.error))
        })
        .collect();
    let more = missing.failures.len().saturating_sub(FAILURES_MAX);
    if more > 0 {
        lines.push(format!("- and {more} more failed trials"));
    }
    lines.extend(
        missing.left_out.iter().map(|(stack, why)| format!("- left out: {}: {}", code(stack), words(why))),
    );
    lines.extend(missing.not_reached.iter().map(|stack| format!("- not reached: {}", code(stack))));
    let (made, planned) = (page.run.trials, page.run.trials_planned);
    if made < planned as usize {
        lines.push(format!("- {made} of {planned} planned trials were made"));
    }
    if lines.is_empty() { String::new() } else { format!("\n### What is missing\n\n{}\n", lines.join("\n")) }
}

fn foot(page: &Page) -> String {
    let run = &page.run;
    let mut text = String::from("\n");
    if run.pace != "full" {
        let _ =
            writeln!(text, "A {} look: short loads, and JVMs hardly warm. It supports no claim.\n", run.pace);
    }
    let machine = [run.machine.cpu.as_deref(), run.machine.kernel.as_deref()].into_iter().flatten();
    let of: Vec<String> =
        machine.map(words).chain([format!("Proofload {}", words(&run.proofload))]).collect();
    let _ = writeln!(
        text,
        "<sub>{} trials, seed {}, {} cores, {}, started {}. Times are from the instant a request was \
         due; what is struck out is not valid.</sub>",
        run.trials,
        run.seed,
        run.machine.cores,
        of.join(", "),
        words(&run.started),
    );
    text
}

/// A name as code: nothing in it is markup, and nobody is mentioned by its `@`.
fn code(name: &str) -> String {
    format!("`{}`", plain_line(name).replace('`', "'").replace('|', "\\|"))
}

/// A text in which nothing is markup.
pub(super) fn words(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for char in plain_line(text).chars() {
        match char {
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            '&' => plain.push_str("&amp;"),
            // An at sign that mentions nobody.
            '@' => plain.push_str("@\u{200b}"),
            '|' | '*' | '_' | '[' | ']' | '#' | '`' | '~' | '\\' => plain.extend(['\\', char]),
            char => plain.push(char),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_is_no_markup() {
        assert_eq!(words("<b>a|b</b>\n*x* @all"), "&lt;b&gt;a\\|b&lt;/b&gt; \\*x\\* @\u{200b}all");
        assert_eq!(code("a`|b"), "`a'\\|b`");
    }
}
