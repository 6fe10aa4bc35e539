//! The change that a verdict names, made by a variant of the stack.

use std::path::Path;

use explain::{CellExplanation, Confirmation, Intervention, Setting, explain_cells};
use plan::Experiment;
use plan::stack::{Catalogue, InterventionOn, StackManifest};
use record::{RunDir, Trial};

use super::{NotTried, Recorded, nothing};
use crate::beside::Beside;
use crate::error::LabError;

/// Blocks of it: three show a factor of two, and each takes two boots.
const BLOCKS: u32 = 3;

/// The change that the first verdict of a cell names, made by a variant of its stack.
#[derive(Debug)]
pub(super) struct Change<'a> {
    cell: &'a CellExplanation,
    named: &'a Intervention,
    variant: &'a StackManifest,
    /// How many times as large the limit becomes; `None` where it has no size and is lifted.
    factor: Option<f64>,
    /// What measures the stack as it was and its variant side by side.
    pub(super) experiment: Experiment,
}

impl<'a> Change<'a> {
    /// The change for `cell`, of a run with these `trials` and this experiment on record.
    ///
    /// # Errors
    /// A cell with nothing to try: its verdict names no setting, its stack has no variant for it, or the record lacks what it
    /// takes. A load that can't be made again.
    pub(super) fn of(
        cell: &'a CellExplanation,
        trials: &[Trial],
        recorded: &Experiment,
        catalogue: &'a Catalogue,
    ) -> Result<Self, NotTried> {
        let first = cell.explanation.first();
        let Some((named, setting)) = first.confirm.as_ref().and_then(|named| Some((named, named.setting?)))
        else {
            return nothing(format!("no variant could change what `{}` names", first.phrase));
        };
        let Some((variant, factor)) = variant_for(catalogue, &cell.stack, setting, named) else {
            let what = on(setting);
            return nothing(format!("{} has no variant that changes its {what} alone", cell.stack));
        };
        let recorded = Recorded::of(cell, trials, recorded)?;
        let beside = Beside {
            title: &format!("{}: {}", cell.stack, first.phrase),
            endpoint: recorded.endpoint,
            stacks: &[&cell.stack, &variant.id],
            users: &[recorded.measured.load.load.connections],
            blocks: BLOCKS,
            window_s_max: f64::MAX,
        };
        let experiment = recorded.experiment(&beside, catalogue)?;
        Ok(Self { cell, named, variant, factor, experiment })
    }

    /// Holds the rates of the experiment's run in `measured` against the prediction. `None` where one of the two stacks was not
    /// measured.
    pub(super) fn judged(&self, measured: &Path) -> Result<Option<Confirmation>, LabError> {
        let (manifest, trials) = (RunDir::read_manifest(measured)?, RunDir::read_trials(measured)?);
        let cells = explain_cells(&trials, manifest.machine.cores);
        let rate = |id: &str| cells.iter().find(|cell| cell.stack == id).map(|cell| cell.goodput_per_s);
        Ok(rate(&self.cell.stack).zip(rate(&self.variant.id)).map(|(before, after)| {
            let predicted = predicted(self.named, self.factor, before);
            Confirmation::of(&self.variant.id, before, predicted, after)
        }))
    }
}

/// What the rate becomes, requests a second, from that of the stack as it was in the same blocks.
fn predicted(named: &Intervention, factor: Option<f64>, before_per_s: f64) -> f64 {
    // A limit without a size is lifted: what is left then is what the verdict took the rate to be without it.
    let Some(factor) = factor else { return named.rate_per_s };
    let moved = if named.rate_per_s > 0.0 { before_per_s / named.rate_per_s } else { 1.0 };
    named.predict(factor) * moved
}

/// The variant that changes the limit by about as much as doubling it does, and by how much.
fn variant_for<'a>(
    catalogue: &'a Catalogue,
    stack: &str,
    setting: Setting,
    named: &Intervention,
) -> Option<(&'a StackManifest, Option<f64>)> {
    let fits = |stack: &&'a StackManifest| {
        let begins = stack
            .variant
            .as_ref()
            .and_then(|it| it.intervention.as_ref())
            .and_then(|it| it.threads.as_deref());
        begins.is_none_or(|begins| named.threads.iter().any(|name| signals::is_group_of(name, begins)))
    };
    let with_factor = |stack: &'a StackManifest| {
        let intervention = stack.variant.as_ref()?.intervention.as_ref()?;
        Some((stack, intervention.factor_over(named.now.unwrap_or(0.0))))
    };
    let off = |it: &(&StackManifest, Option<f64>)| (it.1.unwrap_or(2.0) / 2.0).ln().abs();
    catalogue
        .interventions(stack, on(setting))
        .into_iter()
        .filter(fits)
        .filter_map(with_factor)
        .min_by(|a, b| off(a).total_cmp(&off(b)))
}

const fn on(setting: Setting) -> InterventionOn {
    match setting {
        Setting::Pool => InterventionOn::Pool,
        Setting::UpstreamPool => InterventionOn::UpstreamPool,
        Setting::AcceptQueue => InterventionOn::AcceptQueue,
        Setting::Heap => InterventionOn::Heap,
        Setting::KeepAlive => InterventionOn::KeepAlive,
        Setting::Collector => InterventionOn::Collector,
        Setting::Cores => InterventionOn::Cores,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_grows_with_its_factor_from_the_rate_measured_beside_it_or_is_lifted() {
        let named = Intervention {
            text: "make it 16 threads".into(),
            setting: Some(Setting::Pool),
            now: Some(8.0),
            threads: Vec::new(),
            rate_per_s: 100.0,
            rate_max_per_s: Some(300.0),
        };
        let is = |factor, before_per_s, rate: f64| {
            let told = predicted(&named, factor, before_per_s);
            assert!((told - rate).abs() < 1e-9, "{told}, not {rate}");
        };
        is(Some(2.0), 100.0, 200.0);
        is(Some(2.0), 90.0, 180.0);
        is(Some(5.0), 100.0, 300.0);
        is(None, 90.0, 100.0);
        let silent = Intervention { rate_per_s: 0.0, ..named };
        assert!(predicted(&silent, Some(2.0), 90.0).abs() < 1e-9);
    }
}
