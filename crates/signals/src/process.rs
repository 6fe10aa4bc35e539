//! Processes, as `/proc` shows them.

use std::collections::{BTreeMap, HashSet};
use std::fs;

use units::Duration;

use crate::group_name::group_name;

/// One line of `/proc/<pid>/stat`. Times are in clock ticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: i32,
    parent: i32,
    group: i32,
    state: u8,
    user_ticks: u64,
    system_ticks: u64,
}

impl Process {
    /// The process `pid`, if there is one.
    pub fn of(pid: i32) -> Option<Self> {
        // Its name is what it chose, and the kernel keeps 15 bytes of it, half a letter at the end if need be: it may be no text.
        Self::parse(&String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/stat")).ok()?))
    }

    fn parse(stat: &str) -> Option<Self> {
        let pid = stat.split(' ').next()?.parse().ok()?;
        // The name in parentheses may hold anything, parentheses included.
        let fields: Vec<&str> = stat[stat.rfind(')')? + 1..].split_whitespace().collect();
        let ticks = |index: usize| fields.get(index)?.parse::<u64>().ok();
        Some(Self {
            pid,
            state: *fields.first()?.as_bytes().first()?,
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            // Its own time, and that of children it has waited for.
            user_ticks: ticks(11)? + ticks(13)?,
            system_ticks: ticks(12)? + ticks(14)?,
        })
    }

    /// Ended, and only waits to be waited for.
    pub fn is_dead(&self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }

    /// User and system time, with that of the children it has waited for.
    pub fn cpu(&self) -> (Duration, Duration) {
        let per_second = rustix::param::clock_ticks_per_second();
        let time = |ticks: u64| Duration::from_secs(ticks) / per_second;
        (time(self.user_ticks), time(self.system_ticks))
    }
}

/// Every process there is.
fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| Process::of(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// The live processes that descend from `root` or are in the process group it leads, without `root` itself.
pub fn tree(root: i32) -> Vec<Process> {
    tree_among(root, all())
}

fn tree_among(root: i32, processes: Vec<Process>) -> Vec<Process> {
    let mut members: HashSet<i32> =
        processes.iter().filter(|process| process.group == root).map(|process| process.pid).collect();
    members.insert(root);
    loop {
        let before = members.len();
        members.extend(
            processes
                .iter()
                .filter(|process| members.contains(&process.parent))
                .map(|process| process.pid)
                .collect::<Vec<_>>(),
        );
        if members.len() == before {
            break;
        }
    }
    processes
        .into_iter()
        .filter(|process| process.pid != root && members.contains(&process.pid) && !process.is_dead())
        .collect()
}

/// Resident memory of a process, or of several, bytes; pages shared with others are counted in each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Resident {
    /// All of it.
    pub(crate) all: u64,
    /// What no file stands behind: heap and stacks. Of what is mapped from files, and shared under a name, the kernel keeps as much
    /// as it has room for, whoever reads it.
    pub(crate) anonymous: u64,
}

impl Resident {
    /// As `/proc/<pid>/statm` has it, in pages: those of files and of shared memory are the third of its numbers (`RssFile` and
    /// `RssShmem` of `status`, which takes longer to write).
    fn parse(statm: &str, page_bytes: u64) -> Option<Self> {
        let mut pages = statm.split_whitespace().skip(1).map(str::parse::<u64>);
        let (all, of_files) = (pages.next()?.ok()?, pages.next()?.ok()?);
        Some(Self { all: all * page_bytes, anonymous: all.saturating_sub(of_files) * page_bytes })
    }

    /// That of both.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self { all: self.all + other.all, anonymous: self.anonymous + other.anonymous }
    }
}

/// Resident memory of `pid`; `None` where there is no such process.
pub(crate) fn resident(pid: i32) -> Option<Resident> {
    let statm = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    Resident::parse(&statm, rustix::param::page_size() as u64)
}

/// Resident memory of `pid` in bytes; pages shared with others are counted in each.
pub fn rss_bytes(pid: i32) -> u64 {
    resident(pid).map_or(0, |it| it.all)
}

/// Counts the threads of `pid` under the names of their groups.
pub fn count_threads(pid: i32, groups: &mut BTreeMap<String, u32>) {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().filter_map(Result::ok);
    for task in tasks {
        // A thread may end between the listing and this.
        if let Ok(name) = fs::read(task.path().join("comm")) {
            let name = String::from_utf8_lossy(&name);
            *groups.entry(group_name(name.trim_end_matches('\n'))).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_parentheses_and_blanks() {
        let stat = "42 (a) b (c)) S 7 9 9 0 -1 4194560 1 2 3 4 100 20 3 1 20 0 1 0 5 6 7";
        let process = Process::parse(stat).unwrap();
        assert_eq!((process.pid, process.parent, process.group, process.state), (42, 7, 9, b'S'));
        assert_eq!((process.user_ticks, process.system_ticks), (103, 21));
    }

    /// Nine Cyrillic letters are 18 bytes, of which the kernel keeps 15: seven letters and a half.
    #[test]
    fn a_name_need_not_be_text() {
        let (tells, told) = std::sync::mpsc::channel();
        let (ends, ended) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::Builder::new().name("серверный".into()).spawn(move || {
            tells.send(rustix::thread::gettid().as_raw_pid()).unwrap();
            // Until the other end is gone.
            let _ = ended.recv();
        });
        let id = told.recv().unwrap();
        let own = std::process::id().cast_signed();
        assert!(fs::read_to_string(format!("/proc/{own}/task/{id}/comm")).is_err(), "it is text");
        let process = Process::of(id).unwrap();
        let mut groups = BTreeMap::new();
        count_threads(own, &mut groups);
        drop(ends);
        thread.unwrap().join().unwrap();
        assert!(process.pid == id && !process.is_dead(), "{process:?}");
        assert_eq!(groups.iter().filter(|(name, _)| name.starts_with("серверн")).count(), 1, "{groups:?}");
    }

    /// A search engine with its index mapped: of 300 pages 280 are those of files.
    #[test]
    fn pages_of_files_are_not_what_a_process_holds() {
        let told = Resident::parse("5000 300 280 10 0 400 0\n", 4096).unwrap();
        assert_eq!((told.all, told.anonymous), (300 * 4096, 20 * 4096));
        assert_eq!(told.and(told).anonymous, 40 * 4096);
        // Counts of several cores are not of one moment.
        assert_eq!(Resident::parse("5000 300 301 10 0 400 0", 1).map(|it| it.anonymous), Some(0));
        assert_eq!((Resident::parse("", 1), Resident::parse("5000 300", 1)), (None, None));
        let own = resident(std::process::id().cast_signed()).unwrap();
        assert!((1..own.all).contains(&own.anonymous), "its program is a file: {own:?}");
    }

    #[test]
    fn a_tree_holds_descendants_and_the_group_but_not_the_dead() {
        let process =
            |pid, parent, group, state| Process { pid, parent, group, state, user_ticks: 0, system_ticks: 0 };
        let processes = vec![
            process(1, 0, 1, b'S'),
            process(14, 13, 14, b'S'),
            process(10, 1, 10, b'S'),
            process(11, 10, 10, b'S'),
            process(13, 11, 13, b'S'),
            process(12, 1, 10, b'S'),
            process(15, 11, 10, b'Z'),
            process(16, 1, 16, b'S'),
        ];
        let mut pids: Vec<i32> = tree_among(10, processes).iter().map(|process| process.pid).collect();
        pids.sort_unstable();
        assert_eq!(pids, [11, 12, 13, 14]);
    }
}
