//! Git as a program, for what is asked of a user's repository.
//!
//! It is run and not linked: filters, partial clones and whatever else a repository is set up with work as they do for its
//! user. Hooks do not: they are for who works in the repository.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration as StdDuration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::error::{CheckoutError, GIT_TIMEOUT};
use crate::interrupt::Interrupt;

const POLL: StdDuration = StdDuration::from_millis(5);
/// Bytes that are kept of what a command says on each of its outputs; more is read and dropped.
const SAID_BYTES_MAX: u64 = 1 << 20;
/// What git sets for the hooks that it runs: it names the repository that the hook is of, and the folder is to name it here.
const OF_HOOKS: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
];
/// Settings that go before those of the user: no hook runs, nothing is started that watches a folder and stays, line ends that
/// would be changed are no error, what is read has no signatures in it and is UTF-8, and a commit that is made needs no name of
/// anybody's.
const SETTINGS: [&str; 9] = [
    "core.hooksPath=/dev/null",
    // To older ones that is no path of a hook, to newer ones `false`.
    "core.fsmonitor=",
    "core.safecrlf=false",
    "advice.detachedHead=false",
    "color.ui=false",
    "log.showSignature=false",
    "i18n.logOutputEncoding=UTF-8",
    "user.name=proofload",
    "user.email=proofload@localhost",
];

/// Git in `folder`, whatever its user has set for the eye, and whichever hook has started us. It writes nothing that it need not.
pub fn git_in(folder: &Path) -> Command {
    let mut command = Command::new("git");
    for name in OF_HOOKS {
        command.env_remove(name);
    }
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    // Nobody is there to be asked for a password; and its messages are read.
    command.env("GIT_TERMINAL_PROMPT", "0").env("LC_ALL", "C");
    // An index is not written anew because somebody looked.
    command.env("GIT_OPTIONAL_LOCKS", "0").current_dir(folder);
    command
}

/// Git in a folder.
#[derive(Debug, Clone)]
pub(super) struct Git<'a> {
    folder: PathBuf,
    index: Option<PathBuf>,
    interrupt: Interrupt<'a>,
}

impl<'a> Git<'a> {
    pub(super) fn in_folder(folder: &Path, interrupt: Interrupt<'a>) -> Self {
        Self { folder: folder.to_owned(), index: None, interrupt }
    }

    /// The same with an index of our own, so that the user's stays as it is.
    pub(super) fn with_index(&self, index: &Path) -> Self {
        Self { index: Some(index.to_owned()), ..self.clone() }
    }

    /// The same for what is to be done also when the user wants all to end: to clean up.
    pub(super) fn to_the_end(&self) -> Git<'static> {
        Git { folder: self.folder.clone(), index: self.index.clone(), interrupt: Interrupt::NEVER }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// What a command says, without the line end behind it.
    pub(super) fn run<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<String, CheckoutError> {
        let arguments: Vec<OsString> = arguments.into_iter().map(|it| it.as_ref().to_owned()).collect();
        let shown = || {
            plan::shell::command(
                ["git".into()].into_iter().chain(arguments.iter().map(|it| it.to_string_lossy())),
            )
        };
        let mut child = self.start(&arguments).map_err(|source| CheckoutError::NoGit { source })?;
        let said = reader(child.stdout.take());
        let complained = reader(child.stderr.take());
        let ended = self.wait(&mut child);
        let (said, complained) = (text(said), text(complained));
        match ended.map_err(|source| CheckoutError::NoGit { source })? {
            Ended::Well => Ok(said),
            Ended::Badly => Err(CheckoutError::Git { command: shown(), said: complained }),
            Ended::TooLate => Err(CheckoutError::TooLate { command: shown() }),
            Ended::Interrupted => Err(CheckoutError::Interrupted),
        }
    }

    fn start(&self, arguments: &[OsString]) -> io::Result<Child> {
        let mut command = git_in(&self.folder);
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        // Ctrl-C of a terminal goes to the whole group: when it ends is for us to say.
        command.args(arguments).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    }

    fn wait(&self, child: &mut Child) -> io::Result<Ended> {
        let deadline = Instant::now() + std::time::Duration::from(GIT_TIMEOUT);
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(if status.success() { Ended::Well } else { Ended::Badly });
            }
            let why = if self.interrupt.is_given() {
                Ended::Interrupted
            } else if Instant::now() >= deadline {
                Ended::TooLate
            } else {
                std::thread::sleep(POLL);
                continue;
            };
            // It takes back what it has half done; an error means that it is gone.
            let _ = kill_process_group(Pid::from_child(child), Signal::TERM);
            child.wait()?;
            return Ok(why);
        }
    }
}

/// How a command ended.
enum Ended {
    Well,
    Badly,
    TooLate,
    Interrupted,
}

/// Reads an output to its end, so that nobody waits for us to read, and keeps the beginning of it.
fn reader(output: Option<impl Read + Send + 'static>) -> Option<JoinHandle<Vec<u8>>> {
    let mut output = output?;
    Some(std::thread::spawn(move || {
        let mut kept = Vec::new();
        // What can't be read was not said.
        let _ = output.by_ref().take(SAID_BYTES_MAX).read_to_end(&mut kept);
        let _ = io::copy(&mut output, &mut io::sink());
        kept
    }))
}

fn text(reader: Option<JoinHandle<Vec<u8>>>) -> String {
    let bytes = reader.and_then(|it| it.join().ok()).unwrap_or_default();
    String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned()
}
