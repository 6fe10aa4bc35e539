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
