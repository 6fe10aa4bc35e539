//! Starting a stack, until it answers.
//!
//! What is running already is only asked whether it answers.

use std::fs;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration as StdDuration, Instant};

use plan::stack::{Origin, Placeholders, Run, StackManifest, Upstreams};
use plan::toml_file;
use signals::listener;
use units::Duration;

use crate::attach::attach;
use crate::cgroup::Cgroup;
use crate::client::At;
use crate::cpus::Cpus;
use crate::error::{Listening, StackError};
use crate::interrupt::Interrupt;
use crate::ready::{ASK_EVERY, asked, try_once};
use crate::running::Running;
use crate::started::Started;
use crate::{limits, log, needs, ports, supervise};

/// How many ports are tried when each was taken between its choice and the stack's start.
const PORTS_MAX: u32 = 3;
/// How long the port of a stack that has one alone may be another's: of a run that was killed, supervisors end what it had
/// started within that.
const PORT_HELD_MAX: StdDuration = StdDuration::from_secs(5);
const PORT_POLL: StdDuration = StdDuration::from_millis(50);
/// What servers print when their port is taken; compared in lower case.
const PORT_TAKEN: [&str; 4] =
    ["address already in use", "eaddrinuse", "port already in use", "was already in use"];
/// Variables that give every JVM flags of which no record would tell.
pub(crate) const HIDDEN_JVM_FLAGS: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

/// What a boot needs beside the manifest.
#[derive(Debug, Clone, Copy)]
pub struct BootOptions<'a> {
    /// The `proofload` binary, for `{proofload}` and to supervise.
    pub proofload_exe: &'a Path,
    /// The trial's own folder, made if need be: configuration goes there, and the stack runs in it.
    pub work_dir: &'a Path,
    /// Where what it prints is appended.
    pub log: &'a Path,
    /// The address of this machine on which a stack listens that is told `{address}`; others listen on 127.0.0.1.
    pub address: Ipv4Addr,
    /// Where the stacks behind it listen.
    pub upstreams: &'a Upstreams,
    /// The cores that it and all it starts is kept on; any of ours without.
    pub cpus: Option<&'a Cpus>,
    /// Ends the waiting.
    pub interrupt: Interrupt<'a>,
}

/// Starts `stack` on a free port and waits until it is ready. It must have been built.
///
/// The environment is ours with the manifest's additions, without the variables that hide JVM flags; the folder
/// for temporary files is `work_dir`.
///
/// What is running already is not started, and must answer at its URL.
pub fn boot(stack: &StackManifest, options: &BootOptions<'_>) -> Result<Running, StackError> {
    let run = match &stack.origin {
        Origin::Started(run) => run,
        Origin::Running(site) => return attach(stack, site, options.interrupt),
    };
    if let Some(port) = run.port {
        await_port(stack, (address(stack, options), port.get()).into(), options.interrupt)?;
        let running = boot_on(stack, run, options, port.get())?;
        return running.ok_or_else(|| StackError::PortTaken {
            stack: stack.id.clone(),
            tries: 1,
            log: log::end(options.log, 0).into(),
        });
    }
    for _ in 0..PORTS_MAX {
        let port = ports::choose().ok_or_else(|| StackError::NoPort { stack: stack.id.clone() })?;
        if let Some(running) = boot_on(stack, run, options, port)? {
            return Ok(running);
        }
    }
    let log = log::end(options.log, 0).into();
    Err(StackError::PortTaken { stack: stack.id.clone(), tries: PORTS_MAX, log })
}

/// Where it listens.
fn address(stack: &StackManifest, options: &BootOptions<'_>) -> Ipv4Addr {
    if stack.is_told_its_address() { options.address } else { Ipv4Addr::LOCALHOST }
}

/// Waits until nothing else listens at `addr`. An older instance of the same would answer in place of the one that is started,
/// or beside it, where both share the port.
fn await_port(stack: &StackManifest, addr: SocketAddr, interrupt: Interrupt<'_>) -> Result<(), StackError> {
    let deadline = Instant::now() + PORT_HELD_MAX;
    while ports::is_taken(addr) {
        if interrupt.is_given() {
            return Err(StackError::Interrupted { stack: stack.id.clone(), doing: "booted" });
        }
        if Instant::now() >= deadline {
            return Err(StackError::PortHeld { stack: stack.id.clone(), port: addr.port() });
        }
        std::thread::sleep(PORT_POLL);
    }
    Ok(())
}

/// What is started, after the placeholders are filled in.
struct Commands {
    /// Program, JVM flags and arguments.
    whole: Vec<String>,
    jvm_flags: Vec<String>,
    env: Vec<(String, String)>,
}

/// `None` when something else got the port first.
fn boot_on(
    stack: &StackManifest,
    run: &Run,
    options: &BootOptions<'_>,
    port: u16,
) -> Result<Option<Running>, StackError> {
    let work_dir = make_work_dir(options.work_dir)?;
    let build_dir = stack.build_dir();
    let address = address(stack, options);
    let addr = SocketAddr::from((address, port));
    let with = Placeholders {
        listen: Some(addr),
        upstreams: options.upstreams,
        proofload: options.proofload_exe,
        stack_dir: &stack.dir,
        build_dir: &build_dir,
        work_dir: &work_dir,
        parameters: &stack.parameters,
    };
    if stack.spoken.first().is_secured {
        write_certificate(stack, address, &work_dir)?;
    }
    write_files(stack, &with)?;
    let commands = fill(run, stack, &with);
    let begun = Instant::now();
    let at = At { speaks: stack.spoken.first(), ..At::plain(addr) };
    let dir = run.dir.as_deref().unwrap_or(&work_dir);
    let started = start(stack, options, &work_dir, dir, commands)?;
    await_ready(stack, at, started, begun, options.interrupt)
}

/// Absolute, since the stack runs inside of it.
fn make_work_dir(path: &Path) -> Result<std::path::PathBuf, StackError> {
    let made = fs::create_dir_all(path).and_then(|()| path.canonicalize());
    made.map_err(StackError::io("make", path, "choose a writable folder for the run"))
}

/// What a server needs that speaks TLS: a certificate of its own, and its key.
fn write_certificate(stack: &StackManifest, address: Ipv4Addr, work_dir: &Path) -> Result<(), StackError> {
    let names = ["localhost".to_owned(), address.to_string()];
    let made = tls::self_signed(&names)
        .map_err(|error| StackError::NoCertificate { stack: stack.id.clone(), why: error.to_string() })?;
    for (name, text) in ["certificate.pem", "key.pem"].into_iter().zip(made) {
        let path = work_dir.join(name);
        fs::write(&path, text).map_err(StackError::io(
            "write",
            &path,
            "choose a writable folder for the run",
        ))?;
    }
    Ok(())
}

fn write_files(stack: &StackManifest, with: &Placeholders<'_>) -> Result<(), StackError> {
    for file in &stack.files {
        // It may have become another since the manifest was read.
        let text = toml_file::read(&file.template)?;
        let path = with.work_dir.join(&file.name);
        fs::write(&path, with.fill(&text)).map_err(StackError::io(
            "write",
            &path,
            "choose a writable folder for the run",
        ))?;
    }
    Ok(())
}

fn fill(run: &Run, stack: &StackManifest, with: &Placeholders<'_>) -> Commands {
    let (whole, jvm_flags) = command(run, stack, with);
    let env = run.env.iter().map(|(name, value)| (name.clone(), value.fill(with))).collect();
    Commands { whole, jvm_flags, env }
}

/// Program, JVM flags and arguments; and the JVM flags among them by themselves.
pub(crate) fn command(
    run: &Run,
    stack: &StackManifest,
    with: &Placeholders<'_>,
) -> (Vec<String>, Vec<String>) {
    let jvm_flags: Vec<String> = run.jvm_flags.iter().map(|flag| flag.fill(with)).collect();
    let mut whole: Vec<String> = run.command.iter().map(|part| part.fill(with)).collect();
    // What a server writes for a while stays with the trial: Tomcat never removes its folders.
    let temporary = run.is_java().then(|| format!("-Djava.io.tmpdir={}", with.work_dir.display()));
    whole[0] = needs::resolve(stack, &whole[0]);
    whole.splice(1..1, temporary.into_iter().chain(jvm_flags.iter().cloned()));
    (whole, jvm_flags)
}

fn start(
    stack: &StackManifest,
    options: &BootOptions<'_>,
    work_dir: &Path,
    dir: &Path,
    commands: Commands,
) -> Result<Started, StackError> {
    let (output, log_from) = log::open(options.log)?;
    let exe = options.proofload_exe;
    let failed = |error| StackError::io("start", exe, "check that it is the proofload binary")(error);
    let mut command = Command::new(exe);
    command.args(supervise::arguments(&commands.whole)).process_group(0);
    command.current_dir(dir);
    for name in HIDDEN_JVM_FLAGS {
        command.env_remove(name);
    }
    command.env("TMPDIR", work_dir).envs(needs::run_environment(stack)).envs(commands.env);
    command.stdin(Stdio::piped()).stdout(output.try_clone().map_err(failed)?).stderr(output);
    let mut supervisor = command.spawn().map_err(failed)?;
    // The supervisor waits for the word; what it starts then inherits the cores and the limits.
    let kept = options.cpus.map_or(Ok(()), |cpus| cpus.keep(supervisor.id())).map_err(failed);
    let cgroup = Cgroup::enclose(supervisor.id());
    let limited =
        kept.and_then(|()| limits::enforce(&stack.id, stack.limits, supervisor.id(), cgroup.as_ref()));
    let limits = match limited {
        Ok(limits) => limits,
        Err(error) => {
            let _ = supervisor.kill().and_then(|()| supervisor.wait());
            return Err(error);
        }
    };
    let mut parent_pipe = supervisor.stdin.take();
    // When the supervisor is gone already, waiting for the stack to be ready finds that out.
    let _ = parent_pipe.as_mut().map(|pipe| pipe.write_all(b"g"));
    Ok(Started {
        command: commands.whole,
        jvm_flags: commands.jvm_flags,
        boot_took: Duration::ZERO,
        log: options.log.to_owned(),
        log_from,
        leader: supervisor.id().cast_signed(),
        supervisor: supervisor.into(),
        parent_pipe,
        cgroup,
        _limits: limits,
    })
}

/// Asks until the answer is right, the process is gone, or the time is up. `None` when something else got the
/// port first.
fn await_ready(
    stack: &StackManifest,
    at: At,
    mut started: Started,
    begun: Instant,
    interrupt: Interrupt<'_>,
) -> Result<Option<Running>, StackError> {
    let ready = &stack.ready;
    let deadline = begun + StdDuration::from(ready.timeout);
    loop {
        if interrupt.is_given() {
            return Err(StackError::Interrupted { stack: stack.id.clone(), doing: "booted" });
        }
        if let Some(status) = started.exit_status() {
            return give_up(&started, |started| StackError::Died {
                stack: stack.id.clone(),
                status: status.to_string(),
                help: after(status),
                command: plan::shell::command(&started.command),
                log: log::end(&started.log, started.log_from).into(),
            });
        }
        let last = match try_once(&ready.when, &at, deadline) {
            Ok(()) => {
                started.boot_took = begun.elapsed().into();
                let is_ours = is_ours(&at, &started);
                let running = Running { id: stack.id.clone(), at, started: Some(started) };
                return Ok(is_ours.then_some(running));
            }
            Err(failure) => failure,
        };
        if Instant::now() >= deadline {
            return give_up(&started, |started| StackError::NotReady {
                stack: stack.id.clone(),
                timeout: ready.timeout,
                asked: asked(&ready.when, &at),
                last,
                listening: Listening::of(at.addr, listener::addresses_of(&started.pids())),
                log: log::end(&started.log, started.log_from).into(),
            });
        }
        std::thread::sleep(ASK_EVERY);
    }
}

/// What helps after a command that ended so, before it was ready. One that went well has started its server and left it, and what is
/// left by its command is ended.
fn after(status: ExitStatus) -> &'static str {
    if status.success() {
        "have its command stay in the foreground for as long as it serves, and not start a daemon"
    } else {
        "see why below"
    }
}

/// A right answer may come from another server on the same port; this one fails to bind meanwhile.
fn is_ours(at: &At, started: &Started) -> bool {
    listener::is_owned(at.addr.port(), &started.pids()) != Some(false)
}

/// Why there is no [`Running`]: none of that if it was for the port, else an error. Dropping `started` ends it.
fn give_up(
    started: &Started,
    error: impl FnOnce(&Started) -> StackError,
) -> Result<Option<Running>, StackError> {
    let printed = started.log_tail(usize::MAX).to_lowercase();
    if PORT_TAKEN.iter().any(|words| printed.contains(words)) {
        return Ok(None);
    }
    Err(error(started))
}
