//! `--serve` and `proofload view`: pages in a browser.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::common::{Target, proofload, signal};
use crate::lab::{Lab, unhurried_stack};

/// How long anything here may take on a machine that does other things as well.
const PATIENCE: Duration = Duration::from_secs(60);

const EXPERIMENT: &str = r#"
title = "watched <script>alert(1)</script>"
blocks = 1
control = false
twin = false
cool_down_max = "0s"
idle_look = "100ms"
[load]
connections = [4]
duration = "2s"
[[round]]
name = "hello"
endpoint = "hello"
stacks = ["one", "two"]
"#;

fn lab() -> Lab {
    let (one, two) = (unhurried_stack(r#""--model", "event-loop""#), unhurried_stack(r#""--model", "pool""#));
    Lab::new(EXPERIMENT, &[("one", &one), ("two", &two)])
}

/// A process that serves, and where.
struct Serving {
    child: Child,
    /// `127.0.0.1:port`.
    authority: String,
    stderr: BufReader<std::process::ChildStderr>,
}

impl Serving {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        let authority = loop {
            line.clear();
            assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "it says where it serves");
            if let Some((_, rest)) = line.split_once("http://") {
                break rest.split('/').next().unwrap().to_owned();
            }
        };
        Self { child, authority, stderr }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.authority).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    fn ask(&self, path: &str, host: &str) -> String {
        let mut stream = self.connect();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn get(&self, path: &str) -> String {
        self.ask(path, &self.authority)
    }

    fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 "), "{path}: {head}");
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"))
    }

    /// Events, as they come.
    fn events(&self) -> BufReader<TcpStream> {
        let mut stream = self.connect();
        write!(stream, "GET /events HTTP/1.1\r\nHost: {}\r\n\r\n", self.authority).unwrap();
        BufReader::new(stream)
    }

    /// Standard output and the exit code.
    fn end(mut self) -> (String, Option<i32>) {
        let mut rest = String::new();
        let mut stdout = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        self.stderr.read_to_string(&mut rest).unwrap();
        (stdout, self.child.wait().unwrap().code())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The title of the run as the report's document has it.
const TITLE_IN_REPORT: &str = "watched \\u003cscript\\u003ealert(1)";

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The next event for which `is_it`.
fn event(events: &mut BufReader<TcpStream>, is_it: impl Fn(&Value) -> bool) -> Value {
    loop {
        let mut line = String::new();
        assert_ne!(events.read_line(&mut line).unwrap(), 0, "an event comes");
        if let Some(json) = line.strip_prefix("data: ") {
            let value: Value = serde_json::from_str(json).unwrap();
            if is_it(&value) {
                return value;
            }
        }
    }
}

#[test]
fn a_run_is_served_while_it_goes_on_and_its_report_when_it_is_over() {
    let lab = lab();
    let mut command = lab.command();
    command.arg(lab.path("test.toml")).arg("--serve").arg("--quiet");
    let serving = Serving::start(command);
    assert!(serving.authority.starts_with("127.0.0.1:"), "{}", serving.authority);
    assert!(serving.get("/").contains("<script src=\"/live.js\" defer></script>"));
    assert!(serving.ask("/state.json", "evil.example").starts_with("HTTP/1.1 403 "));

    let mut events = serving.events();
    let measuring = event(&mut events, |view| view["seconds"].as_array().is_some_and(|it| !it.is_empty()));
    assert_eq!((&measuring["version"], &measuring["kind"]), (&1.into(), &"experiment".into()));
    assert_eq!(measuring["title"], "watched <script>alert(1)</script>");
    assert_eq!((&measuring["trial"]["of"], &measuring["trial"]["block"]), (&2.into(), &1.into()));
    assert!(measuring["seconds"][0]["goodput_per_s"].as_f64().unwrap() > 0.0);
    let state = serving.json("/state.json");
    assert_eq!(state["trial"]["round"], "hello");

    let over = event(&mut events, |view| !view["ended"].is_null());
    assert_eq!((&over["finished_count"], &over["ended"]["interrupted"]), (&2.into(), &false.into()));
    wait_until("the report is there", || serving.get("/report").starts_with("HTTP/1.1 200 "));
    let report = serving.get("/report");
    assert!(report.contains(TITLE_IN_REPORT) && !report.contains("<script>alert"), "{report:.800}");
    // The page is closed, and nobody is waited for.
    drop(events);
    let (stdout, code) = serving.end();
    assert_eq!(code, Some(0), "{stdout}");
    assert!(stdout.contains("Full record: "), "{stdout}");
}

#[test]
fn a_client_that_reads_nothing_does_not_hold_up_the_run() {
    let lab = lab();
    let mut command = lab.command();
    command.arg(lab.path("test.toml")).arg("--serve=127.0.0.1:0").arg("--quiet");
    let serving = Serving::start(command);
    let mut stuck: Vec<TcpStream> = (0..4).map(|_| serving.connect()).collect();
    for stream in &mut stuck {
        write!(stream, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    }
    // And some that do not even ask.
    let silent: Vec<TcpStream> = (0..4).map(|_| serving.connect()).collect();
    wait_until("the trials are written", || lab.lines() == 2);
    signal(&serving.child, Signal::INT);
    let (stdout, code) = serving.end();
    assert!(matches!(code, Some(0 | 130)), "{code:?} {stdout}");
    drop((stuck, silent));
    assert!(lab.nothing_runs());
}

#[test]
fn a_load_is_served_as_well_and_what_cannot_be_served_is_said_before_anything_is_sent() {
    let target = Target::start(&["--path", "/=2ms"]);
    let mut command = proofload();
    command.args(["hit", &target.url, "-c", "4", "-d", "2s", "--serve", "--json"]);
    let serving = Serving::start(command);
    let mut events = serving.events();
    let over = event(&mut events, |view| !view["ended"].is_null());
    assert_eq!(over["kind"], "load");
    assert!(over["outcomes"]["intended"].as_u64().unwrap() > 0);
    assert!(over["histogram"].as_array().is_some_and(|it| !it.is_empty()));
    let taken = serving.authority.clone();
    let refused =
        proofload().args(["hit", &target.url, "-d", "1s", &format!("--serve={taken}")]).output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("cannot listen on {taken}")), "{said}");
    drop(events);
    let (stdout, code) = serving.end();
    // 4 is what its audit says of it, on a machine that is busy with other tests.
    assert!(matches!(code, Some(0 | 4)), "{code:?} {stdout}");
    assert!(serde_json::from_str::<Value>(&stdout).is_ok(), "standard output is the result alone: {stdout}");
}

/// Its last request was made when the condition first held.
#[test]
fn a_served_load_that_was_whole_when_it_was_to_end_is_not_told_as_interrupted() {
    let target = Target::start(&["--path", "/=200ms", "--error-share", "1"]);
    let mut command = proofload();
    command.args(["hit", &target.url, "-c", "2", "-n", "20", "--serve", "-q", "--json"]);
    command.args(["--stop-if", "errors>19"]);
    let serving = Serving::start(command);
    let mut events = serving.events();
    let over = event(&mut events, |view| !view["ended"].is_null());
    assert_eq!((&over["ended"]["interrupted"], &over["ended"]["error"]), (&false.into(), &Value::Null));
    drop(events);
    let (stdout, code) = serving.end();
    assert_eq!(code, Some(4), "{stdout}");
    assert_eq!(serde_json::from_str::<Value>(&stdout).unwrap()["interrupted"], false);
}

fn view(path: &str, arguments: &[&str]) -> Serving {
    let mut command = proofload();
    command.arg("view").arg(path).args(arguments);
    Serving::start(command)
}

#[test]
fn recorded_runs_are_listed_shown_and_nothing_else_is() {
    let lab = lab();
    assert_eq!(lab.run().status.code(), Some(0));
    let broken = lab.path("runs/broken");
    fs::create_dir_all(&broken).unwrap();
    fs::write(broken.join("manifest.json"), "{").unwrap();
    fs::write(lab.path("runs/secret"), "secret").unwrap();
    let serving = view(lab.path("runs").to_str().unwrap(), &["--no-open"]);
    let list = serving.json("/runs.json");
    let runs = list["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2, "{list}");
    assert_eq!(
        (&runs[0]["state"], &runs[0]["trials"], &runs[0]["pace"]),
        (&"complete".into(), &2.into(), &"full".into())
    );
    assert_eq!(runs[0]["title"], "watched <script>alert(1)</script>");
    assert!(runs[1]["error"].as_str().unwrap().contains("manifest.json"), "{list}");
    let name = runs[0]["name"].as_str().unwrap();
    let report = serving.get(&format!("/run/{name}"));
    assert!(report.starts_with("HTTP/1.1 200 ") && report.contains(TITLE_IN_REPORT), "{report:.800}");
    for path in
        ["/run/..", "/run/%2e%2e", "/run/secret", "/run/..%2fruns%2fbroken", "/run/../test.toml", "/secret"]
    {
        assert!(serving.get(path).starts_with("HTTP/1.1 404 "), "{path}");
    }
    assert!(serving.get("/run/broken").starts_with("HTTP/1.1 500 "));
    assert!(serving.ask("/runs.json", "evil.example").starts_with("HTTP/1.1 403 "));
    let history = serving.json("/history.json?metric=goodput");
    assert_eq!(history["series"].as_array().unwrap().len(), 2, "{history}");
    signal(&serving.child, Signal::INT);
    assert_eq!(serving.end().1, Some(0));

    let one = view(lab.path("runs").join(name).to_str().unwrap(), &["--no-open"]);
    assert_eq!(one.json("/runs.json")["runs"].as_array().unwrap().len(), 1);
    signal(&one.child, Signal::TERM);
    assert_eq!(one.end().1, Some(0));
}

#[test]
fn a_folder_that_is_none_is_an_error_of_usage() {
    for path in ["no-such-folder", "Cargo.toml"] {
        let output = proofload().args(["view", path, "--no-open"]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{said}");
        assert!(said.contains(path) && said.contains("name "), "{said}");
    }
}

#[test]
fn the_browser_is_opened_where_there_is_a_desktop() {
    let folder = tempfile::tempdir().unwrap();
    let [opener, told, group] = ["xdg-open", "told", "group"].map(|name| folder.path().join(name));
    let script = format!(
        "#!/bin/sh\nread -r a b c d group rest < /proc/$$/stat\necho \"$$ $group\" > {}\necho \"$1\" > {}\n",
        group.display(),
        told.display()
    );
    fs::write(&opener, script).unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let started = |display: &str, arguments: &[&str]| {
        let _ = fs::remove_file(&told);
        let mut command = proofload();
        command.arg("view").arg(folder.path()).args(arguments);
        command.env("PATH", &path).env("DISPLAY", display).env_remove("WAYLAND_DISPLAY");
        Serving::start(command)
    };
    let serving = started(":0", &[]);
    let url = format!("http://{}/\n", serving.authority);
    wait_until("the browser is opened", || fs::read_to_string(&told).is_ok_and(|text| text == url));
    // Ctrl-C of a terminal goes to a whole group: a browser is in one of its own, and stays.
    let groups = fs::read_to_string(&group).unwrap();
    let (own, of) = groups.trim_end().split_once(' ').unwrap();
    assert_eq!(own, of);
    drop(serving);
    let without = started("", &[]);
    let mut line = String::new();
    let mut without = without;
    without.stderr.read_line(&mut line).unwrap();
    assert!(line.contains("no browser was opened"), "{line}");
    assert!(!told.exists());
    drop(without);
    drop(started(":0", &["--no-open"]));
    assert!(!told.exists());
}

/// A run directory that somebody sent must not end the server of all runs.
#[test]
fn a_record_with_wild_figures_is_refused_and_the_server_goes_on() {
    let runs = crate::recorded::Runs::new();
    let (good, wild) = (runs.of_rate("good", 1000.0), runs.of_rate("wild", 1000.0));
    let trials = std::path::Path::new(&wild).join("trials.jsonl");
    let text = fs::read_to_string(&trials).unwrap().replacen("\"block\":5", "\"block\":4294967295", 1);
    fs::write(&trials, text).unwrap();
    // A line of ninety bytes that says it is the beginning of four gigabytes.
    let trial = std::path::Path::new(&good).join("trials/0000");
    fs::create_dir_all(&trial).unwrap();
    let log = "0.000,1.000,1.000,HISTFAAAACB4nJNpmSz8HwgYIIAZSjMCmW4GOxYw2H+ACAAA168IRw==\n";
    fs::write(trial.join("response_time.hlog"), log).unwrap();
    let serving = view(runs.dir().to_str().unwrap(), &["--no-open"]);
    let refused = serving.get("/run/wild");
    assert!(refused.starts_with("HTTP/1.1 500 ") && refused.contains("`block` is 4294967295"), "{refused}");
    assert!(serving.get("/run/good").starts_with("HTTP/1.1 200 "));
    assert_eq!(serving.json("/runs.json")["runs"].as_array().unwrap().len(), 2);
    assert!(serving.get("/history.json?metric=goodput").starts_with("HTTP/1.1 200 "));
    signal(&serving.child, Signal::INT);
    assert_eq!(serving.end().1, Some(0));
}
