//! Our own records: what `hit --json` prints, and lines of `trials.jsonl`. `explain` judges them.

use explain::ReasonKind;
use record::{LoadResult, Trial, TrialResult};
use serde_json::Value;

use crate::findings::GAP_BROKEN;
use outputs::Figure;
use outputs::{Row, Tool};

/// The rows, if it is a record of ours.
pub(crate) fn read(value: &Value) -> Option<Vec<Row>> {
    if value.get("trial").is_some() || value.get("stack").is_some() {
        let trial: Trial = serde_json::from_value(value.clone()).ok()?;
        let by = if trial.driver.is_own() { String::new() } else { format!(" by {}", trial.driver.name()) };
        let system = Some(trial.stack + &by);
        let round = Some(trial.round);
        let row = match trial.result {
            TrialResult::Measured(measured) => Row { round, system, ..of_load(&measured.load) },
            TrialResult::Failed { error } => Row {
                tool: Tool::Proofload,
                round,
                system,
                own_reasons: vec![(false, format!("the trial failed: {}", outputs::shown::quoted(&error)))],
                ..Row::default()
            },
        };
        return Some(vec![row]);
    }
    value.get("response_time_us")?;
    let load: LoadResult = serde_json::from_value(value.clone()).ok()?;
    Some(vec![of_load(&load)])
}

fn of_load(load: &LoadResult) -> Row {
    let validity = explain::audit(load);
    let has_gap = load.littles_law.is_some_and(|law| law.gap >= GAP_BROKEN);
    let is_short = validity.reasons.iter().any(|reason| reason.kind == ReasonKind::TooShort);
    let own_reasons = validity.reasons.into_iter().map(|reason| {
        // Only this one says that the figures contradict each other, and not where a window's ends explain it; the
        // others say what the figures don't tell.
        let is_broken = reason.kind == ReasonKind::LittlesLaw && has_gap && !is_short;
        (is_broken, format!("{}: {}", reason.kind.name(), reason.text))
    });
    Row {
        tool: Tool::Proofload,
        path: outputs::path_of(&load.url),
        connections: Some(load.load.connections),
        duration_s: Some(load.window.duration_s).filter(|it| it.is_finite()),
        timeout_s: Some(load.load.timeout_s),
        asked_per_s: load.load.rate_per_s,
        requests: Some(load.intended),
        rate_per_s: Figure::of_json(load.goodput_per_s),
        own_reasons: own_reasons.collect(),
        ..Row::default()
    }
}
