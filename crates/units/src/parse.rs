//! What is shared by the parsers of all units: a decimal number followed by a suffix.

use core::fmt;
use core::num::{IntErrorKind, ParseIntError};
use core::str::FromStr;

/// Why a text is not a quantity. `Display` says what was wrong and what would have been right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParseError {
    /// There is no decimal number at the start.
    NotANumber {
        /// An example of the accepted form.
        example: &'static str,
    },
    /// It is no whole number.
    NotWhole {
        /// An example of the accepted form.
        example: &'static str,
    },
    /// It begins with a minus sign, and nothing of the kind is below zero.
    Negative {
        /// What it would be, with its article.
        what: &'static str,
        /// An example of the accepted form.
        example: &'static str,
    },
    /// The number is not followed by a known unit.
    UnknownUnit {
        /// The accepted units.
        expected: &'static str,
    },
    /// The number is not finite, or outside of what the type takes.
    OutOfRange {
        /// The accepted range.
        expected: &'static str,
    },
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotANumber { example } => write!(f, "not a number; write it like {example}"),
            Self::NotWhole { example } => write!(f, "not a whole number; write it like {example}"),
            Self::Negative { what, example } => {
                write!(f, "{what} can't be negative; write it like {example}")
            }
            Self::UnknownUnit { expected } => write!(f, "unknown unit; write one of {expected}"),
            Self::OutOfRange { expected } => write!(f, "out of range; it must be {expected}"),
        }
    }
}

impl core::error::Error for ParseError {}

/// Splits `"2.5ms"` into `(2.5, "ms")`. The number is plain decimal: no sign, no exponent. `what` names the quantity in
/// the error.
pub(crate) fn number_and_suffix<'a>(
    text: &'a str,
    what: &'static str,
    example: &'static str,
) -> Result<(f64, &'a str), ParseError> {
    let text = text.trim();
    if is_negative(text) {
        return Err(ParseError::Negative { what, example });
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let number: f64 = number.parse().map_err(|_| ParseError::NotANumber { example })?;
    Ok((number, suffix.trim()))
}

/// Whether it is a number with a minus sign before it.
fn is_negative(text: &str) -> bool {
    let behind = text.strip_prefix('-').map(str::trim_start);
    behind.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '.'))
}

/// A whole number of a type without a sign, in digits: `"100"`.
///
/// # Errors
/// In words of its own, where those of the standard library speak of digits and strings.
pub fn whole<T: FromStr<Err = ParseIntError>>(text: &str) -> Result<T, ParseError> {
    const EXAMPLE: &str = "100";
    text.parse().map_err(|error: ParseIntError| match error.kind() {
        IntErrorKind::PosOverflow => ParseError::OutOfRange { expected: at_most::<T>() },
        IntErrorKind::Zero => ParseError::OutOfRange { expected: "at least 1" },
        _ if is_negative(text) => ParseError::Negative { what: "this number", example: EXAMPLE },
        _ => ParseError::NotWhole { example: EXAMPLE },
    })
}

/// The bound of a whole number without a sign, by the size of its type.
const fn at_most<T>() -> &'static str {
    match size_of::<T>() {
        1 => "at most 255",
        2 => "at most 65535",
        4 => "at most 4294967295",
        _ => "at most 18446744073709551615",
    }
}

#[cfg(test)]
mod tests {
    use core::num::NonZeroU32;

    use super::*;

    #[test]
    fn a_whole_number_is_told_what_it_is_not() {
        assert_eq!((whole("0"), whole("100")), (Ok(0_u8), Ok(100_u64)));
        for text in ["-5", "-0", "-2.5", "-99999999999999999999"] {
            assert_eq!(
                whole::<u32>(text),
                Err(ParseError::Negative { what: "this number", example: "100" }),
                "{text}"
            );
        }
        for text in ["", "-", "x", "-x", "2.5", "10k", "1e3", " 1"] {
            assert_eq!(whole::<u32>(text), Err(ParseError::NotWhole { example: "100" }), "{text}");
        }
        let out_of_range = |expected| Err(ParseError::OutOfRange { expected });
        assert_eq!(whole::<u32>("4294967296"), out_of_range("at most 4294967295"));
        assert_eq!(whole::<NonZeroU32>("0").map(NonZeroU32::get), out_of_range("at least 1"));
    }
}
