//! The agents as processes: each a command whose standard input and output are an agent's, here or behind `ssh`.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration as StdDuration, Instant as StdInstant};

use agent::{Frames, ToAgent, ToConductor};
use driver::monotonic_now;
use rustix::process::{Pid, Signal, kill_process_group};
use units::Instant;

use crate::error::LabError;

/// What was heard, under way to whom it is told.
const HEARD_MAX: usize = 256;
/// Messages that wait to be written to one agent.
const SAID_MAX: usize = 1024;
/// Bytes read at a time.
const READ_BYTES: usize = 64 * 1024;
/// Lines of its standard error that are kept of an agent, and bytes of each.
const LINES_MAX: usize = 3;
const LINE_BYTES_MAX: u64 = 400;
/// How long processes may take to end by themselves.
const END_WITHIN: StdDuration = StdDuration::from_secs(2);
/// How long its last words are waited for.
const LAST_WORDS_WITHIN: StdDuration = StdDuration::from_millis(300);
const LOOK_AGAIN: StdDuration = StdDuration::from_millis(10);

/// One machine of a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// What it is called in errors and records.
    pub name: String,
    /// The program and its arguments that are its agent's other end.
    pub command: Vec<String>,
}

/// The machines that carry a load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fleet {
    /// In the order of their shares.
    pub members: Vec<Member>,
}

/// What an agent did.
pub(super) enum Input {
    Said(ToConductor),
    /// It says no more, for this reason.
    Over(String),
}

pub(super) struct Heard {
    pub(super) agent: usize,
    /// When it came.
    pub(super) at: Instant,
    pub(super) input: Input,
}

/// What a process wrote to its standard error.
#[derive(Debug, Default)]
struct Errors {
    /// Its last lines.
    last: VecDeque<String>,
    /// Whether it has closed it.
    is_over: bool,
}

type SharedErrors = Arc<Mutex<Errors>>;

/// A fleet whose processes run. They end with it.
pub(super) struct Running {
    processes: Vec<Process>,
    heard: Receiver<Heard>,
}

struct Process {
    child: Child,
    to_write: Option<SyncSender<Vec<u8>>>,
    errors: SharedErrors,
}

impl Fleet {
    pub(super) fn start(&self) -> Result<Running, LabError> {
        let (tell, heard) = sync_channel(HEARD_MAX);
        // What was started ends if another can't be.
        let mut running = Running { processes: Vec::new(), heard };
        for (agent, member) in self.members.iter().enumerate() {
            let process = Process::start(agent, member, &tell)
                .map_err(|why| LabError::Agents(format!("agent {agent} ({}) {why}", member.name)))?;
            running.processes.push(process);
        }
        Ok(running)
    }
}

impl Process {
    fn start(agent: usize, member: &Member, tell: &SyncSender<Heard>) -> Result<Self, String> {
        let (program, arguments) = member.command.split_first().ok_or("has no command")?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C is for us: agents are told to end, and tell what they have.
            .process_group(0)
            .spawn()
            .map_err(|why| format!("cannot be started: {program}: {why}"))?;
        let kept = SharedErrors::default();
        let (to_write, messages) = sync_channel(SAID_MAX);
        if let (Some(input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        {
            let (tell, keep) = (tell.clone(), Arc::clone(&kept));
            std::thread::spawn(move || write_all(input, &messages));
            std::thread::spawn(move || listen(agent, output, &tell));
            std::thread::spawn(move || keep_last_lines(errors, &keep));
        }
        Ok(Self { child, to_write: Some(to_write), errors: kept })
    }

    fn errors(&self) -> MutexGuard<'_, Errors> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it has ended and said all it had to say.
    fn is_over(&mut self) -> bool {
        let has_said_all = self.errors().is_over;
        has_said_all && !matches!(self.child.try_wait(), Ok(None))
    }

    /// Ends it, however far it is.
    fn kill(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = self.child.wait();
        }
    }
}

impl Running {
    pub(super) fn len(&self) -> usize {
        self.processes.len()
    }

    /// The next thing that was heard within `wait`.
    pub(super) fn heard(&self, wait: StdDuration) -> Result<Heard, RecvTimeoutError> {
        self.heard.recv_timeout(wait)
    }

    /// Says something to an agent; an error if it takes nothing any more.
    pub(super) fn say(&mut self, agent: usize, message: &ToAgent) -> Result<(), String> {
        let bytes = agent::encode(message).map_err(|why| why.to_string())?;
        let process = &mut self.processes[agent];
        let Some(to_write) = &process.to_write else { return Ok(()) };
        match to_write.try_send(bytes) {
            // That it is over is told by whoever reads from it, who knows more.
            Ok(()) | Err(TrySendError::Disconnected(_)) => Ok(()),
            Err(TrySendError::Full(_)) => {
                process.to_write = None;
                Err("does not read what it is told".to_owned())
            }
        }
    }

    /// Why an agent says no more, with how its process ended and what that said last.
    pub(super) fn why(&mut self, agent: usize, why: &str) -> String {
        let process = &mut self.processes[agent];
        let begun = StdInstant::now();
        while begun.elapsed() < LAST_WORDS_WITHIN && !process.is_over() {
            std::thread::sleep(LOOK_AGAIN);
        }
        let status = match process.child.try_wait() {
            Ok(Some(status)) => format!(" ({status})"),
            _ => String::new(),
        };
        let errors = process.errors();
        let said: Vec<&str> = errors.last.iter().map(String::as_str).collect();
        let said = if said.is_empty() { String::new() } else { format!(": {}", said.join(" / ")) };
        format!("{why}{status}{said}")
    }

    /// Waits a moment for the processes to end, and ends those that do not.
    pub(super) fn end(mut self) {
        self.end_all();
    }

    fn end_all(&mut self) {
        // An agent ends with its input.
        self.processes.iter_mut().for_each(|it| it.to_write = None);
        let begun = StdInstant::now();
        while begun.elapsed() < END_WITHIN
            && self.processes.iter_mut().any(|it| matches!(it.child.try_wait(), Ok(None)))
        {
            // Whoever is still telling is heard, so that it can end.
            while self.heard.try_recv().is_ok() {}
            std::thread::sleep(LOOK_AGAIN);
        }
        self.processes.iter_mut().for_each(Process::kill);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end_all();
    }
}

fn write_all(mut input: ChildStdin, messages: &Receiver<Vec<u8>>) {
    while let Ok(bytes) = messages.recv() {
        if input.write_all(&bytes).and_then(|()| input.flush()).is_err() {
            return;
        }
    }
}

fn listen(agent: usize, mut output: ChildStdout, tell: &SyncSender<Heard>) {
    let mut frames = Frames::greeted();
    let mut bytes = vec![0; READ_BYTES];
    let over = loop {
        let count = match output.read(&mut bytes) {
            Ok(0) => break "ended".to_owned(),
            Ok(count) => count,
            Err(why) => break format!("cannot be read ({why})"),
        };
        let at = monotonic_now();
        frames.push(&bytes[..count]);
        loop {
            match frames.next() {
                Ok(Some(message)) => {
                    if tell.send(Heard { agent, at, input: Input::Said(message) }).is_err() {
                        return;
                    }
                }
                Ok(None) => break,
                Err(why) => {
                    let _ = tell.send(Heard { agent, at, input: Input::Over(why.to_string()) });
                    return;
                }
            }
        }
    };
    let _ = tell.send(Heard { agent, at: monotonic_now(), input: Input::Over(over) });
}

/// Keeps them as they are: they are made harmless where they are shown.
fn keep_last_lines(errors: ChildStderr, kept: &SharedErrors) {
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    while let Ok(1..) = errors.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
        let text = String::from_utf8_lossy(&line).trim().to_owned();
        line.clear();
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.last.len() == LINES_MAX {
            kept.last.pop_front();
        }
        kept.last.extend(Some(text).filter(|it| !it.is_empty()));
    }
    kept.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
}
