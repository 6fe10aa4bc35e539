//! A distribution of times as it is written down.

use serde::{Deserialize, Serialize};

/// Figures of a distribution in microseconds. A figure named in `lower_bounds` falls among censored
/// samples: the truth is known only to be longer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Distribution {
    /// Samples, censored ones included.
    pub count: u64,
    /// Censored samples.
    pub censored: u64,
    /// Names of the figures below that are lower bounds.
    pub lower_bounds: LowerBounds,
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
        Self { count, censored, lower_bounds, mean, p50, p75, p90, p95, p99, p99_9, p99_99, max }
    }
}

impl Distribution {
    /// Each figure's median over several trials, by itself: of two in the middle the longer, and a lower bound is longer
    /// than any figure. So it is one of the trials' own figures, and known to be above a bound where half of them are.
    pub fn of_medians(trials: &[&Self]) -> Self {
        let mut lower_bounds = LowerBounds::new();
        let mut middle = |name: &str| {
            let mut all: Vec<(f64, bool)> = trials.iter().filter_map(|it| it.figure(name)).collect();
            all.sort_by(|a, b| a.1.cmp(&b.1).then(a.0.total_cmp(&b.0)));
            let (figure, is_lower_bound) = *all.get(all.len() / 2)?;
            if is_lower_bound {
                lower_bounds.push(name.to_owned());
            }
            Some(figure)
        };
        let [mean, p50, p75, p90] = ["mean", "p50", "p75", "p90"].map(&mut middle);
        let [p95, p99, p99_9, p99_99, max] = ["p95", "p99", "p99_9", "p99_99", "max"].map(&mut middle);
        let count = trials.iter().map(|it| it.count).fold(0, u64::saturating_add);
        let censored = trials.iter().map(|it| it.censored).fold(0, u64::saturating_add);
        Self { count, censored, lower_bounds, mean, p50, p75, p90, p95, p99, p99_9, p99_99, max }
    }

    /// A figure by name, in µs, and whether it is only a lower bound.
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
