//! Who carries a load: which of the kernel's interfaces, and how many threads.

use std::num::NonZeroU32;

use driver::{Backend, UringRefused};

/// Who carries a load.
#[derive(Debug, Clone)]
pub(crate) struct Crew {
    pub(crate) backend: Backend,
    /// Why it is not io_uring, where that was wanted.
    pub(crate) refused: Option<UringRefused>,
    pub(crate) threads: NonZeroU32,
    /// Why so many, where that was left to us.
    pub(crate) threads_why: Option<String>,
}

/// Who carried a load, for the record: one crew, or those of several machines.
#[derive(Debug, Clone, Default)]
pub(crate) struct Carried {
    /// All load threads.
    pub(crate) threads: u32,
    pub(crate) threads_why: Option<String>,
    /// By which of the kernel's interfaces.
    pub(crate) io: String,
    pub(crate) refused: Option<String>,
}

impl Carried {
    pub(crate) fn by(crew: &Crew) -> Self {
        Self {
            threads: crew.threads.get(),
            threads_why: crew.threads_why.clone(),
            io: crew.backend.name().into(),
            refused: crew.refused.map(|refused| refused.to_string()),
        }
    }
}
