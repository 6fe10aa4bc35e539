//! What the sampler's thread does: it looks at everything, at what is dear as seldom as that demands.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};

use record::{HostReading, ProcessReading};
use units::{Duration, Instant};

use super::{Jvm, Limits, Reading, Sampled, Subject, ThreadReading, Watched, cpu_of};
use crate::asked::FarEnds;
use crate::clock::{now, thread_cpu};
use crate::cpu::CpuReading;
use crate::diag::Diag;
use crate::open_files::{self, FileLimits};
use crate::others::Others;
use crate::process_set::ProcessSet;
use crate::quota::{QuotaGroups, QuotaReading};
use crate::threads::{self, Thread};
use crate::{accounting, links, machine, network, process, runtime};

/// How often what is cheap is read.
const PERIOD: Duration = Duration::from_millis(100);
/// The parts of the budget for what costs the more the more there is of it.
const THREADS_CORES: f64 = 0.005;
const SOCKETS_CORES: f64 = 0.002;
const OTHERS_CORES: f64 = 0.001;
const ASKED_CORES: f64 = 0.001;
/// Readings kept: over half an hour. What comes later is not watched, and said.
const READINGS_MAX: usize = 20_000;

/// When something dear may be read again.
#[derive(Debug)]
struct Pace {
    cores: f64,
    next: Instant,
}

impl Pace {
    const fn new(cores: f64) -> Self {
        Self { cores, next: Instant::ORIGIN }
    }

    fn spent(&mut self, now: Instant, cost: Duration) {
        self.next = now + Duration::from_secs_f64(cost.as_secs_f64() / self.cores);
    }
}

pub(super) struct Watch {
    subjects: Vec<Subject>,
    /// Those that we may use.
    cores: BTreeSet<usize>,
    own: i32,
    /// What makes the load, where it is not this process.
    generator: Option<ProcessSet>,
    /// Its CPU time at the last look, user and system, seconds.
    generator_cpu_s: (f64, f64),
    /// The same of each subject.
    servers_cpu_s: Vec<(f64, f64)>,
    quotas: Vec<QuotaGroups>,
    own_quota: QuotaGroups,
    /// Of each subject.
    file_limits: Vec<FileLimits>,
    diag: Option<Diag>,
    threads: Pace,
    sockets: Pace,
    others: Others,
    others_pace: Pace,
    /// Of each subject.
    far_ends: Vec<FarEnds>,
    asked_pace: Pace,
    sampled: Sampled,
}

impl Watch {
    pub(super) fn new(subjects: Vec<Subject>, generator: Option<ProcessSet>, cores: BTreeSet<usize>) -> Self {
        let own = std::process::id().cast_signed();
        let names = vec![BTreeMap::new(); subjects.len() + 1];
        let mut sampled = Sampled {
            names,
            is_foreign: generator.is_some(),
            interrupts_within: accounting::interrupts_are_within(),
            links: links::all(),
            ..Sampled::default()
        };
        let diag = Diag::open()
            .map_err(|why| {
                sampled.not_known.insert(format!("accept queues and sockets: socket diagnosis ({why})"))
            })
            .ok();
        let first: Vec<Option<i32>> =
            subjects.iter().map(|subject| subject.processes.pids().first().copied()).collect();
        let quotas: Vec<QuotaGroups> =
            first.iter().map(|pid| pid.map(QuotaGroups::of).unwrap_or_default()).collect();
        sampled.limits =
            quotas.iter().map(|quota| Limits { quota_cores: quota.read().and_then(|it| it.cores) }).collect();
        if quotas.iter().any(QuotaGroups::are_unknown) {
            sampled.not_known.insert("CPU quotas: the control groups of the server".into());
        }
        let file_limits = subjects.iter().map(|_| FileLimits::default()).collect();
        let far_ends = subjects.iter().map(|_| FarEnds::default()).collect();
        let servers_cpu_s = vec![(0.0, 0.0); subjects.len()];
        Self {
            subjects,
            cores,
            own,
            generator,
            generator_cpu_s: (0.0, 0.0),
            servers_cpu_s,
            quotas,
            own_quota: QuotaGroups::of(own),
            file_limits,
            diag,
            threads: Pace::new(THREADS_CORES),
            sockets: Pace::new(SOCKETS_CORES),
            others: Others::default(),
            others_pace: Pace::new(OTHERS_CORES),
            far_ends,
            asked_pace: Pace::new(ASKED_CORES),
            sampled,
        }
    }

    pub(super) fn until(
        mut self,
        stop: &AtomicBool,
        shared: &Mutex<Option<CpuReading>>,
        looked: &mpsc::SyncSender<()>,
    ) -> Sampled {
        let begun = thread_cpu();
        let mut next = now();
        loop {
            let last = stop.load(Ordering::Acquire);
            self.take(last);
            let reading = self.sampled.readings.last().map(cpu_of);
            *shared.lock().unwrap_or_else(PoisonError::into_inner) = reading;
            // There is room for the first; nobody waits for those after it.
            let _ = looked.try_send(());
            self.sampled.cost = thread_cpu().saturating_sub(begun);
            if last {
                return self.sampled;
            }
            next = (next + PERIOD).max(now());
            while now() < next && !stop.load(Ordering::Acquire) {
                std::thread::park_timeout(next.since(now()).into());
            }
        }
    }

    fn take(&mut self, last: bool) {
        if self.sampled.readings.len() >= READINGS_MAX {
            self.sampled.not_known.insert(format!("anything after the first {READINGS_MAX} readings"));
            return;
        }
        let at = now();
        let mut host = HostReading { network: network::read(), ..HostReading::default() };
        if host.network.is_empty() {
            self.sampled.not_known.insert("the network's counts: /proc/net/netstat".into());
        }
        self.sampled
            .not_known
            .extend(machine::read_into(&mut host, &self.cores).into_iter().map(str::to_owned));
        host.links = links::read(&self.sampled.links);
        let (threads, sockets) = (last || at >= self.threads.next, last || at >= self.sockets.next);
        let all_pids: Vec<Vec<i32>> = self.subjects.iter().map(|it| it.processes.pids()).collect();
        let mut servers: Vec<Watched> =
            (0..all_pids.len()).map(|at| self.server(at, &all_pids[at])).collect();
        let before = thread_cpu();
        let generator = self.generator(threads);
        if threads {
            for (index, (server, pids)) in servers.iter_mut().zip(&all_pids).enumerate() {
                server.threads = Some(self.threads_of(index + 1, pids));
            }
            self.threads.spent(at, thread_cpu().saturating_sub(before));
        }
        if sockets {
            let before = thread_cpu();
            for (server, port) in servers.iter_mut().zip(self.subjects.iter().map(|it| it.port)) {
                let seen = self.diag.as_mut().and_then(|diag| diag.sockets(port).ok());
                server.reading.unread = seen.as_ref().map(|it| it.unread);
                server.reading.unacknowledged = seen.as_ref().map(|it| it.unacknowledged);
                server.reading.sockets = seen.map(|it| it.by_state);
            }
            self.sockets.spent(at, thread_cpu().saturating_sub(before));
        }
        let others = (last || at >= self.others_pace.next).then(|| {
            let before = thread_cpu();
            let used = self.look_at_others(&all_pids);
            self.others_pace.spent(at, thread_cpu().saturating_sub(before));
            used
        });
        if last || at >= self.asked_pace.next {
            let before = thread_cpu();
            self.look_at_far_ends(&all_pids);
            self.asked_pace.spent(at, thread_cpu().saturating_sub(before));
        }
        if last {
            self.sampled.asks = self.far_ends.iter().map(FarEnds::told).collect();
            self.sampled.runtimes = all_pids.iter().map(|pids| runtime::of_processes(pids)).collect();
        }
        self.sampled.readings.push(Reading { at, host, generator, servers, others });
    }

    /// All processes but those that are watched and this one.
    fn look_at_others(&mut self, subjects: &[Vec<i32>]) -> BTreeMap<String, Duration> {
        let generator = self.generator.iter().flat_map(|it| it.pids().into_iter().chain([it.leader]));
        let leaders = self.subjects.iter().map(|it| it.processes.leader);
        let ours: BTreeSet<i32> =
            subjects.iter().flatten().copied().chain(leaders).chain(generator).chain([self.own]).collect();
        self.others.look(|pid| ours.contains(&pid))
    }

    /// Whom the subjects ask who are none of them.
    fn look_at_far_ends(&mut self, subjects: &[Vec<i32>]) {
        let Some(diag) = &mut self.diag else { return };
        let watched: BTreeSet<u16> = self.subjects.iter().map(|it| it.port).collect();
        for (ends, pids) in self.far_ends.iter_mut().zip(subjects) {
            // What the kernel refuses to tell now it may tell at the next look; that it refuses is said of the accept queues.
            let _ = ends.look(pids, &watched, diag);
        }
    }

    fn generator(&mut self, threads: bool) -> Watched {
        let Some(program) = &self.generator else { return self.own(threads) };
        let pids = program.pids();
        let mut reading = usage(&pids);
        if let Ok((user, system)) = program.cpu(&pids) {
            self.generator_cpu_s = no_less(self.generator_cpu_s, (user, system));
        }
        (reading.cpu_user_s, reading.cpu_system_s) = self.generator_cpu_s;
        // Once it has ended there is nothing to look at; before, its threads may be many.
        let due = threads && !pids.is_empty();
        Watched { reading, threads: due.then(|| self.threads_of(0, &pids)), ..Watched::default() }
    }

    /// This process. Its threads are few.
    fn own(&mut self, threads: bool) -> Watched {
        let pids = [self.own];
        let mut reading = usage(&pids);
        if let Some((user, system)) = process::Process::of(self.own).map(|process| process.cpu()) {
            (reading.cpu_user_s, reading.cpu_system_s) = (user.as_secs_f64(), system.as_secs_f64());
        }
        reading.throttled_s = self.own_quota.read().map(|it| it.throttled_s);
        Watched { reading, threads: threads.then(|| self.threads_of(0, &pids)), ..Watched::default() }
    }

    fn server(&mut self, index: usize, pids: &[i32]) -> Watched {
        let mut reading = usage(pids);
        let subject = &self.subjects[index];
        if let Ok((user, system)) = subject.processes.cpu(pids) {
            self.servers_cpu_s[index] = no_less(self.servers_cpu_s[index], (user, system));
        }
        (reading.cpu_user_s, reading.cpu_system_s) = self.servers_cpu_s[index];
        reading.disk_wait_s = subject
            .processes
            .cgroup
            .as_ref()
            .and_then(|dir| machine::total_s(&fs::read_to_string(dir.join("io.pressure")).ok()?));
        reading.throttled_s = self.quotas[index].read().map(|QuotaReading { throttled_s, .. }| throttled_s);
        let jvms = pids.iter().filter_map(|pid| Jvm::of(*pid)).collect();
        let mut fullest = None;
        match self.diag.as_mut().map(|diag| diag.accept_queue(subject.port)) {
            Some(Ok(Some(queues))) => {
                let all = queues.all;
                (reading.accept_queue, reading.accept_queue_limit) = (Some(all.waiting), Some(all.limit));
                fullest = Some(queues.fullest);
            }
            Some(Err(why)) => {
                self.sampled.not_known.insert(format!("accept queues and sockets: socket diagnosis ({why})"));
                self.diag = None;
            }
            Some(Ok(None)) | None => {}
        }
        if reading.disk_write_bytes.is_none() && !pids.is_empty() {
            self.sampled.not_known.insert("bytes written to disks: /proc/PID/io (not permitted)".into());
        }
        let files = self.file_limits[index].nearest(pids);
        Watched { reading, threads: None, fullest, files, jvms }
    }

    fn threads_of(&mut self, names: usize, pids: &[i32]) -> Vec<ThreadReading> {
        let names = &mut self.sampled.names[names];
        let all = pids.iter().flat_map(|pid| threads::of_process(*pid).into_iter().map(|it| (*pid, it)));
        all.map(|(process, Thread { id, name, runnable, cpu, waited, switches })| {
            // Most names are known and stay.
            if names.get(&id) != Some(&name) {
                names.insert(id, name);
            }
            ThreadReading { id, process, runnable, cpu, waited, switches }
        })
        .collect()
    }
}

/// CPU time, user and system, seconds, after what it was before: without a control group the time of what has ended is gone
/// with it.
fn no_less(before_s: (f64, f64), (user, system): (Duration, Duration)) -> (f64, f64) {
    (user.as_secs_f64().max(before_s.0), system.as_secs_f64().max(before_s.1))
}

/// What is cheap to ask of processes.
fn usage(pids: &[i32]) -> ProcessReading {
    let sum = |of: fn(i32) -> Option<u64>| -> Option<u64> {
        pids.iter().filter_map(|pid| of(*pid)).reduce(|sum, it| sum + it)
    };
    let resident = pids.iter().filter_map(|pid| process::resident(*pid)).reduce(process::Resident::and);
    let disk = pids.iter().filter_map(|pid| disk_bytes(*pid)).reduce(|a, b| (a.0 + b.0, a.1 + b.1));
    ProcessReading {
        rss_bytes: resident.map_or(0, |it| it.all),
        anonymous_bytes: resident.map(|it| it.anonymous),
        threads: sum(thread_count).unwrap_or(0) as u32,
        // Each has a limit of its own.
        open_files: pids.iter().filter_map(|pid| open_files::count(*pid)).max(),
        disk_read_bytes: disk.map(|(read, _)| read),
        disk_write_bytes: disk.map(|(_, written)| written),
        ..ProcessReading::default()
    }
}

/// The links of a process's `task` folder: one for each thread, and two more.
fn thread_count(pid: i32) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    Some(fs::metadata(format!("/proc/{pid}/task")).ok()?.nlink().saturating_sub(2))
}

/// Bytes that a process had from disks, and those that it sent towards them.
fn disk_bytes(pid: i32) -> Option<(u64, u64)> {
    read_and_written(&fs::read_to_string(format!("/proc/{pid}/io")).ok()?)
}

/// The same of its `io` file, where what it withdrew again (`cancelled_write_bytes`) and what never went to a disk (`rchar`) have lines
/// of their own.
fn read_and_written(io: &str) -> Option<(u64, u64)> {
    let of = |name: &str| -> Option<u64> {
        io.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
    };
    Some((of("read_bytes:")?, of("write_bytes:")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_from_a_disk_is_told_from_what_went_to_one() {
        let io = "rchar: 9000\nwchar: 70\nread_bytes: 8192\nwrite_bytes: 4096\ncancelled_write_bytes: 1024\n";
        assert_eq!(read_and_written(io), Some((8_192, 4_096)));
        assert_eq!(read_and_written("rchar: 9000\n"), None);
    }

    #[test]
    fn what_is_dear_is_read_as_seldom_as_its_cost_demands() {
        let mut pace = Pace::new(0.01);
        pace.spent(Instant::ORIGIN, Duration::from_millis(10));
        assert_eq!(pace.next, Instant::ORIGIN + Duration::from_secs(1));
    }
}
