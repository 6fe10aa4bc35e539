//! An experiment's ranking, for a person.

use std::collections::BTreeMap;
use std::fmt::Write;

use comfy_table::{CellAlignment, Table};
use explain::{audit, limit};
use record::{Manifest, Measured, Trial, TrialResult};
use stats::{Spread, rank_with_ties};

use crate::figure::{figure, micros, per_s};

/// Blocks below which ranges and ranks claim little.
const BLOCKS_TO_CLAIM: u32 = 6;

/// A run as read from its directory.
#[derive(Debug)]
pub struct RunReport<'a> {
    /// What it was.
    pub manifest: &'a Manifest,
    /// What was measured.
    pub trials: &'a [Trial],
    /// Where it lies, as the user would name it.
    pub dir: &'a str,
}

/// All measured trials of one cell.
struct Cell<'a> {
    stack: &'a str,
    trials: Vec<&'a Measured>,
    goodput: Spread,
}

impl Cell<'_> {
    /// The trial whose goodput is closest to the cell's median: its latencies stand for the cell's.
    fn typical(&self) -> &Measured {
        let off = |trial: &&&Measured| (trial.load.goodput_per_s - self.goodput.median).abs();
        self.trials.iter().min_by(|a, b| off(a).total_cmp(&off(b))).expect("a cell has trials")
    }

    fn failures(&self) -> String {
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        let mut intended = 0;
        for trial in &self.trials {
            intended += trial.load.intended;
            for (name, count) in trial.load.outcomes.failures() {
                *sums.entry(name).or_default() += count;
            }
            let unexpected = trial.load.outcomes.answered - trial.load.answered_as_expected;
            *sums.entry("unexpected").or_default() += unexpected;
        }
        sums.retain(|_, count| *count > 0);
        if sums.is_empty() {
            return "0".into();
        }
        let share = |count: u64| format!("{:.1} %", count as f64 / intended.max(1) as f64 * 100.0);
        let list: Vec<String> = sums
            .iter()
            .map(|(name, count)| format!("{} {}", name.replace('_', " "), share(*count)))
            .collect();
        list.join(", ")
    }

    /// Why the figures are not simply the server's, if any trial's audit says so.
    fn doubts(&self) -> Vec<&'static str> {
        let mut kinds: Vec<_> = self
            .trials
            .iter()
            .flat_map(|trial| audit(&trial.load).reasons)
            .map(|reason| reason.kind)
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.into_iter().map(explain::ReasonKind::name).collect()
    }
}

/// The ranking of every round, and what is to be known to read it.
pub fn ranking_text(run: &RunReport<'_>) -> String {
    let mut text = format!("{}\n", run.manifest.title);
    for (round, load) in tables(run.trials) {
        let cells = cells(run.trials, round, load);
        // Writing into a String cannot fail.
        let _ = writeln!(text, "\n{round}, {load}\n{}", table(&cells, run.manifest.machine.cores));
    }
    text.push_str(&notes(run));
    text
}

/// Rounds and loads in the order in which the trials name them first.
fn tables(trials: &[Trial]) -> Vec<(&str, &str)> {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for trial in trials {
        // A stack that takes one request a connection runs the same load on fresh connections.
        let key = (trial.round.as_str(), base_load(&trial.load));
        if !seen.contains(&key) {
            seen.push(key);
        }
    }
    seen.sort_unstable();
    seen
}

fn base_load(label: &str) -> &str {
    label.trim_end_matches(", fresh")
}

fn cells<'a>(trials: &'a [Trial], round: &str, load: &str) -> Vec<Cell<'a>> {
    let mut by_stack: BTreeMap<&str, Vec<&Measured>> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| trial.round == round && base_load(&trial.load) == load) {
        if let TrialResult::Measured(measured) = &trial.result {
            by_stack.entry(&trial.stack).or_default().push(measured);
        }
    }
    by_stack
        .into_iter()
        .filter_map(|(stack, trials)| {
            let goodputs: Vec<f64> = trials.iter().map(|trial| trial.load.goodput_per_s).collect();
            Some(Cell { stack, goodput: Spread::of(&goodputs)?, trials })
        })
        .collect()
}

const HEADER: [&str; 11] = [
    "#",
    "stack",
    "goodput",
    "range",
    "p50",
    "p99",
    "p99.9",
    "server CPU/req",
    "client CPU/req",
    "errors",
    "limit; doubts in ()",
];

fn table(cells: &[Cell<'_>], cores: usize) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_header(HEADER);
    let spreads: Vec<Spread> = cells.iter().map(|cell| cell.goodput).collect();
    let ranked = rank_with_ties(&spreads);
    for (index, rank) in &ranked {
        let tied = ranked.iter().filter(|(_, other)| other == rank).count() > 1;
        let rank = format!("{rank}{}", if tied { "=" } else { "" });
        table.add_row(row(&cells[*index], rank, cores));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        if (2..=8).contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

fn row(cell: &Cell<'_>, rank: String, cores: usize) -> Vec<String> {
    let typical = cell.typical();
    let response = &typical.load.response_time_us;
    let spread = cell.goodput;
    let off = |value: f64| {
        if spread.median > 0.0 { (value / spread.median - 1.0) * 100.0 } else { 0.0 }
    };
    let doubts = cell.doubts();
    let verdict = limit(typical, cores).phrase;
    vec![
        rank,
        cell.stack.to_owned(),
        per_s(spread.median),
        format!("{:+.1}…{:+.1} %", off(spread.low), off(spread.high)),
        figure(response, "p50"),
        figure(response, "p99"),
        figure(response, "p99_9"),
        micros(typical.server.cpu_us_per_request),
        micros(typical.load.cpu_us_per_request),
        cell.failures(),
        if doubts.is_empty() { verdict } else { format!("{verdict} ({})", doubts.join(", ")) },
    ]
}

fn notes(run: &RunReport<'_>) -> String {
    let manifest = run.manifest;
    let mut text = String::new();
    let failed: BTreeMap<&str, &str> = run
        .trials
        .iter()
        .filter_map(|trial| match &trial.result {
            TrialResult::Failed { error } => Some((trial.stack.as_str(), error.as_str())),
            TrialResult::Measured(_) => None,
        })
        .collect();
    for (stack, error) in failed {
        let _ = writeln!(text, "\nfailed: {stack}: {error}");
    }
    for (stack, why) in &manifest.left_out {
        let _ = writeln!(text, "\nleft out: {stack}: {why}");
    }
    let measured = run.trials.len();
    if measured < manifest.trials as usize {
        let _ = writeln!(text, "\n{measured} of {} planned trials were made.", manifest.trials);
    }
    let blocks = manifest.blocks;
    text.push_str(
        "\nResponse time is from the instant a request was due; times of the trial nearest the median.\n",
    );
    if blocks < BLOCKS_TO_CLAIM {
        let _ = writeln!(
            text,
            "{blocks} blocks: ranges span all trials and are no confidence intervals; cells share a rank (=) where \
             their ranges overlap. Short warm-ups leave JVM stacks compiling."
        );
    }
    let _ = writeln!(text, "Full record: {}", run.dir);
    text
}

/// One finished trial in a line.
#[derive(Debug)]
pub struct TrialLine<'a>(pub &'a Trial);

impl std::fmt::Display for TrialLine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0.result {
            TrialResult::Measured(measured) => {
                let load = &measured.load;
                write!(
                    f,
                    "{}, p99 {}, {}",
                    per_s(load.goodput_per_s),
                    figure(&load.response_time_us, "p99"),
                    audit(load).verdict
                )
            }
            TrialResult::Failed { error } => write!(f, "failed: {error}"),
        }
    }
}
