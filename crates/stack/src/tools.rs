//! The programs that a stack needs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use plan::stack::StackManifest;
use rustix::fs::{Access, access};

/// A program that a stack needs and this machine lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingTool {
    /// The program.
    pub name: String,
    /// How to get it.
    pub install: &'static str,
}

/// How to get the programs that stacks name.
const INSTALL: [(&str, &str); 12] = [
    ("go", "apt-get install golang-go, or a current one from https://go.dev/dl"),
    ("haproxy", "apt-get install haproxy"),
    ("java", "apt-get install openjdk-17-jdk-headless"),
    ("javac", "apt-get install openjdk-17-jdk-headless"),
    ("mvn", "apt-get install maven"),
    ("nginx", "apt-get install nginx-light"),
    ("node", "apt-get install nodejs"),
    ("npm", "apt-get install npm"),
    ("cargo", "https://rustup.rs"),
    ("python3", "apt-get install python3"),
    ("wrk", "apt-get install wrk"),
    ("docker", "apt-get install docker.io"),
];

/// The tools of `stack` that are not on the path, in the manifest's order.
pub fn missing_tools(stack: &StackManifest) -> Vec<MissingTool> {
    let missing = stack.tools.iter().filter(|tool| find(tool).is_none());
    missing.map(|name| MissingTool { name: name.clone(), install: install_hint(name) }).collect()
}

/// How to get `tool`.
pub fn install_hint(tool: &str) -> &'static str {
    let known = INSTALL.iter().find(|(name, _)| *name == tool);
    known.map_or("install it and put it on the PATH", |(_, install)| *install)
}

/// The PATH that stacks are built and run with: ours, and the folders of servers such as nginx, which an
/// ordinary user's PATH leaves out.
pub fn search_path() -> OsString {
    let ours = std::env::var_os("PATH").unwrap_or_default();
    let servers = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    let all: Vec<PathBuf> = std::env::split_paths(&ours).chain(servers).collect();
    // What was split joins again, and the rest has no separator in it.
    std::env::join_paths(all).unwrap_or(ours)
}

fn find(tool: &str) -> Option<PathBuf> {
    let is_program = |path: &Path| path.is_file() && access(path, Access::EXEC_OK).is_ok();
    std::env::split_paths(&search_path()).map(|folder| folder.join(tool)).find(|path| is_program(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_is_there_and_only_that() {
        assert!(find("sh").is_some());
        assert!(find("proofload-no-such-tool").is_none());
    }
}
