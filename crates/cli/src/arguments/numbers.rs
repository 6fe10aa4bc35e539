//! Whole numbers as typed, where there is more to say of them than their type.

use std::fmt::Display;
use std::ops::RangeInclusive;

use units::whole;

/// What reads a whole number within `range`.
pub fn within<T>(
    range: RangeInclusive<T>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: TryFrom<u64> + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    move |text: &str| -> Result<T, String> {
        let number: u64 = whole(text).map_err(|error| error.to_string())?;
        let fitting = T::try_from(number).ok().filter(|it| range.contains(it));
        fitting.ok_or_else(|| format!("{number} is not in {}..={}", range.start(), range.end()))
    }
}

/// A share as a number from 0 to 1, or in percent, as all others are written; whether it is one is for others to say.
pub fn error_share(text: &str) -> Result<f64, String> {
    let (number, of) = text.strip_suffix('%').map_or((text, 1.0), |it| (it, 100.0));
    let number: f64 =
        number.trim().parse().map_err(|_| "not a share; write it like 0.1 or 10%".to_owned())?;
    Ok(number / of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_errors_is_a_number_or_percent() {
        for (text, share) in [("0.1", 0.1), ("10%", 0.1), ("2.5 %", 0.025), ("0", 0.0)] {
            assert!(error_share(text).is_ok_and(|it| (it - share).abs() < 1e-12), "{text}");
        }
        assert!(error_share("some").is_err_and(|why| why.contains("10%")));
    }
}
