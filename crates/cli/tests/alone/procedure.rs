//! How trials are made: latency at shares of the slowest stack's capacity.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::lab::{trials, two_targets};
use crate::quiet::measured_alone;

#[test]
#[ignore = "slow: an experiment of eighteen trials"]
fn latency_is_compared_at_shares_of_what_the_slowest_carries() {
    measured_alone(shares_are_kept);
}

fn shares_are_kept() -> Result<(), String> {
    let lab = two_targets(
        r#"
title = "latency"
seed = 7
blocks = 2
control = false
cool_down_max = "0s"
[load]
connections = [32]
warm_up = "300ms"
duration = "700ms"
[[round]]
name = "hello"
endpoint = "hello"
stacks = ["pool", "loop"]
latency = ["50%", "90%"]
"#,
    );
    let output = lab.run();
    let text = String::from_utf8_lossy(&output.stdout);
    let all = trials(&lab.run_dir());
    assert_eq!(all.len(), 2 * 3 * 3, "three rows of capacity, and of each share:\n{text}");
    for (share, percent) in [(0.5, "50%"), (0.9, "90%")] {
        let round = format!("hello, latency at {percent} of the slowest");
        let of_round: Vec<&Value> = all.iter().filter(|trial| trial["round"] == round.as_str()).collect();
        assert_eq!(of_round.len(), 2 * 3, "{text}");
        for trial in of_round {
            let rate = trial["measured"]["load"]["load"]["rate_per_s"].as_f64().unwrap();
            // The pool carries 400/s.
            if (rate / share - 400.0).abs() >= 60.0 {
                return Err(format!("{rate} at {percent}"));
            }
        }
    }
    assert!(text.contains("of p99"), "{text}");
    let first: Vec<&str> = all.iter().take(6).filter_map(|trial| trial["round"].as_str()).collect();
    assert_eq!(first, ["hello"; 6], "capacities come first");
    every_block_has_arrivals_of_its_own(&all);
    Ok(())
}

/// All that is compared within a block is given the same arrivals; no other block, share or phase has them.
fn every_block_has_arrivals_of_its_own(trials: &[Value]) {
    let mut by_group: BTreeMap<(String, u64), BTreeSet<u64>> = BTreeMap::new();
    for trial in trials {
        let group = (trial["round"].as_str().unwrap().to_owned(), trial["block"].as_u64().unwrap());
        let seed = trial["measured"]["load"]["load"]["seed"].as_u64().unwrap();
        by_group.entry(group).or_default().insert(seed);
    }
    assert_eq!(by_group.len(), 3 * 2);
    assert!(by_group.values().all(|seeds| seeds.len() == 1), "{by_group:?}");
    let all: BTreeSet<&u64> = by_group.values().flatten().collect();
    assert_eq!(all.len(), by_group.len(), "{by_group:?}");
    assert!(!all.contains(&7), "the experiment's own seed is nobody's");
}
