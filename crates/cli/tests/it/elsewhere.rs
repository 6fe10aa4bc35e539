//! A run from another machine, with a network between it and the servers: both are network namespaces here, joined by a pair of
//! virtual interfaces. Nothing of this machine's own network is touched, and neither its firewall nor its routes are asked.

use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

use crate::common::{repository, text, wait_until};
use crate::lab::{Lab, trials, unhurried_stack};
use crate::loads::outcomes_add_up;

/// Of each machine, on its end of the cable. No network that is routed has them (RFC 5737).
const SERVERS: &str = "192.0.2.1";
const LOADS: &str = "192.0.2.2";

const FEW: &str = r#"
title = "few"
blocks = 1
blocks_max = 1
cool_down_max = "0s"
idle_look = "50ms"
twin = false
[load]
connections = [7]
duration = "300ms"
[[round]]
name = "hello"
endpoint = "hello"
stacks = ["told"]
"#;

/// Two machines with a cable between them, gone when dropped.
struct Network {
    name: String,
}

impl Network {
    /// `None`, and a word about it, where namespaces can't be made: without root, without `ip`, or where a sandbox forbids it.
    /// Anything else that goes wrong is a failure.
    fn new() -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let network = Self { name: format!("proofload-{}-{number}", std::process::id()) };
        if let Err(why) = network.connect() {
            assert!(cannot_be(&why), "{why}");
            println!("NOT TRIED: {why}");
            return None;
        }
        Some(network)
    }

    fn connect(&self) -> Result<(), String> {
        let (servers, loads) = (self.servers(), self.loads());
        for name in [&servers, &loads] {
            ip(&["netns", "add", name])?;
            ip(&["-n", name, "link", "set", "lo", "up"])?;
        }
        ip(&[
            "-n", &servers, "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", &loads,
        ])?;
        for (name, address) in [(&servers, SERVERS), (&loads, LOADS)] {
            ip(&["-n", name, "address", "add", &format!("{address}/30"), "dev", "cable"])?;
            ip(&["-n", name, "link", "set", "cable", "up"])?;
        }
        Ok(())
    }

    /// The namespace of the machine that stacks are booted on.
    fn servers(&self) -> String {
        format!("{}-servers", self.name)
    }

    /// That of the machine that loads come from.
    fn loads(&self) -> String {
        format!("{}-loads", self.name)
    }

    /// `proofload run` on the machine of the servers, with agents on the other.
    fn run(&self, lab: &Lab, more: &[&str]) -> Output {
        let run = lab.command();
        let agent = format!(
            "exec ip netns exec {} '{}' agent --node {}/{{host}}",
            self.loads(),
            env!("CARGO_BIN_EXE_proofload"),
            lab.root()
        );
        let mut command = Command::new("ip");
        command.current_dir(repository()).args(["netns", "exec", &self.servers()]);
        command.arg(run.get_program()).args(run.get_args()).arg(lab.path("test.toml"));
        command.args(["--hosts", "a,b", "--agent-command", &agent]).args(more).output().unwrap()
    }

    /// Packets that came over the cable to the machine of the servers.
    fn arrived(&self) -> u64 {
        let told = ip(&["-n", &self.servers(), "-s", "-j", "link", "show", "cable"]).unwrap();
        let told: Value = serde_json::from_str(&told).unwrap();
        told[0]["stats64"]["rx"]["packets"].as_u64().unwrap_or_else(|| panic!("{told}"))
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for name in [self.servers(), self.loads()] {
            // Of one that was not made there is nothing to delete.
            let _ = ip(&["netns", "delete", &name]);
        }
    }
}

/// What `ip` says, or that it could not.
fn ip(arguments: &[&str]) -> Result<String, String> {
    let failed = |why: &str| Err(format!("ip {}: {}", arguments.join(" "), why.trim_end()));
    match Command::new("ip").args(arguments).output() {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => failed(&String::from_utf8_lossy(&output.stderr)),
        Err(why) if why.kind() == ErrorKind::NotFound => failed(MISSING),
        Err(why) => failed(&why.to_string()),
    }
}

const MISSING: &str = "it is missing; apt-get install iproute2";

/// Whether it is the machine that has no namespaces to give.
fn cannot_be(why: &str) -> bool {
    let reasons = [
        MISSING,
        "Operation not permitted",
        "Permission denied",
        "Operation not supported",
        "Unknown device type",
    ];
    reasons.iter().any(|it| why.contains(it))
}

/// A stack that listens where it is told, and one that listens on loopback alone.
fn lab(stack: &str) -> Lab {
    let deaf = unhurried_stack(r#""--model", "event-loop""#);
    let told = deaf.replace("127.0.0.1:{port}", "{address}:{port}");
    Lab::new(&FEW.replace("\"told\"", &format!("\"{stack}\"")), &[("told", &told), ("deaf", &deaf)])
}

/// How many connections a machine had to a port of the other that it closed within the last minute.
fn connections(network: &Network, port: u16) -> usize {
    let of = |address: &str| {
        let address: Ipv4Addr = address.parse().unwrap();
        format!("{:08X}", u32::from_ne_bytes(address.octets()))
    };
    let (from, to) = (format!(" {}:", of(LOADS)), format!(" {}:{port:04X} ", of(SERVERS)));
    let sockets = ip(&["netns", "exec", &network.loads(), "cat", "/proc/net/tcp"]).unwrap();
    sockets.lines().filter(|line| line.contains(&from) && line.contains(&to)).count()
}

#[test]
fn a_stack_is_booted_on_one_machine_and_loaded_from_another() {
    let Some(network) = Network::new() else { return };
    let lab = lab("told");
    let output = network.run(&lab, &["--servers-address", SERVERS]);
    let (arrived, told) = (network.arrived(), text(&output));
    assert_eq!(output.status.code(), Some(0), "{told}");
    let elsewhere = "The loads came from 2 agents, on other machines than the servers: a, b.\n";
    assert!(told.contains(elsewhere), "{told}");
    wait_until("nothing is left", || lab.nothing_runs());
    let all = trials(&lab.run_dir());
    assert_eq!(all.len(), 2, "the stack and its control: {all:?}");
    let mut all_intended = 0;
    for trial in &all {
        let measured = &trial["measured"];
        let load = &measured["load"];
        outcomes_add_up(load);
        let agents = load["agents"].as_array().unwrap();
        let names: Vec<&Value> = agents.iter().map(|it| &it["name"]).collect();
        assert_eq!(names, ["a", "b"]);
        let sum = |field: &str| agents.iter().map(|it| it[field].as_u64().unwrap()).sum::<u64>();
        assert_eq!((Some(sum("intended")), sum("connections")), (load["intended"].as_u64(), 7));
        assert!(load["outcomes"]["answered"].as_u64().unwrap() > 7, "{load}");
        for agent in agents {
            assert!(agent["lost"].is_null() && agent["ended_early_s"].is_null(), "{agent}");
            let bound_us = agent["clock_bound_us"].as_f64().unwrap();
            assert!(bound_us > 0.0 && agent["clock_jumped"].is_null(), "{agent}");
        }
        // The server is watched where it is, and who loads it has none of that machine's cores.
        assert!(measured["server"]["rss_bytes_max"].as_u64().unwrap() > 0, "{measured}");
        assert!(measured["surroundings"]["client_cpus"].is_null(), "{measured}");
        assert!(measured["host"]["generator_cores"].is_null(), "{measured}");
        let url = load["url"].as_str().unwrap();
        let port = url.strip_prefix(&format!("http://{SERVERS}:")).and_then(|it| it.strip_suffix("/hello"));
        let port = port.unwrap_or_else(|| panic!("{url}")).parse().unwrap();
        let opened = connections(&network, port);
        assert!(opened >= 7, "{opened} of 7 came from {LOADS}");
        all_intended += sum("intended");
    }
    assert!(arrived >= all_intended, "{all_intended} requests, and {arrived} packets came over the cable");
}

#[test]
fn a_server_on_loopback_is_not_loaded_from_another_machine_and_that_is_said() {
    let Some(network) = Network::new() else { return };
    for (options, code, parts) in [
        (
            &["--servers-address", SERVERS][..],
            2,
            &["`deaf` is not told on which address to listen", "write {address}:{port}"][..],
        ),
        (&["--servers-address", LOADS], 2, &["192.0.2.2 is no address of this machine"]),
        // Whether an agent's command leads to another machine is not known, until one of them can't connect.
        (
            &[],
            3,
            &["agents 0 (a), 1 (b): cannot connect to 127.0.0.1:", "Connection refused", "nothing was sent"],
        ),
    ] {
        let lab = lab("deaf");
        let output = network.run(&lab, options);
        let told = text(&output);
        assert_eq!(output.status.code(), Some(code), "{options:?}: {told}");
        assert!(parts.iter().all(|it| told.contains(it)), "{options:?}: {told}");
        wait_until("nothing is left", || lab.nothing_runs());
    }
}
