//! A run whose loads come from other machines: here each is a child process.

use std::fs;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::common::{processes_with, signal, text, wait_until};
use crate::lab::{Lab, trials, unhurried_stack};
use crate::loads::outcomes_add_up;

const FEW: &str = r#"
title = "few"
blocks = 1
blocks_max = 1
cool_down_max = "0s"
idle_look = "50ms"
twin = false
control = false
[load]
connections = [7]
duration = "300ms"
[[round]]
name = "hello"
endpoint = "hello"
stacks = ["one"]
"#;

fn lab(experiment: &str) -> Lab {
    let one = unhurried_stack(r#""--model", "event-loop""#);
    let told = one.replace("127.0.0.1:{port}", "{address}:{port}");
    Lab::new(experiment, &[("one", &one), ("told", &told)])
}

/// Agents that have the lab's folder on their command line, so that none can hide.
fn agent_command(lab: &Lab) -> String {
    format!("exec '{}' agent --node {}/{{host}}", env!("CARGO_BIN_EXE_proofload"), lab.root())
}

fn on(lab: &Lab, hosts: &str) -> Command {
    let mut command = lab.command();
    command.arg(lab.path("test.toml")).args(["--hosts", hosts, "--agent-command", &agent_command(lab)]);
    command
}

fn load(trial: &Value) -> &Value {
    &trial["measured"]["load"]
}

fn names(trial: &Value) -> Vec<&str> {
    let agents = load(trial)["agents"].as_array().unwrap_or_else(|| panic!("it has none: {trial}"));
    agents.iter().map(|it| it["name"].as_str().unwrap()).collect()
}

#[test]
fn every_load_of_a_run_comes_from_the_agents_and_is_gone_on_with_from_there_alone() {
    let lab = lab(&FEW.replace("control = false", "control = true"));
    let output = on(&lab, "a,b,c").output().unwrap();
    let told = text(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("The loads came from 3 agents: a, b, c.\n"), "{told}");
    assert!(lab.nothing_runs(), "left: {:?}", processes_with(lab.root()));
    let all = trials(&lab.run_dir());
    assert_eq!(all.len(), 2, "the stack and its control: {all:?}");
    for trial in &all {
        assert_eq!(names(trial), ["a", "b", "c"]);
        outcomes_add_up(load(trial));
        let agents = load(trial)["agents"].as_array().unwrap();
        let sum = |field: &str| agents.iter().map(|it| it[field].as_u64().unwrap()).sum::<u64>();
        assert_eq!((Some(sum("intended")), sum("connections")), (load(trial)["intended"].as_u64(), 7));
        // They are other processes of this machine, and load threads of ours there are none.
        let host = &trial["measured"]["host"];
        assert!(host["others_cores"].is_null() && host["generator_cores"].is_null(), "{host}");
        assert!(host["not_known"].to_string().contains("the agents are among them"), "{host}");
        let index = trial["index"].as_u64().unwrap();
        assert!(lab.run_dir().join(format!("trials/{index:04}/response_time.hlog")).exists());
    }
    let resumed = |hosts: Option<&str>| {
        let (mut command, dir) = (lab.command(), lab.run_dir());
        command.arg("--resume").arg(dir).arg("-q");
        if let Some(hosts) = hosts {
            command.args(["--hosts", hosts, "--agent-command", &agent_command(&lab)]);
        }
        let output = command.output().unwrap();
        (output.status.code(), text(&output))
    };
    let (code, told) = resumed(None);
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("its loads came from a, b, c, and now would from this machine"), "{told}");
    let (code, told) = resumed(Some("a,b"));
    assert!(code == Some(2) && told.contains("and now would from a, b;"), "{told}");
    assert_eq!(resumed(Some("a,b,c")).0, Some(0));
}

#[test]
fn a_stack_that_is_told_its_address_listens_where_the_agents_reach_it() {
    let lab = lab(&FEW.replace("\"one\"", "\"told\""));
    let output = on(&lab, "a").args(["--servers-address", "127.0.0.2"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let all = trials(&lab.run_dir());
    let url = load(&all[0])["url"].as_str().unwrap();
    assert!(url.starts_with("http://127.0.0.2:"), "{url}");
    let (mut command, agent) = (lab.command(), agent_command(&lab));
    command.arg("--resume").arg(lab.run_dir()).args(["--hosts", "a", "--agent-command", &agent]);
    let told = text(&command.output().unwrap());
    assert!(told.contains("its servers listened on 127.0.0.2, and now would on 127.0.0.1"), "{told}");
}

/// The certificate is one that the stack makes at its start: the agents take it as we do here.
#[test]
#[cfg(feature = "tls")]
fn agents_speak_with_a_stack_as_it_speaks() {
    let keys = "scheme = \"https\"\nprotocol = \"h2\"\n[[endpoint]]";
    let arguments = r#""--model", "event-loop", "--tls", "--http2""#;
    let one = unhurried_stack(arguments).replacen("[[endpoint]]", keys, 1);
    let lab = Lab::new(FEW, &[("one", &one)]);
    let output = on(&lab, "a,b").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let all = trials(&lab.run_dir());
    assert_eq!(names(&all[0]), ["a", "b"]);
    outcomes_add_up(load(&all[0]));
    let tls = &load(&all[0])["tls"];
    assert_eq!((&tls["agreed"]["alpn"], &tls["full_handshakes"]), (&"h2".into(), &7.into()), "{tls}");
}

#[test]
fn ctrl_c_ends_the_agents_and_the_stack_and_says_how_to_go_on() {
    let lab = lab(&FEW.replace("300ms", "60s"));
    let mut command = on(&lab, "a,b,c");
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let agents = || processes_with(lab.root()).iter().filter(|it| it.contains(" agent --node ")).count();
    // Beside the run itself, which has the agents' command on its own line.
    wait_until("three agents are there", || agents() > 3);
    signal(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    let told = text(&output);
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(told.contains(" --hosts a,b,c --agent-command '"), "{told}");
    wait_until("nothing is left", || lab.nothing_runs());
}

/// The first stream of `b` ends within its load: what an agent says before it is shorter than what is let through, and that with
/// its first second longer.
#[test]
fn a_trial_whose_load_lost_an_agent_is_made_again() {
    let lab = lab(&FEW.replace("300ms", "1500ms"));
    let (root, agent) = (lab.root(), agent_command(&lab));
    let once = format!(
        "echo {{host}} >> {root}/started; test {{host}} = b || {agent}; test -e {root}/broken && {agent}; \
         touch {root}/broken; ({agent}) | dd bs=1 count=6000 2>/dev/null"
    );
    let mut command = lab.command();
    command.arg(lab.path("test.toml")).args(["--hosts", "a,b", "--agent-command", &once]);
    let output = command.output().unwrap();
    let told = text(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("agent 1 of 2 (b)"), "{told}");
    let all = trials(&lab.run_dir());
    assert_eq!(all.len(), 1);
    assert!(load(&all[0])["agents"].as_array().unwrap().iter().all(|it| it["lost"].is_null()), "{all:?}");
    // What became of the first attempt is said meanwhile, in the record and in the report.
    let lost = all[0]["lost_attempts"].as_array().unwrap();
    assert!(
        lost.len() == 1 && lost[0].as_str().unwrap().starts_with("agent 1 of 2 (b) was lost: it "),
        "{lost:?}"
    );
    assert!(told.contains("attempt 2 of 3 at this trial, since agent 1 of 2 (b) was lost: it "), "{told}");
    assert!(
        told.contains("\nmade again: one, in hello, block 1, since agent 1 of 2 (b) was lost: it "),
        "{told}"
    );
    assert_eq!(fs::read_to_string(lab.path("started")).unwrap().lines().count(), 4, "{told}");
    wait_until("nothing is left", || lab.nothing_runs());
}

#[test]
fn what_agents_can_t_carry_or_reach_is_told_before_anything_is_built() {
    let lab = lab(&FEW.replace("300ms", "1s"));
    let agent = agent_command(&lab);
    for (arguments, part) in [
        (
            &["--client", "load1"][..],
            "`one` is booted on 127.0.0.1 of this machine, which load1 does not reach",
        ),
        (&["--hosts", "a", "--servers-address", "192.0.2.1"], "192.0.2.1 is no address of this machine"),
        (&["--hosts", "a,b,c,d,e,f,g,h", "--agent-command", &agent], "8 agents cannot share this load"),
        (&["--hosts", "a,,b"], "is no name of a machine"),
        (&["--servers-address", "127.0.0.1"], "--hosts"),
        (
            &["--hosts", "a", "--agent-command", &agent, "--driver", "wrk"],
            "wrk makes its loads on this machine",
        ),
    ] {
        let output = lab.command().arg(lab.path("test.toml")).args(arguments).output().unwrap();
        let told = text(&output);
        assert!(output.status.code() == Some(2) && told.contains(part), "{arguments:?}: {told}");
    }
    assert!(!lab.path("runs").exists(), "nothing was begun");
    let mut command = lab.command();
    command.arg(lab.path("test.toml")).args(["-q", "--hosts", "a"]);
    let output = command.args(["--agent-command", "echo no such key >&2; exit 7"]).output().unwrap();
    let told = text(&output);
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.contains("ended (exit status: 7): no such key"), "{told}");
    assert!(lab.nothing_runs());
}
