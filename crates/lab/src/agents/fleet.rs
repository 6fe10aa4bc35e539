//! What a load on several machines asks of whatever they are reached by.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const LOOK_AGAIN: Duration = Duration::from_millis(10);

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

/// How many streams of a fleet its agents have not ended.
#[derive(Debug, Clone, Default)]
pub struct Open(Arc<AtomicUsize>);

impl Open {
    /// What an agent says, which counts as open until it is dropped.
    pub fn counted<R: Read>(&self, output: R) -> impl Read + use<R> {
        self.0.fetch_add(1, Ordering::AcqRel);
        Counted { output, open: self.clone() }
    }

    /// Waits so long for all of them to end, and says whether they did.
    pub fn have_ended_within(&self, wait: Duration) -> bool {
        let begun = Instant::now();
        while self.0.load(Ordering::Acquire) > 0 {
            if begun.elapsed() >= wait {
                return false;
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        true
    }
}

struct Counted<R> {
    output: R,
    open: Open,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.output.read(bytes)
    }
}

impl<R> Drop for Counted<R> {
    fn drop(&mut self) {
        self.open.0.fetch_sub(1, Ordering::AcqRel);
    }
}
