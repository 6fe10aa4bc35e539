//! `proofload check` and `build` on real processes: one folder is a stack, and no stack stands in another's way.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Output, Stdio};

use rustix::process::Signal;

use crate::common::{json, processes_with, proofload, signal, wait_until};

/// Stacks in a folder of their own, whose path is on the command line of everything they start.
struct Stacks(tempfile::TempDir);

impl Stacks {
    fn new(stacks: &[(&str, &str)]) -> Self {
        let dir = tempfile::Builder::new().prefix("proofload-stacks-").tempdir().unwrap();
        for (id, manifest) in stacks {
            let folder = dir.path().join(id);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("stack.toml"), manifest).unwrap();
        }
        Self(dir)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = proofload();
        // What failed leaves its log there.
        command.args(arguments).arg("--stacks").arg(self.path()).env("TMPDIR", self.path());
        texts(&command.output().unwrap())
    }

    fn nothing_runs(&self) -> bool {
        processes_with(self.path().to_str().unwrap()).is_empty()
    }
}

fn texts(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

/// A target that marks its command line with its folder.
fn target(further: &str, expectations: &str) -> String {
    format!(
        r#"
title = "A target"
family = "target"
generation = "timeless"
{further}
[run]
command = ["sh", "-c", "exec $0 target --listen 127.0.0.1:$1 --close-every 500", "{{proofload}}", "{{port}}", "{{stack_dir}}"]
[[endpoint]]
name = "hello"
path = "/hello"
body = "hello"
{expectations}
"#
    )
}

#[test]
fn a_folder_is_a_stack_and_what_is_not_as_it_says_is_told() {
    let right = target("requests_per_connection = 500", "wire_bytes = 69\nframing = \"content-length\"");
    let wrong = target("", "wire_bytes = 70\nthread = \"nobody\"");
    let stacks = Stacks::new(&[("right", &right), ("wrong", &wrong)]);
    let (code, text, error) = stacks.run(&["check", "right"]);
    assert_eq!(code, 0, "{text}{error}");
    assert!(text.contains("1 of 1 stacks up and right") && text.contains("HTTP/1.1 200 OK"), "{text}");

    let (code, text, _) = stacks.run(&["check", "right", "wrong"]);
    assert_eq!(code, 4, "{text}");
    for part in [
        "/hello: 69 bytes on the wire instead of 70",
        "/hello: no thread `nobody…` after the answer",
        "closes the connection after 500 requests instead of never",
        "1 of 2 stacks up and right, 1 not as their manifests say",
        "The same work",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(stacks.nothing_runs());
}

#[test]
fn what_fails_is_named_with_its_log_and_the_others_go_on() {
    let unbuilt = target(
        "[build]\ncommand = [\"sh\", \"-c\", \"echo no such class; exit 1\"]\ninputs = [\"stack.toml\"]\noutput = \"x\"",
        "",
    );
    let dying = target("", "").replace("exec $0", "echo out of luck; exit 7; exec $0");
    let silent = target("[ready]\ntimeout = \"300ms\"", "").replace("exec $0", "sleep 60; exec $0");
    let proxy = target("upstream = \"dying\"", "").replace("\"{stack_dir}\"", "\"{upstream}\"");
    let right = target("requests_per_connection = 500", "");
    let stacks = Stacks::new(&[
        ("unbuilt", &unbuilt),
        ("dying", &dying),
        ("silent", &silent),
        ("proxy", &proxy),
        ("right", &right),
        ("toolless", &target("[needs]\ntools = [\"no-such-tool\"]", "")),
    ]);
    let (code, text, _) = stacks.run(&["check", "--all"]);
    assert_eq!(code, 4, "{text}");
    for part in [
        "| no such class",
        "dying failed: stack `dying` ended with exit status: 7",
        "| out of luck",
        "silent failed: stack `silent` was not ready within 300ms",
        "proxy failed: stack `dying` ended",
        "toolless is left out: no-such-tool is missing",
        "1 of 6 stacks up and right, 4 failed, 1 left out",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(stacks.nothing_runs());
}

/// The folder for temporary files is everybody's: whoever guesses a name there first has a link lie in wait.
#[test]
fn what_others_made_beforehand_is_neither_used_nor_written_over() {
    let building = target(
        "requests_per_connection = 500\n[build]\ncommand = [\"sh\", \"-c\", \"echo said; touch {build_dir}/x\"]\n\
         inputs = [\"stack.toml\"]\noutput = \"x\"",
        "",
    );
    let stacks = Stacks::new(&[("right", &building)]);
    let ours = stacks.path().join("ours");
    fs::write(&ours, "ours").unwrap();
    // A shell that becomes the command has its process id, which is all there was to guess.
    let script = r#"
        for command in check calibrate; do
            for name in right hello-1 closed-1 open-1; do
                mkdir -p "$TMPDIR/proofload-$command-$$/$name/work"
                for log in server.log build.log; do
                    ln -s "$TMPDIR/ours" "$TMPDIR/proofload-$command-$$/$name/$log"
                done
            done
        done
        ln -s "$TMPDIR/ours" "$TMPDIR/proofload-build-$$.log"
        exec "$0" "$@""#;
    for command in ["build", "check"] {
        let output = std::process::Command::new("sh")
            .args(["-c", script, env!("CARGO_BIN_EXE_proofload"), command, "right", "--stacks"])
            .arg(stacks.path())
            .env("TMPDIR", stacks.path())
            .output()
            .unwrap();
        let (code, text, error) = texts(&output);
        assert_eq!(code, 0, "{text}{error}");
        assert_eq!(fs::read_to_string(&ours).unwrap(), "ours", "{command}");
        let _ = fs::remove_dir_all(stacks.path().join("right/build"));
    }
    let left = fs::read_dir(stacks.path()).unwrap().flatten();
    let left: Vec<_> = left.filter(|it| it.file_name().to_string_lossy().starts_with("proofload-")).collect();
    assert!(left.iter().all(|it| it.path().join("right").exists() || it.path().is_symlink()), "{left:?}");
}

#[test]
fn a_check_as_json_has_the_answers_as_they_came() {
    let stacks = Stacks::new(&[("right", &target("requests_per_connection = 500", ""))]);
    let output =
        proofload().args(["check", "right", "--json", "--stacks"]).arg(stacks.path()).output().unwrap();
    let list = json(&output);
    assert_eq!((&list[0]["version"], list[0]["stack"].as_str()), (&1.into(), Some("right")));
    let checked = &list[0]["checked"];
    assert_eq!(
        (&checked["requests_per_connection"], &checked["requests_tried"]),
        (&500.into(), &1500.into())
    );
    let hello = &checked["endpoints"][0];
    assert_eq!((hello["body"].as_str(), hello["contract"]["wire_bytes"].as_u64()), (Some("hello"), Some(69)));
    assert!(hello["contract"]["head"].as_str().unwrap().starts_with("HTTP/1.1 200 OK\r\n"), "{hello}");
    assert!(checked["boot_s"].as_f64().unwrap() > 0.0 && checked["threads"].as_u64().unwrap() >= 1);
}

/// Two at once on one machine: neither ports nor build folders collide, and what both need is built once.
#[test]
fn two_at_once_share_a_build_and_no_port() {
    let built = target(
        "requests_per_connection = 500\n[build]\ncommand = [\"sh\", \"-c\", \"echo built >> count; sleep 1; touch {build_dir}/x\"]\n\
         inputs = [\"stack.toml\"]\noutput = \"x\"",
        "",
    );
    let stacks = Stacks::new(&[("a", &built)]);
    let results: Vec<_> = std::thread::scope(|scope| {
        let both: Vec<_> = (0..2).map(|_| scope.spawn(|| stacks.run(&["check", "a"]))).collect();
        both.into_iter().map(|it| it.join().unwrap()).collect()
    });
    for (code, text, error) in results {
        assert_eq!(code, 0, "{text}{error}");
    }
    assert_eq!(fs::read_to_string(stacks.path().join("a/count")).unwrap(), "built\n");
    assert!(stacks.nothing_runs());
    let (code, text, _) = stacks.run(&["build", "--all"]);
    assert!(code == 0 && text.starts_with("a: unchanged"), "{text}");
}

/// Maven keeps what it brought for all checkouts of a user, and writes it without a lock. When the waiting is over, that is said.
#[test]
fn a_build_with_maven_waits_for_that_of_another_checkout() {
    let built = target(
        "requests_per_connection = 500\n[build]\ncommand = [\"sh\", \"-c\", \": ./mvnw; touch begun {build_dir}/x\"]\n\
         inputs = [\"stack.toml\"]\noutput = \"x\"",
        "",
    );
    for (verb, goes_on) in [("build", "building a"), ("check", "1/1: a: build, boot, check")] {
        let stacks = Stacks::new(&[("a", &built)]);
        let home = stacks.path().join("home");
        fs::create_dir_all(home.join(".m2")).unwrap();
        let lock = fs::File::create(home.join(".m2/.proofload.lock")).unwrap();
        lock.lock().unwrap();
        let mut command = proofload();
        command.args([verb, "a", "--stacks"]).arg(stacks.path()).env("TMPDIR", stacks.path());
        command.env("HOME", &home).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let said = "a waits for another build, of this or another checkout";
        let waits = lines.find(|line| line.starts_with(said));
        let begun = stacks.path().join("a/begun");
        assert!(waits.is_some() && !begun.exists(), "{verb}");
        drop(lock);
        assert_eq!(lines.next().as_deref(), Some(goes_on));
        assert_eq!((child.wait().unwrap().code(), begun.exists()), (Some(0), true), "{verb}");
    }
}

#[test]
fn a_broken_manifest_is_named_and_blocks_no_other_stack() {
    let sound = target("requests_per_connection = 500", "");
    let stacks = Stacks::new(&[("sound", &sound), ("slip", &sound.replace("title =", "titel ="))]);
    let mistake = "slip/stack.toml:2:1: unknown key `titel`; did you mean title?";

    let (code, text, error) = stacks.run(&["list"]);
    assert_eq!(code, 0, "{text}{error}");
    assert!(text.contains("sound") && text.contains("slip   broken") && text.contains(mistake), "{text}");
    let (code, text, error) = stacks.run(&["list", "--json"]);
    assert!(code == 0 && !text.contains("slip") && error.contains(mistake), "{text}{error}");

    let (code, text, error) = stacks.run(&["check", "sound"]);
    assert_eq!(code, 0, "{text}{error}");
    assert!(error.contains("stack `slip` is broken and left alone") && error.contains(mistake), "{error}");
    let (code, text, error) = stacks.run(&["check", "slip"]);
    assert!(code == 2 && error.contains(mistake) && error.matches("titel").count() == 1, "{text}{error}");
    let (code, text, error) = stacks.run(&["check", "--all"]);
    assert_eq!(code, 4, "{text}{error}");
    assert!(text.contains("1 of 2 stacks up and right, 1 failed") && text.contains(mistake), "{text}");
    let (code, text, error) = stacks.run(&["build", "--all"]);
    assert!(code == 4 && error.contains(mistake), "{text}{error}");

    let run = |stack: &str| {
        let file = stacks.path().join("x.toml");
        let text = format!(
            "title = \"t\"\nblocks = 1\ntwin = false\ncontrol = false\nload = {{ connections = 2, requests = 20 }}\n\
             [[round]]\nname = \"r\"\nendpoint = \"hello\"\nstacks = [\"{stack}\"]\n"
        );
        fs::write(&file, text).unwrap();
        let runs = stacks.path().join("runs");
        stacks.run(&["run", file.to_str().unwrap(), "--runs", runs.to_str().unwrap(), "-q"])
    };
    let (code, text, error) = run("sound");
    assert!(code == 0 && error.contains(mistake), "{text}{error}");
    let (code, text, error) = run("slip");
    assert!(code == 2 && error.contains("x.toml:9:11: ") && error.contains(mistake), "{text}{error}");
    assert!(stacks.nothing_runs());
}

#[test]
fn a_build_that_has_no_log_to_look_at_leaves_nothing() {
    let sound = target("requests_per_connection = 500", "");
    let slow = target(
        "requests_per_connection = 500\n[build]\ncommand = [\"sh\", \"-c\", \"touch begun; sleep 60\"]\n\
         inputs = [\"stack.toml\"]\noutput = \"x\"",
        "",
    );
    let stacks = Stacks::new(&[("slip", &sound.replace("title =", "titel =")), ("sound", &sound)]);
    let is_left = |stacks: &Stacks| {
        let mut all = fs::read_dir(stacks.path()).unwrap().flatten();
        all.any(|it| it.file_name().to_string_lossy().starts_with("proofload-build-"))
    };
    assert_eq!(stacks.run(&["build", "--all"]).0, 4);
    assert!(!is_left(&stacks));
    let stacks = Stacks::new(&[("slow", &slow)]);
    let mut command = proofload();
    command.args(["build", "slow", "--stacks"]).arg(stacks.path()).env("TMPDIR", stacks.path());
    let mut child = command.spawn().unwrap();
    wait_until("it builds", || stacks.path().join("slow/begun").exists());
    signal(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!is_left(&stacks) && stacks.nothing_runs());
}

/// Who told it twice by accident has it end in good order, and who is out of patience waits for nothing.
#[test]
fn a_second_ctrl_c_ends_it_at_once_unless_it_is_of_the_first() {
    // Deaf to SIGTERM, it is killed two seconds later.
    let deaf = target(
        "requests_per_connection = 500\n[build]\ncommand = [\"sh\", \"-c\", \"trap '' TERM; touch begun; \
         while :; do sleep 0.1; done\", \"{stack_dir}\"]\ninputs = [\"stack.toml\"]\noutput = \"x\"",
        "",
    );
    for (pause_ms, is_at_once) in [(5, false), (800, true)] {
        let stacks = Stacks::new(&[("deaf", &deaf)]);
        let mut command = proofload();
        command.args(["build", "deaf", "--stacks"]).arg(stacks.path()).env("TMPDIR", stacks.path());
        let mut child = command.spawn().unwrap();
        wait_until("it builds", || stacks.path().join("deaf/begun").exists());
        signal(&child, Signal::INT);
        std::thread::sleep(std::time::Duration::from_millis(pause_ms));
        signal(&child, Signal::INT);
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let mut left = fs::read_dir(stacks.path()).unwrap().flatten();
        // Its folder for temporary files goes with it, where it ends in good order.
        let is_left = left.any(|it| it.file_name().to_string_lossy().starts_with("proofload-build-"));
        assert_eq!(is_left, is_at_once, "after {pause_ms} ms");
        wait_until("nothing is left of it", || stacks.nothing_runs());
    }
}
