use std::fs;
use std::sync::{Arc, Mutex};

use record::MANIFEST_VERSION;
use serde_json::Value;

use super::*;

/// A folder with a run of each kind, and something beside it that nobody should get at.
fn folder() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let run = |name: &str, manifest: &str, trials: &str| {
        let dir = root.path().join("runs").join(name);
        fs::create_dir_all(&dir).unwrap();
        fs::write(dir.join("manifest.json"), manifest).unwrap();
        fs::write(dir.join("trials.jsonl"), trials).unwrap();
        fs::write(dir.join("experiment.toml"), "").unwrap();
    };
    let manifest = |title: &str, started: &str| {
        let manifest = Manifest {
            version: MANIFEST_VERSION,
            title: title.into(),
            started: started.into(),
            trials: 2,
            ..Manifest::default()
        };
        serde_json::to_string(&manifest).unwrap()
    };
    run("old", &manifest("old <script>alert(1)</script>", "2026-01-01T00:00:00Z"), "{}\n{}\n");
    run("new 名前", &manifest("new", "2026-02-01T00:00:00Z"), "{}\n{\"half\":");
    run("broken", "{", "");
    run("newer-version", "{\"version\": 99}", "");
    fs::create_dir_all(root.path().join("runs/no-run")).unwrap();
    fs::write(root.path().join("secret"), "secret").unwrap();
    fs::write(root.path().join("manifest.json"), manifest("above", "2026-03-01T00:00:00Z")).unwrap();
    root
}

fn runs(root: &tempfile::TempDir) -> (Runs, Arc<Mutex<Vec<PathBuf>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let for_render = Arc::clone(&asked);
    let render: Render = Arc::new(move |dir| {
        for_render.lock().unwrap().push(dir.to_owned());
        Ok("<p>report</p>".to_owned())
    });
    (Runs::new(root.path().join("runs"), None, render), asked)
}

fn parsed(page: Option<Page>) -> Value {
    let page = page.unwrap();
    assert_eq!((page.status, page.kind), (200, "application/json"));
    serde_json::from_slice(&page.body).unwrap()
}

#[test]
fn runs_are_listed_the_latest_first_and_those_that_cannot_be_read_with_why() {
    let root = folder();
    let list = parsed(runs(&root).0.page("/runs.json", ""));
    let told =
        |key: &str| list["runs"].as_array().unwrap().iter().map(|run| run[key].clone()).collect::<Vec<_>>();
    assert_eq!(told("name"), ["new 名前", "old", "newer-version", "broken"]);
    assert_eq!(told("state"), ["partial", "complete", "unreadable", "unreadable"]);
    assert_eq!(told("trials"), [1, 2, 0, 0]);
    assert_eq!(told("title")[1], "old <script>alert(1)</script>", "it is data and stays as it is");
    assert!(told("error")[2].as_str().unwrap().contains("version 99"), "{list}");
    assert!(told("error")[3].as_str().unwrap().contains("manifest.json"), "{list}");
}

/// Trials of latency rounds are planned when the others are made, and those that repeat others are beside the plan.
#[test]
fn a_run_that_was_ended_is_partial_however_many_lines_it_has() {
    let root = tempfile::tempdir().unwrap();
    let repeated = "{\"index\":0}\n{\"index\":1000000,\"repeats\":{\"index\":0}}\n";
    let two = "{\"index\":0}\n{\"index\":1,\"stack\":\"\\\",\\\"repeats\\\":{\"}\n";
    for (name, complete, trials) in
        [("a", Some(false), two), ("b", Some(true), two), ("c", None, repeated), ("d", Some(true), repeated)]
    {
        let dir = root.path().join("runs").join(name);
        fs::create_dir_all(&dir).unwrap();
        let started = format!("2026-01-0{}T00:00:00Z", 9 - (name.as_bytes()[0] - b'a'));
        let manifest =
            Manifest { version: MANIFEST_VERSION, started, trials: 2, complete, ..Manifest::default() };
        fs::write(dir.join("manifest.json"), serde_json::to_string(&manifest).unwrap()).unwrap();
        fs::write(dir.join("trials.jsonl"), trials).unwrap();
    }
    let list = parsed(runs(&root).0.page("/runs.json", ""));
    let states: Vec<&Value> = list["runs"].as_array().unwrap().iter().map(|run| &run["state"]).collect();
    assert_eq!(states, ["partial", "complete", "partial", "partial"]);
}

#[test]
fn a_report_is_of_a_run_in_the_list_and_of_nothing_else() {
    let root = folder();
    let (runs, asked) = runs(&root);
    assert_eq!(runs.page("/run/old", "").unwrap().status, 200);
    assert_eq!(runs.page("/run/new%20%E5%90%8D%E5%89%8D", "").unwrap().status, 200);
    for path in [
        "/run/..",
        "/run/../secret",
        "/run/%2e%2e",
        "/run/..%2fsecret",
        "/run/%2e%2e%2fsecret",
        "/run/old/../../secret",
        "/run/old%2f..%2f..",
        "/run/.",
        "/run/",
        "/run/no-run",
        "/run//etc",
        "/run/%2fetc",
        "/run/old%00",
        "/run/%ff",
    ] {
        assert_eq!(runs.page(path, "").unwrap().status, 404, "{path}");
    }
    for path in ["/secret", "/../secret", "/run", "//", "/manifest.json"] {
        assert_eq!(runs.page(path, ""), None, "{path}");
    }
    let asked = asked.lock().unwrap().clone();
    assert_eq!(asked, [root.path().join("runs/old"), root.path().join("runs/new 名前")]);
}

#[test]
fn one_run_can_be_looked_at_alone_and_a_report_that_fails_says_why() {
    let root = folder();
    let render: Render = Arc::new(|_| Err("line 3 is no trial".to_owned()));
    let runs = Runs::new(root.path().join("runs"), Some("old".into()), render);
    assert_eq!(parsed(runs.page("/runs.json", ""))["runs"].as_array().unwrap().len(), 1);
    assert_eq!(runs.page("/run/broken", "").unwrap().status, 404);
    let failed = runs.page("/run/old", "").unwrap();
    assert_eq!((failed.status, &failed.body[..]), (500, &b"line 3 is no trial\n"[..]));
}

#[test]
fn a_run_that_is_being_written_is_called_so() {
    let root = folder();
    let lock = fs::File::create(root.path().join("runs/old/lock")).unwrap();
    let (runs, _) = runs(&root);
    let state = || {
        let list = parsed(runs.page("/runs.json", ""));
        list["runs"].as_array().unwrap().iter().find(|run| run["name"] == "old").unwrap()["state"].clone()
    };
    assert_eq!(state(), "complete");
    lock.lock().unwrap();
    assert_eq!(state(), "running");
    lock.unlock().unwrap();
    assert_eq!(state(), "complete");
}

#[test]
fn the_history_knows_three_figures() {
    let root = folder();
    let (runs, _) = runs(&root);
    for query in ["", "metric=goodput", "metric=cpu", "metric=p99"] {
        assert_eq!(parsed(runs.page("/history.json", query))["version"], 1);
    }
    assert_eq!(runs.page("/history.json", "metric=../secret").unwrap().status, 404);
}

/// By the names of records, which are those of `docs/exports.md` and `unexpected`.
#[test]
fn every_outcome_has_a_word_in_each_language() {
    let root = folder();
    let page = runs(&root).0.page("/words.js", "").unwrap();
    let text = String::from_utf8(page.body.to_vec()).unwrap();
    for name in [
        "timed_out",
        "connect_failed",
        "tls_failed",
        "reset",
        "closed_early",
        "malformed",
        "refused_stream",
        "stream_reset",
        "gone_away",
        "unsent",
        "backlog_overflow",
        "in_flight",
        "lost",
        "unexpected",
    ] {
        // A connection may be lost, too.
        let wanted = if name == "lost" { 4 } else { 2 };
        assert_eq!(text.matches(&format!(" {name}: \"")).count(), wanted, "{name}");
    }
}

#[test]
fn pages_load_nothing_but_what_is_served_here() {
    let root = folder();
    let (runs, _) = runs(&root);
    for path in ["/", "/style.css", "/words.js", "/figures.js", "/live.js", "/runs.js"] {
        let page = runs.page(path, "").unwrap();
        let text = String::from_utf8(page.body.to_vec()).unwrap();
        assert!(
            !text.contains("innerHTML") && !text.contains("http://") && !text.contains("https://"),
            "{path}"
        );
        assert!(
            !text.contains(" style=") && !text.contains(" onclick=") && !text.contains("eval("),
            "{path}"
        );
    }
}
