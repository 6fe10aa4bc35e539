//! Reads a TOML file into a type, and every mistake in it into a [`PlanError`] with its line.

use std::path::Path;

use serde::de::DeserializeOwned;

use crate::error::PlanError;

/// Reads `path` whole.
pub fn read(path: &Path) -> Result<String, PlanError> {
    std::fs::read_to_string(path).map_err(|error| {
        PlanError::new(format!("cannot be read ({error})"), "check the path and its permissions")
            .in_file(path)
    })
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
