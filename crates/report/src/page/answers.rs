//! What a table says, in a sentence.

use record::RankedBy;

use super::model::{Answer, AnswerKind, Doubt, Failing, Interval, Invalid, Row, StoppedBy, Table};
use crate::figure::{heading, plain_line, signed_percent};
use crate::told::spoils;

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
    // Those that share the first place need not stand next to each other.
    let (sharing, others): (Vec<_>, Vec<_>) =
        rows.iter().copied().partition(|(_, row)| shares(table, rows[0].1, row));
    let next = others.first();
    let ahead = next.and_then(|(next, _)| ratio(rows[0].0, *next));
    let bounded: Vec<&Row> = others.iter().map(|(_, row)| *row).filter(|row| is_bound(table, row)).collect();
    let kind = match kind(table, &rows, sharing.len(), ahead) {
        AnswerKind::Winner if !bounded.is_empty() => AnswerKind::Bounded,
        kind => kind,
    };
    let stopped_by = table.rows.iter().filter_map(|row| {
        let kind = row.limit_kind?;
        Some(StoppedBy { stack: row.stack.clone(), kind, phrase: row.limit.clone() })
    });
    let mut answer = Answer {
        kind,
        sentence: String::new(),
        best: sharing.iter().map(|(_, row)| row.stack.clone()).collect(),
        next: next.map(|(_, row)| row.stack.clone()),
        ahead: ahead.filter(|_| kind == AnswerKind::Winner),
        bounded: match kind {
            AnswerKind::Bounded => bounded.iter().map(|row| row.stack.clone()).collect(),
            _ => Vec::new(),
        },
        failing: failing(sharing.iter().chain(next)),
        stopped_by: stopped_by.collect(),
    };
    let doubt = rows.first().map_or_else(String::new, |(_, row)| doubt(table, row));
    let are_alike = are_alike(sharing.iter().map(|(_, row)| row.letters.as_str()));
    answer.sentence = fail_text(&answer.failing) + &sentence(table, &answer, are_alike, &doubt);
    answer
}

/// Whether the figure by which a table is ranked does not stand.
fn is_spoiled(table: &Table, row: &Row) -> bool {
    match row.invalid {
        Invalid::All => true,
        Invalid::Times => table.ranked_by == RankedBy::ResponseP99,
        Invalid::None => false,
    }
}

/// Whether a row may be better than its figure: in most of its trials the client came no further, or added to its times.
fn is_bound(table: &Table, row: &Row) -> bool {
    let is_one = |it: &Doubt| match table.ranked_by {
        RankedBy::Goodput => it.kind.limits_the_rate(),
        RankedBy::ResponseP99 => it.kind.is_clients_doing(),
    };
    row.doubts.iter().any(|it| it.is_of_most(row.trials) && is_one(it))
}

/// What speaks most against a row.
fn doubt(table: &Table, row: &Row) -> String {
    if !is_spoiled(table, row) {
        return "it fails too often to say by how much".into();
    }
    let is_why = |it: &&Doubt| it.is_of_most(row.trials) && spoils(it.kind) == row.invalid;
    match row.doubts.iter().find(is_why) {
        // What was seen, and what would help.
        Some(doubt) => format!("{}: {}", doubt.name, plain_line(&doubt.text)),
        None => "not valid".into(),
    }
}

fn failing<'a>(rows: impl Iterator<Item = &'a (usize, &'a Row)>) -> Vec<Failing> {
    let failing = rows.filter(|(_, row)| row.failed_blocks > 0);
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
        [(_, first), ..] if is_spoiled(table, first) => AnswerKind::Invalid,
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

/// Whether no test tells any two of those apart that share the first place: all have one letter. Each may share another one with
/// the first.
fn are_alike<'a>(mut letters: impl Iterator<Item = &'a str>) -> bool {
    let first = letters.next().unwrap_or_default();
    let others: Vec<&str> = letters.collect();
    first.chars().any(|letter| others.iter().all(|it| it.contains(letter)))
}

/// Whether a row shares the place of `first`.
fn shares(table: &Table, first: &Row, row: &Row) -> bool {
    if table.tested {
        row.letters.chars().any(|letter| first.letters.contains(letter))
    } else {
        row.rank_from == first.rank_from
    }
}

fn sentence(table: &Table, answer: &Answer, are_alike: bool, doubt: &str) -> String {
    let best = names(&answer.best);
    let faster = table.ranked_by == RankedBy::ResponseP99;
    let figure = if faster { "99th percentile" } else { "goodput" };
    let said = match answer.kind {
        AnswerKind::Nothing => return "Nothing was measured here.".into(),
        AnswerKind::Invalid => {
            let (come, their) = if answer.best.len() == 1 { ("comes", "its") } else { ("come", "their") };
            format!(
                "The data support no winner: {best} {come} first, and {their} figures do not stand ({doubt})"
            )
        }
        AnswerKind::Bounded => {
            let (bounded, is_one) = (names(&answer.bounded), answer.bounded.len() == 1);
            if faster {
                let (take, their) = if is_one { ("takes", "its") } else { ("take", "their") };
                format!(
                    "The data support no winner: {best} comes first, but {bounded} {take} no longer than was measured: the \
                     client added to {their} times"
                )
            } else {
                let carry = if is_one { "carries" } else { "carry" };
                format!(
                    "The data support no winner: {best} comes first, but {bounded} {carry} at least what was measured: the \
                     client was at its own limit"
                )
            }
        }
        AnswerKind::Single => format!("{best} was measured alone"),
        AnswerKind::Winner => won(&best, answer, faster),
        AnswerKind::Tie if are_alike => {
            format!("The data support no single winner: {best} can't be told apart by {figure}")
        }
        AnswerKind::Tie => {
            let (first, others) =
                answer.best.split_first().map_or(("", &[][..]), |(it, all)| (it.as_str(), all));
            let (first, others) = (heading(first), names(others));
            format!(
                "The data support no single winner: {others} can't be told apart from {first} by {figure}"
            )
        }
        AnswerKind::Ahead => {
            // However many they are, it is the claims that ended them.
            let by = if table.ended_by_claims {
                "trials that ended when claims were decided"
            } else {
                "too few trials to test"
            };
            format!("{best} has the best {figure}, by {by}; that supports no claim")
        }
        AnswerKind::Overlap => {
            let why = if table.ended_by_claims {
                "trials ended when claims were decided"
            } else {
                "too few trials to test"
            };
            format!("The data support no winner: {why}, and {best} overlap in {figure}")
        }
    };
    let stopped = stopped(&answer.stopped_by);
    if stopped.is_empty() { format!("{said}.") } else { format!("{said}. Limits: {stopped}.") }
}

fn won(best: &str, answer: &Answer, faster: bool) -> String {
    let next = answer.next.as_deref().map(heading).unwrap_or_default();
    // By how much it is more or less is said in words.
    let percent = |ratio: f64| {
        let signed = signed_percent((ratio - 1.0) * 100.0, 0);
        format!("{} %", signed.trim_start_matches(['+', '-']))
    };
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
