//! The workflows of `docs/ci`: read as what they are, and their shell steps run in a small project.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::{repository, text};

fn workflow(name: &str) -> String {
    let path = repository().join("docs/ci").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn yaml(name: &str) -> Value {
    serde_saphyr::from_str(&workflow(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A project with a gate that one block decides, an archive to install from, and the environment of a CI server.
struct Job {
    dir: TempDir,
    variables: Vec<(String, String)>,
}

impl Job {
    fn new() -> Self {
        let job = Self { dir: tempfile::tempdir().unwrap(), variables: Vec::new() };
        for folder in ["project", "archive/proofload-0.1.0", "tools", "temporary"] {
            fs::create_dir_all(job.path(folder)).unwrap();
        }
        job.write_project("errors>0");
        // As `make dist` lays it out; a link, since the binary of a test is large.
        let binary = job.path("archive/proofload-0.1.0/proofload");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_proofload"), binary).unwrap();
        let mut tar = Command::new("tar");
        tar.args(["--create", "--gzip", "--file"]).arg(job.path("proofload.tar.gz"));
        assert!(
            tar.arg("--directory")
                .arg(job.path("archive"))
                .arg("proofload-0.1.0")
                .status()
                .unwrap()
                .success()
        );
        job
    }

    fn write_project(&self, condition: &str) {
        let text = format!(
            "title = \"t\"\nblocks = 1\nblocks_max = 1\ntwin = false\ncontrol = false\ncool_down_max = \"0s\"\n\
             [service.cart.run]\ncommand = [\"{{proofload}}\", \"target\", \"--listen\", \"127.0.0.1:{{port}}\"]\n\
             [service.cart.ready]\n[[service.cart.endpoint]]\nname = \"main\"\npath = \"/hello\"\n\
             [load]\nconnections = 2\nduration = \"200ms\"\n\
             [[round]]\nname = \"main\"\nendpoint = \"main\"\nstacks = [\"cart\"]\n\
             [gate]\nfail_if = [\"{condition}\"]\n[runs]\ndir = \"perf/elsewhere\"\n"
        );
        fs::write(self.path("project/proofload.toml"), text).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn set(&mut self, name: &str, value: impl Into<String>) {
        self.variables.push((name.to_owned(), value.into()));
    }

    /// Where it is installed from, which a user sets.
    fn set_archive(&mut self) {
        let archive = self.path("proofload.tar.gz");
        let sum = Command::new("sha256sum").arg(&archive).output().unwrap();
        let sum = String::from_utf8(sum.stdout).unwrap();
        // The line as it stands in SHA256SUMS, which is what is pasted.
        self.set("PROOFLOAD_SHA256", sum.trim_end());
        self.set("PROOFLOAD_URL", format!("file://{}", archive.display()));
    }

    /// A program that writes down how it was called, and says `answer` where it is asked for a list.
    fn pretend(&self, name: &str, answer: &str) -> PathBuf {
        let calls = self.path(&format!("{name}.calls"));
        let program = self.path("tools").join(name);
        let script = format!(
            "#!/bin/sh\necho \"$@\" >> '{}'\nif [ \"$2\" = --paginate ]; then echo '{answer}'; fi\n",
            calls.display()
        );
        fs::write(&program, script).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        calls
    }

    /// Runs a step in the project, with folders before all others on the path.
    fn step(&self, shell: &[&str], script: &str, folders: &[PathBuf]) -> Output {
        let mut path: Vec<PathBuf> = folders.to_vec();
        path.push(self.path("tools"));
        path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
        let mut command = Command::new(shell[0]);
        command.args(&shell[1..]).arg(script).current_dir(self.path("project"));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.env("PATH", std::env::join_paths(path).unwrap()).output().expect("there is a shell")
    }
}

#[track_caller]
fn ended_with(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}", text(output));
}

/// What every workflow leaves in the project.
#[track_caller]
fn published(project: &Path, mark: &str) {
    let read =
        |name: &str| fs::read_to_string(project.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(read("gate.xml").contains("<testsuite"), "{}", read("gate.xml"));
    assert!(read("gate.md").contains(mark), "{}", read("gate.md"));
    // What is uploaded, wherever the project keeps its runs.
    assert_eq!(fs::read_dir(project.join("runs")).unwrap().count(), 1);
}

/// What folders a step of GitHub's adds to the path of those that follow.
fn added(job: &Job) -> Vec<PathBuf> {
    let lines = fs::read_to_string(job.path("github-path")).unwrap_or_default();
    lines.lines().map(PathBuf::from).collect()
}

#[test]
fn the_steps_on_github_install_hold_and_publish() {
    let document = yaml("github.yml");
    assert_eq!(document["permissions"]["pull-requests"], "write");
    let gate = &document["jobs"]["gate"];
    let steps = gate["steps"].as_array().expect("it has steps");
    let uses: Vec<&str> = steps.iter().filter_map(|it| it["uses"].as_str()).collect();
    assert_eq!(uses, ["actions/checkout@v4", "actions/upload-artifact@v4"]);
    let uploaded = steps.last().unwrap()["with"]["path"].as_str().unwrap();
    assert_eq!(uploaded.lines().collect::<Vec<_>>(), ["runs/", "gate.xml"]);

    let mut job = Job::new();
    for name in document["env"].as_object().expect("variables").keys() {
        assert!(["PROOFLOAD_URL", "PROOFLOAD_SHA256"].contains(&name.as_str()), "{name}");
    }
    job.set_archive();
    job.set("RUNNER_TEMP", job.path("temporary").display().to_string());
    job.set("GITHUB_PATH", job.path("github-path").display().to_string());
    job.set("GITHUB_STEP_SUMMARY", job.path("summary.md").display().to_string());
    job.set("PULL_REQUEST", "7");
    job.set("GITHUB_REPOSITORY", "acme/shop");
    let calls = job.pretend("gh", "");
    // As GitHub runs a step that names no shell.
    let shell = ["bash", "-e", "-c"];
    for step in steps {
        if let Some(script) = step["run"].as_str() {
            ended_with(&job.step(&shell, script, &added(&job)), 0);
        }
    }
    published(&job.path("project"), "✅");
    assert!(fs::read_to_string(job.path("summary.md")).unwrap().contains("✅"));
    let of = |name: &str| steps.iter().find(|it| it["name"] == name).unwrap();
    let comment = job.path("temporary/comment.md");
    let last_call = || fs::read_to_string(&calls).unwrap().lines().next_back().map(str::to_owned);
    assert_eq!(last_call(), Some(format!("pr comment 7 --body-file {}", comment.display())));
    let said = fs::read_to_string(&comment).unwrap();
    assert!(said.starts_with("<!-- proofload -->\n") && said.contains("✅"), "{said}");
    // The next time there is one, which is told anew.
    job.pretend("gh", "12");
    ended_with(&job.step(&shell, of("Comment")["run"].as_str().unwrap(), &added(&job)), 0);
    let patched = "api --method PATCH repos/acme/shop/issues/comments/12 --field body=@";
    assert_eq!(last_call(), Some(format!("{patched}{}", comment.display())));
    // A gate that fails ends its step, and is published all the same.
    job.write_project("goodput<1M/s");
    assert_eq!(of("Summary")["if"], "always()");
    let failed = job.step(&shell, of("Gate")["run"].as_str().unwrap(), &added(&job));
    assert!(matches!(failed.status.code(), Some(4 | 5)), "{}", text(&failed));
    // An archive that is another one is not installed.
    job.set("PROOFLOAD_SHA256", "0".repeat(64));
    assert!(!job.step(&shell, of("Install")["run"].as_str().unwrap(), &[]).status.success());
}

/// Answers one request, and gives what was asked.
fn answer_once(listener: &TcpListener) -> String {
    let (mut stream, _) = listener.accept().unwrap();
    let mut asked = Vec::new();
    let mut part = [0; 4096];
    let length_of = |asked: &[u8]| {
        let head = String::from_utf8_lossy(asked).to_lowercase();
        let (head, _) = head.split_once("\r\n\r\n")?;
        let (_, length) = head.split_once("content-length: ")?;
        Some(head.len() + 4 + length.lines().next()?.trim().parse::<usize>().ok()?)
    };
    while length_of(&asked).is_none_or(|length| asked.len() < length) {
        match stream.read(&mut part).unwrap() {
            0 => break,
            read => asked.extend_from_slice(&part[..read]),
        }
    }
    stream.write_all(b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}").unwrap();
    String::from_utf8(asked).unwrap()
}

#[test]
fn the_job_on_gitlab_installs_holds_and_publishes() {
    let document = yaml("gitlab.yml");
    let gitlab = &document["proofload"];
    assert_eq!(gitlab["artifacts"]["reports"]["junit"], "gate.xml");
    assert_eq!(gitlab["artifacts"]["when"], "always");
    let lines = |part: &str| -> String {
        let lines = gitlab[part].as_array().unwrap_or_else(|| panic!("no {part}"));
        let lines: Vec<&str> = lines.iter().map(|it| it.as_str().expect("a line of a shell")).collect();
        lines.join("\n")
    };
    let mut job = Job::new();
    job.set_archive();
    let api = TcpListener::bind("127.0.0.1:0").unwrap();
    job.set("CI_API_V4_URL", format!("http://{}/api/v4", api.local_addr().unwrap()));
    job.set("CI_PROJECT_ID", "11");
    job.set("CI_MERGE_REQUEST_IID", "7");
    job.set("PROOFLOAD_TOKEN", "secret");
    job.set("no_proxy", "127.0.0.1");
    let temporary = job.path("temporary").display().to_string();
    let within = |script: String| script.replace("/tmp/", &format!("{temporary}/"));
    // As its runner has it: all lines of both parts in one shell, and those afterwards in another.
    let shell = ["bash", "-eo", "pipefail", "-c"];
    let script = within(format!("{}\n{}", lines("before_script"), lines("script")));
    ended_with(&job.step(&shell, &script, &[]), 0);
    published(&job.path("project"), "✅");
    let after = within(lines("after_script"));
    std::thread::scope(|scope| {
        let noted = scope.spawn(|| answer_once(&api));
        let output = job.step(&shell, &after, &[]);
        if !output.status.success() {
            // Else nobody would ever come.
            drop(TcpStream::connect(api.local_addr().unwrap()));
        }
        ended_with(&output, 0);
        let noted = noted.join().expect("it was asked");
        assert!(noted.starts_with("POST /api/v4/projects/11/merge_requests/7/notes HTTP/1.1"), "{noted}");
        assert!(noted.to_lowercase().contains("private-token: secret") && noted.contains("body="), "{noted}");
    });
    // Without a token there is no comment, and that is no failure.
    job.set("PROOFLOAD_TOKEN", "");
    ended_with(&job.step(&shell, &after, &[]), 0);
}

/// What `sh` is given in a Jenkinsfile, in order.
fn shell_steps(jenkinsfile: &str) -> Vec<String> {
    let mut steps = Vec::new();
    let mut rest = jenkinsfile;
    while let Some((_, after)) = rest.split_once("sh '") {
        let (script, after) = match after.strip_prefix("''") {
            Some(long) => long.split_once("'''").expect("it is closed"),
            None => after.split_once('\'').expect("it is closed"),
        };
        steps.push(script.to_owned());
        rest = after;
    }
    steps
}

#[test]
fn the_stages_on_jenkins_install_hold_and_publish() {
    let jenkinsfile = workflow("Jenkinsfile");
    let count = |letter: char| jenkinsfile.chars().filter(|it| *it == letter).count();
    assert_eq!(count('{'), count('}'));
    assert!(jenkinsfile.contains("junit allowEmptyResults: true, testResults: 'gate.xml'"));
    let steps = shell_steps(&jenkinsfile);
    assert_eq!(steps.len(), 2, "{steps:?}");
    let mut job = Job::new();
    job.set_archive();
    // As it names it; relative folders on a path are the workspace's.
    let tools = job.path("project/.tools/proofload");
    assert!(jenkinsfile.contains("${env.WORKSPACE}/.tools/proofload:"), "{jenkinsfile}");
    for script in &steps {
        ended_with(&job.step(&["sh", "-xec"], script, std::slice::from_ref(&tools)), 0);
    }
    published(&job.path("project"), "✅");
}
