//! Descriptors: how many a process has open, and how many it may.
//!
//! Each process has a limit of its own. A shell has its user's, and whoever it starts may have raised it since, as a JVM, Node and
//! programs of Go do by themselves; the workers of nginx have another than who started them (`worker_rlimit_nofile`). So what one
//! has open is held against its own limit, and never against that of another.

use std::collections::BTreeMap;
use std::fs;

/// Processes whose limit is kept; beyond, all are asked again.
const KNOWN_MAX: usize = 4096;
/// So near its limit a process is asked for it again: it may have raised it.
const FEW_LEFT: u64 = 16;

/// What a process has open, and may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OpenFiles {
    pub(crate) open: u64,
    pub(crate) limit: u64,
}

impl OpenFiles {
    /// Of those that it may have.
    pub(crate) fn share(&self) -> f64 {
        self.open as f64 / self.limit.max(1) as f64
    }
}

/// The limits of the processes that were asked so far.
#[derive(Debug, Default)]
pub(crate) struct FileLimits(BTreeMap<i32, u64>);

impl FileLimits {
    /// Of some processes, the one that is nearest its limit; `None` where none tells.
    pub(crate) fn nearest(&mut self, pids: &[i32]) -> Option<OpenFiles> {
        if self.0.len() > KNOWN_MAX {
            self.0.clear();
        }
        let all = pids.iter().filter_map(|pid| self.of(*pid));
        all.max_by(|a, b| a.share().total_cmp(&b.share()))
    }

    fn of(&mut self, pid: i32) -> Option<OpenFiles> {
        let open = count(pid)?;
        if let Some(limit) = self.0.get(&pid).copied().filter(|limit| open + FEW_LEFT < *limit) {
            return Some(OpenFiles { open, limit });
        }
        let limit = limit_of(pid)?;
        self.0.insert(pid, limit);
        Some(OpenFiles { open, limit })
    }
}

/// Since Linux 6.2 the size of the folder; before, it was 0 and is not known.
pub(crate) fn count(pid: i32) -> Option<u64> {
    fs::metadata(format!("/proc/{pid}/fd")).ok().map(|it| it.len()).filter(|it| *it > 0)
}

/// The soft limit, beyond which `open` and `accept` fail.
fn limit_of(pid: i32) -> Option<u64> {
    soft_limit(&fs::read_to_string(format!("/proc/{pid}/limits")).ok()?)
}

fn soft_limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn the_soft_limit_is_the_first_of_two() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
            Max processes             63702                63702                processes \n\
            Max open files            1024                 524288               files     \n";
        assert_eq!(soft_limit(limits), Some(1024));
        assert_eq!(soft_limit("Max open files   unlimited   unlimited   files\n"), None);
        assert_eq!(soft_limit(""), None);
    }

    /// A shell that may have few files, beside a process that has more than that and may have many: neither is at its limit.
    #[test]
    fn what_one_has_open_is_held_against_its_own_limit() {
        let own = std::process::id().cast_signed();
        let mut shell = std::process::Command::new("sh")
            .args(["-c", "ulimit -Sn 12; echo; read line"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        // It has said a line, so it has set its limit.
        shell.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
        let pid = shell.id().cast_signed();
        let files: Vec<fs::File> = (0..32).map(|_| fs::File::open("/dev/null").unwrap()).collect();
        let mut limits = FileLimits::default();
        let asked: [&[i32]; 3] = [&[own], &[pid], &[pid, own]];
        let [ours, theirs, nearest] = asked.map(|pids| limits.nearest(pids));
        drop((files, shell.stdin.take()));
        shell.wait().unwrap();
        // A kernel before 6.2 does not tell how many are open.
        let (Some(ours), Some(theirs)) = (ours, theirs) else { return };
        assert!(ours.open > 32 && ours.limit > ours.open, "{ours:?}");
        assert!(theirs.limit == 12 && theirs.open < 12, "{theirs:?}");
        assert_eq!(nearest, Some(theirs));
        assert_eq!(limits.nearest(&[-1]), None);
    }
}
