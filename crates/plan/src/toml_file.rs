//! Reads a TOML file into a type, and every mistake in it into a [`PlanError`] with its line.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::de::DeserializeOwned;

use crate::error::PlanError;

/// The longest file that is written by hand, bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Reads `path` whole, if it is no longer than anybody writes.
pub fn read(path: &Path) -> Result<String, PlanError> {
    read_up_to(path, FILE_BYTES_MAX)
}

/// Reads `path` whole, if it has at most `bytes_max` bytes: a file may be anybody's, and without end.
pub fn read_up_to(path: &Path, bytes_max: u64) -> Result<String, PlanError> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| file.take(bytes_max + 1).read_to_string(&mut text));
    read.map_err(|error| {
        PlanError::new(format!("cannot be read ({error})"), "check the path and its permissions")
            .in_file(path)
    })?;
    if text.len() as u64 > bytes_max {
        let what = format!("is longer than {} MiB", bytes_max >> 20);
        return Err(PlanError::new(what, "cut out what is needed").in_file(path));
    }
    Ok(text)
}

/// Parses `text`, the content of `path`, into `T`. Unknown keys are errors where `T` denies them.
pub fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, PlanError> {
    toml::from_str(text).map_err(|error| {
        let what = error.message().trim().replace('\n', " ");
        let help = "mend the line; the README and docs/experiments.md show every key";
        let offset = error.span().map_or(0, |span| span.start);
        PlanError::new(what, help).at_offset(path, text, offset)
    })
}
