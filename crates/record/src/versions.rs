//! Of which two versions a run is: `versions.json` in its directory.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::bounds;
use crate::error::RecordError;
use crate::files;
use crate::stamp::Stamp;

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
        let stamp: Stamp = serde_json::from_str(&text)
            .map_err(|error| RecordError::without_version(&file, error.line().max(1), &error))?;
        stamp
            .check("the record of two versions", VERSIONS_VERSION)
            .map_err(|what| RecordError::Malformed { path: file.clone(), line: 1, what })?;
        let versions = serde_json::from_str(&text)
            .map_err(|error| RecordError::in_json(&file, error.line().max(1), &error))?;
        Ok(Some(versions))
    }

    /// As indented JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("it is plain data")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_a_newer_version_is_called_newer_and_not_taken_for_one_of_ours() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Versions::of_run(dir.path()).unwrap(), None);
        let named = |name: &str| RevisionName {
            name: name.into(),
            commit: "c".into(),
            subject: String::new(),
            changed_files: None,
        };
        let ours = Versions {
            version: VERSIONS_VERSION,
            services: vec!["cart".into()],
            before: named("main"),
            after: named("new"),
        };
        let write = |it: &Versions| std::fs::write(dir.path().join(VERSIONS_FILE), it.json()).unwrap();
        write(&ours);
        assert_eq!(Versions::of_run(dir.path()).unwrap(), Some(ours.clone()));
        write(&Versions { version: VERSIONS_VERSION + 1, ..ours });
        let told = Versions::of_run(dir.path()).unwrap_err().to_string();
        assert!(told.contains("versions.json:1: not a record of this version"), "{told}");
        assert!(told.contains("use the version of Proofload that wrote it"), "{told}");
    }
}
