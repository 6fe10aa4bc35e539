//! A control group (v2) of a trial's own: exact CPU time, and a kill that nothing escapes.
//!
//! It lies below the group that we run in, so limits set on us hold for the stack, too. No controller is
//! switched on, but that of a quota that a manifest asks for ([`crate::limits`]). Where making one is not permitted
//! there is none, and callers walk `/proc` instead.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration as StdDuration, Instant};

const PREFIX: &str = "proofload-";
/// Names that are tried for a group.
const NAMES_MAX: u32 = 1000;
/// How long a group that was killed may take to be empty.
const EMPTY_WAIT: StdDuration = StdDuration::from_secs(2);

/// A group that this process made; removed with this value.
#[derive(Debug)]
pub(crate) struct Cgroup {
    dir: PathBuf,
}

impl Cgroup {
    /// Makes a group and moves process `pid` into it; `None` where that is not permitted.
    pub(crate) fn enclose(pid: u32) -> Option<Self> {
        let parent = own_dir()?;
        remove_stale(&parent);
        let group = Self { dir: make(&parent).ok()? };
        fs::write(group.dir.join("cgroup.procs"), pid.to_string()).ok()?;
        Some(group)
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether the group has the files of the cpu controller; switches it on for the groups beside this one where that is
    /// permitted. It is not where the group above has processes of its own and is not the root.
    pub(crate) fn has_cpu_controller(&self) -> bool {
        let quota = self.dir.join("cpu.max");
        if !quota.exists()
            && let Some(parent) = self.dir.parent()
        {
            // Refused or not, the file tells.
            let _ = fs::write(parent.join("cgroup.subtree_control"), "+cpu");
        }
        quota.exists()
    }

    /// Kills every process in the group and in groups below it.
    pub(crate) fn kill(&self) -> io::Result<()> {
        kill(&self.dir)
    }

    /// Whether a live process is in the group or in one below it.
    pub(crate) fn is_populated(&self) -> bool {
        is_populated(&self.dir)
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        remove(&self.dir);
    }
}

/// Makes a group in that of folder `parent`, with a name that says whose it is. A process that was killed may have had this
/// one's id, as where ids begin anew in a container, and have left groups under the first of our names.
pub(crate) fn make(parent: &Path) -> io::Result<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    for _ in 0..NAMES_MAX {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
        match fs::create_dir(&dir) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| dir),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// The process that made the group of this name; `None` of another's, as of a service that somebody calls `proofload-nightly`.
fn owner(name: &OsStr) -> Option<u32> {
    let (pid, number) = name.to_str()?.strip_prefix(PREFIX)?.split_once('-')?;
    number.parse::<u32>().ok()?;
    pid.parse().ok()
}

/// Removes a group whose processes have ended.
pub(crate) fn remove(dir: &Path) {
    let deadline = Instant::now() + EMPTY_WAIT;
    // A killed process leaves its group a moment after it was waited for.
    while fs::remove_dir(dir).is_err_and(|error| error.kind() == io::ErrorKind::ResourceBusy)
        && Instant::now() < deadline
    {
        std::thread::sleep(StdDuration::from_millis(2));
    }
}

/// Kills everything in the group that this process is in, itself included, if it is one of ours.
pub(crate) fn kill_own() -> io::Result<()> {
    let dir = own_dir().filter(|dir| dir.file_name().and_then(owner).is_some());
    dir.map_or_else(|| Err(io::ErrorKind::NotFound.into()), |dir| kill(&dir))
}

fn kill(dir: &Path) -> io::Result<()> {
    fs::write(dir.join("cgroup.kill"), "1")
}

fn is_populated(dir: &Path) -> bool {
    let events = fs::read_to_string(dir.join("cgroup.events")).unwrap_or_default();
    events.lines().any(|line| line == "populated 1")
}

/// Whether no process is listed in the group; one that ended may leave it a moment later.
fn is_empty(dir: &Path) -> bool {
    fs::read_to_string(dir.join("cgroup.procs")).is_ok_and(|pids| pids.trim().is_empty())
}

/// The folder of the group that this process is in.
fn own_dir() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/mounts").ok()?;
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let dir = dir_from(&mounts, &groups)?;
    dir.is_dir().then_some(dir)
}

/// The folder of the v2 group, which is hierarchy 0, under the mount of type cgroup2.
fn dir_from(mounts: &str, groups: &str) -> Option<PathBuf> {
    let mount = mounts.lines().find_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (at, kind) = (fields.next()?, fields.next()?);
        (kind == "cgroup2").then(|| PathBuf::from(at))
    })?;
    let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(mount.join(path))
}

/// Removes the empty groups of processes that are gone; the kernel keeps those that are not empty.
pub(crate) fn remove_stale(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok) {
        let is_gone = |pid: u32| !Path::new("/proc").join(pid.to_string()).exists();
        let gone = owner(&entry.file_name()).is_some_and(is_gone);
        if gone && is_empty(&entry.path()) {
            remove(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All in it would be killed, whoever that is.
    #[test]
    fn a_group_that_somebody_else_made_is_none_of_ours() {
        let parent = tempfile::tempdir().unwrap();
        let made = make(parent.path()).unwrap();
        assert_eq!(owner(made.file_name().unwrap()), Some(std::process::id()));
        for name in ["proofload-nightly.service", "proofload-7", "proofload-7-", "proofload-a-1"] {
            assert_eq!(owner(OsStr::new(name)), None, "{name}");
        }
    }

    #[test]
    fn a_group_that_is_left_of_another_process_of_our_id_is_passed_over() {
        let parent = tempfile::tempdir().unwrap();
        let left = |number: u32| parent.path().join(format!("{PREFIX}{}-{number}", std::process::id()));
        (0..100).for_each(|number| fs::create_dir(left(number)).unwrap());
        let made = make(parent.path()).unwrap();
        assert!(made.is_dir() && (0..100).all(|number| made != left(number)), "{}", made.display());
        assert_ne!(make(parent.path()).unwrap(), made);
    }

    #[test]
    fn finds_the_group_in_pure_and_mixed_hierarchies() {
        let pure = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n";
        let mixed = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n\
            cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        let groups = "4:memory:/x\n0::/user.slice/a\n";
        let dir = |mounts, groups| dir_from(mounts, groups).map(|dir| dir.to_str().unwrap().to_owned());
        assert_eq!(dir(pure, groups).unwrap(), "/sys/fs/cgroup/user.slice/a");
        assert_eq!(dir(mixed, "0::/\n").unwrap(), "/sys/fs/cgroup/unified/");
        assert_eq!(dir("tmpfs /sys/fs/cgroup tmpfs rw 0 0\n", groups), None);
    }
}
