//! `proofload init` in small projects, and what becomes of the file that it writes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::{repository, run_in, text};

/// A copy of one of the projects beside this test, in a folder of its own that has none of our stacks.
struct Own {
    dir: tempfile::TempDir,
}

impl Own {
    fn of(project: &str) -> Self {
        Self::copied(&repository().join("crates/cli/tests/projects").join(project))
    }

    fn copied(folder: &Path) -> Self {
        let dir = tempfile::tempdir().expect("there is room");
        copy(folder, &dir.path().join("service"));
        Self { dir }
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("service")
    }

    fn run(&self, arguments: &[&str]) -> Output {
        run_in(&self.folder(), arguments)
    }

    #[track_caller]
    fn ends_with(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text(&output));
        text(&output)
    }

    /// Has `proofload.toml` say something else.
    fn rewrite(&self, changes: &[(&str, &str)]) {
        self.rewrite_file("proofload.toml", changes);
    }

    fn rewrite_file(&self, name: &str, changes: &[(&str, &str)]) {
        let file = self.folder().join(name);
        let mut text = fs::read_to_string(&file).expect("it was written");
        for (from, to) in changes {
            assert!(text.contains(from), "there is no {from} in\n{text}");
            text = text.replace(from, to);
        }
        fs::write(&file, text).expect("it is ours");
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("it is ours");
    for entry in fs::read_dir(from).expect("it is there").flatten() {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), &to).expect("it is ours");
        }
    }
}

/// From nothing to a passed and a failed gate, on a service that needs no build.
#[test]
#[ignore = "slow: runs of seven blocks"]
fn a_service_in_python_from_init_to_a_failed_gate() {
    let own = Own::of("python");
    let told = own.ends_with(0, &["init"]);
    assert!(told.contains("service   tiny-shop, Python (pyproject.toml)"), "{told}");
    assert!(!told.contains("CHECK"), "{told}");
    own.rewrite(&[
        ("blocks = 8", "blocks = 7"),
        ("blocks_max = 8", "blocks_max = 7"),
        ("\"2s\"", "\"200ms\""),
        ("\"4s\"", "\"1s\""),
    ]);
    let quick = own.ends_with(5, &["run", "--quick", "-q"]);
    assert!(quick.contains("could not tell  if p99 > 200ms"), "{quick}");
    let passed = own.ends_with(0, &["run", "-q"]);
    assert!(passed.contains("gate        passed"), "{passed}");
    // The service sleeps for 5 ms.
    own.rewrite(&[("p99>200ms", "p50>1ms")]);
    let failed = own.ends_with(4, &["run", "-q"]);
    assert!(failed.contains("failed          if p50 > 1.00ms"), "{failed}");
}

#[test]
fn a_project_is_checked_without_our_stacks() {
    let own = Own::of("python");
    // A check asks 1500 times on one connection.
    own.rewrite_file("server.py", &[("time.sleep(0.005)", "pass")]);
    own.ends_with(0, &["init", "-h"]);
    let told = own.ends_with(0, &["init"]);
    // What is to be typed next leads to the program that was called, wherever that is.
    assert!(told.ends_with(concat!("then: ", env!("CARGO_BIN_EXE_proofload"), " run --quick\n")), "{told}");
    let checked = own.ends_with(0, &["check", "tiny-shop", "-q"]);
    assert!(checked.contains("tiny-shop"), "{checked}");
    let listed = own.ends_with(0, &["list"]);
    assert!(listed.contains("tiny-shop"), "{listed}");
    // It runs where its files are.
    own.rewrite(&[(
        "path = \"/items\"\nstatus = 200",
        "path = \"/items\"\nstatus = 200\nbody = \"three items\\n\"",
    )]);
    own.ends_with(0, &["check", "tiny-shop", "-q"]);
    own.rewrite(&[("three items", "no items")]);
    own.ends_with(4, &["check", "tiny-shop", "-q"]);
}

#[test]
fn a_file_that_is_there_stays() {
    let own = Own::of("python");
    let shown = own.ends_with(0, &["init", "--print"]);
    assert!(
        shown.contains("[service.tiny-shop]") && !own.folder().join("proofload.toml").exists(),
        "{shown}"
    );
    fs::write(own.folder().join("proofload.toml"), "mine").unwrap();
    let told = own.ends_with(2, &["init"]);
    assert!(told.contains("is there already") && told.contains("--force"), "{told}");
    assert_eq!(fs::read_to_string(own.folder().join("proofload.toml")).unwrap(), "mine");
    own.ends_with(0, &["init", "--force"]);
    assert!(fs::read_to_string(own.folder().join("proofload.toml")).unwrap().contains("[gate]"));
}

#[test]
fn where_there_is_nothing_to_see_it_is_said() {
    let own = Own::of("python");
    let empty = own.dir.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let told = own.ends_with(2, &["init", empty.to_str().unwrap()]);
    assert!(told.contains("what kind of project") && told.contains("go.mod"), "{told}");
    let told = own.ends_with(2, &["init", "/no/such/folder"]);
    assert!(told.contains("/no/such/folder"), "{told}");
    let file = own.folder().join("app.py");
    fs::write(&file, "").unwrap();
    let told = own.ends_with(2, &["init", file.to_str().unwrap()]);
    assert!(told.contains("app.py: is no folder that can be read"), "{told}");
    let told = own.ends_with(2, &["run"]);
    assert!(told.contains("proofload.toml here") && told.contains("proofload init"), "{told}");
}

/// Of a file that is there, and from which nothing could be made, nobody wants to hear that it should be there.
#[test]
fn a_file_that_is_broken_or_of_no_service_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let init = |name: &str, text: &str| {
        let folder = dir.path().join(name.replace('.', "-"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(name), text).unwrap();
        let output = run_in(&folder, &["init"]);
        assert_eq!(output.status.code(), Some(2), "{}", self::text(&output));
        assert!(!folder.join("proofload.toml").exists());
        self::text(&output)
    };
    let broken = "{ \"name\": \"x\",\n  \"scripts\": { \"start\": \"node x.js\"\n  \"dependencies\": {}\n}\n";
    let told = init("package.json", broken);
    assert!(told.contains("package.json:3:") && told.contains("is no JSON: expected `,`"), "{told}");
    assert!(told.contains("mend it there") && !told.contains("what kind of project"), "{told}");
    let told = init("Cargo.toml", "[package]\nversion = \"0.1.0\"\n");
    assert!(told.contains("Cargo.toml: nothing in it says how a service is started"), "{told}");
    // What builds the pages of a program in Ruby is not that program.
    fs::write(dir.path().join("package-json/Gemfile"), "").unwrap();
    let told = init("package.json", "{ \"scripts\": { \"build\": \"esbuild app.js\" } }");
    assert!(told.contains("it is a project in Ruby (Gemfile)"), "{told}");
}

/// `scripts/projects.sh` builds and loads these.
#[test]
fn what_real_projects_answer_is_seen_without_a_question() {
    for (project, kind, asks) in [
        (
            "spring-boot",
            "Spring Boot (pom.xml)",
            "/api/items, by the sources; ready when GET /actuator/health ",
        ),
        ("express", "Node (package.json)", "/api/items, by the sources; ready when GET /health "),
        ("gin", "Go (go.mod)", "/api/v1/items, by the sources; ready when GET /healthz "),
        ("axum", "Rust (Cargo.toml)", "/api/items, by the sources; ready when GET /health "),
        ("fastapi", "Python (pyproject.toml)", "/api/items/, by the sources; ready when GET /health "),
    ] {
        let own = Own::copied(&repository().join("scripts/projects").join(project));
        let told = own.ends_with(0, &["init"]);
        assert!(
            told.contains(&format!("service   shop, {kind}")) && told.contains(&format!("GET {asks}")),
            "{told}"
        );
        assert!(!told.contains("CHECK") && told.contains("listens   where it is told to"), "{told}");
    }
}

#[test]
fn packages_of_java_lie_deep() {
    let own = Own::copied(&repository().join("scripts/projects/spring-boot"));
    let sources = own.folder().join("src/main/java/org");
    fs::rename(sources.join("example"), own.dir.path().join("example")).expect("it is ours");
    let deep = sources.join("example/of/a/team/and/its");
    fs::create_dir_all(&deep).expect("it is ours");
    fs::rename(own.dir.path().join("example/shop"), deep.join("shop")).expect("it is ours");
    let told = own.ends_with(0, &["init"]);
    assert!(told.contains("GET /api/items, by the sources"), "{told}");
}

/// Built, started and asked: what each of the others needs is on a machine that `make setup` has seen.
#[track_caller]
fn is_built_and_answers(project: &str, name: &str, kind: &str) {
    let own = Own::of(project);
    let told = own.ends_with(0, &["init"]);
    assert!(told.contains(&format!("service   {name}, {kind}")) && !told.contains("CHECK"), "{told}");
    own.ends_with(0, &["check", name, "-q"]);
}

#[test]
#[ignore = "slow: compiles"]
fn a_service_in_go() {
    is_built_and_answers("go", "cart", "Go (go.mod)");
}

#[test]
#[ignore = "slow: compiles"]
fn a_service_in_rust() {
    is_built_and_answers("rust", "greeter", "Rust (Cargo.toml)");
}

#[test]
#[ignore = "slow: boots Node"]
fn a_service_in_node() {
    is_built_and_answers("node", "acme-shop", "Node (package.json)");
}
