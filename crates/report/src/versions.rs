//! Two versions of a service side by side, for a person.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table};
use explain::{FigureChange, FigureVerdict, ServiceChange, VersionsCompared};
use record::{RevisionName, Versions};
use units::Bytes;

use crate::figure::{NONE, by_driver, indented, per_s, plain_line, signed_percent, time_us};

/// The columns that are numbers.
const NUMBERS: std::ops::Range<usize> = 1..5;
/// What the columns are.
pub(crate) const HEADER: [&str; 6] = ["", "before", "after", "change, interval", "before again", ""];

/// What the two versions are, what changed in each service, and what is to be known to read it.
pub fn versions_text(versions: &Versions, compared: &VersionsCompared) -> String {
    let mut text = format!("before  {}\nafter   {}\n", revision(&versions.before), revision(&versions.after));
    for service in &compared.services {
        // Writing into a String cannot fail.
        let _ = write!(text, "\n{}\n{}\n", heading(service), table(service));
        for note in notes(service) {
            let _ = writeln!(text, "  {note}");
        }
    }
    text.push('\n');
    text.push_str(&conclusion(compared));
    text
}

/// A version as one line.
pub(crate) fn revision(of: &RevisionName) -> String {
    let [commit, name, subject] = [&of.short_commit(), &of.name, &of.subject].map(|it| plain_line(it));
    match of.changed_files {
        Some(0) => format!("{name}, which is {commit}: {subject}"),
        Some(1) => format!("{name}, 1 file changed since {commit}: {subject}"),
        Some(files) => format!("{name}, {files} files changed since {commit}: {subject}"),
        None if name.starts_with(&commit) => format!("{commit}: {subject}"),
        None => format!("{name}, {commit}: {subject}"),
    }
}

/// A service at a load as one line.
pub(crate) fn heading(service: &ServiceChange) -> String {
    let [name, round, load] = [&service.service, &service.round, &service.load].map(|it| plain_line(it));
    let blocks =
        if service.blocks == 1 { "1 block".to_owned() } else { format!("{} blocks", service.blocks) };
    format!("{name}: {round}, {load}{}; {blocks}", by_driver(service.driver))
}

fn table(service: &ServiceChange) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_header(HEADER);
    for figure in &service.figures {
        table.add_row(row(figure));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        if NUMBERS.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

/// A figure as the cells of a table.
pub(crate) fn row(figure: &FigureChange) -> [String; 6] {
    let [before, after] = figure.values.map(|it| it.map_or_else(|| NONE.into(), |it| amount(figure, it)));
    let off = |ratio: f64| signed_percent((ratio - 1.0) * 100.0, 1);
    let ends = match (figure.low, figure.high) {
        (Some(low), Some(high)) => format!(" ({} to {})", off(low), off(high)),
        // So many failures, or rates that the client limited, are among the blocks that there is no telling how far it goes.
        (Some(low), None) => format!(" ({} or more)", off(low)),
        (None, Some(high)) => format!(" ({} or less)", off(high)),
        (None, None) => String::new(),
    };
    let change = figure.ratio.map_or_else(|| NONE.into(), |ratio| format!("{}{ends} %", off(ratio)));
    let itself = figure.itself.map_or_else(|| NONE.into(), |it| format!("{} %", off(it)));
    [name(&figure.figure), before, after, change, itself, figure.verdict.name().to_owned()]
}

fn name(figure: &str) -> String {
    match figure {
        "cpu" => "CPU a request".into(),
        other => plain_line(other),
    }
}

fn amount(figure: &FigureChange, value: f64) -> String {
    match figure.unit {
        record::GateUnit::PerSecond => per_s(value),
        record::GateUnit::Bytes => Bytes(value.max(0.0) as u64).to_string(),
        _ => time_us(value.max(0.0)),
    }
}

/// What else is to be known of a service.
pub(crate) fn notes(service: &ServiceChange) -> Vec<String> {
    let failed = ["before", "after"].into_iter().zip(&service.failed);
    let failed =
        failed.filter_map(|(which, why)| Some(format!("{which} failed: {}", indented(why.as_deref()?))));
    let doubts = service.doubts.iter().map(|it| format!("speaks against it: {}", plain_line(it)));
    let bounds = service.bounds.iter().map(|it| plain_line(it));
    failed.chain(doubts).chain(bounds).collect()
}

/// How many figures changed, and what is to be known to read the tables.
pub(crate) fn conclusion(compared: &VersionsCompared) -> String {
    let all = [FigureVerdict::Worse, FigureVerdict::Better, FigureVerdict::Same, FigureVerdict::CouldNotTell];
    let counted: Vec<String> =
        all.into_iter().map(|it| format!("{} {}", compared.count(it), it.name())).collect();
    format!(
        "{}. In parentheses: where the true change lies, in {:.0} of 100 cases all of them for the figure that a table is \
         ranked by,\nand likewise for all others. \"before again\" is the version before, measured twice: nothing nearer than \
         that, or than 2 %, is a change.",
        counted.join(", "),
        compared.confidence * 100.0
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use record::{Driver, GateUnit, VERSIONS_VERSION};

    use super::*;

    pub(crate) fn versions() -> Versions {
        let commit = "0123456789abcdef0123".to_owned();
        Versions {
            version: VERSIONS_VERSION,
            services: vec!["cart".into()],
            before: RevisionName {
                name: "main".into(),
                commit: commit.clone(),
                subject: "Keep a cart".into(),
                changed_files: None,
            },
            after: RevisionName {
                name: "the working tree".into(),
                commit,
                subject: "Keep a cart".into(),
                changed_files: Some(3),
            },
        }
    }

    pub(crate) fn compared() -> VersionsCompared {
        let figures = vec![FigureChange {
            figure: "goodput".into(),
            unit: GateUnit::PerSecond,
            is_ranked_by: true,
            values: [Some(1240.0), Some(1105.0)],
            ratio: Some(0.891),
            low: Some(0.876),
            high: Some(0.909),
            itself: Some(1.003),
            verdict: FigureVerdict::Worse,
        }];
        VersionsCompared {
            version: 1,
            confidence: 0.95,
            services: vec![ServiceChange {
                round: "main".into(),
                load: "16 connections".into(),
                driver: Driver::Proofload,
                service: "cart".into(),
                blocks: 8,
                failed: [None, Some("it died\u{1b}[31m\nsecond line".into())],
                doubts: Vec::new(),
                bounds: vec!["after: in 2 of 8 trials the client was the limit".into()],
                figures,
            }],
        }
    }

    #[test]
    fn an_interval_without_an_end_is_told_by_the_other() {
        let mut compared = compared();
        compared.services[0].figures[0].low = None;
        let text = versions_text(&versions(), &compared);
        assert!(text.contains("-10.9 (-9.1 or less) %"), "{text}");
    }

    #[test]
    fn each_figure_is_told_with_interval_and_noise() {
        let text = versions_text(&versions(), &compared());
        for said in [
            "before  main, 0123456789ab: Keep a cart\n",
            "after   the working tree, 3 files changed since 0123456789ab: Keep a cart\n",
            "cart: main, 16 connections; 8 blocks",
            "-10.9 (-12.4 to -9.1) %",
            "+0.3 %",
            "worse",
            "1 worse, 0 better, 0 the same, 0 could not tell.",
            "after failed: it died",
            "\n  after: in 2 of 8 trials the client was the limit\n",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}
