//! Services of a project that stand behind each other.

use std::fs;

use crate::common::{run_in, text};

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

#[test]
fn what_never_accepts_one_is_told_with_where_it_should() {
    let folder = project("\"sleep\", \"30\", \"{port}\"");
    let output = run_in(folder.path(), &["run", "-q"]);
    assert_eq!(output.status.code(), Some(4), "{}", text(&output));
    let run = fs::read_dir(folder.path().join("runs")).unwrap().next().unwrap().unwrap().path();
    let said = fs::read_to_string(run.join("trials.jsonl")).unwrap();
    assert!(said.contains("stack `db` was not ready within 2.00s: a connection to 127.0.0.1:"), "{said}");
}
