//! What our generator told beside the truth, for a person and as JSON.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table};
use explain::{AllowedBy, CALIBRATED_PERCENTILES, CaseOutcome, CaseVerdict, Deviation, judge_case};
use record::{Calibration, CalibrationCase, CalibrationTry, Distribution, PeerResult};
use serde::Serialize;

use crate::figure::{NONE, figure_of_samples, name, percent, plain_line, time_us};

/// What `proofload calibrate --json` prints: the record, and what is to be said of each case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CalibrationReport {
    /// The record.
    #[serde(flatten)]
    pub calibration: Calibration,
    /// One for each case, in the same order.
    pub verdicts: Vec<CaseVerdict>,
}

/// How the figures came about, said below them.
const LEGEND: &str = "\
truth    from the server's own log of the same requests. Response time: from when each was due (open model), or
         from the previous answer on its connection (closed), until its answer was handed to the kernel.
         Service time: from when the server had read it.
told     what `proofload hit` tells of that load; off: told - truth
allowed  1 % of the truth or 20 us, whichever is larger, or the delay where that is larger still
delay    how late a thread woke that slept until an instant, beside the load; a service time has two such
         wake-ups in it, the server's and the generator's";
const LEGEND_TRIES: &str = "\
A case out of bounds was tried again, up to three times in all: an error of the generator repeats itself, a
busy moment of the machine does not. The last try is shown; --json has them all.";
const LEGEND_PEERS: &str = "\
Other generators ran each on a server of its own; their truth is of all their requests, and where they keep a
rate good to about a millisecond, since when their schedule began is not known. They are not judged.";

impl CalibrationReport {
    /// Judges a calibration.
    pub fn new(calibration: Calibration) -> Self {
        let verdicts = calibration.cases.iter().map(judge_case).collect();
        Self { calibration, verdicts }
    }

    /// Whether every case is in bounds, and there is one.
    pub fn all_in_bounds(&self) -> bool {
        let mut outcomes = self.verdicts.iter().map(|verdict| verdict.outcome);
        !self.verdicts.is_empty() && outcomes.all(|outcome| outcome == CaseOutcome::InBounds)
    }

    /// As indented JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report is plain data")
    }

    /// For a person.
    pub fn text(&self) -> String {
        let Calibration { proofload, machine, quick, cases, peers_missing, .. } = &self.calibration;
        let mut text = String::new();
        let few = if *quick { "; a few short cases" } else { "" };
        // Writing into a String cannot fail.
        let _ = writeln!(
            text,
            "Proofload {} against the truth, {} cores, kernel {}{few}",
            plain_line(proofload),
            machine.cores,
            plain_line(machine.kernel.as_deref().unwrap_or(NONE))
        );
        let _ = writeln!(text, "\n{}", idle_table(&self.calibration.idle_scheduling_delay_us));
        for (case, verdict) in cases.iter().zip(&self.verdicts) {
            text.push('\n');
            text.push_str(&case_text(case, verdict));
        }
        let _ = writeln!(text, "\n{LEGEND}");
        if cases.iter().any(|case| case.tries.len() > 1) {
            let _ = writeln!(text, "{LEGEND_TRIES}");
        }
        if cases.iter().any(|case| !case.peers.is_empty()) {
            let _ = writeln!(text, "{LEGEND_PEERS}");
        }
        for missing in peers_missing {
            let (peer, install) = (name(&missing.name), plain_line(&missing.install));
            let _ = writeln!(text, "{peer} is not here: {install}");
        }
        let _ = write!(text, "\n{}", self.summary());
        text
    }

    fn summary(&self) -> String {
        let of = |outcome: CaseOutcome| {
            let cases = self.calibration.cases.iter().zip(&self.verdicts);
            let cases = cases.filter(move |(_, verdict)| verdict.outcome == outcome);
            cases.map(|(case, _)| name(&case.name)).collect::<Vec<_>>()
        };
        let mut summary =
            format!("{} of {} cases in bounds", of(CaseOutcome::InBounds).len(), self.verdicts.len());
        for outcome in [CaseOutcome::OutOfBounds, CaseOutcome::Withheld, CaseOutcome::Failed] {
            let names = of(outcome);
            if !names.is_empty() {
                let _ = write!(summary, "; {}: {}", outcome.name(), names.join(", "));
            }
        }
        if self.calibration.interrupted {
            summary.push_str("; interrupted before the last one");
        }
        summary
    }
}

/// A case in a line, as soon as it is over.
pub fn calibration_line(case: &CalibrationCase) -> String {
    format!("{}: {}", name(&case.name), verdict_line(case, &judge_case(case)))
}

fn verdict_line(case: &CalibrationCase, verdict: &CaseVerdict) -> String {
    let outcome = match verdict.outcome {
        // In full, lest it be taken for a pass.
        CaseOutcome::Withheld => "figures withheld, and not counted as in bounds",
        other => other.name(),
    };
    let reasons: Vec<String> = verdict.reasons.iter().map(|reason| plain_line(reason)).collect();
    let colon = if reasons.is_empty() { "" } else { ": " };
    format!("{outcome}{}{colon}{}", tries(case), reasons.join("; "))
}

fn tries(case: &CalibrationCase) -> String {
    match case.tries.len() {
        0 | 1 => String::new(),
        tries => format!(" (try {tries})"),
    }
}

fn case_text(case: &CalibrationCase, verdict: &CaseVerdict) -> String {
    let mut text = format!("{}: {}\n", name(&case.name), plain_line(&case.server));
    let last = case.tries.last();
    if let Some(CalibrationTry { load, .. }) = last {
        let _ = writeln!(
            text,
            "  {} model, {}, {} requests, busiest load thread {} of a core",
            plain_line(&load.load.model),
            plain_line(&load.load.label),
            load.response_time_us.count,
            percent(load.generator.busy_share)
        );
    }
    let is_shown = matches!(verdict.outcome, CaseOutcome::InBounds | CaseOutcome::OutOfBounds);
    if let Some(last) = last.filter(|_| is_shown) {
        let _ = writeln!(text, "{}", case_table(last, verdict));
    }
    if !case.peers.is_empty() {
        let _ = writeln!(text, "{}", peers_table(case));
    }
    let _ = writeln!(text, "  verdict: {}", verdict_line(case, verdict));
    let audited = verdict.validity.iter().flat_map(|validity| &validity.reasons);
    for reason in audited.filter(|_| is_shown) {
        let _ = writeln!(text, "  its audit says: {}: {}", reason.kind.name(), plain_line(&reason.text));
    }
    if let Some(why) = case.service_not_logged.as_ref().filter(|_| is_shown) {
        let _ = writeln!(text, "  service time is not compared: {}", plain_line(why));
    }
    text
}

/// Of each table: two columns of names, the mean, the percentiles that are compared, the maximum.
fn table() -> Table {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    let percentiles = CALIBRATED_PERCENTILES.iter().map(|it| it.replace('_', "."));
    let header = [String::new(), String::new(), "mean".into()].into_iter().chain(percentiles);
    table.set_header(header.chain(["max".into()]));
    table
}

/// The table's text, with its figures at the right of their columns and the whole a little in.
fn set(mut table: Table) -> String {
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let text = table.trim_fmt();
    text.lines().map(|line| format!(" {line}")).collect::<Vec<_>>().join("\n")
}

fn row(first: &str, second: &str, times: &Distribution) -> Vec<String> {
    let names = std::iter::once("mean").chain(CALIBRATED_PERCENTILES).chain(["max"]);
    [first.to_owned(), second.to_owned()]
        .into_iter()
        .chain(names.map(|name| figure_of_samples(times, name)))
        .collect()
}

fn idle_table(delay: &Distribution) -> String {
    let mut table = table();
    table.add_row(row("delay", "when idle", delay));
    set(table)
}

fn case_table(one: &CalibrationTry, verdict: &CaseVerdict) -> String {
    let CalibrationTry { load, truth, scheduling_delay_us } = one;
    let mut table = table();
    table.add_row(row("response", "truth", &truth.response_time_us));
    table.add_row(row("", "told", &load.response_time_us));
    add_deviations(&mut table, &verdict.response);
    let is_logged = !verdict.service.is_empty();
    table.add_row(row("service", if is_logged { "truth" } else { "logged" }, &truth.service_time_us));
    table.add_row(row("", "told", &load.service_time_us));
    if is_logged {
        add_deviations(&mut table, &verdict.service);
    }
    table.add_row(row("delay", "", scheduling_delay_us));
    set(table)
}

fn add_deviations(table: &mut Table, deviations: &[Deviation]) {
    let mut add = |name: &str, cell: &dyn Fn(&Deviation) -> String| {
        let cells = CALIBRATED_PERCENTILES.iter().map(|percentile| {
            let found = deviations.iter().find(|it| it.percentile == *percentile);
            found.map_or_else(|| NONE.to_owned(), cell)
        });
        let begin = [String::new(), name.to_owned(), String::new()];
        table.add_row(begin.into_iter().chain(cells).chain([String::new()]).collect::<Vec<String>>());
    };
    add("off", &|it| format!("{}{}", signed(it.off_us), if it.in_bounds { "" } else { " !" }));
    add("allowed", &|it| time_us(it.allowed_us));
    add("", &|it| {
        let by = match it.allowed_by {
            AllowedBy::Share => "1 %",
            AllowedBy::Floor => "20 us",
            AllowedBy::SchedulingDelay => "delay",
        };
        by.to_owned()
    });
}

fn signed(us: f64) -> String {
    format!("{}{}", if us < 0.0 { '-' } else { '+' }, time_us(us.abs()))
}

fn peers_table(case: &CalibrationCase) -> String {
    let mut table = table();
    for peer in &case.peers {
        if let PeerResult::Told { told, truth } = &peer.result {
            table.add_row(row(&name(&peer.name), "truth", &truth.response_time_us));
            table.add_row(row("", "told", told));
        }
    }
    let mut text = if table.row_count() > 0 { set(table) } else { String::new() };
    for peer in &case.peers {
        if let PeerResult::Nothing { why } = &peer.result {
            let line_end = if text.is_empty() { "" } else { "\n" };
            let _ = write!(text, "{line_end}  {}: {}", name(&peer.name), plain_line(why));
        }
    }
    text
}
