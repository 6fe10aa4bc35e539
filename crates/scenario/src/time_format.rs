//! Instants as text, in the formats of `__time`: milliseconds, `/1000`, names such as `YMD`, and the letters of
//! Java's `SimpleDateFormat` in common use. Always in UTC.

use std::fmt::Write;

use jiff::Timestamp;
use jiff::civil::{DateTime, Weekday};
use jiff::tz::TimeZone;

/// The letters that are known.
const LETTERS: &str = "yMdHhmsSaEDuzZX";
/// Digits of a number at most.
const DIGITS_MAX: usize = 20;
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A piece of a format.
enum Part<'a> {
    Letter(char, usize),
    Text(&'a str),
}

/// The first letter of `format` that has no meaning here, if there is one.
pub(crate) fn unknown_letter(format: &str) -> Option<char> {
    if divisor(format).is_some() {
        return None;
    }
    parts(named(format)).into_iter().find_map(|part| match part {
        Part::Letter(letter, _) if !LETTERS.contains(letter) => Some(letter),
        _ => None,
    })
}

/// The instant `epoch_ms` after 1970 in `format`; as milliseconds if that is empty.
pub(crate) fn formatted(format: &str, epoch_ms: i64) -> String {
    if format.is_empty() {
        return epoch_ms.to_string();
    }
    if let Some(divisor) = divisor(format) {
        return (epoch_ms / divisor).to_string();
    }
    let Ok(instant) = Timestamp::from_millisecond(epoch_ms) else { return epoch_ms.to_string() };
    let civil = TimeZone::UTC.to_datetime(instant);
    let mut out = String::new();
    for part in parts(named(format)) {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Letter(letter, count) => letters(&mut out, civil, letter, count),
        }
    }
    out
}

/// `/1000` divides the milliseconds.
fn divisor(format: &str) -> Option<i64> {
    format.strip_prefix('/')?.trim().parse().ok().filter(|divisor| *divisor > 0)
}

/// JMeter's names for some formats.
fn named(format: &str) -> &str {
    match format {
        "YMD" => "yyyyMMdd",
        "HMS" => "HHmmss",
        "YMDHMS" => "yyyyMMdd-HHmmss",
        other => other,
    }
}

fn parts(format: &str) -> Vec<Part<'_>> {
    let mut found = Vec::new();
    let mut rest = format;
    while let Some(first) = rest.chars().next() {
        let length = if first == '\'' {
            let inside = &rest[1..];
            let end = inside.find('\'').unwrap_or(inside.len());
            found.push(Part::Text(if end == 0 { "'" } else { &inside[..end] }));
            (end + 2).min(rest.len())
        } else if first.is_ascii_alphabetic() {
            let count = rest.bytes().take_while(|byte| *byte == first as u8).count();
            found.push(Part::Letter(first, count));
            count
        } else {
            found.push(Part::Text(&rest[..first.len_utf8()]));
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    found
}

/// One letter, written `count` times.
fn letters(out: &mut String, civil: DateTime, letter: char, count: usize) {
    let month = MONTHS[usize::try_from(civil.month() - 1).unwrap_or_default() % 12];
    let number = match letter {
        'y' if count == 2 => i32::from(civil.year() % 100),
        'y' => i32::from(civil.year()),
        'M' if count >= 3 => {
            out.push_str(if count == 3 { &month[..3] } else { month });
            return;
        }
        'M' => i32::from(civil.month()),
        'd' => i32::from(civil.day()),
        'H' => i32::from(civil.hour()),
        'h' => (i32::from(civil.hour()) + 11) % 12 + 1,
        'm' => i32::from(civil.minute()),
        's' => i32::from(civil.second()),
        'S' => i32::from(civil.millisecond()),
        'D' => i32::from(civil.day_of_year()),
        'u' => i32::from(civil.weekday().to_monday_one_offset()),
        'a' => return out.push_str(if civil.hour() < 12 { "AM" } else { "PM" }),
        'E' => {
            let day = day_name(civil.weekday());
            return out.push_str(if count <= 3 { &day[..3] } else { day });
        }
        'z' => return out.push_str("UTC"),
        'Z' => return out.push_str("+0000"),
        _ => return out.push('Z'),
    };
    let width = count.min(DIGITS_MAX);
    // Writing into a String cannot fail.
    let _ = write!(out, "{number:0width$}");
}

fn day_name(day: Weekday) -> &'static str {
    match day {
        Weekday::Monday => "Monday",
        Weekday::Tuesday => "Tuesday",
        Weekday::Wednesday => "Wednesday",
        Weekday::Thursday => "Thursday",
        Weekday::Friday => "Friday",
        Weekday::Saturday => "Saturday",
        Weekday::Sunday => "Sunday",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_in_common_use() {
        let ms = 1_709_258_405_078; // 2024-03-01, a Friday, 02:00:05.078 UTC
        for (format, text) in [
            ("", "1709258405078"),
            ("/1000", "1709258405"),
            ("YMD", "20240301"),
            ("HMS", "020005"),
            ("YMDHMS", "20240301-020005"),
            ("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", "2024-03-01T02:00:05.078Z"),
            ("EEE, d MMM yy h:mm a", "Fri, 1 Mar 24 2:00 AM"),
            ("MMMM D u X Z ''", "March 61 5 Z +0000 '"),
        ] {
            assert_eq!(formatted(format, ms), text, "{format}");
            assert_eq!(unknown_letter(format), None, "{format}");
        }
        assert_eq!(unknown_letter("yyyy-QQ"), Some('Q'));
    }

    #[test]
    fn what_no_calendar_has_is_still_a_number() {
        assert_eq!(formatted("yyyy", i64::MAX), i64::MAX.to_string());
        assert_eq!(formatted("'open", 0), "open");
        assert_eq!(formatted(&"d".repeat(100_000), 0).len(), DIGITS_MAX);
    }
}
