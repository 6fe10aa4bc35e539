//! What is shared by the parsers of all units: a decimal number followed by a suffix.

use core::fmt;

/// Why a text is not a quantity. `Display` says what was wrong and what would have been right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParseError {
    /// There is no decimal number at the start.
    NotANumber {
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
    if text
        .strip_prefix('-')
        .is_some_and(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '.'))
    {
        return Err(ParseError::Negative { what, example });
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let number: f64 = number.parse().map_err(|_| ParseError::NotANumber { example })?;
    Ok((number, suffix.trim()))
}
