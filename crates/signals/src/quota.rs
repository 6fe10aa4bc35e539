//! CPU quotas of control groups: how much is allowed, and for how long something was kept from running by it.
//!
//! Both hierarchies are read, since both may hold a process: v2 (`cpu.max`, `cpu.stat` with `throttled_usec`) and v1
//! (`cpu.cfs_quota_us`, `cpu.stat` with `throttled_time` in ns). A quota may be set on any group above, and the kernel
//! counts the throttling where it is set.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// The groups that may hold a process back. By default nobody knows of any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct QuotaGroups {
    dirs: Vec<PathBuf>,
    /// Whether any group could be seen, with a quota or without.
    seen: bool,
}

/// What they say.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct QuotaReading {
    /// The smallest quota, in cores.
    pub(crate) cores: Option<f64>,
    /// Time in which it kept threads from running, seconds, of all of them together.
    pub(crate) throttled_s: f64,
}

/// For how long a CPU quota kept threads of this process's groups from running so far, seconds, of all of them together;
/// `None` where there is no quota, or none to be seen.
pub fn throttled_s_of_this_process() -> Option<f64> {
    let pid = i32::try_from(std::process::id()).ok()?;
    QuotaGroups::of(pid).read().map(|it| it.throttled_s)
}

impl QuotaGroups {
    /// Those of process `pid`: each group that it is in, and those above.
    pub(crate) fn of(pid: i32) -> Self {
        let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
        let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap_or_default();
        let all = dirs(&mounts, &groups);
        let seen = all.iter().any(|dir| dir.is_dir());
        Self { dirs: all.into_iter().filter(|dir| has_quota(dir)).collect(), seen }
    }

    /// Whether there may be a quota that nobody sees.
    pub(crate) const fn are_unknown(&self) -> bool {
        !self.seen
    }

    /// `None` where there is no quota.
    pub(crate) fn read(&self) -> Option<QuotaReading> {
        let readings = self.dirs.iter().map(|dir| QuotaReading {
            cores: cores(dir),
            throttled_s: throttled_s(&fs::read_to_string(dir.join("cpu.stat")).unwrap_or_default()),
        });
        readings.reduce(|a, b| QuotaReading {
            cores: match (a.cores, b.cores) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            },
            throttled_s: a.throttled_s + b.throttled_s,
        })
    }
}

/// The folders of the groups in `groups` that have to do with CPU time, and of those above, by where `mounts` has them.
fn dirs(mounts: &str, groups: &str) -> Vec<PathBuf> {
    let mount = |v2: bool| {
        mounts.lines().find_map(|line| {
            let fields: Vec<&str> = line.split(' ').collect();
            let [_, at, kind, options, ..] = fields[..] else { return None };
            let fits = if v2 {
                kind == "cgroup2"
            } else {
                kind == "cgroup" && options.split(',').any(|option| option == "cpu")
            };
            fits.then(|| PathBuf::from(at))
        })
    };
    let mut all = Vec::new();
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let v2 = controllers.is_empty();
        if !v2 && !controllers.split(',').any(|controller| controller == "cpu") {
            continue;
        }
        // That of another container is told as it lies beside our own, where nothing of it is to be seen.
        if Path::new(path).components().any(|it| it == Component::ParentDir) {
            continue;
        }
        let Some(root) = mount(v2) else { continue };
        let whole = root.join(path.trim_start_matches('/'));
        all.extend(whole.ancestors().take_while(|dir| dir.starts_with(&root)).map(Path::to_owned));
    }
    all
}

fn has_quota(dir: &Path) -> bool {
    cores(dir).is_some()
}

fn cores(dir: &Path) -> Option<f64> {
    let read = |name: &str| fs::read_to_string(dir.join(name)).ok();
    if let Some(text) = read("cpu.max") {
        let (quota, period) = text.trim().split_once(' ')?;
        return ratio(quota, period);
    }
    ratio(read("cpu.cfs_quota_us")?.trim(), read("cpu.cfs_period_us")?.trim())
}

/// `None` of `max` and of -1, which mean none.
fn ratio(quota: &str, period: &str) -> Option<f64> {
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
    (quota > 0.0 && period > 0.0).then(|| quota / period)
}

fn throttled_s(stat: &str) -> f64 {
    let number = |key: &str| {
        let line = stat.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim().parse::<f64>().ok()
    };
    number("throttled_usec ")
        .map(|micros| micros / 1e6)
        .or_else(|| Some(number("throttled_time ")? / 1e9))
        .unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_both_hierarchies_and_those_above_are_looked_at() {
        let mounts = "cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct 0 0\n\
            cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        let groups = "4:memory:/x\n1:cpu,cpuacct:/a/b\n0::/c\n";
        let names: Vec<String> =
            dirs(mounts, groups).iter().map(|dir| dir.to_string_lossy().into_owned()).collect();
        assert_eq!(
            names,
            [
                "/sys/fs/cgroup/cpu,cpuacct/a/b",
                "/sys/fs/cgroup/cpu,cpuacct/a",
                "/sys/fs/cgroup/cpu,cpuacct",
                "/sys/fs/cgroup/unified/c",
                "/sys/fs/cgroup/unified"
            ]
        );
    }

    /// Else the group of whoever looks would be taken for it.
    #[test]
    fn a_group_that_lies_outside_of_what_is_shown_is_not_known() {
        let mounts = "cgroup2 /sys/fs/cgroup cgroup2 ro 0 0\n";
        assert_eq!(dirs(mounts, "0::/../cri-containerd-shop.scope\n"), Vec::<PathBuf>::new());
        assert_eq!(dirs(mounts, "0::/\n"), [PathBuf::from("/sys/fs/cgroup")]);
    }

    #[test]
    fn no_quota_is_none() {
        assert_eq!(ratio("max", "100000"), None);
        assert_eq!(ratio("-1", "100000"), None);
        assert_eq!(ratio("50000", "100000"), Some(0.5));
    }

    #[test]
    fn throttled_time_has_a_unit_of_its_own_in_each_hierarchy() {
        let close = |stat: &str, seconds: f64| (throttled_s(stat) - seconds).abs() < 1e-9;
        assert!(close("nr_periods 5\nthrottled_usec 1500000\n", 1.5));
        assert!(close("nr_throttled 2\nthrottled_time 1500000000\n", 1.5));
        assert!(close("usage_usec 7\n", 0.0));
    }
}
