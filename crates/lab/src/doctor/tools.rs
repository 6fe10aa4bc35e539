//! The programs that stacks and comparisons need, and their versions.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A tool that takes longer to say its version is taken for broken.
const ANSWER_WAIT: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(5);
/// What is shown of a version.
const VERSION_CHARS_MAX: usize = 72;

/// A program, how to ask for its version, and how to get it.
struct Known {
    name: &'static str,
    version_flag: &'static str,
    install: &'static str,
}

const KNOWN: [Known; 6] = [
    Known { name: "java", version_flag: "-version", install: "apt-get install default-jdk-headless" },
    Known { name: "javac", version_flag: "-version", install: "apt-get install default-jdk-headless" },
    Known {
        name: "go",
        version_flag: "version",
        install: "apt-get install golang-go, or a current one from https://go.dev/dl",
    },
    Known { name: "nginx", version_flag: "-v", install: "apt-get install nginx-light" },
    Known { name: "wrk", version_flag: "-v", install: "apt-get install wrk" },
    Known { name: "mvn", version_flag: "-version", install: "apt-get install maven" },
];

/// What was found of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum State {
    /// There, with the line in which it tells its version.
    Present {
        version: String,
    },
    Missing,
    /// There, and does not work.
    Broken {
        reason: String,
    },
}

#[derive(Debug, Clone)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) install: &'static str,
    pub(super) state: State,
}

/// Asks all at once: the ones on a JVM take their time.
pub(super) fn look_for_all() -> Vec<Tool> {
    thread::scope(|scope| {
        let asked = KNOWN.each_ref().map(|known| scope.spawn(|| look_for(known)));
        asked.into_iter().filter_map(|thread| thread.join().ok()).collect()
    })
}

fn look_for(known: &Known) -> Tool {
    let state = match ask(known.name, known.version_flag) {
        Ok(answer) => {
            let version = version_line(&answer).unwrap_or_else(|| "version not known".to_owned());
            State::Present { version }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => State::Missing,
        Err(error) => State::Broken { reason: error.to_string() },
    };
    Tool { name: known.name, install: known.install, state }
}

/// What `program flag` prints on either stream, whatever its exit code: `wrk -v` fails.
fn ask(program: &str, flag: &str) -> io::Result<String> {
    let mut command = Command::new(program);
    command.arg(flag).env("PATH", search_path());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let deadline = Instant::now() + ANSWER_WAIT;
    // A version fits into a pipe's buffer, so nobody need read meanwhile.
    while child.try_wait()?.is_none() {
        if Instant::now() >= deadline {
            // It may end by itself just now.
            let _ = child.kill();
            child.wait()?;
            return Err(io::Error::other(format!("`{program} {flag}` did not end within {ANSWER_WAIT:?}")));
        }
        thread::sleep(POLL);
    }
    let output = child.wait_with_output()?;
    Ok(format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)))
}

/// Our own PATH, and the folders of servers such as nginx, which an ordinary user's PATH leaves out.
fn search_path() -> OsString {
    let ours = std::env::var_os("PATH").unwrap_or_default();
    let servers = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    let all: Vec<PathBuf> = std::env::split_paths(&ours).chain(servers).collect();
    // What was split joins again, and the rest has no separator in it.
    std::env::join_paths(all).unwrap_or(ours)
}

/// The first line with a digit that is no remark of the JVM about its environment.
fn version_line(answer: &str) -> Option<String> {
    let plain = without_escapes(answer);
    let line = plain
        .lines()
        .find(|line| line.contains(|sign: char| sign.is_ascii_digit()) && !line.starts_with("Picked up "))?;
    let version = line.split(" Copyright").next().unwrap_or(line);
    Some(version.trim().chars().take(VERSION_CHARS_MAX).collect())
}

/// Maven prints bold even into a pipe.
fn without_escapes(text: &str) -> String {
    let mut parts = text.split('\x1b');
    let first = parts.next().unwrap_or_default();
    let rest = parts.map(|part| part.split_once('m').map_or("", |(_, after)| after));
    std::iter::once(first).chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_line_with_the_version() {
        let java =
            "Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version \"17.0.15\" 2025-04-15\nOpenJDK Runtime\n";
        assert_eq!(version_line(java).unwrap(), "openjdk version \"17.0.15\" 2025-04-15");
        assert_eq!(
            version_line("\x1b[1mApache Maven 3.8.7\x1b[m\nMaven home").unwrap(),
            "Apache Maven 3.8.7"
        );
        assert_eq!(version_line("wrk 4.1.0 [epoll] Copyright (C) 2012 W").unwrap(), "wrk 4.1.0 [epoll]");
        assert_eq!(version_line("unknown\n"), None);
    }

    #[test]
    fn a_tool_is_present_or_missing() {
        let known = |name, version_flag| Known { name, version_flag, install: "" };
        let present = look_for(&known("cargo", "--version"));
        assert!(matches!(present.state, State::Present { version } if version.starts_with("cargo 1.")));
        assert_eq!(look_for(&known("proofload-no-such-tool", "-v")).state, State::Missing);
    }
}
