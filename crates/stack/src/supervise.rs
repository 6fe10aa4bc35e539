//! The process between us and a stack, which lets nothing outlive us.
//!
//! Started in a process group of its own with a pipe as its standard input. One byte is the word to start the
//! command; until then the parent can place the supervisor, and so all that comes from it, in a control
//! group. When the pipe closes, the parent has died, however it died: everything below the supervisor gets
//! SIGTERM, and SIGKILL two seconds later. Orphans in the tree become the supervisor's own children, so a
//! daemon that leaves the process group is found, too.

use std::ffi::{CStr, OsString};
use std::io::{self, Read};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    Signal, WaitOptions, WaitStatus, getpid, kill_current_process_group, set_child_subreaper, wait,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signals::process;

use crate::{cgroup, kill};

/// The command could not be started; why is on standard error.
pub const EXIT_NOT_STARTED: u8 = 127;
/// The parent went away before it gave the word.
pub const EXIT_NO_GO: u8 = 125;

/// What a supervisor is called in lists of processes, 15 bytes at most. Not as the binary: who ends all that is called so
/// (`killall -9 proofload`) would end those that see to the rest.
const NAME: &CStr = c"load-supervisor";
const GRACE: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(5);

/// The body of the hidden `proofload supervise -- CMD…`: waits for a byte on standard input, runs `argv`, and
/// returns its exit code (128 + n where signal n ended it) once it and everything it started are gone.
pub fn supervise(argv: &[String]) -> ExitCode {
    // Only a name: where it is refused, nothing else is lost.
    let _ = rustix::thread::set_name(NAME);
    let mut word = [0];
    if !matches!(io::stdin().read(&mut word), Ok(1)) {
        return EXIT_NO_GO.into();
    }
    match run(argv) {
        Ok(code) => code.into(),
        Err(error) => {
            eprintln!("proofload: cannot start `{}` ({error})", plan::shell::command(argv));
            EXIT_NOT_STARTED.into()
        }
    }
}

fn run(argv: &[String]) -> io::Result<u8> {
    let (program, arguments) = argv.split_first().ok_or_else(|| io::Error::other("no command was given"))?;
    // Signals to the group are meant for the command. They are caught, not ignored: a program that is
    // started inherits what is ignored, and would be deaf to them.
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }
    set_child_subreaper(Some(getpid()))?;
    // Before the command: where there is no room for a thread, nothing is started that nobody would end.
    thread::Builder::new().name("watch-parent".to_owned()).spawn(|| {
        // Whatever more is written is of no interest; an error is an end, too.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        end_all();
    })?;
    // Not waited for by std: `wait` below takes any child, and this one is recognised by its id.
    let command = Command::new(program).args(arguments).stdin(Stdio::null()).spawn()?;
    let code = wait_for(command.id().cast_signed())?;
    end_rest();
    Ok(code)
}

/// Waits for `pid`, and for any orphan that ends before.
fn wait_for(pid: i32) -> io::Result<u8> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((ended, status))) if ended.as_raw_pid() == pid => return Ok(exit_code(status)),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn exit_code(status: WaitStatus) -> u8 {
    let code = status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// Ends what the command left behind. A stack is what runs in the foreground; what stays is nobody's.
fn end_rest() {
    for signal in [Signal::TERM, Signal::KILL] {
        let deadline = Instant::now() + GRACE;
        let mut signalled = false;
        loop {
            match wait(WaitOptions::NOHANG) {
                // No child is left, and orphans would be children.
                Err(rustix::io::Errno::CHILD) => return,
                Ok(Some(_)) => continue,
                Ok(None) | Err(_) => {}
            }
            // A process that is being killed may start another one, so the last resort is repeated.
            if !signalled || signal == Signal::KILL {
                signal_tree(signal);
                signalled = true;
            }
            if Instant::now() >= deadline {
                break;
            }
            thread::sleep(POLL);
        }
    }
}

/// The parent is gone: ends everything, this process last or with it.
fn end_all() {
    // Meanwhile the main thread waits for the command, and ends this process if that sees to everything.
    signal_tree(Signal::TERM);
    thread::sleep(GRACE);
    // Takes this process along; without a control group of ours the tree is walked instead.
    let _ = cgroup::kill_own();
    let deadline = Instant::now() + GRACE;
    // Again and again: a process may start another one between the look at the tree and its own death.
    while !process::tree(getpid().as_raw_pid()).is_empty() && Instant::now() < deadline {
        signal_tree(Signal::KILL);
        thread::sleep(POLL);
    }
    let _ = kill_current_process_group(Signal::KILL);
}

fn signal_tree(signal: Signal) {
    kill::signal_all(|| process::tree(getpid().as_raw_pid()).iter().map(|it| it.pid).collect(), signal);
}

/// `command` as it is written after `proofload`.
pub(crate) fn arguments(command: &[String]) -> Vec<OsString> {
    ["supervise", "--"].into_iter().map(OsString::from).chain(command.iter().map(OsString::from)).collect()
}
