//! What a stack needs of the machine: programs, a JDK, shared libraries.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use plan::stack::{Needs, StackManifest};

use crate::jdk::{self, Jdk, is_program};

/// Something that a stack needs and this machine lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// What it is, such as `mvn`, `JDK 17` or `Java 25`.
    pub name: String,
    /// How to get it.
    pub install: String,
}

/// What is needed, the package that has it, what for, and where else to get it; `make setup` reads it, too.
const PACKAGES: &str = include_str!("../packages.txt");

/// Where the programs of a Go are that `scripts/setup.sh` fetched, below the folder for what can be fetched again.
const FETCHED_GO: &str = "proofload/go/bin";

/// Where a machine's shared libraries are, beside one folder for each architecture in `/usr/lib`.
const LIBRARY_FOLDERS: [&str; 5] = ["/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/local/lib"];

/// What of the needs of `stack` is not on this machine, in the manifest's order.
pub fn missing(stack: &StackManifest) -> Vec<Missing> {
    let Needs { tools, jdk, java, libraries } = &stack.needs;
    let tools = tools.iter().filter(|tool| find_program(tool).is_none()).cloned();
    let no_jdk = jdk.filter(|version| jdk::find(*version).is_none());
    // Where the JDK itself is missing and would do, one thing is missing and not two.
    let no_java = java.filter(|version| no_jdk < Some(*version) && jdk::find_java(*version).is_none());
    let no_jdk = no_jdk.map(|version| format!("JDK {version}"));
    let no_java = no_java.map(|version| format!("Java {version}"));
    let libraries = libraries.iter().filter(|library| !has_library(library)).cloned();
    tools
        .chain(no_jdk)
        .chain(no_java)
        .chain(libraries)
        .map(|name| Missing { install: install_hint(&name), name })
        .collect()
}

/// How to get `needed`: a program, `JDK n` or a shared library.
pub fn install_hint(needed: &str) -> String {
    let mut rows =
        PACKAGES.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('|').map(str::trim));
    let row = rows.find_map(|mut row| (row.next() == Some(needed)).then_some(row));
    let Some(mut row) = row else { return "install it and put it on the PATH".to_owned() };
    let (package, elsewhere) = (row.next().unwrap_or_default(), row.nth(1).unwrap_or_default());
    match (package, elsewhere) {
        ("", elsewhere) => elsewhere.to_owned(),
        (package, "") => format!("apt-get install {package}"),
        (package, elsewhere) => format!("apt-get install {package}, or {elsewhere}"),
    }
}

/// The PATH that stacks are built and run with: ours, and the folders of servers such as nginx, which an
/// ordinary user's PATH leaves out. Before both, a Go that `make setup` fetched: it does so where there was none, or an older one
/// than the stacks ask for.
pub fn search_path() -> OsString {
    path_behind(None)
}

/// The version of Java that `stack` is run with, where it asks for one and it is there.
pub fn java_version(stack: &StackManifest) -> Option<String> {
    stack.needs.java.and_then(java_from)
}

/// The version of the JDK that is taken where one from `version` on is needed.
pub fn jdk_from(version: u32) -> Option<String> {
    jdk::find(version).map(|jdk| jdk.version_text)
}

/// The version of the JDK or runtime that is taken where programs for `version` are run.
pub fn java_from(version: u32) -> Option<String> {
    jdk::find_java(version).map(|jdk| jdk.version_text)
}

/// What the build of a stack finds in its environment beside our own: the PATH, and the JDK it asks for before any other.
pub(crate) fn build_environment(stack: &StackManifest) -> Vec<(&'static str, OsString)> {
    environment(stack.needs.jdk.and_then(jdk::find))
}

/// What a stack finds in its environment beside our own: the PATH, and the Java it asks for before any other.
pub(crate) fn run_environment(stack: &StackManifest) -> Vec<(&'static str, OsString)> {
    environment(stack.needs.java.and_then(jdk::find_java))
}

fn environment(jdk: Option<Jdk>) -> Vec<(&'static str, OsString)> {
    match jdk {
        Some(jdk) => {
            let path = path_behind(Some(jdk.home.join("bin")));
            vec![("PATH", path), ("JAVA_HOME", jdk.home.into_os_string())]
        }
        None => vec![("PATH", search_path())],
    }
}

/// `program` as it is found in the environment of `stack`, so that a record tells which of several it was.
pub(crate) fn resolve(stack: &StackManifest, program: &str) -> String {
    if program.contains('/') {
        return program.to_owned();
    }
    let path = run_environment(stack).into_iter().find(|(name, _)| *name == "PATH");
    let found = path.and_then(|(_, path)| find_in(&path, program));
    found.map_or_else(|| program.to_owned(), |found| found.to_string_lossy().into_owned())
}

fn path_behind(first: Option<PathBuf>) -> OsString {
    let ours = std::env::var_os("PATH").unwrap_or_default();
    let go = jdk::cache_folder().map(|cache| cache.join(FETCHED_GO)).filter(|folder| folder.is_dir());
    let servers = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    let all: Vec<PathBuf> =
        first.into_iter().chain(go).chain(std::env::split_paths(&ours)).chain(servers).collect();
    // What was split joins again, and the rest has no separator in it.
    std::env::join_paths(all).unwrap_or(ours)
}

/// The program `tool` in a folder of [`search_path`].
pub fn find_program(tool: &str) -> Option<PathBuf> {
    find_in(&search_path(), tool)
}

fn find_in(path: &OsString, tool: &str) -> Option<PathBuf> {
    std::env::split_paths(path).map(|folder| folder.join(tool)).find(|path| is_program(path))
}

/// Whether the shared library `name` is where a machine has its libraries.
pub fn has_library(name: &str) -> bool {
    let in_usr_lib = std::fs::read_dir("/usr/lib").into_iter().flatten().filter_map(Result::ok);
    let of_architectures = in_usr_lib.map(|entry| entry.path()).filter(|path| path.is_dir());
    let mut folders =
        LIBRARY_FOLDERS.iter().map(|folder| Path::new(folder).to_owned()).chain(of_architectures);
    folders.any(|folder| folder.join(name).exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_how_to_get_what_is_known() {
        assert_eq!(install_hint("mvn"), "apt-get install maven");
        assert_eq!(
            install_hint("go"),
            "make setup in Proofload's checkout, or a current one from https://go.dev/dl",
            "Debian's is too old"
        );
        assert!(install_hint("JDK 17").starts_with("apt-get install openjdk-17-jdk-headless, or "));
        assert!(install_hint("Java 25").starts_with("make setup"), "no package has it");
        assert_eq!(install_hint("no-such-thing"), "install it and put it on the PATH");
    }

    #[test]
    fn finds_what_is_there_and_only_that() {
        assert!(find_program("sh").is_some());
        assert!(find_program("proofload-no-such-tool").is_none());
        // The C library, wherever it is.
        assert!(has_library("libc.so.6"));
        assert!(!has_library("libproofload-none.so"));
    }
}
