//! The way to the terminal: all that is written to standard output and standard error goes through here, so that no text
//! from outside steers a terminal; and files that are written whole.

use std::fmt::Display;
use std::fs::{File, Permissions};
use std::io::{ErrorKind, IsTerminal, Stderr, Stdout, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

use plan::PlanError;
use rustix::io::Errno;

use crate::exit::Failure;

#[expect(clippy::disallowed_methods, reason = "all that is written to it goes through this module")]
fn stdout() -> Stdout {
    std::io::stdout()
}

#[expect(clippy::disallowed_methods, reason = "all that is written to it goes through this module")]
fn stderr() -> Stderr {
    std::io::stderr()
}

/// Whether standard output is a terminal.
pub fn is_terminal() -> bool {
    stdout().is_terminal()
}

/// Whether standard error is a terminal.
pub fn complains_to_terminal() -> bool {
    stderr().is_terminal()
}

/// Columns and rows of the terminal on standard error.
pub fn terminal_size() -> Option<(u16, u16)> {
    let size = rustix::termios::tcgetwinsize(stderr()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
}

/// Standard output for messages between programs, which no terminal gets: `None` where it is one.
pub fn to_program() -> Option<Stdout> {
    Some(stdout()).filter(|it| !it.is_terminal())
}

/// Prints `text` and a line end.
pub fn print(text: &str) -> Result<(), Failure> {
    write_out(&format!("{}\n", plain::text(text)))
}

/// Prints text in whose quotes a backslash is written twice, and a line end.
pub fn print_quoted(text: &str) -> Result<(), Failure> {
    write_out(&format!("{}\n", plain::quoted(text)))
}

/// Prints JSON and a line end; its values stay as they are.
pub fn print_json(text: &str) -> Result<(), Failure> {
    write_out(&format!("{}\n", plain::json(text)))
}

/// Prints `text` as part of what is to come. What can't be shown is noticed then.
pub fn begin(text: &str) {
    let _ = write_out(&plain::text(text));
}

/// Writes over the last line of a terminal; gives what has to come first for that.
pub fn rewrite(line: &str) {
    let _ = write_out(&format!("{START_OF_LINE}{}", plain::line(line)));
}

/// Has what is printed next begin where the last line of a terminal does.
pub fn to_start_of_line() {
    if is_terminal() {
        let _ = write_out(START_OF_LINE);
    }
}

const START_OF_LINE: &str = "\r";

/// A reader that has gone (`| head`) has seen what it wanted, and whoever has closed a terminal wants no more of it than what is
/// left in files.
fn write_out(text: &str) -> Result<(), Failure> {
    let mut stdout = stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    match written {
        Err(error) if !has_gone(&error, stdout.as_fd()) => Err(Failure::system(format!(
            "cannot write the result ({error}); free some space, or redirect elsewhere"
        ))),
        _ => Ok(()),
    }
}

/// Whether `output` could not be written since nobody reads it. Of a terminal that was closed the kernel says the same as of a
/// disk that fails.
fn has_gone(error: &std::io::Error, output: BorrowedFd<'_>) -> bool {
    let is_device = || {
        let opened = output.try_clone_to_owned().and_then(|it| File::from(it).metadata());
        opened.is_ok_and(|it| it.file_type().is_char_device())
    };
    let has_failed = error.raw_os_error() == Some(Errno::IO.raw_os_error());
    error.kind() == ErrorKind::BrokenPipe || (has_failed && is_device())
}

/// Says `what` on standard error, and a line end. Nobody is left to tell that nobody listens.
pub fn say(what: impl Display) {
    let text = what.to_string();
    let _ = stderr().lock().write_all(format!("{}\n", plain::text(&text)).as_bytes());
}

/// Writes a picture that [`live::Inline`] made, which has its own colours and has made harmless what is in it. Nothing can
/// be done where a terminal has gone.
pub fn show(picture: &str) {
    let mut stderr = stderr().lock();
    let _ = stderr.write_all(picture.as_bytes()).and_then(|()| stderr.flush());
}

/// Writes a file that the user named, so that a reader, such as a collector that looks every few seconds, sees all of it or
/// what was there before. What is no ordinary file, such as a pipe, is written to as it is; a link stays, and what it leads
/// to is written.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let is_special = std::fs::metadata(path).is_ok_and(|it| !it.is_file());
    let write = || {
        if is_special { std::fs::write(path, bytes) } else { write_and_rename(&led_to(path)?, bytes) }
    };
    write().map_err(|error| unwritten(path, &error))
}

/// Where the file is that `path` names, behind all links.
fn led_to(path: &Path) -> std::io::Result<PathBuf> {
    if !path.is_symlink() {
        return Ok(path.to_owned());
    }
    // Where it leads to nothing yet, a file is made there. Opened and not only read: the kernel follows no link that somebody
    // else left in a folder of all users, such as /tmp.
    File::options().write(true).create(true).truncate(false).open(path)?;
    path.canonicalize()
}

/// The same of a file whose name nobody typed: in a run's own directory, which somebody may have sent, or in a folder that is given
/// for several. What is there goes, and nothing is written to where it leads.
pub fn write_into_run(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_and_rename(path, bytes).map_err(|error| unwritten(path, &error))
}

/// Refuses one file for two of what is written: only the last would be in it. With each option the file that it names.
pub fn each_has_its_own<'a>(
    named: impl IntoIterator<Item = (&'static str, Option<&'a Path>)>,
) -> Result<(), PlanError> {
    // Whatever is no file, such as /dev/null, may take all of it.
    let is_file = |path: &Path| path.metadata().is_ok_and(|it| it.is_file()) || !path.exists();
    let given = named.into_iter().filter_map(|(option, path)| Some((option, path?)));
    let given = given.filter(|(_, path)| is_file(path));
    let given: Vec<(&str, &Path, PathBuf)> =
        given.map(|(option, path)| (option, path, place_of(path))).collect();
    for (at, (option, path, place)) in given.iter().enumerate() {
        if let Some((other, ..)) = given[..at].iter().find(|(.., earlier)| earlier == place) {
            let what = format!("{other} and {option} name one file, and only the last would be in it");
            return Err(PlanError::new(what, "name a file for each").in_file(path));
        }
    }
    Ok(())
}

/// Where a file is or would be, however it is written.
fn place_of(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let new = || folder.canonicalize().map(|it| it.join(path.file_name().unwrap_or_default()));
    path.canonicalize().or_else(|_| new()).unwrap_or_else(|_| path.to_owned())
}

/// A file that is written bit by bit. What an earlier command left there stays until the first of them: that comes behind
/// all that may refuse the command.
#[derive(Debug)]
pub struct Replaced {
    file: File,
    is_emptied: bool,
}

impl Replaced {
    /// Opens the file, or makes one, so that one that can't be is refused at once.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let file = File::options().write(true).create(true).truncate(false).open(path)?;
        Ok(Self { file, is_emptied: false })
    }
}

impl Write for Replaced {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if !self.is_emptied {
            record::empty(&self.file)?;
            self.is_emptied = true;
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    Failure::system(format!("{} can't be written ({error}); check the path and the disk", path.display()))
}

/// The other name is nobody's to guess, and what is there under it is not written to.
fn write_and_rename(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // What others may do with a new file is for the user's mask to say.
    let mode = Permissions::from_mode(0o666);
    let mut partial =
        tempfile::Builder::new().prefix(&name).suffix(".partial").permissions(mode).tempfile_in(folder)?;
    partial.write_all(bytes)?;
    partial.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustix::fs::{Mode, OFlags, open};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    use super::*;

    #[test]
    fn who_closes_a_terminal_has_gone_as_who_closes_a_pipe() {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let theirs = open(&name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let mut terminal = File::from(theirs);
        terminal.write_all(b"x").unwrap();
        drop(ours);
        // A process that another thread is just starting holds a copy for a moment.
        let closed = (0..1000).find_map(|_| {
            std::thread::sleep(Duration::from_millis(1));
            terminal.write_all(b"x").err()
        });
        let closed = closed.expect("it is closed");
        assert!(has_gone(&closed, terminal.as_fd()), "{closed}");
        let (reader, mut pipe) = std::io::pipe().unwrap();
        drop(reader);
        let broken = pipe.write_all(b"x").unwrap_err();
        assert!(has_gone(&broken, pipe.as_fd()), "{broken}");
        let mut full = File::options().write(true).open("/dev/full").unwrap();
        let no_room = full.write_all(b"x").unwrap_err();
        assert!(!has_gone(&no_room, full.as_fd()), "{no_room}");
        assert!(!has_gone(&Errno::IO.into(), tempfile::tempfile().unwrap().as_fd()));
    }

    #[test]
    fn what_is_written_into_a_run_takes_the_place_of_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.html");
        std::os::unix::fs::symlink("/dev/null", &path).unwrap();
        write_into_run(&path, b"report").unwrap();
        assert!(path.symlink_metadata().unwrap().is_file());
        assert_eq!(std::fs::read(&path).unwrap(), b"report");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        // Whoever names a device means it.
        write_whole(Path::new("/dev/null"), b"report").unwrap();
    }

    #[test]
    fn a_link_that_somebody_names_stays_and_leads_to_what_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let [target, link, second] = ["target.json", "link", "second"].map(|it| folder.path().join(it));
        std::os::unix::fs::symlink("target.json", &link).unwrap();
        std::os::unix::fs::symlink(&link, &second).unwrap();
        // There is no such file yet, and then there is one.
        for (path, text) in [(&link, "first"), (&second, "again")] {
            write_whole(path, text.as_bytes()).unwrap();
            assert!(link.is_symlink() && second.is_symlink());
            assert_eq!(std::fs::read_to_string(&target).unwrap(), text);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
        let circle = folder.path().join("circle");
        std::os::unix::fs::symlink("circle", &circle).unwrap();
        assert!(write_whole(&circle, b"x").is_err() && circle.is_symlink());
    }

    #[test]
    fn what_is_replaced_stays_until_something_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jtl");
        std::fs::write(&path, "of an earlier load").unwrap();
        let mut file = Replaced::open(&path).unwrap();
        file.flush().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "of an earlier load");
        file.write_all(b"a").unwrap();
        file.write_all(b"b").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "ab");
        Replaced::open(Path::new("/dev/null")).unwrap().write_all(b"report").unwrap();
    }
}
