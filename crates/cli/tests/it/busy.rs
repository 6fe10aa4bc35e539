//! `proofload run` on a machine that others use: it says so, waits where it is asked to, and repeats what they disturbed.

use std::fs;
use std::process::{Child, Command};

use crate::lab::{Lab, trials, unhurried_stack};

const FIVE: &str = r#"
title = "five"
blocks = 5
cool_down_max = "0s"
twin = false
control = false
[load]
connections = [2]
duration = "1100ms"
[[round]]
name = "hello"
endpoint = "hello"
stacks = ["one", "two"]
"#;

/// Processes that compute until the test is over.
struct Busy(Vec<Child>);

impl Busy {
    fn all_cores() -> Self {
        let cores = std::thread::available_parallelism().unwrap().get();
        let computes = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        Self((0..cores).map(|_| computes()).collect())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
#[ignore = "slow: twelve windows of a second, while all cores compute"]
fn a_disturbed_block_is_made_once_more_and_its_first_trials_stay() {
    let (one, two) = (unhurried_stack(r#""--model", "pool""#), unhurried_stack(r#""--model", "single""#));
    let lab = Lab::new(FIVE, &[("one", &one), ("two", &two)]);
    let busy = Busy::all_cores();
    let output = lab.command().arg(lab.path("test.toml")).args(["--wait-for-quiet", "3s"]).output().unwrap();
    drop(busy);
    let (told, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{told}{errors}");
    assert!(errors.contains("waiting for quiet") && errors.contains("sh "), "{errors}");
    assert!(errors.contains("block 1 was disturbed and is made once more: other processes used"), "{errors}");
    assert!(told.contains("repeated: block 1, since other processes used"), "{told}");

    let all = trials(&lab.run_dir());
    let indices: Vec<u64> = all.iter().map(|it| it["index"].as_u64().unwrap()).collect();
    assert_eq!(indices.len(), 12, "{indices:?}");
    let mut again = indices[2..4].to_vec();
    again.sort_unstable();
    assert_eq!(
        again,
        [1_000_000, 1_000_001],
        "right behind the block, which is the first of five: {indices:?}"
    );
    for trial in &all[2..4] {
        let repeats = &trial["repeats"];
        assert_eq!(repeats["index"].as_u64().unwrap() + 1_000_000, trial["index"].as_u64().unwrap());
        assert_eq!(repeats["block"].as_array().unwrap().len(), 2);
        assert_eq!(trial["block"], 0);
    }
    // A half of the repetition is gone on with, and nothing is made twice.
    let file = lab.run_dir().join("trials.jsonl");
    let whole = fs::read_to_string(&file).unwrap();
    let half: String = whole.lines().take(3).flat_map(|line| [line, "\n"]).collect();
    fs::write(&file, &half).unwrap();
    let resumed = lab.command().arg("--resume").arg(lab.run_dir()).output().unwrap();
    assert_eq!(resumed.status.code(), Some(0), "{}", String::from_utf8_lossy(&resumed.stderr));
    let mut indices: Vec<u64> =
        trials(&lab.run_dir()).iter().map(|it| it["index"].as_u64().unwrap()).collect();
    assert!(fs::read_to_string(&file).unwrap().starts_with(&half), "what is written stays");
    indices.sort_unstable();
    assert_eq!(indices, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1_000_000, 1_000_001]);
    assert!(lab.nothing_runs());
}
