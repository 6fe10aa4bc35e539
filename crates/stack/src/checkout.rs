//! Versions of a project in folders of their own: commits of its git repository, and its working tree as it is.
//!
//! Invariant: nothing of the user's working tree and index is touched. A version is a worktree in a folder for temporary
//! files, which goes with its [`Checkout`]; what a process that was killed has left there goes when the next one begins.

mod error;
mod git;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

pub use self::error::CheckoutError;
use self::git::Git;
pub use self::git::git_in;
use crate::interrupt::Interrupt;

/// How the names of folders begin that hold worktrees of ours.
pub const CHECKOUTS_PREFIX: &str = "proofload-diff-";
/// Held for as long as its folder is in use, and let go by the kernel however we end.
const LOCK: &str = "lock";
/// An index of our own, and what git is to ignore.
const INDEX: &str = "index";
const EXCLUDES: &str = "excludes";
/// Bytes of what the user has git ignore everywhere.
const EXCLUDES_BYTES_MAX: u64 = 1 << 20;
/// Where services are built; nothing of a project, also where git was not told to ignore it.
const OURS: &str = ".proofload";
/// Worktrees of a repository that are looked at.
const WORKTREES_MAX: usize = 10_000;

/// A version of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// As it was named; of the working tree, in words.
    pub name: String,
    /// The commit; of the working tree, the one that it differs from.
    pub commit: String,
    /// The first line of its message.
    pub subject: String,
    /// Of the working tree: how many files differ from the commit.
    pub changed_files: Option<usize>,
    /// What is checked out.
    content: String,
}

/// The repository around a project.
#[derive(Debug)]
pub struct Repository<'a> {
    git: Git<'a>,
    /// The project's folder, from the top of the repository.
    project: PathBuf,
    /// For worktrees and all that is needed for them.
    scratch: PathBuf,
    /// Held until the end.
    _lock: File,
}

impl<'a> Repository<'a> {
    /// The repository that `folder` is in. Worktrees of it go to `scratch`, a folder of this process's own whose name begins
    /// with [`CHECKOUTS_PREFIX`]; those that others have left behind in such folders are removed.
    ///
    /// # Panics
    /// If its name begins otherwise.
    pub fn around(folder: &Path, scratch: &Path, interrupt: Interrupt<'a>) -> Result<Self, CheckoutError> {
        assert!(is_of_ours(scratch), "others that begin must know the folder for one of ours");
        let git = Git::in_folder(folder, interrupt);
        let asked = |what| {
            git.run(["rev-parse", what]).map_err(|error| match error {
                CheckoutError::Git { said, .. } => {
                    CheckoutError::NoRepository { folder: folder.to_owned(), said: first_line(&said) }
                }
                other => other,
            })
        };
        let (top, project) = (asked("--show-toplevel")?, asked("--show-prefix")?);
        let path = scratch.join(LOCK);
        let lock = File::create(&path).map_err(CheckoutError::io("make", &path))?;
        lock.lock().map_err(CheckoutError::io("lock", &path))?;
        let git = Git::in_folder(Path::new(&top), interrupt);
        let repository = Self { git, project: project.into(), scratch: scratch.to_owned(), _lock: lock };
        repository.remove_left_over();
        Ok(repository)
    }

    /// The top of its working tree.
    pub fn folder(&self) -> &Path {
        self.git.folder()
    }

    /// The commit that is called `name`.
    pub fn revision(&self, name: &str) -> Result<Revision, CheckoutError> {
        let unknown = |error| match error {
            CheckoutError::Git { .. } => CheckoutError::UnknownRevision { name: name.to_owned() },
            other => other,
        };
        let wanted = format!("{name}^{{commit}}");
        let found = self.git.run(["rev-parse", "--verify", "--quiet", "--end-of-options", &wanted]);
        let commit = found.map_err(unknown)?;
        // Behind a line of its own for the commit; `log` has whatever its user wants to see in it.
        let told = self.git.run(["rev-list", "--max-count=1", "--format=%s", &commit])?;
        let subject = told.lines().nth(1).unwrap_or_default().to_owned();
        Ok(Revision { name: name.to_owned(), content: commit.clone(), commit, subject, changed_files: None })
    }

    /// The working tree as it is now, with files that git does not know yet and without those that it ignores and those in
    /// `leave_out`. It becomes a commit that no branch has, by an index of our own.
    pub fn working_tree(&self, leave_out: &Path) -> Result<Revision, CheckoutError> {
        let head = self.revision("HEAD")?;
        let index = self.scratch.join(INDEX);
        let of_user = self.git.folder().join(self.git.run(["rev-parse", "--git-path", "index"])?);
        if of_user.is_file() {
            // What git remembers of files in it saves to read them all.
            copy_index(&of_user, &index).map_err(CheckoutError::io("copy", &of_user))?;
        }
        let git = self.git.with_index(&index);
        let excludes = format!("core.excludesFile={}", self.excludes(leave_out)?.display());
        git.run(["-c", &excludes, "add", "--all", "--", "."])?;
        let tree = git.run(["write-tree"])?;
        let content = git.run(["commit-tree", &tree, "-p", &head.commit, "-m", "The working tree"])?;
        let changed =
            git.run(["diff-tree", "-r", "--name-only", "--no-commit-id", &head.commit, &content])?;
        let name = "the working tree".to_owned();
        Ok(Revision { name, content, changed_files: Some(changed.lines().count()), ..head })
    }

    /// A file of what git ignores here: what the user has it ignore everywhere, and what is ours. Only what git does not know
    /// yet is ignored by it.
    fn excludes(&self, leave_out: &Path) -> Result<PathBuf, CheckoutError> {
        let named = self.git.run(["config", "--get", "--type=path", "core.excludesFile"]).ok();
        let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
        let config = config.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")));
        let of_user = named.map(PathBuf::from).or_else(|| Some(config?.join("git/ignore")));
        let mut text = of_user.map_or_else(|| Ok(String::new()), |path| patterns_of_user(&path))?;
        text.extend(["\n", OURS, "/\n"]);
        let inside = leave_out.canonicalize().ok().and_then(|it| {
            let top = self.git.folder().canonicalize().ok()?;
            Some(it.strip_prefix(top).ok()?.to_owned()).filter(|it| !it.as_os_str().is_empty())
        });
        text.extend(inside.map(|it| format!("/{}/\n", as_pattern(&it))));
        let path = self.scratch.join(EXCLUDES);
        std::fs::write(&path, text).map_err(CheckoutError::io("write", &path))?;
        Ok(path)
    }

    /// Has a version in a folder `name` of its own.
    pub fn check_out(&self, revision: &Revision, name: &str) -> Result<Checkout, CheckoutError> {
        let dir = self.scratch.join(name);
        let checkout = Checkout {
            git: self.git.to_the_end(),
            project: dir.join(&self.project),
            dir: dir.clone(),
            is_removed: false,
        };
        let of = [dir.as_os_str(), OsStr::new(&revision.content)];
        self.git.run(words(&["worktree", "add", "--quiet", "--detach"], &of))?;
        if !checkout.project.is_dir() {
            return Err(CheckoutError::NoFolder {
                name: revision.name.clone(),
                folder: self.project.clone(),
            });
        }
        Ok(checkout)
    }

    /// Removes worktrees in folders of ours whose process is gone: those with a lock that nobody holds. A folder without one is
    /// somebody else's, or on a disk that is not seen from here. What can't be removed stays, and keeps nobody from measuring.
    fn remove_left_over(&self) {
        let Ok(listed) = self.git.run(["worktree", "list", "--porcelain"]) else { return };
        let dirs = listed.lines().filter_map(|line| line.strip_prefix("worktree ")).take(WORKTREES_MAX);
        let mut by_folder: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
        for dir in dirs.map(Path::new) {
            if let Some(folder) = dir.parent().filter(|it| is_of_ours(it) && *it != self.scratch) {
                by_folder.entry(folder).or_default().push(dir);
            }
        }
        for (folder, dirs) in by_folder {
            // Held until all of it is gone.
            let Some(_lock) = free_lock(&folder.join(LOCK)) else { continue };
            for dir in dirs {
                let _ = remove(&self.git.to_the_end(), dir);
            }
            for file in [INDEX, EXCLUDES, LOCK] {
                let _ = std::fs::remove_file(folder.join(file));
            }
            // Whatever else is in it is not ours, and keeps it.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Copies an index with the time at which it was written. What was changed within that second git can't tell by its time, and reads
/// anew; to an index that seems younger it would be as it was.
fn copy_index(from: &Path, to: &Path) -> std::io::Result<()> {
    // Before the copy: where another one takes its place meanwhile, more is read anew, and never less.
    let written = from.metadata()?.modified()?;
    std::fs::copy(from, to)?;
    File::options().write(true).open(to)?.set_modified(written)
}

/// What the user has git ignore everywhere. A file that can't be read git passes over as well.
fn patterns_of_user(path: &Path) -> Result<String, CheckoutError> {
    let mut text = String::new();
    // Of a pipe, opening it might wait for ever.
    if path.is_file()
        && let Ok(file) = File::open(path)
        && file.take(EXCLUDES_BYTES_MAX + 1).read_to_string(&mut text).is_err()
    {
        text.clear();
    }
    if text.len() as u64 > EXCLUDES_BYTES_MAX {
        return Err(CheckoutError::ExcludesTooLong { path: path.to_owned() });
    }
    Ok(text)
}

/// A path as a pattern of git's that fits nothing else.
fn as_pattern(path: &Path) -> String {
    let mut pattern = String::new();
    for char in path.display().to_string().chars() {
        if matches!(char, '\\' | '*' | '?' | '[') {
            pattern.push('\\');
        }
        pattern.push(char);
    }
    pattern
}

/// The lock at `path`, taken; `None` where there is none, and where its process is at work.
fn free_lock(path: &Path) -> Option<File> {
    let is_file = std::fs::symlink_metadata(path).is_ok_and(|it| it.is_file());
    let lock = File::open(path).ok().filter(|_| is_file)?;
    lock.try_lock().is_ok().then_some(lock)
}

fn is_of_ours(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with(CHECKOUTS_PREFIX))
}

/// Removes a worktree, and what git leaves of its folder. An error says what is left of it.
fn remove(git: &Git<'_>, dir: &Path) -> Result<(), CheckoutError> {
    // Where it is none, there may be a folder all the same.
    let by_git = git.run(words(&["worktree", "remove", "--force", "--force"], &[dir.as_os_str()]));
    let by_us = std::fs::remove_dir_all(dir).err().filter(|error| error.kind() != ErrorKind::NotFound);
    let folder = dir.to_owned();
    match (by_us, by_git) {
        (Some(source), _) => Err(CheckoutError::FolderLeft { folder, source }),
        (None, Err(CheckoutError::Git { said, .. })) => {
            Err(CheckoutError::NotForgotten { folder, said: first_line(&said) })
        }
        (None, Err(other)) => Err(CheckoutError::NotForgotten { folder, said: other.to_string() }),
        (None, Ok(_)) => Ok(()),
    }
}

/// A command and what it is about.
fn words(command: &[&str], of: &[&OsStr]) -> Vec<OsString> {
    command.iter().map(OsStr::new).chain(of.iter().copied()).map(OsStr::to_owned).collect()
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// A version in a folder of its own, removed with this value.
#[derive(Debug)]
pub struct Checkout {
    git: Git<'static>,
    dir: PathBuf,
    project: PathBuf,
    is_removed: bool,
}

impl Checkout {
    /// The project's folder in it.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Whether it names repositories within the repository, which are not fetched.
    pub fn has_submodules(&self) -> bool {
        self.dir.join(".gitmodules").is_file()
    }

    /// Removes it, for whoever tells what is left of it, which the error does. It is tried once.
    pub fn remove(&mut self) -> Result<(), CheckoutError> {
        self.is_removed = true;
        remove(&self.git, &self.dir)
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        if !self.is_removed {
            let _ = self.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_user_has_git_ignore_is_read_up_to_a_bound() {
        let dir = tempfile::tempdir().expect("there is room for a folder");
        let file = |name: &str, bytes: &[u8]| {
            let path = dir.path().join(name);
            std::fs::write(&path, bytes).expect("it can be written");
            path
        };
        let read = |path: &Path| patterns_of_user(path).map_err(|error| error.to_string());
        assert_eq!(read(&file("usual", b"*.swp\n")), Ok("*.swp\n".to_owned()));
        assert_eq!(read(&dir.path().join("missing")), Ok(String::new()));
        assert_eq!(read(dir.path()), Ok(String::new()), "a folder is no file of patterns");
        assert_eq!(read(&file("no text", b"\xff\n")), Ok(String::new()));
        let long = vec![b'#'; EXCLUDES_BYTES_MAX as usize];
        assert_eq!(read(&file("as long as may be", &long)).map(|it| it.len()), Ok(long.len()));
        let told = read(&file("longer", &[long.as_slice(), b"#"].concat())).unwrap_err();
        assert!(told.contains("longer has more than 1048576 bytes of patterns"), "{told}");
    }
}
