//! Sets of cores, as Linux writes them, and which of them something may run on.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// How often threads are looked through until none is left that was started meanwhile.
const PASSES_MAX: u32 = 20;

/// Cores by number.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cpus(BTreeSet<usize>);

impl Cpus {
    /// Those that the calling thread may run on.
    pub fn of_this_thread() -> Self {
        Self::of_set(&sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new()))
    }

    /// Those of a list as Linux writes it: `0-1,4`.
    pub fn listed(list: &str) -> Option<Self> {
        parse(list)
    }

    /// The first half of them by number, which is the smaller one, and the rest. `None` of fewer than two.
    pub(crate) fn halves(&self) -> Option<(Self, Self)> {
        let half = self.0.len() / 2;
        let (first, rest) = (self.0.iter().take(half), self.0.iter().skip(half));
        (half > 0).then(|| (first.copied().collect(), rest.copied().collect()))
    }

    /// Whether every core of these is one of `others`, and there is one.
    pub fn is_within(&self, others: &Self) -> bool {
        !self.0.is_empty() && self.0.is_subset(&others.0)
    }

    /// Their numbers.
    pub fn numbers(&self) -> BTreeSet<usize> {
        self.0.clone()
    }

    /// How many they are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Keeps the calling thread on these cores, and every thread and process that it starts from then on.
    pub fn keep_this_thread(&self) -> std::io::Result<()> {
        Ok(sched_setaffinity(None, &self.set())?)
    }

    /// The same of process `pid`, which must have one thread so far.
    pub(crate) fn keep(&self, pid: u32) -> std::io::Result<()> {
        let pid = Pid::from_raw(pid.cast_signed()).ok_or(rustix::io::Errno::SRCH)?;
        Ok(sched_setaffinity(Some(pid), &self.set())?)
    }

    /// Lets each thread of process `pid` run on these cores that may run on exactly `from` now; who chose other cores keeps
    /// its choice. Threads that are started meanwhile are of the thread that starts them, so it is done until none is left;
    /// who dies meanwhile needs no core.
    pub(crate) fn take_from(&self, from: &Self, pid: i32) {
        for _ in 0..PASSES_MAX {
            let moved: Vec<bool> = tasks(pid).map(|task| self.take_one_from(from, task)).collect();
            if !moved.contains(&true) {
                return;
            }
        }
    }

    fn take_one_from(&self, from: &Self, task: Pid) -> bool {
        sched_getaffinity(Some(task)).is_ok_and(|set| Self::of_set(&set) == *from)
            && sched_setaffinity(Some(task), &self.set()).is_ok()
    }

    fn of_set(set: &CpuSet) -> Self {
        (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
    }

    fn set(&self) -> CpuSet {
        let mut set = CpuSet::new();
        self.0.iter().filter(|cpu| **cpu < CpuSet::MAX_CPU).for_each(|cpu| set.set(*cpu));
        set
    }

    /// Adds every core that a thread of process `pid` may run on.
    pub(crate) fn add_those_of(&mut self, pid: i32) {
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().filter_map(Result::ok);
        for task in tasks {
            let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
            let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
            self.0.extend(list.and_then(parse).unwrap_or_default().0);
        }
    }
}

/// The threads of process `pid` now.
fn tasks(pid: i32) -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().filter_map(Result::ok);
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
}

impl FromIterator<usize> for Cpus {
    fn from_iter<I: IntoIterator<Item = usize>>(cpus: I) -> Self {
        Self(cpus.into_iter().collect())
    }
}

impl Extend<Cpus> for Cpus {
    fn extend<I: IntoIterator<Item = Cpus>>(&mut self, all: I) {
        all.into_iter().for_each(|cpus| self.0.extend(cpus.0));
    }
}

/// `0-1,4`, as Linux lists cores.
impl fmt::Display for Cpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<usize> = self.0.iter().copied().collect();
        for (index, run) in all.chunk_by(|a, b| a + 1 == *b).enumerate() {
            let comma = if index > 0 { "," } else { "" };
            match run {
                [one] => write!(f, "{comma}{one}")?,
                [first, .., last] => write!(f, "{comma}{first}-{last}")?,
                [] => {}
            }
        }
        Ok(())
    }
}

/// A list as Linux writes it.
pub(crate) fn parse(list: &str) -> Option<Cpus> {
    let mut cpus = BTreeSet::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if last >= CpuSet::MAX_CPU {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(Cpus(cpus))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_they_are_written() {
        for text in ["0", "0-1", "0-1,4", "0,2,4-7"] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
        for wrong in ["", "a", "1-", "0-99999999"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn threads_go_from_one_set_to_another_and_who_chose_its_own_stays() {
        let all = Cpus::of_this_thread();
        let Some((one, other)) = all.halves() else { return };
        let (ready, tell) = std::sync::mpsc::channel();
        let (go_on, wait) = std::sync::mpsc::channel::<()>();
        let threads = [one.clone(), other.clone()].map(|cpus| (cpus, ready.clone()));
        let own = rustix::process::getpid().as_raw_nonzero().get();
        std::thread::scope(|scope| {
            let wait = std::sync::Arc::new(std::sync::Mutex::new(wait));
            for (cpus, ready) in threads {
                let wait = wait.clone();
                scope.spawn(move || {
                    cpus.keep_this_thread().unwrap();
                    ready.send((rustix::thread::gettid(), cpus)).unwrap();
                    let _ = wait.lock().unwrap().recv();
                });
            }
            let told: Vec<(Pid, Cpus)> = tell.iter().take(2).collect();
            let of = |task: Pid| Cpus::of_set(&sched_getaffinity(Some(task)).unwrap());
            all.take_from(&one, own);
            for (task, chosen) in &told {
                assert_eq!(of(*task), if *chosen == one { all.clone() } else { other.clone() });
            }
            drop(go_on);
        });
    }

    #[test]
    fn the_second_half_is_the_larger_one() {
        let halves = |text: &str| {
            let (first, rest) = parse(text).unwrap().halves()?;
            Some((first.to_string(), rest.to_string()))
        };
        assert_eq!(halves("0-1"), Some(("0".into(), "1".into())));
        assert_eq!(halves("0-2"), Some(("0".into(), "1-2".into())));
        assert_eq!(halves("0"), None);
    }
}
