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
const MS_NS: i128 = 1_000_000;
const SECOND_NS: i128 = 1_000_000_000;
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

/// The first sign of `format` that means something else in `__timeShift`, if there is one: there formats are those of Java's
/// `DateTimeFormatter`, of which these letters, so many at a time, are as here.
pub(crate) fn unknown_in_shift(format: &str) -> Option<char> {
    let is_known = |letter: char, count: usize| match letter {
        'y' | 'M' | 'E' => count <= 4,
        'd' | 'H' | 'h' | 'm' | 's' => count <= 2,
        'z' | 'Z' | 'X' => count <= 3,
        'S' => count == 3,
        'a' => count == 1,
        _ => false,
    };
    if divisor(format).is_some() {
        return Some('/');
    }
    parts(format).into_iter().find_map(|part| match part {
        Part::Letter(letter, count) => (!is_known(letter, count)).then_some(letter),
        Part::Text(text) => text.chars().find(|sign| "[]{}#".contains(*sign)),
    })
}

/// What `__timeShift` gives: the instant `date`, in milliseconds since 1970, or now, and `span` after it. What is no span is none.
pub(crate) fn shifted(format: &str, date: &str, span: &str, now_ms: i64) -> String {
    let from_ms: i64 = date.parse().unwrap_or(now_ms);
    let ns = i128::from(from_ms) * MS_NS + span_ns(span).unwrap_or_default();
    let ms = ns.div_euclid(MS_NS).clamp(i64::MIN.into(), i64::MAX.into());
    formatted(format, ms as i64)
}

/// A span as Java writes it, such as `P1DT2H3M4.5S` or `-PT10M`, in nanoseconds.
fn span_ns(text: &str) -> Option<i128> {
    let text = text.to_ascii_uppercase();
    let (sign, text) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(&text)),
    };
    let text = text.strip_prefix('P')?;
    let (days, time) = text.split_once('T').map_or((text, None), |(days, time)| (days, Some(time)));
    if time.map_or(days.is_empty(), str::is_empty) {
        return None;
    }
    let (days, behind) = counted(days, 'D')?;
    let (hours, time) = counted(time.unwrap_or_default(), 'H')?;
    let (minutes, time) = counted(time, 'M')?;
    let (seconds, end) = time.split_once('S').unwrap_or(("0", time));
    if !(behind.is_empty() && end.is_empty()) {
        return None;
    }
    let (whole, fraction) = seconds.split_once(['.', ',']).unwrap_or((seconds, ""));
    if fraction.len() > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let fraction_ns: i128 = format!("{fraction:0<9}").parse().ok()?;
    let of_sign = if whole.starts_with('-') { -1 } else { 1 };
    let whole: i64 = whole.parse().ok()?;
    let seconds = ((days * 24 + hours) * 60 + minutes) * 60 + i128::from(whole);
    Some(sign * (seconds * SECOND_NS + of_sign * fraction_ns))
}

/// The number before a unit, which is 0 where there is no such unit, and what stands behind it.
fn counted(text: &str, unit: char) -> Option<(i128, &str)> {
    let Some((number, behind)) = text.split_once(unit) else { return Some((0, text)) };
    number.parse::<i64>().ok().map(|number| (number.into(), behind))
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

    /// By the rules of Java's `Duration`.
    #[test]
    fn a_time_is_shifted_by_a_span() {
        let now_ms = 1_709_258_405_078; // 2024-03-01, a Friday, 02:00:05.078 UTC
        for (format, date, span, text) in [
            ("yyyy-MM-dd", "", "P1D", "2024-03-02"),
            ("yyyy-MM-dd", "", "-P1D", "2024-02-29"),
            ("yyyy-MM-dd'T'HH:mm:ss.SSS", "", "pt-2h", "2024-03-01T00:00:05.078"),
            ("E d MMM", "", "P7DT22H", "Sat 9 Mar"),
            ("", "0", "PT1.5S", "1500"),
            ("", "0", "-PT-0.5S", "500"),
            ("", "-1", "PT0.0005S", "-1"),
            ("", "", "-PT0.078S", "1709258405000"),
            ("", "5", "+P1DT+1H1M1S", "90061005"),
            ("", "5", "", "5"),
        ] {
            assert_eq!(shifted(format, date, span, now_ms), text, "{format} {date} {span}");
            assert_eq!(unknown_in_shift(format), None, "{format}");
        }
        for span in ["1D", "P", "PT", "P1H", "PT1D", "P1M", "PT1S1M", "PT1.0000000001S", "PTxS", "P1DT"] {
            assert_eq!(shifted("", "5", span, now_ms), "5", "{span}");
        }
        for (format, sign) in [("YYYY", 'Y'), ("yyyy[MM]", '['), ("S", 'S'), ("u", 'u'), ("/10", '/')] {
            assert_eq!(unknown_in_shift(format), Some(sign), "{format}");
        }
    }

    #[test]
    fn what_no_calendar_has_is_still_a_number() {
        assert_eq!(formatted("yyyy", i64::MAX), i64::MAX.to_string());
        assert_eq!(formatted("'open", 0), "open");
        assert_eq!(formatted(&"d".repeat(100_000), 0).len(), DIGITS_MAX);
    }
}
