//! A folder for the files of a command that keeps none.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::TempDir;

use crate::exit::Failure;

/// A folder of this process's own among those for temporary files: new, of a name that nobody can guess, and shut to
/// others. Where anybody may write, a name that is known beforehand can be a link by the time it is used. Removed with this
/// value, unless it is kept.
#[derive(Debug)]
pub struct Scratch(TempDir);

impl Scratch {
    /// For the command `name`.
    pub fn new(name: &str) -> Result<Self, Failure> {
        let made = tempfile::Builder::new()
            .prefix(&format!("proofload-{name}-"))
            .permissions(Permissions::from_mode(0o700))
            .tempdir();
        made.map(Self).map_err(|error| {
            let folder = std::env::temp_dir();
            Failure::system(format!(
                "cannot make a folder in {} ({error}); make room there, or set TMPDIR",
                folder.display()
            ))
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Leaves it there: what failed names its log.
    pub fn keep(mut self) {
        self.0.disable_cleanup(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_new_and_shut_to_others_and_goes_unless_it_is_kept() {
        let (one, other) = (Scratch::new("test").unwrap(), Scratch::new("test").unwrap());
        let paths = [&one, &other].map(|it| it.path().to_owned());
        assert_ne!(paths[0], paths[1]);
        for path in &paths {
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
        drop(one);
        other.keep();
        assert_eq!(paths.each_ref().map(|it| it.exists()), [false, true]);
        std::fs::remove_dir(&paths[1]).unwrap();
    }
}
