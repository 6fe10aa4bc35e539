//! A program that is run to its end beside a stack, such as another load generator.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration as StdDuration, Instant};

use plan::stack::{Placeholders, StackManifest, Upstreams};
use signals::ProcessSet;

use crate::boot::HIDDEN_JVM_FLAGS;
use crate::cgroup::Cgroup;
use crate::cpus::Cpus;
use crate::{needs, supervise};

/// How often it is looked whether a program has ended.
const POLL: StdDuration = StdDuration::from_millis(10);

/// What a program needs beside its command.
#[derive(Debug, Clone)]
pub struct ProgramOptions<'a> {
    /// The `proofload` binary, to supervise.
    pub proofload_exe: &'a Path,
    /// Where it runs.
    pub dir: &'a Path,
    /// Where its standard output goes; a file that is there is written over.
    pub out: &'a Path,
    /// Where its standard error goes, likewise.
    pub err: &'a Path,
    /// Added to the environment.
    pub env: Vec<(&'static str, OsString)>,
}

impl<'a> ProgramOptions<'a> {
    /// In `dir`, with its output in `name.out` and `name.err` there, and with the PATH of stacks.
    pub fn in_dir(proofload_exe: &'a Path, dir: &'a Path, [out, err]: &'a [std::path::PathBuf; 2]) -> Self {
        Self { proofload_exe, dir, out, err, env: vec![("PATH", needs::search_path())] }
    }
}

/// A program under a supervisor, so that it ends with us, however we end. Dropping it ends it and all that it started.
#[derive(Debug)]
pub struct Program {
    supervisor: Child,
    /// Held open for as long as it may run.
    pipe: Option<ChildStdin>,
    cgroup: Option<Cgroup>,
}

impl Program {
    /// Has everything ready for `command`, which starts with [`Program::go`]: who watches it may begin before. It keeps to
    /// the cores of the calling thread.
    pub fn prepare(command: &[String], options: &ProgramOptions<'_>) -> io::Result<Self> {
        let mut supervisor = Command::new(options.proofload_exe);
        // Ctrl-C of a terminal goes to the whole group; whether the program ends is for us to say.
        supervisor.args(supervise::arguments(command)).current_dir(options.dir).process_group(0);
        for name in HIDDEN_JVM_FLAGS {
            supervisor.env_remove(name);
        }
        supervisor.envs(options.env.iter().map(|(name, value)| (name, value))).stdin(Stdio::piped());
        supervisor.stdout(File::create(options.out)?).stderr(File::create(options.err)?);
        let mut supervisor = supervisor.spawn()?;
        let pipe = supervisor.stdin.take();
        let cgroup = Cgroup::enclose(supervisor.id());
        Ok(Self { supervisor, pipe, cgroup })
    }

    /// Starts it.
    pub fn go(&mut self) -> io::Result<()> {
        self.pipe.as_mut().map_or(Ok(()), |pipe| pipe.write_all(b"g"))
    }

    /// Its processes, the supervisor not among them.
    pub fn processes(&self) -> ProcessSet {
        let cgroup = self.cgroup.as_ref().map(|it| it.dir().to_owned());
        ProcessSet { leader: self.supervisor.id().cast_signed(), cgroup }
    }

    /// The cores that any of its threads may run on now.
    pub fn cpus(&self) -> Cpus {
        let mut cpus = Cpus::default();
        self.processes().pids().into_iter().for_each(|pid| cpus.add_those_of(pid));
        cpus
    }

    /// Waits until it has ended, with all that it started, until `deadline`, or until `goes_on` says no, which is asked
    /// many times a second.
    pub fn wait(&mut self, deadline: Instant, mut goes_on: impl FnMut() -> bool) -> io::Result<ProgramEnd> {
        loop {
            if let Some(status) = self.supervisor.try_wait()? {
                return Ok(ProgramEnd::Itself(status));
            }
            if !goes_on() {
                return Ok(ProgramEnd::Interrupted);
            }
            if Instant::now() >= deadline {
                return Ok(ProgramEnd::TooLate);
            }
            std::thread::sleep(POLL);
        }
    }
}

/// Why waiting for a program came to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramEnd {
    /// It has ended. A code of 128 + n stands for signal n.
    Itself(ExitStatus),
    /// It goes on, and its time is over.
    TooLate,
    /// It goes on, and was not to.
    Interrupted,
}

impl Drop for Program {
    fn drop(&mut self) {
        // The closed pipe is the supervisor's word to end the tree.
        drop(self.pipe.take());
        if let (Some(cgroup), Ok(None)) = (&self.cgroup, self.supervisor.try_wait()) {
            // Quicker than asking first; where it is refused, the supervisor asks.
            let _ = cgroup.kill();
        }
        // An error means that it was waited for already.
        let _ = self.supervisor.wait();
    }
}

/// What starts the program that `manifest` describes: program, JVM flags, command; and its environment. The temporary files
/// of a JVM go into `work_dir`.
///
/// # Panics
/// If `manifest` is of something that is running already.
pub fn command_of(
    manifest: &StackManifest,
    proofload_exe: &Path,
    work_dir: &Path,
) -> (Vec<String>, Vec<(&'static str, OsString)>) {
    let build_dir = manifest.build_dir();
    let with = Placeholders {
        listen: None,
        upstreams: &Upstreams::default(),
        proofload: proofload_exe,
        stack_dir: &manifest.dir,
        build_dir: &build_dir,
        work_dir,
        parameters: &manifest.parameters,
    };
    let run = manifest.run().expect("a program that makes loads is started");
    (crate::boot::command(run, manifest, &with).0, needs::run_environment(manifest))
}
