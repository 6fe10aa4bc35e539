//! `proofload run --driver`: the real wrk and the real JMeter in our place, and what they measure.

use serde_json::Value;

use crate::common::texts;
use crate::driven::{EXPERIMENT, lab, run};
use crate::lab::trials;
use crate::quiet::measured_alone;

/// 8 threads that take 20 ms answer 400 a second, whoever asks; of 100 ms, 80.
fn is_near(rate: f64, trial: &Value) -> Result<(), String> {
    let goodput =
        trial["measured"]["load"]["goodput_per_s"].as_f64().ok_or(format!("not measured: {trial}"))?;
    // A window's ends cut a wave of 8 off, or JMeter's begins with one.
    if (goodput - rate).abs() > 0.1 * rate {
        return Err(format!("{}: {goodput}/s instead of {rate}/s", trial["driver"]));
    }
    Ok(())
}

#[test]
#[ignore = "slow: has the machine to itself"]
fn wrk_measures_and_what_it_cannot_know_is_absent_and_named() {
    measured_alone(|| {
        let experiment = EXPERIMENT.replace("control = false", "control = false\ndriver = \"wrk\"");
        let lab = lab(&experiment.replace("\"2s\"", "\"1s\""), 20);
        let output = run(&lab, &[]);
        let (text, errors) = texts(&output);
        assert_eq!(output.status.code(), Some(0), "{text}{errors}");
        let trial = trials(&lab.run_dir()).remove(0);
        is_near(400.0, &trial)?;
        assert_eq!(trial["driver"], "wrk");
        let load = &trial["measured"]["load"];
        assert_eq!(load["response_time_us"]["count"], 0, "{load}");
        assert!(load["service_time_us"]["p99"].as_f64().unwrap() > 20_000.0, "{load}");
        assert!(load["service_time_us"]["p99_9"].is_null(), "{load}");
        assert_eq!((&load["driver"]["name"], load["load"]["io"].as_str()), (&"wrk".into(), Some("wrk")));
        assert!(load["driver"]["version"].as_str().unwrap().starts_with("wrk "), "{load}");
        assert!(load["driver"]["cannot_know"][0].as_str().unwrap().contains("due"), "{load}");
        assert!(load["driver"]["cpu_cores"].as_f64().unwrap() > 0.0, "{load}");
        assert!(load["littles_law"]["gap"].as_f64().unwrap() < 0.2, "{load}");
        assert!(text.contains("sleep, 16 connections, by wrk"), "{text}");
        assert!(text.contains("can't know:"), "{text}");
        assert!(lab.nothing_runs());
        Ok(())
    });
}

#[test]
#[ignore = "slow: JMeter, which is fetched and boots a JVM"]
fn all_three_measure_a_cell_in_one_block_and_stand_side_by_side() {
    measured_alone(|| {
        let lab = lab(EXPERIMENT, 100);
        let output = run(&lab, &["--driver", "all"]);
        let (text, errors) = texts(&output);
        assert_eq!(output.status.code(), Some(0), "{text}{errors}");
        let all = trials(&lab.run_dir());
        let mut drivers: Vec<&str> =
            all.iter().map(|trial| trial["driver"].as_str().unwrap_or("proofload")).collect();
        drivers.sort_unstable();
        assert_eq!(drivers, ["jmeter", "proofload", "wrk"], "{text}{errors}");
        assert!(all.iter().all(|trial| trial["block"] == 0));
        all.iter().try_for_each(|trial| is_near(80.0, trial))?;
        let jmeter = all.iter().find(|trial| trial["driver"] == "jmeter").unwrap();
        let load = &jmeter["measured"]["load"];
        assert_eq!(load["statuses"]["200"], load["intended"], "{load}");
        assert!(load["service_time_us"]["p50"].as_f64().unwrap() >= 99_000.0, "{load}");
        assert!(load["driver"]["version"].as_str().unwrap().contains("5.6.3"), "{load}");
        for part in ["by wrk", "by JMeter", "The drivers side by side: sleep, 16 connections", "× "] {
            assert!(text.contains(part), "{part:?} in {text}");
        }
        let resumed = lab.command().arg("--resume").arg(lab.run_dir()).output().unwrap();
        assert_eq!(resumed.status.code(), Some(0), "{}", texts(&resumed).1);
        assert_eq!(trials(&lab.run_dir()).len(), 3, "nothing was left to do");
        assert!(lab.nothing_runs());
        Ok(())
    });
}
