//! Services of a project that stand behind each other.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use record::{MANIFEST_VERSION, Manifest, RunDir};
use rustix::process::Signal;

use crate::common::{proofload, run_in, signal, text, wait_until};

/// As it is called here, and so as it says what is to be typed.
const PROOFLOAD: &str = env!("CARGO_BIN_EXE_proofload");

/// A shop before a database that speaks anything but HTTP: here the calibration server that is never asked.
fn project(database: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "title = \"shop\"\nblocks = 1\nblocks_max = 1\ntwin = false\ncontrol = false\ncool_down_max = \"0s\"\n\
         [service.db]\nready = {{ accepts_connections = true, timeout = \"2s\" }}\n\
         [service.db.run]\ncommand = [{database}]\n\
         [service.shop]\nupstream = \"db\"\n\
         [service.shop.run]\ncommand = [\"sh\", \"-c\", 'echo \"$DATABASE\" > told; exec \"$0\" target --listen 127.0.0.1:\"$1\"', \
         \"{{proofload}}\", \"{{port}}\"]\nenv = {{ DATABASE = \"{{upstream}}\" }}\n\
         [service.shop.ready]\n[[service.shop.endpoint]]\nname = \"main\"\npath = \"/hello\"\n\
         [load]\nconnections = 2\nduration = \"200ms\"\n\
         [[round]]\nname = \"main\"\nendpoint = \"main\"\nstacks = [\"shop\"]\n"
    );
    fs::write(folder.path().join("proofload.toml"), text).unwrap();
    folder
}

#[test]
fn a_service_is_started_when_what_stands_behind_it_accepts_connections() {
    let folder =
        project("\"{proofload}\", \"target\", \"--listen\", \"127.0.0.1:{port}\", \"--never-answer\"");
    let output = run_in(folder.path(), &["run", "-q"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let run = fs::read_dir(folder.path().join("runs")).unwrap().next().unwrap().unwrap().path();
    let told = fs::read_to_string(run.join("trials/0000/work/told")).unwrap();
    assert!(told.starts_with("127.0.0.1:"), "{told}");
    let trials = fs::read_to_string(run.join("trials.jsonl")).unwrap();
    assert!(trials.contains("\"upstreams\":[{\"stack\":\"db\""), "{trials}");
}

/// The one that is named first is right behind it; each is told by its name.
#[test]
fn a_service_may_use_a_database_and_a_cache() {
    let target = "\"{proofload}\", \"target\", \"--listen\", \"127.0.0.1:{port}\", \"--never-answer\"";
    let folder = project(target);
    let file = folder.path().join("proofload.toml");
    let text = fs::read_to_string(&file).unwrap();
    let cache = format!(
        "[service.cache]\nready = {{ accepts_connections = true, timeout = \"2s\" }}\n[service.cache.run]\ncommand = [{target}]\n"
    );
    let text = text
        .replace(
            "[service.shop]\nupstream = \"db\"",
            &format!("{cache}[service.shop]\nupstream = [\"db\", \"cache\"]"),
        )
        .replace("\"{upstream}\"", "\"{upstream.cache} {upstream.db}\"");
    fs::write(&file, text).unwrap();
    let output = run_in(folder.path(), &["run", "-q"]);
    assert_eq!(output.status.code(), Some(0), "{}", crate::common::text(&output));
    let run = fs::read_dir(folder.path().join("runs")).unwrap().next().unwrap().unwrap().path();
    let told = fs::read_to_string(run.join("trials/0000/work/told")).unwrap();
    let (cache, db) = told.trim().split_once(' ').unwrap();
    assert!(cache != db && [cache, db].iter().all(|it| it.starts_with("127.0.0.1:")), "{told}");
    let trials = fs::read_to_string(run.join("trials.jsonl")).unwrap();
    let place = |what: &str| trials.find(what).unwrap_or_else(|| panic!("{trials}"));
    assert!(place("\"upstreams\":[{\"stack\":\"db\"") < place("{\"stack\":\"cache\""));
}

/// A project has no stack.toml.
#[test]
fn a_mistake_of_a_service_is_told_with_the_projects_file() {
    let folder = project("\"{proofload}\", \"target\", \"--listen\", \"127.0.0.1:{port}\"");
    let file = folder.path().join("proofload.toml");
    let text = fs::read_to_string(&file).unwrap().replace("upstream = \"db\"", "upstream = \"memory\"");
    fs::write(&file, text).unwrap();
    let output = run_in(folder.path(), &["check", "shop"]);
    let told = crate::common::text(&output);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("proofload.toml: there is no stack `memory`"), "{told}");
    assert!(!told.contains("stack.toml"), "{told}");
}

#[test]
fn what_never_accepts_one_is_told_with_where_it_should() {
    let folder = project("\"sleep\", \"30\", \"{port}\"");
    let output = run_in(folder.path(), &["run", "-q"]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output));
    let run = fs::read_dir(folder.path().join("runs")).unwrap().next().unwrap().unwrap().path();
    let said = fs::read_to_string(run.join("trials.jsonl")).unwrap();
    assert!(said.contains("stack `db` was not ready within 2.00s: a connection to 127.0.0.1:"), "{said}");
}

/// Where its services are not, a run is not gone on with, and says where they are.
#[test]
fn a_run_of_services_that_is_resumed_from_another_folder_says_where_to() {
    let folder = project("\"{proofload}\", \"target\", \"--listen\", \"127.0.0.1:{port}\"");
    let written = fs::read_to_string(folder.path().join("proofload.toml")).unwrap();
    let run = folder.path().join("runs/proofload-20260101-000000");
    let manifest = Manifest { version: MANIFEST_VERSION, ..Manifest::default() };
    RunDir::create(&run, &written).unwrap().write_manifest(&manifest).unwrap();
    let resumed = |folder: &Path| {
        let output = run_in(folder, &["run", "-q", "--resume", run.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output));
        text(&output)
    };
    let elsewhere = tempfile::tempdir().unwrap();
    let there = folder.path().canonicalize().unwrap();
    for other in [None, Some(written.replace("shop", "office"))] {
        // The second time it is another project's folder.
        if let Some(other) = other {
            fs::write(elsewhere.path().join("proofload.toml"), other).unwrap();
        }
        let told = resumed(elsewhere.path());
        assert!(told.contains("its services (`db`, `shop`) are those of a project"), "{told}");
        let there = format!("cd {} && {PROOFLOAD} run --resume", there.display());
        assert!(told.contains(&there), "{told}");
    }
    let told = resumed(folder.path());
    assert!(told.contains("it was made by version"), "{told}");
}

/// Paths of its services, and the services themselves, are looked for in the folder in which it is gone on with.
#[test]
#[ignore = "slow: an experiment in two parts"]
fn an_interrupted_run_of_another_folder_says_where_it_goes_on() {
    let folder = project("\"{proofload}\", \"target\", \"--listen\", \"127.0.0.1:{port}\"");
    let (file, shop) = (folder.path().join("proofload.toml"), folder.path().join("the shop"));
    let written = fs::read_to_string(&file).unwrap().replace("blocks = 1\nblocks_max = 1", "blocks = 4");
    fs::create_dir(&shop).unwrap();
    fs::remove_file(&file).unwrap();
    fs::write(shop.join("proofload.toml"), written).unwrap();
    let mut command = proofload();
    command.current_dir(folder.path()).args(["run", "-q", "the shop/proofload.toml", "--junit", "gate.xml"]);
    command.args(["--fail-if", "errors>50%"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let runs = folder.path().canonicalize().unwrap().join("runs");
    let is_measured = |run: fs::DirEntry| {
        fs::read_to_string(run.path().join("trials.jsonl")).is_ok_and(|trials| trials.contains('\n'))
    };
    wait_until("a trial is written", || {
        fs::read_dir(&runs).is_ok_and(|mut runs| runs.any(|run| run.is_ok_and(is_measured)))
    });
    signal(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    let told = text(&output);
    assert_eq!(output.status.code(), Some(130), "{told}");
    let command = told.split_once("go on with: ").and_then(|(_, it)| it.lines().next()).unwrap();
    let begins = format!("cd 'the shop' && {PROOFLOAD} run --resume {}/proofload-", runs.display());
    assert!(command.starts_with(&begins), "{command}");
    // What is typed has the same file written where it was asked for.
    let junit = format!(" --junit {}/gate.xml", runs.parent().unwrap().display());
    assert!(command.contains(&junit), "{command}");
    let typed = format!("{command} -q");
    let went_on = Command::new("sh").arg("-c").arg(typed).current_dir(folder.path()).output().unwrap();
    // So few blocks need not tell a gate anything.
    assert!(matches!(went_on.status.code(), Some(0 | 5)), "{}", text(&went_on));
    assert!(folder.path().join("gate.xml").is_file());
}

/// Whoever works on a project of their own has a Makefile of their own, or none.
#[test]
fn what_a_service_lacks_is_not_said_to_come_with_our_checkout() {
    let folder = project("\"{proofload}\", \"target\", \"--listen\", \"127.0.0.1:{port}\"");
    let file = folder.path().join("proofload.toml");
    let written = fs::read_to_string(&file).unwrap();
    fs::write(&file, written + "[service.shop.needs]\ntools = [\"no-such-tool\"]\n").unwrap();
    let output = run_in(folder.path(), &["run", "-q"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("no-such-tool is missing: install it and put it on the PATH"), "{said}");
    assert!(!said.contains("make setup"), "{said}");
}
