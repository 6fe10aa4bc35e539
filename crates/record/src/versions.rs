//! Of which two versions a run is: `versions.json` in its directory.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::error::RecordError;
use crate::files;

/// Version of [`Versions`].
pub const VERSIONS_VERSION: u32 = 1;

/// Its name in a run's directory.
pub const VERSIONS_FILE: &str = "versions.json";

/// Digits of a commit that are kept and shown: enough to find it.
pub const COMMIT_DIGITS: usize = 12;

/// Two versions of a project's services, which a run compares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versions {
    /// [`VERSIONS_VERSION`] of the writer.
    pub version: u32,
    /// The services by the ids that the project's file has; `plan::Version::id_of` gives those of their versions.
    pub services: Vec<String>,
    /// What the other one is held against.
    pub before: RevisionName,
    /// What is asked about.
    pub after: RevisionName,
}

/// A version, as it was at the time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevisionName {
    /// As it was named; of a working tree, in words.
    pub name: String,
    /// The commit; of a working tree, the one that it differed from.
    pub commit: String,
    /// The first line of its message.
    pub subject: String,
    /// Of a working tree: how many files differed from the commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_files: Option<usize>,
}

impl RevisionName {
    /// As much of its commit as is shown.
    pub fn short_commit(&self) -> String {
        self.commit.chars().take(COMMIT_DIGITS).collect()
    }
}

impl Versions {
    /// Those that the run in `dir` compares; `None` of a run that compares none.
    pub fn of_run(dir: &Path) -> Result<Option<Self>, RecordError> {
        let file = dir.join(VERSIONS_FILE);
        if files::open(&file)?.is_none() {
            return Ok(None);
        }
        let text = files::read_text(&file, bounds::VERSIONS_BYTES_MAX)?;
        let versions = serde_json::from_str(&text)
            .map_err(|error| RecordError::in_json(&file, error.line().max(1), &error))?;
        Ok(Some(versions))
    }

    /// As indented JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("it is plain data")
    }
}
