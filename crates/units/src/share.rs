//! Shares of a whole.

use core::fmt;
use core::str::FromStr;

use crate::parse::{ParseError, number_and_suffix};

/// A share above 0 and up to 1, written as percent: `2%`. Kept as percent, so that it is shown as it was written.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Share {
    percent: f64,
}

impl Share {
    /// So many percent; `None` unless above 0 and up to 100.
    pub fn percent(percent: f64) -> Option<Self> {
        (percent > 0.0 && percent <= 100.0).then_some(Self { percent })
    }

    /// As a number up to 1.
    pub const fn get(self) -> f64 {
        self.percent / 100.0
    }
}

impl FromStr for Share {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (number, unit) = number_and_suffix(text, "a share", "2%")?;
        if unit.trim() != "%" {
            return Err(ParseError::UnknownUnit { expected: "%" });
        }
        Self::percent(number).ok_or(ParseError::OutOfRange { expected: "above 0 % and up to 100 %" })
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.percent)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::string::ToString;

    use super::*;

    #[test]
    fn percent_in_share_out() {
        assert_eq!("2%".parse(), Ok(Share { percent: 2.0 }));
        assert_eq!("2.5 %".parse::<Share>().map(Share::get), Ok(0.025));
        assert_eq!(Share { percent: 7.0 }.to_string(), "7%");
        for wrong in ["2", "0%", "101%", "-1%", "x%", ""] {
            assert!(wrong.parse::<Share>().is_err(), "{wrong}");
        }
    }
}
