//! Quantities and spans as Kubernetes writes them.

/// Characters of one: who writes more has something else in mind.
const CHARACTERS_MAX: usize = 64;
/// A power of ten behind an `e`: with more nothing is counted.
const EXPONENT_MAX: u32 = 30;

/// How many of the unit a quantity is: `250m` is 0.25, `1Ki` is 1024. `None` where it is no quantity, and where it is below zero.
pub(crate) fn quantity(text: &str) -> Option<f64> {
    let text = Some(text).filter(|it| it.len() <= CHARACTERS_MAX)?;
    let (number, suffix) = number_first(text.strip_prefix('+').unwrap_or(text));
    scaled(number.parse().ok()?, suffix)
}

/// What a number with this suffix is. Divided rather than multiplied where it gets less, for what comes out is nearer.
fn scaled(number: f64, suffix: &str) -> Option<f64> {
    let binary = |power: i32| Some(number * 1024_f64.powi(power));
    match suffix {
        "n" => Some(number / 1e9),
        "u" => Some(number / 1e6),
        "m" => Some(number / 1e3),
        "" => Some(number),
        "k" => Some(number * 1e3),
        "M" => Some(number * 1e6),
        "G" => Some(number * 1e9),
        "T" => Some(number * 1e12),
        "P" => Some(number * 1e15),
        "E" => Some(number * 1e18),
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        _ => {
            let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
            (exponent.unsigned_abs() <= EXPONENT_MAX).then(|| number * 10_f64.powi(exponent))
        }
    }
}

/// A span in seconds: `15.177s`, `1m30s`. `None` where it is none, and where it is below zero.
pub(crate) fn span_s(text: &str) -> Option<f64> {
    let mut rest = Some(text).filter(|it| (1..=CHARACTERS_MAX).contains(&it.len()))?;
    let mut seconds = 0.0;
    while !rest.is_empty() {
        let (number, behind) = number_first(rest);
        let unit = behind.find(|it: char| it.is_ascii_digit() || it == '.').unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(unit);
        let number: f64 = number.parse().ok()?;
        seconds += number * unit_s(unit)?;
        rest = behind;
    }
    Some(seconds)
}

fn unit_s(unit: &str) -> Option<f64> {
    match unit {
        "h" => Some(3600.0),
        "m" => Some(60.0),
        "s" => Some(1.0),
        "ms" => Some(1e-3),
        // Both characters that look so.
        "us" | "\u{b5}s" | "\u{3bc}s" => Some(1e-6),
        "ns" => Some(1e-9),
        _ => None,
    }
}

/// The digits that a text begins with, with their point, and what is behind them.
fn number_first(text: &str) -> (&str, &str) {
    let end = text.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_in_every_form_that_they_have() {
        for (text, number) in [
            ("123456789n", 0.123_456_789),
            ("1500u", 0.0015),
            ("250m", 0.25),
            ("1960m", 1.96),
            ("0", 0.0),
            ("1", 1.0),
            ("+1.5", 1.5),
            (".5", 0.5),
            ("2.", 2.0),
            ("12345Ki", 12_641_280.0),
            ("1Mi", 1_048_576.0),
            ("3Gi", 3_221_225_472.0),
            ("1Ei", 2_f64.powi(60)),
            ("2k", 2000.0),
            ("2E", 2e18),
            ("2e3", 2000.0),
            ("2E+3", 2000.0),
            ("433991680", 433_991_680.0),
        ] {
            assert_eq!(quantity(text), Some(number), "{text}");
        }
        assert_eq!(quantity(&"9".repeat(64)), Some(1e64), "who uses it has a bound");
    }

    #[test]
    fn what_is_no_quantity_is_none() {
        for text in [
            "", "m", "Ki", "-1", "-250m", "1.2.3", ".", "+", "++1", "NaN", "inf", "1e", "e3", "1e999",
            "1e-31", "1e999999", "1x", "1mm", "1 Mi", " 1", "0x10", "1,5", "\u{663}", "1\u{b5}", "1\n",
        ] {
            assert_eq!(quantity(text), None, "{text:?}");
        }
        assert_eq!(quantity(&"9".repeat(65)), None);
    }

    #[test]
    fn spans_are_read_as_go_writes_them() {
        for (text, seconds) in [
            ("15s", 15.0),
            ("15.177s", 15.177),
            ("1m30s", 90.0),
            ("1m2.5s", 62.5),
            ("1h0m0s", 3600.0),
            ("250ms", 0.25),
            ("0s", 0.0),
        ] {
            assert_eq!(span_s(text), Some(seconds), "{text}");
        }
        for text in ["", "15", "s", "-15s", "1s2", "1d", "1..2s", "1 s", "1s ", "\u{b5}s"] {
            assert_eq!(span_s(text), None, "{text:?}");
        }
        assert_eq!(span_s(&"1s".repeat(33)), None);
    }
}
