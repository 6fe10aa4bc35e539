//! The pods of the server that a load from pods goes to, as the double's metrics-server tells of them, and as they are seen from
//! within.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::double::{Behaviour, Kubernetes};
use super::{UnderWay, hit, nothing_is_left};
use crate::common::{Target, ends_with, json as json_of, proofload, run, signal, stdout, text};

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

const WITHIN: [&str; 6] = ["--watch", "pods", "--watch-pods", "app=shop", "--watch-container", "shop"];

/// A process that there is not: what descends from it can't be seen.
const NO_PROCESS: u32 = i32::MAX as u32;

/// A target that is the child of a shell, as a server is that of the first process of its container.
struct Server {
    shell: Child,
    url: String,
}

impl Server {
    fn start() -> (Self, Behaviour) {
        // It ends with the standard input of the shell, whatever becomes of this process.
        let script = "\"$0\" target --listen 127.0.0.1:0 --path /=1ms & read -r _; kill $!; wait";
        let mut shell = Command::new("sh")
            .args(["-c", script])
            .arg(proofload().get_program())
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the shell starts");
        let mut line = String::new();
        let stderr = shell.stderr.as_mut().expect("it is piped");
        BufReader::new(stderr).read_line(&mut line).expect("it says where it serves");
        let url =
            line.split_whitespace().nth(1).unwrap_or_else(|| panic!("no address in {line:?}")).to_owned();
        let server = Some(shell.id());
        let behaviour = Behaviour { server_pods: vec!["shop-a", "shop-b"], server, ..Behaviour::default() };
        (Self { shell, url }, behaviour)
    }

    fn port(&self) -> Option<u64> {
        self.url.trim_end_matches('/').rsplit(':').next()?.parse().ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

#[test]
fn what_a_server_does_is_seen_from_within_its_pods() {
    let (target, behaviour) = Server::start();
    let cluster = Kubernetes::start(behaviour);
    let usual = ["--json", "--rate", "500", "-c", "6", "-d", "2s", "--pods", "2"];
    let output = hit(&cluster, &target.url, &[&usual[..], &WITHIN[..]].concat()).output().unwrap();
    let result = json_of(&output);
    let server = &result["server_pods"];
    assert!(server["not_known"].is_null(), "{server}");
    let kept = server["keep"].as_str().unwrap().to_owned();
    assert!(kept.starts_with("proofload-watch-"), "{server}");
    assert_eq!(all(server, "name"), ["shop-a", "shop-b"]);
    assert_eq!(all(server, "cpu_limit_cores"), [1.5, 1.5], "of the container");
    for within in all(server, "within") {
        assert_eq!(within["container"], "shop", "{within}");
        assert!(within["bound_s"].as_f64().unwrap() < 0.1, "{within}");
        let seen = &within["seen"];
        assert!(seen["cpu_cores"].as_f64().is_some_and(|it| it > 0.0), "{seen}");
        assert!(
            seen["threads_max"].as_u64().unwrap() > 0 && seen["rss_bytes_max"].as_u64().unwrap() > 0,
            "{seen}"
        );
        assert_eq!(seen["port"].as_u64(), target.port());
        let signals = &seen["signals"];
        // A machine with many sockets is asked for them so seldom that a short window may have no reading.
        assert!(signals["connections"]["max"].as_u64().is_none_or(|it| it >= 6), "{signals}");
        assert!(
            signals["groups"][0]["name"].is_string() && signals["accept_queue"]["limit"].is_u64(),
            "{signals}"
        );
    }
    let put = cluster.put_into();
    assert_eq!(put.keys().collect::<Vec<_>>(), ["shop-a", "shop-b"]);
    assert!(put.values().all(|it| it["name"] == kept && it["targetContainerName"] == "shop"), "{put:?}");
    assert!(put.values().all(|it| it["image"] == "proofload:1"), "{put:?}");
    // Watchers among the agents: they have ended.
    nothing_is_left(&cluster);
}

#[test]
fn what_can_t_be_looked_at_from_within_is_refused_before_anything_is_sent() {
    let (target, behaviour) = Server::start();
    let unnamed = &WITHIN[..4];
    let other = [unnamed, &["--watch-container", "web"]].concat();
    let denied = Behaviour { denied: vec!["patch pods/ephemeralcontainers"], ..behaviour.clone() };
    let waiting = json!({"waiting": {"reason": "ErrImageNeverPull", "message": "no such image"}});
    let no_image = Behaviour { put_into: Some(waiting), ..behaviour.clone() };
    let hidden = Behaviour { server: Some(NO_PROCESS), ..behaviour.clone() };
    let garbage = Behaviour { says: Some(b"\x1b[2J{}\n".to_vec()), ..behaviour.clone() };
    for (behaviour, watch, code, part) in [
        (denied, &WITHIN[..], 3, "--rbac --watch pods --watch-pods LABEL=VALUE"),
        (
            behaviour.clone(),
            unnamed,
            2,
            "has several containers (shop, proxy); name the server's with --watch-container",
        ),
        (behaviour, &other[..], 2, "has no container `web`; it has shop, proxy"),
        (no_image, &WITHIN[..], 3, "can't be started (ErrImageNeverPull: no such image)"),
        (garbage, &WITHIN[..], 3, "says what no watcher does"),
        (hidden, &WITHIN[..], 3, "the processes of its container shop are not shown to another container"),
    ] {
        let cluster = Kubernetes::start(behaviour);
        let arguments = [&["-c", "6", "-d", "1s", "--pods", "2"][..], watch].concat();
        let output = hit(&cluster, &target.url, &arguments).output().unwrap();
        let told = text(&output);
        assert_eq!(output.status.code(), Some(code), "{told}");
        assert!(told.contains(part), "{part:?} is not in: {told}");
        assert!(code == 3 || cluster.put_into().is_empty(), "{told}");
        nothing_is_left(&cluster);
    }
    let told = ends_with(
        2,
        &[
            "hit",
            "http://127.0.0.1:9/",
            "--on",
            "kubernetes",
            "--image",
            "x",
            "--pods",
            "2",
            "-d",
            "60s",
            "--watch",
            "metrics",
            "--watch-pods",
            "app=shop",
            "--watch-container",
            "shop",
        ],
    );
    assert!(told.contains("--watch-container is for --watch pods"), "{told}");
    let long =
        ["hit", "http://127.0.0.1:9/", "--on", "kubernetes", "--image", "x", "--pods", "2", "-d", "1h"];
    let told = ends_with(2, &[&long[..], &WITHIN[..]].concat());
    assert!(told.contains("--watch pods looks for 1800s"), "{told}");
    let late = ["--ready-timeout", "9m", "-d", "1s"];
    let told = ends_with(2, &[&long[..8], &late[..], &WITHIN[..]].concat());
    assert!(told.contains("no more than 480s with --watch pods"), "{told}");
}

#[test]
fn a_load_that_is_interrupted_leaves_nobody_who_looks() {
    let (target, behaviour) = Server::start();
    let cluster = Kubernetes::start(behaviour);
    let load = UnderWay::start(
        &cluster,
        &target.url,
        &[&["--rate", "300", "-c", "30", "-d", "30s"][..], &WITHIN[..]].concat(),
    );
    // Streams are opened anew for each question: those that broke are no matter.
    cluster.break_streams();
    std::thread::sleep(Duration::from_millis(500));
    signal(&load.child, Signal::INT);
    let told = text(&load.end());
    assert!(told.contains("server pods 2 of app=shop in shop\n            shop-"), "{told}");
    assert!(told.contains("busiest threads: ") && told.contains(", ended, until it is deleted"), "{told}");
    nothing_is_left(&cluster);
}

#[test]
fn the_role_to_look_from_within_is_one_of_its_own() {
    let rbac = ["hit", "--on", "kubernetes", "--rbac", "--watch", "pods", "--watch-pods", "app=shop"];
    let file = crate::common::repository().join("docs/kubernetes/rbac-watch-pods.yaml");
    assert_eq!(stdout(&run(&rbac)), std::fs::read_to_string(file).unwrap());
}
