//! Child processes: where they run, what they used, and that none is left.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_setaffinity};
use signal_hook::consts::{SIGINT, SIGTERM};

/// The core that clients have to themselves.
pub(crate) const CLIENT_CORE: usize = 0;
/// The core of the servers, and ours while we wait.
pub(crate) const SERVER_CORE: usize = 1;

const POLL: Duration = Duration::from_millis(20);
/// What a client may take beyond the time it is asked to send for.
const OVERTIME: Duration = Duration::from_secs(45);
const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// Why it goes no further.
#[derive(Debug)]
pub(crate) enum Failure {
    Interrupted,
    Because(String),
}

impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self::Because(why)
    }
}

impl From<&str> for Failure {
    fn from(why: &str) -> Self {
        Self::Because(why.to_owned())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Because(error.to_string())
    }
}

/// Set by Ctrl-C and by SIGTERM.
#[derive(Debug, Clone)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    pub(crate) fn on_signals() -> io::Result<Self> {
        let flag = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
        }
        Ok(Self(flag))
    }

    pub(crate) fn check(&self) -> Result<(), Failure> {
        if self.0.load(Ordering::Relaxed) { Err(Failure::Interrupted) } else { Ok(()) }
    }
}

/// Keeps this process off the clients' core.
pub(crate) fn stay_beside_the_server() -> Result<(), Failure> {
    pin_to(SERVER_CORE)
        .map_err(|why| format!("two cores are needed, one for clients and one for servers: {why}").into())
}

fn pin_to(core: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(core);
    Ok(sched_setaffinity(None, &set)?)
}

/// Starts `command` on `core`: a child inherits where its parent may run.
pub(crate) fn spawn_on(core: usize, command: &mut Command) -> io::Result<Child> {
    pin_to(core)?;
    let child = command.spawn();
    pin_to(SERVER_CORE)?;
    child
}

/// What a client did, as the kernel counted it.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// User and system, all threads, from its start to its end.
    pub(crate) cpu: Duration,
    pub(crate) memory_peak_bytes: u64,
}

/// Runs a client on its core to its end, its standard error on `terminal` where there is one.
pub(crate) fn run_client(
    command: &mut Command,
    terminal: Option<File>,
    expected: Duration,
    interrupt: &Interrupt,
) -> Result<Finished, Failure> {
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?);
    command.stderr(terminal.map_or_else(|| stderr.try_clone(), Ok)?);
    let child = spawn_on(CLIENT_CORE, command)?;
    // What is still open of a terminal is the child's, so that it closes with it.
    command.stderr(Stdio::null());
    let pid = child.id();
    let status_path = format!("/proc/{pid}/status");
    let deadline = Instant::now() + expected + OVERTIME;
    let mut memory_peak_bytes = 0;
    let (status, usage) = loop {
        if let Some(ended) = reap(pid)? {
            break ended;
        }
        // The kernel's own peak, of this program alone: `ru_maxrss` would begin with ours, from before `exec`.
        let peak = std::fs::read_to_string(&status_path).ok().and_then(|text| peak_bytes(&text));
        memory_peak_bytes = peak.unwrap_or(memory_peak_bytes);
        let stopped = interrupt.check().err();
        let stopped =
            stopped.or_else(|| (Instant::now() > deadline).then(|| "it did not end in time".into()));
        if let Some(failure) = stopped {
            kill(pid, Signal::KILL);
            while reap(pid)?.is_none() {
                std::thread::sleep(POLL);
            }
            return Err(failure);
        }
        std::thread::sleep(POLL);
    };
    let (stdout, stderr) = (whole(&mut stdout)?, whole(&mut stderr)?);
    Ok(Finished { status, stdout, stderr, cpu: usage, memory_peak_bytes })
}

/// How child `pid` ended and the CPU time it used; `None` while it runs.
fn reap(pid: u32) -> io::Result<Option<(ExitStatus, Duration)>> {
    let mut status = 0;
    #[expect(unsafe_code, reason = "no safe crate here tells one child's CPU time to the microsecond")]
    // SAFETY: both pointers are to locals that live through the call, and a usage of zeros is a valid one.
    let (reaped, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(pid.cast_signed(), &raw mut status, libc::WNOHANG, &raw mut usage), usage)
    };
    match reaped {
        0 => Ok(None),
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(Some((ExitStatus::from_raw(status), time(usage.ru_utime) + time(usage.ru_stime)))),
    }
}

fn time(of: libc::timeval) -> Duration {
    Duration::from_secs(of.tv_sec as u64) + Duration::from_micros(of.tv_usec as u64)
}

/// The peak in the text of `/proc/PID/status`.
fn peak_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}

fn whole(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn kill(pid: u32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid.cast_signed()) {
        // One that has ended already needs no signal.
        let _ = kill_process(pid, signal);
    }
}

/// Asks `child` to end, and ends it if it does not.
pub(crate) fn stop(child: &mut Child) {
    let deadline = Instant::now() + STOP_PATIENCE;
    kill(child.id(), Signal::TERM);
    while let Ok(None) = child.try_wait() {
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            return;
        }
        std::thread::sleep(POLL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elsewhere there is nothing to try: the benchmark refuses such a machine.
    fn has_both_cores() -> bool {
        stay_beside_the_server().is_ok() && pin_to(CLIENT_CORE).is_ok()
    }

    #[test]
    fn counts_what_a_child_used_and_reads_what_it_said() {
        if !has_both_cores() {
            return;
        }
        let interrupt = Interrupt(Arc::default());
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 0.1; echo out; echo err >&2; exit 3",
        ]);
        let it = run_client(&mut command, None, Duration::from_secs(5), &interrupt).unwrap();
        assert_eq!((it.status.code(), it.stdout.as_str(), it.stderr.as_str()), (Some(3), "out\n", "err\n"));
        assert!(it.cpu > Duration::from_millis(1) && it.cpu < Duration::from_secs(5), "{:?}", it.cpu);
        assert!(
            it.memory_peak_bytes > 100 << 10 && it.memory_peak_bytes < 64 << 20,
            "{}",
            it.memory_peak_bytes
        );
    }

    #[test]
    fn an_interruption_ends_the_child() {
        if !has_both_cores() {
            return;
        }
        let interrupt = Interrupt(Arc::new(AtomicBool::new(true)));
        let mut command = Command::new("sleep");
        command.arg("60");
        let before = Instant::now();
        let ended = run_client(&mut command, None, Duration::from_secs(60), &interrupt);
        assert!(matches!(ended, Err(Failure::Interrupted)));
        assert!(before.elapsed() < Duration::from_secs(10));
    }
}
