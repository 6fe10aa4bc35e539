//! Versions of records.

/// What every version of a record has: read first, so that a newer record is called newer, not broken.
#[derive(serde::Deserialize)]
pub(crate) struct Stamp {
    pub(crate) version: u32,
}

impl Stamp {
    pub(crate) fn check(&self, what: &str, known: u32) -> Result<(), String> {
        if self.version <= known {
            return Ok(());
        }
        Err(format!("{what} has version {}, and {known} is the newest known here", self.version))
    }
}
