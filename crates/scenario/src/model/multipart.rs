//! Bodies of several parts, as forms with files send them.

use std::path::{Path, PathBuf};

use crate::template::Template;

/// A body of several parts (`multipart/form-data`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Multipart {
    /// Its parts, in this order.
    pub parts: Vec<FormPart>,
    /// Whether each part says its type and how it is encoded; else a file says its type and any other part neither, as in what
    /// browsers send.
    pub explicit: bool,
}

impl Multipart {
    /// The files among its parts, in order.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.parts.iter().filter_map(|part| match &part.content {
            FormContent::File(file) => Some(file.as_path()),
            FormContent::Text(_) => None,
        })
    }
}

/// A part of such a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormPart {
    /// The field. A part without one is left out, and so is a text in a field that is called after a variable without a value.
    pub name: Template,
    /// Its type, such as `text/plain; charset=UTF-8`.
    pub kind: Template,
    /// What is in it.
    pub content: FormContent,
}

/// What is in a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormContent {
    /// A text.
    Text(Template),
    /// The bytes of a file, which is read once before the start, and its name.
    File(PathBuf),
}
