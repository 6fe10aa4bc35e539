//! Where a project keeps its runs, and which of them.

use std::fs;

use record::Manifest;

use crate::common::{run_in, text};
use crate::recorded::{EXPERIMENT, Runs, blocks, manifest};

/// A folder with a project whose runs are in `runs`.
fn project(runs: &Runs, more: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let dir = runs.dir().display();
    let text = format!(
        "title = \"made up\"\nblocks = 1\nblocks_max = 1\ntwin = false\ncontrol = false\ncool_down_max = \"0s\"\n\
         [runs]\ndir = \"{dir}\"\n{more}\n\
         [service.cart.run]\ncommand = [\"{{proofload}}\", \"target\", \"--listen\", \"127.0.0.1:{{port}}\"]\n\
         [service.cart.ready]\n[[service.cart.endpoint]]\nname = \"main\"\npath = \"/hello\"\n\
         [load]\nconnections = 2\nduration = \"200ms\"\n\
         [[round]]\nname = \"main\"\nendpoint = \"main\"\nstacks = [\"cart\"]\n"
    );
    fs::write(folder.path().join("proofload.toml"), text).unwrap();
    folder
}

#[test]
fn the_newest_runs_of_an_experiment_stay_and_nothing_else_goes() {
    let runs = Runs::new();
    let write = |name: &str, manifest: Manifest| {
        runs.write(name, &Manifest { pace: "full".into(), ..manifest }, EXPERIMENT, &blocks("gin", 1000.0, 2))
    };
    for (name, started) in [("a", "2020-03-01"), ("b", "2020-01-01"), ("c", "2020-02-01")] {
        write(name, manifest(&format!("{started}T00:00:00Z")));
    }
    write("other", Manifest { title: "another one".into(), ..manifest("2019-01-01T00:00:00Z") });
    let quick = Manifest { quick: true, pace: "quick".into(), ..manifest("2019-01-01T00:00:00Z") };
    runs.write("quick", &quick, EXPERIMENT, &blocks("gin", 1000.0, 2));
    let versions = manifest("2019-01-01T00:00:00Z");
    write("versions", versions);
    fs::write(runs.path("versions").join("versions.json"), "{}").unwrap();
    fs::create_dir(runs.path("notes")).unwrap();
    let folder = project(&runs, "keep = 2");
    let output = run_in(folder.path(), &["run", "-q"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("2 old runs are removed from"), "{}", text(&output));
    let mut left: Vec<String> = fs::read_dir(runs.dir())
        .unwrap()
        .map(|it| it.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    left.sort();
    let (new, others): (Vec<String>, Vec<String>) =
        left.into_iter().partition(|name| name.starts_with("proofload-"));
    assert_eq!(
        (new.len(), others),
        (1, vec!["a".into(), "notes".into(), "other".into(), "quick".into(), "versions".into()])
    );
    assert!(!folder.path().join("runs").exists());
    // Whoever looks at them need not say where they are.
    let told = run_in(folder.path(), &["history", "--stack", "cart"]);
    assert!(
        told.status.success() && text(&told).contains("made up, main, 2 connections, cart"),
        "{}",
        text(&told)
    );
}

/// A part of the cells is not what a whole run was, nor is one of which a trial failed.
#[test]
fn a_run_that_is_not_whole_takes_no_place() {
    let runs = Runs::new();
    runs.write("old", &Manifest { pace: "full".into(), ..manifest("2020-01-01T00:00:00Z") }, EXPERIMENT, &[]);
    let folder = project(&runs, "keep = 1");
    let output = run_in(folder.path(), &["run", "-q", "--only", "stack=cart"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(runs.path("old").exists(), "{}", text(&output));
    let file = folder.path().join("proofload.toml");
    let dead = fs::read_to_string(&file).unwrap().replace("\"/hello\"", "\"/nothing-is-here\"");
    let dead = dead.replace("[service.cart.ready]", "[service.cart.ready]\ntimeout = \"1s\"");
    fs::write(&file, dead).unwrap();
    let output = run_in(folder.path(), &["run", "-q"]);
    assert_ne!(output.status.code(), Some(0), "{}", text(&output));
    assert!(runs.path("old").exists(), "{}", text(&output));
}

#[test]
fn what_is_older_than_so_many_days_goes() {
    let runs = Runs::new();
    runs.write("old", &Manifest { pace: "full".into(), ..manifest("2020-01-01T00:00:00Z") }, EXPERIMENT, &[]);
    let output = run_in(project(&runs, "keep_days = 30").path(), &["run", "-q"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("1 old run is removed from"), "{}", text(&output));
    assert!(!runs.path("old").exists());
}

/// A run that was gone on with ends after others that began later; and what another program measured is in no run of ours.
#[test]
fn what_began_later_or_was_measured_by_others_stays() {
    let runs = Runs::new();
    let write = |name: &str, manifest: Manifest| {
        runs.write(name, &Manifest { pace: "full".into(), ..manifest }, EXPERIMENT, &[])
    };
    write("later", manifest("2999-01-01T00:00:00Z"));
    let drivers = vec!["proofload".into(), "wrk".into()];
    write("of-wrk", Manifest { drivers, ..manifest("2020-02-01T00:00:00Z") });
    write("old", manifest("2020-01-01T00:00:00Z"));
    let output = run_in(project(&runs, "keep = 1").path(), &["run", "-q"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("1 old run is removed from"), "{}", text(&output));
    let is_there = ["later", "of-wrk", "old"].map(|name| runs.path(name).exists());
    assert_eq!(is_there, [true, true, false]);
}
