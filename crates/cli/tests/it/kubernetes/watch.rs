//! The pods of the server that a load from pods goes to, as the double's metrics-server tells of them.

use serde_json::{Value, json};

use super::double::{Behaviour, Kubernetes};
use super::{hit, nothing_is_left};
use crate::common::{Target, ends_with, json as json_of, text};

const WATCH: [&str; 4] = ["--watch", "metrics", "--watch-pods", "app=shop"];

fn watched() -> Behaviour {
    Behaviour { server_pods: vec!["shop-a", "shop-b"], has_metrics: true, ..Behaviour::default() }
}

fn all<'a>(server: &'a Value, field: &str) -> Vec<&'a Value> {
    let pods = server["pods"].as_array().unwrap_or_else(|| panic!("it has none: {server}"));
    pods.iter().map(|it| &it[field]).collect()
}

#[test]
fn what_can_t_be_watched_is_refused_before_anything_is_created() {
    let of_nobody = ["--watch", "metrics", "--watch-pods", "app=none"];
    let elsewhere = [&WATCH[..], &["--watch-namespace", "other"]].concat();
    let denied = Behaviour { denied: vec!["list pods.metrics.k8s.io"], ..watched() };
    let without = Behaviour { has_metrics: false, ..watched() };
    for (behaviour, watch, code, part) in [
        (denied, &WATCH[..], 3, "you may not list pods.metrics.k8s.io in the namespace shop; "),
        (watched(), &elsewhere[..], 3, "list pods.metrics.k8s.io in the namespace other; "),
        (without, &WATCH[..], 3, "the cluster has no metrics API (404: "),
        (watched(), &of_nobody[..], 2, "no pod in the namespace shop has the labels app=none; "),
    ] {
        let cluster = Kubernetes::start(behaviour);
        let arguments = [&["-c", "6", "-d", "60s", "--pods", "3"][..], watch].concat();
        let output = hit(&cluster, "http://127.0.0.1:9/", &arguments).output().unwrap();
        let told = text(&output);
        assert_eq!(output.status.code(), Some(code), "{told}");
        assert!(told.contains(part), "{part:?} is not in: {told}");
        assert!(!cluster.asked().iter().any(|it| it.contains("/jobs")), "{:?}", cluster.asked());
    }
}

#[test]
fn what_is_to_be_watched_is_said_and_of_a_load_that_is_long_enough() {
    let refused = |arguments: &[&str]| ends_with(2, &[&["hit", "http://127.0.0.1:9/"], arguments].concat());
    let told = refused(&WATCH);
    assert!(told.contains("--on <PLACE>"), "{told}");
    let on_pods = ["--on", "kubernetes", "--image", "x", "--pods", "2"];
    let told = refused(&[&on_pods[..], &["--watch", "metrics"]].concat());
    assert!(told.contains("--watch-pods <LABEL=VALUE"), "{told}");
    let told = refused(&[&on_pods[..], &["--watch", "metrics", "--watch-pods", "shop"]].concat());
    assert!(told.contains("are no labels of pods"), "{told}");
    let told = refused(&[&on_pods[..], &WATCH[..], &["-d", "30s"]].concat());
    assert!(told.contains("averages over 15 s or more") && told.contains("60 s or longer"), "{told}");
    let told = refused(&["--on", "kubernetes", "--watch-pods", "app=shop"]);
    assert!(told.contains("--watch <WHAT>"), "{told}");
}

/// How long a load takes that ends with its requests is not known beforehand.
#[test]
fn a_load_that_was_too_short_has_the_server_s_pods_without_samples() {
    let (cluster, target) = (Kubernetes::start(watched()), Target::start(&[]));
    let load = |more: &[&str]| {
        let usual = ["-n", "30", "-c", "6", "--pods", "3"];
        let output = hit(&cluster, &target.url, &[&usual[..], &WATCH[..], more].concat()).output().unwrap();
        nothing_is_left(&cluster);
        output
    };
    let result = json_of(&load(&["--json"]));
    let server = &result["server_pods"];
    assert_eq!((&server["namespace"], &server["labels"]), (&json!("shop"), &json!("app=shop")), "{server}");
    assert_eq!(all(server, "name"), ["shop-a", "shop-b"]);
    assert_eq!(all(server, "cpu_limit_cores"), [2.0, 2.0]);
    assert_eq!(all(server, "samples"), [&json!([]), &json!([])]);
    assert!(server["not_known"].as_str().unwrap().contains("less than 60 s"), "{server}");
    let told = text(&load(&[]));
    let shown = "server pods 2 of app=shop in shop\n            not known: the window was";
    assert!(told.contains(shown), "{told}");
}

#[test]
#[ignore = "slow: nothing is known of a load of less than a minute"]
fn a_minute_of_a_load_has_what_the_server_s_pods_used_beside_it() {
    let (cluster, target) = (Kubernetes::start(watched()), Target::start(&[]));
    let usual = ["--json", "--rate", "30", "-c", "6", "-d", "62s", "--pods", "2"];
    let output = hit(&cluster, &target.url, &[&usual[..], &WATCH[..]].concat()).output().unwrap();
    let result = json_of(&output);
    let server = &result["server_pods"];
    assert!(server["not_known"].is_null(), "{server}");
    for samples in all(server, "samples") {
        let samples = samples.as_array().unwrap();
        // Three windows of fifteen seconds lie within a minute, or four; a question may come too late for one.
        assert!((1..=4).contains(&samples.len()), "{server}");
        for sample in samples {
            let figure = |name: &str| sample[name].as_f64().unwrap();
            let (at_s, window_s, cores) = (figure("at_s"), figure("window_s"), figure("cpu_cores"));
            assert!(at_s - window_s > 0.99 && at_s < 61.01, "{sample}");
            assert!((window_s - 15.0).abs() < 1e-9 && (cores - 1.96).abs() < 1e-9, "{sample}");
            assert_eq!(sample["memory_bytes"], 412_u64 << 20);
        }
    }
    nothing_is_left(&cluster);
}
