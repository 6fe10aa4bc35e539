//! What a load on several machines asks of whatever they are reached by.

use std::io::{Read, Write};

/// The machines that carry a load, in the order of their shares. What is asked of one may take its time: it is asked on a
/// thread of that machine's own.
pub trait Fleet: Send + Sync {
    /// What the machines are called in errors and records.
    fn names(&self) -> Vec<String>;

    /// Opens a stream to an agent; again, where the one before broke for now.
    ///
    /// # Errors
    /// If there is none.
    fn open(&self, agent: usize) -> Result<Line, Broken>;

    /// What it means that the stream to an agent ended, for this reason.
    fn ended(&self, agent: usize, why: String) -> Broken;

    /// Leaves nothing behind. The streams are of no use any more, and no others are opened.
    fn end(&self);
}

/// A stream to an agent.
pub struct Line {
    /// Where it hears us. It hears of the end when this is dropped.
    pub input: Box<dyn Write + Send>,
    /// What it says.
    pub output: Box<dyn Read + Send>,
}

/// Why there is no stream to an agent: what follows its name in an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Broken {
    /// Another may be opened.
    ForNow(String),
    /// There will be none.
    ForGood(String),
}
