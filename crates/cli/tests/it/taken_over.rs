//! A load whose conductor is killed is taken over by another, from agents that listen. The server's log is the truth.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Output, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::common::{NOBODY, Target, ends_with, json, proofload, run, signal, text, wait_until};
use crate::loads::{outcome, outcomes_add_up};

/// An agent that listens; it ends when dropped.
struct Agent {
    child: Child,
    address: String,
}

impl Agent {
    fn start() -> Self {
        let mut child = proofload()
            .args(["agent", "--listen", "127.0.0.1:0"])
            .stderr(Stdio::piped())
            .spawn()
            .expect("the agent starts");
        let mut line = String::new();
        let errors = child.stderr.as_mut().expect("it is piped");
        BufReader::new(errors).read_line(&mut line).expect("it says where it listens");
        let address = line.trim().rsplit(' ').next().unwrap_or_default().to_owned();
        Self { child, address }
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// How it ends by itself.
    fn end(&mut self) -> ExitStatus {
        wait_until("the agent has left", || self.child.try_wait().is_ok_and(|it| it.is_some()));
        self.child.wait().expect("it is ours")
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A load on two agents with a ledger, once its first second is told.
struct UnderWay {
    target: Target,
    agents: [Agent; 2],
    conductor: Child,
    folder: tempfile::TempDir,
}

impl UnderWay {
    fn start(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let truth = folder.path().join("truth.csv");
        let target = Target::start(&["--truth", truth.to_str().unwrap(), "--path", "/=1ms"]);
        let agents = [Agent::start(), Agent::start()];
        let addresses = format!("{},{}", agents[0].address, agents[1].address);
        let ledger = folder.path().join("ledger");
        let mut conductor = proofload()
            .args(["hit", &target.url, "--agents", &addresses, "--ledger"])
            .arg(&ledger)
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut errors = BufReader::new(conductor.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains(" s of ") {
            line.clear();
            assert!(errors.read_line(&mut line).unwrap() > 0, "it tells no second");
        }
        // Who reads no more ends nobody.
        std::thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
        Self { target, agents, conductor, folder }
    }

    fn ledger(&self) -> PathBuf {
        self.folder.path().join("ledger")
    }

    fn kill_conductor(&mut self) {
        self.conductor.kill().unwrap();
        self.conductor.wait().unwrap();
    }

    fn resume(&self, arguments: &[&str]) -> Output {
        let ledger = self.ledger();
        run(&[&["hit", "--resume", ledger.to_str().unwrap()], arguments].concat())
    }

    /// How many requests reached the server, which ends.
    fn arrived(self) -> u64 {
        let Self { target, folder, .. } = self;
        target.stop();
        let log = std::fs::read_to_string(folder.path().join("truth.csv")).unwrap();
        log.lines().filter(|line| line.starts_with(|it: char| it.is_ascii_digit())).count() as u64
    }
}

/// Whether it comes back is known later; that it is missing is told at once.
#[test]
fn an_agent_whose_stream_breaks_is_told_of_before_it_is_lost() {
    let target = Target::start(&[]);
    let mut agents = [Agent::start(), Agent::start()];
    let addresses = format!("{},{}", agents[0].address, agents[1].address);
    let mut conductor = proofload()
        .args(["hit", &target.url, "--agents", &addresses, "-c", "8", "--rate", "100", "-d", "60s"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(conductor.stderr.take().unwrap()).lines();
    let mut until = |part: &str| lines.by_ref().map_while(Result::ok).find(|line| line.contains(part));
    assert!(until(" s of ").is_some(), "it tells its seconds");
    agents[1].kill();
    let told = until(" is not heard of: ").expect("it says so");
    assert!(told.starts_with(&format!("agent 1 of 2 ({})", agents[1].address)), "{told}");
    assert!(told.contains("may come back within 20.0s"), "{told}");
    assert!(until(" s of ").is_some(), "and the load goes on");
    conductor.kill().unwrap();
    conductor.wait().unwrap();
}

#[test]
fn a_load_whose_conductor_is_killed_goes_on_and_nothing_counts_twice() {
    // A connection for each request: none is late for want of one.
    let mut load = UnderWay::start(&["--rate", "100", "-c", "600", "-d", "6s"]);
    let busy = load.resume(&[]);
    assert_eq!(busy.status.code(), Some(1), "{}", text(&busy));
    assert!(text(&busy).contains("still conducted by another process"), "{}", text(&busy));
    load.kill_conductor();
    let result = json(&load.resume(&["--json"]));
    outcomes_add_up(&result);
    assert_eq!((result["intended"].as_u64(), outcome(&result, "answered")), (Some(600), 600), "{result:#}");
    assert_eq!(
        (&result["interrupted"], &result["window"]["duration_s"]),
        (&Value::from(false), &Value::from(6.0))
    );
    let of_second = |it: &Value| it["goodput_per_s"].as_f64().unwrap() * it["length_s"].as_f64().unwrap();
    let seconds: f64 = result["seconds"].as_array().unwrap().iter().map(of_second).sum();
    assert!(seconds < 600.5, "each second is told once: {:#}", result["seconds"]);
    for bound_us in result["agents"].as_array().unwrap().iter().map(|it| &it["clock_bound_us"]) {
        assert!(bound_us.as_f64().unwrap() > 0.0, "it is that of the begin");
    }
    assert!(load.agents.iter_mut().all(|agent| agent.end().success()), "they were told to leave");
    // It is over, and can be looked at again.
    let again = json(&load.resume(&["--json"]));
    assert_eq!(
        (&again["outcomes"], &again["response_time_us"]),
        (&result["outcomes"], &result["response_time_us"])
    );
    assert_eq!(load.arrived(), 600);
}

/// The other is told so, and to the load that is carried it is as if nobody had come.
#[test]
fn an_agent_that_loads_turns_down_another_load_and_its_own_stays_whole() {
    let mut load = UnderWay::start(&["--rate", "100", "-c", "400", "-d", "4s"]);
    let (url, address) = (load.target.url.clone(), load.agents[0].address.clone());
    let other = ["hit", &url, "--agents", &address, "-c", "2", "-d", "1s"];
    let told = ends_with(3, &other);
    assert!(told.contains(&format!("agent 0 ({address}): carries another load; nothing was sent")), "{told}");
    assert!(matches!(load.conductor.wait().unwrap().code(), Some(0 | 4)), "it is not called off");
    let result = json(&load.resume(&["--json"]));
    outcomes_add_up(&result);
    assert_eq!((result["intended"].as_u64(), outcome(&result, "answered")), (Some(400), 400), "{result:#}");
    assert_eq!(result["interrupted"], false);
    assert!(load.agents.iter_mut().all(|agent| agent.end().success()), "they were told to leave");
    assert_eq!(load.arrived(), 400, "nothing of the other load");
}

/// Before the begin a stream that ends is the end of a load. The other's stream waits beside it.
#[test]
fn an_agent_that_waits_for_the_begin_turns_down_another_load_and_keeps_its_stream() {
    let (server, silent) =
        (TcpListener::bind("127.0.0.1:0").unwrap(), TcpListener::bind("127.0.0.1:0").unwrap());
    let agent = Agent::start();
    let url = format!("http://{}/", server.local_addr().unwrap());
    let both = format!("{},{}", agent.address, silent.local_addr().unwrap());
    let mut first = proofload()
        .args(["hit", &url, "--agents", &both, "-c", "2"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _connection = server.accept().unwrap();
    let told = ends_with(3, &["hit", &url, "--agents", &agent.address, "-c", "1"]);
    assert!(told.contains("carries another load; nothing was sent"), "{told}");
    std::thread::sleep(Duration::from_millis(500));
    assert!(first.try_wait().unwrap().is_none(), "it waits for its other agent");
    first.kill().unwrap();
    first.wait().unwrap();
}

/// Whoever looks at it again must not take it for the load that was asked for.
#[test]
fn a_load_that_was_interrupted_stays_so() {
    let mut load = UnderWay::start(&["-c", "8", "-d", "60s"]);
    signal(&load.conductor, Signal::INT);
    assert_eq!(load.conductor.wait().unwrap().code(), Some(130));
    let output = load.resume(&["--json"]);
    let result = json(&output);
    outcomes_add_up(&result);
    assert_eq!((output.status.code(), &result["interrupted"]), (Some(130), &Value::from(true)));
    assert!(
        result["agents"].as_array().unwrap().iter().all(|it| it["ended_early_s"].is_null()),
        "{result:#}"
    );
}

#[test]
fn a_load_that_cannot_be_taken_over_is_said_to_be_so() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap();
    for no_ledger in [dir, "/no/such/ledger", "/etc/hostname"] {
        let told = ends_with(2, &["hit", "--resume", no_ledger]);
        let said = "is no ledger; name a directory that `proofload hit --ledger` wrote";
        assert!(told.contains(&format!("{no_ledger} {said}")), "{told}");
    }
    let told = ends_with(2, &["hit", "--resume", dir, "--rate", "5"]);
    assert!(told.contains("--rate"), "{told}");
    // Nobody listens there; what is in the ledger is no load that began.
    let url = "http://127.0.0.1:9/";
    let told = ends_with(3, &["hit", url, "--agents", NOBODY, "-c", "2", "--ledger", dir]);
    assert!(told.contains(&format!("agent 0 ({NOBODY}) cannot be reached")), "{told}");
    assert!(told.contains("nothing was sent"), "{told}");
    let told = ends_with(1, &["hit", url, "--agents", NOBODY, "-c", "2", "--ledger", dir]);
    assert!(told.contains("hit --resume"), "{told}");
    let told = ends_with(3, &["hit", "--resume", dir]);
    assert!(told.contains("has no beginning: nothing was sent, or"), "{told}");
    let file = folder.path().join("load.json");
    let load = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, load.replacen("\"boot\":\"", "\"boot\":\"another-", 1)).unwrap();
    let told = ends_with(2, &["hit", "--resume", dir]);
    assert!(told.contains("begun on another machine"), "{told}");
}

#[test]
#[ignore = "slow: agents wait half a minute for their conductor"]
fn agents_that_nobody_conducts_end_their_load_and_keep_what_they_measured() {
    let mut load = UnderWay::start(&["--rate", "100", "-c", "8", "-d", "300s"]);
    load.kill_conductor();
    // Silence is 30 s after the last word, which came within the second before.
    std::thread::sleep(Duration::from_secs(32));
    let output = load.resume(&["--json"]);
    let result = json(&output);
    outcomes_add_up(&result);
    assert_eq!((output.status.code(), &result["interrupted"]), (Some(130), &Value::from(true)));
    for agent in result["agents"].as_array().unwrap() {
        assert!(agent["lost"].is_null(), "{agent:#}");
        let after_s = agent["ended_early_s"].as_f64().expect("it says when");
        assert!((29.0..33.0).contains(&after_s), "{after_s}");
    }
    let reasons = result["validity"]["reasons"].to_string();
    assert!(
        reasons.contains("agent 0 of 2") && reasons.contains("ended its load by itself after"),
        "{reasons}"
    );
    let (answered, intended) = (outcome(&result, "answered"), result["intended"].as_u64().unwrap());
    let arrived = load.arrived();
    assert!(
        (answered..=intended).contains(&arrived),
        "{answered} answered, {intended} due, {arrived} arrived"
    );
    assert!((2900..3300).contains(&intended), "{intended}");
}

#[test]
#[ignore = "slow: an agent is waited for that does not come back"]
fn what_an_agent_took_with_it_before_its_load_was_taken_over_is_lost_and_counted_exactly() {
    let mut load = UnderWay::start(&["--rate", "300", "-c", "900", "-d", "3s"]);
    load.agents[1].kill();
    load.kill_conductor();
    let output = load.resume(&["--json"]);
    let result = json(&output);
    outcomes_add_up(&result);
    assert_eq!((output.status.code(), result["intended"].as_u64()), (Some(4), Some(900)), "{result:#}");
    let lost = &result["agents"][1]["lost"];
    assert_eq!(lost["requests"], result["outcomes"]["lost"], "{result:#}");
    assert!(outcome(&result, "lost") > 0 && outcome(&result, "answered") >= 450, "{result:#}");
}

#[test]
fn a_mistake_in_what_is_made_of_a_load_takes_no_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = folder.path().join("ledger");
    let load = ["hit", "http://127.0.0.1:9/", "--agents", "127.0.0.1:1", "-c", "2"];
    let told =
        ends_with(2, &[&load[..], &["--stop-if", "p99>50ms", "--ledger", ledger.to_str().unwrap()]].concat());
    assert!(told.contains("only errors do"), "{told}");
    assert!(!ledger.exists());
}

/// What was told before the take-over is in all that is made of a load, as it is in its result.
#[test]
fn what_was_told_before_is_in_the_percentiles_and_in_the_gate() {
    let mut load = UnderWay::start(&["--rate", "300", "-c", "600", "-d", "2s"]);
    load.kill_conductor();
    assert_eq!(json(&load.resume(&["--json"]))["intended"].as_u64(), Some(600));
    let file = load.folder.path().join("times.hgrm");
    let again = load.resume(&["--hgrm", file.to_str().unwrap(), "--fail-if", "p50>10s"]);
    let times = std::fs::read_to_string(&file).unwrap();
    assert!(times.contains("Total count    =          600]"), "{times}");
    assert!(!text(&again).contains("nothing was measured"), "{}", text(&again));
}
