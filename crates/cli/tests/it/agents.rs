//! One load on several machines: here each is a child process, and all load one server whose log is the truth.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, test_kill_process};
use serde_json::Value;

use crate::common::{NOBODY, Target, ends_with, proofload, run, signal, text, wait_until};
use crate::loads::{hit, outcome, outcomes_add_up, service_did_well};
use crate::terminal::Terminal;

/// A command that is an agent, whatever the machine is called.
fn agent_command() -> String {
    format!("exec '{}' agent # {{host}}", env!("CARGO_BIN_EXE_proofload"))
}

/// The same that leaves its process id behind.
fn agent_command_in(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "echo $$ > {folder}/new-{{host}}; mv {folder}/new-{{host}} {folder}/{{host}}; {}",
        agent_command()
    )
}

fn on_three(url: &str, arguments: &[&str]) -> Value {
    let command = agent_command();
    let three = ["--hosts", "a,b,c", "--agent-command", &command];
    let (result, _) = hit(url, &[&three, arguments].concat());
    outcomes_add_up(&result);
    assert!(service_did_well(&result), "{:#}", result["validity"]);
    assert_eq!(result["agents"].as_array().unwrap().len(), 3);
    result
}

fn agents<'a>(result: &'a Value, field: &str) -> Vec<&'a Value> {
    result["agents"].as_array().unwrap().iter().map(|agent| &agent[field]).collect()
}

#[test]
fn three_agents_make_one_load_in_exact_shares_and_one_result() {
    let folder = tempfile::tempdir().unwrap();
    let truth = folder.path().join("truth.csv");
    let target = Target::start(&["--truth", truth.to_str().unwrap()]);
    // A connection for each request: whoever is kept from running until the end finds one all the same.
    let result = on_three(&target.url, &["--rate", "601", "-c", "604", "-t", "2", "-d", "1s"]);
    target.stop();
    assert_eq!((result["intended"].as_u64(), outcome(&result, "answered")), (Some(601), 601));
    // Shares of 601 by turns, and of 604 connections.
    assert_eq!(agents(&result, "intended"), [201, 200, 200]);
    assert_eq!(agents(&result, "connections"), [202, 201, 201]);
    assert_eq!(agents(&result, "threads"), [2, 2, 2]);
    assert_eq!(agents(&result, "name"), ["a", "b", "c"]);
    assert_eq!(result["response_time_us"]["count"], 601);
    assert_eq!(result["window"]["duration_s"], 1.0, "all begin together");
    assert_eq!(result["connections"]["opened"], 604);
    assert_eq!(result["load"]["threads"], 6);
    for bound_us in agents(&result, "clock_bound_us") {
        // One clock, in truth: what is told of it is how closely that can be known.
        assert!((0.0..100_000.0).contains(&bound_us.as_f64().unwrap()), "{bound_us}");
    }
    let log = fs::read_to_string(truth).unwrap();
    assert_eq!(log.lines().filter(|line| line.starts_with(|it: char| it.is_ascii_digit())).count(), 601);
}

/// A program in place of ssh, which is what hosts are reached by.
#[test]
fn hosts_are_reached_by_ssh_and_their_users_are_those_of_one_load() {
    let folder = tempfile::tempdir().unwrap();
    let (ssh, said) = (folder.path().join("ssh"), folder.path().join("said"));
    let script = format!(
        "#!/bin/sh\necho \"$@\" >> {}\nexec '{}' agent\n",
        said.display(),
        env!("CARGO_BIN_EXE_proofload")
    );
    fs::write(&ssh, script).unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&ssh, executable).unwrap();
    let target = Target::start(&["--path", "/=5ms"]);
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let arguments = ["hit", &target.url, "--json", "-c", "7", "-d", "1s", "-w", "200ms", "--hosts", "n1,n2"];
    let output = proofload().args(arguments).env("PATH", path).output().unwrap();
    let result: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output)));
    outcomes_add_up(&result);
    let mut said: Vec<String> = fs::read_to_string(said).unwrap().lines().map(str::to_owned).collect();
    said.sort();
    assert_eq!(said, ["-T -o BatchMode=yes n1 proofload agent", "-T -o BatchMode=yes n2 proofload agent"]);
    assert_eq!(agents(&result, "connections"), [4, 3]);
    assert_eq!(result["littles_law"]["users"], 7.0);
    assert!(result["littles_law"]["gap"].as_f64().unwrap() < 0.05, "{}", result["littles_law"]);
    assert_eq!(result["window"]["duration_s"], 1.0);
}

/// A load on agents that leave their process ids behind, once its first second is told.
struct UnderWay {
    child: Child,
    folder: tempfile::TempDir,
    errors: BufReader<std::process::ChildStderr>,
}

impl UnderWay {
    fn start(url: &str, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let command = agent_command_in(folder.path());
        let mut child = proofload()
            .args(["hit", url, "--hosts", "a,b,c", "--agent-command", &command])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains(" s of ") {
            line.clear();
            assert!(errors.read_line(&mut line).unwrap() > 0, "it tells no second");
        }
        Self { child, folder, errors }
    }

    fn agent(&self, host: &str) -> Pid {
        let pid = fs::read_to_string(self.pid_file(host)).unwrap();
        Pid::from_raw(pid.trim().parse().unwrap()).unwrap()
    }

    fn pid_file(&self, host: &str) -> PathBuf {
        self.folder.path().join(host)
    }

    /// What it printed at its end, and that it left nobody behind.
    fn end(mut self) -> Output {
        let agents = ["a", "b", "c"].map(|host| self.agent(host));
        let mut stderr = Vec::new();
        self.errors.read_to_end(&mut stderr).unwrap();
        let output = self.child.wait_with_output().unwrap();
        wait_until("all agents have ended", || agents.iter().all(|pid| test_kill_process(*pid).is_err()));
        Output { stderr, ..output }
    }
}

/// The counts of the line of outcomes, added up.
pub fn sum_of_outcomes(text: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix("outcomes")).expect("it has outcomes");
    line.split(", ").map(|part| part.split_whitespace().next().unwrap().parse::<u64>().unwrap()).sum()
}

#[test]
fn what_an_agent_took_with_it_is_lost_and_counted_exactly() {
    let target = Target::start(&[]);
    let dir = tempfile::tempdir().unwrap();
    let hgrm = dir.path().join("times.hgrm");
    let load = ["--rate", "300", "-c", "30", "-d", "3s", "-t", "2", "--hgrm", hgrm.to_str().unwrap()];
    let load = UnderWay::start(&target.url, &load);
    rustix::process::kill_process(load.agent("b"), Signal::KILL).unwrap();
    let output = load.end();
    let told = text(&output);
    assert_eq!(output.status.code(), Some(4), "{told}");
    let curve = std::fs::read_to_string(&hgrm).unwrap();
    assert!(curve.contains("#[Censored"), "what was lost is none of the fastest: {curve}");
    assert!(told.contains("verdict     lost agent"), "{told}");
    assert!(told.contains("lost agent: agent 1 of 3 (b"), "{told}");
    assert!(told.contains("signal: 9"), "{told}");
    assert!(told.contains(" lost\n"), "{told}");
    assert_eq!(sum_of_outcomes(&told), 900, "{told}");
    let seconds = told.lines().filter(|line| line.contains(" s of 3.00s: ")).count();
    assert!(seconds <= 3, "a line for each second of all six threads, the first of them read before: {told}");
}

/// All connections are open when they begin; of the warm-up nothing is told.
#[test]
fn while_machines_warm_up_nobody_is_said_to_open_connections() {
    let target = Target::start(&["--path", "/=1ms"]);
    let command = agent_command();
    let mut load = proofload();
    load.args(["hit", &target.url, "--hosts", "a,b", "--agent-command", &command]);
    load.args(["-c", "4", "-w", "5s", "-d", "1s"]);
    let mut terminal = Terminal::start(load, 40, 100);
    terminal.wait_until("it warms up", |text| text.contains("settling"));
    terminal.end();
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_leaves_nothing_behind() {
    let target = Target::start(&["--path", "/=1ms"]);
    let load = UnderWay::start(&target.url, &["-c", "6", "-d", "60s"]);
    signal(&load.child, Signal::INT);
    let output = load.end();
    let told = text(&output);
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(told.contains("verdict     interrupted"), "{told}");
    assert!(told.contains("agents      3 machines"), "{told}");
    assert!(!told.contains(" lost"), "{told}");
}

/// Of users it is not known what they would have done: the window ends where one of them was last heard of.
#[test]
fn the_window_of_users_ends_with_the_agent_that_is_lost() {
    let target = Target::start(&["--path", "/=1ms"]);
    let load = UnderWay::start(&target.url, &["-c", "6", "-d", "60s"]);
    rustix::process::kill_process(load.agent("c"), Signal::KILL).unwrap();
    let output = load.end();
    let told = text(&output);
    assert_eq!(output.status.code(), Some(4), "{told}");
    assert!(told.contains("lost agent: agent 2 of 3 (c"), "{told}");
    assert!(told.contains(", 2 lost\n"), "one for each of its users: {told}");
    let of_agent = |line: &str| line.split_once("): ")?.1.split_once(" requests")?.0.parse::<u64>().ok();
    let of_agents: u64 = told.lines().filter_map(of_agent).sum();
    assert_eq!(of_agents + 2, sum_of_outcomes(&told), "what is behind that is nobody's: {told}");
    let measured = told.split(" s measured").next().unwrap().rsplit(' ').next().unwrap();
    assert!((0.5..30.0).contains(&measured.parse::<f64>().unwrap()), "{told}");
}

#[test]
fn what_is_no_agent_is_told_with_what_it_said_and_nothing_is_sent() {
    let target = Target::start(&[]);
    let on = |command: &str| {
        ends_with(3, &["hit", &target.url, "--hosts", "a,b", "--agent-command", command, "-c", "4"])
    };
    let told = on("echo welcome to {host}");
    assert!(told.contains("says \"welcome to ") && told.contains("nothing was sent"), "{told}");
    let told = on("echo no such key >&2; exit 7 # {host}");
    assert!(told.contains("ended (exit status: 7): no such key"), "{told}");
    let told = on("exec /nowhere/proofload agent {host}");
    assert!(told.contains("exit status: 127") && told.contains("/nowhere/proofload"), "{told}");
}

#[test]
fn agents_that_cannot_reach_the_server_are_named_together() {
    let url = format!("http://{NOBODY}/");
    let command = agent_command();
    let told = ends_with(3, &["hit", &url, "--hosts", "a,b", "--agent-command", &command, "-c", "4"]);
    let expected = format!("agents 0 (a), 1 (b): cannot connect to {NOBODY}");
    assert!(told.contains(&expected) && told.contains("nothing was sent"), "{told}");
}

#[test]
fn machines_that_cannot_carry_a_load_together_are_refused() {
    let url = "http://127.0.0.1:9/";
    let long = "a".repeat(600);
    for (arguments, part) in [
        (&["--hosts", "a,b,c", "-c", "2"][..], "3 agents cannot share this load"),
        (&["--hosts", &long], "a name in --hosts has 600 bytes, and none has more than 512"),
        (&["--hosts", "a,b", "-n", "1"], "2 agents cannot share this load"),
        (&["--hosts", "a,,b"], "is no name of a machine"),
        (&["--hosts=-oProxyCommand=x"], "is no name of a machine"),
        (&["--hosts", "a", "-t", "auto"], "give the --threads of each"),
        (&["--hosts", "a,b", "--agent-command", "proofload agent"], "write {host}"),
        (&["--agent-command", "proofload agent"], "--hosts"),
        (&["--hosts", "a", "--jtl", "x.jtl"], "--jtl"),
        (&["--hosts", "a", "--agents", "127.0.0.1:1"], "--agents"),
        (
            &["--hosts", "a", "--ledger", "x"],
            "whose agents end with their streams; start `proofload agent --listen`",
        ),
        (&["--ledger", "x"], "of one machine, whose load ends with it"),
        (&["--agents", "127.0.0.1:1,127.0.0.1:1"], "127.0.0.1:1 is named twice"),
        (&["--agents", "192.0.2.1:7780"], "through a tunnel: ssh -N -L"),
        (&["--resume", "x"], "--resume"),
        (&["--hosts", "a", "--follow"], "--hosts is about requests that are all the same"),
    ] {
        let told = ends_with(2, &[&["hit", url], arguments].concat());
        assert!(told.contains(part), "{arguments:?}: {told}");
    }
    let told = ends_with(2, &["hit", url, "--hosts", "a", "--cacert", "x.pem"]);
    assert!(told.contains("--cacert is about https"), "{told}");
    let body = tempfile::NamedTempFile::new().unwrap();
    fs::write(&body, vec![b'x'; 13_000_000]).unwrap();
    let told = ends_with(2, &["hit", url, "--hosts", "a,b", "--body-file", body.path().to_str().unwrap()]);
    assert!(
        told.contains("more than 12 MB is not told to several machines; make its body shorter"),
        "{told}"
    );
    let many = vec!["h"; 201].join(",");
    let told = ends_with(2, &["hit", url, "--hosts", &many, "-c", "1000"]);
    assert!(told.contains("201 agents are more than 200"), "{told}");
}

#[test]
fn a_load_that_goes_wrong_is_ended_on_all_machines() {
    let target = Target::start(&["--error-share", "1"]);
    let (url, command) = (format!("{}/hello", target.url), agent_command());
    let hosts = ["--hosts", "a,b", "--agent-command", &command, "-c", "4"];
    let begun = Instant::now();
    let told = ends_with(4, &[&["hit", &url, "-d", "60s", "--stop-if", "errors>5%"], &hosts[..]].concat());
    assert!(told.contains("ended early, as --stop-if says"), "{told}");
    assert!(begun.elapsed() < Duration::from_secs(40), "it went on for {:?}", begun.elapsed());
}

#[test]
fn an_agent_that_is_told_garbage_or_left_alone_ends() {
    for input in [&b""[..], b"GET / HTTP/1.1\r\n\r\n", &[0, 0, 0, 2, b'{', b'}']] {
        let mut child =
            proofload().arg("agent").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let _ = stdin.write_all(input);
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{input:?}");
        assert!(output.stdout.is_empty() || output.stdout.starts_with(b"proofload agent 2\n"));
    }
    assert!(text(&run(&["agent", "--help"])).contains("docs/cluster.md"));
}
