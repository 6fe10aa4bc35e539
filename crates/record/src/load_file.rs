//! The result of a load in a file of its own.

use std::path::Path;

use crate::bounds;
use crate::error::RecordError;
use crate::load::{LOAD_VERSION, LoadResult};
use crate::stamp::Stamp;

impl LoadResult {
    /// Reads what `hit --json` printed to the file `name`. What stands beside the result, as its audit does, is left to be
    /// made again.
    pub fn from_json(name: &Path, text: &str) -> Result<Self, RecordError> {
        let malformed = |line, what| RecordError::Malformed { path: name.to_owned(), line, what };
        let in_json = |error: serde_json::Error| malformed(error.line().max(1), error.to_string());
        let stamp: Stamp = serde_json::from_str(text).map_err(in_json)?;
        stamp.check("the load", LOAD_VERSION).map_err(|what| malformed(1, what))?;
        let result = serde_json::from_str(text).map_err(in_json)?;
        bounds::check_load(&result).map_err(|what| RecordError::OutOfBounds {
            path: name.to_owned(),
            line: 1,
            what,
        })?;
        Ok(result)
    }
}
