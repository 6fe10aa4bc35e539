//! What became of each element of a plan, and what stands in the way of running it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What of a plan is supported. Disabled elements and what JMeter does not carry out either are not in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Support {
    /// Elements that take part.
    pub elements: usize,
    /// Those that are carried out.
    pub supported: usize,
    /// Those that change nothing of what is sent, such as listeners.
    pub ignored: usize,
    /// What is not supported, by file and line; an element may be in it more than once.
    pub unsupported: Vec<Unsupported>,
}

impl Support {
    /// The share of elements that are carried out or have no effect, from 0 to 1.
    pub fn share(&self) -> f64 {
        if self.elements == 0 {
            return 1.0;
        }
        (self.supported + self.ignored) as f64 / self.elements as f64
    }
}

/// Something in a plan that is not supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// Where in the plan: `Test Plan > Thread Group 'users' > JSR223 Sampler 'x' (JSR223Sampler)`.
    pub path: String,
    /// The file, where it is one that the plan includes.
    pub within: Option<PathBuf>,
    /// Where in the file, from 1.
    pub line: usize,
    /// Why, in one sentence without a full stop.
    pub why: String,
}

/// Why a plan can't be run. Nothing of it has been sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanNotUnderstood {
    /// It is no test plan, or broken.
    Broken {
        /// The file.
        file: PathBuf,
        /// Line from 1.
        line: usize,
        /// Column from 1.
        column: usize,
        /// What is wrong, and what to do.
        what: String,
    },
    /// Something in it is not supported, or missing.
    Unsupported {
        /// The file.
        file: PathBuf,
        /// All of it, and the share of what is.
        support: Support,
    },
}

impl fmt::Display for PlanNotUnderstood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken { file, line, column, what } => {
                let file = file.display();
                write!(f, "{file}:{line}:{column}: {what}")
            }
            Self::Unsupported { file, support } => {
                write!(
                    f,
                    "{}: the plan can't be run as it is, so nothing is sent; mend, replace or disable:",
                    file.display()
                )?;
                for Unsupported { path, within, line, why } in &support.unsupported {
                    let file = within.as_ref().unwrap_or(file).display();
                    write!(f, "\n  {file}:{line}: {path}: {why}")?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for PlanNotUnderstood {}

/// Keeps count while a plan is gone through.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    supported: usize,
    ignored: usize,
    refused: usize,
    unsupported: Vec<Unsupported>,
    notes: Vec<String>,
}

/// An element's place, for messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub path: String,
    /// The file, where it is one that the plan includes.
    pub within: Option<Rc<Path>>,
    pub line: usize,
}

impl Ledger {
    pub(crate) fn support(&mut self) {
        self.supported += 1;
    }

    pub(crate) fn ignore(&mut self) {
        self.ignored += 1;
    }

    /// An element that is not supported, for one or more reasons.
    pub(crate) fn refuse(&mut self, place: &Place, reasons: impl IntoIterator<Item = String>) {
        self.refused += 1;
        self.add(place, reasons);
    }

    /// How many elements are not supported so far.
    pub(crate) fn refusals(&self) -> usize {
        self.refused
    }

    /// An element that was counted as supported before it was seen with others.
    pub(crate) fn refuse_after_all(&mut self, place: &Place, why: String) {
        let is_there = |known: &Unsupported| {
            (&known.path, known.within.as_deref(), known.line)
                == (&place.path, place.within.as_deref(), place.line)
        };
        if !self.unsupported.iter().any(is_there) {
            self.supported = self.supported.saturating_sub(1);
            self.refused += 1;
        }
        self.add(place, [why]);
    }

    fn add(&mut self, place: &Place, reasons: impl IntoIterator<Item = String>) {
        let Place { path, within, line } = place;
        let within = within.as_deref().map(Path::to_owned);
        let with_place = |why| Unsupported { path: path.clone(), within: within.clone(), line: *line, why };
        self.unsupported.extend(reasons.into_iter().map(with_place));
    }

    /// Something that a user should know of a plan that runs; each is said once.
    pub(crate) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    pub(crate) fn close(mut self) -> (Support, Vec<String>) {
        self.unsupported.sort_by(|one, other| (&one.within, one.line).cmp(&(&other.within, other.line)));
        let support = Support {
            elements: self.supported + self.ignored + self.refused,
            supported: self.supported,
            ignored: self.ignored,
            unsupported: self.unsupported,
        };
        (support, self.notes)
    }
}
