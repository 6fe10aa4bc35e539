//! `proofload run` on real processes: the ranking.

use crate::lab::{Lab, target_stack, trials};
use crate::quiet::measured_alone;

#[test]
#[ignore = "slow: an experiment of two stacks"]
fn the_ranking_names_a_pool_by_its_size_and_an_event_loop_by_its_users() {
    measured_alone(models_are_told_apart);
}

fn models_are_told_apart() -> Result<(), String> {
    let experiment = r#"
title = "models"
blocks = 1
twin = false
control = false
cool_down_max = "0s"
[load]
connections = [48]
warm_up = "500ms"
duration = "3s"
timeout = "10s"
[[round]]
name = "sleep"
endpoint = "sleep"
stacks = ["pool", "loop"]
"#;
    let pool = target_stack(r#""--model", "pool", "--threads", "8""#);
    let event_loop = target_stack(r#""--model", "event-loop""#);
    let lab = Lab::new(experiment, &[("pool", &pool), ("loop", &event_loop)]);
    let output = lab.run();
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&output.stderr));
    for trial in trials(&lab.run_dir()) {
        let goodput = trial["measured"]["load"]["goodput_per_s"].as_f64().unwrap();
        let due = if trial["stack"] == "pool" { 80.0 } else { 480.0 };
        if (goodput - due).abs() / due > 0.03 {
            return Err(format!("{}: {goodput}/s instead of {due}/s", trial["stack"]));
        }
        let server = &trial["measured"]["server"];
        assert!(server["cpu_us_per_request"].as_f64().unwrap() > 0.0, "{server}");
        assert!(server["rss_bytes_max"].as_u64().unwrap() > 100_000, "{server}");
        assert_eq!(trial["measured"]["contract"]["status"], 200);
    }
    // Who else uses the machine may be named before them.
    if !(text.contains("pool of 8 (pool-*)") && text.contains("none: idle pace")) {
        return Err(text.into_owned());
    }
    assert!(text.contains(lab.run_dir().to_str().unwrap()), "{text}");
    assert!(lab.nothing_runs());
    Ok(())
}
