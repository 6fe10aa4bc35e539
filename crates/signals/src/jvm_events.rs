//! What a JVM records of itself on request: JFR events, and the log of its collections.
//!
//! Both are switched on and off in a JVM that runs, by the JDK's own `jcmd`; nothing is added to its command. `jfr` beside
//! it counts the events. They cost the JVM some of its CPU time, so a run asks for them or does without.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tool::output;

/// The recording's name within the JVM.
const RECORDING: &str = "proofload";
/// Events whose count is kept.
const KEPT: [&str; 6] = [
    "jdk.VirtualThreadPinned",
    "jdk.VirtualThreadSubmitFailed",
    "jdk.JavaMonitorEnter",
    "jdk.JavaMonitorWait",
    "jdk.ThreadPark",
    "jdk.GarbageCollection",
];

/// A recording under way.
#[derive(Debug)]
pub struct JvmEvents {
    pid: i32,
    tools: PathBuf,
    file: PathBuf,
    /// Of its log, as `VM.log` is told of it.
    log: String,
}

impl JvmEvents {
    /// Begins to record in the JVM `pid`; the recording and the log of collections go into `dir`. `None` where it is no
    /// JVM, or has no `jcmd` beside it, or refuses.
    pub fn start(pid: i32, dir: &Path) -> Option<Self> {
        let tools = tools_of(pid)?;
        let dir = dir.canonicalize().ok()?;
        let (file, log) = (dir.join(format!("jvm-{pid}.jfr")), dir.join(format!("gc-{pid}.log")));
        // Its nanoseconds are those of System.nanoTime, which is the clock of the window.
        let log = format!("output={}", log.display());
        jcmd(&tools, pid, &["VM.log", &log, "what=gc*,safepoint", "decorators=timenanos,tags"]);
        let (name, events) = (format!("name={RECORDING}"), Self { pid, tools, file, log });
        let said = jcmd(&events.tools, pid, &["JFR.start", &name, "settings=profile"]);
        if said.is_some_and(|said| said.contains("Started recording")) {
            return Some(events);
        }
        events.end_log();
        None
    }

    /// Ours, and no other: `VM.log disable` would end the server's own log, and its warnings.
    fn end_log(&self) {
        jcmd(&self.tools, self.pid, &["VM.log", &self.log, "what=all=off"]);
    }

    /// Ends it, and gives how many events of each kind there were.
    pub fn finish(self) -> BTreeMap<String, u64> {
        let (name, file) = (format!("name={RECORDING}"), format!("filename={}", self.file.display()));
        jcmd(&self.tools, self.pid, &["JFR.stop", &name, &file]);
        self.end_log();
        let mut summary = Command::new(self.tools.join("jfr"));
        output(summary.arg("summary").arg(&self.file)).map_or_else(BTreeMap::new, |text| counts(&text))
    }
}

fn jcmd(tools: &Path, pid: i32, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(tools.join("jcmd"));
    output(command.arg(pid.to_string()).args(arguments))
}

/// The folder with `jcmd` and `jfr` of the JDK that a JVM runs on.
pub(crate) fn tools_of(pid: i32) -> Option<PathBuf> {
    let java = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let is_java = java.file_name().is_some_and(|name| name == "java");
    let dir = java.parent()?.to_owned();
    (is_java && dir.join("jcmd").is_file()).then_some(dir)
}

/// Lines like ` jdk.VirtualThreadPinned      123      4567`: name, count, bytes.
fn counts(summary: &str) -> BTreeMap<String, u64> {
    let of_line = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let (name, count) = (fields.next()?, fields.next()?.parse().ok()?);
        (KEPT.contains(&name) && count > 0).then(|| (name.to_owned(), count))
    };
    summary.lines().filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_counted_by_name() {
        let summary = "\n Version: 2.1\n Chunks: 1\n\n Event Type                Count  Size (bytes)\n\
            =============================\n jdk.VirtualThreadPinned     123          4567\n \
            jdk.JavaMonitorWait           0             0\n jdk.ObjectCount 7 8\n";
        assert_eq!(counts(summary), [("jdk.VirtualThreadPinned".to_owned(), 123)].into());
    }

    #[test]
    fn what_is_no_jvm_records_nothing() {
        let dir = tempfile::tempdir().unwrap();
        assert!(JvmEvents::start(std::process::id().cast_signed(), dir.path()).is_none());
    }
}
