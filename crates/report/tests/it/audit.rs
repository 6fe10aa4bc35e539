//! What an audit found, as text.

use audit::{AUDIT_VERSION, Audit, Counts, FileAudit, Finding, Kind, Level};
use report::audit_text;

fn finding(level: Level, kind: Kind, line: usize, row: &str, text: &str) -> Finding {
    Finding { level, kind, line, row: row.into(), text: text.into() }
}

#[test]
fn findings_stand_by_file_and_row() {
    let long =
        "300 users, but 17135/s x 186.59 ms = 3197 (x10.66): the latency is too high for these requests";
    let files = vec![
        FileAudit {
            file: "a.txt".into(),
            rows: 2,
            tools: vec!["wrk"],
            findings: vec![
                finding(Level::Broken, Kind::LittlesLaw, 3, "nginx at 300", long),
                finding(Level::Note, Kind::SynRetry, 3, "nginx at 300", "3.03 s"),
                finding(Level::Unknown, Kind::CutOff, 9, "a\u{1b}[31m\nb", "not whole\u{7}"),
            ],
        },
        FileAudit { file: "b.txt".into(), rows: 1, tools: vec!["hey"], findings: Vec::new() },
    ];
    let counts = Counts { rows: 3, broken: 1, unknown: 1, notes: 1 };
    insta::assert_snapshot!(audit_text(&Audit { version: AUDIT_VERSION, files, counts }));
}

#[test]
fn nothing_found_is_said() {
    let files = vec![FileAudit { file: "a.txt".into(), rows: 1, tools: vec!["oha"], findings: Vec::new() }];
    let counts = Counts { rows: 1, ..Counts::default() };
    let text = audit_text(&Audit { version: AUDIT_VERSION, files, counts });
    assert!(text.ends_with("1 row: nothing that can't be true, and nothing that can't be known\n"), "{text}");
}
