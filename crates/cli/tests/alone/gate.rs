//! A gate's answers by a load of some seconds.

use std::fs;

use crate::common::{Target, json, run, text};
use crate::quiet::measured_alone;

/// One load that is long enough, held against all answers.
#[test]
#[ignore = "slow: has the machine to itself"]
fn evidence_decides_and_its_absence_does_not() {
    measured_alone(|| {
        let target = Target::start(&["--path", "/sleep=200ms"]);
        let url = format!("{}/sleep", target.url);
        let dir = tempfile::tempdir().unwrap();
        let (junit, markdown) = (dir.path().join("gate.xml"), dir.path().join("gate.md"));
        let output = run(&[
            "hit",
            &url,
            "-c",
            "60",
            "--rate",
            "100",
            "-d",
            "6s",
            "-q",
            "--json",
            "--fail-if",
            "p50>10ms",
            "--fail-if",
            "p90>1s",
            "--fail-if",
            "p99.99>1s",
            "--fail-if",
            "goodput<50/s",
            "--junit",
            junit.to_str().unwrap(),
            "--markdown",
            markdown.to_str().unwrap(),
        ]);
        if output.status.code() != Some(4) {
            // A generator that is kept from running sends late, and then a gate can't tell.
            return Err(text(&output));
        }
        let gate = &json(&output)["gate"];
        let answers: Vec<(&str, &str)> = gate["checks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| (it["fails_if"].as_str().unwrap(), it["answer"].as_str().unwrap()))
            .collect();
        assert_eq!(
            answers,
            [
                ("p50 > 10.0ms", "failed"),
                ("p90 > 1.00s", "passed"),
                ("p99.99 > 1.00s", "could_not_tell"),
                ("goodput < 50/s", "passed"),
                ("errors > 0.1%", "passed"),
            ]
        );
        assert_eq!((gate["answer"].as_str(), gate["version"].as_u64()), (Some("failed"), Some(1)));
        let p50 = &gate["checks"][0];
        let figure = |name: &str| p50[name].as_f64().unwrap();
        assert!(figure("low") <= figure("value") && figure("value") <= figure("high"), "{p50}");
        // Half of 200 ms where seconds differ by microseconds, and each counts as one piece of evidence.
        assert!(figure("low") > 90_000.0 && p50["unit"] == "us", "{p50}");
        let xml = fs::read_to_string(junit).unwrap();
        assert!(xml.contains("tests=\"5\" failures=\"1\" errors=\"1\" skipped=\"0\""), "{xml}");
        assert!(xml.contains("<error type=\"could not tell\""), "{xml}");
        let markdown = fs::read_to_string(markdown).unwrap();
        assert!(markdown.contains("| ❌ failed | p50 &gt; 10.0ms |"), "{markdown}");
        Ok(())
    });
}

/// Nothing is loaded for it but the one run: those before it are that run once more, each with another start and other figures.
#[test]
#[ignore = "slow: has the machine to itself"]
fn a_run_is_held_against_those_before_it_in_its_folder() {
    measured_alone(|| {
        let dir = tempfile::tempdir().unwrap();
        let experiment = dir.path().join("x.toml");
        // A server that takes its time, so that no machine is too slow to load it.
        let load = "[load]\nconnections = 2\nduration = \"2s\"\n";
        let round = "[[round]]\nname = \"sleep\"\nendpoint = \"sleep\"\nstacks = [\"target-event-loop\"]\n";
        let procedure = "blocks = 1\nblocks_max = 1\ntwin = false\ncontrol = false\ncool_down_max = \"0s\"\n";
        let gate = "[gate]\nfail_if = [\"errors>0\"]\nlast_runs = 10\n";
        fs::write(&experiment, format!("title = \"t\"\n{procedure}{load}{round}{gate}")).unwrap();
        let runs = dir.path().join("runs");
        let said = told(5, &["run", experiment.to_str().unwrap(), "-q", "--runs", runs.to_str().unwrap()])?;
        assert!(said.contains("could not tell  if loss of goodput to the last 10 runs > 10%"), "{said}");
        assert!(said.contains("to decide it: 6 runs before it"), "{said}");
        let own = fs::read_dir(&runs).unwrap().next().unwrap().unwrap().path();
        let trials = fs::read_to_string(own.join("trials.jsonl")).unwrap();
        let mut trial: serde_json::Value = serde_json::from_str(trials.lines().next().unwrap()).unwrap();
        let goodput =
            trial.pointer("/measured/load/goodput_per_s").and_then(serde_json::Value::as_f64).unwrap();
        let mut run_before = |number: u32, times: f64| {
            let before = runs.join(format!("before-{number}"));
            fs::create_dir_all(&before).unwrap();
            fs::copy(own.join("experiment.toml"), before.join("experiment.toml")).unwrap();
            let manifest = fs::read(own.join("manifest.json")).unwrap();
            let mut manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
            manifest["started"] = format!("2020-01-0{number}T00:00:00Z").into();
            fs::write(before.join("manifest.json"), manifest.to_string()).unwrap();
            *trial.pointer_mut("/measured/load/goodput_per_s").unwrap() =
                (goodput * times * (1.0 + 0.01 * f64::from(number))).into();
            fs::write(before.join("trials.jsonl"), format!("{trial}\n")).unwrap();
            before
        };
        let again = ["run", "--resume", own.to_str().unwrap(), "-q"];
        let mut last = runs.clone();
        for number in 1..=6 {
            last = run_before(number, 1.0);
        }
        let said = told(0, &again)?;
        assert!(said.contains("passed          if loss of goodput to the last 10 runs > 10%"), "{said}");
        // One that failed its own gate is no measure.
        fs::copy(own.join("gate.json"), last.join("gate.json")).unwrap();
        let gate = fs::read_to_string(last.join("gate.json")).unwrap();
        fs::write(last.join("gate.json"), gate.replacen("\"passed\"", "\"failed\"", 1)).unwrap();
        assert!(told(5, &again)?.contains("to decide it: 6 runs before it"));
        for number in 1..=7 {
            run_before(number, 2.0);
        }
        let said = told(4, &again)?;
        assert!(said.contains("failed          if loss of goodput to the last 10 runs > 10%"), "{said}");
        Ok(())
    });
}

#[test]
#[ignore = "slow: has the machine to itself"]
fn a_load_is_held_against_the_results_in_a_folder() {
    measured_alone(|| {
        // Long enough that a client which the machine wakes late by a few milliseconds is still none that reads late.
        let target = Target::start(&["--path", "/sleep=50ms"]);
        let url = format!("{}/sleep", target.url);
        let results = tempfile::tempdir().unwrap();
        let folder = results.path().to_str().unwrap();
        let hit = |code: i32, more: &[&str]| {
            let all =
                ["hit", &url, "-c", "5", "-d", "1s", "-q"].iter().chain(more).copied().collect::<Vec<&str>>();
            told(code, &all)
        };
        let said = hit(5, &["--baseline", folder])?;
        assert!(said.contains("could not tell  if loss of goodput to the loads in "), "{said}");
        assert!(said.contains("to decide it: 6 loads before it"), "{said}");
        let mut result: serde_json::Value = serde_json::from_str(&hit(0, &["--json"])?).unwrap();
        let goodput = result["goodput_per_s"].as_f64().unwrap();
        let mut keep = |times: f64| {
            for number in 0..6 {
                result["goodput_per_s"] = (goodput * times * (1.0 + 0.01 * f64::from(number - 3))).into();
                fs::write(results.path().join(format!("{number}.json")), result.to_string()).unwrap();
            }
        };
        keep(1.0);
        let said = hit(0, &["--baseline", folder])?;
        assert!(said.contains("passed          if loss of goodput to the loads in "), "{said}");
        keep(2.0);
        let said = hit(4, &["--baseline", folder, "--max-loss", "20%"])?;
        assert!(said.contains("failed          if loss of goodput to the loads in "), "{said}");
        // What was asked for otherwise is another load.
        assert!(hit(5, &["--baseline", folder, "-t", "2"])?.contains("6 loads before it"));
        let said = hit(2, &["--baseline", "/nowhere"])?;
        assert!(said.contains("/nowhere can't be read"), "{said}");
        let said = hit(2, &["--max-loss", "5%"])?;
        assert!(said.contains("--baseline"), "{said}");
        Ok(())
    });
}

/// What a command says that ends as it must; one that ends otherwise may have been disturbed.
fn told(code: i32, arguments: &[&str]) -> Result<String, String> {
    let output = run(arguments);
    if output.status.code() == Some(code) { Ok(text(&output)) } else { Err(text(&output)) }
}
