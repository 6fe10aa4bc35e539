//! A load by the real binary, and what its result says.

use serde_json::Value;

use crate::common::{json, run};

/// What `proofload hit` says of a load, and its exit code.
pub fn hit(url: &str, arguments: &[&str]) -> (Value, i32) {
    let output = run(&[&["hit", url, "--json"], arguments].concat());
    let text = String::from_utf8_lossy(&output.stdout).to_lowercase();
    assert!(!text.contains("nan") && !text.contains("inf\""), "{text}");
    let (result, code) = (json(&output), output.status.code().expect("it was not killed"));
    // How busy this machine is while a test runs is not the test's; that the code says what the verdict says is.
    let is_valid = result["validity"]["valid"].as_bool().unwrap();
    assert_eq!(code == 0, is_valid, "exit code {code}: {}", result["validity"]);
    (result, code)
}

/// Whether nothing speaks against what the service did: a machine that is busy with other tests may be said to be.
pub fn service_did_well(result: &Value) -> bool {
    let reasons = result["validity"]["reasons"].as_array().unwrap();
    !reasons
        .iter()
        .any(|it| ["incorrect_service", "unsent", "censored"].contains(&it["kind"].as_str().unwrap()))
}

/// How many requests ended so.
pub fn outcome(result: &Value, name: &str) -> u64 {
    result["outcomes"][name].as_u64().unwrap_or_else(|| panic!("no outcome {name}"))
}

/// Every request ended in one way.
pub fn outcomes_add_up(result: &Value) {
    let sum: u64 =
        result["outcomes"].as_object().expect("outcomes").values().map(|it| it.as_u64().unwrap()).sum();
    assert_eq!(Some(sum), result["intended"].as_u64());
}
