//! The drivers of a load side by side: what one program tells of a stack and another of the same.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table};
use explain::{ReasonKind, audit_trial};
use record::{Distribution, Driver, Trial, TrialResult};
use stats::LogRatios;

use super::rows::{Cell, Rows, TableName};
use crate::figure::{NONE, figure, interval, micros_bare, name, per_s, percent, plain_line};

const HEADER: [&str; 9] = [
    "stack",
    "driver",
    "goodput",
    "to ours",
    "service\np50",
    "service\np99",
    "p99\nto ours",
    "client\nus/req",
    "of what the\ndriver can",
];
/// The columns that are numbers; behind them stands what speaks against the driver.
const NUMBERS: std::ops::Range<usize> = 2..9;

/// A table of the round and load of `last`, the last of the tables that are of them; nothing where one driver made all.
pub(super) fn side_by_side(trials: &[Trial], all: &[TableName<'_>], last: TableName<'_>) -> String {
    let of_load = all.iter().filter(|it| (it.round, it.load) == (last.round, last.load));
    let by_driver: Vec<(Driver, Rows<'_>)> =
        of_load.map(|name| (name.driver, Rows::of(trials, *name))).collect();
    let mut stacks: Vec<&str> =
        by_driver.iter().flat_map(|(_, rows)| rows.cells.iter().map(|it| it.stack)).collect();
    stacks.sort_unstable();
    stacks.dedup();
    if by_driver.len() < 2 || stacks.is_empty() {
        return String::new();
    }
    let mut table = Table::new();
    let header = HEADER.into_iter().chain(["against\nthe driver"]);
    table.load_style(comfy_table::presets::NOTHING).set_header(header);
    for stack in stacks {
        let cells: Vec<(Driver, &Cell<'_>)> = by_driver
            .iter()
            .filter_map(|(driver, rows)| Some((*driver, rows.cells.iter().find(|it| it.stack == stack)?)))
            .collect();
        let ours = cells.iter().find(|(driver, _)| driver.is_own()).map(|(_, cell)| *cell);
        for (driver, cell) in &cells {
            table.add_row(row(*driver, cell, ours));
        }
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        if NUMBERS.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut text = format!(
        "\nThe drivers side by side: {}\n{}\n",
        TableName { driver: Driver::Proofload, ..last }.heading(),
        table.trim_fmt()
    );
    for (driver, rows) in &by_driver {
        if let Some(ceiling) = rows.ceiling_per_s {
            // Writing into a String cannot fail.
            let _ = writeln!(
                text,
                "control: {} reaches {} of the calibration target{}",
                driver.name(),
                per_s(ceiling),
                rows.control_words()
            );
        }
    }
    text
}

fn row(driver: Driver, cell: &Cell<'_>, ours: Option<&Cell<'_>>) -> Vec<String> {
    let service = cell.service_times();
    let ours = ours.filter(|_| !driver.is_own());
    vec![
        if driver.is_own() { name(cell.stack) } else { String::new() },
        driver.name().to_owned(),
        per_s(cell.goodput.median),
        ours.map_or_else(|| NONE.into(), |ours| goodput_ratio(cell, ours)),
        figure(&service, "p50"),
        figure(&service, "p99"),
        ours.and_then(|ours| p99_ratio(&service, &ours.service_times())).unwrap_or_else(|| NONE.into()),
        micros_bare(cell.client_us_per_request()),
        cell.ceiling_per_s
            .filter(|it| *it > 0.0)
            .map_or_else(|| NONE.into(), |ceiling| percent(cell.goodput.median / ceiling)),
        against(cell),
    ]
}

/// By what is in the same blocks; with an interval where there are blocks enough for one.
fn goodput_ratio(cell: &Cell<'_>, ours: &Cell<'_>) -> String {
    let Some(ratio) = LogRatios::of(&cell.by_block, &ours.by_block).ratio() else { return NONE.into() };
    format!("× {:.2}{}", ratio.value, interval(ratio.low, ratio.high, |it| format!("{it:.2}")))
}

/// Of the medians; none where either is only a lower bound.
fn p99_ratio(times: &Distribution, ours: &Distribution) -> Option<String> {
    let whole = |times: &Distribution| match times.told("p99") {
        Some((us, false)) if us > 0.0 => Some(us),
        _ => None,
    };
    Some(format!("× {:.2}", whole(times)? / whole(ours)?))
}

/// What of a driver's audits says that it was the limit, or that its figures are not those of its requests.
fn against(cell: &Cell<'_>) -> String {
    let is_of_times = |kind: &ReasonKind| matches!(kind, ReasonKind::LittlesLaw | ReasonKind::TooShort);
    let is_its_own = |kind: &ReasonKind| kind.is_clients_doing() || is_of_times(kind);
    let reasons = cell.trials().iter().flat_map(|trial| audit_trial(trial, cell.ceiling_per_s).reasons);
    let mut kinds: Vec<ReasonKind> = reasons.map(|reason| reason.kind).filter(is_its_own).collect();
    kinds.sort_unstable();
    kinds.dedup();
    if kinds.is_empty() {
        return "nothing".into();
    }
    let law = cell.typical().load.littles_law;
    let told = |kind: ReasonKind| match (kind, law) {
        (ReasonKind::LittlesLaw, Some(law)) => {
            let under_way = law.throughput_per_s * law.mean_response_s / law.users;
            format!("{} (X·R = {} of N)", kind.name(), percent(under_way))
        }
        _ => kind.name().to_owned(),
    };
    kinds.into_iter().map(told).collect::<Vec<_>>().join(",\n")
}

/// What each driver but our own can't know, where there is one.
pub(super) fn legend(trials: &[Trial]) -> String {
    let mut told: Vec<(&str, &str, &[String])> = Vec::new();
    for trial in trials {
        let TrialResult::Measured(measured) = &trial.result else { continue };
        let Some(driver) = &measured.load.driver else { continue };
        if told.iter().all(|(name, ..)| *name != driver.name) {
            told.push((&driver.name, &driver.version, &driver.cannot_know));
        }
    }
    told.sort_unstable();
    let mut text = String::new();
    if told.is_empty() {
        return text;
    }
    text.push_str(
        "Rows of two drivers are never ranked against each other. Service times, by each driver's own clock,\nare what all \
         of them tell; × is over what our own engine measured in the same blocks. docs/drivers.md\nsays how to read it.\n",
    );
    for (name, version, cannot_know) in told {
        // Writing into a String cannot fail.
        let _ = writeln!(text, "{} ({}) can't know:", plain_line(name), plain_line(version));
        for what in cannot_know {
            let _ = writeln!(text, "  - {}", plain_line(what));
        }
    }
    text
}
