//! `proofload calibrate` on real processes: told and truth agree, and nothing is left behind.

use std::process::Stdio;

use crate::common::{processes_with, proofload, signal, wait_until};
use rustix::process::Signal;

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
