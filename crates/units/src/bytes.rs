//! Amounts of data.

use core::fmt;
use core::str::FromStr;

use crate::parse::{ParseError, number_and_suffix};

/// A number of bytes. Multiples are binary: `1KiB` = 1024, and so is wrk's `KB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0 as f64;
        match self.0 {
            0..1_024 => write!(f, "{}B", self.0),
            1_024..1_048_576 => write!(f, "{:.1}KiB", bytes / 1024.0),
            1_048_576..1_073_741_824 => write!(f, "{:.1}MiB", bytes / 1_048_576.0),
            _ => write!(f, "{:.2}GiB", bytes / 1_073_741_824.0),
        }
    }
}

/// A number with `B`, `KiB`, `MiB`, `GiB` or nothing (bytes): `"100KiB"`, `"512"`.
impl FromStr for Bytes {
    type Err = ParseError;
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (number, unit) = number_and_suffix(text, "a size", "512 or 100KiB")?;
        let bytes_per_unit = match unit {
            "" | "B" => 1.0,
            "KiB" | "K" | "k" => 1024.0,
            "MiB" | "M" => 1_048_576.0,
            "GiB" | "G" => 1_073_741_824.0,
            _ => return Err(ParseError::UnknownUnit { expected: "B, KiB, MiB, GiB" }),
        };
        let bytes = number * bytes_per_unit;
        if bytes > 9e18 {
            return Err(ParseError::OutOfRange { expected: "at most 8000000000GiB" });
        }
        Ok(Self(bytes as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_binary_multiples() {
        for (text, bytes) in [("512", 512), ("100KiB", 102_400), ("1.5MiB", 1_572_864), ("2G", 2 << 30)] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
        assert!("3 stone".parse::<Bytes>().is_err());
    }
}
