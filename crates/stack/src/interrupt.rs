//! Whether the user wants what takes long to end now.

use std::fmt;

/// Asked while a build or a boot is waited for; once it says yes, that ends with
/// [`StackError::Interrupted`](crate::StackError::Interrupted) and leaves no process.
#[derive(Clone, Copy)]
pub struct Interrupt<'a>(&'a dyn Fn() -> bool);

impl<'a> Interrupt<'a> {
    /// One that nobody gives.
    pub const NEVER: Interrupt<'static> = Interrupt(&|| false);

    /// One that is given when `is_wanted` says so.
    pub fn when(is_wanted: &'a dyn Fn() -> bool) -> Self {
        Self(is_wanted)
    }

    pub(crate) fn is_given(self) -> bool {
        (self.0)()
    }
}

impl fmt::Debug for Interrupt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Interrupt({})", self.is_given())
    }
}
