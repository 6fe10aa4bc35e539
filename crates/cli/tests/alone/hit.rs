//! `proofload hit` against the calibration server: what takes time, held to the time it must take.

use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::common::{Target, proofload, run, signal};
use crate::loads::{hit, outcome, outcomes_add_up, service_did_well};
use crate::quiet::{alone, measured_alone};

#[test]
#[ignore = "slow: has the machine to itself"]
fn in_the_closed_model_littles_law_holds() {
    measured_alone(|| {
        let target = Target::start(&["--path", "/slow=20ms"]);
        let (result, code) = hit(&format!("{}/slow", target.url), &["-c", "16", "-w", "300ms", "-d", "2s"]);
        let gap = result["littles_law"]["gap"].as_f64().expect("a closed load has it");
        let holds = service_did_well(&result) && gap <= 0.05;
        if holds { Ok(()) } else { Err(format!("exit code {code}, gap {gap}")) }
    });
}

#[test]
#[ignore = "slow: has the machine to itself"]
fn a_server_that_never_answers_gives_time_outs_at_their_bound_and_says_so() {
    measured_alone(|| {
        let target = Target::start(&["--never-answer"]);
        let arguments = ["-c", "10", "-d", "500ms", "--timeout", "400ms"];
        let (result, code) = hit(&target.url, &arguments);
        assert_eq!(code, 4);
        assert_eq!(outcome(&result, "timed_out"), result["intended"].as_u64().unwrap());
        let times = &result["response_time_us"];
        let lower_bounds: Vec<&str> =
            times["lower_bounds"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert!(lower_bounds.contains(&"p50"), "{lower_bounds:?}");
        let text = run(&[&["hit", &target.url, "-q"], &arguments[..]].concat());
        let is_shown = String::from_utf8_lossy(&text.stdout).contains(">400ms");
        // From when it was sent: before that each user opens a connection, in place of the one that went with the last time-out.
        let waited_us = result["service_time_us"]["p50"].as_f64().unwrap();
        let is_at_its_bound = (waited_us - 400_000.0).abs() < 1_000.0;
        if is_shown && is_at_its_bound { Ok(()) } else { Err(format!("{times}\n{text:?}")) }
    });
}

/// While users come and go, the rate is users × requests / (ramp-up + requests × response time).
#[test]
#[ignore = "slow: has the machine to itself"]
fn a_ramp_takes_as_long_as_its_arithmetic_says() {
    measured_alone(|| {
        let target = Target::start(&["--path", "/sleep=50ms"]);
        let arguments = ["-c", "40", "--ramp-up", "1s", "--requests-per-user", "20"];
        let (result, _) = hit(&format!("{}/sleep", target.url), &arguments);
        let rate = result["goodput_per_s"].as_f64().unwrap();
        let due = 40.0 * 20.0 / (1.0 * 39.0 / 40.0 + 20.0 * 0.05);
        if (rate - due).abs() / due < 0.1 { Ok(()) } else { Err(format!("{rate}/s instead of {due}/s")) }
    });
}

/// What nobody gets round to is a hundred millions a second here, and takes no time to account for.
#[test]
#[ignore = "slow: keeps the cores busy for seconds"]
fn a_rate_beyond_any_generator_ends_when_it_should_and_says_whose_limit_it_was() {
    let _turn = alone();
    let target = Target::start(&[]);
    let begun = std::time::Instant::now();
    let (result, code) = hit(&target.url, &["--rate", "100M", "-c", "2", "-d", "2s", "--backlog", "1000"]);
    assert!(begun.elapsed() < Duration::from_secs(12), "it took {:?}", begun.elapsed());
    assert_eq!(code, 4);
    outcomes_add_up(&result);
    let intended = result["intended"].as_u64().unwrap();
    assert!((199_999_000..=200_000_000).contains(&intended), "{intended}");
    assert!(outcome(&result, "backlog_overflow") > 0);
    let busy = result["generator"]["busy_share"].as_f64().unwrap();
    assert!(busy <= 1.01, "busy for {busy}");

    let child = proofload()
        .args(["hit", &target.url, "--rate", "100M", "-c", "2", "-d", "600s", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    let asked = std::time::Instant::now();
    signal(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert!(asked.elapsed() < Duration::from_secs(5), "it ended {:?} after it was asked to", asked.elapsed());
    assert_eq!(output.status.code(), Some(130));
}

/// The server logs when it answered each request; the schedule says when each was due. Their difference is
/// what users waited, whatever the client thinks.
#[test]
#[ignore = "slow: a load of ten seconds"]
fn a_stall_shows_in_the_percentiles_as_the_server_itself_saw_it() {
    measured_alone(stall_is_told_as_it_was);
}

fn stall_is_told_as_it_was() -> Result<(), String> {
    const RATE: u64 = 2000;
    let dir = tempfile::tempdir().unwrap();
    let truth = dir.path().join("truth.csv");
    // One stall, well within the window: what was due in it is sent before the deadline.
    let target = Target::start(&["--stall", "1s/7s", "--truth", truth.to_str().unwrap()]);
    let arguments = ["-c", "300", "-d", "10s", "--timeout", "5s", "--rate", "2000"];
    let (result, _) = hit(&target.url, &arguments);
    target.stop();
    let start_ns = result["window"]["start_monotonic_ns"].as_u64().unwrap();
    let mut answered_ns: Vec<u64> = std::fs::read_to_string(&truth)
        .unwrap()
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').nth(1)?.parse().ok())
        .collect();
    answered_ns.sort_unstable();
    let mut waited_us: Vec<f64> = answered_ns
        .iter()
        .zip(0u64..)
        .map(|(answered, index)| {
            answered.saturating_sub(start_ns + index * 1_000_000_000 / RATE) as f64 / 1e3
        })
        .collect();
    waited_us.sort_by(f64::total_cmp);
    assert_eq!(Some(waited_us.len() as u64), result["intended"].as_u64(), "one answer a due request");
    // Not p90: the stall takes a tenth of the window, so that a few requests more or less decide whether it lies before its
    // edge or behind.
    for (name, quantile) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p99_9", 0.999)] {
        let rank = (quantile * waited_us.len() as f64).ceil() as usize;
        let truth_us = waited_us[rank - 1];
        let told_us = result["response_time_us"][name].as_f64().unwrap();
        let allowed_us = (truth_us * 0.01).max(1_000.0);
        // Shown with --nocapture.
        eprintln!(
            "{name}: truth {truth_us:.1} us, told {told_us:.1} us, off by {:.1} us",
            told_us - truth_us
        );
        if (told_us - truth_us).abs() > allowed_us {
            return Err(format!("{name}: told {told_us} us, truth {truth_us} us"));
        }
    }
    Ok(())
}
