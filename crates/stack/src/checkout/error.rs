//! Why a version of a project can't be had.

use std::io;
use std::path::{Path, PathBuf};

use units::Duration;

use super::EXCLUDES_BYTES_MAX;

/// A command of git that takes longer is ended: a large repository is checked out in a minute or two.
pub(super) const GIT_TIMEOUT: Duration = Duration::from_secs(10 * 60);

/// Why a version can't be had.
#[derive(Debug, thiserror::Error)]
pub enum CheckoutError {
    /// Git is not there.
    #[error("git cannot be run ({source}); install it")]
    NoGit {
        /// What the system said.
        source: io::Error,
    },
    /// The folder is in no repository.
    #[error("{} is in no git repository with a working tree ({said}); go to the folder of your service", folder.display())]
    NoRepository {
        /// The folder.
        folder: PathBuf,
        /// What git said.
        said: String,
    },
    /// There is no such commit.
    #[error(
        "git knows no commit `{name}` here; name a branch, a tag or a commit, or fetch it first, as in: \
         git fetch origin main, and then origin/main"
    )]
    UnknownRevision {
        /// As it was named.
        name: String,
    },
    /// The version does not have the project's folder.
    #[error("{name} has no folder {}; name a version that has the service", folder.display())]
    NoFolder {
        /// The version.
        name: String,
        /// The folder, from the top of the repository.
        folder: PathBuf,
    },
    /// A command of git failed.
    #[error("`{command}` failed: {said}; run it by hand")]
    Git {
        /// The command, as a shell takes it.
        command: String,
        /// What it said.
        said: String,
    },
    /// A command of git took too long.
    #[error("`{command}` took longer than {}; run it by hand", GIT_TIMEOUT)]
    TooLate {
        /// The command, as a shell takes it.
        command: String,
    },
    /// The folder of a version could not be removed.
    #[error(
        "the folder of a version is left: {} ({source}); remove it, and then what git knows of it: git worktree prune",
        folder.display()
    )]
    FolderLeft {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The folder of a version is gone, and git knows of it still.
    #[error(
        "the folder of a version is gone, and git has not forgotten it: {} ({said}); have it do so: git worktree prune",
        folder.display()
    )]
    NotForgotten {
        /// The folder that was.
        folder: PathBuf,
        /// What git said.
        said: String,
    },
    /// What git is to ignore is too much to be true.
    #[error("{} has more than {EXCLUDES_BYTES_MAX} bytes of patterns for git to ignore; shorten it", path.display())]
    ExcludesTooLong {
        /// The file.
        path: PathBuf,
    },
    /// The user wanted it to end.
    #[error("interrupted before anything was measured; begin again")]
    Interrupted,
    /// The system refused something.
    #[error("cannot {what} {} ({source}); make room there, or set TMPDIR", path.display())]
    Io {
        /// What was tried, as in `cannot … <path>`.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl CheckoutError {
    pub(super) fn io(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { what, path, source }
    }
}
