//! What a command needs that builds, boots or measures stacks.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use driver::Control;
use lab::experiment::Bench;
use plan::stack::{Catalogue, StackManifest};
use plan::{shell, toml_file};
use record::COMMIT_DIGITS;
use stack::{Interrupt, git_in};

use crate::exit::Failure;
use crate::{inside, interrupt};

/// The file of a project that has its services, an experiment and a gate.
pub const PROJECT_FILE: &str = "proofload.toml";

/// An experiment as it is written.
pub struct Written {
    /// Its file.
    pub file: PathBuf,
    /// The text of that file.
    pub text: String,
    /// What paths of its services are relative to.
    pub folder: PathBuf,
}

impl Written {
    /// The services that it brings along, and the stacks in the folder `stacks`.
    fn catalogue(&self, stacks: &Path) -> Result<Catalogue, Failure> {
        let services = StackManifest::services(&self.file, &self.text, &self.folder)?;
        if services.is_empty() {
            return of_folder(stacks);
        }
        Ok(Catalogue::with_services(stacks, services)?)
    }
}

/// The stacks in the folder `stacks`; those that the binary has inside, where it is the folder of a checkout and this is run
/// in none.
pub fn of_folder(stacks: &Path) -> Result<Catalogue, Failure> {
    Ok(Catalogue::load(&inside::path(stacks)?)?)
}

/// The stacks in the folder `stacks`, and the services of the project that this is run in.
pub fn catalogue(stacks: &Path) -> Result<Catalogue, Failure> {
    let file = PathBuf::from(PROJECT_FILE);
    if !file.is_file() {
        return of_folder(stacks);
    }
    Written { text: toml_file::read(&file)?, file, folder: ".".into() }.catalogue(stacks)
}

/// The stacks, this program, and what ends it in good order.
pub struct Workbench {
    /// The stacks.
    pub catalogue: Catalogue,
    /// This binary.
    pub proofload_exe: PathBuf,
    /// Interrupted by the first Ctrl-C or SIGTERM.
    pub control: Arc<Control>,
    argv: Vec<String>,
    commit: Option<String>,
}

impl Workbench {
    /// Reads the stacks in the folder `stacks` and those of the project; from then on signals interrupt
    /// [`Workbench::control`].
    pub fn open(stacks: &Path) -> Result<Self, Failure> {
        Self::with(catalogue(stacks)?)
    }

    /// The same with the services that an experiment brings along. They are of the commit of their own folder, wherever this is
    /// run.
    pub fn for_experiment(stacks: &Path, written: &Written) -> Result<Self, Failure> {
        let catalogue = written.catalogue(stacks)?;
        let has_services = catalogue.iter().any(|it| it.file == written.file);
        let folder = has_services.then(|| written.folder.clone());
        Self::in_folder(folder, catalogue, interrupt::on_signals()?)
    }

    fn with(catalogue: Catalogue) -> Result<Self, Failure> {
        Self::controlled(catalogue, interrupt::on_signals()?)
    }

    /// The same with stacks of whatever kind, and a control that signals interrupt already.
    pub fn controlled(catalogue: Catalogue, control: Arc<Control>) -> Result<Self, Failure> {
        Self::in_folder(None, catalogue, control)
    }

    /// What is measured is of the commit in `folder`; without one, of that where the stacks are.
    fn in_folder(
        folder: Option<PathBuf>,
        catalogue: Catalogue,
        control: Arc<Control>,
    ) -> Result<Self, Failure> {
        let of_stacks = || if catalogue.dir().is_dir() { catalogue.dir().to_owned() } else { ".".into() };
        Ok(Self {
            commit: commit_of(&folder.unwrap_or_else(of_stacks)),
            catalogue,
            control,
            proofload_exe: own_binary()?,
            // A path need not be text.
            argv: std::env::args_os().map(|it| it.to_string_lossy().into_owned()).collect(),
        })
    }

    /// As a run takes it, of which no trial begins after `until`.
    pub fn bench(&self, until: Option<Instant>) -> Bench<'_> {
        Bench {
            catalogue: &self.catalogue,
            proofload_exe: &self.proofload_exe,
            version: env!("CARGO_PKG_VERSION"),
            argv: &self.argv,
            interrupt: &self.control,
            until,
            claims: &[],
            commit: self.commit.as_deref(),
            wait_for_quiet: std::time::Duration::ZERO,
            hosts: None,
            takes_all: false,
        }
    }

    /// As a build or a boot takes it.
    pub fn interrupt(&self) -> Interrupt<'_> {
        Interrupt::when(self.control.flag())
    }
}

/// The commit that is checked out in a folder, with `+` behind it where files differ from it; `None` where that
/// is no checkout, or git is not there.
fn commit_of(folder: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = git_in(folder).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let head =
        git(&["rev-parse", &format!("--short={COMMIT_DIGITS}"), "HEAD"]).filter(|it| !it.is_empty())?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changed.is_empty() { head } else { head + "+" })
}

/// The path of this binary. On Linux a binary that was replaced while running is named with a suffix that
/// no file has; the one at its path now is the next best.
pub fn own_binary() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| {
        Failure::system(format!("cannot find the proofload binary itself ({error}); start it by its path"))
    })
}

/// This program as somebody is to type it, as a word of a shell: by its name where it was called so, else by its whole path, as
/// one from this folder leads nowhere in another.
pub fn own_name() -> String {
    let called = std::env::args_os().next().map_or_else(|| PathBuf::from("proofload"), PathBuf::from);
    shell::quoted_path(&from_anywhere(called))
}

/// What a program was called by, so that it is the same one in whatever folder it is typed.
fn from_anywhere(called: PathBuf) -> PathBuf {
    if called.components().count() > 1 { std::path::absolute(&called).unwrap_or(called) } else { called }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_was_called_by_a_path_is_typed_by_its_whole_path() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(from_anywhere("proofload".into()), Path::new("proofload"));
        assert_eq!(from_anywhere("target/first/proofload".into()), here.join("target/first/proofload"));
        assert_eq!(from_anywhere("./proofload".into()), here.join("proofload"));
        assert_eq!(from_anywhere("/opt/proofload".into()), Path::new("/opt/proofload"));
    }
}
