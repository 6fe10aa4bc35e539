//! `proofload diff` in small repositories: what is measured, what is left behind, and what is refused.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::Value;

use crate::common::{json, signal, text, wait_until};
use crate::repository::Repository;
use crate::terminal::Terminal;

/// The calibration server as a service whose answers take so long.
fn project(delay: &str) -> String {
    format!(
        "title = \"cart\"\ntwin = false\ncontrol = false\ncool_down_max = \"0s\"\n\
         [service.cart.run]\n\
         command = [\"{{proofload}}\", \"target\", \"--listen\", \"127.0.0.1:{{port}}\", \"--path\", \"/cart={delay}\"]\n\
         [service.cart.ready]\n\
         [[service.cart.endpoint]]\nname = \"main\"\npath = \"/cart\"\n\
         [load]\nconnections = 4\nduration = \"300ms\"\n[quick]\nduration = \"300ms\"\nwarm_up = \"0\"\n\
         [[round]]\nname = \"main\"\nendpoint = \"main\"\nstacks = [\"cart\"]\n"
    )
}

/// One that answers after a millisecond, and a working tree that takes twenty.
fn with_two_versions() -> Repository {
    let repository = Repository::new();
    repository.write("proofload.toml", &project("1ms"));
    repository.commit("Answer after a millisecond");
    repository.write("proofload.toml", &project("20ms"));
    repository
}

#[test]
fn two_versions_are_measured_in_turns_and_nothing_is_left_of_them() {
    let repository = with_two_versions();
    let seen = repository.seen();
    // One block tells nothing, and says so.
    let markdown = repository.folder().join("runs/diff.md");
    fs::create_dir(repository.folder().join("runs")).unwrap();
    let arguments = [
        "diff",
        "main",
        "--quick",
        "-q",
        "--json",
        "--markdown",
        markdown.to_str().unwrap(),
        "--fail-if",
        "errors>0",
    ];
    let output = repository.run(&arguments);
    assert_eq!(output.status.code(), Some(5), "{}", text(&output));
    assert_eq!(repository.seen(), seen);
    fs::remove_file(&markdown).unwrap();
    let told = json(&output);
    assert_eq!(
        (&told["before"]["name"], &told["after"]["changed_files"]),
        (&Value::from("main"), &Value::from(1))
    );
    let service = &told["services"][0];
    assert_eq!((&service["service"], &service["blocks"]), (&Value::from("cart"), &Value::from(1)));
    let goodput = &service["figures"][0];
    assert_eq!(goodput["verdict"], "could_not_tell");
    // Each version ran as its own file says: four connections can't have many more than 200 answers a second of one that takes 20 ms,
    // however busy the machine is.
    let [before, after] = [0, 1].map(|it| goodput["values"][it].as_f64().unwrap());
    assert!(after <= 220.0 && before > after, "{goodput}");
    assert_eq!(told["gate"]["checks"][0]["cell"]["stack"], "cart-after");
    // The record knows what it is of, and can't go on without the versions.
    let run = repository.last_run();
    let run = run.to_str().unwrap();
    let report = repository.ends_with(0, &["report", run]);
    assert!(report.contains("after   the working tree, 1 file changed since"), "{report}");
    let refused = repository.ends_with(2, &["run", "--resume", run]);
    assert!(refused.contains("compares two versions"), "{refused}");
    // Each version is of its own commit, whatever is checked out here.
    let history = json(&repository.run(&["history", "--json"]));
    let commit_of = |stack: &str| {
        let series = history["series"].as_array().unwrap().iter().find(|it| it["stack"] == stack).unwrap();
        series["points"][0]["commit"].as_str().unwrap().to_owned()
    };
    let main = repository.git(&["rev-parse", "--short=12", "main"]).trim().to_owned();
    assert_eq!([commit_of("cart-before"), commit_of("cart-after")], [main.clone(), main + "+"]);
}

/// A large repository takes a while.
#[test]
fn on_a_terminal_it_says_what_it_checks_out() {
    let repository = with_two_versions();
    let command = repository.command(&["diff", "main", "--only", "stack=nobody"]);
    let mut terminal = Terminal::start(command, 24, 100);
    assert_eq!(terminal.end().code(), Some(2), "{}", terminal.text());
    let seen = String::from_utf8_lossy(&terminal.bytes()).into_owned();
    assert!(seen.contains("checking out main"), "{seen}");
    assert!(terminal.text().contains("no cell of"), "{}", terminal.text());
    assert!(!terminal.text().contains("checking out"), "it goes when that is over: {}", terminal.text());
}

#[test]
fn a_run_of_a_project_is_of_its_commit_wherever_it_is_begun() {
    let repository = Repository::new();
    repository.write("proofload.toml", &project("1ms"));
    repository.commit("Begin");
    let elsewhere = tempfile::tempdir().unwrap();
    let file = repository.folder().join("proofload.toml");
    let mut run = repository.command(&["run", file.to_str().unwrap(), "--quick", "-q", "--runs", "here"]);
    let output = run.current_dir(elsewhere.path()).output().expect("the binary starts");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let run = fs::read_dir(elsewhere.path().join("here")).unwrap().next().unwrap().unwrap().path();
    let commit = record::RunDir::read_manifest(&run).unwrap().commit;
    assert_eq!(commit.as_deref(), Some(repository.git(&["rev-parse", "--short=12", "HEAD"]).trim()));
}

/// The same commit twice, and versions whose file does not know the service yet.
#[test]
fn a_version_without_a_file_is_built_and_started_as_the_one_of_this_folder_says() {
    let repository = Repository::new();
    repository.write("README", "nothing yet");
    repository.commit("Begin");
    repository.write("proofload.toml", &project("1ms"));
    let told = repository.ends_with(5, &["diff", "HEAD", ".", "--quick"]);
    assert!(told.contains("proofload: 1 block of 3 trials, about "), "{told}");
    assert!(told.contains("cart: main, 4 connections; 1 block"), "{told}");
    assert!(told.contains("could not tell  if loss of goodput to cart-before > 10%"), "{told}");
}

#[test]
fn a_budget_is_kept_and_what_it_leaves_untold_is_said() {
    let repository = with_two_versions();
    let told = repository.ends_with(5, &["diff", "main", "--budget", "3s"]);
    for words in [
        "in all at most, builds included",
        "the budget is shorter than that: little can be told",
        "the budget is used up",
        "could not tell",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
}

/// Told beforehand how far it may go; it ends as soon as the interval is narrow enough, which is long before.
#[test]
#[ignore = "slow: makes eight blocks or more"]
fn it_goes_on_until_the_interval_is_as_narrow_as_is_asked() {
    let repository = with_two_versions();
    let project = fs::read_to_string(repository.folder().join("proofload.toml")).unwrap();
    repository.write("proofload.toml", &project.replacen("duration", "warm_up = \"0s\"\nduration", 1));
    let output = repository.run(&["diff", "main", "--until", "40%", "--json"]);
    let told = text(&output);
    assert_eq!(output.status.code(), Some(4), "{told}");
    assert!(told.contains("; 100 blocks at most, about "), "{told}");
    let told = json(&output);
    let blocks = told["services"][0]["blocks"].as_u64().unwrap();
    assert!((8..100).contains(&blocks), "{blocks}");
    let goodput = &told["services"][0]["figures"][0];
    let [ratio, low, high] = ["ratio", "low", "high"].map(|it| goodput[it].as_f64().unwrap());
    assert!((0.02..0.2).contains(&ratio) && low > ratio * 0.6 && high < ratio * 1.4, "{goodput}");
    assert_eq!(goodput["verdict"], "worse");
}

#[test]
fn what_can_t_be_compared_is_refused_before_anything_is_measured() {
    let repository = with_two_versions();
    let told = repository.ends_with(2, &["diff", "no-such-branch"]);
    assert!(told.contains("git knows no commit `no-such-branch`"), "{told}");
    repository.write("proofload.toml", &project("1ms").replace("[service.cart.run]", "[service.cart.rum]"));
    let told = repository.ends_with(2, &["diff", "main"]);
    assert!(told.contains("proofload.toml:") && told.contains("rum"), "{told}");
    repository.commit("A slip");
    repository.write("proofload.toml", &project("1ms"));
    let told = repository.ends_with(2, &["diff", "main"]);
    assert!(told.contains("main:proofload.toml:") && told.contains("rum"), "{told}");
    // A version that does not build, and one that does not come up.
    let broken = "\n[service.cart.build]\ncommand = [\"false\"]\ninputs = [\".\"]\noutput = \"x\"\n";
    repository.write("proofload.toml", &format!("{}{broken}", project("1ms")));
    let told = repository.ends_with(3, &["diff", "HEAD~1", "-q"]);
    assert!(told.contains("cannot build stack `cart-after`"), "{told}");
    assert_eq!(repository.seen().2, Vec::<PathBuf>::new());
    fs::remove_file(repository.folder().join("proofload.toml")).unwrap();
    let told = repository.ends_with(2, &["diff", "main"]);
    assert!(told.contains("proofload init"), "{told}");
}

/// Whichever version were asked for, it would be what lies here now.
#[test]
fn a_service_that_starts_from_the_working_tree_is_refused() {
    let repository = with_two_versions();
    let here = repository.folder().canonicalize().unwrap();
    let run = format!("[service.cart.run]\ndir = \"{}\"\n", here.display());
    repository.write("proofload.toml", &project("1ms").replace("[service.cart.run]\n", &run));
    let told = repository.ends_with(2, &["diff", "main"]);
    assert!(told.contains("is built or started from") && told.contains("in the working tree"), "{told}");
    assert_eq!(repository.seen().2, Vec::<PathBuf>::new());
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    let repository = with_two_versions();
    let long = project("1ms").replace("\"300ms\"", "\"30s\"");
    repository.write("proofload.toml", &long);
    let seen = repository.seen();
    let mut child = repository
        .command(&["diff", "main", "-q"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let has_trial = |folder: &Path| {
        folder.join("runs").read_dir().is_ok_and(|mut runs| {
            runs.any(|run| run.is_ok_and(|run| run.path().join("trials/0000").exists()))
        })
    };
    wait_until("a trial has begun", || has_trial(&repository.folder()));
    signal(&child, Signal::INT);
    let code = child.wait().expect("it ends").code();
    assert_eq!(code, Some(130));
    assert_eq!(repository.seen(), seen);
}
