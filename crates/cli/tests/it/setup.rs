//! `scripts/setup.sh`: what it puts beside a package manager goes again, also where it was killed. And that what else is fetched
//! to build with is what it was.

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

/// Which Go the stacks can be built with: one as new as they ask for, or one that fetches that by itself.
#[test]
fn a_go_that_is_too_old_is_none() {
    let script = fs::read_to_string(repository().join("scripts/setup.sh")).unwrap();
    let from = script.find("have_go() {").unwrap();
    let to = script.find("# As root, through sudo where").unwrap();
    let body = format!("go_folder=/nonexistent\ngo_minor_min=21\n{}\nhave_go", &script[from..to]);
    for (version, toolchain, does) in [
        ("go1.99.1", "local", true),
        ("go1.21.0", "auto", true),
        // Debian's own fetches nothing.
        ("go1.21.0", "local", false),
        ("go1.19.8", "", false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let go = format!("#!/bin/sh\n[ $2 = GOVERSION ] && echo {version} || echo {toolchain}\n");
        // By another process: what this one has open for writing, even for a moment, can't be run.
        let write = ["-c", "printf %s \"$1\" >go && chmod +x go", "sh", &go];
        assert!(Command::new("sh").args(write).current_dir(folder.path()).status().unwrap().success());
        let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
        let status = Command::new("bash")
            .args(["-euc", &body])
            .env("PATH", path)
            .current_dir(repository())
            .status()
            .unwrap();
        assert_eq!(status.success(), does, "{version}, GOTOOLCHAIN {toolchain}");
    }
}

/// A Maven that brings one library.
const MAVEN: &str = "#!/bin/sh\nmkdir -p build/lib\nprintf %s \"$CONTENT\" >\"build/$LIBRARY\"\n";
/// The digest of `right`.
const RIGHT: &str = "27042f4e6eca7d0b2a7ee4026df2ecfa51d3339e6d122aa099118ecd8563bad9";

/// How `stacks/_builds/maven.sh` ends where Maven brings `content` as `library`.
fn packaged(library: &str, content: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let tools = folder.path().join("tools");
    fs::create_dir(&tools).unwrap();
    // By another process: what this one has open for writing, even for a moment, can't be run.
    let write = ["-c", "printf %s \"$1\" >tools/mvn && chmod +x tools/mvn", "sh", MAVEN];
    let written = Command::new("sh").args(write).current_dir(folder.path()).status().unwrap();
    assert!(written.success());
    fs::write(folder.path().join("libraries.sha256"), format!("{RIGHT}  lib/a.jar\n")).unwrap();
    let output = Command::new("sh")
        .arg(repository().join("stacks/_builds/maven.sh"))
        .current_dir(folder.path())
        .env("PATH", format!("{}:{}", tools.display(), std::env::var("PATH").unwrap()))
        .env("LIBRARY", library)
        .env("CONTENT", content)
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_library_is_the_one_that_was_pinned_or_nothing_is_built_with_it() {
    for (library, content, code, says) in [
        ("lib/a.jar", "right", 0, ""),
        ("lib/a.jar", "wrong", 1, "a library is not the one that"),
        ("lib/b.jar", "right", 1, "has no lib/b.jar"),
    ] {
        let (ended, told) = packaged(library, content);
        assert_eq!(ended, Some(code), "{library}, {content}: {told}");
        assert!(told.contains(says), "{library}, {content}: {told}");
    }
}

/// What is fetched is held against what its server says of it, and what judges the tree is itself of one version.
#[test]
fn what_is_fetched_is_checked_and_pinned() {
    let builds = repository().join("stacks/_builds");
    let folders = fs::read_dir(&builds).unwrap().map(|entry| entry.unwrap().path());
    let of_maven: Vec<_> = folders.filter(|folder| folder.join("pom.xml").exists()).collect();
    assert!(of_maven.len() >= 2, "{of_maven:?}");
    for folder in of_maven {
        let options = fs::read_to_string(folder.join(".mvn/maven.config")).unwrap_or_default();
        assert!(options.lines().any(|it| it == "--strict-checksums"), "{}: {options}", folder.display());
        assert!(folder.join("libraries.sha256").exists(), "{}", folder.display());
    }
    let deny = fs::read_to_string(repository().join("scripts/deny.sh")).unwrap();
    let version = deny.lines().find_map(|line| line.strip_prefix("version=")).expect("a version is pinned");
    let numbers: Vec<&str> = version.split('.').collect();
    let is_number = |it: &&str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit());
    assert!(numbers.len() == 3 && numbers.iter().all(is_number), "{version}");
    assert!(deny.contains("cargo install cargo-deny --version \"=$version\" --locked"), "{deny}");
}
