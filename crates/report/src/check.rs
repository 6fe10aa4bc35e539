//! What stacks are without load, for a person.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table};
use explain::differences;
use record::{CheckResult, Checked, EndpointCheck, StackCheck};
use units::Bytes;

use crate::figure::{NONE, indented, name, plain_line, time_us};

const HEADER: [&str; 8] =
    ["stack", "up in", "RSS", "threads", "bytes", "framing", "requests a\nconnection", "endpoints"];
/// The columns that are numbers.
const NUMBERS: [usize; 5] = [1, 2, 3, 4, 6];

/// One table of all stacks, and below it what is not as their manifests say.
pub fn checks_text(checks: &[StackCheck]) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_header(HEADER);
    for check in checks {
        table.add_row(row(check));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        if NUMBERS.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut text = table.trim_fmt();
    text.push('\n');
    text.extend(checks.iter().map(remarks));
    let _ = write!(text, "\n{}", summary(checks));
    text
}

fn row(check: &StackCheck) -> Vec<String> {
    let mut row = vec![name(&check.stack)];
    match &check.result {
        CheckResult::Checked(checked) => row.extend(figures(checked)),
        CheckResult::LeftOut { .. } | CheckResult::Failed { .. } => {
            row.extend(std::iter::repeat_n(NONE.to_owned(), HEADER.len() - 2));
            let failed = matches!(check.result, CheckResult::Failed { .. });
            row.push(if failed { "FAILED" } else { "left out" }.to_owned());
        }
    }
    row
}

fn figures(checked: &Checked) -> Vec<String> {
    let first = checked.endpoints.first();
    let cap = checked.requests_per_connection;
    let as_expected = checked.endpoints.iter().filter(|it| it.contract.deviations.is_empty()).count();
    let all = checked.endpoints.len();
    vec![
        checked.boot_s.map_or_else(|| NONE.into(), |boot_s| time_us(boot_s * 1e6)),
        checked.rss_bytes.map_or_else(|| NONE.into(), |bytes| Bytes(bytes).to_string()),
        checked.threads.map_or_else(|| NONE.into(), |threads| threads.to_string()),
        first.map_or_else(|| NONE.into(), |endpoint| endpoint.contract.wire_bytes.to_string()),
        first
            .map_or_else(|| NONE.into(), |endpoint| plain_line(&endpoint.contract.framing.replace('_', "-"))),
        cap.map_or_else(|| format!(">{}", checked.requests_tried), |cap| cap.to_string()),
        if as_expected == all { format!("{all} right") } else { format!("{as_expected} of {all} right") },
    ]
}

/// What a row has no room for.
fn remarks(check: &StackCheck) -> String {
    let stack = name(&check.stack);
    match &check.result {
        CheckResult::LeftOut { why } => format!("\n{stack} is left out: {}\n", indented(why)),
        CheckResult::Failed { error } => format!("\n{stack} failed: {}\n", indented(error)),
        CheckResult::Checked(checked) => {
            let mut lines: Vec<String> = checked
                .deviations
                .iter()
                .map(|it| format!("not as its manifest says: {}", plain_line(it)))
                .collect();
            lines.extend(checked.not_measured.as_ref().map(|why| {
                format!("its start, its memory and its threads were not looked at: {}", plain_line(why))
            }));
            // A client that trusts such a connection loses requests, whoever expects it or not.
            let unsaid = checked.endpoints.iter().find(|it| it.contract.afterwards.ends_with("unsaid"));
            lines.extend(unsaid.map(unsaid_line));
            if checked.stop_forced {
                lines.push("had to be killed".to_owned());
            }
            lines.iter().flat_map(|line| ["\n", &stack, ": ", line, "\n"]).collect()
        }
    }
}

fn unsaid_line(endpoint: &EndpointCheck) -> String {
    let how = if endpoint.contract.afterwards.starts_with("reset") { "resets" } else { "closes" };
    format!(
        "{how} the connection after an answer that did not say so: whoever sends the next request on it loses it, as a \
         client with keep-alive does"
    )
}

fn summary(checks: &[StackCheck]) -> String {
    let count = |wanted: fn(&CheckResult) -> bool| checks.iter().filter(|it| wanted(&it.result)).count();
    let right = count(|it| matches!(it, CheckResult::Checked(checked) if checked.deviations.is_empty()));
    let other = count(|it| matches!(it, CheckResult::Checked(checked) if !checked.deviations.is_empty()));
    let failed = count(|it| matches!(it, CheckResult::Failed { .. }));
    let left_out = count(|it| matches!(it, CheckResult::LeftOut { .. }));
    let rest = [(other, "not as their manifests say"), (failed, "failed"), (left_out, "left out")];
    let rest: Vec<String> = rest
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!(", {count} {what}"))
        .collect();
    format!("{right} of {} stacks up and right{}", checks.len(), rest.concat())
}

/// Whether the stacks do the same work for endpoints of the same name, and where they differ.
pub fn same_work_text(checks: &[StackCheck]) -> String {
    let found = differences(checks);
    if found.is_empty() {
        return "The same work: what the stacks answer differs in nothing but the time.".to_owned();
    }
    let mut text = String::from("Not the same work. They differ in:");
    for difference in found {
        let _ = write!(text, "\n  {}", plain_line(&difference.to_string()));
    }
    text
}

/// One stack in full, with the heads of its answers as they came.
pub fn check_details_text(check: &StackCheck) -> String {
    let CheckResult::Checked(checked) = &check.result else { return String::new() };
    let behind = check.upstream.as_ref().map_or_else(String::new, |it| format!(", in front of {}", name(it)));
    let mut text =
        format!("{} ({}, {}{behind})", name(&check.stack), plain_line(&check.title), check.generation);
    if let Some(most) = checked.upstream_connections_max {
        let _ = write!(text, "\n  held {most} connections to its upstream at most, while 64 clients asked");
    }
    for endpoint in &checked.endpoints {
        let contract = &endpoint.contract;
        let _ = write!(
            text,
            "\n  GET {}: {} bytes in {}, connection {}",
            plain_line(&endpoint.path),
            contract.wire_bytes,
            time_us(contract.idle_service_time_us),
            contract.afterwards
        );
        let lines = contract.head.lines().filter(|line| !line.is_empty()).chain(endpoint.body.lines());
        lines.for_each(|line| {
            let _ = write!(text, "\n    {}", plain_line(line));
        });
    }
    text
}
