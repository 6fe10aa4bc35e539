//! A stack that is up.

use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitStatus;

use plan::stack::Site;
use signals::ProcessSet;
use units::Duration;

use crate::client::At;
use crate::cpus::Cpus;
use crate::error::StackError;
use crate::started::{Started, StopReport, Usage};

/// A stack that is up. Dropping one that was started kills it; [`Running::stop`] is the orderly way. What was running
/// already goes on, and nothing is known of its processes.
#[derive(Debug)]
pub struct Running {
    pub(crate) id: String,
    /// Where it listens, and what is spoken with it there.
    pub(crate) at: At,
    /// What was started of it; `None` of what was running already.
    pub(crate) started: Option<Started>,
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

    /// What requests name as its host, with the port where one has to be named.
    pub fn authority(&self) -> String {
        self.at.authority()
    }

    /// Whom its connections take for it, where they are secured.
    pub fn trust(&self) -> tls::Settings {
        self.at.trust()
    }

    /// The same as [`Running::addr`], with what it speaks there.
    pub(crate) fn at(&self) -> &At {
        &self.at
    }

    /// Where it was running already; `None` of what was started.
    pub fn site(&self) -> Option<&Site> {
        self.at.site.as_ref()
    }

    /// From the start of the process to its first right answer; `None` of what was running already.
    pub fn boot_took(&self) -> Option<Duration> {
        self.started.as_ref().map(|it| it.boot_took)
    }

    /// What was run: program, JVM flags, arguments; nothing of what was running already.
    pub fn effective_command(&self) -> &[String] {
        self.started.as_ref().map_or(&[][..], |it| it.command.as_slice())
    }

    /// The JVM flags among that; no others are in effect.
    pub fn effective_jvm_flags(&self) -> &[String] {
        self.started.as_ref().map_or(&[][..], |it| it.jvm_flags.as_slice())
    }

    /// The control group of its own, where one could be made: `cpu.stat`, `cpu.pressure` and others are there.
    pub fn cgroup_dir(&self) -> Option<&Path> {
        self.started.as_ref()?.cgroup_dir()
    }

    /// Its processes, the supervisor not among them; `None` of what was running already.
    pub fn processes(&self) -> Option<ProcessSet> {
        self.started.as_ref().map(Started::processes)
    }

    /// Those of them that are alive now.
    pub fn pids(&self) -> Vec<i32> {
        self.started.as_ref().map(Started::pids).unwrap_or_default()
    }

    /// What it uses now; `None` of what was running already.
    pub fn usage(&self) -> Result<Option<Usage>, StackError> {
        self.started.as_ref().map(Started::usage).transpose()
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

    /// Whether the command still runs. What was running already counts as alive: its answers tell.
    pub fn is_alive(&self) -> bool {
        self.started.as_ref().is_none_or(Started::is_alive)
    }

    /// How the command ended; `None` while it runs. A code of 128 + n stands for signal n.
    pub fn exit_status(&self) -> Option<ExitStatus> {
        self.started.as_ref()?.exit_status()
    }

    /// The last `lines` lines it printed, of the last 64 KiB.
    pub fn log_tail(&self, lines: usize) -> String {
        self.started.as_ref().map(|it| it.log_tail(lines)).unwrap_or_default()
    }

    /// Ends it: SIGTERM, and after 3 s SIGKILL. On success none of its processes is left and its port refuses
    /// connections. What was running already goes on, which takes no time.
    pub fn stop(self) -> Result<StopReport, StackError> {
        let Self { id, at, started } = self;
        let goes_on = StopReport { took: Duration::ZERO, forced: false };
        started.map_or(Ok(goes_on), |it| it.stop(&id, at.addr))
    }
}
