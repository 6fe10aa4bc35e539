//! Standard output: results only.

use std::io::{ErrorKind, Write};

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
