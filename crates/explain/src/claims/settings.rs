//! What was otherwise here than where a claim was published, as far as records and the write-up's file know.

use std::collections::BTreeSet;

use plan::{Claim, Statement, WriteUp};
use record::Manifest;

/// What a verdict on `claim` may depend on and was otherwise, each as `what: there so, here so`. A limit that follows from a
/// configuration alone depends on none of it.
pub fn other_settings(write_up: &WriteUp, claim: &Claim, manifest: &Manifest) -> Vec<String> {
    if matches!(claim.statement, Statement::Ceiling { .. } | Statement::NotTestable { .. }) {
        return Vec::new();
    }
    let cells = claim.cells();
    let stacks: BTreeSet<&str> = cells.iter().map(|cell| cell.stack.as_str()).collect();
    let (cores_there, cores_here) = (write_up.machine.cores, manifest.machine.cores);
    let cores = cores_there.filter(|there| cores_here > 0 && *there as usize != cores_here);
    let cores = cores.map(|there| format!("cores: there {there}, here {cores_here}"));
    let jdk = write_up.machine.jdk.as_deref().and_then(|there| {
        let here: BTreeSet<&str> =
            stacks.iter().filter_map(|stack| manifest.stacks.get(*stack)?.jdk.as_deref()).collect();
        let is_other = here.iter().any(|it| major(it) != major(there));
        is_other.then(|| format!("JDK: there {there}, here {}", Vec::from_iter(here).join(" and ")))
    });
    let others = write_up.settings.iter().filter_map(|setting| {
        let of: Vec<&str> =
            setting.stacks.iter().map(String::as_str).filter(|it| stacks.contains(it)).collect();
        let (there, here) = match (setting.per_core, cores_there) {
            (Some(per_core), Some(there)) if cores_here > 0 => {
                let on = |cores: u64| u64::from(per_core).saturating_mul(cores).to_string();
                (on(there.into()), on(cores_here as u64))
            }
            _ => (setting.there.clone()?, setting.here.clone()?),
        };
        let applies = !of.is_empty() && there != here;
        applies.then(|| format!("{} of {}: there {there}, here {here}", setting.what, of.join(" and ")))
    });
    cores.into_iter().chain(jdk).chain(others).collect()
}

/// `8` of `1.8.0_212`, `17` of `17.0.9`.
fn major(version: &str) -> &str {
    let digits = |text: &str| text.split(|it: char| !it.is_ascii_digit()).next().map_or(0, str::len);
    let rest = version.strip_prefix("1.").unwrap_or(version);
    &rest[..digits(rest)]
}
