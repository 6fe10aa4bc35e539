//! `proofload calibrate` on real processes: told and truth agree.

use crate::common::{json, proofload};
use crate::quiet::{measured_alone, tell_tries};

#[test]
#[ignore = "slow: a calibration"]
fn our_own_figures_are_in_bounds_of_the_servers_log() {
    is_in_bounds(&[]);
}

/// The i-th request is made by agent i modulo three: what each tells is of its own share, and the log is of all.
#[test]
#[ignore = "slow: a calibration"]
fn what_three_agents_tell_together_is_in_bounds_of_the_servers_log() {
    is_in_bounds(&["--agents", "3"]);
}

fn is_in_bounds(more: &[&str]) {
    measured_alone(|| {
        let dir = tempfile::tempdir().unwrap();
        let arguments = [&["calibrate", "--quick", "--case", "exponential", "--json", "-q"], more].concat();
        let output = proofload().args(arguments).env("TMPDIR", dir.path()).output().unwrap();
        let result = json(&output);
        let verdict = &result["verdicts"][0];
        let tries = result["cases"][0]["tries"].as_array().unwrap();
        tell_tries(" (its case)", tries.len());
        let told = tries.last().unwrap();
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
