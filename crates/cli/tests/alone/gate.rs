//! A gate's answers by a load of some seconds.

use std::fs;

use crate::common::{Target, json, run, text};
use crate::quiet::measured_alone;

/// One load that is long enough, held against all answers.
#[test]
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
