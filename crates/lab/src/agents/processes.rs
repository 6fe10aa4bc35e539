//! Agents as processes: each a command whose standard input and output are an agent's, here or behind `ssh`.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration as StdDuration, Instant as StdInstant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::fleet::{Broken, Fleet, Line};

/// Lines of its standard error that are kept of an agent, and bytes of each.
const LINES_MAX: usize = 3;
const LINE_BYTES_MAX: u64 = 400;
/// How long processes may take to end by themselves.
const END_WITHIN: StdDuration = StdDuration::from_secs(2);
/// How long its last words are waited for.
const LAST_WORDS_WITHIN: StdDuration = StdDuration::from_millis(300);
const LOOK_AGAIN: StdDuration = StdDuration::from_millis(10);

/// One machine that is reached by a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// What it is called in errors and records.
    pub name: String,
    /// The program and its arguments that are its agent's other end.
    pub command: Vec<String>,
}

/// Machines that are reached by commands. A process that ends takes its agent with it.
#[derive(Debug)]
pub struct Processes {
    members: Vec<Member>,
    started: Mutex<Started>,
}

#[derive(Debug, Default)]
struct Started {
    /// By agent.
    processes: BTreeMap<usize, Process>,
    /// None is started any more.
    is_over: bool,
}

#[derive(Debug)]
struct Process {
    child: Child,
    errors: SharedErrors,
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

impl Processes {
    /// Of these machines, none of which is reached before it is asked for.
    pub fn new(members: Vec<Member>) -> Self {
        Self { members, started: Mutex::default() }
    }

    fn started(&self) -> MutexGuard<'_, Started> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How a process ended and what it said last, once that is known or took too long.
    fn last_words(&self, agent: usize) -> String {
        let begun = StdInstant::now();
        while begun.elapsed() < LAST_WORDS_WITHIN && !self.is_over(agent) {
            std::thread::sleep(LOOK_AGAIN);
        }
        self.started().processes.get_mut(&agent).map_or_else(String::new, Process::words)
    }

    fn is_over(&self, agent: usize) -> bool {
        self.started().processes.get_mut(&agent).is_none_or(Process::is_over)
    }
}

impl Fleet for Processes {
    fn names(&self) -> Vec<String> {
        self.members.iter().map(|it| it.name.clone()).collect()
    }

    fn open(&self, agent: usize) -> Result<Line, Broken> {
        let mut started = self.started();
        if started.is_over {
            return Err(Broken::ForGood("is not needed any more".to_owned()));
        }
        let (process, line) = Process::start(&self.members[agent]).map_err(Broken::ForGood)?;
        started.processes.insert(agent, process);
        Ok(line)
    }

    fn ended(&self, agent: usize, why: String) -> Broken {
        Broken::ForGood(format!("{why}{}", self.last_words(agent)))
    }

    /// Waits a moment for the processes to end, and ends those that do not.
    fn end(&self) {
        self.started().is_over = true;
        let begun = StdInstant::now();
        while begun.elapsed() < END_WITHIN && self.started().processes.values_mut().any(Process::runs) {
            std::thread::sleep(LOOK_AGAIN);
        }
        self.started().processes.values_mut().for_each(Process::kill);
    }
}

impl Process {
    fn start(member: &Member) -> Result<(Self, Line), String> {
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
        let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let kept = SharedErrors::default();
        let process = Self { child, errors: Arc::clone(&kept) };
        let (Some(input), Some(output), Some(errors)) = (input, output, errors) else {
            return Err("has no standard input or output".to_owned());
        };
        std::thread::spawn(move || keep_last_lines(errors, &kept));
        Ok((process, Line { input: Box::new(input), output: Box::new(output) }))
    }

    fn errors(&self) -> MutexGuard<'_, Errors> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn runs(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Whether it has ended and said all it had to say.
    fn is_over(&mut self) -> bool {
        let has_said_all = self.errors().is_over;
        has_said_all && !self.runs()
    }

    fn words(&mut self) -> String {
        let status = match self.child.try_wait() {
            Ok(Some(status)) => format!(" ({status})"),
            _ => String::new(),
        };
        let errors = self.errors();
        let said: Vec<&str> = errors.last.iter().map(String::as_str).collect();
        let said = if said.is_empty() { String::new() } else { format!(": {}", said.join(" / ")) };
        format!("{status}{said}")
    }

    /// Ends it, however far it is.
    fn kill(&mut self) {
        if self.runs() {
            if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = self.child.wait();
        }
    }
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
