//! `proofload audit`: exit codes, and that the guide and its samples show what it prints.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::common::{json, proofload, repository, run};
use crate::terminal::Terminal;

const GUIDE: &str = "docs/audit.md";
const SAMPLES: &str = "docs/samples/audit/";
const BEGIN: &str = "<!-- audit:begin ";
const END: &str = "<!-- audit:end -->";

fn stdout(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().expect("the binary starts");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What `proofload audit FILES` prints of published figures, in which there is always something to find.
fn printed<'a>(files: impl IntoIterator<Item = &'a str>) -> String {
    let (code, printed) = stdout(proofload().arg("audit").args(files));
    assert_eq!(code, Some(4), "{printed}");
    printed
}

/// Holds `file` to `due`, or writes it anew where that is asked for.
#[track_caller]
fn hold(file: &str, due: &str) {
    let path = repository().join(file);
    if std::env::var("INSTA_UPDATE").is_ok_and(|it| it == "always") {
        std::fs::write(&path, due).unwrap();
    } else {
        let is = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            is == due,
            "{file} shows other findings than are printed; see what {GUIDE} says of INSTA_UPDATE"
        );
    }
}

#[test]
fn the_guide_shows_what_it_prints() {
    let guide = std::fs::read_to_string(repository().join(GUIDE)).unwrap();
    let mut renewed = String::new();
    let mut rest = &guide[..];
    while let Some((before, block)) = rest.split_once(BEGIN) {
        let (files, behind) = block.split_once(" -->").unwrap();
        let (_, after) = behind.split_once(END).unwrap();
        let printed = printed(files.split(' '));
        let command = files.replace(' ', " \\\n    ");
        let printed = printed.trim_end();
        let block = format!("{BEGIN}{files} -->\n```\n$ proofload audit {command}\n{printed}\n```\n{END}");
        renewed.extend([before, &block]);
        rest = after;
    }
    assert!(rest.len() < guide.len(), "{GUIDE} has an example between its markers");
    renewed += rest;
    hold(GUIDE, &renewed);
}

#[test]
fn the_samples_are_what_the_commands_of_the_guide_print() {
    let guide = std::fs::read_to_string(repository().join(GUIDE)).unwrap().replace("\\\n", " ");
    let mut made = BTreeSet::new();
    for line in guide.lines() {
        let Some((files, name)) = line
            .strip_prefix("proofload audit ")
            .and_then(|rest| rest.split_once(" >"))
            .filter(|(_, name)| name.starts_with(SAMPLES))
        else {
            continue;
        };
        hold(name, &printed(files.split_whitespace()));
        made.insert(repository().join(name));
    }
    let there = std::fs::read_dir(repository().join(SAMPLES)).unwrap();
    let there: BTreeSet<_> = there.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(made, there, "{GUIDE} has a command for each file of {SAMPLES}, and for no other");
}

/// It is sound, be it in UTF-16, as PowerShell redirects.
#[test]
fn sound_output_ends_well_also_from_standard_input() {
    let sample = std::fs::read(repository().join("bench/src/samples/oha.json")).unwrap();
    let units = String::from_utf8(sample.clone()).unwrap();
    let utf_16: Vec<u8> = format!("\u{feff}{units}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [sample, utf_16] {
        let mut child = proofload()
            .args(["audit", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{text}");
        assert!(text.contains("1 row: nothing that can't be true"), "{text}");
    }
}

#[test]
fn json_has_a_version_and_the_counts() {
    let output = run(&["audit", "--json", "published/outputs/socket-models.txt"]);
    assert_eq!(output.status.code(), Some(4));
    let audit = json(&output);
    assert_eq!((audit["version"].as_u64(), audit["counts"]["rows"].as_u64()), (Some(1), Some(3)));
    let first = &audit["files"][0]["findings"][0];
    assert_eq!((first["level"].as_str(), first["kind"].as_str()), (Some("broken"), Some("rate_times_time")));
}

#[test]
fn what_can_t_be_used_is_one_error() {
    for (file, what) in [
        ("no-such-file.txt", "no-such-file.txt can't be read"),
        ("experiments", "experiments is not a recorded run"),
        ("LICENSE", "no load-test output was found"),
    ] {
        let output = run(&["audit", file]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(
            error.starts_with("proofload: ") && error.contains(what) && error.lines().count() == 1,
            "{error}"
        );
        assert!(output.stdout.is_empty());
    }
    assert_eq!(run(&["audit"]).status.code(), Some(2));
}

/// A file may have a million rows.
#[test]
fn on_a_terminal_it_says_what_it_reads() {
    let file = "published/outputs/gateways.txt";
    let mut command = proofload();
    command.args(["audit", file]);
    let mut terminal = Terminal::start(command, 24, 100);
    assert_eq!(terminal.end().code(), Some(4), "{}", terminal.text());
    let seen = String::from_utf8_lossy(&terminal.bytes()).into_owned();
    assert!(seen.contains(&format!("reading {file}")), "{seen}");
    assert!(!terminal.text().contains("reading published"), "it goes when that is over: {}", terminal.text());
}
