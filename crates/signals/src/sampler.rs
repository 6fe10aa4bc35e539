//! The sampler: a thread that reads everything ten times a second, and what is dear as often as its budget allows.

mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;

use record::{Asked, HostReading, JvmReading, ProcessReading, Runtime};
use units::{Duration, Instant};

use self::watch::Watch;
use crate::cpu::CpuReading;
use crate::diag::Queue;
use crate::links::Link;
use crate::open_files::OpenFiles;
use crate::process_set::ProcessSet;
use crate::{jvm, machine, process};

/// CPU time a second that watching may take, all in all.
pub const BUDGET_CORES: f64 = 0.02;

/// A stack to be watched.
#[derive(Debug, Clone)]
pub struct Subject {
    /// Its processes.
    pub processes: ProcessSet,
    /// Where it listens.
    pub port: u16,
}

/// Watches until it is told to finish.
#[derive(Debug)]
pub struct Sampler {
    stop: Arc<AtomicBool>,
    last: Last,
    thread: Option<JoinHandle<Sampled>>,
}

/// What the last reading said of the CPU. Its lock is held for as long as it takes to copy five numbers.
type Last = Arc<Mutex<Option<CpuReading>>>;

/// What was seen.
#[derive(Debug, Default)]
pub struct Sampled {
    pub(crate) readings: Vec<Reading>,
    /// Whether another program made the load, and not the load threads of this process.
    pub(crate) is_foreign: bool,
    /// Whether the kernel says that the times of processes hold the interrupts on their backs.
    pub(crate) interrupts_within: Option<bool>,
    /// Of each subject.
    pub(crate) limits: Vec<Limits>,
    /// The names of the threads of each subject, as the kernel keeps them.
    pub(crate) names: Vec<BTreeMap<i32, String>>,
    /// What runs the processes of each subject, as far as it is known.
    pub(crate) runtimes: Vec<BTreeMap<i32, Runtime>>,
    /// Whom each subject asked beside the other subjects.
    pub(crate) asks: Vec<Vec<Asked>>,
    /// The network links of this machine.
    pub(crate) links: Vec<Link>,
    pub(crate) cost: Duration,
    pub(crate) not_known: BTreeSet<String>,
}

/// What does not change while a stack runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Limits {
    pub(crate) quota_cores: Option<f64>,
}

/// One look at everything.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    pub(crate) at: Instant,
    pub(crate) host: HostReading,
    pub(crate) generator: Watched,
    pub(crate) servers: Vec<Watched>,
    /// What processes that are none of those used since the first look, by name, where they were looked at.
    pub(crate) others: Option<BTreeMap<String, Duration>>,
}

/// A process tree at an instant, its threads one by one where they were looked at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watched {
    pub(crate) reading: ProcessReading,
    pub(crate) threads: Option<Vec<ThreadReading>>,
    /// Of the accept queues at its port, the one that is nearest its bound.
    pub(crate) fullest: Option<Queue>,
    /// Of its processes, the one that is nearest its own limit of open files.
    pub(crate) files: Option<OpenFiles>,
    /// What those of its processes that are JVMs count of themselves.
    pub(crate) jvms: Vec<Jvm>,
}

impl Watched {
    /// Its reading, with what the JVM of this process says.
    pub(crate) fn with_jvm(&self, pid: Option<i32>) -> ProcessReading {
        let jvm = self.jvms.iter().find(|it| Some(it.pid) == pid).map(|it| it.reading);
        ProcessReading { jvm, ..self.reading.clone() }
    }
}

/// A JVM at an instant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Jvm {
    pub(crate) pid: i32,
    /// Its CPU time so far.
    pub(crate) cpu: Duration,
    pub(crate) reading: JvmReading,
}

impl Jvm {
    fn of(pid: i32) -> Option<Self> {
        let reading = jvm::reading(pid)?;
        let (user, system) = process::Process::of(pid)?.cpu();
        Some(Self { pid, cpu: user + system, reading })
    }
}

/// A thread at an instant, its name apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ThreadReading {
    pub(crate) id: i32,
    pub(crate) process: i32,
    pub(crate) runnable: bool,
    pub(crate) cpu: Duration,
    pub(crate) waited: Duration,
    pub(crate) switches: u64,
}

impl Sampler {
    /// Begins to watch `subjects`, the machine, and what makes the load: `generator`, or this process where that is none. The
    /// first reading is taken when it returns: what begins after that is enclosed by readings, and nothing is extrapolated. Of the
    /// machine these `cores` count, or those that the calling thread may run on.
    pub fn start(
        subjects: Vec<Subject>,
        generator: Option<ProcessSet>,
        cores: Option<BTreeSet<usize>>,
    ) -> io::Result<Self> {
        let cores = cores.unwrap_or_else(machine::cores_of_this_thread);
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let last = Last::default();
        let for_thread = Arc::clone(&last);
        let (looked, first_look) = mpsc::sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("sampler".into())
            .spawn(move || Watch::new(subjects, generator, cores).until(&told, &for_thread, &looked))?;
        // An error is a panic of the thread, which whoever ends it hears of.
        let _ = first_look.recv();
        Ok(Self { stop, last, thread: Some(thread) })
    }

    /// What the last reading said of the CPU; `None` where none could be taken.
    pub fn last(&self) -> Option<CpuReading> {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a last reading, and gives all.
    pub fn finish(mut self) -> Sampled {
        self.end().unwrap_or_default()
    }

    fn end(&mut self) -> Option<Sampled> {
        self.stop.store(true, Ordering::Release);
        let thread = self.thread.take()?;
        thread.thread().unpark();
        Some(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // A panic in it was printed by it.
            let _ = thread.join();
        }
    }
}

/// What a reading says of the CPU.
fn cpu_of(reading: &Reading) -> CpuReading {
    let process = |it: &Watched| it.reading.cpu_user_s + it.reading.cpu_system_s;
    CpuReading {
        at: reading.at,
        generator_s: process(&reading.generator),
        servers_s: Some(reading.servers.iter().map(process).sum()),
        ..CpuReading::of_machine(&reading.host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::now;
    use std::net::TcpListener;

    #[test]
    fn watches_a_process_and_its_port() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let processes = ProcessSet { leader: std::process::id().cast_signed(), cgroup: None };
        let sampler = Sampler::start(vec![Subject { processes, port }], None, None).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(350));
        let last = sampler.last().expect("a reading was taken");
        let sampled = sampler.finish();
        // Killing and reaping what this test started.
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(sampled.readings.len() >= 3, "{}", sampled.readings.len());
        assert!(sampled.readings.iter().any(|reading| cpu_of(reading) == last), "{last:?}");
        assert!(last.servers_s.is_some() && last.machine_s.is_some(), "{last:?}");
        let last = sampled.readings.last().unwrap();
        assert!(last.servers[0].reading.rss_bytes > 0);
        assert!(last.servers[0].reading.accept_queue_limit.is_some(), "{:?}", sampled.not_known);
        let names: Vec<&str> = sampled.names[1].values().map(String::as_str).collect();
        assert!(names.contains(&"sleep"), "{names:?}");
        assert!(sampled.names[0].values().any(|name| name == "sampler"));
    }

    #[test]
    fn it_has_looked_before_what_is_watched_begins() {
        let sampler = Sampler::start(Vec::new(), None, None).unwrap();
        let begun = now();
        assert!(sampler.last().unwrap().at <= begun);
        assert!(sampler.finish().readings[0].at <= begun);
    }

    #[test]
    fn another_program_that_makes_the_load_is_watched_in_our_place() {
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let processes = ProcessSet { leader: std::process::id().cast_signed(), cgroup: None };
        let sampler = Sampler::start(Vec::new(), Some(processes), None).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(250));
        let sampled = sampler.finish();
        // Killing and reaping what this test started.
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(sampled.is_foreign);
        assert!(sampled.names[0].values().any(|name| name == "sleep"), "{:?}", sampled.names);
        assert!(sampled.names[0].values().all(|name| name != "sampler"), "{:?}", sampled.names);
    }
}
