//! The binary where there is no checkout: what it has inside.

use std::fs;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::common::{repository, stdout, text};

/// An empty folder, and a cache with nothing in it.
struct Nowhere {
    folder: TempDir,
    cache: TempDir,
}

impl Nowhere {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), cache: tempfile::tempdir().unwrap() }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_proofload"));
        command.current_dir(self.folder.path()).env("XDG_CACHE_HOME", self.cache.path());
        command.args(arguments).stdin(Stdio::null()).output().expect("the binary starts")
    }

    #[track_caller]
    fn ends_with(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text(&output));
        text(&output)
    }

    /// What is in the cache.
    fn unpacked(&self) -> Vec<std::path::PathBuf> {
        let Ok(entries) = fs::read_dir(self.cache.path().join("proofload")) else { return Vec::new() };
        entries.map(|it| it.unwrap().path()).collect()
    }
}

#[test]
fn stacks_and_experiments_are_there_without_a_checkout() {
    let nowhere = Nowhere::new();
    let first = nowhere.ends_with(0, &["list"]);
    assert!(first.contains("its own stacks are unpacked to "), "{first}");
    let second = nowhere.ends_with(0, &["list"]);
    assert!(!second.contains("unpacked"), "{second}");
    let [unpacked]: [std::path::PathBuf; 1] =
        nowhere.unpacked().try_into().expect("one folder, and nothing half done");
    // The same as in the checkout, to the byte.
    for file in ["stacks/gin/stack.toml", "stacks/_builds/jmeter/libraries.sha256", "experiments/quick.toml"]
    {
        let of = |root: &std::path::Path| fs::read(root.join(file)).unwrap();
        assert_eq!(of(&unpacked), of(&repository()), "{file}");
    }
    let here = crate::common::run(&["list", "--json"]);
    assert_eq!(stdout(&nowhere.run(&["list", "--json"])), stdout(&here));
    // What somebody tidied away is there again.
    fs::remove_dir_all(unpacked.join("stacks/gin")).unwrap();
    assert_eq!(stdout(&nowhere.run(&["list", "--json"])), stdout(&here));
    assert_eq!(nowhere.unpacked().len(), 1, "nothing is left of the way there");
    // One of them is booted, a write-up is judged, and nothing is left where it was run.
    nowhere.ends_with(0, &["check", "target-event-loop", "-q"]);
    let listed = nowhere.ends_with(0, &["replicate"]);
    assert!(listed.contains("servlet-containers"), "{listed}");
    let told = nowhere.ends_with(2, &["run", "experiments/quick.toml", "--only", "stack=no-such-stack"]);
    assert!(told.contains("no cell of stack `no-such-stack`"), "{told}");
    assert_eq!(fs::read_dir(nowhere.folder.path()).unwrap().count(), 0);
}

#[test]
fn what_was_named_and_is_not_there_is_not_made_up() {
    let nowhere = Nowhere::new();
    let told = nowhere.ends_with(2, &["list", "--stacks", "my-stacks"]);
    assert!(told.contains("my-stacks: cannot be read as a folder of stacks"), "{told}");
    let told = nowhere.ends_with(2, &["run", "experiments/no-such.toml"]);
    assert!(told.contains("experiments/no-such.toml: cannot be read"), "{told}");
    assert!(nowhere.unpacked().is_empty());
    // A folder of one's own of that name is one's own.
    fs::create_dir(nowhere.folder.path().join("stacks")).unwrap();
    assert_eq!(nowhere.ends_with(0, &["list"]), "");
    assert!(nowhere.unpacked().is_empty());
}
