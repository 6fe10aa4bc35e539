//! Whether the user wants what takes long to end now.

use std::sync::atomic::{AtomicBool, Ordering};

/// Looked at while a build or a boot is waited for; once it is given, that ends with
/// [`StackError::Interrupted`](crate::StackError::Interrupted) and leaves no process.
#[derive(Debug, Clone, Copy)]
pub struct Interrupt<'a>(Option<&'a AtomicBool>);

impl<'a> Interrupt<'a> {
    /// One that nobody gives.
    pub const NEVER: Interrupt<'static> = Interrupt(None);

    /// One that is given when `flag` is set, by whatever thread.
    pub const fn when(flag: &'a AtomicBool) -> Self {
        Self(Some(flag))
    }

    pub(crate) fn is_given(self) -> bool {
        self.0.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}
