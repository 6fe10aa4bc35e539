//! A gate: three answers, three exit codes, and the same in text, JSON, JUnit and Markdown.

use std::fs;
use std::net::TcpListener;

use crate::common::{Target, ends_with, repository, run_in, text};

#[test]
fn what_lies_in_the_load_itself_is_decided_however_short_it_is() {
    let target = Target::start(&["--path", "/sleep=20ms"]);
    let url = format!("{}/sleep", target.url);
    let hit = |condition: &str, code: i32| {
        ends_with(code, &["hit", &url, "-c", "5", "-n", "200", "-q", "--fail-if", condition])
    };
    let passed = hit("errors>0", 0);
    assert!(passed.contains("gate        passed; of 1 conditions: 1 passed"), "{passed}");
    let failed = hit("max>1ms", 4);
    assert!(failed.contains("failed          if max > 1.00ms: "), "{failed}");
    // Nobody asked for it, and it is looked at all the same.
    assert!(failed.contains("passed          if errors > 0.1%: 0 %"), "{failed}");
}

#[test]
fn a_load_too_short_to_tell_says_so_and_what_would_decide_it() {
    let target = Target::start(&[]);
    let url = format!("{}/hello", target.url);
    let told = ends_with(5, &["hit", &url, "-c", "2", "-n", "500", "-q", "--fail-if", "p50>1s"]);
    assert!(told.contains("could not tell  if p50 > 1.00s: "), "{told}");
    assert!(told.contains("to decide it: 5 seconds of load at least"), "{told}");
}

#[test]
fn a_service_that_fails_does_not_pass_for_being_fast() {
    let target = Target::start(&["--error-share", "1", "--path", "/hello=0ms"]);
    let url = format!("{}/hello", target.url);
    let told = ends_with(4, &["hit", &url, "-c", "2", "-n", "200", "-q", "--fail-if", "max>30s"]);
    assert!(told.contains("failed          if errors > 0.1%: 100.0 %"), "{told}");
}

#[test]
fn a_gate_that_makes_no_sense_is_refused_before_anything_is_sent() {
    // Who connects would wait for ever.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    for (condition, said) in [
        ("p98>50ms", "did you mean p90, p95, p99?"),
        ("p99>50", "unknown unit"),
        ("p99<50ms", "say when it fails: 'p99>50ms'"),
        ("p99>50ms,errors>1%", "more than one condition"),
        ("cpu>50us", "can't see"),
    ] {
        let told = ends_with(2, &["hit", &url, "--fail-if", condition]);
        assert!(told.contains(said) && !told.contains("panicked"), "{condition}: {told}");
    }
    let told = ends_with(2, &["hit", &url, "--junit", "gate.xml"]);
    assert!(told.contains("there is none; give a --fail-if"), "{told}");
    let told = ends_with(2, &["hit", &url, "--baseline", "Cargo.toml"]);
    assert!(
        told.contains("Cargo.toml can't be read as a folder") && told.contains("in which results lie"),
        "{told}"
    );
    let told = ends_with(2, &["run", "experiments/quick.toml", "--max-loss", "5%"]);
    assert!(told.contains("--baseline"), "{told}");
    let told = ends_with(2, &["run", "experiments/quick.toml", "--baseline", "no-such-stack"]);
    assert!(told.contains("the baseline `no-such-stack` takes no part in this run"), "{told}");
}

#[test]
fn a_bound_that_the_requests_can_t_reach_is_refused_before_anything_is_sent() {
    // Who connects would wait for ever.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let said = "`errors > 100` can't hold: there are 100 requests at most that can fail";
    for load in [&["-n", "100"][..], &["-c", "20", "--requests-per-user", "5"], &["-r", "50", "-d", "2s"]] {
        for option in ["--fail-if", "--stop-if"] {
            let told = ends_with(2, &[&["hit", &url, option, "errors>100"][..], load].concat());
            assert!(told.contains(said) && told.contains("or a share"), "{told}");
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.toml");
    let text = "title = \"t\"\nblocks = 4\nload = { connections = 2, requests = 25 }\n[gate]\nfail_if = [\"errors>100\"]\n\
                [quick]\nrequests = 5\n\
                [[round]]\nname = \"r\"\nendpoint = \"hello\"\nstacks = [\"target-pool\"]\n";
    fs::write(&file, text).unwrap();
    let file_name = file.to_str().unwrap();
    let told = ends_with(2, &["run", file_name, "--dry-run"]);
    assert!(told.contains(said), "{told}");
    // A file's gate is for its full loads, and what is typed for those that are made.
    ends_with(0, &["run", file_name, "--dry-run", "--quick"]);
    ends_with(0, &["run", file_name, "--dry-run", "--quick", "--fail-if", "errors>4"]);
    let told = ends_with(2, &["run", file_name, "--dry-run", "--quick", "--fail-if", "errors>5"]);
    assert!(told.contains("`errors > 5` can't hold: there are 5 requests at most"), "{told}");
    // One trial more, and all of them may fail.
    fs::write(&file, text.replace("blocks = 4", "blocks = 5")).unwrap();
    ends_with(0, &["run", file_name, "--dry-run"]);
}

#[test]
fn what_is_lost_goes_by_what_file_and_options_say_together() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("proofload.toml");
    let told = |code: i32, tables: &str, options: &[&str]| {
        let text = format!(
            "title = \"cart\"\n{tables}\n[service.cart.run]\n\
             command = [\"{{proofload}}\", \"target\", \"--listen\", \"127.0.0.1:{{port}}\"]\n\
             [service.cart.ready]\n[[service.cart.endpoint]]\nname = \"main\"\npath = \"/hello\"\n\
             [load]\nconnections = 2\nduration = \"1s\"\n\
             [[round]]\nname = \"main\"\nendpoint = \"main\"\nstacks = [\"cart\"]\n"
        );
        fs::write(&file, text).unwrap();
        ends_with(code, &[&["run", file.to_str().unwrap(), "--dry-run"][..], options].concat())
    };
    let of_diff = "max_loss of [gate] is for `proofload diff`";
    assert!(!told(0, "[gate]\nlast_runs = 10", &["--max-loss", "5%"]).contains(of_diff));
    assert!(!told(0, "[gate]\nmax_loss = \"5%\"", &["--last-runs", "10"]).contains(of_diff));
    // A loss that only two versions can have asks nothing of a run, and nobody is to think so.
    assert!(told(0, "[gate]\nmax_loss = \"5%\"", &[]).contains(of_diff));
    let nothing = told(2, "[gate]\nmax_loss = \"5%\"", &["--junit", "gate.xml"]);
    assert!(nothing.contains("there is none"), "{nothing}");
    let alone = told(2, "", &["--max-loss", "5%"]);
    assert!(alone.contains("a loss is allowed, and there is no baseline"), "{alone}");
    let all = told(2, "[gate]\nlast_runs = 10", &["--max-loss", "100%"]);
    assert!(all.contains("`100%` would be kept to by whatever answers"), "{all}");
    // What removes the runs that it is held against.
    for (tables, options) in
        [("[runs]\nkeep = 3", &["--last-runs", "10"][..]), ("[runs]\nkeep = 3\n[gate]\nlast_runs = 10", &[])]
    {
        let few = told(2, tables, options);
        assert!(few.contains("[runs] keeps 3") && few.contains("write keep = 10 or more"), "{few}");
    }
}

/// A pipe would keep the load waiting as well.
#[test]
fn what_is_no_file_among_earlier_loads_is_passed_over() {
    let target = Target::start(&[]);
    let url = format!("{}/hello", target.url);
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("old.json")).unwrap();
    let before = folder.path().to_str().unwrap();
    let told = ends_with(5, &["hit", &url, "-c", "2", "-n", "200", "-q", "--baseline", before]);
    assert!(told.contains("to decide it: 6 loads before it"), "{told}");
}

/// A run of one block, which tells nothing about others; what lies in it is told.
#[test]
fn the_gate_of_an_experiment_is_kept_with_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let experiment = dir.path().join("x.toml");
    fs::write(
        &experiment,
        "title = \"t\"\nblocks = 1\nblocks_max = 1\ntwin = false\ncontrol = false\ncool_down_max = \"0s\"\n\
         [load]\nconnections = 2\nduration = \"1s\"\n\
         [[round]]\nname = \"hello\"\nendpoint = \"hello\"\nstacks = [\"target-event-loop\"]\n\
         [gate]\nfail_if = [\"goodput<1/s\", \"errors>0\"]\n",
    )
    .unwrap();
    let runs = dir.path().join("runs");
    let arguments = ["run", experiment.to_str().unwrap(), "-q", "--runs", runs.to_str().unwrap()];
    let told = ends_with(5, &arguments);
    assert!(told.contains("could not tell  if goodput < 1/s"), "{told}");
    assert!(told.contains("7 blocks at least, and there are 1"), "{told}");
    assert!(told.contains("passed          if errors > 0: 0 requests"), "{told}");
    let kept = fs::read_dir(&runs).unwrap().next().unwrap().unwrap().path();
    let gate: serde_json::Value = serde_json::from_slice(&fs::read(kept.join("gate.json")).unwrap()).unwrap();
    assert_eq!(gate["checks"][0]["cell"]["stack"], "target-event-loop");
    // What is done needs no load to be held against another gate.
    let again = ["run", "--resume", kept.to_str().unwrap(), "-q", "--fail-if", "errors>0"];
    assert!(ends_with(5, &again).contains("passed          if errors > 0"));
}

#[test]
#[ignore = "slow: two experiments"]
fn a_run_that_is_named_from_within_its_folder_has_those_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let (experiment, runs) = (dir.path().join("x.toml"), dir.path().join("runs"));
    fs::write(
        &experiment,
        "title = \"t\"\nblocks = 1\nblocks_max = 1\ntwin = false\ncontrol = false\ncool_down_max = \"0s\"\n\
         [load]\nconnections = 2\nduration = \"1s\"\n\
         [[round]]\nname = \"hello\"\nendpoint = \"hello\"\nstacks = [\"target-event-loop\"]\n",
    )
    .unwrap();
    let stacks = repository().join("stacks");
    let stacks = ["-q", "--stacks", stacks.to_str().unwrap()];
    let first = ["run", experiment.to_str().unwrap(), "--runs", runs.to_str().unwrap()];
    ends_with(0, &[&first[..], &stacks].concat());
    let name = fs::read_dir(&runs).unwrap().next().unwrap().unwrap().file_name().into_string().unwrap();
    let output = run_in(&runs, &[&["run", "--resume", &name, "--last-runs", "10"][..], &stacks].concat());
    assert_eq!(output.status.code(), Some(5), "{}", text(&output));
    assert!(text(&output).contains("6 runs before it"), "{}", text(&output));
}
