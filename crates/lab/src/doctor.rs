//! What about this machine spoils a measurement, and how to mend it.
//!
//! Reading and judging are apart: [`Machine::read`] only reads, [`judge`] is a pure function of what was read
//! and of how many connections a load is to hold. What can't be read is a [`Level::Note`], never an error.

mod judge;
mod read;

use std::fmt;
use std::path::PathBuf;

use driver::UringRefused;
use record::NamedUse;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use stack::UnlikeCores;

use crate::tools::State;
pub use judge::judge;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// As it should be.
    Good,
    /// Worth knowing: something is not known, or only some experiments need it.
    Note,
    /// Figures may suffer.
    Warn,
    /// The load as asked for can't be held.
    Bad,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Good => "good",
            Self::Note => "note",
            Self::Warn => "warn",
            Self::Bad => "bad",
        })
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at, in a word or two.
    pub topic: &'static str,
    /// How much it matters.
    pub level: Level,
    /// What was found.
    pub found: String,
    /// What to do about it: a command where there is one.
    pub mend: Option<String>,
}

/// What was read of a machine. Every field may be unknown; [`Machine::default`] knows nothing.
#[derive(Debug, Clone, Default)]
pub struct Machine {
    open_files: Option<Limit>,
    ports: Option<PortRange>,
    accept_queue_max: Option<u64>,
    syn_queue_max: Option<u64>,
    /// 0: off; 1: when the queue overflows; 2: always.
    syn_cookies: Option<u64>,
    time_wait_reuse: Option<u64>,
    cores: Option<u32>,
    /// Of those that this process may run on.
    physical_cores: Option<usize>,
    /// Where they are not all alike.
    unlike_cores: Option<UnlikeCores>,
    /// Those in use, each once.
    governors: Vec<String>,
    /// Why loads can't be carried by io_uring, where they can't.
    io_uring_refused: Option<UringRefused>,
    cgroup: Option<Cgroup>,
    /// Share of the last 10 s in which something waited for a processor.
    cpu_pressure_pct: Option<f64>,
    /// Share of the time since boot that the host gave to others.
    steal_pct: Option<f64>,
    clock_source: Option<String>,
    swap_used_kib: Option<u64>,
    /// Over the last minute.
    load_average: Option<f64>,
    /// Who used the CPU while the rest was read, the greatest first.
    others: Option<Vec<NamedUse>>,
    tools: Vec<(&'static str, State)>,
}

/// A resource limit; [`u64::MAX`] is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Limit {
    soft: u64,
    hard: u64,
}

/// The ports that the kernel gives to connections, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PortRange {
    first: u16,
    last: u16,
}

/// The control group (v2) that this process is in.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cgroup {
    dir: PathBuf,
    /// Groups may be made below it, and processes moved into those.
    writable: bool,
}

/// Raises the soft limit of open files to the hard one; processes started later inherit it. Returns the soft
/// limit before and now, the same where it could not be raised. [`u64::MAX`] stands for no limit.
pub fn raise_open_file_limit() -> (u64, u64) {
    let before = open_file_limit().soft;
    let maximum = getrlimit(Resource::Nofile).maximum;
    // Refused or not, the limit that is read back is the one that holds.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    (before, open_file_limit().soft)
}

fn open_file_limit() -> Limit {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    Limit { soft: current.unwrap_or(u64::MAX), hard: maximum.unwrap_or(u64::MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_open_file_limit_is_raised_once() {
        let (before, now) = raise_open_file_limit();
        assert!(now >= before);
        assert_eq!(now, open_file_limit().hard);
        assert_eq!(raise_open_file_limit(), (now, now));
    }

    #[test]
    fn this_machine_can_be_read_and_judged() {
        let findings = judge(&Machine::read(), 300);
        assert!(findings.iter().all(|finding| !finding.topic.is_empty() && !finding.found.is_empty()));
        let unmended =
            findings.iter().filter(|finding| finding.level >= Level::Warn && finding.mend.is_none());
        assert_eq!(unmended.count(), 0);
    }
}
