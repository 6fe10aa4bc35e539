//! The rankings as one table for spreadsheets.

use record::Driver;

use crate::page::model::{Invalid, Page, Row, Table, TimeUs};

const HEADER: [&str; 28] = [
    "round",
    "load",
    "driver",
    "stack",
    "rank_from",
    "rank_to",
    "letters",
    "tested",
    "trials",
    "failed_trials",
    "goodput_per_s",
    "goodput_lowest_per_s",
    "goodput_highest_per_s",
    "to_best",
    "to_best_low",
    "to_best_high",
    "times_are",
    "p50_us",
    "p50_is_lower_bound",
    "p99_us",
    "p99_is_lower_bound",
    "p99_9_us",
    "p99_9_is_lower_bound",
    "server_us_per_request",
    "client_us_per_request",
    "limit",
    "doubts",
    "invalid",
];

/// A line a row of each ranking, in their order. What is not known is empty.
///
/// # Panics
/// Never: memory takes what is written.
pub fn csv(page: &Page) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(HEADER).expect("memory takes it");
    for table in &page.tables {
        for row in &table.rows {
            writer.write_record(line(table, row)).expect("every line has as many fields");
        }
    }
    let bytes = writer.into_inner().expect("memory takes it");
    String::from_utf8(bytes).expect("it was written from text")
}

fn line(table: &Table, row: &Row) -> [String; 28] {
    let known = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let us = |time: Option<TimeUs>| known(time.map(|it| it.us));
    let bound = |time: Option<TimeUs>| time.map_or_else(String::new, |it| it.is_lower_bound.to_string());
    let doubts: Vec<&str> = row.doubts.iter().map(|it| it.name.as_str()).collect();
    let to_best = row.to_best;
    [
        text(&table.round),
        text(&table.load.to_string()),
        Driver::name(table.driver).to_owned(),
        text(&row.stack),
        row.rank_from.to_string(),
        row.rank_to.to_string(),
        row.letters.clone(),
        table.tested.to_string(),
        row.trials.to_string(),
        row.failed.to_string(),
        row.goodput_per_s.value.to_string(),
        known(row.goodput_per_s.low),
        known(row.goodput_per_s.high),
        known(to_best.map(|it| it.value)),
        known(to_best.and_then(|it| it.low)),
        known(to_best.and_then(|it| it.high)),
        (if row.service_times { "service" } else { "response" }).to_owned(),
        us(row.p50),
        bound(row.p50),
        us(row.p99),
        bound(row.p99),
        us(row.p99_9),
        bound(row.p99_9),
        known(row.server_us_per_request),
        known(row.client_us_per_request),
        text(&row.limit),
        text(&doubts.join("; ")),
        (match row.invalid {
            Invalid::None => "no",
            Invalid::Times => "times",
            Invalid::All => "all",
        })
        .to_owned(),
    ]
}

/// A text that no spreadsheet takes for a formula: such begin with one of a few characters, and get an apostrophe.
fn text(given: &str) -> String {
    let is_formula = given.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if is_formula { format!("'{given}") } else { given.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_formula() {
        assert_eq!(text("=HYPERLINK(\"x\")"), "'=HYPERLINK(\"x\")");
        assert_eq!(text("gin@quiet"), "gin@quiet");
    }
}
