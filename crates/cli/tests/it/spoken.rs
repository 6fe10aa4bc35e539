//! Stacks that speak TLS and HTTP/2: by `check`, and by an experiment from its manifest to its records.
#![cfg(feature = "tls")]

use crate::common::json;
use crate::lab::{Lab, target_stack, trials, unhurried_stack};

/// Stacks by what they speak: what the target is told, the keys of `[run]`, and what the contract is to say.
const SPOKEN: [(&str, &str, &str, Option<&str>); 5] = [
    ("plain", r#""--http2""#, "", None),
    ("tls", r#""--tls""#, "scheme = \"https\"", Some("https, http/1.1")),
    ("h2", r#""--tls", "--http2""#, "scheme = \"https\"\nprotocol = \"h2\"", Some("https, h2")),
    ("h2c", r#""--http2""#, "protocol = \"h2c\"", Some("h2c")),
    (
        "both",
        r#""--tls", "--http2""#,
        "scheme = \"https\"\nprotocol = [\"h2\", \"http/1.1\"]",
        Some("https, h2"),
    ),
];

fn lab(experiment: &str, stack: impl Fn(&str) -> String) -> Lab {
    let with_keys = |arguments: &str, keys: &str| {
        stack(arguments).replacen("[[endpoint]]", &format!("{keys}\n[[endpoint]]"), 1)
    };
    let all = SPOKEN.map(|(id, arguments, keys, _)| (id, with_keys(arguments, keys)));
    Lab::new(experiment, &all.each_ref().map(|(id, manifest)| (*id, manifest.as_str())))
}

#[test]
fn a_check_says_what_a_stack_speaks() {
    let lab = lab("", target_stack);
    let mut command = crate::common::proofload();
    let output = command
        .args(["check", "plain", "tls", "h2", "h2c", "both", "--json", "--stacks"])
        .arg(lab.path("stacks"))
        .output();
    let output = output.expect("it runs");
    let list = json(&output);
    for (id, _, _, protocol) in SPOKEN {
        let stack = list.as_array().expect("a list").iter().find(|it| it["stack"] == id);
        let checked = &stack.unwrap_or_else(|| panic!("no {id} in {list:#}"))["checked"];
        let hello = &checked["endpoints"][0];
        assert_eq!(hello["contract"]["protocol"].as_str(), protocol, "{id}: {list:#}");
        assert_eq!((&hello["body"], &hello["contract"]["status"]), (&"hello".into(), &200.into()), "{id}");
        assert!(checked["requests_per_connection"].is_null(), "{id}: {checked:#}");
    }
    assert!(lab.nothing_runs());
}

#[test]
#[ignore = "slow: seven trials"]
fn an_experiment_loads_stacks_as_they_speak() {
    let lab = lab(
        r#"
title = "What is spoken"
blocks = 1
twin = false
control = false
cool_down_max = "0s"
[load]
warm_up = "100ms"
duration = "500ms"
[[round]]
name = "each"
endpoint = "hello"
stacks = ["plain", "tls", "h2", "h2c"]
load = { connections = [4] }
[[round]]
name = "streams"
endpoint = "hello"
stacks = ["h2", "h2c"]
load = { connections = [2], streams = 5 }
[[round]]
name = "chosen"
endpoint = "hello"
stacks = ["both"]
load = { connections = [2], protocol = "http/1.1" }
"#,
        unhurried_stack,
    );
    let output = lab.run();
    assert!(output.status.success(), "{output:?}");
    let all = trials(&lab.run_dir());
    assert_eq!(all.len(), 7, "{all:#?}");
    for trial in &all {
        let id = trial["stack"].as_str().expect("a stack");
        let (.., protocol) = SPOKEN.iter().find(|(it, ..)| *it == id).expect("one of them");
        let protocol = if id == "both" { &Some("https, http/1.1") } else { protocol };
        let (load, contract) = (&trial["measured"]["load"], &trial["measured"]["contract"]);
        assert_eq!(contract["protocol"].as_str(), *protocol, "{trial:#}");
        let alpn = load["tls"]["agreed"]["alpn"].as_str();
        assert_eq!(alpn, protocol.and_then(|it| it.strip_prefix("https, ")), "{trial:#}");
        let is_http2 = protocol.is_some_and(|it| it.ends_with("h2") || it == "h2c");
        assert_eq!(load["load"]["protocol"].as_str(), is_http2.then_some("http/2"), "{trial:#}");
        assert!(load["answered_as_expected"].as_u64() > Some(20), "{trial:#}");
    }
    assert!(lab.nothing_runs());
}
