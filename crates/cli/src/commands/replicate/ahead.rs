//! What a replication costs and what it can find, before it begins.

use std::path::Path;

use explain::findable_difference;
use plan::{Claim, Experiment};
use record::{Manifest, Trial};
use serde::Serialize;

use super::One;
use crate::exit::Failure;
use crate::recorded;

/// Version of [`Ahead`] as JSON.
const AHEAD_VERSION: u32 = 1;

/// Trials, time, and for each claim the smallest difference that it is likely to find.
#[derive(Debug, Serialize)]
pub(super) struct Ahead {
    version: u32,
    write_up: String,
    cells: usize,
    /// With twins and controls.
    trials_a_block: u32,
    least: Length,
    most: Length,
    trials_made: usize,
    claims: Vec<ClaimAhead>,
}

/// So many blocks.
#[derive(Debug, Serialize)]
struct Length {
    blocks: u32,
    trials: u32,
    duration_s: f64,
}

/// What is ahead of one claim.
#[derive(Debug, Serialize)]
struct ClaimAhead {
    id: String,
    testable: bool,
    /// A share. It is not known before there are twins of two blocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    findable: Option<f64>,
}

impl One<'_> {
    /// What is ahead, by the noise of the twins in the run in `last`, where there is one.
    pub(super) fn ahead(&self, experiment: &Experiment, last: Option<&Path>) -> Result<Ahead, Failure> {
        let (trials, length) = experiment.block_guess();
        let of_blocks = |blocks: u32| Length {
            blocks,
            trials: trials * blocks,
            duration_s: (length * u64::from(blocks)).as_secs_f64(),
        };
        let so_far = last.map(recorded::read).transpose()?;
        Ok(Ahead {
            version: AHEAD_VERSION,
            write_up: self.name(),
            cells: experiment.selection.as_ref().map_or(0, std::collections::BTreeSet::len),
            trials_a_block: trials,
            least: of_blocks(experiment.procedure.blocks),
            most: of_blocks(experiment.procedure.blocks_max),
            trials_made: so_far.as_ref().map_or(0, |(_, trials)| trials.len()),
            claims: self.asked.claims.iter().map(|claim| ClaimAhead::of(claim, so_far.as_ref())).collect(),
        })
    }
}

impl Ahead {
    /// For a program.
    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).expect("what is ahead is plain data")
    }

    /// For a person.
    pub(super) fn text(&self) -> String {
        let Self { least, most, .. } = self;
        let made = self.trials_made;
        let made = if made > 0 { format!("; {made} of them are made") } else { String::new() };
        let mut lines = vec![
            format!(
                "{}: {} claims about {} cells; with twins and controls {} trials a block",
                self.write_up,
                self.claims.len(),
                self.cells,
                self.trials_a_block
            ),
            format!("{} blocks at least: {}{made}", least.blocks, least.text()),
            format!("{} at most: {}", most.blocks, most.text()),
            "the smallest difference that is likely to be found (4 in 5 times):".into(),
        ];
        let width = self.claims.iter().map(|claim| claim.id.len()).max().unwrap_or(0);
        lines.extend(self.claims.iter().map(|claim| format!("  {:<width$}  {}", claim.id, claim.text())));
        lines.join("\n")
    }
}

impl Length {
    fn text(&self) -> String {
        format!("{} trials, about {}", self.trials, minutes(self.duration_s))
    }
}

impl ClaimAhead {
    fn of(claim: &Claim, so_far: Option<&(Manifest, Vec<Trial>)>) -> Self {
        let testable = !claim.cells().is_empty();
        let so_far = so_far.filter(|_| testable);
        let findable = so_far.and_then(|(manifest, trials)| findable_difference(claim, trials, manifest));
        Self { id: claim.id.clone(), testable, findable }
    }

    fn text(&self) -> String {
        if !self.testable {
            return "cannot be tested here".into();
        }
        self.findable.map_or_else(
            || "not known yet: it takes twins of two blocks".into(),
            |share| format!("{:.1} %", share * 100.0),
        )
    }
}

/// To the minute; hours where there are some.
fn minutes(seconds: f64) -> String {
    match (seconds / 60.0).ceil() as u64 {
        minutes @ 0..120 => format!("{minutes} min"),
        minutes => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}
