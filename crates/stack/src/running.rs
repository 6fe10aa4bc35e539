//! A stack that is up.

use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitStatus;

use signals::ProcessSet;
use units::Duration;

use crate::client::At;
use crate::cpus::Cpus;
use crate::error::StackError;
use crate::started::{Started, StopReport, Usage};

/// A stack that is up. Dropping it kills it; [`Running::stop`] is the orderly way.
#[derive(Debug)]
pub struct Running {
    pub(crate) id: String,
    /// Where it listens, and what is spoken with it there.
    pub(crate) at: At,
    pub(crate) started: Started,
}

impl Running {
    /// The id of the stack.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.at.addr
    }

    /// The same, with what it speaks there.
    pub(crate) fn at(&self) -> At {
        self.at
    }

    /// From the start of the process to its first right answer.
    pub fn boot_took(&self) -> Duration {
        self.started.boot_took
    }

    /// What was run: program, JVM flags, arguments.
    pub fn effective_command(&self) -> &[String] {
        &self.started.command
    }

    /// The JVM flags among that; no others are in effect.
    pub fn effective_jvm_flags(&self) -> &[String] {
        &self.started.jvm_flags
    }

    /// The control group of its own, where one could be made: `cpu.stat`, `cpu.pressure` and others are there.
    pub fn cgroup_dir(&self) -> Option<&Path> {
        self.started.cgroup_dir()
    }

    /// Its processes, the supervisor not among them.
    pub fn processes(&self) -> ProcessSet {
        self.started.processes()
    }

    /// Those of them that are alive now.
    pub fn pids(&self) -> Vec<i32> {
        self.started.pids()
    }

    /// What it uses now.
    pub fn usage(&self) -> Result<Usage, StackError> {
        self.started.usage()
    }

    /// How long the compilers of its JVMs were busy so far, all threads together; `None` where there is no JVM, or one
    /// that keeps no counters.
    pub fn jit_busy(&self) -> Option<Duration> {
        self.pids().into_iter().filter_map(signals::jit_busy).reduce(|sum, it| sum + it)
    }

    /// The cores that any of its threads may run on now.
    pub fn cpus(&self) -> Cpus {
        let mut cpus = Cpus::default();
        self.pids().into_iter().for_each(|pid| cpus.add_those_of(pid));
        cpus
    }

    /// Whether the command still runs.
    pub fn is_alive(&self) -> bool {
        self.started.is_alive()
    }

    /// How the command ended; `None` while it runs. A code of 128 + n stands for signal n.
    pub fn exit_status(&self) -> Option<ExitStatus> {
        self.started.exit_status()
    }

    /// The last `lines` lines it printed, of the last 64 KiB.
    pub fn log_tail(&self, lines: usize) -> String {
        self.started.log_tail(lines)
    }

    /// Ends it: SIGTERM, and after 3 s SIGKILL. On success none of its processes is left and its port refuses
    /// connections.
    pub fn stop(self) -> Result<StopReport, StackError> {
        let Self { id, at, started } = self;
        started.stop(&id, at.addr)
    }
}
