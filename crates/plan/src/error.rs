//! The one error of everything a user writes: files, flags, addresses.

use std::fmt;
use std::path::{Path, PathBuf};

/// What is wrong with something the user wrote, where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct PlanError {
    /// The file, and the line and column in it (both from 1), where there is one.
    pub place: Option<Place>,
    /// What is wrong, in one sentence without a full stop.
    pub what: String,
    /// What to do, in one sentence without a full stop.
    pub help: String,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its path as it was opened, for a message that an editor can follow.
    pub file: PathBuf,
    /// Line and column, from 1; `None` when the whole file is meant.
    pub line_column: Option<(usize, usize)>,
}

impl PlanError {
    /// An error that is not about a file.
    pub fn new(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { place: None, what: what.into(), help: help.into() }
    }

    /// A request that can't be sent: `error` says what is wrong with it and, behind a semicolon, what to do.
    pub fn of_request(error: &dyn fmt::Display) -> Self {
        let said = error.to_string();
        let (what, help) = said.split_once("; ").unwrap_or((said.as_str(), "change it and try again"));
        Self::new(format!("the request is not valid: {what}"), help)
    }

    /// An error about the whole of `file`; where it has a place in another one, that is what is wrong with `file`.
    #[must_use]
    pub fn in_file(self, file: &Path) -> Self {
        self.at(Place { file: file.to_owned(), line_column: None })
    }

    /// The error about the whole of `file`, unless it has a place of its own.
    #[must_use]
    pub fn or_in_file(self, file: &Path) -> Self {
        if self.place.is_some() { self } else { self.in_file(file) }
    }

    /// An error about the byte `offset` of `file`, whose content is `text`; where it has a place in another file, that is
    /// what is wrong there.
    #[must_use]
    pub fn at_offset(self, file: &Path, text: &str, offset: usize) -> Self {
        let before = &text.as_bytes()[..offset.min(text.len())];
        let mut lines = before.split(|byte| *byte == b'\n');
        let column = lines.next_back().map_or(0, <[u8]>::len) + 1;
        let line = lines.count() + 1;
        self.at(Place { file: file.to_owned(), line_column: Some((line, column)) })
    }

    fn at(mut self, place: Place) -> Self {
        if let Some(within) = self.place.replace(place) {
            self.what = format!("{within}: {}", self.what);
        }
        self
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        self.line_column.map_or(Ok(()), |(line, column)| write!(f, ":{line}:{column}"))
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        write!(f, "{}; {}", self.what, self.help)
    }
}
