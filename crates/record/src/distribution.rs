//! A distribution of times as it is written down.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Figures of a distribution in microseconds, of these samples. A figure named in `lower_bounds` falls among censored
/// samples: the truth is known only to be longer. One named in `too_few_samples` is of these samples alone, and says
/// little of whatever they are drawn from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Distribution {
    /// Samples, censored ones included.
    pub count: u64,
    /// Censored samples.
    pub censored: u64,
    /// Names of the figures below that are lower bounds.
    pub lower_bounds: LowerBounds,
    /// Percentiles that so few samples don't know ([`stats::samples_needed`]), each with what it exceeds all the same in 95
    /// of 100 cases, µs; `None` where not even that is known. Absent in records of versions that did not ask.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub too_few_samples: BTreeMap<String, Option<f64>>,
    /// Arithmetic mean, µs; absent without samples, as all that follow.
    pub mean: Option<f64>,
    /// Median, µs.
    pub p50: Option<f64>,
    /// 75th percentile, µs.
    pub p75: Option<f64>,
    /// 90th percentile, µs.
    pub p90: Option<f64>,
    /// 95th percentile, µs.
    pub p95: Option<f64>,
    /// 99th percentile, µs.
    pub p99: Option<f64>,
    /// 99.9th percentile, µs.
    pub p99_9: Option<f64>,
    /// 99.99th percentile, µs.
    pub p99_99: Option<f64>,
    /// Longest, µs.
    pub max: Option<f64>,
}

/// The lower end of a distribution, µs. Where requests wait for each other, it shows there first: whatever they take by
/// themselves, nobody is as fast as without waiting.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FastTimes {
    /// A tenth took as long at most.
    pub p10: f64,
    /// A quarter did.
    pub p25: f64,
}

impl FastTimes {
    /// Of these times; `None` of none, and where so many are censored that it is not known.
    pub fn of(times: &stats::Distribution) -> Option<Self> {
        let [p10, p25] = times.quantiles([0.1, 0.25])?;
        let is_known = !p10.is_lower_bound && !p25.is_lower_bound;
        is_known.then(|| Self { p10: p10.value.as_micros_f64(), p25: p25.value.as_micros_f64() })
    }
}

/// A quantile of `times` as it may be told: of so few samples that they don't know it, what it exceeds in 95 of 100 cases, as a
/// lower bound; `None` where not even that is known. As [`Distribution::told`] of what is written down.
pub fn told_quantile(times: &stats::Distribution, quantile: f64) -> Option<stats::Quantile> {
    if times.is_too_few_for(quantile) {
        times.surely_above(quantile).map(|value| stats::Quantile { value, is_lower_bound: true })
    } else {
        times.quantile(quantile)
    }
}

/// Names of figures.
pub type LowerBounds = Vec<String>;

impl From<&stats::Distribution> for Distribution {
    fn from(from: &stats::Distribution) -> Self {
        let quantiles = from.quantiles(stats::PERCENTILES.map(|it| it.quantile));
        let mut lower_bounds = LowerBounds::new();
        let mut figure = |name: &str, quantile: Option<stats::Quantile>| {
            let quantile = quantile?;
            if quantile.is_lower_bound {
                lower_bounds.push(name.to_owned());
            }
            Some(quantile.value.as_micros_f64())
        };
        let mean = figure("mean", from.mean());
        let [p50, p75, p90, p95, p99, p99_9, p99_99] = std::array::from_fn(|index| {
            figure(stats::PERCENTILES[index].name, quantiles.map(|all| all[index]))
        });
        let max = figure("max", from.max());
        let (count, censored) = (from.count(), from.censored_count());
        let few = stats::PERCENTILES.into_iter().filter(|it| count > 0 && from.is_too_few_for(it.quantile));
        let surely_above =
            |it: stats::Percentile| from.surely_above(it.quantile).map(units::Duration::as_micros_f64);
        let too_few_samples = few.map(|it| (it.name.to_owned(), surely_above(it))).collect();
        Self {
            count,
            censored,
            lower_bounds,
            too_few_samples,
            mean,
            p50,
            p75,
            p90,
            p95,
            p99,
            p99_9,
            p99_99,
            max,
        }
    }
}

impl Distribution {
    /// Each figure's median over several trials, by itself: of two in the middle the longer. A lower bound is longer than
    /// any figure, and what a trial's samples don't know is longer than any bound. So it is one of the trials' own figures,
    /// and told only where half of them can tell it.
    pub fn of_medians(trials: &[&Self]) -> Self {
        let mut all = Self {
            count: trials.iter().map(|it| it.count).fold(0, u64::saturating_add),
            censored: trials.iter().map(|it| it.censored).fold(0, u64::saturating_add),
            ..Self::default()
        };
        let with_samples: Vec<&&Self> = trials.iter().filter(|it| it.count > 0).collect();
        let mut middle = |name: &str| {
            let mut told: Vec<Option<(f64, bool)>> = with_samples.iter().map(|it| it.told(name)).collect();
            let key =
                |it: &Option<(f64, bool)>| it.map_or((2, 0.0), |(us, is_bound)| (u8::from(is_bound), us));
            told.sort_by(|a, b| key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1)));
            let (us, is_lower_bound) = (*told.get(told.len() / 2)?)?;
            if is_lower_bound {
                all.lower_bounds.push(name.to_owned());
            }
            Some(us)
        };
        let [mean, p50, p75, p90] = ["mean", "p50", "p75", "p90"].map(&mut middle);
        let [p95, p99, p99_9, p99_99, max] = ["p95", "p99", "p99_9", "p99_99", "max"].map(&mut middle);
        Self { mean, p50, p75, p90, p95, p99, p99_9, p99_99, max, ..all }
    }

    /// A figure as it may be told, in µs, and whether it is only a lower bound: because it falls among censored samples, or
    /// because so few samples know no more. `None` where there is none, or where they know nothing of it.
    pub fn told(&self, name: &str) -> Option<(f64, bool)> {
        match self.known(name) {
            Known::Enough => self.figure(name),
            Known::Bound(us) => Some((us, true)),
            Known::Nothing => None,
        }
    }

    /// Whether there are so few samples that they don't know the percentile of that name.
    pub fn is_too_few_for(&self, name: &str) -> bool {
        self.known(name) != Known::Enough
    }

    fn known(&self, name: &str) -> Known {
        if let Some(bound) = self.too_few_samples.get(name) {
            return bound.map_or(Known::Nothing, Known::Bound);
        }
        let percentile = stats::PERCENTILES.into_iter().find(|it| it.name == name);
        let is_few =
            percentile.is_some_and(|it| self.count > 0 && self.count < stats::samples_needed(it.quantile));
        // An older record tells no more than that, unless it has a bound already.
        let is_bound = self.lower_bounds.iter().any(|it| it == name);
        if is_few && !is_bound { Known::Nothing } else { Known::Enough }
    }

    /// A figure of these samples by name, in µs, and whether it falls among censored ones.
    pub fn figure(&self, name: &str) -> Option<(f64, bool)> {
        let value = match name {
            "mean" => self.mean,
            "p50" => self.p50,
            "p75" => self.p75,
            "p90" => self.p90,
            "p95" => self.p95,
            "p99" => self.p99,
            "p99_9" => self.p99_9,
            "p99_99" => self.p99_99,
            "max" => self.max,
            _ => None,
        }?;
        Some((value, self.lower_bounds.iter().any(|it| it == name)))
    }
}

/// What samples know of a figure.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Known {
    /// There are enough of them, or it is none that takes many.
    Enough,
    /// So few only know what it exceeds, µs.
    Bound(f64),
    /// So few know nothing of it.
    Nothing,
}
