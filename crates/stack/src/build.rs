//! Building a stack, when what it is made of has changed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration as StdDuration, Instant};

use plan::stack::{Build, Placeholders, StackManifest, Upstreams};
use units::Duration;

use crate::error::StackError;
use crate::interrupt::Interrupt;
use crate::lock::{self, Shared};
use crate::{log, needs, supervise};

/// A build that takes longer is ended.
const TIMEOUT: Duration = Duration::from_secs(30 * 60);
const POLL: StdDuration = StdDuration::from_millis(20);
/// Exit codes from here on are of commands that a signal ended, as shells and our supervisor tell them.
const SIGNALLED: i32 = 128;
/// Of an input file that are held at a time.
const CHUNK_BYTES: usize = 64 << 10;
const INPUT_FILES_MAX: usize = 100_000;
/// Folders that tools keep beside sources, and that nothing is built from.
const KEPT: [&str; 6] = [GIT, ".proofload", "node_modules", ".gradle", ".kotlin", "__pycache__"];
/// Folders that builds and runs make in the folder that is built, and in each part of it. Elsewhere they hold sources: a package may
/// be called so.
const MADE: [&str; 3] = ["build", "target", "runs"];
/// By any of these, a folder is a part that is built by itself.
const OF_A_PART: [&str; 11] = [
    "build.gradle",
    "build.gradle.kts",
    "build.sbt",
    "Cargo.toml",
    "CMakeLists.txt",
    "Makefile",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "setup.py",
    "src",
];
const GIT: &str = ".git";
/// What the folder of a run has from its beginning on.
const OF_A_RUN: [&str; 3] = ["experiment.toml", "trials.jsonl", "trials"];
const LOCK: &str = ".lock";
const MAVEN: &str = "mvn";
/// Maven as a project brings it along.
const MAVEN_WRAPPER: &str = "mvnw";
/// There while a build goes on; found there by the next one, the last was cut short.
const UNFINISHED: &str = ".unfinished";
const HELP_FOLDER: &str = "check that the folder of stacks is writable";

/// What [`build`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildOutcome {
    /// Whether the command ran; not when nothing changed, or there is nothing to build.
    pub built: bool,
    /// How long it all took, waiting for others' builds included.
    pub took: Duration,
    /// A hash of the command and its inputs, in hexadecimal; `None` when there is nothing to build.
    pub inputs: Option<String>,
}

/// What a build needs beside the manifest.
#[derive(Debug, Clone, Copy)]
pub struct BuildOptions<'a> {
    /// The `proofload` binary, to supervise.
    pub proofload_exe: &'a Path,
    /// Where what the command prints is appended.
    pub log: &'a Path,
    /// Ends the build.
    pub interrupt: Interrupt<'a>,
}

/// Builds `stack` unless its inputs and command are those of the last build that succeeded. Two that build the
/// same at once wait for each other, and so do two that use Maven's repository; who waits for longer tells `waits` for
/// what, and with `None` when it builds. However this process ends, the build ends with it; the next one begins with
/// an empty build folder then, since nobody knows what was half written.
///
/// Of the tools' versions only the JDK's is among the inputs: after a new compiler, remove the build folder.
pub fn build(
    stack: &StackManifest,
    options: &BuildOptions<'_>,
    waits: &mut dyn FnMut(Option<Shared>),
) -> Result<BuildOutcome, StackError> {
    let begun = Instant::now();
    let Some(plan) = &stack.build else {
        return Ok(BuildOutcome { built: false, took: Duration::ZERO, inputs: None });
    };
    let command = fill(stack, plan);
    fs::create_dir_all(&plan.build_dir).map_err(StackError::io("make", &plan.build_dir, HELP_FOLDER))?;
    let _folder = hold_folder(stack, plan, options.interrupt, waits)?;
    let unfinished = plan.build_dir.join(UNFINISHED);
    if unfinished.exists() {
        clear(&plan.build_dir)?;
    }
    // Stacks that share a folder may build it with different commands, so each command has its stamp.
    let stamp = plan.build_dir.join(format!(".stamp-{:016x}", hash_of(&command)));
    let inputs = hash_inputs(plan, &command, stack.needs.jdk.and_then(needs::jdk_from).as_deref())?;
    let unchanged = fs::read_to_string(&stamp).is_ok_and(|last| last == inputs) && plan.output.exists();
    if !unchanged {
        let _repository = hold_repository(stack, &command, options.interrupt, waits)?;
        remove_if_there(&stamp)?;
        fs::write(&unfinished, "").map_err(StackError::io("write", &unfinished, HELP_FOLDER))?;
        run(stack, plan, &command, options, &unfinished)?;
        fs::write(&stamp, &inputs).map_err(StackError::io("write", &stamp, HELP_FOLDER))?;
    }
    Ok(BuildOutcome { built: !unchanged, took: begun.elapsed().into(), inputs: Some(inputs) })
}

fn fill(stack: &StackManifest, plan: &Build) -> Vec<String> {
    // The manifest's validation leaves only {build_dir} and {stack_dir} in a build's command.
    let nowhere = Path::new("");
    let with = Placeholders {
        listen: None,
        upstreams: &Upstreams::default(),
        proofload: nowhere,
        stack_dir: &stack.dir,
        build_dir: &plan.build_dir,
        work_dir: nowhere,
        parameters: &BTreeMap::new(),
    };
    plan.command.iter().map(|part| part.fill(&with)).collect()
}

fn interrupted(stack: &StackManifest) -> StackError {
    StackError::Interrupted { stack: stack.id.clone(), doing: "built" }
}

/// Waits for the folder that it is built in, which is its alone until the file is closed.
fn hold_folder(
    stack: &StackManifest,
    plan: &Build,
    interrupt: Interrupt<'_>,
    waits: &mut dyn FnMut(Option<Shared>),
) -> Result<File, StackError> {
    let path = plan.build_dir.join(LOCK);
    let failed = || StackError::io("lock", &path, HELP_FOLDER);
    let file = File::create(&path).map_err(failed())?;
    let mut tell = |is_waiting: bool| waits(is_waiting.then_some(Shared::BuildFolder));
    let is_ours = lock::take(&file, lock::SILENT_MAX, interrupt, &mut tell).map_err(failed())?;
    if is_ours { Ok(file) } else { Err(interrupted(stack)) }
}

/// Waits for the repository that Maven keeps for all checkouts of a user, where `command` uses it: two at once may write one
/// file of it. `None` where there is nothing to wait for, or no lock.
fn hold_repository(
    stack: &StackManifest,
    command: &[String],
    interrupt: Interrupt<'_>,
    waits: &mut dyn FnMut(Option<Shared>),
) -> Result<Option<File>, StackError> {
    if !uses_maven(&stack.needs.tools, command) {
        return Ok(None);
    }
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let Some(file) = home.and_then(|home| lock::of_maven_repository(&home)) else { return Ok(None) };
    let mut tell = |is_waiting: bool| waits(is_waiting.then_some(Shared::MavenRepository));
    match lock::take(&file, lock::SILENT_MAX, interrupt, &mut tell) {
        Ok(true) => Ok(Some(file)),
        Ok(false) => Err(interrupted(stack)),
        // A file system may have no locks, and Maven does without.
        Err(_) => Ok(None),
    }
}

/// Whether a build that needs `tools` runs Maven: by its own word, or by the wrapper that its command names.
fn uses_maven(tools: &[String], command: &[String]) -> bool {
    tools.iter().any(|tool| tool == MAVEN) || command.iter().any(|word| word.contains(MAVEN_WRAPPER))
}

fn remove_if_there(path: &Path) -> Result<(), StackError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StackError::io("remove", path, HELP_FOLDER)(error))
        }
        _ => Ok(()),
    }
}

/// Removes what an interrupted build left behind, the lock excepted.
fn clear(build_dir: &Path) -> Result<(), StackError> {
    let remove_all = || {
        for entry in fs::read_dir(build_dir)? {
            let entry = entry?;
            // The mark goes last: until then, the folder is not clear.
            if entry.file_name() == LOCK || entry.file_name() == UNFINISHED {
                continue;
            }
            let is_dir = entry.file_type()?.is_dir();
            if is_dir { fs::remove_dir_all(entry.path())? } else { fs::remove_file(entry.path())? }
        }
        io::Result::Ok(())
    };
    remove_all().map_err(StackError::io("clear", build_dir, HELP_FOLDER))?;
    remove_if_there(&build_dir.join(UNFINISHED))
}

fn run(
    stack: &StackManifest,
    plan: &Build,
    command: &[String],
    options: &BuildOptions<'_>,
    unfinished: &Path,
) -> Result<(), StackError> {
    let (output, from) = log::open(options.log)?;
    let failed = |why: String| StackError::Build {
        stack: stack.id.clone(),
        why,
        dir: plan.dir.clone(),
        command: plan::shell::command(command),
        log: log::end(options.log, from).into(),
    };
    let spawn = || {
        let mut supervisor = Command::new(options.proofload_exe);
        supervisor.args(supervise::arguments(command)).current_dir(&plan.dir).process_group(0);
        supervisor.envs(needs::build_environment(stack)).stdin(Stdio::piped());
        let mut child = supervisor.stdout(output.try_clone()?).stderr(output).spawn()?;
        // It ends the build when this pipe closes.
        let mut pipe = child.stdin.take();
        pipe.as_mut().map_or(Ok(()), |pipe| pipe.write_all(b"g"))?;
        io::Result::Ok((child, pipe))
    };
    let (mut child, pipe) =
        spawn().map_err(|error| failed(format!("`{}` cannot be started ({error})", command[0])))?;
    let ended = wait(&mut child, pipe, options.interrupt);
    let ended = ended.map_err(|error| failed(format!("it cannot be waited for ({error})")))?;
    if let Ended::Itself(status) = &ended
        && status.code().is_some_and(|code| code < SIGNALLED)
    {
        // A command that ended by itself has cleaned up after itself, or says what is wrong.
        remove_if_there(unfinished)?;
    }
    match ended {
        Ended::TooLate => Err(failed(format!("it took longer than {TIMEOUT}"))),
        Ended::Interrupted => Err(interrupted(stack)),
        Ended::Itself(status) if !status.success() => Err(failed(format!("the command ended with {status}"))),
        Ended::Itself(_) if !plan.output.exists() => {
            Err(failed(format!("the command succeeded without making {}", plan.output.display())))
        }
        Ended::Itself(_) => Ok(()),
    }
}

/// How a build's command ended.
enum Ended {
    Itself(ExitStatus),
    TooLate,
    Interrupted,
}

/// Waits for the supervisor, and closes `pipe` when it must end before its time.
fn wait(child: &mut Child, pipe: Option<ChildStdin>, interrupt: Interrupt<'_>) -> io::Result<Ended> {
    let deadline = Instant::now() + StdDuration::from(TIMEOUT);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::Itself(status));
        }
        let why = if interrupt.is_given() {
            Ended::Interrupted
        } else if Instant::now() >= deadline {
            Ended::TooLate
        } else {
            std::thread::sleep(POLL);
            continue;
        };
        drop(pipe);
        child.wait()?;
        return Ok(why);
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    // Without keys, so the same in each run; a new std may hash otherwise, which costs one build.
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A hash of the command, the JDK's version, and the names and contents of every input file.
fn hash_inputs(plan: &Build, command: &[String], jdk: Option<&str>) -> Result<String, StackError> {
    let mut files = Vec::new();
    for input in &plan.inputs {
        // What the build runs in, or lies in.
        list_files(input, plan.dir.starts_with(input), &mut files)?;
    }
    files.sort_unstable();
    let mut hasher = DefaultHasher::new();
    command.hash(&mut hasher);
    jdk.hash(&mut hasher);
    for file in files {
        file.strip_prefix(&plan.dir).unwrap_or(&file).hash(&mut hasher);
        hash_content(&file, &mut hasher).map_err(StackError::io("read", &file, "check its permissions"))?;
    }
    Ok(format!("{:016x}", hasher.finish()))
}

/// As its bytes in one slice are hashed, and without ever holding all of them: an input may be a folder with anything in it.
fn hash_content(file: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    let mut reader = File::open(file)?;
    hasher.write_usize(reader.metadata()?.len() as usize);
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match reader.read(&mut chunk)? {
            0 => return Ok(()),
            count => hasher.write(&chunk[..count]),
        }
    }
}

/// Whether a folder is that of a run.
fn is_run(path: &Path) -> bool {
    OF_A_RUN.iter().all(|name| path.join(name).exists())
}

/// A short name of a text, the same for the same text.
pub fn fingerprint(text: &str) -> String {
    format!("{:016x}", hash_of(&text))
}

/// Whether builds make folders in this one.
fn is_part(path: &Path) -> bool {
    OF_A_PART.iter().any(|name| path.join(name).exists())
}

/// Appends the files in `path`, or `path` itself where it is one. `is_built` says whether it is the folder that is built.
fn list_files(path: &Path, is_built: bool, files: &mut Vec<PathBuf>) -> Result<(), StackError> {
    let failed = || StackError::io("list", path, "name the inputs of the build more narrowly");
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path).map_err(failed())? {
        let entry = entry.map_err(failed())?;
        let is_dir = entry.file_type().map_err(failed())?.is_dir();
        let is_one_of = |names: &[&str]| names.iter().any(|name| entry.file_name() == *name);
        // In a worktree of git it is a file that says where the worktree lies, and no part of what is built.
        if is_one_of(&KEPT) && (is_dir || is_one_of(&[GIT])) {
            continue;
        }
        if is_dir && is_one_of(&MADE) && (is_built || is_part(path)) {
            continue;
        }
        if files.len() >= INPUT_FILES_MAX {
            return Err(failed()(io::Error::other("more than 100000 files")));
        }
        // A link to a folder is not followed: it may lead anywhere, and around in a circle. What is no file (a socket, a pipe, an
        // editor's link that leads nowhere) is nothing to build from. What runs write changes with every run.
        let path = entry.path();
        if if is_dir { !is_run(&path) } else { path.is_file() } {
            list_files(&path, false, files)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stamps of earlier versions stay good.
    #[test]
    fn a_file_is_hashed_in_parts_as_in_one_piece() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("input");
        for length in [0, 1, CHUNK_BYTES, 3 * CHUNK_BYTES + 7] {
            let content: Vec<u8> = (0..length).map(|at| (at * 31 % 251) as u8).collect();
            fs::write(&file, &content).unwrap();
            let (mut whole, mut parts) = (DefaultHasher::new(), DefaultHasher::new());
            content.hash(&mut whole);
            hash_content(&file, &mut parts).unwrap();
            assert_eq!(whole.finish(), parts.finish(), "{length}");
        }
    }

    #[test]
    fn a_build_that_runs_maven_is_known() {
        let all = |words: &[&str]| -> Vec<String> { words.iter().map(|word| (*word).to_owned()).collect() };
        assert!(uses_maven(&all(&["mvn"]), &all(&["sh", "../maven.sh"])));
        assert!(uses_maven(&[], &all(&["sh", "-c", "./mvnw -q package"])));
        assert!(!uses_maven(&all(&["go"]), &all(&["go", "build"])));
    }

    /// It would be built again after each build, and no run of it could be gone on with.
    #[test]
    fn what_tools_keep_beside_their_sources_is_no_input() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["src/a", ".gradle/8.10/checksums", "src/__pycache__/a.pyc"] {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let mut files = Vec::new();
        list_files(dir.path(), true, &mut files).unwrap();
        assert_eq!(files, [dir.path().join("src/a")]);
    }

    /// Where its sources change and it is not built again, the version before is what is measured.
    #[test]
    fn a_package_may_be_called_as_what_builds_make() {
        let dir = tempfile::tempdir().unwrap();
        let sources = ["core/src/runs/a", "crates/target/Cargo.toml", "internal/build/a.go"];
        let made = ["build/a", "runs/notes", "target/a", "core/target/a", "crates/target/target/a"];
        for name in sources.into_iter().chain(made) {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let mut files = Vec::new();
        list_files(dir.path(), true, &mut files).unwrap();
        files.sort_unstable();
        assert_eq!(files, sources.map(|name| dir.path().join(name)));
    }
}
