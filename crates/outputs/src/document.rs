//! What was found in one file.

use crate::number::Figure;
use crate::row::Row;

/// What was found in one file.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Document {
    /// Its name.
    pub name: String,
    /// Measured rows, in order of their lines.
    pub rows: Vec<Row>,
    /// Orders that the author gives, with figures.
    pub comparisons: Vec<Comparison>,
    /// Commands that start a JVM with options where they do nothing.
    pub launches: Vec<Launch>,
    /// Rows beyond [`crate::ROWS_MAX`], which were not read.
    pub rows_left_out: usize,
}

/// `A > B (10392.75 > 9684.31)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Its line, from 1.
    pub line: usize,
    /// The part of the document in which it stands.
    pub round: Option<String>,
    /// Connections of which it speaks.
    pub connections: Option<u32>,
    /// Names and requests a second, the greater first.
    pub ranked: Vec<(String, Figure)>,
}

/// A command with JVM options behind `-jar FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// Its line, from 1.
    pub line: usize,
    /// The jar.
    pub jar: String,
    /// The options that the program gets instead of the JVM.
    pub options: Vec<String>,
}
