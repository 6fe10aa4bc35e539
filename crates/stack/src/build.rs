//! Building a stack, when what it is made of has changed.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration as StdDuration, Instant};

use plan::stack::{Build, Placeholders, StackManifest};
use units::Duration;

use crate::error::StackError;
use crate::{log, tools};

/// A build that takes longer is ended.
const TIMEOUT: Duration = Duration::from_secs(30 * 60);
const POLL: StdDuration = StdDuration::from_millis(20);
const INPUT_FILES_MAX: usize = 100_000;
/// Folders that are made by builds, whatever an input folder holds beside them.
const MADE: [&str; 2] = ["build", "target"];
const HELP_FOLDER: &str = "check that the folder of stacks is writable";

/// What [`build`] did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildOutcome {
    /// Whether the command ran; not when nothing changed, or there is nothing to build.
    pub built: bool,
    /// How long it all took, waiting for another proofload's build of it included.
    pub took: Duration,
    /// A hash of the command and its inputs, in hexadecimal; `None` when there is nothing to build.
    pub inputs: Option<String>,
}

/// Builds `stack` unless its inputs and command are those of the last build that succeeded. Two that build the
/// same at once wait for each other. What the command prints is appended to `log`.
///
/// The tools' own versions are not among the inputs: after a new compiler, remove the build folder.
pub fn build(stack: &StackManifest, log: &Path) -> Result<BuildOutcome, StackError> {
    let begun = Instant::now();
    let Some(plan) = &stack.build else {
        return Ok(BuildOutcome { built: false, took: Duration::ZERO, inputs: None });
    };
    let command = fill(stack, plan);
    fs::create_dir_all(&plan.build_dir).map_err(StackError::io("make", &plan.build_dir, HELP_FOLDER))?;
    let _lock = lock(&plan.build_dir.join(".lock"))?;
    // Stacks that share a folder may build it with different commands, so each command has its stamp.
    let stamp = plan.build_dir.join(format!(".stamp-{:016x}", hash_of(&command)));
    let inputs = hash_inputs(plan, &command)?;
    let unchanged = fs::read_to_string(&stamp).is_ok_and(|last| last == inputs) && plan.output.exists();
    if !unchanged {
        remove_if_there(&stamp)?;
        run(stack, plan, &command, log)?;
        fs::write(&stamp, &inputs).map_err(StackError::io("write", &stamp, HELP_FOLDER))?;
    }
    Ok(BuildOutcome { built: !unchanged, took: begun.elapsed().into(), inputs: Some(inputs) })
}

fn fill(stack: &StackManifest, plan: &Build) -> Vec<String> {
    // The manifest's validation leaves only {build_dir} and {stack_dir} in a build's command.
    let nowhere = Path::new("");
    let with = Placeholders {
        port: None,
        proofload: nowhere,
        stack_dir: &stack.dir,
        build_dir: &plan.build_dir,
        work_dir: nowhere,
    };
    plan.command.iter().map(|part| part.fill(&with)).collect()
}

/// Waits for an exclusive lock, which the kernel frees when the file is closed, however this process ends.
fn lock(path: &Path) -> Result<File, StackError> {
    let take = || {
        let file = File::create(path)?;
        file.lock()?;
        io::Result::Ok(file)
    };
    take().map_err(StackError::io("lock", path, HELP_FOLDER))
}

fn remove_if_there(path: &Path) -> Result<(), StackError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(StackError::io("remove", path, HELP_FOLDER)(error))
        }
        _ => Ok(()),
    }
}

fn run(stack: &StackManifest, plan: &Build, command: &[String], log: &Path) -> Result<(), StackError> {
    let (output, from) = log::open(log)?;
    let failed = |why: String| StackError::Build {
        stack: stack.id.clone(),
        why,
        dir: plan.dir.clone(),
        command: command.join(" "),
        log: log::end(log, from).into(),
    };
    let spawn = || {
        Command::new(&command[0])
            .args(&command[1..])
            .current_dir(&plan.dir)
            .env("PATH", tools::search_path())
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .spawn()
    };
    let mut child =
        spawn().map_err(|error| failed(format!("`{}` cannot be started ({error})", command[0])))?;
    let status = wait(&mut child).map_err(|error| failed(format!("it cannot be waited for ({error})")))?;
    match status {
        None => Err(failed(format!("it took longer than {TIMEOUT}"))),
        Some(status) if !status.success() => Err(failed(format!("the command ended with {status}"))),
        Some(_) if !plan.output.exists() => {
            Err(failed(format!("the command succeeded without making {}", plan.output.display())))
        }
        Some(_) => Ok(()),
    }
}

/// `None` when it took too long; it is killed then.
fn wait(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let deadline = Instant::now() + TIMEOUT.into();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(POLL);
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    // Without keys, so the same in each run; a new std may hash otherwise, which costs one build.
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A hash of the command, and of the names and contents of every input file.
fn hash_inputs(plan: &Build, command: &[String]) -> Result<String, StackError> {
    let mut files = Vec::new();
    for input in &plan.inputs {
        list_files(input, &mut files)?;
    }
    files.sort_unstable();
    let mut hasher = DefaultHasher::new();
    command.hash(&mut hasher);
    for file in files {
        file.strip_prefix(&plan.dir).unwrap_or(&file).hash(&mut hasher);
        let content = fs::read(&file).map_err(StackError::io("read", &file, "check its permissions"))?;
        content.hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

/// Appends the files in `path`, or `path` itself where it is one.
fn list_files(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), StackError> {
    let failed = || StackError::io("list", path, "name the inputs of the build more narrowly");
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path).map_err(failed())? {
        let entry = entry.map_err(failed())?;
        let is_dir = entry.file_type().map_err(failed())?.is_dir();
        if is_dir && MADE.iter().any(|made| entry.file_name() == *made) {
            continue;
        }
        if files.len() >= INPUT_FILES_MAX {
            return Err(failed()(io::Error::other("more than 100000 files")));
        }
        // A link to a folder is not followed: it may lead anywhere, and around in a circle.
        if is_dir || !entry.path().is_dir() {
            list_files(&entry.path(), files)?;
        }
    }
    Ok(())
}
