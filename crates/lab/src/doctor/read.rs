//! Readings of this machine, each unknown where it can't be read.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rustix::fs::{Access, access};
use signals::OtherProcesses;
use stack::{Cpus, PhysicalCores};

use super::{Cgroup, Machine, PortRange, open_file_limit};
use crate::tools;

const PROCESSORS: &str = "/sys/devices/system/cpu";
const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

impl Machine {
    /// Reads this machine. Takes as long as the slowest tool takes to say its version, bounded by a few seconds.
    pub fn read() -> Self {
        let others = OtherProcesses::look();
        let cores = PhysicalCores::of(&Cpus::of_this_thread());
        Self {
            open_files: Some(open_file_limit()),
            ports: file("/proc/sys/net/ipv4/ip_local_port_range").and_then(|text| port_range(&text)),
            accept_queue_max: number("/proc/sys/net/core/somaxconn"),
            syn_queue_max: number("/proc/sys/net/ipv4/tcp_max_syn_backlog"),
            syn_cookies: number("/proc/sys/net/ipv4/tcp_syncookies"),
            time_wait_reuse: number("/proc/sys/net/ipv4/tcp_tw_reuse"),
            cores: std::thread::available_parallelism().ok().and_then(|cores| cores.get().try_into().ok()),
            physical_cores: Some(cores.count()),
            unlike_cores: cores.unlike(),
            governors: governors(),
            io_uring_refused: driver::probe_uring(1).err(),
            cgroup: cgroup(),
            cpu_pressure_pct: file("/proc/pressure/cpu").and_then(|text| pressure_pct(&text)),
            steal_pct: file("/proc/stat").and_then(|text| steal_pct(&text)),
            clock_source: file(CLOCK_SOURCE).map(|text| text.trim().to_owned()),
            swap_used_kib: file("/proc/meminfo").and_then(|text| swap_used_kib(&text)),
            load_average: file("/proc/loadavg").and_then(|text| word(&text, 0)),
            tools: tools::look_for_all(&tools::ALL),
            // Looked at again now that the tools were, which takes a while.
            others: Some(others.most()),
        }
    }
}

fn file(path: impl AsRef<Path>) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn number(path: &str) -> Option<u64> {
    file(path).and_then(|text| word(&text, 0))
}

/// Word `index` of `text`.
fn word<T: FromStr>(text: &str, index: usize) -> Option<T> {
    text.split_whitespace().nth(index)?.parse().ok()
}

fn port_range(text: &str) -> Option<PortRange> {
    Some(PortRange { first: word(text, 0)?, last: word(text, 1)? })
}

fn governors() -> Vec<String> {
    let processors = fs::read_dir(PROCESSORS).into_iter().flatten().flatten();
    let found = processors.filter_map(|entry| file(entry.path().join("cpufreq/scaling_governor")));
    let each_once: BTreeSet<String> = found.map(|text| text.trim().to_owned()).collect();
    each_once.into_iter().collect()
}

fn cgroup() -> Option<Cgroup> {
    let dir = cgroup_dir(&file("/proc/mounts")?, &file("/proc/self/cgroup")?)?;
    // A process is moved by writing to the file of both groups' common parent, which is this one.
    let writable = access(&dir, Access::WRITE_OK | Access::EXEC_OK).is_ok()
        && access(dir.join("cgroup.procs"), Access::WRITE_OK).is_ok();
    Some(Cgroup { dir, writable })
}

/// The v2 group, which is hierarchy 0, below the mount of type cgroup2.
fn cgroup_dir(mounts: &str, groups: &str) -> Option<PathBuf> {
    let mount = mounts.lines().find(|line| line.split(' ').nth(2) == Some("cgroup2"))?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(Path::new(mount.split(' ').nth(1)?).join(group))
}

/// `avg10` of the line `some avg10=1.53 avg60=1.87 avg300=1.73 total=1088168194`.
fn pressure_pct(text: &str) -> Option<f64> {
    let some = text.lines().find(|line| line.starts_with("some "))?;
    some.split(' ').find_map(|field| field.strip_prefix("avg10="))?.parse().ok()
}

/// From the line of all processors: user, nice, system, idle, iowait, irq, softirq, steal, and guest times, which
/// user time contains.
fn steal_pct(stat: &str) -> Option<f64> {
    const STEAL: usize = 7;
    let all = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let ticks: Vec<f64> =
        all.split_whitespace().take(STEAL + 1).filter_map(|tick| tick.parse().ok()).collect();
    let total: f64 = ticks.iter().sum();
    let steal = *ticks.get(STEAL)?;
    (total > 0.0).then(|| 100.0 * steal / total)
}

fn swap_used_kib(meminfo: &str) -> Option<u64> {
    let kib = |name: &str| meminfo.lines().find_map(|line| word::<u64>(line.strip_prefix(name)?, 0));
    Some(kib("SwapTotal:")?.saturating_sub(kib("SwapFree:")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_kernel_s_formats() {
        assert_eq!(port_range("32768\t60999\n"), Some(PortRange { first: 32_768, last: 60_999 }));
        let pressure =
            "some avg10=1.53 avg60=1.87 avg300=1.73 total=9\nfull avg10=0.00 avg60=0 avg300=0 total=0\n";
        assert_eq!(pressure_pct(pressure), Some(1.53));
        assert_eq!(steal_pct("cpu  50 0 20 20 0 0 0 10 5 5\ncpu0 1 1 1 1 1 1 1 1 0 0\n"), Some(10.0));
        assert_eq!(swap_used_kib("SwapCached: 1 kB\nSwapTotal:  100 kB\nSwapFree:  60 kB\n"), Some(40));
    }

    #[test]
    fn what_is_not_there_is_unknown() {
        assert_eq!(port_range("32768"), None);
        assert_eq!(pressure_pct(""), None);
        assert_eq!(steal_pct("cpu  1 2 3 4\n"), None);
        assert_eq!(steal_pct("cpu  0 0 0 0 0 0 0 0\n"), None);
        assert_eq!(swap_used_kib("MemTotal: 1 kB"), None);
    }

    #[test]
    fn finds_the_group_in_pure_and_mixed_hierarchies() {
        let dir = |mounts, groups| cgroup_dir(mounts, groups);
        let pure = "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n";
        assert_eq!(dir(pure, "0::/user.slice/a\n"), Some("/sys/fs/cgroup/user.slice/a".into()));
        let mixed =
            "cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n";
        assert_eq!(dir(mixed, "4:memory:/x\n0::/\n"), Some("/sys/fs/cgroup/unified".into()));
        assert_eq!(dir("tmpfs /sys/fs/cgroup tmpfs rw 0 0\n", "0::/\n"), None);
    }
}
