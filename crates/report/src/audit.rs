//! What an audit found, for people.

use std::fmt::Write;

use audit::{Audit, FileAudit};

use crate::figure::plain_line;

/// Width of the column of levels, and of that of kinds.
const LEVEL_CHARS: usize = 8;
const KIND_CHARS: usize = 19;
/// Where a line of a finding's text is broken, characters.
const LINE_CHARS_MAX: usize = 110;

/// All findings, by file and row, the gravest first, and how many there are.
pub fn audit_text(audit: &Audit) -> String {
    let mut text = String::new();
    for file in &audit.files {
        file_text(&mut text, file);
    }
    let counts = &audit.counts;
    let rows = plural(counts.rows, "row");
    if counts.broken + counts.unknown + counts.notes == 0 {
        let _ = writeln!(text, "{rows}: nothing that can't be true, and nothing that can't be known");
    } else {
        let notes = plural(counts.notes, "note");
        let _ = writeln!(text, "{rows}: {} broken, {} unknown, {notes}", counts.broken, counts.unknown);
    }
    text
}

fn plural(count: usize, one: &str) -> String {
    if count == 1 { format!("{count} {one}") } else { format!("{count} {one}s") }
}

fn file_text(text: &mut String, file: &FileAudit) {
    let _ = writeln!(text, "{} ({})\n", plain_line(&file.file), plural(file.rows, "row"));
    let mut row: Option<(usize, &str)> = None;
    for finding in &file.findings {
        let of = (finding.line, finding.row.as_str());
        if row != Some(of) {
            let gap = if row.is_some() { "\n" } else { "" };
            let _ = writeln!(text, "{gap}  {} (line {})", plain_line(&finding.row), finding.line);
            row = Some(of);
        }
        let head = format!("    {:LEVEL_CHARS$}{:KIND_CHARS$}", finding.level.name(), finding.kind.name());
        let indent = head.chars().count();
        let lines = wrapped(&plain_line(&finding.text), LINE_CHARS_MAX - indent);
        let _ = writeln!(text, "{head}{}", lines.join(&format!("\n{}", " ".repeat(indent))));
    }
    if row.is_none() {
        let _ = writeln!(text, "  nothing to say");
    }
    text.push('\n');
}

/// The words of a text on lines of at most so many characters, where the words allow it.
fn wrapped(text: &str, chars_max: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut chars = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if chars > 0 && chars + 1 + length > chars_max {
            lines.push(String::new());
            chars = 0;
        }
        if let Some(line) = lines.last_mut() {
            if chars > 0 {
                line.push(' ');
                chars += 1;
            }
            line.push_str(word);
            chars += length;
        }
    }
    lines
}
