//! What the tests share: a stand-in for the `proofload` binary, and stacks written on the spot.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use plan::stack::StackManifest;
use stack::{BootOptions, Running, StackError, boot};

/// The example `standin`, built the same way as this test.
pub fn standin() -> &'static Path {
    static STANDIN: OnceLock<PathBuf> = OnceLock::new();
    STANDIN.get_or_init(|| {
        // This is target/<profile>/deps/<test>. `cargo test --test …` alone leaves examples as they are.
        let test = std::env::current_exe().unwrap();
        let profile = test.parent().unwrap().parent().unwrap();
        let target_dir = profile.parent().unwrap();
        let built = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--package", "proofload-stack", "--example", "standin"])
            .args(if profile.ends_with("release") { &["--release"][..] } else { &[] })
            .env("CARGO_TARGET_DIR", target_dir)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status();
        assert!(built.unwrap().success(), "the example standin must build");
        profile.join("examples/standin")
    })
}

/// A stack in a folder of its own, and what its trials leave there.
pub struct Bench {
    pub folder: tempfile::TempDir,
    pub stack: StackManifest,
}

impl Bench {
    /// A stack whose manifest is `sections` after a title.
    pub fn new(sections: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path().join("stacks/mine");
        fs::create_dir_all(&dir).unwrap();
        let text = format!("title = \"Mine\"\nfamily = \"test\"\ngeneration = \"timeless\"\n{sections}");
        fs::write(dir.join("stack.toml"), text).unwrap();
        let stack = StackManifest::load(&dir).unwrap();
        Self { folder, stack }
    }

    /// One that runs `script` with `sh`, in which `$1` is the port, `$2` the stand-in.
    pub fn of_script(script: &str, timeout: &str) -> Self {
        Self::new(&format!(
            "[run]\ncommand = [\"sh\", \"-c\", '''{script}''', \"sh\", \"{{port}}\", \"{{proofload}}\"]\n\
            [ready]\ntimeout = \"{timeout}\"\n[[endpoint]]\nname = \"hello\"\npath = \"/hello\"\nbody = \"hello\"\n"
        ))
    }

    pub fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    pub fn boot(&self) -> Result<Running, StackError> {
        boot_in(&self.stack, self.folder.path())
    }
}

/// Boots `stack` with its work and log in `folder`.
pub fn boot_in(stack: &StackManifest, folder: &Path) -> Result<Running, StackError> {
    let (work_dir, log) = (folder.join("work"), folder.join("log"));
    boot(stack, &BootOptions { proofload_exe: standin(), work_dir: &work_dir, log: &log })
}

/// Whether process `pid` lives.
pub fn lives(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}
