//! The JDKs of this machine.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// Folders in which systems and installers put JDKs, each in a folder of its own.
const FOLDERS: [&str; 3] = ["/usr/lib/jvm", "/usr/java", "/opt"];
/// The same, below the user's home.
const FOLDERS_AT_HOME: [&str; 3] = [".sdkman/candidates/java", ".jdks", ".local/share/mise/installs/java"];

/// An installed JDK.
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
    let all = homes().into_iter().filter_map(|home| Jdk::at(&home));
    all.filter(|jdk| jdk.version >= version).min()
}

impl Jdk {
    /// The JDK in `home`, if a whole one is there.
    fn at(home: &Path) -> Option<Self> {
        let home = home.canonicalize().ok()?;
        let whole = ["bin/java", "bin/javac"].iter().all(|tool| is_program(&home.join(tool)));
        let release = fs::read_to_string(home.join("release")).ok()?;
        let version_text = version_text(&release)?.to_owned();
        whole.then_some(Self { version: feature_version(&version_text)?, version_text, home })
    }
}

/// Every folder that may be the home of a JDK.
fn homes() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let of_compiler = |compiler: PathBuf| Some(compiler.canonicalize().ok()?.parent()?.parent()?.to_owned());
    let on_path = std::env::split_paths(&path).filter_map(|folder| of_compiler(folder.join("javac")));
    let named = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let at_home = std::env::var_os("HOME").map(PathBuf::from).into_iter();
    let at_home = at_home.flat_map(|home| FOLDERS_AT_HOME.map(|folder| home.join(folder)));
    let installed = FOLDERS.map(PathBuf::from).into_iter().chain(at_home).flat_map(entries);
    named.into_iter().chain(on_path).chain(installed).collect()
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
        fs::remove_file(old.join("bin/javac")).unwrap();
        assert_eq!(Jdk::at(&old), None, "a runtime alone builds nothing");
    }
}
