//! Whether others used the machine, and whose threads waited for a core meanwhile.

use crate::facts::{Facts, Group};

/// Share of the machine that others may use: within blocks it is a source of noise, and above a tenth it moves a rate by
/// more than any comparison here calls a difference.
pub const OTHERS_SHARE_MAX: f64 = 0.1;

/// Cores that other processes used, as far as it is known to be processes.
///
/// Where these hold the interrupts that are served on their backs, those that come while a core is idle are in nobody's time, and were
/// counted among the others. A load from other machines comes by such.
pub(crate) fn used_by_others(facts: &Facts<'_>) -> Option<f64> {
    let host = facts.host()?;
    let may_be_of_load = facts.is_loaded_from_elsewhere() && host.interrupts_within == Some(true);
    let interrupts = host.interrupts_cores.filter(|_| may_be_of_load).unwrap_or(0.0);
    host.others_cores.map(|others| (others - interrupts).max(0.0))
}

/// Cores that other processes used, where that is more than [`OTHERS_SHARE_MAX`] and may have been in the way.
pub(crate) fn others_cores(facts: &Facts<'_>) -> Option<f64> {
    let others = used_by_others(facts)?;
    let is_much = others > OTHERS_SHARE_MAX * facts.machine_cores();
    (is_much && !facts.has_cores_beyond_quota()).then_some(others)
}

/// Threads of a group that waited for a core while others used one, on average.
pub(crate) fn held_up(facts: &Facts<'_>, group: &Group<'_>) -> f64 {
    others_cores(facts).and(group.did).map_or(0.0, |did| did.wait_cores)
}
