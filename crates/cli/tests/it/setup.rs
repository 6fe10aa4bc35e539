//! `scripts/setup.sh`: what it puts beside a package manager goes again, also where it was killed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::common::repository;

const MARK: &str = "made by Proofload's scripts/setup.sh while it installs";

/// Runs it with `policy` as the file that keeps services from starting, where nothing can be installed.
fn set_up(policy: &Path) -> String {
    let tools = tempfile::tempdir().unwrap();
    for name in ["bash", "cut", "dirname", "id", "rm", "sed"] {
        let found = ["/usr/bin", "/bin"]
            .map(|folder| Path::new(folder).join(name))
            .into_iter()
            .find(|it| it.exists());
        symlink(found.unwrap(), tools.path().join(name)).unwrap();
    }
    let output = Command::new("/bin/bash")
        .arg(repository().join("scripts/setup.sh"))
        .env_clear()
        .env("PATH", tools.path())
        .env("POLICY_FILE", policy)
        .output()
        .unwrap();
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

/// When a process began, as the script has it.
fn started_at(pid: u32) -> String {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap().to_owned()
}

fn policy_of(pid: u32, begun: &str) -> String {
    format!("#!/bin/sh\n# {MARK}; process {pid}, begun at {begun}\nexit 101\n")
}

#[test]
fn what_a_run_left_that_was_killed_is_removed_and_nothing_else_is() {
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("policy-rc.d");
    let ours = std::process::id();
    for (text, stays) in [
        // Of a process that is gone, of one whose id another has by now, of one that lives, and somebody else's.
        (policy_of(99_999_999, "5"), false),
        (policy_of(ours, "5"), false),
        (policy_of(ours, &started_at(ours)), true),
        ("#!/bin/sh\nexit 101\n".to_owned(), true),
    ] {
        fs::write(&policy, &text).unwrap();
        let said = set_up(&policy);
        assert_eq!(policy.exists(), stays, "{text}: {said}");
        assert_eq!(said.contains("which a run left that was killed"), !stays, "{said}");
    }
}

/// The file says no for as long as the script lives, and nothing after that: `kill -9` leaves no machine without services.
#[test]
fn what_forbids_services_does_so_no_longer_than_the_script_lives() {
    let script = fs::read_to_string(repository().join("scripts/setup.sh")).unwrap();
    let from = script.find("started_at() {").unwrap();
    let to = script.find("# Removes what a run left that was killed.").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("policy-rc.d");
    let functions = &script[from..to];
    let body = format!(
        "as_root() {{ \"$@\"; }}\npolicy='{0}'\npolicy_mark=\"{MARK}\"\n{functions}\nforbid_services\n'{0}'; echo \"during $?\"",
        policy.display()
    );
    let output = Command::new("bash").args(["-euc", &body.replace("\n'", "\nset +e; '")]).output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(said.contains("during 101"), "{said}");
    assert_eq!(policy.metadata().unwrap().permissions().mode() & 0o777, 0o755);
    let after = Command::new(&policy).status().unwrap();
    assert_eq!(after.code(), Some(0), "{}", fs::read_to_string(&policy).unwrap());
}
