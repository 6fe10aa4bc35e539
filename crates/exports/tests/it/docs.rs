//! The user's guide names every metric as it is.

use exports::{Family, Kind};

use crate::made_up::{failed, families, measured};

const GUIDE: &str = include_str!("../../../../docs/exports.md");

/// Every family that there is.
fn all() -> Vec<Family> {
    families("t", &[measured(0, "gin", "stack", 0), measured(1, "gin", "stack", 100), failed(2, "gin")])
}

#[test]
fn each_metric_is_in_the_guide_with_its_unit() {
    let rows: Vec<&str> = GUIDE.lines().filter(|line| line.starts_with("| `")).collect();
    for family in all() {
        let metric = &family.metric;
        // Several kinds of times have the same figures: one row says it of `TIME`.
        let times = [
            "generator_lag",
            "receive_lag",
            "step_response_time",
            "response_time",
            "service_time",
            "time_to_first_byte",
            "lag",
            "tls_connect",
            "tls_handshake",
        ];
        let name = metric.sample_name();
        let of_times = times.iter().find_map(|time| {
            let rest = name.strip_prefix(&format!("proofload_{time}_"))?;
            Some(format!("proofload_TIME_{rest}"))
        });
        let listed = |name: &str| rows.iter().find(|row| row.starts_with(&format!("| `{name}`")));
        let row = listed(&name).or_else(|| listed(of_times.as_deref()?));
        let row = row.unwrap_or_else(|| panic!("docs/exports.md does not list {name}"));
        let ucum = metric.unit.ucum();
        assert!(ucum.is_empty() || row.contains(&format!("`{ucum}`")), "{row} should say `{ucum}`");
        let kind = match metric.kind {
            Kind::Gauge => "gauge",
            Kind::Counter => "counter",
            Kind::Histogram => "histogram",
            Kind::Info => "info",
        };
        assert!(row.contains(kind), "{row} should say {kind}");
    }
}

#[test]
fn each_label_is_in_the_guide() {
    for sample in all().iter().flat_map(|family| &family.samples) {
        for (name, _) in sample.labels.iter() {
            assert!(GUIDE.contains(&format!("`{name}`")), "docs/exports.md does not say what `{name}` is");
        }
    }
}

#[test]
fn what_the_guide_lists_is_there() {
    let names: Vec<String> = all().iter().map(|family| family.metric.sample_name()).collect();
    let listed = GUIDE.lines().filter_map(|line| line.strip_prefix("| `proofload_")?.split_once('`'));
    for (name, _) in listed {
        let name = format!("proofload_{}", name.replace("TIME", "response_time"));
        assert!(names.contains(&name), "docs/exports.md lists {name}, which nothing exports");
    }
}
