//! How far values are from their mean.

/// The spread of values around their mean, as wrk prints it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Deviation {
    /// The mean; in the unit of the values, as all that follow. Zero of no values.
    pub mean: f64,
    /// The sample standard deviation (n − 1). Zero of fewer than two values.
    pub standard: f64,
    /// The largest value. Zero of no values.
    pub max: f64,
    /// Share of the values within one standard deviation of the mean, 0 to 1. Zero of no values.
    pub within: f64,
}

impl Deviation {
    /// Of values and how often each occurred.
    pub fn of(values: &[(f64, u64)]) -> Self {
        let count: u64 = values.iter().map(|(_, count)| count).sum();
        if count == 0 {
            return Self::default();
        }
        let sum_of = |of: &dyn Fn(f64) -> f64| -> f64 {
            values.iter().map(|(value, count)| of(*value) * *count as f64).sum()
        };
        let mean = sum_of(&|value| value) / count as f64;
        let squares = sum_of(&|value| (value - mean).powi(2));
        let standard = if count > 1 { (squares / (count - 1) as f64).sqrt() } else { 0.0 };
        // What a sum of rounded terms may be off by must not push equal values out of their own mean's reach.
        let reach = standard + mean.abs() * 1e-12;
        let within: u64 =
            values.iter().filter(|(value, _)| (value - mean).abs() <= reach).map(|(_, count)| count).sum();
        let max = values.iter().map(|(value, _)| *value).fold(f64::MIN, f64::max);
        Self { mean, standard, max, within: within as f64 / count as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_nothing_of_one_and_of_many() {
        assert_eq!(Deviation::of(&[]), Deviation::default());
        let equal = Deviation::of(&[(0.1, 3)]);
        assert!(equal.standard < 1e-15 && (equal.within - 1.0).abs() < 1e-15, "{equal:?}");
        // 2, 4, 4, 4, 5, 5, 7, 9: the squares of the differences add up to 32.
        let many = Deviation::of(&[(2.0, 1), (4.0, 3), (5.0, 2), (7.0, 1), (9.0, 1)]);
        assert!((many.mean - 5.0).abs() < 1e-12 && (many.standard - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert!((many.within - 0.75).abs() < 1e-12 && (many.max - 9.0).abs() < 1e-12, "{many:?}");
    }
}
