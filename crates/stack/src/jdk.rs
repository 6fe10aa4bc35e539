//! The JDKs and Java runtimes of this machine.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// Folders in which systems and installers put JDKs, each in a folder of its own.
const FOLDERS: [&str; 3] = ["/usr/lib/jvm", "/usr/java", "/opt"];
/// The same, below the user's home.
const FOLDERS_AT_HOME: [&str; 3] = [".sdkman/candidates/java", ".jdks", ".local/share/mise/installs/java"];
/// Where `scripts/setup.sh` puts a runtime that it fetched, below the folder for what can be fetched again.
const FETCHED: &str = "proofload/java";

/// What a JDK has and a runtime has not.
const COMPILER: &str = "bin/javac";

/// An installed JDK or, without a compiler, runtime.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Jdk {
    /// Its feature version, such as 17.
    pub(crate) version: u32,
    /// The whole of it, such as 17.0.15.
    pub(crate) version_text: String,
    /// What `JAVA_HOME` should be.
    pub(crate) home: PathBuf,
}

/// The oldest JDK of `version` or later: close to what a stack was made for, and the same one each time.
pub(crate) fn find(version: u32) -> Option<Jdk> {
    from(version).filter(Jdk::is_whole).min()
}

/// What runs programs for `version`: the oldest of it or later, and of those of one version the JDK that would build them before
/// a runtime alone.
pub(crate) fn find_java(version: u32) -> Option<Jdk> {
    from(version).min_by(|a, b| a.for_running().cmp(&b.for_running()))
}

fn from(version: u32) -> impl Iterator<Item = Jdk> {
    homes().into_iter().filter_map(|home| Jdk::at(&home)).filter(move |jdk| jdk.version >= version)
}

impl Jdk {
    /// What is in `home`, if it can run a program and says its version.
    fn at(home: &Path) -> Option<Self> {
        let home = home.canonicalize().ok()?;
        let runs = is_program(&home.join("bin/java"));
        let release = fs::read_to_string(home.join("release")).ok()?;
        let version_text = version_text(&release)?.to_owned();
        runs.then_some(Self { version: feature_version(&version_text)?, version_text, home })
    }

    /// By what one that runs programs is chosen, the smallest first.
    fn for_running(&self) -> (u32, bool, &Self) {
        (self.version, !self.is_whole(), self)
    }

    fn is_whole(&self) -> bool {
        is_program(&self.home.join(COMPILER))
    }
}

/// Every folder that may be the home of a JDK or a runtime.
fn homes() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let of_program = |program: PathBuf| Some(program.canonicalize().ok()?.parent()?.parent()?.to_owned());
    let on_path = std::env::split_paths(&path)
        .flat_map(|folder| ["javac", "java"].map(|program| of_program(folder.join(program))))
        .flatten();
    let named = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let at_home = std::env::var_os("HOME").map(PathBuf::from).into_iter();
    let at_home = at_home.flat_map(|home| FOLDERS_AT_HOME.map(|folder| home.join(folder)));
    let fetched = cache_folder().map(|cache| cache.join(FETCHED));
    let installed = FOLDERS.map(PathBuf::from).into_iter().chain(at_home).chain(fetched).flat_map(entries);
    named.into_iter().chain(on_path).chain(installed).collect()
}

/// The user's folder for what can be fetched again, as the XDG base directories have it.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    named.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))
}

fn entries(folder: PathBuf) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}

/// From a JDK's `release` file.
fn version_text(release: &str) -> Option<&str> {
    let line = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    Some(line.trim().trim_matches('"'))
}

/// Before Java 9, version 8 called itself 1.8.
fn feature_version(version: &str) -> Option<u32> {
    let version = version.strip_prefix("1.").unwrap_or(version);
    version.split(|sign: char| !sign.is_ascii_digit()).next()?.parse().ok()
}

/// Whether `path` can be executed.
pub(crate) fn is_program(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_feature_version() {
        for (version, feature) in [("17.0.15", 17), ("25", 25), ("1.8.0_212", 8), ("26-ea", 26)] {
            let release = format!("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"{version}\"\nOS_ARCH=\"x86_64\"\n");
            assert_eq!(version_text(&release), Some(version));
            assert_eq!(feature_version(version), Some(feature));
        }
        assert_eq!((version_text(""), feature_version("")), (None, None));
    }

    #[test]
    fn takes_the_oldest_that_is_new_enough() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, version: &str| {
            let bin = folder.path().join(name).join("bin");
            fs::create_dir_all(&bin).unwrap();
            for tool in ["java", "javac"] {
                std::os::unix::fs::symlink("/bin/sh", bin.join(tool)).unwrap();
            }
            let release = folder.path().join(name).join("release");
            fs::write(release, format!("JAVA_VERSION=\"{version}\"\n")).unwrap();
            folder.path().join(name)
        };
        let (old, new) = (make("b", "17.0.1"), make("a", "25.0.3"));
        assert!(Jdk::at(&old) < Jdk::at(&new));
        let runtime = make("c", "17.0.0");
        fs::remove_file(runtime.join("bin/javac")).unwrap();
        let (old, runtime) = (Jdk::at(&old).unwrap(), Jdk::at(&runtime).unwrap());
        assert!(runtime < old && old.for_running() < runtime.for_running(), "a whole one first");
        assert!(runtime.for_running() < Jdk::at(&new).unwrap().for_running(), "and an older one before it");
        let old = old.home;
        assert!(Jdk::at(&old).unwrap().is_whole());
        fs::remove_file(old.join("bin/javac")).unwrap();
        assert!(!Jdk::at(&old).unwrap().is_whole(), "a runtime alone builds nothing");
        fs::remove_file(old.join("bin/java")).unwrap();
        assert_eq!(Jdk::at(&old), None, "and what runs nothing is nothing");
    }
}
