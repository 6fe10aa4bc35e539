//! What stacks can carry, for a person.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table};
use explain::{Capacity, CapacityDoubt, CapacityFigure, ExplainedBy, LawFigures, PoolFigures, PoolKnee};

use crate::figure::{NONE, by_driver, heading, name, per_s, plain_line, time_us};

/// The columns that are numbers.
const NUMBERS: std::ops::Range<usize> = 2..8;
const HEADER: [&str; 10] = [
    "stack",
    "connections\n(trials)",
    "rate of one\nλ",
    "contention\nσ",
    "coherency\nκ",
    "bends at\nN*",
    "peak",
    "off by",
    "explained by",
    "trust",
];
/// The second column where connections carry several requests at a time.
const REQUESTS_AT_A_TIME: &str = "requests\nat a time\n(trials)";
const LEGEND: &str = "\
X(N) = λN / (1 + σ(N − 1) + κN(N − 1)), Gunther's Universal Scalability Law, or X(N) = min(N, K) / S, a pool of K that \
takes S\na request; both by relative errors. Ranges are 95 % intervals by resampling blocks. Which of the two explains a \
stack is told where\nthe evidence is 20 to 1. docs/statistics.md says what is fitted, and when not to trust it.\n";

/// A table of each round, and what is to be known to read it.
pub fn capacity_text(all: &[Capacity]) -> String {
    if all.is_empty() {
        return "No stack was measured at a number of connections in the closed model without think time.\n"
            .into();
    }
    let mut text = String::new();
    for round in all.chunk_by(|a, b| (&a.round, a.driver) == (&b.round, b.driver)) {
        // Writing into a String cannot fail.
        let _ =
            writeln!(text, "{}{}\n{}", heading(&round[0].round), by_driver(round[0].driver), table(round));
        for capacity in round {
            for line in beside(capacity) {
                let _ = writeln!(text, "  ({}: {})", name(&capacity.stack), plain_line(&line));
            }
        }
        text.push('\n');
    }
    text.push_str(LEGEND);
    text
}

fn table(round: &[Capacity]) -> String {
    let mut header = HEADER;
    if round.iter().any(|it| it.is_multiplexed) {
        header[1] = REQUESTS_AT_A_TIME;
    }
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_header(header);
    for capacity in round {
        table.add_row(row(capacity));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        if NUMBERS.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

fn row(capacity: &Capacity) -> Vec<String> {
    let figures = match (&capacity.law, &capacity.pool, capacity.explained_by) {
        (_, Some(pool), ExplainedBy::Pool) => of_pool(pool),
        (Some(law), _, explained) => of_law(law, explained),
        (None, _, _) => {
            let needed = capacity.levels_needed.unwrap_or_default();
            let trust = format!("{} of {needed} levels", capacity.levels.len());
            [NONE; 7].map(Into::into).into_iter().chain([trust]).collect()
        }
    };
    [name(&capacity.stack), levels(capacity)].into_iter().chain(figures).collect()
}

/// From the smallest to the largest level, and how many trials a level has.
fn levels(capacity: &Capacity) -> String {
    let (Some(first), Some(last)) = (capacity.levels.first(), capacity.levels.last()) else {
        return NONE.into();
    };
    let trials = |it: &explain::CapacityLevel| it.trials;
    let fewest = capacity.levels.iter().map(trials).min().unwrap_or_default();
    let most = capacity.levels.iter().map(trials).max().unwrap_or_default();
    let trials = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
    let users = if first.users == last.users {
        first.users.to_string()
    } else {
        format!("{} to {}", first.users, last.users)
    };
    format!("{users}\n({trials})")
}

fn of_law(law: &LawFigures, explained: ExplainedBy) -> Vec<String> {
    let bends_at = law.bends_at_users.map_or_else(|| "never".to_owned(), |it| ranged(it, users));
    let explained = if explained == ExplainedBy::Law { "the law" } else { "law or pool" };
    vec![
        ranged(law.lambda_per_s, per_s),
        ranged(law.sigma, coefficient),
        ranged(law.kappa, coefficient),
        bends_at,
        ranged(law.peak_per_s, per_s),
        off_by(law.residual),
        explained.into(),
        trust(&law.doubts),
    ]
}

/// A pool's λ is 1 / S, and its bend K.
fn of_pool(pool: &PoolFigures) -> Vec<String> {
    vec![
        ranged(inverse(pool.service_time_s), per_s),
        NONE.into(),
        NONE.into(),
        ranged(pool.size, users),
        ranged(pool.rate_per_s, per_s),
        off_by(pool.residual),
        "a pool".into(),
        trust(&pool.doubts),
    ]
}

fn inverse(figure: CapacityFigure) -> CapacityFigure {
    let inverse = |it: Option<f64>| it.map(f64::recip);
    CapacityFigure { value: inverse(figure.value), low: inverse(figure.high), high: inverse(figure.low) }
}

fn trust(doubts: &[CapacityDoubt]) -> String {
    if doubts.is_empty() {
        return "as measured".into();
    }
    doubts.iter().map(|it| it.kind.name()).collect::<Vec<_>>().join("\n")
}

/// A figure, and below it the ends of its interval, a line each: five such columns must fit a terminal.
fn ranged(figure: CapacityFigure, shown: impl Fn(f64) -> String) -> String {
    let value = figure.value.map_or_else(|| NONE.into(), &shown);
    match (figure.low, figure.high) {
        (Some(low), Some(high)) => format!("{value}\n{} to\n{}", shown(low), shown(high)),
        (Some(low), None) => format!("{value}\n{} or more", shown(low)),
        (None, _) => value,
    }
}

/// σ and κ: small, and far apart.
fn coefficient(value: f64) -> String {
    match value {
        v if v < 1e-12 => "0".into(),
        v if v < 0.001 => format!("{v:.2e}"),
        v => format!("{v:.4}"),
    }
}

fn users(value: f64) -> String {
    if value < 9.95 { format!("{value:.1}") } else { format!("{value:.0}") }
}

fn off_by(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// What does not go into a row: the doubts in full, the other model, and trials that were not used.
fn beside(capacity: &Capacity) -> Vec<String> {
    let doubts = match (&capacity.law, &capacity.pool, capacity.explained_by) {
        (_, Some(pool), ExplainedBy::Pool) => pool.doubts.as_slice(),
        (Some(law), _, _) => law.doubts.as_slice(),
        (None, _, _) => &[],
    };
    let pool = capacity.pool.as_ref().filter(|_| capacity.explained_by != ExplainedBy::Law);
    let is_known = capacity.explained_by == ExplainedBy::Pool;
    let pool =
        pool.map(|it| format!("{}{}", if is_known { "" } else { "if it is a pool: " }, pool_words(it)));
    let doubts = doubts.iter().map(|it| format!("{}: {}", it.kind.name(), it.text));
    pool.into_iter().chain(doubts).chain(capacity.notes.iter().cloned()).collect()
}

/// A pool in words: `K = 200 (195 to 205) with S = 100ms (99.1ms to 101ms); flat from N = 200 on`.
fn pool_words(pool: &PoolFigures) -> String {
    let time = |seconds: f64| time_us(seconds * 1e6);
    let (size, service_time) = (in_line(pool.size, users), in_line(pool.service_time_s, time));
    let bound = |it: Option<f64>| it.or(pool.size.value).map_or_else(|| NONE.into(), users);
    match pool.knee {
        PoolKnee::Seen => {
            let from = pool.size.value.map_or_else(|| NONE.into(), users);
            format!("K = {size} with S = {service_time}; flat from N = {from} on")
        }
        PoolKnee::NotReached => {
            format!("it never filled up: K is {} or more, with S = {service_time}", bound(pool.size.low))
        }
        PoolKnee::BeforeFirst => format!(
            "it was full throughout: K is {} or less, at K / S = {}",
            bound(pool.size.high),
            in_line(pool.rate_per_s, per_s)
        ),
    }
}

/// A figure with its interval in parentheses.
fn in_line(figure: CapacityFigure, shown: impl Fn(f64) -> String) -> String {
    let value = figure.value.map_or_else(|| NONE.into(), &shown);
    match (figure.low, figure.high) {
        (Some(low), Some(high)) => format!("{value} ({} to {})", shown(low), shown(high)),
        (Some(low), None) => format!("{value} ({} or more)", shown(low)),
        (None, _) => value,
    }
}
