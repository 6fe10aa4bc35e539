//! The run directory: what was appended survives, and what can't be kept is refused in one clear error.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use record::{LoadResult, RecordError, RunDir, Trial};
use tempfile::TempDir;

use crate::samples::{failed, manifest, measured};

const EXPERIMENT: &str = "title = \"t\"\n# as written, \u{fc}\n";
/// Tells a copy of this test program which run to try for [`helper_resume_elsewhere`].
const RUN_OF_HELPER: &str = "PROOFLOAD_TEST_RUN";

/// A finished run of `trials` in a directory that is gone with the first of the two.
fn run_of(trials: &[Trial]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs/quick-1");
    let mut run = RunDir::create(&path, EXPERIMENT).unwrap();
    run.write_manifest(&manifest()).unwrap();
    for trial in trials {
        run.append(trial).unwrap();
    }
    (dir, path)
}

fn trials_file(run: &Path) -> PathBuf {
    run.join("trials.jsonl")
}

fn names_in(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

/// A sentence with the file, what was tried, why it failed and what to do, on one line.
fn assert_clear(error: &RecordError, parts: &[&str]) {
    let text = error.to_string();
    assert!(parts.iter().all(|part| text.contains(part)) && !text.contains('\n'), "{text}");
}

#[test]
fn what_was_appended_is_read_back_in_order() {
    let trials = [measured(0), failed(1), measured(2)];
    let (_dir, path) = run_of(&trials);
    assert_eq!(RunDir::read_trials(&path).unwrap(), trials);
    assert_eq!(RunDir::read_manifest(&path).unwrap(), manifest());
    assert_eq!(fs::read_to_string(RunDir::experiment_path(&path)).unwrap(), EXPERIMENT);
    assert_eq!(names_in(&path), ["experiment.toml", "lock", "manifest.json", "trials", "trials.jsonl"]);
}

#[test]
fn a_run_without_trials_is_a_run() {
    let (_dir, path) = run_of(&[]);
    assert_eq!(RunDir::read_trials(&path).unwrap(), []);
    assert_eq!(RunDir::resume(&path).unwrap().2, []);
}

#[test]
fn each_trial_has_a_directory_of_its_own() {
    let (_dir, path) = run_of(&[]);
    let (run, ..) = RunDir::resume(&path).unwrap();
    assert_eq!(run.path(), path);
    for index in [0, 7, 7, 12_345] {
        assert!(run.trial_dir(index).unwrap().is_dir());
    }
    assert_eq!(names_in(&path.join("trials")), ["0000", "0007", "12345"]);
}

/// `kill -9` in the midst of writing the last line, at each byte of it.
#[test]
fn a_last_line_cut_at_any_byte_is_skipped_and_then_cut_off() {
    resumes_what_was_cut(389);
}

#[test]
#[ignore = "slow: writes and syncs a run for each byte of a trial"]
fn a_last_line_cut_at_any_byte_is_cut_off_wherever_it_is_resumed() {
    resumes_what_was_cut(1);
}

/// Cuts the last line at every byte, and resumes the run of every so manieth cut and of those near both ends.
fn resumes_what_was_cut(every: usize) {
    const ENDS: usize = 20;
    let earlier = [failed(0), failed(1)];
    let (_dir, path) = run_of(&earlier);
    let file = trials_file(&path);
    let kept = fs::read(&file).unwrap();
    let mut last = serde_json::to_vec(&measured(2)).unwrap();
    last.push(b'\n');
    for cut in 0..last.len() {
        fs::write(&file, [&kept[..], &last[..cut]].concat()).unwrap();
        assert_eq!(RunDir::read_trials(&path).unwrap(), earlier, "cut at {cut}");
        if !cut.is_multiple_of(every) && (ENDS..last.len() - ENDS).contains(&cut) {
            continue;
        }
        let (mut run, _, trials) = RunDir::resume(&path).unwrap();
        assert_eq!(trials, earlier, "cut at {cut}");
        assert_eq!(fs::read(&file).unwrap(), kept, "cut at {cut}");
        // Often enough to be sure, and not a sync for each byte.
        if cut.is_multiple_of(97) {
            run.append(&measured(2)).unwrap();
            assert_eq!(fs::read(&file).unwrap(), [&kept[..], &last[..]].concat(), "cut at {cut}");
        }
    }
    fs::write(&file, [&kept[..], &last[..]].concat()).unwrap();
    assert_eq!(RunDir::resume(&path).unwrap().2.len(), 3);
}

#[test]
fn a_second_handle_is_refused_until_the_first_is_gone() {
    let (_dir, path) = run_of(&[measured(0)]);
    let before = fs::read(trials_file(&path)).unwrap();
    let (run, ..) = RunDir::resume(&path).unwrap();
    let path_text = path.to_str().unwrap();
    let parts = [path_text, "another process is writing this run"];
    assert_clear(&RunDir::resume(&path).unwrap_err(), &parts);
    assert_clear(&RunDir::create(&path, "other").unwrap_err(), &parts);
    assert_eq!(fs::read_to_string(RunDir::experiment_path(&path)).unwrap(), EXPERIMENT);
    assert_eq!(fs::read(trials_file(&path)).unwrap(), before);
    // Reading needs no lock: a report of a run under way is no crime.
    assert_eq!(RunDir::read_trials(&path).unwrap().len(), 1);
    drop(run);
    RunDir::resume(&path).unwrap();
}

#[test]
fn a_second_process_is_refused_until_the_first_is_gone() {
    let (_dir, path) = run_of(&[]);
    let elsewhere = || {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "run_dir::helper_resume_elsewhere", "--nocapture"])
            .env(RUN_OF_HELPER, &path)
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let (run, ..) = RunDir::resume(&path).unwrap();
    let text = elsewhere();
    assert!(text.contains("another process is writing this run"), "{text}");
    drop(run);
    let text = elsewhere();
    assert!(text.contains("resumed"), "{text}");
}

/// Does nothing unless the test above starts it.
#[test]
fn helper_resume_elsewhere() {
    let Some(path) = std::env::var_os(RUN_OF_HELPER) else { return };
    match RunDir::resume(Path::new(&path)) {
        Ok(_) => println!("resumed"),
        Err(error) => println!("{error}"),
    }
}

#[test]
fn a_directory_that_holds_a_run_is_not_written_over() {
    let (_dir, path) = run_of(&[measured(0)]);
    let error = RunDir::create(&path, "other").unwrap_err();
    assert_clear(&error, &[path.to_str().unwrap(), "there is a run in it", "choose another name"]);
    assert_eq!(fs::read_to_string(RunDir::experiment_path(&path)).unwrap(), EXPERIMENT);
    assert_eq!(RunDir::read_trials(&path).unwrap().len(), 1);
}

/// A record with one text replaced.
fn spoil(file: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains(from), "{from} is not in {text}");
    fs::write(file, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn newer_versions_are_refused_with_their_line_and_what_to_do() {
    let help = "use the version of Proofload that wrote it";
    let (_dir, path) = run_of(&[failed(0), failed(1)]);
    spoil(&trials_file(&path), "{\"version\":1,\"index\":1", "{\"version\":2,\"index\":1");
    let before = fs::read(trials_file(&path)).unwrap();
    for error in [RunDir::read_trials(&path).unwrap_err(), RunDir::resume(&path).unwrap_err()] {
        assert_clear(&error, &["trials.jsonl:2: ", "the trial has version 2", help]);
    }
    assert_eq!(fs::read(trials_file(&path)).unwrap(), before);

    let (_dir, path) = run_of(&[failed(0), measured(1)]);
    spoil(&trials_file(&path), "\"load\":{\"version\":1", "\"load\":{\"version\":7");
    assert_clear(&RunDir::read_trials(&path).unwrap_err(), &["trials.jsonl:2: ", "the load has version 7"]);

    let (_dir, path) = run_of(&[]);
    spoil(&path.join("manifest.json"), "\"version\": 1", "\"version\": 99");
    for error in [RunDir::read_manifest(&path).unwrap_err(), RunDir::resume(&path).unwrap_err()] {
        assert_clear(&error, &["manifest.json:2: ", "the manifest has version 99", help]);
    }
}

/// A newer version is called newer even where its fields are not those known here.
#[test]
fn a_newer_version_is_named_before_its_fields_are_judged() {
    let (_dir, path) = run_of(&[]);
    fs::write(trials_file(&path), "{\"version\":2,\"all\":\"else is new\"}\n").unwrap();
    assert_clear(&RunDir::read_trials(&path).unwrap_err(), &["trials.jsonl:1: ", "has version 2"]);
    fs::write(path.join("manifest.json"), "{\n  \"all\": \"is new\",\n  \"version\": 2\n}\n").unwrap();
    assert_clear(&RunDir::read_manifest(&path).unwrap_err(), &["manifest.json:3: ", "has version 2"]);
}

#[test]
fn what_is_no_record_is_named_with_its_line_and_left_as_it_is() {
    let (_dir, path) = run_of(&[failed(0), failed(1)]);
    let file = trials_file(&path);
    spoil(&file, "\"index\":1", "\"index\":-1");
    let mut unfinished = fs::read(&file).unwrap();
    unfinished.extend(b"{\"version\":1");
    fs::write(&file, &unfinished).unwrap();
    for error in [RunDir::read_trials(&path).unwrap_err(), RunDir::resume(&path).unwrap_err()] {
        assert_clear(&error, &["trials.jsonl:2: not a record of this version", "use the version"]);
    }
    assert_eq!(fs::read(&file).unwrap(), unfinished);
    fs::write(path.join("manifest.json"), "{\n  \"version\": 1,\n  !\n}").unwrap();
    assert_clear(&RunDir::read_manifest(&path).unwrap_err(), &["manifest.json:3: "]);
}

/// Another version helps nobody who named something else, or whose file is damaged.
#[test]
fn what_is_no_record_at_all_is_not_said_to_be_of_another_version() {
    let not_said = |error: &RecordError| {
        let text = error.to_string();
        assert!(!text.contains("the version of Proofload"), "{text}");
    };
    let name = Path::new("notes.json");
    for text in ["hello\n", "", "{}", "[1]", "{\"version\": 1, \"title\": \"another record\"}"] {
        let error = LoadResult::from_json(name, text).unwrap_err();
        assert_clear(&error, &["notes.json:1: no record of Proofload: ", "`proofload hit --json` printed"]);
        not_said(&error);
    }
    let error = LoadResult::from_json(name, "{\"version\": 99}").unwrap_err();
    assert_clear(&error, &["the load has version 99", "use the version of Proofload that wrote it"]);
    let (_dir, path) = run_of(&[failed(0)]);
    fs::write(trials_file(&path), "{\"version\":1,\"ind\n").unwrap();
    fs::write(path.join("manifest.json"), "hello").unwrap();
    for error in [RunDir::read_trials(&path).unwrap_err(), RunDir::read_manifest(&path).unwrap_err()] {
        assert_clear(&error, &["no record of Proofload: ", "take it from a copy, or leave this run out"]);
        not_said(&error);
    }
}

#[test]
fn what_is_not_there_is_one_error() {
    let dir = tempfile::tempdir().unwrap();
    for error in [
        RunDir::read_manifest(dir.path()).unwrap_err(),
        RunDir::read_trials(dir.path()).unwrap_err(),
        RunDir::resume(dir.path()).unwrap_err(),
    ] {
        assert_clear(&error, &["reading failed", "check the path"]);
    }
    // Resuming what is no run leaves nothing behind.
    assert_eq!(names_in(dir.path()), Vec::<String>::new());
}

#[test]
fn an_unwritable_directory_is_one_error_with_what_to_do() {
    // Not even root makes directories there.
    let path = Path::new("/sys/kernel/proofload-test/run");
    let error = RunDir::create(path, EXPERIMENT).unwrap_err();
    assert_clear(&error, &["/sys/kernel/proofload-test/run: making the directory failed", "--runs DIR"]);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    File::create(&file).unwrap();
    let error = RunDir::create(&file.join("run"), EXPERIMENT).unwrap_err();
    assert_clear(&error, &["file/run: making the directory failed", "check the path"]);
}
