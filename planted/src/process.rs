//! Child processes: how long they may take, and that none is left.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGINT, SIGTERM};

const POLL: Duration = Duration::from_millis(20);
/// What `proofload` has to stop its stacks in.
const STOP_PATIENCE: Duration = Duration::from_secs(15);
/// Of what a command said, this much is kept.
const SAID_BYTES_MAX: u64 = 64 << 20;

/// Why it goes no further.
#[derive(Debug)]
pub(crate) enum Failure {
    Interrupted,
    /// What was asked for is not valid.
    Usage(String),
    Because(String),
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

    fn is_given(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `command` to its end; interrupted, it is asked to end and waited for. `Ok(None)` where it took longer than
/// `limit` and was ended.
pub(crate) fn run(
    command: &mut Command,
    limit: Duration,
    interrupt: &Interrupt,
) -> Result<Option<Finished>, Failure> {
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    // In a group of its own: a Ctrl-C goes to us, and once from us to it. A second one would end it at once.
    let mut child = command.process_group(0).spawn()?;
    let deadline = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if interrupt.is_given() {
            stop(&mut child);
            return Err(Failure::Interrupted);
        }
        if Instant::now() > deadline {
            stop(&mut child);
            return Ok(None);
        }
        std::thread::sleep(POLL);
    };
    Ok(Some(Finished { status, stdout: whole(&mut stdout)?, stderr: whole(&mut stderr)? }))
}

fn whole(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(SAID_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Asks `child` to end, and ends it if it does not. What it started ends with it: its supervisors see to that.
fn stop(child: &mut Child) {
    if let Some(pid) = Pid::from_raw(child.id().cast_signed()) {
        // One that has ended already needs no signal.
        let _ = kill_process(pid, Signal::INT);
    }
    let deadline = Instant::now() + STOP_PATIENCE;
    while let Ok(None) = child.try_wait() {
        if Instant::now() > deadline {
            end(child);
            return;
        }
        std::thread::sleep(POLL);
    }
}

/// Ends `child` at once.
pub(crate) fn end(child: &mut Child) {
    // Gone already is just as well.
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn tells_how_a_command_ended_and_what_it_said() {
        let never = Interrupt(Arc::default());
        let finished =
            run(&mut shell("echo out; echo err >&2; exit 4"), STOP_PATIENCE, &never).unwrap().unwrap();
        assert_eq!(
            (finished.status.code(), finished.stdout.as_str(), finished.stderr.as_str()),
            (Some(4), "out\n", "err\n")
        );
    }

    #[test]
    fn ends_what_takes_too_long_and_what_is_interrupted() {
        let never = Interrupt(Arc::default());
        // A shell in the background ignores interrupts, and what it starts inherits that: it would be waited for until
        // patience ends.
        let sleep = "exec env --default-signal=INT sleep 60";
        assert!(run(&mut shell(sleep), Duration::from_secs(1), &never).unwrap().is_none());

        // So it is interrupted once it says that it does not.
        let folder = tempfile::tempdir().unwrap();
        let ready = folder.path().join("ready");
        let sleep = format!("exec env --default-signal=INT sh -c 'touch {}; exec sleep 60'", ready.display());
        let given = Interrupt(Arc::default());
        let flag = given.0.clone();
        let waiting = std::thread::spawn(move || {
            while !ready.exists() {
                std::thread::sleep(POLL);
            }
            flag.store(true, Ordering::Relaxed);
            Instant::now()
        });
        let interrupted = run(&mut shell(&sleep), Duration::from_secs(60), &given);
        assert!(matches!(interrupted, Err(Failure::Interrupted)));
        assert!(waiting.join().unwrap().elapsed() < STOP_PATIENCE);
    }
}
