//! Stacks that can't be used.

use plan::stack::Catalogue;

use crate::output::say;

/// Says on standard error which stacks have a mistake in their manifest. A command that needs one of them ends with its
/// mistake; all others go on without.
pub fn name_broken(catalogue: &Catalogue) {
    for (id, error) in catalogue.broken() {
        say(format_args!("proofload: stack `{id}` is broken and left alone: {error}"));
    }
}
