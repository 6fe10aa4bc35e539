//! A scenario as Markdown: figures, what was asked for, commands.

use std::fmt::Write;

use crate::measure::{Measured, Plan, Row, Run};
use crate::scenario::{Contestant, Entry, Goal, Kind, Metric, Scenario};
use crate::statistics::{Estimate, estimate};

const MIB: f64 = 1024.0 * 1024.0;

/// `machine` is what it was measured on.
pub(crate) fn section(scenario: &Scenario, measured: &Measured, plan: &Plan, machine: &str) -> String {
    let mut text = format!("### {}\n\n", capitalised(scenario.title));
    figures(&mut text, scenario, measured, plan);
    let _ = writeln!(text, "Measured on: {machine}\n");
    goals(&mut text, scenario, measured);
    notes(&mut text, measured);
    commands(&mut text, scenario, measured);
    text
}

fn capitalised(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn figures(text: &mut String, scenario: &Scenario, measured: &Measured, plan: &Plan) {
    let is_open = matches!(scenario.kind, Kind::Open { .. });
    let has_null = measured.rows.iter().any(|row| {
        row.entry
            .contestant
            .null()
            .is_some_and(|null| measured.row(Entry { contestant: null, ..row.entry }).is_some())
    });
    let reference = match scenario.kind {
        Kind::Open { .. } => Contestant::Oha,
        Kind::Streams { .. } => Contestant::H2load,
        Kind::Closed | Kind::Churn { .. } => Contestant::Wrk,
    };
    let has_reference = measured.rows.iter().any(|row| row.entry.contestant == reference);
    let mut columns = vec!["client", "connections", "CPU, µs a request", "requests/s", "memory, MiB"];
    let ratio_title = format!("ratio to {}", reference.program());
    let has_sending = scenario.goals.iter().any(|goal| goal.metric == Metric::CpuSending);
    if has_sending {
        columns.push("while sending, µs");
    }
    if has_reference {
        columns.push(&ratio_title);
    }
    if has_null {
        columns.push("ratio to its null client");
    }
    if is_open {
        columns.extend(["p50, µs", "p99, µs", "lag p50, µs", "lag p99, µs"]);
    }
    let _ = writeln!(text, "| {} |\n|---|{}", columns.join(" | "), "---:|".repeat(columns.len() - 1));
    for row in &measured.rows {
        let mut cells = vec![row.entry.contestant.to_string(), row.entry.connections.to_string()];
        cells.push(middle(row, 2, |run| Some(run.cpu_us_per_request())));
        cells.push(middle(row, 0, |run| Some(run.requests_per_s())));
        cells.push(middle(row, 1, |run| Some(run.memory_peak_bytes() / MIB)));
        if has_sending {
            cells.push(middle(row, 2, |run| run.metric(Metric::CpuSending, row.entry)));
        }
        if has_reference {
            let other = Entry { contestant: reference, ..row.entry };
            cells.push(ratio_cell(measured, row.entry, other));
        }
        if has_null {
            let null = row.entry.contestant.null().map(|contestant| Entry { contestant, ..row.entry });
            cells.push(null.map_or_else(String::new, |null| ratio_cell(measured, row.entry, null)));
        }
        if is_open {
            cells.push(middle(row, 0, |run| Some(run.latency_us()?.0)));
            cells.push(middle(row, 0, |run| Some(run.latency_us()?.1)));
            cells.push(middle(row, 0, |run| Some(run.lag()?.p50_us)));
            cells.push(middle(row, 0, |run| Some(run.lag()?.p99_us)));
        }
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    let quick = if plan.quick { " **Quick: it shows that it works, and not what it costs.**" } else { "" };
    let Plan { rounds, seconds, .. } = plan;
    let spread = spread_name(plan);
    let _ =
        writeln!(text, "\nMedians of {rounds} rounds of {seconds} s; ratios with their {spread}.{quick}\n");
}

fn spread_name(plan: &Plan) -> &'static str {
    let is_interval = estimate(&vec![0.0; plan.rounds as usize]).is_some_and(|it| it.is_interval);
    if is_interval { "95 % interval" } else { "range: too few runs for an interval" }
}

/// The median over a row's runs.
fn middle(row: &Row, decimals: usize, of: impl Fn(&Run) -> Option<f64>) -> String {
    let values: Vec<f64> = row.runs.iter().flatten().filter_map(of).collect();
    estimate(&values).map_or_else(|| "–".to_owned(), |it| format!("{:.decimals$}", it.median))
}

fn ratio_cell(measured: &Measured, of: Entry, versus: Entry) -> String {
    if of == versus {
        return "1".to_owned();
    }
    let ratio = compare(measured, of, Some(versus), Metric::CpuWhole);
    ratio.map_or_else(String::new, |it| show(&it, 2))
}

fn show(it: &Estimate, decimals: usize) -> String {
    format!("{:.decimals$} ({:.decimals$}–{:.decimals$})", it.median, it.low, it.high)
}

/// The median over rounds: of the ratio of two runs of the same round, or of the metric itself.
fn compare(measured: &Measured, of: Entry, versus: Option<Entry>, metric: Metric) -> Option<Estimate> {
    let value = |run: &Option<Run>, entry| run.as_ref().and_then(|run| run.metric(metric, entry));
    let row = measured.row(of)?;
    let values: Vec<f64> = match versus {
        None => row.runs.iter().filter_map(|run| value(run, of)).collect(),
        Some(versus) => {
            let other = measured.row(versus)?;
            let pairs = row.runs.iter().zip(&other.runs);
            pairs.filter_map(|(a, b)| Some(value(a, of)? / value(b, versus)?)).collect()
        }
    };
    estimate(&values)
}

fn goals(text: &mut String, scenario: &Scenario, measured: &Measured) {
    if scenario.goals.is_empty() {
        return;
    }
    text.push_str("| target | at most | measured | met |\n|---|---:|---:|---|\n");
    for goal in &scenario.goals {
        let measured = compare(measured, goal.of, goal.versus, goal.metric);
        // One more than the target has, so that a verdict can be told from what is printed.
        let (decimals, finer) = if goal.versus.is_some() { (2, 3) } else { (0, 1) };
        let _ = writeln!(
            text,
            "| {} | {:.decimals$} | {} | {} |",
            name(goal),
            goal.at_most,
            measured.map_or_else(|| "–".to_owned(), |it| show(&it, finer)),
            verdict(goal, measured)
        );
    }
    text.push('\n');
}

fn name(goal: &Goal) -> String {
    let Goal { of, metric, versus, .. } = goal;
    match versus {
        None => format!("{}: {metric}", of.contestant),
        // The same client twice differs by its connections.
        Some(versus) if versus.contestant == of.contestant => {
            format!("{}: {metric}, to that at {} connections", of.contestant, versus.connections)
        }
        Some(versus) => format!("{}: {metric}, to {}", of.contestant, versus.contestant),
    }
}

/// Judged by the median; by how much where it is not met.
fn verdict(goal: &Goal, measured: Option<Estimate>) -> String {
    let Some(it) = measured else { return "not measured".to_owned() };
    if it.median <= goal.at_most {
        return if it.high <= goal.at_most {
            "yes".to_owned()
        } else {
            "yes; the interval reaches beyond".to_owned()
        };
    }
    let over = (it.median / goal.at_most - 1.0) * 100.0;
    let open = if it.low <= goal.at_most { "; the interval reaches below" } else { "" };
    format!("no: {over:.0} % over{open}")
}

fn notes(text: &mut String, measured: &Measured) {
    let mut any = false;
    for row in &measured.rows {
        for note in &row.notes {
            let Entry { contestant, connections } = row.entry;
            let _ = writeln!(text, "- {contestant}, {connections} connections: {note}.");
            any = true;
        }
    }
    if any {
        text.push('\n');
    }
}

fn commands(text: &mut String, scenario: &Scenario, measured: &Measured) {
    let is_open = matches!(scenario.kind, Kind::Open { .. });
    text.push_str("```sh\n");
    let server = match scenario.server.target_options() {
        None => {
            let over = match (scenario.server.is_secured, scenario.server.is_http2) {
                (false, false) => "",
                (false, true) => ", http2",
                (true, false) => ", ssl, no session is resumed",
                (true, true) => ", ssl http2, no session is resumed",
            };
            format!(
                "taskset -c 1 nginx -c …  # one worker, return 200 'hello', no access log, keepalive_requests 1000000000{over}"
            )
        }
        Some(options) => {
            let told = ["taskset -c 1 proofload target --model event-loop --listen 127.0.0.1:18990"];
            let truth = is_open.then_some("--truth truth.csv");
            told.into_iter().chain(options).chain(truth).collect::<Vec<_>>().join(" ")
        }
    };
    let _ = writeln!(text, "{server}");
    for row in &measured.rows {
        let _ = writeln!(text, "{}", row.command);
    }
    text.push_str("```\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(at_most: f64) -> Goal {
        let at = |contestant| Entry { contestant, connections: 300 };
        let versus = Some(at(Contestant::Wrk));
        Goal { of: at(Contestant::Epoll), metric: Metric::CpuWhole, versus, at_most }
    }

    #[test]
    fn says_by_how_much_a_target_is_missed() {
        let measured = Some(Estimate { median: 0.80, low: 0.77, high: 0.84, is_interval: true });
        assert_eq!(verdict(&goal(0.85), measured), "yes");
        assert_eq!(verdict(&goal(0.82), measured), "yes; the interval reaches beyond");
        assert_eq!(verdict(&goal(0.78), measured), "no: 3 % over; the interval reaches below");
        assert_eq!(verdict(&goal(0.64), measured), "no: 25 % over");
        assert_eq!(verdict(&goal(0.64), None), "not measured");
        assert_eq!(name(&goal(0.64)), "proofload, epoll: CPU a request, to wrk");
    }
}
