//! Standard output: results only; and files that are written whole.

use std::io::{ErrorKind, Write};
use std::path::Path;

use crate::exit::Failure;

/// Prints `text` and a line end. A reader that has gone (`| head`) has seen what it wanted.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    let written = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::system(format!(
            "cannot write the result ({error}); free some space, or redirect elsewhere"
        ))),
        _ => Ok(()),
    }
}

/// Writes a file so that a reader, such as a collector that looks every few seconds, sees all of it or what was there
/// before. What is no ordinary file, such as a pipe, is written to as it is.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let is_special = std::fs::metadata(path).is_ok_and(|it| !it.is_file());
    let written = if is_special { std::fs::write(path, bytes) } else { write_and_rename(path, bytes) };
    written.map_err(|error| {
        Failure::system(format!("{} can't be written ({error}); check the path and the disk", path.display()))
    })
}

fn write_and_rename(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    let partial = path.with_file_name(name);
    std::fs::write(&partial, bytes).and_then(|()| std::fs::rename(&partial, path)).inspect_err(|_| {
        // What was there under the name itself is untouched; the half goes, if it can.
        let _ = std::fs::remove_file(&partial);
    })
}
