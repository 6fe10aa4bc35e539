//! Printed numbers: what they say, and how exactly.

/// Longest text that is tried as a number. A figure of a load test has fewer digits; what is longer is none.
const DIGITS_MAX: usize = 40;
/// Hours, minutes, seconds.
const GO_PARTS_MAX: usize = 3;
/// What people put between groups of three digits, beside `.` and `,`.
const GROUPING: [char; 5] = ['\'', '’', '_', '\u{a0}', '\u{202f}'];

/// A figure as it was printed. The truth is within one `step` of it, whether it was rounded or cut off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// The value, in the unit of the field that holds it. Finite.
    pub value: f64,
    /// One unit in the last place that was printed; zero for a count.
    pub step: f64,
}

impl Figure {
    /// A figure without rounding.
    pub const fn exact(value: f64) -> Self {
        Self { value, step: 0.0 }
    }

    /// A finite value of JSON, which prints every digit.
    pub fn of_json(value: f64) -> Option<Self> {
        value.is_finite().then(|| Self::exact(value))
    }

    /// In another unit: `factor` of the new for one of the old.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, step: self.step * factor }
    }

    /// Whether both can be the same quantity, each rounded or cut off where it was.
    pub fn agrees(self, other: Self) -> bool {
        // The last term is for what binary fractions do to decimal ones.
        (self.value - other.value).abs() <= self.step + other.step + other.value.abs() * 1e-9
    }

    /// How far the truth may lie from the value, as a share of it; infinite for a zero that was rounded.
    pub fn slack(self) -> f64 {
        if self.step == 0.0 { 0.0 } else { self.step / self.value.abs() }
    }
}

/// Whether a number is a whole one, but for what binary fractions do to it.
pub(crate) fn is_whole(value: f64) -> bool {
    (value - value.round()).abs() < 1e-9
}

/// Reads a number as people of any country write it.
///
/// - `1234.56`, `1234,56`: one mark is the decimal one;
/// - `1.234,56`, `1,234.56`: the last mark is the decimal one, if groups of three stand before it;
/// - `29,115`: one comma before exactly three digits is a grouping mark, as English and Chinese texts have it,
///   unless `decimal_comma` says that the source writes decimals with commas;
/// - `1.234.567`, `1'234`: grouping marks.
///
/// `None` for what is no number, or infinite.
pub(crate) fn number(text: &str, decimal_comma: bool) -> Option<Figure> {
    let text = text.trim();
    if text.is_empty() || text.len() > DIGITS_MAX {
        return None;
    }
    let plain: String = text.chars().filter(|it| !GROUPING.contains(it)).collect();
    let (sign, digits) = match plain.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, plain.strip_prefix('+').unwrap_or(&plain)),
    };
    // Java leaves out a zero before the mark.
    let begins = |it: char| it.is_ascii_digit() || it == '.' || (decimal_comma && it == ',');
    if !digits.starts_with(begins) {
        return None;
    }
    let (whole, fraction) = split(digits, decimal_comma)?;
    let all_digits = |part: &str| part.bytes().all(|it| it.is_ascii_digit());
    if !all_digits(&whole) || !all_digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let value: f64 = format!("{whole}.{fraction}0").parse().ok()?;
    let step = 10f64.powi(-i32::try_from(fraction.len()).ok()?);
    value.is_finite().then_some(Figure { value: sign * value, step })
}

/// Whole part without grouping marks, and fraction.
fn split(digits: &str, decimal_comma: bool) -> Option<(String, &str)> {
    let dots = digits.matches('.').count();
    let commas = digits.matches(',').count();
    let last = digits.rfind(['.', ',']);
    let Some(last) = last else { return Some((digits.to_owned(), "")) };
    let (before, after) = (&digits[..last], &digits[last + 1..]);
    let mark = &digits[last..=last];
    let decimal = match (dots, commas) {
        (1, 0) => !decimal_comma || after.len() != 3 || before.is_empty() || before.starts_with('0'),
        (0, 1) => decimal_comma || after.len() != 3 || before.starts_with('0') || before.len() > 3,
        // One of each: groups come before the fraction.
        (_, _) if dots > 0 && commas > 0 => digits.matches(mark).count() == 1,
        _ => false,
    };
    let grouped = if decimal { before } else { digits };
    let marks: Vec<&str> = grouped.split(['.', ',']).collect();
    let well_grouped = marks.len() == 1
        || (!marks[0].is_empty() && marks[0].len() <= 3 && marks[1..].iter().all(|it| it.len() == 3));
    well_grouped.then(|| (marks.concat(), if decimal { after } else { "" }))
}

/// A number and the unit right behind it: `10.82ms` is `(10.82, "ms")`.
pub(crate) fn with_unit(text: &str) -> Option<(Figure, &str)> {
    let end = text
        .char_indices()
        .find(|(_, it)| !(it.is_ascii_digit() || ".,-+".contains(*it)))
        .map_or(text.len(), |(at, _)| at);
    Some((number(&text[..end], false)?, text[end..].trim()))
}

/// A time such as `10.82ms`, `1.46s`, `0.00us` or `1.50m`, in milliseconds.
pub(crate) fn time_ms(text: &str) -> Option<Figure> {
    let (figure, unit) = with_unit(text)?;
    let ms = match unit {
        "ns" => 1e-6,
        "us" | "µs" | "μs" => 1e-3,
        "ms" | "毫秒" => 1.0,
        "s" | "秒" => 1e3,
        "m" => 60e3,
        "h" => 3600e3,
        _ => return None,
    };
    Some(figure.times(ms))
}

/// A time as Go prints it, `1m2.5s` or `536.01µs`, in milliseconds.
pub(crate) fn go_time_ms(text: &str) -> Option<Figure> {
    let (mut rest, mut sum) = (text, None);
    for _ in 0..GO_PARTS_MAX {
        let digits = rest.find(|it: char| !(it.is_ascii_digit() || it == '.')).unwrap_or(rest.len());
        let behind = rest[digits..].find(|it: char| it.is_ascii_digit()).unwrap_or(rest.len() - digits);
        let (part, more) = rest.split_at(digits + behind);
        let part = time_ms(part)?;
        sum = Some(sum.map_or(part, |sum: Figure| Figure { value: sum.value + part.value, ..part }));
        if more.is_empty() {
            return sum;
        }
        rest = more;
    }
    None
}

/// A size as wrk and h2load print it, `98.78MB` or `228.97K`, in bytes: their units are powers of 1024.
pub(crate) fn bytes(text: &str) -> Option<Figure> {
    let (figure, unit) = with_unit(text)?;
    let scale = match unit.strip_suffix('B').unwrap_or(unit) {
        "" => 1.0,
        "K" => 1024.0,
        "M" => 1024f64.powi(2),
        "G" => 1024f64.powi(3),
        "T" => 1024f64.powi(4),
        _ => return None,
    };
    Some(figure.times(scale))
}

/// A rate such as `29115.47`, `29,115` or `29.1k`.
pub(crate) fn rate(text: &str) -> Option<Figure> {
    let (figure, unit) = with_unit(text)?;
    match unit {
        "" => Some(figure),
        "k" | "K" => Some(figure.times(1e3)),
        "w" | "W" | "万" => Some(figure.times(1e4)),
        "M" => Some(figure.times(1e6)),
        _ => None,
    }
}

/// The numbers within a line of prose, each with what follows it up to the next blank or number.
pub(crate) fn numbers_in(line: &str) -> Vec<(Figure, &str)> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find(|it: char| it.is_ascii_digit()) {
        let from = &rest[start..];
        let end = from
            .char_indices()
            .find(|(_, it)| !(it.is_ascii_digit() || ".,".contains(*it)))
            .map_or(from.len(), |(at, _)| at);
        let text = from[..end].trim_end_matches(['.', ',']);
        let behind = &from[end..];
        let unit_end = behind
            .trim_start_matches(' ')
            .char_indices()
            .find(|(_, it)| !it.is_alphabetic())
            .map_or(behind.trim_start_matches(' ').len(), |(at, _)| at);
        if let Some(figure) = number(text, false) {
            found.push((figure, &behind.trim_start_matches(' ')[..unit_end]));
        }
        rest = behind;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_other_countries() {
        for (text, value, step) in [
            ("1234.56", 1234.56, 0.01),
            ("1234,56", 1234.56, 0.01),
            ("1.234,56", 1234.56, 0.01),
            ("1,234.56", 1234.56, 0.01),
            ("29,115", 29115.0, 1.0),
            ("29.115", 29.115, 0.001),
            ("1.234.567", 1_234_567.0, 1.0),
            ("1'234", 1234.0, 1.0),
            ("0,125", 0.125, 0.001),
            ("-3", -3.0, 1.0),
            (".5", 0.5, 0.1),
        ] {
            let figure = number(text, false).unwrap_or_else(|| panic!("{text}"));
            assert!(
                (figure.value - value).abs() < 1e-9 && (figure.step - step).abs() < 1e-9,
                "{text}: {figure:?}"
            );
        }
        assert_eq!(number("29,115", true), Some(Figure { value: 29.115, step: 0.001 }));
        assert_eq!(number("29.115", true), Some(Figure { value: 29115.0, step: 1.0 }));
        assert_eq!(number(",6", true), Some(Figure { value: 0.6, step: 0.1 }));
        assert_eq!((number(",6", false), number(",", true)), (None, None));
        for text in [
            "",
            "-",
            "nan",
            "-nan",
            "inf",
            "1.2.3",
            "1,2,3",
            "12,34.5.6",
            "1e5",
            "１２",
            ",",
            ".",
            "1234.567,8",
        ] {
            assert_eq!(number(text, false), None, "{text}");
        }
    }

    #[test]
    fn units_are_those_that_the_tools_print() {
        assert_eq!(time_ms("1.46s"), Some(Figure { value: 1460.0, step: 10.0 }));
        assert_eq!(time_ms("0.00us").map(|it| it.value), Some(0.0));
        assert_eq!(time_ms("-nan"), None);
        assert_eq!(bytes("1.00KB").map(|it| it.value), Some(1024.0));
        assert_eq!(bytes("228.97K").map(|it| it.value), Some(228.97 * 1024.0));
        assert_eq!(rate("29.1k").map(|it| it.value), Some(29100.0));
    }

    #[test]
    fn times_of_go_have_several_parts() {
        for (text, value, step) in [
            ("1m2.5s", 62_500.0, 100.0),
            ("1h0m0s", 3_600_000.0, 1000.0),
            ("4.5ms", 4.5, 0.1),
            ("536.012µs", 0.536_012, 1e-6),
            ("87ns", 87e-6, 1e-6),
            ("0s", 0.0, 1000.0),
        ] {
            let figure = go_time_ms(text).unwrap_or_else(|| panic!("{text}"));
            assert!((figure.value - value).abs() < 1e-9 && (figure.step - step).abs() < 1e-9, "{figure:?}");
        }
        for text in ["", "s", "5", "1m2", "1h1m1s1ms", "-1s", "1.2.3s", "1x", "1m\u{a0}s", "٣s"] {
            assert_eq!(go_time_ms(text), None, "{text}");
        }
    }

    #[test]
    fn prose_is_searched_for_numbers() {
        let found = numbers_in("  • QPS 为 8420.10 。 1.5w, 52.74ms");
        let values: Vec<_> = found.iter().map(|(figure, unit)| (figure.value, *unit)).collect();
        assert_eq!(values, [(8420.10, ""), (1.5, "w"), (52.74, "ms")]);
    }

    #[test]
    fn rounding_and_cutting_off_agree() {
        let printed = |text| number(text, false).unwrap();
        assert!(printed("29115").agrees(printed("29115.47")));
        assert!(printed("29116").agrees(printed("29115.47")));
        assert!(!printed("8420.10").agrees(printed("8465.08")));
    }
}
