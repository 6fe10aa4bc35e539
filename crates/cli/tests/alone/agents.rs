//! What it costs to conduct many agents.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStderr, Stdio};
use std::time::Instant;

#[cfg(not(debug_assertions))]
use crate::common::NOBODY;
use crate::common::{Target, proofload};
use crate::quiet::measured_alone;
#[cfg(not(debug_assertions))]
use crate::scripted_agents;

const AGENTS: usize = 100;
/// Of one core, and MiB that were ever resident at a time. What is not optimised takes several times as long, which on a slow machine
/// is above the bound; so that a debug build finds a loss of another order alone.
const CPU_SHARE_MAX: f64 = if cfg!(debug_assertions) { 0.4 } else { 0.1 };
const MEMORY_MIB_MAX: f64 = 64.0;
/// What the kernel counts CPU time in, as it tells programs.
const TICKS_PER_S: f64 = 100.0;

/// Agents that listen; they end when dropped.
struct Agents(Vec<Child>);

impl Agents {
    /// With their addresses, by commas.
    fn start() -> (Self, String) {
        let mut agents = Self(Vec::new());
        for _ in 0..AGENTS {
            let mut command = proofload();
            let listen = command.args(["agent", "--listen", "127.0.0.1:0"]).stderr(Stdio::piped());
            agents.0.push(listen.spawn().expect("the agent starts"));
        }
        let addresses = agents.0.iter_mut().map(|child| {
            let line = next_line(&mut BufReader::new(child.stderr.as_mut().expect("it is piped")));
            line.trim().rsplit(' ').next().unwrap_or_default().to_owned()
        });
        let addresses = addresses.collect::<Vec<_>>().join(",");
        (agents, addresses)
    }
}

impl Drop for Agents {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn next_line(errors: &mut BufReader<impl std::io::Read>) -> String {
    let mut line = String::new();
    assert!(errors.read_line(&mut line).expect("it is text") > 0, "it says no more");
    line
}

/// CPU time of a process so far, seconds.
fn cpu_s(child: &Child) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("it goes on");
    let (_, fields) = stat.rsplit_once(") ").expect("a name in brackets");
    // User and system, of itself alone.
    let ticks: f64 = fields.split_whitespace().skip(11).take(2).map(|it| it.parse().unwrap_or(0.0)).sum();
    ticks / TICKS_PER_S
}

/// The most memory that a process ever had at a time, MiB.
fn memory_mib(child: &Child) -> f64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it goes on");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it is told");
    line.trim().trim_end_matches(" kB").parse::<f64>().expect("a number of KiB") / 1024.0
}

fn until_second(errors: &mut BufReader<ChildStderr>, number: u32) {
    while !next_line(errors).starts_with(&format!("{number} s of ")) {}
}

/// What a conductor takes, of one core and MiB, for a load of twelve seconds on agents at these addresses.
fn cost_of_conducting(url: &str, rate: &str, connections: &str, addresses: &str) -> (f64, f64) {
    let load = ["--rate", rate, "-c", connections, "-d", "12s", "--agents", addresses];
    let mut conductor = proofload()
        .args(["hit", url])
        .args(load)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut errors = BufReader::new(conductor.stderr.take().expect("it is piped"));
    until_second(&mut errors, 2);
    let (begun, before_s) = (Instant::now(), cpu_s(&conductor));
    until_second(&mut errors, 11);
    let share = (cpu_s(&conductor) - before_s) / begun.elapsed().as_secs_f64();
    let memory_mib = memory_mib(&conductor);
    // It has more to say, and ends only if somebody reads it.
    std::io::copy(&mut errors, &mut std::io::sink()).expect("it is read");
    let output = conductor.wait_with_output().expect("it ends");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("goodput") && !told.contains("lost"), "{told}");
    (share, memory_mib)
}

#[test]
#[ignore = "slow: a hundred agents are measured for half a minute"]
fn whoever_conducts_a_hundred_agents_takes_a_tenth_of_a_core_and_64_mib() {
    measured_alone(|| {
        let target = Target::start(&[]);
        let (_agents, addresses) = Agents::start();
        let (share, memory_mib) = cost_of_conducting(&target.url, "1000", "200", &addresses);
        let told = format!("{AGENTS} agents: {:.1} % of a core, {memory_mib:.0} MiB", share * 100.0);
        eprintln!("{told}");
        if share <= CPU_SHARE_MAX && memory_mib <= MEMORY_MIB_MAX { Ok(()) } else { Err(told) }
    });
}

/// Each tells every second of 50,000 requests, which take anything from 0.1 to 100 ms: of a load of 10 million requests a second,
/// for which nobody has the machines here. What is not optimised takes eight times as long to read it, so it is tried in a release
/// build alone (`scripts/acceptance.sh`).
#[test]
#[cfg(not(debug_assertions))]
#[ignore = "slow: two hundred agents tell of half a minute"]
fn two_hundred_full_load_threads_are_conducted_by_a_fifth_of_a_core_and_128_mib() {
    measured_alone(|| {
        let mut all = Vec::new();
        for agents in [AGENTS, 2 * AGENTS] {
            let addresses = scripted_agents::start(agents, 12);
            let rate = (agents as u64 * scripted_agents::RATE_PER_S).to_string();
            let connections = (agents * 10).to_string();
            let (share, memory_mib) =
                cost_of_conducting(&format!("http://{NOBODY}/"), &rate, &connections, &addresses);
            let times = agents as f64 / AGENTS as f64;
            let told =
                format!("{agents} full threads: {:.1} % of a core, {memory_mib:.0} MiB", share * 100.0);
            eprintln!("{told}");
            all.push((share <= CPU_SHARE_MAX * times && memory_mib <= MEMORY_MIB_MAX * times, told));
        }
        match all.into_iter().find(|(fits, _)| !fits) {
            Some((_, told)) => Err(told),
            None => Ok(()),
        }
    });
}
