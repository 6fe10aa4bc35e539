//! What builds have one at a time, by locks on files: the kernel frees them when their holder ends, however it ends.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::interrupt::Interrupt;

/// Who waits longer than this says so.
pub(crate) const SILENT_MAX: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(20);
/// Maven's own folder in a user's home, where its repository is but for those who moved it.
const OF_MAVEN: &str = ".m2";
const LOCK_OF_REPOSITORY: &str = ".proofload.lock";

/// What one build has at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shared {
    /// The folder that it is made in.
    BuildFolder,
    /// Where Maven keeps what it brought, for all checkouts of a user.
    MavenRepository,
}

impl Shared {
    /// What is waited for while another build has it.
    pub const fn holder(self) -> &'static str {
        match self {
            Self::BuildFolder => "another build in the same folder",
            Self::MavenRepository => {
                "another build, of this or another checkout: Maven's repository serves one at a time"
            }
        }
    }
}

/// Waits until nobody else has `file` locked, and locks it until it is closed. Whoever waits for longer than `silent_max` is told
/// so with `true`, and with `false` that it is over. Gives whether it is locked: not where that was interrupted.
pub(crate) fn take(
    file: &File,
    silent_max: Duration,
    interrupt: Interrupt<'_>,
    waits: &mut dyn FnMut(bool),
) -> io::Result<bool> {
    let begun = Instant::now();
    let mut is_told = false;
    loop {
        match file.try_lock() {
            Ok(()) => {
                if is_told {
                    waits(false);
                }
                return Ok(true);
            }
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {}
        }
        // Looked at here and not while the kernel waits: a signal does not end that.
        if interrupt.is_given() {
            return Ok(false);
        }
        if !is_told && begun.elapsed() >= silent_max {
            is_told = true;
            waits(true);
        }
        std::thread::sleep(POLL);
    }
}

/// The file that is locked by whoever uses Maven's repository of the user with this home; `None` where it can't be made, and then
/// Maven can't write there either.
pub(crate) fn of_maven_repository(home: &Path) -> Option<File> {
    // Without a home, it would be a folder of wherever this runs.
    let folder = home.is_absolute().then(|| home.join(OF_MAVEN))?;
    // Before the first build ever, Maven has not made it yet.
    fs::create_dir_all(&folder).ok()?;
    let mut to_lock = OpenOptions::new();
    to_lock.write(true).create(true).truncate(false).open(folder.join(LOCK_OF_REPOSITORY)).ok()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn who_waits_says_so_and_that_it_is_over() {
        let home = tempfile::tempdir().unwrap();
        let open = || of_maven_repository(home.path()).unwrap();
        let (one, other) = (open(), open());
        let mut told = Vec::new();
        let taken = take(&one, Duration::ZERO, Interrupt::NEVER, &mut |waits| told.push(waits));
        assert!(taken.unwrap() && told.is_empty());
        let mut one = Some(one);
        let taken = take(&other, Duration::ZERO, Interrupt::NEVER, &mut |waits| {
            told.push(waits);
            // It ends, in whatever way.
            drop(one.take());
        });
        assert!(taken.unwrap());
        assert_eq!(told, [true, false]);
    }

    #[test]
    fn who_waits_is_interrupted_and_holds_nothing() {
        let home = tempfile::tempdir().unwrap();
        let open = || of_maven_repository(home.path()).unwrap();
        let (one, other) = (open(), open());
        let wanted = AtomicBool::new(true);
        let is_ours = |file: &File| {
            take(file, SILENT_MAX, Interrupt::when(&wanted), &mut |waits| assert!(!waits)).unwrap()
        };
        // What is free needs no waiting.
        assert!(is_ours(&one));
        assert!(!is_ours(&other));
        drop(one);
        assert!(is_ours(&open()));
    }

    #[test]
    fn a_home_that_can_t_be_written_has_no_lock() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(of_maven_repository(&file).is_none());
        assert!(of_maven_repository(Path::new("")).is_none());
    }
}
