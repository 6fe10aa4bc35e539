//! The processes of a stack, and what they use together.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use units::Duration;

use crate::process::{self, Process};

/// The processes that descend from a leader, the leader itself not among them; of its control group, where it has one.
#[derive(Debug, Clone)]
pub struct ProcessSet {
    /// Leads the process group.
    pub leader: i32,
    /// The v2 control group that all of them are in.
    pub cgroup: Option<PathBuf>,
}

impl ProcessSet {
    /// All that can be seen: of the container, where only those of one can.
    pub const fn of_all() -> Self {
        // The kernel, from which the first of them descends.
        Self { leader: 0, cgroup: None }
    }

    /// Those alive now. Whoever watches is not what is watched.
    pub fn pids(&self) -> Vec<i32> {
        if let Some(dir) = &self.cgroup {
            return cgroup_pids(dir).into_iter().filter(|pid| *pid != self.leader).collect();
        }
        let own = std::process::id().cast_signed();
        let tree = process::tree(self.leader).into_iter().map(|process| process.pid);
        tree.filter(|pid| *pid != own).collect()
    }

    /// User and system time of all, those that have ended included.
    pub fn cpu(&self, pids: &[i32]) -> io::Result<(Duration, Duration)> {
        if let Some(dir) = &self.cgroup {
            return cgroup_cpu(dir);
        }
        // The leader stands for the processes that it has waited for.
        let all = pids.iter().chain([&self.leader]).filter_map(|pid| Process::of(*pid));
        Ok(all.fold((Duration::ZERO, Duration::ZERO), |(user, system), process| {
            let (more_user, more_system) = process.cpu();
            (user + more_user, system + more_system)
        }))
    }
}

/// The processes in a control group, those of groups below it left out.
pub fn cgroup_pids(dir: &Path) -> Vec<i32> {
    let text = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// User and system time of everything that was ever in a control group.
fn cgroup_cpu(dir: &Path) -> io::Result<(Duration, Duration)> {
    let stat = fs::read_to_string(dir.join("cpu.stat"))?;
    let micros = |key: &str| {
        let line = stat.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim().parse().ok().map(Duration::from_micros)
    };
    let missing = || io::Error::other("cpu.stat lacks user_usec or system_usec");
    Ok((micros("user_usec ").ok_or_else(missing)?, micros("system_usec ").ok_or_else(missing)?))
}
