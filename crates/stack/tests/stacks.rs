//! Every stack of this repository whose tools are here: it builds, boots, answers as its manifest says, and
//! stops. The others are named.

mod common;

use std::path::Path;

use common::boot_in;
use plan::stack::{Catalogue, StackManifest};
use stack::{build, check_contract, missing_tools};
use units::Duration;

#[test]
fn every_stack_keeps_its_manifest() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../stacks");
    let catalogue = Catalogue::load(&folder).unwrap();
    assert!(catalogue.iter().count() >= 9);
    for stack in catalogue.iter() {
        let missing = missing_tools(stack);
        if missing.is_empty() {
            try_stack(stack);
        }
        for tool in missing {
            println!("skipped {}: `{}` is missing; {}", stack.id, tool.name, tool.install);
        }
    }
}

fn try_stack(stack: &StackManifest) {
    let folder = tempfile::tempdir().unwrap();
    let built = build(stack, &folder.path().join("build.log")).unwrap_or_else(|error| panic!("{error}"));
    let running = boot_in(stack, folder.path()).unwrap_or_else(|error| panic!("{error}"));
    let boot_took = running.boot_took();
    for endpoint in &stack.endpoints {
        let report = check_contract(running.addr(), endpoint, Duration::from_secs(5))
            .unwrap_or_else(|error| panic!("{}: {error}\n{}", stack.id, running.log_tail(20)));
        let (wire_bytes, tries, took) = (report.wire_bytes.0, report.tries, report.took);
        assert_eq!(report.matches, Ok(()), "{} {}", stack.id, endpoint.name);
        println!("{} {}: {wire_bytes} bytes, {took}, {tries} tries", stack.id, endpoint.name);
    }
    let usage = running.usage().unwrap();
    assert!(usage.processes >= 1 && usage.threads >= 1 && usage.rss.0 > 0, "{usage:?}");
    let stopped = running.stop().unwrap_or_else(|error| panic!("{error}"));
    assert!(!stopped.forced, "{}", stack.id);
    println!(
        "{}: built {}, up after {boot_took}, {} in {} threads of {} processes, gone after {}",
        stack.id, built.built, usage.rss, usage.threads, usage.processes, stopped.took
    );
}
