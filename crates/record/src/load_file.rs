//! The result of a load in a file of its own.

use std::path::Path;

use crate::bounds;
use crate::error::RecordError;
use crate::load::{LOAD_VERSION, LoadResult};
use crate::stamp::Stamp;

/// What to do about a file that is no result.
const HELP: &str = "name a file that `proofload hit --json` printed";

impl LoadResult {
    /// Reads what `hit --json` printed to the file `name`. What stands beside the result, as its audit does, is left to be
    /// made again.
    pub fn from_json(name: &Path, text: &str) -> Result<Self, RecordError> {
        // Other records have versions, too: what lacks the fields of a result is none, whatever its version.
        let no_record = |error: serde_json::Error| RecordError::NoRecord {
            path: name.to_owned(),
            line: error.line().max(1),
            what: error.to_string(),
            help: HELP,
        };
        let stamp: Stamp = serde_json::from_str(text).map_err(no_record)?;
        stamp.check("the load", LOAD_VERSION).map_err(|what| RecordError::Malformed {
            path: name.to_owned(),
            line: 1,
            what,
        })?;
        let result = serde_json::from_str(text).map_err(no_record)?;
        bounds::check_load(&result).map_err(|what| RecordError::OutOfBounds {
            path: name.to_owned(),
            line: 1,
            what,
        })?;
        Ok(result)
    }
}
