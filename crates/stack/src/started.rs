//! The processes of a stack that was started, until they are gone.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ExitStatus};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration as StdDuration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpgid, kill_process_group, waitid};
use signals::{ProcessSet, cgroup_pids, process};
use units::{Bytes, Duration};

use crate::cgroup::Cgroup;
use crate::error::StackError;
use crate::limits::Enforced;
use crate::{kill, log};

/// How long a stack has to end by itself.
const TERM_GRACE: StdDuration = StdDuration::from_secs(3);
/// How long the kernel has to end what was killed.
const KILL_GRACE: StdDuration = StdDuration::from_secs(5);
const POLL: StdDuration = StdDuration::from_millis(5);
/// How long a port may go on answering after its processes are gone.
const PORT_GRACE: StdDuration = StdDuration::from_secs(1);

/// What was started of a stack. Dropping it kills it; [`Started::stop`] is the orderly way.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) command: Vec<String>,
    pub(crate) jvm_flags: Vec<String>,
    pub(crate) boot_took: Duration,
    pub(crate) log: PathBuf,
    pub(crate) log_from: u64,
    /// The supervisor's process, which leads the group. No other process's, since the supervisor is waited for at the
    /// very end only.
    pub(crate) leader: i32,
    pub(crate) supervisor: Mutex<Child>,
    /// Held open for as long as the stack may run.
    pub(crate) parent_pipe: Option<ChildStdin>,
    pub(crate) cgroup: Option<Cgroup>,
    /// In force for as long as the stack runs.
    pub(crate) _limits: Enforced,
}

/// What a stack uses, all of its processes together, without the supervisor's memory and threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// Time in user mode since the boot, processes that ended included.
    pub cpu_user: Duration,
    /// Time in the kernel since the boot, processes that ended included.
    pub cpu_system: Duration,
    /// Resident memory now; pages that processes share are counted in each.
    pub rss: Bytes,
    /// Processes now.
    pub processes: u32,
    /// Threads now.
    pub threads: u32,
    /// The threads by name, the largest group first.
    pub thread_groups: Vec<ThreadGroup>,
}

/// Threads whose names differ in the number at their end only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadGroup {
    /// Their name, with `-*` for the number; the kernel cuts names after 15 bytes.
    pub name: String,
    /// How many there are.
    pub threads: u32,
}

/// How a stack ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopReport {
    /// From the request to the last process's end.
    pub took: Duration,
    /// It did not end by itself in 3 s and was killed.
    pub forced: bool,
}

impl Started {
    /// The control group of its own, where one could be made: `cpu.stat`, `cpu.pressure` and others are there.
    pub(crate) fn cgroup_dir(&self) -> Option<&Path> {
        self.cgroup.as_ref().map(Cgroup::dir)
    }

    /// Its processes, the supervisor not among them.
    pub(crate) fn processes(&self) -> ProcessSet {
        ProcessSet { leader: self.leader, cgroup: self.cgroup_dir().map(Path::to_owned) }
    }

    /// Those of them that are alive now.
    pub(crate) fn pids(&self) -> Vec<i32> {
        self.processes().pids()
    }

    /// What it uses now.
    pub(crate) fn usage(&self) -> Result<Usage, StackError> {
        let pids = self.pids();
        let (cpu_user, cpu_system) = self.cpu(&pids)?;
        let mut groups = BTreeMap::new();
        for pid in &pids {
            process::count_threads(*pid, &mut groups);
        }
        let mut thread_groups: Vec<ThreadGroup> =
            groups.into_iter().map(|(name, threads)| ThreadGroup { name, threads }).collect();
        thread_groups.sort_by_key(|group| std::cmp::Reverse(group.threads));
        Ok(Usage {
            cpu_user,
            cpu_system,
            rss: Bytes(pids.iter().map(|pid| process::rss_bytes(*pid)).sum()),
            processes: pids.len() as u32,
            threads: thread_groups.iter().map(|group| group.threads).sum(),
            thread_groups,
        })
    }

    fn cpu(&self, pids: &[i32]) -> Result<(Duration, Duration), StackError> {
        let processes = self.processes();
        let of_what = processes.cgroup.clone().unwrap_or_else(|| "/proc".into());
        processes.cpu(pids).map_err(StackError::io("read the CPU time of", &of_what, "boot the stack again"))
    }

    /// Whether the command still runs.
    pub(crate) fn is_alive(&self) -> bool {
        self.exit_status().is_none()
    }

    /// How the command ended; `None` while it runs. A code of 128 + n stands for signal n.
    ///
    /// The supervisor is not waited for here, only looked at: as long as it is not, its id is no other process's, and
    /// neither is the process group's that it led.
    pub(crate) fn exit_status(&self) -> Option<ExitStatus> {
        let leader = Pid::from_raw(self.leader)?;
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // Only an id that is not our child's would make this an error.
        let ended = waitid(WaitId::Pid(leader), look).ok()??;
        // As `wait` would have it: the code above the signal.
        let code = ended.exit_status().map(|code| (code & 0xff) << 8);
        code.or(ended.terminating_signal()).map(ExitStatus::from_raw)
    }

    /// The last `lines` lines it printed, of the last 64 KiB.
    pub(crate) fn log_tail(&self, lines: usize) -> String {
        log::tail(&self.log, self.log_from, lines)
    }

    /// Bounds what it printed so far. A log that can't be shortened says as much as it did.
    pub(crate) fn shorten_log(&self) {
        let _ = log::shorten(&self.log);
    }

    /// Ends it: SIGTERM, and after 3 s SIGKILL. On success none of its processes is left and its port refuses
    /// connections.
    pub(crate) fn stop(self, id: &str, addr: SocketAddr) -> Result<StopReport, StackError> {
        let survived = |what: String| StackError::Survived { stack: id.to_owned(), what };
        let begun = Instant::now();
        self.terminate_all();
        let mut forced = false;
        if !self.wait_until_gone(TERM_GRACE) {
            forced = true;
            self.kill_all();
            if !self.wait_until_gone(KILL_GRACE) {
                let pids: Vec<String> = self.remaining().iter().map(ToString::to_string).collect();
                return Err(survived(format!("its processes live on (pid {})", pids.join(", "))));
            }
        }
        let took = begun.elapsed().into();
        if !port_refuses(addr) {
            return Err(survived(format!("something still listens on {addr}")));
        }
        Ok(StopReport { took, forced })
    }

    /// Its live processes by every means of finding them, the supervisor not among them.
    fn remaining(&self) -> Vec<i32> {
        let mut pids: Vec<i32> = process::tree(self.leader).into_iter().map(|process| process.pid).collect();
        let in_cgroup = self.cgroup_dir().map(cgroup_pids).unwrap_or_default().into_iter();
        let alive = |pid: &i32| process::Process::of(*pid).is_some_and(|process| !process.is_dead());
        pids.extend(in_cgroup.filter(|pid| *pid != self.leader).filter(alive));
        pids.sort_unstable();
        pids.dedup();
        pids
    }

    fn terminate_all(&self) {
        // Gone already is just as well, in both cases. The id is the group's until the supervisor is waited for.
        if let Some(group) = Pid::from_raw(self.leader) {
            let _ = kill_process_group(group, Signal::TERM);
        }
        // What left the group was started by the stack all the same.
        let elsewhere = |pid: &i32| {
            Pid::from_raw(*pid)
                .is_some_and(|pid| getpgid(Some(pid)).is_ok_and(|of| of.as_raw_pid() != self.leader))
        };
        kill::signal_all(|| self.remaining().into_iter().filter(elsewhere).collect(), Signal::TERM);
    }

    fn kill_all(&self) {
        if self.cgroup.as_ref().is_some_and(|cgroup| cgroup.kill().is_ok()) {
            return;
        }
        // The supervisor last: it is what orphans descend from, and without it they could not be found. Again
        // and again, since a process may start another one between the look at the tree and its own death.
        let deadline = Instant::now() + KILL_GRACE;
        while !self.remaining().is_empty() && Instant::now() < deadline {
            kill::signal_all(|| self.remaining(), Signal::KILL);
            std::thread::sleep(POLL);
        }
        // An error means that it ended by itself, as it does when nothing is left to supervise.
        let _ = self.supervisor.lock().unwrap_or_else(PoisonError::into_inner).kill();
    }

    /// Whether everything ended, the supervisor included, within `limit`.
    fn wait_until_gone(&self, limit: StdDuration) -> bool {
        let deadline = Instant::now() + limit;
        loop {
            let empty = !self.cgroup.as_ref().is_some_and(Cgroup::is_populated);
            if !self.is_alive() && empty && self.remaining().is_empty() {
                return true;
            }
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(POLL);
        }
    }
}

fn port_refuses(addr: SocketAddr) -> bool {
    let deadline = Instant::now() + PORT_GRACE;
    loop {
        // Whoever listens and accepts nobody lets connections wait, once his queue is full; that is no refusal.
        let connected = TcpStream::connect_timeout(&addr, PORT_GRACE);
        if connected.is_err_and(|error| error.kind() != ErrorKind::TimedOut) {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(POLL);
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if self.is_alive() || !self.remaining().is_empty() {
            self.kill_all();
            self.wait_until_gone(KILL_GRACE);
        }
        // If anything is left even now, this is the supervisor's sign to end it.
        drop(self.parent_pipe.take());
        // Nothing looks for its processes from here on, so its id may go.
        let _ = self.supervisor.lock().unwrap_or_else(PoisonError::into_inner).try_wait();
        self.shorten_log();
    }
}
