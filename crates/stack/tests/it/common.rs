//! What the tests share: a stand-in for the `proofload` binary.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The example `standin`, built the same way as this test.
pub fn standin() -> &'static Path {
    static STANDIN: OnceLock<PathBuf> = OnceLock::new();
    STANDIN.get_or_init(|| {
        // This is target/<profile>/deps/<test>. `cargo test --test …` alone leaves examples as they are.
        let test = std::env::current_exe().unwrap();
        let profile = test.parent().unwrap().parent().unwrap();
        let target_dir = profile.parent().unwrap();
        let built = Command::new(env!("CARGO"))
            // As `cargo test --workspace` builds it, so that then there is nothing left to do.
            .args(["build", "--quiet", "--workspace", "--example", "standin", "--profile"])
            .arg(if profile.ends_with("release") { "bench" } else { "test" })
            .env("CARGO_TARGET_DIR", target_dir)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status();
        assert!(built.unwrap().success(), "the example standin must build");
        profile.join("examples/standin")
    })
}
