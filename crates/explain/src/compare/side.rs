//! A cell of one of two runs: what is compared of it.

use std::collections::BTreeMap;

use plan::Metric;
use record::{
    CellName, Distribution, LoadResult, Measured, RankedBy, Trial, TrialResult, measured_by_block, trials_of,
};

use super::Bounded;
use crate::usable::{LeftOut, Usable, ceiling_of, cpu_us_per_request, median};

/// What is told of a trial that was measured and brought nothing.
const NOTHING_GOOD: &str = "no good answer, which counts as the worst there is";
/// What is told of a p99 that so few requests don't know.
const TOO_FEW_REQUESTS: &str = "not used: so few requests do not know its p99";
/// What is told of a p99 among requests that nobody saw the end of.
const ENDLESS: &str = "p99 only a lower bound, which counts as longer than any";

/// A cell of one run.
pub(super) struct Side<'a> {
    pub(super) measured: Vec<&'a Measured>,
    /// Of each trial that counts: 0 of one that failed or brought no good answer.
    pub(super) goodputs: Vec<f64>,
    pub(super) figures: Figures,
    /// Of each trial that counts, which share of its requests brought no good answer: all of one that failed.
    pub(super) failed_shares: Vec<f64>,
    /// Trials that failed or brought no good answer.
    pub(super) failed_trials: usize,
    /// Trials whose figure is the measurement's fault.
    left_out: usize,
    pub(super) notes: Vec<String>,
}

/// What trials are compared by, larger being better: goodput, or where a rate is asked for one over the 99th percentile.
#[derive(Default)]
pub(super) struct Figures {
    /// What is shown of them: 0 of a trial that failed or brought no good answer, and of times without a seen end.
    pub(super) shown: Vec<f64>,
    /// The least that they may be, with those of trials of which no more than a bound is known.
    pub(super) least: Vec<f64>,
    /// The most that they may be, likewise.
    pub(super) most: Vec<f64>,
}

impl Figures {
    fn known(&mut self, figure: f64) {
        self.shown.push(figure);
        self.least.push(figure);
        self.most.push(figure);
    }

    /// What a client that was the limit had of a service is no more than a bound, and is not shown.
    fn at_least(&mut self, figure: f64) {
        self.least.push(figure);
        self.most.push(f64::MAX);
    }

    /// Nobody saw the end of it.
    fn at_most(&mut self, figure: f64) {
        self.shown.push(0.0);
        self.least.push(0.0);
        self.most.push(figure);
    }

    /// Takes in what a trial is compared by. Gives what is to be noted of that, where no note on its goodput says so.
    fn add(
        &mut self,
        measured: &Measured,
        ranked_by: RankedBy,
        goodput: &Usable,
        ceiling_per_s: Option<f64>,
    ) -> Option<String> {
        match (ranked_by, goodput.figure, goodput.range) {
            (RankedBy::Goodput, Ok(figure), _) => self.known(figure),
            (_, Err(why), _) if why.is_services_fault() => self.known(0.0),
            (RankedBy::Goodput, Err(_), Some(range)) => self.at_least(range.least),
            (RankedBy::Goodput, Err(_), None) => {}
            (RankedBy::ResponseP99, ..) => return self.add_p99(measured, ceiling_per_s),
        }
        None
    }

    fn add_p99(&mut self, measured: &Measured, ceiling_per_s: Option<f64>) -> Option<String> {
        let times = measured.load.times();
        match Usable::of(measured, Metric::ResponseP99, ceiling_per_s).figure {
            Ok(_) if times.is_too_few_for("p99") => Some(TOO_FEW_REQUESTS.to_owned()),
            Ok(us) => {
                self.known(1.0 / us);
                None
            }
            Err(LeftOut::LowerBound) => {
                let bound = times.p99.filter(|us| *us > 0.0);
                self.at_most(bound.map_or(f64::MAX, |us| 1.0 / us));
                Some(ENDLESS.to_owned())
            }
            Err(why) => Some(format!("p99 not used: {}", why.name())),
        }
    }
}

impl<'a> Side<'a> {
    pub(super) fn of(trials: &'a [Trial], cell: &CellName, ranked_by: RankedBy) -> Self {
        let is_of_cell = |trial: &Trial| CellName::of(trial) == *cell;
        let measured: Vec<&Measured> = measured_by_block(trials, is_of_cell).into_iter().flatten().collect();
        let is_failed = |trial: &&Trial| matches!(trial.result, TrialResult::Failed { .. });
        let failed = trials_of(trials, is_of_cell).filter(is_failed).count();
        let (mut goodputs, mut failed_shares) = (vec![0.0; failed], vec![1.0; failed]);
        let mut figures = Figures::default();
        (0..failed).for_each(|_| figures.known(0.0));
        let (mut failed_trials, mut left_out) = (failed, 0);
        let mut notes: BTreeMap<String, usize> = BTreeMap::new();
        let ceiling = ceiling_of(trials, cell);
        for trial in &measured {
            let usable = Usable::of(trial, Metric::Goodput, ceiling);
            let counts = match usable.figure {
                Ok(goodput) => Some(goodput),
                Err(why) if why.is_services_fault() => {
                    failed_trials += 1;
                    *notes.entry(NOTHING_GOOD.to_owned()).or_default() += 1;
                    Some(0.0)
                }
                Err(why) => {
                    left_out += 1;
                    *notes.entry(format!("not used: {}", why.name())).or_default() += 1;
                    None
                }
            };
            if let Some(goodput) = counts {
                goodputs.push(goodput);
                failed_shares.push(failed_share(&trial.load));
            }
            if let Some(note) = figures.add(trial, ranked_by, &usable, ceiling) {
                *notes.entry(note).or_default() += 1;
            }
            for doubt in usable.doubts {
                *notes.entry(doubt.name().to_owned()).or_default() += 1;
            }
        }
        let all = measured.len() + failed;
        let failures = (failed > 0).then(|| format!("{failed} of {all} trials failed"));
        let notes = notes.into_iter().map(|(what, count)| format!("{count} of {all} trials: {what}"));
        let notes = failures.into_iter().chain(notes).collect();
        Self { measured, goodputs, figures, failed_shares, failed_trials, left_out, notes }
    }

    /// Trials that count.
    pub(super) fn trials(&self) -> usize {
        self.goodputs.len()
    }

    pub(super) fn has_good_answers(&self) -> bool {
        self.failed_trials < self.trials()
    }

    /// It was tried, and nothing good came of it, through no fault of the measurement.
    pub(super) fn no_longer_answers(&self) -> bool {
        self.trials() > 0 && !self.has_good_answers() && self.left_out == 0
    }

    /// Mean over the trials that count.
    pub(super) fn failed_share(&self) -> Option<f64> {
        let count = self.failed_shares.len();
        (count > 0).then(|| self.failed_shares.iter().sum::<f64>() / count as f64)
    }

    /// The median over the trials, as a ranking shows it.
    pub(super) fn p99(&self) -> Option<Bounded> {
        let all: Vec<&Distribution> = self.measured.iter().map(|it| it.load.times()).collect();
        let (value, is_lower_bound) = Distribution::of_medians(&all).told("p99")?;
        value.is_finite().then_some(Bounded { value, is_lower_bound })
    }

    pub(super) fn cpu(&self) -> Option<f64> {
        let all: Vec<f64> = self.measured.iter().filter_map(|it| cpu_us_per_request(it)).collect();
        median(&all)
    }
}

/// Which share of the requests that were due brought no good answer: unanswered, answered otherwise than expected, never
/// sent. Nothing of no requests.
fn failed_share(load: &LoadResult) -> f64 {
    let failed = load.intended.saturating_sub(load.answered_as_expected);
    failed as f64 / load.intended.max(1) as f64
}
