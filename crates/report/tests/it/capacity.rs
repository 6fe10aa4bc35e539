//! What stacks can carry.

use explain::capacity;
use record::{Trial, TrialResult};
use report::capacity_text;

use crate::samples::{at, failed};

/// Six blocks at each level, never twice quite the same.
fn sweep(round: &str, stack: &str, levels: &[u32], rate: impl Fn(f64) -> f64) -> Vec<Trial> {
    let noise = |block: u32, level: u32| 1.0 + 0.004 * f64::from((block * 5 + level * 3) % 7) - 0.012;
    let mut trials = Vec::new();
    for (level, users) in (0..).zip(levels) {
        for block in 0..6 {
            let trial = at(block, stack, rate(f64::from(*users)) * noise(block, level));
            trials.push(at_connections(Trial { round: round.into(), ..trial }, *users));
        }
    }
    trials
}

fn at_connections(mut trial: Trial, connections: u32) -> Trial {
    trial.load = record::load_of_label(&format!("{connections} connections"));
    if let TrialResult::Measured(measured) = &mut trial.result {
        measured.load.load.connections = connections;
        measured.load.load.label = trial.load.to_string();
    }
    trial
}

fn pool(size: f64) -> impl Fn(f64) -> f64 {
    move |users| users.min(size) / 0.1
}

fn law(sigma: f64, kappa: f64) -> impl Fn(f64) -> f64 {
    move |users| 100.0 * users / (1.0 + sigma * (users - 1.0) + kappa * users * (users - 1.0))
}

#[test]
fn laws_pools_and_what_can_be_neither() {
    let low = [1, 4, 16, 64, 256, 512];
    let mut trials = sweep("hello", "gin", &low, law(0.02, 1e-4));
    trials.extend(sweep("hello", "nginx", &low, law(0.03, 0.0)));
    trials.extend(sweep("hello", "far", &low, law(1e-4, 1e-8)));
    trials.extend(sweep("sleep", "tomcat", &[25, 50, 100, 300, 600, 1000], pool(200.0)));
    trials.extend(sweep("sleep", "zuul", &[300, 1000, 3000, 5000], pool(20.0)));
    trials.extend(sweep("sleep", "virtual", &[25, 50, 100, 300], pool(1e9)));
    trials.extend(sweep("sleep", "two-levels", &[25, 50], pool(200.0)));
    trials.extend(sweep("sleep", "steps", &low, |users| if users < 100.0 { users } else { 3.0 * users }));
    insta::assert_snapshot!(capacity_text(&capacity(&trials)));
}

#[test]
fn a_single_block_has_no_ranges() {
    let mut trials = sweep("hello", "gin", &[1, 4, 16, 64, 256, 512], law(0.02, 1e-4));
    trials.extend(sweep("hello", "tomcat", &[25, 50, 100, 300, 600, 1000, 2000], pool(200.0)));
    trials.retain(|it| it.block == 0);
    let dead = Trial { round: "hello".into(), ..failed(0, "dead", "it did not come up") };
    trials.push(at_connections(dead, 64));
    insta::assert_snapshot!(capacity_text(&capacity(&trials)));
}

#[test]
fn no_line_of_it_is_wider_than_a_wide_terminal() {
    let stack = "java-socket-thread-per-request-2019@keep-alive-unlimited";
    let trials =
        sweep("hello", stack, &[300, 1000, 3000, 50_000], |users| users * 123_456.0 / (users + 900.0));
    let text = capacity_text(&capacity(&trials));
    for line in text.lines().filter(|it| !it.starts_with("  (")) {
        assert!(line.chars().count() <= 150, "{}: {line}", line.chars().count());
    }
}

#[test]
fn nothing_to_tell_is_said() {
    insta::assert_snapshot!(
        capacity_text(&capacity(&[])),
        @"No stack was measured at a number of connections in the closed model without think time."
    );
}

#[test]
fn as_json_it_has_no_infinity() {
    let trials = sweep("sleep", "virtual", &[25, 50, 100, 300], pool(1e9));
    let json = serde_json::to_string(&capacity(&trials)).unwrap();
    for word in ["\"knee\":\"not_reached\"", "\"explained_by\":\"undecided\"", "\"high\":null"] {
        assert!(json.contains(word), "{json}");
    }
    let law = capacity(&trials)[0].law.clone().unwrap();
    assert!(law.peak_per_s.value.is_none_or(f64::is_finite));
}

#[test]
fn where_connections_carry_several_requests_n_is_of_requests() {
    let levels = [300, 1000, 3000, 5000];
    let mut trials = sweep("hello", "zuul", &levels, pool(20.0));
    let told = |trials: &[Trial]| {
        let text = capacity_text(&capacity(trials));
        let heading: Vec<String> = text.lines().skip(1).take(2).map(str::to_owned).collect();
        (heading.join("\n"), text)
    };
    let (heading, text) = told(&trials);
    assert!(heading.contains("connections") && text.contains("at 300 connections, the fewest"), "{text}");
    for trial in &mut trials {
        let TrialResult::Measured(measured) = &mut trial.result else { unreachable!("all are measured") };
        measured.load.load.streams = Some(4);
    }
    let (heading, text) = told(&trials);
    assert!(heading.contains("requests") && heading.contains("at a time"), "{text}");
    assert!(!heading.contains("connections") && text.contains("1200 to 20000"), "{text}");
    assert!(text.contains("at 1200 requests at a time, the fewest"), "{text}");
}
