//! Two versions of a service in GitHub's Markdown, for a pull request or a job's summary.

use std::fmt::Write;

use explain::VersionsCompared;
use record::Versions;

use super::markdown::words;
use crate::versions::{HEADER, conclusion, heading, notes, revision, row};

/// What the two versions are, what changed in each service, and what is to be known to read it.
pub fn versions_markdown(versions: &Versions, compared: &VersionsCompared) -> String {
    let [before, after] = [&versions.before, &versions.after].map(|it| words(&revision(it)));
    let mut text = format!("- before: {before}\n- after: {after}\n");
    for service in &compared.services {
        // Writing into a String cannot fail.
        let _ = write!(text, "\n### {}\n\n| {} |\n", words(&heading(service)), HEADER.join(" | "));
        text.push_str("|---|--:|--:|--:|--:|---|\n");
        for figure in &service.figures {
            let _ = writeln!(text, "| {} |", row(figure).map(|it| words(&it)).join(" | "));
        }
        for note in notes(service) {
            let _ = writeln!(text, "\n{}", words(&note));
        }
    }
    let _ = writeln!(text, "\n{}", words(&conclusion(compared)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::versions::tests::{compared, versions};

    #[test]
    fn a_pull_request_has_the_same_in_a_table() {
        let text = versions_markdown(&versions(), &compared());
        assert!(text.contains("### cart: main, 16 connections; 8 blocks"), "{text}");
        assert!(text.contains("| goodput | 1240/s | 1105/s | -10.9 (-12.4 to -9.1) % |"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}
