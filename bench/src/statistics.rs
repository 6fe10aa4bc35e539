//! Medians, and how far they can be trusted.

/// A median, and the order statistics that hold the true one with at least 95 %; with too few values their range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Estimate {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    /// Whether low and high are a 95 % interval, and not merely the least and the greatest value.
    pub(crate) is_interval: bool,
}

const CONFIDENCE: f64 = 0.95;

/// `None` without values.
pub(crate) fn estimate(values: &[f64]) -> Option<Estimate> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (first, last) = (*sorted.first()?, *sorted.last()?);
    let middle = sorted.len() / 2;
    let median = if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    };
    Some(match values_outside(sorted.len()) {
        Some(outside) => Estimate {
            median,
            low: sorted[outside],
            high: sorted[sorted.len() - 1 - outside],
            is_interval: true,
        },
        None => Estimate { median, low: first, high: last, is_interval: false },
    })
}

/// How many values on each side can be left out so that those at the ends still hold the median with
/// [`CONFIDENCE`]. Each value is below it with a chance of one half, whatever they are distributed like. `None` where
/// even all of them don't.
fn values_outside(count: usize) -> Option<usize> {
    // The chance that at most `outside` values are on one side: a sum of binomial terms.
    let mut term = 0.5_f64.powi(i32::try_from(count).ok()?);
    let mut sum = term;
    let mut outside = None;
    for k in 0..count / 2 {
        if 1.0 - 2.0 * sum < CONFIDENCE {
            break;
        }
        outside = Some(k);
        term *= (count - k) as f64 / (k + 1) as f64;
        sum += term;
    }
    outside
}

/// The value that a share of `sorted` is at most.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_out_as_many_as_tables_of_the_sign_test_say() {
        for (count, outside) in [
            (1, None),
            (5, None),
            (6, Some(0)),
            (8, Some(0)),
            (9, Some(1)),
            (10, Some(1)),
            (12, Some(2)),
            (20, Some(5)),
        ] {
            assert_eq!(values_outside(count), outside, "{count}");
        }
    }

    #[test]
    fn few_values_have_a_range_and_no_interval() {
        assert_eq!(estimate(&[]), None);
        let one = estimate(&[2.0]).unwrap();
        assert_eq!((one.median, one.low, one.high, one.is_interval), (2.0, 2.0, 2.0, false));
        let ten: Vec<f64> = (1..=10).rev().map(f64::from).collect();
        let it = estimate(&ten).unwrap();
        assert_eq!((it.median, it.low, it.high, it.is_interval), (5.5, 2.0, 9.0, true));
    }

    #[test]
    fn quantiles_are_values_that_were_seen() {
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        assert_eq!(quantile(&hundred, 0.5), Some(50.0));
        assert_eq!(quantile(&hundred, 0.99), Some(99.0));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
