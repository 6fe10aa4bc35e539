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
