//! One load from pods: of a double of Kubernetes, whose pods are child processes here.
#![cfg(feature = "kubernetes")]

mod double;
mod watch;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Signal, test_kill_process};
use serde_json::{Value, json};

use self::double::{Behaviour, Fate, Kubernetes};
use crate::agents::sum_of_outcomes;
use crate::common::{
    NOBODY, Target, ends_with, json as json_of, proofload, run, signal, stdout, text, wait_until,
};
use crate::lab::{Lab, trials};
use crate::loads::{outcome, outcomes_add_up};

const ON_PODS: [&str; 6] = ["--on", "kubernetes", "--image", "proofload:1", "--cpu", "2"];

fn hit(cluster: &Kubernetes, url: &str, arguments: &[&str]) -> Command {
    let mut command = proofload();
    command.args(["hit", url]).args(ON_PODS).args(arguments).env("KUBECONFIG", cluster.kubeconfig());
    command
}

/// That nothing is left of a run: no Job, and no process.
fn nothing_is_left(cluster: &Kubernetes) {
    assert!(cluster.jobs().is_empty(), "{:?}", cluster.jobs());
    let agents = cluster.agents();
    wait_until("all agents have ended", || {
        cluster.reap();
        agents.iter().all(|pid| test_kill_process(*pid).is_err())
    });
}

#[test]
fn three_pods_make_one_load_and_one_result_and_nothing_is_left() {
    let (cluster, target) = (Kubernetes::start(Behaviour::default()), Target::start(&[]));
    let output =
        hit(&cluster, &target.url, &["--json", "--rate", "301", "-c", "303", "-d", "1s", "--pods", "3"])
            .output()
            .unwrap();
    let result = json_of(&output);
    outcomes_add_up(&result);
    assert_eq!((result["intended"].as_u64(), outcome(&result, "answered")), (Some(301), 301));
    let agents = result["agents"].as_array().unwrap();
    let all = |field: &str| agents.iter().map(|it| it[field].clone()).collect::<Vec<Value>>();
    assert_eq!(all("intended"), [101, 100, 100]);
    assert_eq!(all("node"), ["n0", "n1", "n2"]);
    assert_eq!(all("threads"), [2, 2, 2], "as many as --cpu");
    assert!(all("name")[1].as_str().unwrap().ends_with("-1-abcde on n1"), "{:?}", all("name"));
    let said = text(&output);
    assert!(said.contains("context blue, namespace shop: 3 pods of proofload:1, each with cpu 2"), "{said}");
    nothing_is_left(&cluster);
    let deleted = cluster.asked().iter().filter(|it| it.starts_with("DELETE ")).count();
    assert_eq!(deleted, 1, "{:?}", cluster.asked());
}

/// A load under way from three pods, once its first second is told.
struct UnderWay {
    child: Child,
    errors: BufReader<std::process::ChildStderr>,
}

impl UnderWay {
    fn start(cluster: &Kubernetes, url: &str, arguments: &[&str]) -> Self {
        let mut command = hit(cluster, url, arguments);
        let mut child =
            command.args(["--pods", "3"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        let mut load = Self { child, errors };
        load.until(" s of ");
        load
    }

    fn until(&mut self, part: &str) {
        let mut line = String::new();
        while !line.contains(part) {
            line.clear();
            assert!(self.errors.read_line(&mut line).unwrap() > 0, "it does not say {part:?}");
        }
    }

    fn end(mut self) -> Output {
        let mut stderr = Vec::new();
        self.errors.read_to_end(&mut stderr).unwrap();
        let output = self.child.wait_with_output().unwrap();
        Output { stderr, ..output }
    }
}

#[test]
fn streams_that_break_come_back_and_nothing_is_lost() {
    let (cluster, target) = (Kubernetes::start(Behaviour::default()), Target::start(&[]));
    let load = UnderWay::start(&cluster, &target.url, &["--rate", "300", "-c", "30", "-d", "3s"]);
    cluster.break_streams();
    let output = load.end();
    let told = text(&output);
    assert!(!told.contains(" lost"), "{told}");
    assert_eq!(sum_of_outcomes(&told), 900, "{told}");
    let forwards = cluster.asked().iter().filter(|it| it.ends_with("/portforward")).count();
    assert_eq!(forwards, 6, "each is reached again once");
    nothing_is_left(&cluster);
}

#[test]
#[ignore = "slow: nobody answers for twelve seconds"]
fn a_load_goes_on_while_its_pods_are_out_of_reach() {
    let (cluster, target) = (Kubernetes::start(Behaviour::default()), Target::start(&[]));
    let load = UnderWay::start(&cluster, &target.url, &["--rate", "100", "-c", "30", "-d", "16s"]);
    cluster.go_away();
    std::thread::sleep(std::time::Duration::from_secs(12));
    cluster.come_back();
    let told = text(&load.end());
    assert!(!told.contains(" lost") && !told.contains("interrupted"), "{told}");
    assert_eq!(sum_of_outcomes(&told), 1600, "{told}");
    nothing_is_left(&cluster);
}

#[test]
fn a_load_whose_conductor_is_killed_is_taken_over_with_its_pods_and_nothing_is_left() {
    let (cluster, target) = (Kubernetes::start(Behaviour::default()), Target::start(&[]));
    let folder = tempfile::tempdir().unwrap();
    let ledger = folder.path().join("ledger").display().to_string();
    let arguments = ["--rate", "300", "-c", "600", "-d", "2s", "--ledger", &ledger];
    let mut load = UnderWay::start(&cluster, &target.url, &arguments);
    load.child.kill().unwrap();
    load.child.wait().unwrap();
    assert_eq!(cluster.jobs().len(), 1, "nobody deleted it");
    let mut resume = proofload();
    resume.args(["hit", "--resume", &ledger, "--json"]).env("KUBECONFIG", cluster.kubeconfig());
    let result = json_of(&resume.output().unwrap());
    outcomes_add_up(&result);
    assert_eq!((result["intended"].as_u64(), outcome(&result, "answered")), (Some(600), 600), "{result:#}");
    assert_eq!(result["interrupted"], false);
    nothing_is_left(&cluster);
}

#[test]
fn what_a_pod_took_with_it_is_lost_and_counted_exactly() {
    let (cluster, target) = (Kubernetes::start(Behaviour::default()), Target::start(&[]));
    let load = UnderWay::start(&cluster, &target.url, &["--rate", "300", "-c", "30", "-d", "3s"]);
    cluster.kill_agent(1);
    let output = load.end();
    let told = text(&output);
    assert_eq!(output.status.code(), Some(4), "{told}");
    assert!(told.contains("lost agent: agent 1 of 3 (proofload-"), "{told}");
    assert!(told.contains("ended (exit code 137)"), "{told}");
    assert_eq!(sum_of_outcomes(&told), 900, "{told}");
    nothing_is_left(&cluster);
}

#[test]
fn ctrl_c_deletes_what_was_made_whenever_it_comes() {
    let (cluster, target) = (Kubernetes::start(Behaviour::default()), Target::start(&["--path", "/=1ms"]));
    let load = UnderWay::start(&cluster, &target.url, &["-c", "6", "-d", "60s"]);
    signal(&load.child, Signal::INT);
    let output = load.end();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output));
    assert!(text(&output).contains("verdict     interrupted"), "{}", text(&output));
    nothing_is_left(&cluster);

    let pending = Behaviour { fates: vec![Fate::Agent, unscheduled()], ..Behaviour::default() };
    let cluster = Kubernetes::start(pending);
    let mut command = hit(&cluster, &target.url, &["--pods", "3"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let errors = BufReader::new(child.stderr.take().unwrap());
    let mut load = UnderWay { child, errors };
    load.until("1 of 3 pods run; 2 wait: 0/3 nodes are available");
    signal(&load.child, Signal::INT);
    let output = load.end();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output));
    assert!(text(&output).contains("nothing was sent"), "{}", text(&output));
    nothing_is_left(&cluster);
}

fn unscheduled() -> Fate {
    let message = "0/3 nodes are available: 3 Insufficient cpu.";
    Fate::Status(json!({"phase": "Pending", "conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message},
    ]}))
}

fn waits(reason: &str, message: &str) -> Fate {
    Fate::Status(json!({"phase": "Pending", "containerStatuses": [{
        "name": "agent", "image": "", "imageID": "", "ready": false, "restartCount": 0,
        "state": {"waiting": {"reason": reason, "message": message}},
    }]}))
}

fn says(message: &Value) -> Fate {
    let message = message.to_string().into_bytes();
    let length = (message.len() as u32).to_be_bytes();
    Fate::Says([b"proofload agent 2\n".as_slice(), &length, &message].concat())
}

#[test]
fn a_cluster_that_can_t_carry_a_load_is_told_in_one_error_and_nothing_is_left() {
    let url = format!("http://{NOBODY}/");
    let fates = |fates: Vec<Fate>| Behaviour { fates, ..Behaviour::default() };
    let quota =
        "Error creating: pods \"x\" is forbidden: exceeded quota: few, requested: pods=1, used: pods=1";
    let forbidden = "jobs.batch is forbidden: User \"ann\" cannot create resource \"jobs\" in API group \"batch\" in \
                     the namespace \"shop\"";
    let hello = json!({"hello": {"version": "0.0.7", "node": "n0", "cores": 1}});
    // Only who waits for pods that do not come needs little time; with so little a busy machine has another error.
    let soon = |behaviour: &Behaviour| behaviour.fates.last().is_some_and(|it| matches!(it, Fate::Status(_)));
    let cases: [(Behaviour, &[&str]); 9] = [
        (
            Behaviour { denied: vec!["create jobs", "get pods/portforward"], ..Behaviour::default() },
            &[
                "may not create jobs.batch and get pods/portforward in the namespace shop",
                "kubectl apply -n shop",
            ],
        ),
        (
            Behaviour { refusal: Some((403, forbidden)), ..Behaviour::default() },
            &["may not create jobs.batch in"],
        ),
        (
            Behaviour { refusal: Some((404, "namespaces \"shop\" not found")), ..Behaviour::default() },
            &["there is no namespace `shop`"],
        ),
        (
            fates(vec![waits("ImagePullBackOff", "Back-off pulling image: not found")]),
            &["the image proofload:1 cannot be had: Back-off pulling image: not found"],
        ),
        (
            Behaviour { warnings: vec![("", quota)], ..fates(vec![Fate::Agent, Fate::Missing]) },
            &["the quota of the namespace", "exceeded quota: few"],
        ),
        (
            fates(vec![Fate::Agent, unscheduled()]),
            &["1 of 3 pods run; 2 wait: 0/3 nodes are available: 3 Insufficient", "after 0.6 s"],
        ),
        (fates(vec![Fate::Agent, says(&hello)]), &["is 0.0.7, and this is ", "nothing was sent"]),
        (
            fates(vec![Fate::Agent, Fate::Says(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec())]),
            &["says \"HTTP/1.1 400 Bad Request\"", "nothing was sent"],
        ),
        // Nobody listens there.
        (
            Behaviour::default(),
            &["-0-abcde on n0), 1 (proofload-", "cannot connect to 127.0.0.1", "nothing was sent"],
        ),
    ];
    for (behaviour, parts) in cases {
        let case = format!("{behaviour:?}");
        let within = if soon(&behaviour) { "600ms" } else { "1m" };
        let cluster = Kubernetes::start(behaviour);
        let output =
            hit(&cluster, &url, &["-c", "6", "--pods", "3", "--ready-timeout", within]).output().unwrap();
        let told = text(&output);
        assert_eq!(output.status.code(), Some(3), "{case}: {told}");
        for part in parts {
            assert!(told.contains(part), "{case}: {part:?} is not in: {told}");
        }
        nothing_is_left(&cluster);
    }
}

/// It takes room on the nodes until its deadline.
#[test]
fn a_job_that_can_t_be_deleted_after_an_error_is_named_however_quiet_it_is_to_be() {
    let target = Target::start(&[]);
    let behaviour = || Behaviour {
        fates: vec![waits("ImagePullBackOff", "Back-off pulling image: not found")],
        keeps: Some((500, "etcdserver: request timed out")),
        ..Behaviour::default()
    };
    let (of_hit, of_run) = (Kubernetes::start(behaviour()), Kubernetes::start(behaviour()));
    let lab = lab_of_running(&target.url, "control = false", "duration = \"200ms\"");
    let experiment = lab.path("test.toml").display().to_string();
    for (cluster, mut command) in [
        (&of_hit, hit(&of_hit, &target.url, &["-q", "-c", "6", "--pods", "3"])),
        (&of_run, run_from_pods(&lab, &of_run, &["-q", &experiment])),
    ] {
        let output = command.output().unwrap();
        let (told, jobs) = (text(&output), cluster.jobs());
        assert_eq!((output.status.code(), jobs.len()), (Some(3), 1), "{told}");
        assert!(told.contains("the image proofload:1 cannot be had"), "{told}");
        assert!(told.contains(&format!("the Job {} in shop could not be deleted", jobs[0])), "{told}");
    }
}

#[test]
fn a_cluster_that_nobody_knows_of_is_told_before_anything_is_made() {
    let cluster = Kubernetes::start(Behaviour::default());
    let with = |arguments: &[&str], kubeconfig: &std::path::Path, code: i32| {
        let mut command = hit(&cluster, "http://127.0.0.1:9/", &["--pods", "2"]);
        let output = command.args(arguments).env("KUBECONFIG", kubeconfig).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", text(&output));
        text(&output)
    };
    let told = with(&["--context", "red"], &cluster.kubeconfig(), 2);
    assert!(told.contains("has no context `red`; it has blue, green"), "{told}");
    let told = with(&[], std::path::Path::new("/nowhere/config"), 2);
    assert!(told.contains("there is no kubeconfig (/nowhere/config: "), "{told}");
    let told = with(&["--namespace", "other"], &cluster.kubeconfig(), 3);
    assert!(told.contains("in the namespace other"), "{told}");
    assert!(!cluster.asked().iter().any(|it| it.contains("/jobs")), "{:?}", cluster.asked());
}

/// Who conducts ends the pods of a load when it is through; a mistake in what is made of it is told before.
#[test]
fn a_mistake_in_what_is_made_of_a_load_leaves_its_pods_alone() {
    let (cluster, target) = (Kubernetes::start(Behaviour::default()), Target::start(&[]));
    let folder = tempfile::tempdir().unwrap();
    let ledger = folder.path().join("ledger").display().to_string();
    let arguments = ["--rate", "100", "-c", "400", "-d", "4s", "--ledger", &ledger];
    let mut load = UnderWay::start(&cluster, &target.url, &arguments);
    load.child.kill().unwrap();
    load.child.wait().unwrap();
    let resume = |more: &[&str]| {
        let mut command = proofload();
        command
            .args(["hit", "--resume", &ledger, "--json"])
            .args(more)
            .env("KUBECONFIG", cluster.kubeconfig());
        command.output().unwrap()
    };
    let refused = resume(&["--stop-if", "p99>50ms"]);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused));
    assert_eq!(cluster.jobs().len(), 1, "the load goes on");
    let result = json_of(&resume(&[]));
    assert_eq!(result["intended"].as_u64(), Some(400), "{result:#}");
    nothing_is_left(&cluster);
}

#[test]
fn what_no_pods_can_carry_is_refused() {
    let refused = |arguments: &[&str]| {
        let hit = ["hit", "http://127.0.0.1:9/", "--on", "kubernetes"];
        ends_with(2, &[&hit, arguments].concat())
    };
    for (arguments, part) in [
        (&["--image", "x"][..], "give --pods"),
        (&["--pods", "2"], "give --image"),
        (&["--image", "x", "--pods", "0"], "0 machines"),
        (&["--image", "x", "--pods", "201", "-c", "1000"], "201 agents are more than 200"),
        (&["--image", "x", "--pods", "8", "-c", "7"], "8 agents cannot share this load"),
        (&["--image", "x", "--pods", "2", "--cpu", "much"], "is no amount of CPU"),
        (&["--image", "x", "--pods", "2", "--ready-timeout", "11m"], "--ready-timeout"),
        (&["--hosts", "a"], "--hosts"),
        (&["--jtl", "x.jtl"], "--jtl"),
        (&["--image", "x", "--pods", "2", "--follow"], "--on is about requests that are all the same"),
        (
            &["--image", "x", "--pods", "2", "--manifest", "-H", "X: {{uuid}}"],
            "--on is about requests that are all the same",
        ),
    ] {
        let told = refused(arguments);
        assert!(told.contains(part), "{arguments:?}: {told}");
    }
    assert!(ends_with(2, &["hit", "http://127.0.0.1:9/", "--pods", "2"]).contains("--on"));
}

#[test]
fn what_would_be_created_and_who_may_is_printed_without_a_cluster() {
    let manifest =
        ["hit", "http://shop/", "--pods", "8", "-c", "80", "-d", "60s", "--manifest", "--namespace", "load"];
    let output = run(&[&manifest[..], &ON_PODS].concat());
    let job: Value = serde_saphyr::from_str(&stdout(&output)).unwrap();
    assert_eq!(
        (&job["kind"], &job["metadata"]["namespace"]),
        (&json!("Job"), &json!("load")),
        "{}",
        text(&output)
    );
    assert_eq!(job["spec"]["completions"], 8);
    let output = run(&["hit", "--on", "kubernetes", "--rbac"]);
    let file = crate::common::repository().join("docs/kubernetes/rbac.yaml");
    assert_eq!(stdout(&output), std::fs::read_to_string(file).unwrap());
}

#[test]
fn an_agent_listens_to_nobody_elsewhere() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:7780"] {
        let told = ends_with(2, &["agent", "--listen", address]);
        assert!(told.contains("127.0.0.1:7780"), "{told}");
    }
}

/// A run of what runs already, from two pods. `control` is booted here, and pods reach nothing of this machine.
fn lab_of_running(url: &str, more: &str, load: &str) -> Lab {
    let running = format!(
        "title = \"shop\"\nurl = \"{url}\"\n[[endpoint]]\nname = \"hello\"\npath = \"/hello\"\nbody = \"hello\"\n"
    );
    let experiment = format!(
        "title = \"few\"\nblocks = 1\nblocks_max = 1\ncool_down_max = \"0s\"\nidle_look = \"50ms\"\n{more}\n\
         [load]\nconnections = [7]\n{load}\n[[round]]\nname = \"hello\"\nendpoint = \"hello\"\nstacks = [\"shop\"]\n"
    );
    Lab::new(&experiment, &[("shop", &running)])
}

fn run_from_pods(lab: &Lab, cluster: &Kubernetes, arguments: &[&str]) -> Command {
    let mut command = lab.command();
    // What is not said otherwise.
    let usual = [&ON_PODS[..], &["--pods", "2"]].concat();
    let usual = usual.chunks(2).filter(|it| !arguments.contains(&it[0])).flatten();
    command.args(usual).args(arguments).env("KUBECONFIG", cluster.kubeconfig());
    command
}

fn names(trial: &Value) -> Vec<&str> {
    let agents =
        trial["measured"]["load"]["agents"].as_array().unwrap_or_else(|| panic!("it has none: {trial}"));
    agents.iter().map(|it| it["name"].as_str().unwrap()).collect()
}

const OF_TWO: [&str; 2] = ["pod 0 of context blue/shop with cpu 2", "pod 1 of context blue/shop with cpu 2"];

#[test]
fn the_loads_of_a_run_come_from_the_same_pods_one_after_the_other() {
    let (cluster, target) =
        (Kubernetes::start(Behaviour::default()), Target::start(&["--path", "/hello=5ms"]));
    let bursts = "bursts = { length = \"100ms\", pause = \"10ms\", least = 3, most = 3, settle = \"50ms\" }\ncontrol = false";
    let lab = lab_of_running(&target.url, bursts, "warm_up = \"steady\"\nduration = \"300ms\"");
    let experiment = lab.path("test.toml").display().to_string();
    let output = run_from_pods(&lab, &cluster, &[&experiment]).output().unwrap();
    let told = text(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let all = trials(&lab.run_dir());
    assert_eq!(all.len(), 2, "the stack and its twin: {all:?}");
    for trial in &all {
        assert_eq!(names(trial), OF_TWO);
        outcomes_add_up(&trial["measured"]["load"]);
        let nodes =
            trial["measured"]["load"]["agents"].as_array().unwrap().iter().map(|it| it["node"].clone());
        assert_eq!(nodes.collect::<Vec<_>>(), ["n0", "n1"]);
    }
    assert!(told.contains("2 pods of proofload:1, each with cpu 2"), "{told}");
    assert_eq!(cluster.agents().len(), 2, "eight loads, and no other pods: {:?}", cluster.asked());
    let forwards = cluster.asked().iter().filter(|it| it.ends_with("/portforward")).count();
    assert!(forwards >= 16, "each load has streams of its own: {forwards}");
    nothing_is_left(&cluster);

    let resumed = |cpu: &str| {
        let dir = lab.run_dir().display().to_string();
        let output = run_from_pods(&lab, &cluster, &["--resume", &dir, "-q", "--cpu", cpu]).output().unwrap();
        (output.status.code(), text(&output))
    };
    let (code, told) = resumed("1");
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("its loads came from pod 0 of context blue/shop with cpu 2"), "{told}");
    assert_eq!(resumed("2").0, Some(0));
    nothing_is_left(&cluster);
}

#[test]
fn a_trial_that_lost_a_pod_is_made_again_with_others() {
    let (cluster, target) =
        (Kubernetes::start(Behaviour::default()), Target::start(&["--path", "/hello=5ms"]));
    // So long that it goes on when the pod is gone, whatever else the machine does.
    let lab = lab_of_running(&target.url, "control = false\ntwin = false", "duration = \"3s\"");
    let experiment = lab.path("test.toml").display().to_string();
    let child =
        run_from_pods(&lab, &cluster, &[&experiment]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    wait_until("both agents are reached", || {
        cluster.asked().iter().filter(|it| it.ends_with("/portforward")).count() == 2
    });
    std::thread::sleep(std::time::Duration::from_millis(1500));
    cluster.kill_agent(1);
    let output = child.unwrap().wait_with_output().unwrap();
    let told = text(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    let all = trials(&lab.run_dir());
    assert_eq!(names(&all[0]), OF_TWO);
    let lost = all[0]["lost_attempts"].as_array().unwrap();
    assert!(lost.len() == 1 && lost[0].as_str().unwrap().contains("agent 1 of 2 (pod 1 of"), "{lost:?}");
    assert_eq!(cluster.agents().len(), 4, "two and two: {:?}", cluster.asked());
    nothing_is_left(&cluster);
}

#[test]
fn a_run_that_pods_can_t_load_is_told_why_and_nothing_is_left() {
    let target = Target::start(&[]);
    let told = |cluster: &Kubernetes, more: &str, arguments: &[&str]| {
        let lab = lab_of_running(&target.url, more, "duration = \"200ms\"");
        let experiment = lab.path("test.toml").display().to_string();
        let output =
            run_from_pods(&lab, cluster, &[&[experiment.as_str()], arguments].concat()).output().unwrap();
        nothing_is_left(cluster);
        (output.status.code(), text(&output))
    };
    let cluster = Kubernetes::start(Behaviour::default());
    for (more, arguments, code, part) in [
        ("", &[][..], 2, "that it reaches, or leave it out: control = false"),
        ("control = false", &["--context", "other"], 2, "has no context `other`"),
        ("control = false", &["--pods", "0"], 2, "a load on 0 machines is none"),
        ("control = false", &["--pods", "4000000000"], 2, "agents are more than 200"),
        ("control = false", &["--hosts", "a"], 2, "--hosts"),
    ] {
        let (got, said) = told(&cluster, more, arguments);
        assert!(got == Some(code) && said.contains(part), "{more} {arguments:?}: {got:?}: {said}");
    }
    assert!(cluster.asked().is_empty(), "{:?}", cluster.asked());
    let denied = Kubernetes::start(Behaviour { denied: vec!["create jobs"], ..Behaviour::default() });
    let (got, said) = told(&denied, "control = false", &[]);
    assert!(got == Some(3) && said.contains("you may not create jobs.batch"), "{got:?}: {said}");
    let output =
        run_from_pods(&lab_of_running(&target.url, "", ""), &cluster, &["--manifest"]).output().unwrap();
    assert!(stdout(&output).contains("--again"), "{}", text(&output));
}
