//! No `nan` and no `inf` is ever shown, whatever the records hold.

use explain::explain_cells;
use record::{Distribution, LittlesLaw, LoadResult, Measured, TrialResult};
use report::{
    HitReport, RunReport, TrialLine, explanations_text, hit_text, micros, per_s, ranking_text, time_us,
};

use crate::samples::{at, empty_load, failed, load, manifest, measured_of, mixed_load, silent_load, trial};

/// All that is shown of a trial, in each form there is.
fn everything(measured: &Measured, cores: usize, blocks: u32) -> Vec<String> {
    let report = HitReport::new(measured.load.clone());
    let trials = [
        trial(0, "a", TrialResult::Measured(Box::new(measured.clone()))),
        trial(1, "a", TrialResult::Measured(Box::new(measured.clone()))),
        at(0, "b", 1000.0),
        failed(0, "c", "why"),
    ];
    let mut manifest = manifest(&["a", "b", "c"], 0);
    manifest.blocks = blocks;
    manifest.machine.cores = cores;
    let run = RunReport { manifest: &manifest, trials: &trials, dir: "" };
    let lines = trials.iter().map(|trial| TrialLine(trial).to_string());
    let why = explanations_text(&explain_cells(&trials, cores));
    let whole = [hit_text(&report), report.json(), ranking_text(&run), why];
    whole.into_iter().chain(lines).collect()
}

/// Words that begin with what Rust, C or JavaScript print of such numbers.
fn unshowable(text: &str) -> Option<&str> {
    let words = text.split(|char: char| !char.is_alphanumeric());
    words.into_iter().find(|word| {
        let word = word.to_lowercase();
        ["nan", "inf"].iter().any(|it| word == *it) || word == "infinity"
    })
}

fn assert_shows_numbers(measured: &Measured) {
    for cores in [0, 2] {
        for blocks in [0, 3, 20] {
            for text in everything(measured, cores, blocks) {
                assert_eq!(unshowable(&text), None, "{text}");
            }
        }
    }
}

#[test]
fn the_search_finds_what_it_is_for() {
    for text in ["NaN/s", "+inf %", "a (nan)", "-inf", "Infinity"] {
        assert!(unshowable(text).is_some(), "{text}");
    }
    assert_eq!(unshowable("information on finance, 12.3 us"), None);
}

#[test]
fn empty_and_lost_loads_show_numbers() {
    for load in [load(1000.0), load(0.25), empty_load(), silent_load(), mixed_load()] {
        assert_shows_numbers(&measured_of(load));
    }
}

#[test]
fn a_trial_without_any_figure_shows_numbers() {
    let mut measured = measured_of(empty_load());
    measured.server = record::Server::default();
    measured.contract = record::Contract::default();
    assert_shows_numbers(&measured);
    measured.server.cpu_cores = Some(0.0);
    measured.server.thread_groups.insert("none".into(), 0);
    measured.load.load.connections = 0;
    measured.load.load.rate_per_s = Some(0.0);
    assert_shows_numbers(&measured);
}

#[test]
fn figures_that_are_no_numbers_are_shown_as_none() {
    for not_a_number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let wrong = Some(not_a_number);
        let times = Distribution {
            too_few_samples: std::collections::BTreeMap::new(),
            count: 1,
            censored: 1,
            lower_bounds: vec!["p50".into(), "max".into()],
            mean: wrong,
            p50: wrong,
            p75: wrong,
            p90: wrong,
            p95: wrong,
            p99: wrong,
            p99_9: wrong,
            p99_99: wrong,
            max: wrong,
        };
        let law = LittlesLaw {
            users: not_a_number,
            throughput_per_s: not_a_number,
            mean_response_s: not_a_number,
            gap: not_a_number,
        };
        let mut measured = measured_of(LoadResult {
            goodput_per_s: not_a_number,
            throughput_per_s: not_a_number,
            received_bytes_per_s: not_a_number,
            cpu_us_per_request: wrong,
            littles_law: Some(law),
            service_time_us: times.clone(),
            first_byte_us: Some(times.clone()),
            response_time_us: times.clone(),
            lag_us: times.clone(),
            generator_lag_us: times.clone(),
            receive_lag_us: times,
            ..load(1000.0)
        });
        measured.load.window.duration_s = not_a_number;
        measured.load.generator.busy_share = not_a_number;
        measured.load.generator.cpu_s = not_a_number;
        measured.load.load.rate_per_s = wrong;
        measured.server.cpu_cores = wrong;
        measured.server.cpu_us_per_request = wrong;
        measured.contract.idle_service_time_us = not_a_number;
        assert_shows_numbers(&measured);
        measured.load.interrupted = true;
        measured.load.load.rate_per_s = None;
        assert_shows_numbers(&measured);
        for text in [per_s(not_a_number), time_us(not_a_number), micros(wrong)] {
            assert_eq!(text, "–");
        }
    }
}
