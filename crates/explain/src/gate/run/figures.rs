//! A figure of each trial, and what they tell together of the stack: by the signed-rank interval over blocks.

use plan::gate::Metric;
use record::Measured;
use stats::{Estimated, LogRatios, Observation};

use crate::usable::cpu_us_per_request;

/// What a trial came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Figure {
    /// Above 0, in the unit of the metric's limits.
    pub(crate) value: f64,
    /// Whether it is only a lower bound.
    pub(crate) is_lower_bound: bool,
}

/// Whether a figure is of the server's processes, which are not those of a run that found it running.
pub(super) const fn is_of_processes(metric: Metric) -> bool {
    matches!(metric, Metric::Cpu | Metric::Memory | Metric::Boot)
}

/// The figure of a trial; `None` where it has none. An error where so few requests don't know it.
pub(crate) fn figure(measured: &Measured, metric: Metric) -> Result<Option<Figure>, String> {
    let (load, server) = (&measured.load, &measured.server);
    let exactly = |value: f64| Some(Figure { value, is_lower_bound: false });
    let figure = match metric {
        Metric::Percentile(percentile) => {
            let times = load.times();
            if times.count > 0 && times.count < stats::samples_needed(percentile.quantile) {
                return Err(format!(
                    "{} takes {} requests a trial, and one has {}",
                    metric.name(),
                    stats::samples_needed(percentile.quantile),
                    times.count
                ));
            }
            of_times(times.figure(percentile.name))
        }
        Metric::Mean => of_times(load.times().figure("mean")),
        Metric::Max => of_times(load.times().figure("max")),
        Metric::Goodput => exactly(load.goodput_per_s),
        Metric::Throughput => exactly(load.throughput_per_s),
        Metric::Cpu => cpu_us_per_request(measured).and_then(exactly),
        Metric::Memory => server.rss_bytes_max.and_then(|bytes| exactly(bytes as f64)),
        Metric::Boot => server.boot_s.and_then(|boot_s| exactly(boot_s * 1e6)),
        Metric::Errors => None,
    };
    Ok(figure.filter(|it| it.value.is_finite()))
}

/// The same; where so few requests don't know it, what it exceeds all the same.
pub(super) fn at_least(measured: &Measured, metric: Metric) -> Option<Figure> {
    match (figure(measured, metric), metric) {
        (Err(_), Metric::Percentile(percentile)) => of_times(measured.load.times().told(percentile.name)),
        (known, _) => known.ok().flatten(),
    }
}

fn of_times(figure: Option<(f64, bool)>) -> Option<Figure> {
    figure.map(|(value, is_lower_bound)| Figure { value, is_lower_bound })
}

/// What the figures of a cell's trials tell. A lower bound is as much as it says where something is to be above a limit, and
/// endless where it is to be below one. `None` without figures.
pub(super) fn estimate(figures: &[Figure], wants_more: bool, tail: f64) -> Option<Estimated> {
    let blocks = figures.len();
    if blocks == 0 {
        return None;
    }
    let ratios = |of: &dyn Fn(&Figure) -> Observation| {
        let observed: Vec<Option<Observation>> = figures.iter().map(|it| Some(of(it))).collect();
        LogRatios::of(&observed, &vec![Some(Observation::Figure(1.0)); blocks])
    };
    if wants_more {
        let of = ratios(&|it| Observation::of(it.value));
        let (low, high) = of.ends(tail);
        // No good answer in most trials is no rate above 0.
        let value = of.ratio_with(tail).map_or(0.0, |it| it.value);
        let is_known = high.is_some() || low.is_some();
        return Some(Estimated { value, is_lower_bound: false, low: low.or(is_known.then_some(0.0)), high });
    }
    // The shorter is the better one.
    let at_bounds = ratios(&|it| Observation::of(1.0 / it.value));
    let endless =
        ratios(&|it| if it.is_lower_bound { Observation::Failed } else { Observation::of(1.0 / it.value) });
    let inverse = |ratio: f64| 1.0 / ratio;
    let value = at_bounds.ratio_with(tail).map(|it| inverse(it.value))?;
    let of_endless = endless.ratio_with(tail).map(|it| inverse(it.value));
    Some(Estimated {
        value,
        is_lower_bound: of_endless.is_none_or(|it| it > value * (1.0 + stats::SAME_WITHIN)),
        low: at_bounds.ends(tail).1.map(inverse),
        high: endless.ends(tail).0.map(inverse),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAIL: f64 = 0.025;

    fn of(values: &[f64]) -> Vec<Figure> {
        values.iter().map(|value| Figure { value: *value, is_lower_bound: false }).collect()
    }

    #[test]
    fn an_interval_takes_six_blocks() {
        let five = estimate(&of(&[10.0, 11.0, 12.0, 13.0, 14.0]), false, TAIL).unwrap();
        assert_eq!((five.low, five.high), (None, None));
        let six = estimate(&of(&[10.0, 11.0, 12.0, 13.0, 14.0, 15.0]), false, TAIL).unwrap();
        assert!((six.low.unwrap() - 10.0).abs() < 1e-9 && (six.high.unwrap() - 15.0).abs() < 1e-9, "{six:?}");
        assert!(12.0 < six.value && six.value < 13.0);
        assert_eq!(estimate(&[], false, TAIL), None);
    }

    #[test]
    fn a_lower_bound_fails_what_it_exceeds_and_passes_nothing() {
        let mut figures = of(&[10.0; 8]);
        for figure in &mut figures[..6] {
            *figure = Figure { value: 100.0, is_lower_bound: true };
        }
        let told = estimate(&figures, false, TAIL).unwrap();
        assert!(told.is_lower_bound && told.high.is_none(), "{told:?}");
        assert!((told.value - 100.0).abs() < 1e-9, "{told:?}");
    }

    #[test]
    fn a_service_that_brings_nothing_has_no_goodput() {
        let told = estimate(&of(&[0.0; 8]), true, TAIL).unwrap();
        assert!(told.value.abs() < f64::EPSILON, "{told:?}");
    }
}
