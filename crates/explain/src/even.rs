//! Is a rate the same in every second, while there is nothing to see that keeps it so?

use crate::facts::Facts;
use crate::workers::busiest_thread;

/// A thread that is busy for more than that has a part in it.
const BUSY_MAX: f64 = 0.7;
/// How much the rates of seconds may scatter, as a share of their mean, where something keeps them even; and how many seconds
/// say so.
pub(crate) const SCATTER_MAX: f64 = 0.05;
/// Requests that are let in together are done together, so many at each S₀: of such a batch, by so much the count of a second may
/// be off by where the second happens to end. And up to which scatter a rate is called even all the same.
const OF_BATCH_MAX: f64 = 0.6;
const SCATTER_OF_BATCHES_MAX: f64 = 0.18;
const SECONDS_MIN: usize = 3;

/// How much the rate scatters from second to second, where it is even, there is CPU left, no thread is busy, users neither
/// come nor think, and nothing behind the server has a part in it.
pub(crate) fn undisturbed(facts: &Facts<'_>) -> Option<f64> {
    let load = &facts.trial.load.load;
    let stays = load.ramp_up_s.is_none()
        && load.requests_per_user.is_none()
        && load.rate_per_s.is_none()
        && load.think_us.is_none_or(|think| think <= 0.0);
    let has_time = facts.has_cpu_left() && facts.signals().is_some() && busiest_thread(facts) <= BUSY_MAX;
    let is_alone = facts.trial.upstreams.is_empty();
    scatter(&facts.rates_by_second())
        .filter(|scatter| stays && has_time && is_alone && *scatter <= scatter_max(facts))
}

/// How much the rates of seconds may scatter where K at a time keep them: they are done in batches, 1/S₀ of them in a second.
fn scatter_max(facts: &Facts<'_>) -> f64 {
    facts
        .idle_s
        .map_or(SCATTER_MAX, |idle_s| (OF_BATCH_MAX * idle_s).clamp(SCATTER_MAX, SCATTER_OF_BATCHES_MAX))
}

/// Standard deviation of rates as a share of their mean; `None` of too few.
pub(crate) fn scatter(rates: &[f64]) -> Option<f64> {
    let count = Some(rates.len()).filter(|count| *count >= SECONDS_MIN)? as f64;
    let mean = rates.iter().sum::<f64>() / count;
    let variance = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean > 0.0).then(|| variance.sqrt() / mean).filter(|it| it.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scatter_takes_three_seconds() {
        assert_eq!(scatter(&[100.0, 100.0]), None);
        assert_eq!(scatter(&[100.0; 3]), Some(0.0));
        assert!(scatter(&[90.0, 100.0, 110.0]).is_some_and(|it| (it - 0.1).abs() < 1e-9));
        assert_eq!(scatter(&[0.0; 4]), None);
    }
}
