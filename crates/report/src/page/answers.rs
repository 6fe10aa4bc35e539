//! What a table says, in a sentence.

use record::RankedBy;

use super::model::{Answer, AnswerKind, Failing, Interval, Invalid, Row, StoppedBy, Table};
use crate::figure::{heading, plain_line};

/// Names of stacks that a sentence tells; what is beyond is counted.
const NAMES_MAX: usize = 4;

/// What a table says of the stacks that one chooses from. Those that stand behind another in it were measured for what they
/// can do alone, and win nothing. `ratio` is of what two rows are ranked by, the first over the second.
pub(super) fn answer(
    table: &Table,
    is_behind: impl Fn(&str) -> bool,
    ratio: impl Fn(usize, usize) -> Option<Interval>,
) -> Answer {
    let mut rows: Vec<(usize, &Row)> =
        table.rows.iter().enumerate().filter(|(_, row)| !is_behind(&row.stack)).collect();
    if rows.is_empty() {
        rows = table.rows.iter().enumerate().collect();
    }
    let shared = rows.iter().filter(|(_, row)| shares(table, rows[0].1, row)).count();
    let next = rows.get(shared);
    let ahead = next.and_then(|(next, _)| ratio(rows[0].0, *next));
    let kind = kind(table, &rows, shared, ahead);
    let stopped_by = table.rows.iter().filter_map(|row| {
        let kind = row.limit_kind?;
        Some(StoppedBy { stack: row.stack.clone(), kind, phrase: row.limit.clone() })
    });
    let mut answer = Answer {
        kind,
        sentence: String::new(),
        best: rows[..shared].iter().map(|(_, row)| row.stack.clone()).collect(),
        next: next.map(|(_, row)| row.stack.clone()),
        ahead: ahead.filter(|_| kind == AnswerKind::Winner),
        failing: failing(&rows[..rows.len().min(shared + 1)]),
        stopped_by: stopped_by.collect(),
    };
    let doubt = rows.first().map_or_else(String::new, |(_, row)| doubt(row));
    answer.sentence = fail_text(&answer.failing) + &sentence(table.ranked_by, &answer, &doubt);
    answer
}

/// What speaks most against a row.
fn doubt(row: &Row) -> String {
    match row.doubts.first() {
        _ if row.invalid != Invalid::All => "it fails too often to say by how much".into(),
        // What was seen, and what would help.
        Some(doubt) => format!("{}: {}", doubt.name, plain_line(&doubt.text)),
        None => "not valid".into(),
    }
}

fn failing(rows: &[(usize, &Row)]) -> Vec<Failing> {
    let failing = rows.iter().filter(|(_, row)| row.failed_blocks > 0);
    let told = failing.map(|(_, row)| Failing {
        stack: row.stack.clone(),
        failed: row.failed_blocks,
        blocks: row.trials + row.failed,
    });
    told.collect()
}

/// How often they failed, which comes before all else: `a failed in 3 of 12 blocks. `
fn fail_text(all: &[Failing]) -> String {
    let told = all.iter().map(|Failing { stack, failed, blocks }| {
        format!("{} failed in {failed} of {blocks} blocks. ", heading(stack))
    });
    told.collect()
}

/// `ahead` is what the best is ranked by, over that of the first that does not share its place.
fn kind(table: &Table, rows: &[(usize, &Row)], shared: usize, ahead: Option<Interval>) -> AnswerKind {
    let is_bounded = ahead.is_some_and(|it| it.low.is_some() && it.high.is_some());
    match rows {
        [] => AnswerKind::Nothing,
        [(_, first), ..] if first.invalid == Invalid::All => AnswerKind::Invalid,
        // It fails, and so often that no ratio says what its being ahead is worth.
        [(_, first), ..] if shared == 1 && rows.len() > 1 && first.failed_blocks > 0 && !is_bounded => {
            AnswerKind::Invalid
        }
        [_] => AnswerKind::Single,
        _ => match (shared, table.tested) {
            (1, true) => AnswerKind::Winner,
            (1, false) => AnswerKind::Ahead,
            (_, true) => AnswerKind::Tie,
            (_, false) => AnswerKind::Overlap,
        },
    }
}

/// Whether a row shares the place of `first`.
fn shares(table: &Table, first: &Row, row: &Row) -> bool {
    if table.tested {
        row.letters.chars().any(|letter| first.letters.contains(letter))
    } else {
        row.rank_from == first.rank_from
    }
}

fn sentence(ranked_by: RankedBy, answer: &Answer, doubt: &str) -> String {
    let best = names(&answer.best);
    let faster = ranked_by == RankedBy::ResponseP99;
    let figure = if faster { "99th percentile" } else { "goodput" };
    let said = match answer.kind {
        AnswerKind::Nothing => return "Nothing was measured here.".into(),
        AnswerKind::Invalid => {
            let (come, their) = if answer.best.len() == 1 { ("comes", "its") } else { ("come", "their") };
            format!(
                "The data support no winner: {best} {come} first, and {their} figures do not stand ({doubt})"
            )
        }
        AnswerKind::Single => format!("{best} was measured alone"),
        AnswerKind::Winner => won(&best, answer, faster),
        AnswerKind::Tie => {
            format!("The data support no single winner: {best} can't be told apart by {figure}")
        }
        AnswerKind::Ahead => {
            format!("{best} has the best {figure}, by too few trials to test; that supports no claim")
        }
        AnswerKind::Overlap => {
            format!("The data support no winner: too few trials to test, and {best} overlap in {figure}")
        }
    };
    let stopped = stopped(&answer.stopped_by);
    if stopped.is_empty() { format!("{said}.") } else { format!("{said}. Limits: {stopped}.") }
}

fn won(best: &str, answer: &Answer, faster: bool) -> String {
    let next = answer.next.as_deref().map(heading).unwrap_or_default();
    let percent = |ratio: f64| format!("{:.0} %", (ratio - 1.0).abs() * 100.0);
    let Some(ahead) = answer.ahead else { return format!("{best} is ahead of {next}") };
    // Of times, the best one's are the shorter.
    let than = if faster { "shorter than that of" } else { "more than" };
    let what = if faster { "answers 99 % of requests within a time" } else { "carries" };
    let within = ahead.low.zip(ahead.high).map_or_else(String::new, |(low, high)| {
        let (one, other) = (percent(low), percent(high));
        format!(" (95 % interval {one} to {other})")
    });
    format!("{best} {what} {} {than} {next}{within}", percent(ahead.value))
}

/// `a`, `a and b`, `a, b, c and 3 more`.
fn names(all: &[String]) -> String {
    let shown: Vec<String> = all.iter().take(NAMES_MAX).map(|it| heading(it)).collect();
    match (shown.split_last(), all.len().saturating_sub(NAMES_MAX)) {
        (None, _) => String::new(),
        (Some(_), more @ 1..) => format!("{} and {more} more", shown.join(", ")),
        (Some((last, [])), 0) => last.clone(),
        (Some((last, before)), 0) => format!("{} and {last}", before.join(", ")),
    }
}

/// Limits with the stacks that met them, in the order of the ranking.
fn stopped(all: &[StoppedBy]) -> String {
    let mut by_phrase: Vec<(String, Vec<String>)> = Vec::new();
    for one in all {
        let phrase = plain_line(&one.phrase);
        match by_phrase.iter_mut().find(|(known, _)| *known == phrase) {
            Some((_, stacks)) => stacks.push(one.stack.clone()),
            None => by_phrase.push((phrase, vec![one.stack.clone()])),
        }
    }
    let told: Vec<String> =
        by_phrase.iter().map(|(phrase, stacks)| format!("{}: {phrase}", names(stacks))).collect();
    told.join("; ")
}
