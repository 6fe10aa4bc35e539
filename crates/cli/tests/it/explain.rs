//! `proofload explain`, asked for what there is none of.

use crate::common::ends_with;
use crate::recorded::Runs;

#[test]
fn what_is_no_run_or_has_no_such_cell_is_an_error_of_usage() {
    ends_with(2, &["explain", "/nowhere/at/all"]);
    let runs = Runs::new();
    let run = runs.of_rate("run", 1000.0);
    assert!(ends_with(0, &["explain", &run]).contains("hello, 50 connections"));
    let told = ends_with(2, &["explain", &run, "--cell", "tomcat"]);
    assert!(told.contains("contains `tomcat`; it has hello/gin"), "{told}");
}
