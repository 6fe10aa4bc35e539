//! What a replication costs and what it can find, before it begins.

use std::path::Path;

use explain::findable_difference;
use plan::{Claim, Experiment};
use record::{Manifest, Trial};

use super::One;
use crate::exit::Failure;
use crate::recorded;

impl One<'_> {
    /// Trials, time, and for each claim the smallest difference that it is likely to find, by the noise of the twins in the run
    /// in `last`, where there is one.
    pub(super) fn ahead(&self, experiment: &Experiment, last: Option<&Path>) -> Result<String, Failure> {
        let (trials, length) = experiment.block_guess();
        let (least, most) = (experiment.procedure.blocks, experiment.procedure.blocks_max);
        let cells = experiment.selection.as_ref().map_or(0, std::collections::BTreeSet::len);
        let so_far = last.map(recorded::read).transpose()?;
        let of_blocks =
            |count: u32| format!("{} trials, about {}", trials * count, minutes(length * u64::from(count)));
        let made = so_far.as_ref().map_or(0, |(_, trials)| trials.len());
        let made = if made > 0 { format!("; {made} of them are made") } else { String::new() };
        let mut lines = vec![
            format!(
                "{}: {} claims about {cells} cells; with twins and controls {trials} trials a block",
                self.name(),
                self.asked.claims.len()
            ),
            format!("{least} blocks at least: {}{made}", of_blocks(least)),
            format!("{most} at most: {}", of_blocks(most)),
            "the smallest difference that is likely to be found (4 in 5 times):".into(),
        ];
        let width = self.asked.claims.iter().map(|claim| claim.id.len()).max().unwrap_or(0);
        lines.extend(self.asked.claims.iter().map(|claim| {
            let found = smallest(claim, so_far.as_ref());
            format!("  {:<width$}  {found}", claim.id)
        }));
        Ok(lines.join("\n"))
    }
}

fn smallest(claim: &Claim, so_far: Option<&(Manifest, Vec<Trial>)>) -> String {
    if claim.cells().is_empty() {
        return "cannot be tested here".into();
    }
    let found = so_far.and_then(|(manifest, trials)| findable_difference(claim, trials, manifest));
    found.map_or_else(
        || "not known yet: it takes twins of two blocks".into(),
        |share| format!("{:.1} %", share * 100.0),
    )
}

/// To the minute; hours where there are some.
fn minutes(length: units::Duration) -> String {
    match (length.as_secs_f64() / 60.0).ceil() as u64 {
        minutes @ 0..120 => format!("{minutes} min"),
        minutes => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}
