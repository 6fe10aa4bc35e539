//! Two recorded runs side by side, for a person.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table};
use explain::{Bounded, CellChange, ChangeVerdict, RunDifference, RunSide, RunsCompared, WithinRuns};
use record::RankedBy;

use crate::figure::{
    NONE, by_driver, interval, micros_bare, name, p_value, p_words, per_s, percent_of_share, plain_line,
    signed_percent, time_us,
};

/// Differences that are shown; the rest is counted. JSON has all of them.
const DIFFERENCES_MAX: usize = 40;
/// The columns that are numbers.
const NUMBERS: std::ops::Range<usize> = 1..7;

/// What two runs differ in, what changed in each cell, and what is to be known to read it.
pub fn compare_text(compared: &RunsCompared) -> String {
    let mut text = format!("A  {}\nB  {}\n", side(&compared.a), side(&compared.b));
    differences(&mut text, &compared.differences);
    if !compared.controls.is_empty() {
        text.push_str("\nThe client alone (controls), whose change is the machine's:\n");
    }
    for it in &compared.controls {
        let ([a, b], off) = (it.goodput_per_s.map(per_s), signed_percent((it.ratio - 1.0) * 100.0, 1));
        // Writing into a String cannot fail.
        let by = by_driver(it.driver);
        let (round, load) = (plain_line(&it.round), plain_line(&it.load));
        let _ = writeln!(text, "  {round}, {load}{by}: {a} → {b}, {off} %");
    }
    let mut heading = None;
    let mut rows: Vec<&CellChange> = Vec::new();
    for cell in &compared.cells {
        let own = (&cell.round, &cell.load, cell.driver);
        if heading != Some(own) {
            table(&mut text, &rows);
            rows.clear();
            let _ = writeln!(text, "\n{}, {}{}", plain_line(own.0), plain_line(own.1), by_driver(own.2));
            heading = Some(own);
        }
        rows.push(cell);
    }
    table(&mut text, &rows);
    for (run, cells) in [("A", &compared.only_in_a), ("B", &compared.only_in_b)] {
        if !cells.is_empty() {
            let cells: Vec<String> = cells.iter().map(|it| plain_line(it)).collect();
            let _ = writeln!(text, "\nOnly in {run}: {}", cells.join("; "));
        }
    }
    text.push('\n');
    text.push_str(&conclusion(compared));
    text
}

fn side(run: &RunSide) -> String {
    format!(
        "{}: {}, {}, {} of {} trials",
        plain_line(&run.dir),
        plain_line(&run.title),
        plain_line(&run.started),
        run.trials,
        run.planned
    )
}

fn differences(text: &mut String, differences: &[RunDifference]) {
    if differences.is_empty() {
        text.push_str(
            "\nBoth are of the same: no difference in version, machine, stacks, tools, experiment or load.\n",
        );
        return;
    }
    text.push_str("\nNot the same in both:\n");
    for it in differences.iter().take(DIFFERENCES_MAX) {
        let (what, a, b) = (plain_line(&it.what), plain_line(&it.a), plain_line(&it.b));
        let _ = writeln!(text, "  {what}: {a} → {b}");
    }
    if let Some(more) = differences.len().checked_sub(DIFFERENCES_MAX).filter(|more| *more > 0) {
        let _ = writeln!(text, "  and {more} more (--json has all)");
    }
}

fn table(text: &mut String, cells: &[&CellChange]) {
    if cells.is_empty() {
        return;
    }
    let of_times = cells.iter().any(|cell| cell.ranked_by == RankedBy::ResponseP99);
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_header([
        "stack",
        "goodput\nA",
        "B",
        if of_times { "p99 B / A, 95 % interval" } else { "B / A, 95 % interval" },
        "p",
        "p99\nA → B",
        "server us/req\nA → B",
        "trials",
        "",
    ]);
    for cell in cells {
        table.add_row(row(cell));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        if NUMBERS.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let _ = writeln!(text, "{}", table.trim_fmt());
    // A table has one pair of twins.
    if let Some(cell) = cells.first() {
        let _ = writeln!(text, "  ({})", least_words(cell));
    }
    for cell in cells {
        if let Some(why) = &cell.why {
            let _ = writeln!(text, "  ({}: could not tell: {})", name(&cell.stack), plain_line(why));
        }
        if let Some(within) = &cell.within {
            let _ = writeln!(text, "  ({}: {})", name(&cell.stack), within_words(within));
        }
        if !cell.worse_by.is_empty() {
            let by: Vec<&str> = cell.worse_by.iter().map(|it| it.name()).collect();
            let _ = writeln!(text, "  ({}: worse: {})", name(&cell.stack), by.join("; "));
        }
        if let Some(failures) = failures(cell) {
            let _ = writeln!(text, "  ({}: {failures})", name(&cell.stack));
        }
        for note in &cell.notes {
            let _ = writeln!(text, "  ({}: {})", name(&cell.stack), plain_line(note));
        }
    }
}

/// What is nearer than what counts for no change, and who says so.
fn least_words(cell: &CellChange) -> String {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let off = |ratio: f64| percent(ratio.max(1.0 / ratio) - 1.0);
    let apart = match cell.twins {
        [None, None] => "without a twin in either run".to_owned(),
        [Some(a), None] => format!("a stack and its twin were {} apart in A, and B has none", off(a)),
        [None, Some(b)] => format!("a stack and its twin were {} apart in B, and A has none", off(b)),
        [Some(a), Some(b)] => format!("a stack and its twin were {} apart in A and {} in B", off(a), off(b)),
    };
    let fixed = if cell.least_effect > stats::LEAST_EFFECT { "" } else { "the fixed " };
    format!("{apart}: nothing nearer than {fixed}{} is a change", percent(cell.least_effect))
}

/// How a cell stands beside what was measured with it.
fn within_words(within: &WithinRuns) -> String {
    let off = |ratio: f64| signed_percent((ratio - 1.0) * 100.0, 1);
    let ends = interval(within.low, within.high, off);
    let [a, b] = within.share.map(|share| format!("{share:.3}"));
    let (beside, change) = (plain_line(&within.beside), off(within.ratio));
    format!("within each run {a} → {b} of what {beside} carries, {change}{ends} %; shown and not judged")
}

fn row(cell: &CellChange) -> Vec<String> {
    let off = |ratio: f64| signed_percent((ratio - 1.0) * 100.0, 1);
    let change = match cell.ratio {
        Some(ratio) => format!("{}{} %", off(ratio), interval(cell.low, cell.high, off)),
        None => NONE.into(),
    };
    let [a, b] = cell.goodput_per_s.map(|it| it.map_or_else(|| NONE.into(), per_s));
    let [p99_a, p99_b] = cell.response_p99_us.map(bounded);
    let [cpu_a, cpu_b] = cell.cpu_us_per_request.map(micros_bare);
    let [trials_a, trials_b] = cell.trials;
    // Beside other conditions no chance tells anything of the stack.
    let is_tested =
        cell.ratio.is_some() && cell.verdict != ChangeVerdict::TooFew && cell.conditions.is_empty();
    let p = if is_tested { p_value(cell.p) } else { NONE.into() };
    vec![
        name(&cell.stack),
        a,
        b,
        change,
        p,
        format!("{p99_a} → {p99_b}"),
        format!("{cpu_a} → {cpu_b}"),
        format!("{trials_a}, {trials_b}"),
        cell.verdict.name().to_owned(),
    ]
}

/// How many trials and requests failed, where any did.
fn failures(cell: &CellChange) -> Option<String> {
    let ([failed_a, failed_b], [all_a, all_b]) = (cell.failed_trials, cell.trials);
    let trials = cell
        .failed_trials_p
        .map(|it| format!("failed trials {failed_a} of {all_a} → {failed_b} of {all_b} ({})", p_words(it)));
    let requests = cell.failed_share_p.map(|it| {
        let shown = |share: Option<f64>| share.map_or_else(|| NONE.into(), |it| percent_of_share(it, 2));
        let [a, b] = cell.failed_share.map(shown);
        format!("failed requests {a} → {b} ({})", p_words(it))
    });
    let all: Vec<String> = trials.into_iter().chain(requests).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

fn bounded(figure: Option<Bounded>) -> String {
    match figure {
        Some(it) if it.is_lower_bound => format!(">{}", time_us(it.value)),
        Some(it) => time_us(it.value),
        None => NONE.into(),
    }
}

fn conclusion(compared: &RunsCompared) -> String {
    let count = |verdict| compared.count(verdict);
    let few = count(ChangeVerdict::TooFew);
    let mut text = format!(
        "{} cells: {} worse, {} within what is allowed, {} better, {} without a change, {} that could not be told, {few} \
         with too few trials.\n",
        compared.cells.len(),
        count(ChangeVerdict::Worse),
        count(ChangeVerdict::AllowedLoss),
        count(ChangeVerdict::Better),
        count(ChangeVerdict::Unchanged),
        count(ChangeVerdict::CouldNotTell),
    );
    let _ = writeln!(
        text,
        "By the rank-sum test of goodput (at a rate, of the p99) and of the share of failed requests and Fisher's test of \
         failed\ntrials, at 5 %, with Holm's method over all of them; a loss of {:.1} % is allowed, and 0.1 % more of the \
         requests may fail.\nThat no more was lost is said by an interval, and not by a test that shows nothing. The blocks \
         of two runs are not paired:\nwhatever else changed on the machine between them is in it.",
        // What is nearer is no change, and so no loss.
        compared.threshold.max(stats::LEAST_EFFECT) * 100.0
    );
    let open = compared.open_rises();
    if open > 0 {
        let cells = if open == 1 { "1 cell".to_owned() } else { format!("{open} cells") };
        let _ = writeln!(
            text,
            "Could not tell: of {cells} more trials failed than before, and so few can't show whether that is chance; to \
             decide it\nmake runs of more blocks."
        );
    }
    if few > open && few == compared.cells.len() {
        text.push_str(
            "Nothing could be told: one cell takes 4 trials in each run, more cells take more. This is not \"no change\".\n",
        );
    }
    text
}
