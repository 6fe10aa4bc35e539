//! What is said of stacks before they are asked anything.

use plan::stack::{Catalogue, StackManifest};

use crate::environment::note_proxy;
use crate::output::say;

/// Says that those of `stacks` that are running already are asked past a proxy of the environment, where there is one.
pub fn go_past_proxies<'a>(quiet: bool, stacks: impl IntoIterator<Item = &'a StackManifest>) {
    let sites = stacks.into_iter().filter_map(StackManifest::site);
    note_proxy(quiet, sites.map(|it| (it.is_secured, it.host.as_str(), it.port)));
}

/// Says on standard error which stacks have a mistake in their manifest. A command that needs one of them ends with its
/// mistake; all others go on without.
pub fn name_broken(catalogue: &Catalogue) {
    for (id, error) in catalogue.broken() {
        say(format_args!("proofload: stack `{id}` is broken and left alone: {error}"));
    }
}
