//! What a stack may have at most, as its manifest says: open files, and CPU time by a control group's quota.
//!
//! Both are in place before the supervisor gets the word, so all that the stack starts has them from its first
//! instruction. Where one can't be set the stack is not started: figures of a limit that was not there would be
//! another stack's.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use plan::stack::{CpuQuota, Limits};
use rustix::process::{Pid, Resource, Rlimit, prlimit};

use crate::cgroup::{self, Cgroup};
use crate::error::StackError;

/// What a quota is counted over: the kernel's own default.
const PERIOD_US: u64 = 100_000;

/// Limits that are in force; with this value goes what they were set by. It must outlive the processes.
#[derive(Debug, Default)]
pub(crate) struct Enforced {
    /// The group of the quota, where the stack's own can't have one.
    _quota: Option<V1Group>,
}

/// Sets `limits` on process `pid`, which waits for the word and is in `cgroup`, and on all that it will start.
pub(crate) fn enforce(
    stack: &str,
    limits: Limits,
    pid: u32,
    cgroup: Option<&Cgroup>,
) -> Result<Enforced, StackError> {
    // What a killed proofload left behind goes even if this stack has no quota.
    if let Some(parent) = v1_dir() {
        cgroup::remove_stale(&parent);
    }
    let refused = |what: String, help: &'static str| {
        let stack = stack.to_owned();
        move |source| StackError::Limit { stack, what, source, help }
    };
    if let Some(files) = limits.open_files {
        let help = "raise the limit on open files (ulimit -Hn), or lower open_files in the stack's [limits]";
        set_open_files(pid, u64::from(files.get()))
            .map_err(refused(format!("a bound of {files} open files"), help))?;
    }
    let Some(quota) = limits.cpu else { return Ok(Enforced::default()) };
    let help = "run as root where /sys/fs/cgroup can be written, or take cpu out of the stack's [limits]";
    set_quota(pid, quota, cgroup).map_err(refused(format!("a CPU quota of {quota} cores"), help))
}

fn set_open_files(pid: u32, files: u64) -> io::Result<()> {
    let pid = Pid::from_raw(pid.cast_signed()).ok_or(rustix::io::Errno::SRCH)?;
    prlimit(Some(pid), Resource::Nofile, Rlimit { current: Some(files), maximum: Some(files) })?;
    Ok(())
}

/// By the stack's own group (v2) where that has the controller, else by a group in the hierarchy of version 1.
fn set_quota(pid: u32, quota: CpuQuota, cgroup: Option<&Cgroup>) -> io::Result<Enforced> {
    if let Some(group) = cgroup.filter(|group| group.has_cpu_controller()) {
        fs::write(group.dir().join("cpu.max"), format!("{} {PERIOD_US}", quota_us(quota)))?;
        return Ok(Enforced::default());
    }
    let parent = v1_dir().ok_or_else(|| io::Error::other("no control group here has the cpu controller"))?;
    let group = V1Group { dir: cgroup::make(&parent)? };
    // In this order: a quota is refused that is too short for the period at hand.
    fs::write(group.dir.join("cpu.cfs_period_us"), PERIOD_US.to_string())?;
    fs::write(group.dir.join("cpu.cfs_quota_us"), quota_us(quota).to_string())?;
    fs::write(group.dir.join("cgroup.procs"), pid.to_string())?;
    Ok(Enforced { _quota: Some(group) })
}

fn quota_us(quota: CpuQuota) -> u64 {
    u64::from(quota.millicores()) * PERIOD_US / 1_000
}

/// A group in the hierarchy of version 1 that has the controller; removed with this value.
#[derive(Debug)]
struct V1Group {
    dir: PathBuf,
}

impl Drop for V1Group {
    fn drop(&mut self) {
        cgroup::remove(&self.dir);
    }
}

/// The folder of the group that this process is in, in the hierarchy of version 1 that has the controller.
fn v1_dir() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/mounts").ok()?;
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    v1_dir_from(&mounts, &groups).filter(|dir| dir.is_dir())
}

fn v1_dir_from(mounts: &str, groups: &str) -> Option<PathBuf> {
    let has_cpu = |list: &str| list.split(',').any(|name| name == "cpu");
    let mount = mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (at, kind, options) = (fields.next()?, fields.next()?, fields.next()?);
        (kind == "cgroup" && has_cpu(options)).then(|| Path::new(at))
    })?;
    let path = groups.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        has_cpu(controllers).then(|| path.trim_start_matches('/'))
    })?;
    Some(mount.join(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_hierarchy_that_has_the_controller() {
        let mounts = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\n\
            cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n\
            cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0\n\
            cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        let groups = "4:memory:/x\n3:cpuset:/\n2:cpu,cpuacct:/user.slice/a:b\n0::/\n";
        assert_eq!(
            v1_dir_from(mounts, groups),
            Some(PathBuf::from("/sys/fs/cgroup/cpu,cpuacct/user.slice/a:b"))
        );
        assert_eq!(v1_dir_from("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n", "0::/a\n"), None);
    }

    #[test]
    fn a_quota_is_a_share_of_the_period() {
        for (cores, us) in [(0.01, 1_000), (0.5, 50_000), (2.0, 200_000)] {
            assert_eq!(quota_us(CpuQuota::from_cores(cores).unwrap()), us);
        }
    }
}
