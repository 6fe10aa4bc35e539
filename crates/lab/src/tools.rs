//! The programs that stacks and comparisons need, and their versions.

use std::io;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A tool that takes longer to say its version is taken for broken.
const ANSWER_WAIT: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(5);
/// What is shown of a version.
const VERSION_CHARS_MAX: usize = 72;

/// What a machine for all stacks and comparisons has.
pub(crate) const ALL: [&str; 8] =
    ["JDK 17", "JDK 25", "mvn", "go", "nginx", "haproxy", "libtcnative-1.so.0", "wrk"];

/// How a program is asked for its version.
fn version_flag(tool: &str) -> &'static str {
    match tool {
        "mvn" => "-version",
        "go" => "version",
        "nginx" | "wrk" | "haproxy" => "-v",
        _ => "--version",
    }
}

/// What was found of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
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

/// Asks all of `tools` at once, for those on a JVM take their time.
pub(crate) fn look_for_all<'a>(tools: &[&'a str]) -> Vec<(&'a str, State)> {
    thread::scope(|scope| {
        let asked: Vec<_> = tools.iter().map(|tool| scope.spawn(|| (*tool, look_for(tool)))).collect();
        asked.into_iter().filter_map(|thread| thread.join().ok()).collect()
    })
}

/// What is found of one tool.
pub(crate) fn look_for(tool: &str) -> State {
    // These are no programs that one could ask.
    let version_of = |kind| tool.strip_prefix(kind).and_then(|version| version.parse().ok());
    let present =
        |version: Option<String>| version.map_or(State::Missing, |version| State::Present { version });
    if let Some(version) = version_of("JDK ") {
        return present(stack::jdk_from(version));
    }
    if let Some(version) = version_of("Java ") {
        return present(stack::java_from(version));
    }
    if tool.contains(".so") {
        let version = "there".to_owned();
        return if stack::has_library(tool) { State::Present { version } } else { State::Missing };
    }
    match ask(tool, version_flag(tool)) {
        Ok(answer) => {
            let version = version_line(&answer).unwrap_or_else(|| "version not known".to_owned());
            State::Present { version }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => State::Missing,
        Err(error) => State::Broken { reason: error.to_string() },
    }
}

/// What `program flag` prints on either stream, whatever its exit code: `wrk -v` fails.
fn ask(program: &str, flag: &str) -> io::Result<String> {
    let mut command = Command::new(program);
    command.arg(flag).env("PATH", stack::search_path());
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
        assert!(matches!(look_for("cargo"), State::Present { version } if version.starts_with("cargo 1.")));
        assert_eq!(look_for("proofload-no-such-tool"), State::Missing);
    }
}
