//! An experiment's ranking, for a person.

mod order;

use std::collections::BTreeMap;
use std::fmt::Write;

use comfy_table::{CellAlignment, Table};
use explain::{audit, limit};
use record::{Manifest, Measured, Trial, TrialResult};
use stats::Spread;
use units::Seed;

use self::order::Order;
use crate::figure::{figure, heading, indented, micros_bare, name, per_s, plain_line, share};

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
    /// Trials that failed.
    failed: usize,
    goodput: Spread,
    /// Of each block, where it was measured in it.
    by_block: Vec<Option<f64>>,
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
            let unexpected = trial.load.outcomes.answered.saturating_sub(trial.load.answered_as_expected);
            *sums.entry("unexpected").or_default() += unexpected;
        }
        sums.retain(|_, count| *count > 0);
        if sums.is_empty() {
            return "0".into();
        }
        let list: Vec<String> = sums
            .iter()
            .map(|(name, count)| format!("{} {}", name.replace('_', " "), share(*count, intended)))
            .collect();
        list.join(",\n")
    }

    /// Why the figures are not simply the server's, if any trial's audit says so.
    fn doubts(&self) -> Vec<String> {
        let mut kinds: Vec<_> = self
            .trials
            .iter()
            .flat_map(|trial| audit(&trial.load).reasons)
            .map(|reason| reason.kind)
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        let mut doubts: Vec<String> = kinds.into_iter().map(|kind| kind.name().to_owned()).collect();
        if self.failed > 0 {
            doubts.insert(0, format!("{} of {} trials failed", self.failed, self.failed + self.trials.len()));
        }
        doubts
    }
}

/// What a stack's trials of one cell came to, as they are read.
#[derive(Default)]
struct Trials<'a> {
    measured: Vec<&'a Measured>,
    failed: usize,
    by_block: Vec<Option<f64>>,
}

/// The ranking of every round, and what is to be known to read it.
pub fn ranking_text(run: &RunReport<'_>) -> String {
    let mut text = format!("{}\n", plain_line(&run.manifest.title));
    let mut orders = Vec::new();
    for (round, load) in tables(run.trials) {
        let cells = cells(run.trials, round, load);
        let body = if cells.is_empty() {
            "Nothing was measured here.".into()
        } else {
            let by_block: Vec<Vec<Option<f64>>> = cells.iter().map(|cell| cell.by_block.clone()).collect();
            orders.push(Order::of(&by_block, Seed(run.manifest.seed)));
            table(&cells, orders.last().expect("just pushed"), run.manifest.machine.cores)
        };
        // Writing into a String cannot fail.
        let _ = writeln!(text, "\n{}, {}\n{body}", heading(round), heading(load));
    }
    if run.trials.is_empty() {
        text.push_str("\nNothing was measured: no trial was finished.\n");
    }
    text.push_str(&notes(run, &orders));
    text
}

/// Rounds in the order in which the trials name them first, which is that of the experiment, and the loads
/// of each from small to large: the trials name those in random order.
fn tables(trials: &[Trial]) -> Vec<(&str, &str)> {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for trial in trials {
        // A stack that takes one request a connection runs the same load on fresh connections.
        let key = (trial.round.as_str(), base_load(&trial.load));
        if !seen.contains(&key) {
            seen.push(key);
        }
    }
    let rounds: Vec<&str> = seen.iter().map(|(round, _)| *round).collect();
    let place = |round: &str| rounds.iter().position(|it| *it == round);
    seen.sort_by(|a, b| {
        let sizes = size(a.1).total_cmp(&size(b.1));
        place(a.0).cmp(&place(b.0)).then(sizes).then_with(|| a.1.cmp(b.1))
    });
    seen
}

/// The number that a load's label begins with: connections, or the rate.
fn size(label: &str) -> f64 {
    let end = label.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(label.len());
    label[..end].parse().unwrap_or(f64::INFINITY)
}

fn base_load(label: &str) -> &str {
    label.trim_end_matches(", fresh")
}

fn cells<'a>(trials: &'a [Trial], round: &str, load: &str) -> Vec<Cell<'a>> {
    let blocks = trials.iter().map(|trial| trial.block as usize + 1).max().unwrap_or(0);
    let mut by_stack: BTreeMap<&str, Trials<'_>> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| trial.round == round && base_load(&trial.load) == load) {
        let of_stack = by_stack.entry(&trial.stack).or_default();
        of_stack.by_block.resize(blocks, None);
        match &trial.result {
            TrialResult::Measured(measured) => {
                of_stack.measured.push(measured);
                of_stack.by_block[trial.block as usize] = Some(measured.load.goodput_per_s);
            }
            TrialResult::Failed { .. } => of_stack.failed += 1,
        }
    }
    by_stack
        .into_iter()
        .filter_map(|(stack, Trials { measured, failed, by_block })| {
            let goodputs: Vec<f64> = measured.iter().map(|trial| trial.load.goodput_per_s).collect();
            Some(Cell { stack, goodput: Spread::of(&goodputs)?, trials: measured, failed, by_block })
        })
        .collect()
}

const fn header(range: &str) -> [&str; 11] {
    [
        "#",
        "stack",
        "goodput",
        range,
        "p50",
        "p99",
        "p99.9",
        "server\nus/req",
        "client\nus/req",
        "errors",
        "limit (doubts)",
    ]
}
/// The columns that are numbers.
const NUMBERS: std::ops::Range<usize> = 2..9;

fn table(cells: &[Cell<'_>], order: &Order, cores: usize) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_header(header(order.range_title()));
    for place in order.places() {
        table.add_row(row(&cells[place.index], place.rank, place.range, cores));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        if NUMBERS.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

fn row(cell: &Cell<'_>, rank: String, range: String, cores: usize) -> Vec<String> {
    let typical = cell.typical();
    let response = &typical.load.response_time_us;
    // One a line: a table must fit a terminal, and the first of them says most.
    let mut limit_and_doubts = plain_line(&limit(typical, cores).phrase);
    cell.doubts().iter().for_each(|doubt| limit_and_doubts.extend(["\n(", doubt, ")"]));
    vec![
        rank,
        name(cell.stack),
        per_s(cell.goodput.median),
        range,
        figure(response, "p50"),
        figure(response, "p99"),
        figure(response, "p99_9"),
        micros_bare(typical.server.cpu_us_per_request),
        micros_bare(typical.load.cpu_us_per_request),
        cell.failures(),
        limit_and_doubts,
    ]
}

fn notes(run: &RunReport<'_>, orders: &[Order]) -> String {
    let manifest = run.manifest;
    let mut text = String::new();
    let mut measured = 0;
    for trial in run.trials {
        let TrialResult::Failed { error } = &trial.result else {
            measured += 1;
            continue;
        };
        let (stack, round, block) = (name(&trial.stack), name(&trial.round), u64::from(trial.block) + 1);
        let _ = writeln!(text, "\nfailed: {stack}, in {round}, block {block}: {}", indented(error));
    }
    for (stack, why) in &manifest.left_out {
        let _ = writeln!(text, "\nleft out: {}: {}", name(stack), indented(why));
    }
    let unseen = manifest.stacks.keys().filter(|stack| run.trials.iter().all(|trial| trial.stack != **stack));
    let unseen: Vec<String> = unseen.map(|stack| name(stack)).collect();
    if !run.trials.is_empty() && !unseen.is_empty() {
        let _ = writeln!(text, "\nnot reached: {}", unseen.join(", "));
    }
    if run.trials.len() < manifest.trials as usize {
        let _ = writeln!(text, "\n{} of {} planned trials were made.", run.trials.len(), manifest.trials);
    }
    text.push('\n');
    if measured > 0 {
        text.push_str(&legend(manifest.blocks, orders));
        if manifest.quick {
            text.push_str(
                "A quick look: short loads, and JVMs hardly warm. It shows a shape and supports no claim.\n",
            );
        }
    }
    let _ = writeln!(text, "Full record: {}", plain_line(run.dir));
    text
}

/// What is to be known to read the tables.
fn legend(blocks: u32, orders: &[Order]) -> String {
    let mut text = String::from(
        "Response time (p50 to p99.9) is from the instant a request was due; us/req is CPU time a request. Both are \
         those\nof the trial nearest the median. Closed-model times leave out whoever would have asked during a stall.\n",
    );
    let plural = if blocks == 1 { "" } else { "s" };
    if orders.iter().any(|order| matches!(order, Order::Ranges(_))) {
        let _ = writeln!(
            text,
            "{blocks} block{plural}, too few to test: ranges span all trials and are no confidence intervals; rows \
             share a rank (=)\nwhere their ranges overlap. Short warm-ups leave JVM stacks compiling."
        );
    }
    let least = orders.iter().filter_map(|order| match order {
        Order::Tests(comparison) => Some(comparison.least_effect),
        Order::Ranges(_) => None,
    });
    if let Some(least) = least.max_by(f64::total_cmp) {
        let _ = writeln!(
            text,
            "{blocks} block{plural}. Rows that share a letter can't be told apart; # is the range of ranks that \
             leaves. By the exact sign-flip\ntest within blocks at 5 %, Holm's method over all pairs, and nothing \
             nearer than {:.1} % (`proofload error-rates`).",
            least * 100.0
        );
    }
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
            TrialResult::Failed { error } => write!(f, "failed: {}", indented(error)),
        }
    }
}
