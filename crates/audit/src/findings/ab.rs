//! What ab prints and other tools don't: a time that is none, and failures that may be none.

use crate::findings::{Finding, Kind, Level};
use outputs::shown;
use outputs::{Figure, OfAb, Row};

/// Share of answers of another length from which on they are worth a word.
const LENGTHS_MIN: f64 = 0.001;

/// `Time per request … (mean)`: users x time / requests, whatever the requests took. Held against users and rate it is always
/// right, where it is of that run.
pub(super) fn by_definition(row: &Row) -> Option<Finding> {
    let ab = row.of_ab.filter(|it| it.level > 0)?;
    let (told, requests) = (ab.per_request_ms?, row.requests.filter(|it| *it > 0)?);
    let elapsed = row.elapsed_s.filter(|it| it.value > 0.0)?;
    let value = f64::from(ab.level) * elapsed.value * 1e3 / requests as f64;
    let due = Figure { value, step: value * elapsed.slack() };
    let sum = format!("{} x {} / {requests} requests", ab.level, shown::seconds(elapsed.value));
    if !told.agrees(due) {
        let text = format!(
            "`Time per request` is {}, and {sum}, which is how ab computes it, is {}: not all of them are of one run",
            shown::time(told.value),
            shown::time(value)
        );
        return Some(Finding::of(row, Level::Broken, Kind::ByDefinition, text));
    }
    let measured = row.mean_ms.map_or("the times that it measured are not told".to_owned(), |mean| {
        format!("what it measured is the mean of `Total`, {:.0} ms to the millisecond", mean.value)
    });
    let text = format!(
        "`Time per request`, {}, is {sum} by definition, and no latency; {measured}{}",
        shown::time(told.value),
        connections(&ab, requests)
    );
    Some(Finding::of(row, Level::Note, Kind::ByDefinition, text))
}

/// What is in that time beside the answer.
fn connections(ab: &OfAb, requests: u64) -> String {
    match ab.keep_alive {
        None => ". Each request opened a connection of its own (no -k), and that is in it".into(),
        Some(0) => {
            ". With -k, and no connection was kept: each request opened one of its own, and that is in it"
                .into()
        }
        Some(kept) if kept < requests / 2 => {
            format!(". With -k, but {kept} of {requests} requests alone went over a connection that was kept")
        }
        Some(_) => String::new(),
    }
}

/// Answers that ab calls failed since they are longer or shorter than the first one.
pub(super) fn other_lengths(row: &Row) -> Option<Finding> {
    let (ab, requests) = (row.of_ab?, row.requests.filter(|it| *it > 0)?);
    let share = ab.other_lengths as f64 / requests as f64;
    let text = format!(
        "{} of {requests} answers ({}) count as failed since their length is not that of the first one: pages that differ from \
         request to request do that (-l lets them), and so do error pages with a good status",
        ab.other_lengths,
        shown::percent(share)
    );
    (share >= LENGTHS_MIN).then(|| Finding::of(row, Level::Note, Kind::OtherLengths, text))
}
