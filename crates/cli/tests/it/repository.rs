//! A git repository of a service, to be measured in.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::common::text;

/// A repository of a service, and a folder of its own for what is temporary, so that what is left there is seen.
pub struct Repository {
    dir: TempDir,
    temporary: TempDir,
}

impl Repository {
    /// An empty one.
    pub fn new() -> Self {
        let own = Self { dir: tempfile::tempdir().unwrap(), temporary: tempfile::tempdir().unwrap() };
        own.git(&["init", "-q", "-b", "main"]);
        own.write(".gitignore", "runs/\n.proofload/\n");
        own
    }

    /// Where it is.
    pub fn folder(&self) -> PathBuf {
        self.dir.path().to_owned()
    }

    /// Writes a file of it.
    pub fn write(&self, name: &str, content: &str) {
        fs::write(self.dir.path().join(name), content).unwrap();
    }

    /// What git says there.
    pub fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.current_dir(self.dir.path()).args(["-c", "user.name=t", "-c", "user.email=t@localhost"]);
        let output = command.args(arguments).output().expect("git is there");
        assert!(output.status.success(), "{arguments:?}: {}", text(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Commits all files.
    pub fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    /// The binary, in its folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proofload"));
        command.current_dir(self.dir.path()).env("TMPDIR", self.temporary.path()).args(arguments);
        command.stdin(Stdio::null());
        command
    }

    /// Runs the binary there to its end.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the binary starts")
    }

    /// Runs the binary, which must end with `code`, and gives all that it said.
    #[track_caller]
    pub fn ends_with(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text(&output));
        text(&output)
    }

    /// All that a user sees of the repository, and what is left of what was temporary.
    pub fn seen(&self) -> (String, String, Vec<PathBuf>) {
        let left = fs::read_dir(self.temporary.path()).unwrap().map(|it| it.unwrap().path()).collect();
        (self.git(&["status", "--porcelain"]), self.git(&["worktree", "list"]), left)
    }

    /// The run that was made last.
    pub fn last_run(&self) -> PathBuf {
        let runs = fs::read_dir(self.dir.path().join("runs")).unwrap();
        runs.map(|it| it.unwrap().path()).max().expect("there is one")
    }
}
