//! `proofload calibrate` on real processes: told and truth agree, and nothing is left behind.

use std::process::Stdio;

use crate::common::{in_one_of_three_tries, json, processes_with, proofload, signal, wait_until};
use rustix::process::Signal;

/// One case, each with what a busy machine may do to it: in bounds in one of three runs.
#[test]
fn our_own_figures_are_in_bounds_of_the_servers_log() {
    in_one_of_three_tries(|| {
        let dir = tempfile::tempdir().unwrap();
        let arguments = ["calibrate", "--quick", "--case", "exponential", "--json", "-q"];
        let output = proofload().args(arguments).env("TMPDIR", dir.path()).output().unwrap();
        let result = json(&output);
        let verdict = &result["verdicts"][0];
        let told = &result["cases"][0]["tries"].as_array().unwrap().last().unwrap();
        // What holds on any machine, however busy.
        assert_eq!(told["truth"]["response_time_us"]["count"], 4000);
        assert_eq!(told["load"]["response_time_us"]["count"], 4000);
        assert_eq!(told["truth"]["arrived_early"], 0);
        assert_eq!(verdict["response"].as_array().unwrap().len(), 5);
        assert_eq!(verdict["service"].as_array().unwrap().len(), 5);
        assert!(result["idle_scheduling_delay_us"]["count"].as_u64().unwrap() > 0);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "something is left behind");
        match (verdict["outcome"].as_str(), output.status.code()) {
            (Some("in_bounds"), Some(0)) => Ok(()),
            (Some("in_bounds"), code) => panic!("exit code {code:?}"),
            (_, code) => {
                assert_eq!(code, Some(4), "{verdict:#}");
                Err(format!("{verdict:#}"))
            }
        }
    });
}

#[test]
fn ctrl_c_ends_a_calibration_and_its_server() {
    let dir = tempfile::Builder::new().prefix("proofload-calibrate-").tempdir().unwrap();
    let marker = dir.path().to_str().unwrap().to_owned();
    let child = proofload()
        .args(["calibrate", "--case", "fixed-5ms", "-q"])
        .env("TMPDIR", dir.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // The server's log is in that folder, and so on its command line.
    wait_until("the server is up", || !processes_with(&marker).is_empty());
    signal(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.contains("0 of 0 cases in bounds; interrupted"), "{text}");
    wait_until("the server is gone", || processes_with(&marker).is_empty());
}

#[test]
fn kill_9_leaves_no_server_behind() {
    let dir = tempfile::Builder::new().prefix("proofload-calibrate-").tempdir().unwrap();
    let marker = dir.path().to_str().unwrap().to_owned();
    let mut child = proofload()
        .args(["calibrate", "--case", "fixed-5ms", "-q"])
        .env("TMPDIR", dir.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the server is up", || !processes_with(&marker).is_empty());
    signal(&child, Signal::KILL);
    child.wait().unwrap();
    wait_until("the server is gone", || processes_with(&marker).is_empty());
}
