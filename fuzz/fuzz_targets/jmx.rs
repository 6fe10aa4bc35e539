//! Any text as a JMeter test plan: it is refused with its place, or becomes a scenario that can be made ready.
//!
//! Run: `cargo +nightly fuzz run jmx fuzz/corpus/jmx fuzz/seeds/jmx -- -max_total_time=60`. A new find goes to
//! `fuzz/artifacts`; make it a named test in `crates/jmeter/tests/it/bad_input.rs`.
#![no_main]

use std::collections::BTreeMap;
use std::path::Path;

use jmeter::PlanNotUnderstood;
use libfuzzer_sys::fuzz_target;
use scenario::Prepared;

fuzz_target!(|text: &str| {
    let plan = match jmeter::import(Path::new("plan.jmx"), text, &BTreeMap::new()) {
        Ok(plan) => plan,
        Err(error) => {
            assert!(error.to_string().starts_with("plan.jmx:"), "{error}");
            if let PlanNotUnderstood::Broken { line, column, what, .. } = error {
                assert!(line >= 1 && column >= 1 && !what.is_empty());
            }
            return;
        }
    };
    assert!(!plan.scenario.groups.is_empty());
    // Data are files, and none of this machine's is the plan's.
    if plan.scenario.data.is_empty() {
        let _ = Prepared::new(plan.scenario);
    }
});
