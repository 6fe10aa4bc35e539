//! A load beside an earlier one, for a person. Two loads have no interval: what lies between them may be chance, and that is
//! said where they are shown.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table};
use explain::audit;
use record::LoadResult;

use crate::figure::{NONE, per_s, plain_line, share, signed_percent, time_us};

/// Percentiles that are shown.
const SHOWN: [&str; 5] = ["p50", "p90", "p99", "p99_9", "max"];

/// The figures of both, and what is to be known to read them.
pub fn earlier_text(name: &str, earlier: &LoadResult, now: &LoadResult) -> String {
    let both = [earlier, now];
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_header(["", "earlier", "now", "change"]);
    let [before, after] = both.map(|it| it.goodput_per_s);
    table.add_row(["goodput".to_owned(), per_s(before), per_s(after), change(Some(before), Some(after))]);
    for figure in SHOWN {
        let [before, after] = both.map(|it| it.response_time_us.told(figure));
        let known =
            |told: Option<(f64, bool)>| told.filter(|(_, is_lower_bound)| !is_lower_bound).map(|it| it.0);
        let name = figure.replace('_', ".");
        table.add_row([name, time(before), time(after), change(known(before), known(after))]);
    }
    let failed = both.map(|it| share(it.failed(), it.intended.saturating_sub(it.cut_off())));
    let [before, after] = failed;
    table.add_row(["errors".to_owned(), before, after, String::new()]);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = format!("beside      {}\n{}\n", plain_line(name), table.trim_fmt());
    // Of the one that was made now it is said above.
    let of_earlier = audit(earlier);
    if let Some(reason) = of_earlier.reasons.first() {
        // Writing into a String cannot fail.
        let _ = writeln!(
            text,
            "            the earlier one is not valid: {}: {}",
            reason.kind.name(),
            plain_line(&reason.text)
        );
    }
    for (what, before, after) in differences(earlier, now) {
        // Writing into a String cannot fail.
        let _ = writeln!(
            text,
            "            not the same {what}: {} → {}",
            plain_line(&before),
            plain_line(&after)
        );
    }
    text.push_str(
        "            Two loads, each of one process at one time: what lies between them may be chance. `proofload diff`\n            \
         measures two versions in turns, and --fail-if tells evidence from noise.",
    );
    text
}

fn time(told: Option<(f64, bool)>) -> String {
    match told {
        Some((us, true)) => format!(">{}", time_us(us)),
        Some((us, false)) => time_us(us),
        None => NONE.into(),
    }
}

fn change(before: Option<f64>, after: Option<f64>) -> String {
    match before.zip(after) {
        Some((before, after)) if before > 0.0 && after.is_finite() => {
            format!("{} %", signed_percent((after / before - 1.0) * 100.0, 1))
        }
        _ => NONE.into(),
    }
}

/// In what the two loads are not of the same.
fn differences(earlier: &LoadResult, now: &LoadResult) -> Vec<(&'static str, String, String)> {
    let facts = |it: &LoadResult| {
        let length = it.load.duration_s.map_or_else(|| NONE.into(), |it| format!("{it} s"));
        [
            ("URL", it.url.clone()),
            // What a proxy takes is part of the figures.
            ("way", it.via.clone().unwrap_or_else(|| "straight".to_owned())),
            ("load", it.load.label.clone()),
            ("length", length),
            ("number of requests", it.load.requests.map_or_else(|| NONE.into(), |it| it.to_string())),
            ("timeout", format!("{} s", it.load.timeout_s)),
            ("load threads", it.load.threads.to_string()),
            ("use of connections", if it.load.keep_alive { "kept" } else { "fresh" }.to_owned()),
        ]
    };
    let both = facts(earlier).into_iter().zip(facts(now));
    both.filter(|(a, b)| a.1 != b.1).map(|((what, a), (_, b))| (what, a, b)).collect()
}
