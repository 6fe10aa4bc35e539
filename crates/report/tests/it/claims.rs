//! A write-up's claims beside what was measured.

use std::path::Path;

use plan::WriteUp;
use plan::stack::Catalogue;
use record::{Trial, TrialResult};
use report::{ClaimsReport, MeasuredRun, VerdictCounts, claims_text};

use crate::samples::{at, manifest};

fn write_up(name: &str) -> WriteUp {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let catalogue = Catalogue::load(&repository.join("stacks")).expect("the catalogue is valid");
    WriteUp::read(&repository.join("published").join(name), &catalogue).expect("the write-up is valid")
}

const RATES: [(&str, f64); 4] =
    [("jetty", 9_800.0), ("undertow", 11_900.0), ("tomcat-apr", 9_000.0), ("tomcat-nio", 8_900.0)];

fn containers(blocks: u32) -> Vec<Trial> {
    let machine = |block: u32| 1.0 + 0.1 * f64::from(block * 7 % 5);
    let noise = |stack: u32, block: u32| 1.0 + 0.002 * f64::from((stack * 3 + block * 5) % 7);
    let mut trials = Vec::new();
    for (stack, (name, rate)) in (0..).zip(RATES) {
        trials.extend((0..blocks).map(|block| {
            let mut trial = at(block, name, rate * machine(block) * noise(stack, block));
            trial.load = record::load_of_label("400 connections");
            if let TrialResult::Measured(measured) = &mut trial.result {
                measured.load.load.connections = 400;
            }
            trial
        }));
    }
    trials
}

fn report(blocks: u32) -> ClaimsReport {
    let mut manifest = manifest(&RATES.map(|it| it.0), blocks * 4);
    manifest.blocks = blocks;
    manifest.quick = blocks == 1;
    ClaimsReport::of(
        &write_up("servlet-containers.toml"),
        &manifest,
        &containers(blocks),
        "runs/containers-1",
    )
}

#[test]
fn every_verdict_has_its_figures_beside_it() {
    insta::assert_snapshot!(claims_text(&report(10)));
}

#[test]
fn a_quick_look_shows_where_it_points() {
    insta::assert_snapshot!(claims_text(&report(1)));
}

#[test]
fn json_says_the_same() {
    let report = report(10);
    let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    assert_eq!(json["counts"]["confirmed"], report.counts.confirmed);
    assert_eq!(json["claims"][0]["verdict"], "reversed");
    assert_eq!(json["claims"][0]["parts"][0]["unit"], "ratio");
    assert_eq!(json["claims"][0]["metric"], "goodput");
    assert_eq!(json["published_machine"]["cores"], 4);
}

/// Each claim is judged by one run, the last that has all of its cells; no blocks of two runs are put together.
#[test]
fn a_claim_is_judged_by_the_last_run_that_measured_all_of_it() {
    let (whole, manifest) = (containers(10), manifest(&RATES.map(|it| it.0), 40));
    let without = |left_out: &str| -> Vec<record::Trial> {
        containers(3).into_iter().filter(|trial| trial.stack != left_out).collect()
    };
    let part = without("jetty");
    let run = |trials, dir| MeasuredRun { manifest: &manifest, trials, dir };
    let of = |runs: &[MeasuredRun<'_>]| ClaimsReport::of_runs(&write_up("servlet-containers.toml"), runs);
    let report = of(&[run(&whole, "runs/whole"), run(&part, "runs/part")]);
    assert_eq!((report.run.as_str(), report.blocks), ("runs/part", 3));
    let [other] = &report.other_runs[..] else { panic!("{:?}", report.other_runs) };
    assert_eq!((other.run.as_str(), other.blocks), ("runs/whole", 10));
    // Of nginx there is no trial in either.
    for claim in report.claims.iter().filter(|claim| claim.parts.iter().any(|part| part.blocks > 0)) {
        let needs_all = claim.parts.iter().any(|part| part.what.contains("jetty"));
        assert_eq!(other.claims.contains(&claim.id), needs_all, "{}", claim.id);
        let blocks = if needs_all { 10 } else { 3 };
        assert!(claim.parts.iter().all(|part| part.blocks == blocks), "{claim:?}");
    }
    let told = claims_text(&report);
    assert!(told.contains(": runs/whole") && told.contains("10 blocks, of "), "{told}");
    // What came later has it all.
    assert!(of(&[run(&part, "runs/part"), run(&whole, "runs/whole")]).other_runs.is_empty());
}

/// What a claim rests on is said of the run that judges it, and not of the last one alone.
#[test]
fn another_run_that_was_only_a_quick_look_says_so() {
    let mut whole = manifest(&RATES.map(|it| it.0), 40);
    let last = whole.clone();
    whole.quick = true;
    let (of_whole, mut of_last) = (containers(1), containers(3));
    of_last.retain(|trial| trial.stack != "jetty");
    let runs = [
        MeasuredRun { manifest: &whole, trials: &of_whole, dir: "runs/whole" },
        MeasuredRun { manifest: &last, trials: &of_last, dir: "runs/last" },
    ];
    let report = ClaimsReport::of_runs(&write_up("servlet-containers.toml"), &runs);
    assert_eq!((report.quick, report.other_runs[0].quick), (false, true));
    let told = claims_text(&report);
    assert!(told.contains("1 block, a quick look, of "), "{told}");
    let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
    assert_eq!(json["other_runs"][0]["quick"], true);
}

/// Nothing of a write-up's run: every claim says what it lacks.
#[test]
fn an_empty_run_tests_nothing() {
    for name in ["springmvc-webflux", "gateways", "socket-models", "virtual-threads"] {
        let write_up = write_up(&format!("{name}.toml"));
        let report = ClaimsReport::of(&write_up, &manifest(&[], 0), &[], "runs/none");
        let VerdictCounts { not_measured, not_testable, .. } = report.counts;
        assert_eq!(not_measured + not_testable, write_up.claims.len());
        let cannot = |it: &&plan::Claim| matches!(it.statement, plan::Statement::NotTestable { .. });
        assert_eq!(not_testable, write_up.claims.iter().filter(cannot).count(), "{name}");
        assert!(claims_text(&report).contains("the run has no trial of"), "{name}");
    }
}
