//! Checks of rows against each other.

use std::collections::BTreeMap;

use crate::findings::{Finding, Kind, Level, counts};
use outputs::Document;
use outputs::Figure;
use outputs::shown;
use outputs::{Row, Tool};

/// Answers that differ by less are the same but for a cookie's digits.
const BYTES_GAP_MIN: f64 = 0.5;
const BYTES_SHARE_MIN: f64 = 0.005;
/// Fewer requests may have the same count by chance.
const TWICE_REQUESTS_MIN: u64 = 1000;

/// By how much repeats of the same differ.
#[derive(Debug, Clone, Default)]
pub(super) struct Spread {
    /// (greatest − least) / least rate of the repeats that differ most; `None` without repeats.
    share: Option<f64>,
    /// Which those are.
    of: String,
}

/// What names the same cell: set-up or system, where it was asked for, connections.
type CellKey<'a> = (&'a str, Option<&'a str>, Option<&'a str>, u32);

fn cell(row: &Row) -> Option<CellKey<'_>> {
    let name = row.setup.as_deref().or(row.system.as_deref())?;
    // Without a path it is only within a round that a name means the same.
    let round = if row.path.is_some() { None } else { row.round.as_deref() };
    Some((name, row.path.as_deref(), round, row.connections?))
}

/// Whether both are the same run, told twice.
fn same_run(a: &Row, b: &Row) -> bool {
    a.tool == b.tool
        && a.requests.is_some_and(|it| it >= TWICE_REQUESTS_MIN)
        && (a.requests, a.mean_ms.map(|it| it.value), a.connections)
            == (b.requests, b.mean_ms.map(|it| it.value), b.connections)
        && a.rate_per_s.zip(b.rate_per_s).is_some_and(|(a, b)| a.agrees(b))
}

/// How far repeats are apart, over all files.
pub(super) fn spread(documents: &[Document]) -> Spread {
    let mut cells: BTreeMap<CellKey<'_>, Vec<&Row>> = BTreeMap::new();
    for row in documents.iter().flat_map(|it| &it.rows).filter(|it| it.tool != Tool::Proofload) {
        let Some(key) = cell(row).filter(|_| row.throughput_per_s().is_some()) else { continue };
        let repeats = cells.entry(key).or_default();
        if !repeats.iter().any(|other| same_run(other, row)) {
            repeats.push(row);
        }
    }
    let mut spread = Spread::default();
    for repeats in cells.values().filter(|it| it.len() > 1) {
        let rates = || repeats.iter().filter_map(|row| row.throughput_per_s()).map(|it| it.value);
        let (least, greatest) = (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max));
        let share = (greatest - least) / least;
        if share.is_finite() && spread.share.is_none_or(|it| share > it) {
            let names: Vec<String> = repeats.iter().map(|row| row.label()).collect();
            spread = Spread { share: Some(share), of: names.join(" = ") };
        }
    }
    spread
}

/// All of them.
pub(super) fn all(document: &Document, spread: &Spread) -> Vec<Finding> {
    let rows: Vec<&Row> = document.rows.iter().filter(|it| it.tool != Tool::Proofload).collect();
    let mut findings = twice(&rows);
    findings.extend(bytes(&rows));
    let mut compared = 0;
    for group in comparable(&rows) {
        compared += 1;
        findings.extend(ranking(&group));
        findings.extend(leads(&group, spread));
    }
    if compared > 0 && spread.share.is_none() {
        findings.push(Finding {
            level: Level::Unknown,
            kind: Kind::NoRepeats,
            line: rows[0].line,
            row: "all rows".into(),
            text: "none was measured twice, so by how much one differs from itself is not known, and no lead can be \
                   judged"
                .into(),
        });
    }
    findings
}

/// Rows of several systems that did the same under the same load, fastest first.
fn comparable<'a>(rows: &[&'a Row]) -> Vec<Vec<&'a Row>> {
    let mut groups: BTreeMap<_, Vec<&Row>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.system.is_some() && row.throughput_per_s().is_some()) {
        groups.entry((row.work(), row.connections)).or_default().push(row);
    }
    let mut groups: Vec<Vec<&Row>> =
        groups.into_values().filter(|group| group.iter().any(|row| row.system != group[0].system)).collect();
    for group in &mut groups {
        let rate = |row: &Row| row.rate_per_s.or(row.throughput_per_s()).map_or(0.0, |it| it.value);
        group.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
    }
    groups
}

/// The order by rate against the order by good answers.
fn ranking(group: &[&Row]) -> Option<Finding> {
    let mut good: Vec<(&Row, f64)> =
        group.iter().filter_map(|row| Some((*row, row.goodput_per_s()?))).collect();
    // A few that the end of the run aborted are in every rate of oha, and change no order but by chance.
    let has_bad = group.iter().any(|row| row.errors.bad_answers.unwrap_or(0) > 0);
    let has_errors = has_bad || group.iter().any(|row| counts::aborted_share(row).is_some());
    if good.len() != group.len() || !has_errors {
        return None;
    }
    good.sort_by(|a, b| b.1.total_cmp(&a.1));
    if good.iter().zip(group).all(|((a, _), b)| std::ptr::eq(*a, *b)) {
        return None;
    }
    let by_rate: Vec<String> = group.iter().map(|row| row.short_label()).collect();
    let by_good: Vec<String> =
        good.iter().map(|(row, rate)| format!("{} ({})", row.short_label(), shown::rate(*rate))).collect();
    let text = format!("by rate it is {}; by good answers {}", by_rate.join(" > "), by_good.join(" > "));
    Some(Finding::of(group[0], Level::Broken, Kind::Ranking, text))
}

/// Leads over the next one that are within the spread of repeats.
fn leads(group: &[&Row], spread: &Spread) -> Vec<Finding> {
    let Some(share) = spread.share else { return Vec::new() };
    let lead = |pair: &[&Row]| {
        let rate = |row: &Row| row.throughput_per_s().map(|it| it.value).filter(|it| *it > 0.0);
        let lead = rate(pair[0])? / rate(pair[1])? - 1.0;
        let is_repeat = cell(pair[0]) == cell(pair[1]) || pair[0].system == pair[1].system;
        let text = format!(
            "leads {} by {}, but the same set-up differs from itself by up to {} ({})",
            pair[1].short_label(),
            shown::percent(lead.max(0.0)),
            shown::percent(share),
            spread.of
        );
        (!is_repeat && lead < share).then(|| Finding::of(pair[0], Level::Note, Kind::Lead, text))
    };
    group.windows(2).filter_map(lead).collect()
}

/// Answers of systems that are compared, by size.
fn bytes(rows: &[&Row]) -> Vec<Finding> {
    let mut works: BTreeMap<_, Vec<(&Row, Figure)>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.system.is_some() && row.requests.is_none_or(|it| it >= 100)) {
        if let Some(bytes) = row.bytes_per_answer() {
            // Some tools tell of whole answers, and some of bodies.
            let sizes = works.entry((row.tool.name(), row.work())).or_default();
            // The row with the most requests has its size most exactly.
            match sizes.iter_mut().find(|(other, _)| other.system == row.system) {
                Some(known) if known.0.requests < row.requests => *known = (row, bytes),
                Some(_) => {}
                None => sizes.push((row, bytes)),
            }
        }
    }
    works.into_values().filter_map(|sizes| size_gap(&sizes)).collect()
}

fn size_gap(sizes: &[(&Row, Figure)]) -> Option<Finding> {
    let least = sizes.iter().map(|(_, it)| it.value + it.step).fold(f64::INFINITY, f64::min);
    let greatest = sizes.iter().map(|(_, it)| it.value - it.step).fold(0.0, f64::max);
    let gap = greatest - least;
    if gap < BYTES_GAP_MIN || gap < greatest * BYTES_SHARE_MIN {
        return None;
    }
    let named: Vec<String> = sizes
        .iter()
        .map(|(row, it)| {
            format!("{} {:.0}", shown::quoted(row.system.as_deref().unwrap_or_default()), it.value)
        })
        .collect();
    let (first, _) = sizes.iter().min_by_key(|(row, _)| row.line)?;
    let text = format!("bytes an answer: {}: the systems do not send the same", named.join(", "));
    let mut finding = Finding::of(first, Level::Note, Kind::Bytes, text);
    let all = Row { system: Some("all systems".into()), connections: None, ..(*first).clone() };
    finding.row = all.label();
    Some(finding)
}

/// The same run, told twice.
fn twice(rows: &[&Row]) -> Vec<Finding> {
    let mut seen: BTreeMap<(u64, Option<u32>), Vec<&Row>> = BTreeMap::new();
    let mut findings = Vec::new();
    for row in rows {
        let known = seen.entry((row.requests.unwrap_or(0), row.connections)).or_default();
        if let Some(other) = known.iter().find(|other| same_run(other, row) && other.max_ms == row.max_ms) {
            let text = format!("figure for figure the output of line {}: it is one run, not two", other.line);
            findings.push(Finding::of(row, Level::Note, Kind::Twice, text));
        } else {
            known.push(row);
        }
    }
    findings
}
