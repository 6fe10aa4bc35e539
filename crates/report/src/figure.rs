//! Numbers as people read them, each with its unit.

use record::{Distribution, Driver};
use units::Duration;

/// Stands for a figure that there is none of.
pub(crate) const NONE: &str = "–";
/// Characters of a name in a table; what is longer is cut.
const NAME_CHARS_MAX: usize = 32;
/// The same of each part of a heading, which has a line to itself.
const HEADING_CHARS_MAX: usize = 64;
/// Digits behind the point of percent that are nearly all: what is nearer is shown as all.
const DIGITS_MAX: usize = 6;

/// A rate to three or four significant digits: `9.98/s`, `1590/s`, `102.0 k/s`; `–` if it is no number.
pub fn per_s(rate: f64) -> String {
    match rate {
        r if !r.is_finite() => NONE.into(),
        // Little is not nothing.
        r if r > 0.0 && r < 0.005 => "<0.01/s".into(),
        r if r < 9.995 => format!("{r:.2}/s"),
        r if r < 999.5 => format!("{r:.1}/s"),
        r if r < 99_995.0 => format!("{r:.0}/s"),
        r => format!("{:.1} k/s", r / 1e3),
    }
}

/// A time in microseconds, in the unit that suits it; `–` if it is no number.
pub fn time_us(us: f64) -> String {
    if !us.is_finite() {
        return NONE.into();
    }
    Duration::from_nanos((us * 1e3).round() as u64).to_string()
}

/// CPU time a request, always in microseconds so that a column compares; `–` where unknown.
pub fn micros(us: Option<f64>) -> String {
    finite(us).map_or_else(|| NONE.into(), |us| format!("{us:.1} us"))
}

/// As [`micros`], for a column whose header names the unit.
pub(crate) fn micros_bare(us: Option<f64>) -> String {
    finite(us).map_or_else(|| NONE.into(), |us| format!("{us:.1}"))
}

/// A share as whole percent.
pub(crate) fn percent(share: f64) -> String {
    finite(Some(share)).map_or_else(|| NONE.into(), |share| format!("{:.0} %", share * 100.0))
}

/// Percent with its sign and so many digits behind the point; with more of them where rounding would make all of what is not
/// quite all.
pub(crate) fn signed_percent(percent: f64, digits: usize) -> String {
    let text = |digits: usize| format!("{percent:+.digits$}");
    let is_rounded_to_all = |digits: usize| percent > -100.0 && text(digits).starts_with("-100");
    text((digits..DIGITS_MAX).find(|it| !is_rounded_to_all(*it)).unwrap_or(DIGITS_MAX))
}

/// Part of a whole as percent with so many digits behind the point. Only nothing is 0 %, and only all of it is 100 %: what would
/// be rounded to either is a bound.
pub fn percent_of(part: u64, whole: u64, digits: usize) -> String {
    percent_of_share(part as f64 / whole.max(1) as f64, digits)
}

/// The same of a share that is known as such.
pub(crate) fn percent_of_share(share: f64, digits: usize) -> String {
    let text = |percent: f64| format!("{percent:.digits$} %");
    let step = (0..digits).fold(1.0, |step, _| step / 10.0);
    match text(share * 100.0) {
        shown if share > 0.0 && shown == text(0.0) => format!("<{}", text(step)),
        shown if share < 1.0 && shown == text(100.0) => format!(">{}", text(100.0 - step)),
        shown => shown,
    }
}

/// The same of counts to a tenth, as reports have it.
pub(crate) fn share(part: u64, whole: u64) -> String {
    percent_of(part, whole, 1)
}

/// How often chance alone would bring as much, to three digits. What these would show as never is a bound.
pub(crate) fn p_value(p: f64) -> String {
    let shown = format!("{p:.3}");
    if shown == "0.000" { "<0.001".into() } else { shown }
}

/// The same in a sentence: `p = 0.012`.
pub(crate) fn p_words(p: f64) -> String {
    let shown = p_value(p);
    shown.strip_prefix('<').map_or_else(|| format!("p = {shown}"), |bound| format!("p < {bound}"))
}

/// An interval behind its figure: ` (1…2)`. Of one that has no end on a side nothing stands there: ` (1…)`.
pub(crate) fn interval(low: Option<f64>, high: Option<f64>, shown: impl Fn(f64) -> String) -> String {
    if low.is_none() && high.is_none() {
        return String::new();
    }
    let end = |it: Option<f64>| it.map_or_else(String::new, &shown);
    format!(" ({}…{})", end(low), end(high))
}

fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite())
}

/// A name from a record on one line of bounded length: whatever is in it can't break a table or a terminal.
pub(crate) fn name(text: &str) -> String {
    cut(text, NAME_CHARS_MAX)
}

/// A part of a heading, likewise.
pub(crate) fn heading(text: &str) -> String {
    cut(text, HEADING_CHARS_MAX)
}

/// What made a load, behind what it was; nothing where that was our own engine.
pub(crate) const fn by_driver(driver: Driver) -> &'static str {
    match driver {
        Driver::Proofload => "",
        Driver::Wrk => ", by wrk",
        Driver::Jmeter => ", by JMeter",
    }
}

fn cut(text: &str, chars_max: usize) -> String {
    let mut line = plain_line(text);
    if line.chars().count() > chars_max {
        line = line.chars().take(chars_max - 1).chain(std::iter::once('…')).collect();
    }
    line
}

/// A text from a record on one line: line ends and tabs are spaces, and what would steer a terminal or turn the reading
/// direction is shown by its number.
pub fn plain_line(text: &str) -> String {
    plain::line(text)
}

/// A text of several lines, such as an error with the end of a log, as it belongs under a heading: its first
/// line as it is, those that follow indented.
pub fn indented(text: &str) -> String {
    let mut lines = text.trim_end().lines().map(|line| plain_line_keeping_indent(line.trim_end()));
    let mut indented = lines.next().unwrap_or_default();
    for line in lines {
        indented.push_str(if line.is_empty() { "\n" } else { "\n    " });
        indented.push_str(&line);
    }
    indented
}

fn plain_line_keeping_indent(line: &str) -> String {
    let text = line.trim_start();
    let indent = line[..line.len() - text.len()].replace('\t', "    ");
    let spaces = indent.chars().filter(|char| *char == ' ').count();
    " ".repeat(spaces) + &plain_line(text)
}

/// A figure of a distribution by name: its value, `>bound` where it is only a lower bound, `–` without
/// samples, or with so few that they know nothing of it.
pub(crate) fn figure(times: &Distribution, name: &str) -> String {
    shown(times.told(name))
}

/// The same of the samples alone, however few: where both sides of a comparison are of the same requests.
pub(crate) fn figure_of_samples(times: &Distribution, name: &str) -> String {
    shown(times.figure(name))
}

fn shown(figure: Option<(f64, bool)>) -> String {
    match figure {
        Some((us, true)) if us.is_finite() => format!(">{}", time_us(us)),
        Some((us, _)) => time_us(us),
        None => NONE.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_keep_their_significant_digits() {
        for (rate, text) in [
            (0.0, "0.00/s"),
            (1.0 / 300.0, "<0.01/s"),
            (9.98, "9.98/s"),
            (159.84, "159.8/s"),
            (1590.4, "1590/s"),
            (198_400.0, "198.4 k/s"),
            (f64::NAN, "–"),
            (f64::INFINITY, "–"),
        ] {
            assert_eq!(per_s(rate), text);
        }
    }

    #[test]
    fn only_nothing_is_0_percent_and_only_all_is_100() {
        for (part, whole, shown) in [
            (0, 70_800, "0.0 %"),
            (1, 70_800, "<0.1 %"),
            (1, 2_000, "0.1 %"),
            (999, 1_000, "99.9 %"),
            (100, 70_800, "0.1 %"),
            (3, 50, "6.0 %"),
            (29_992, 30_000, ">99.9 %"),
            (1_999, 2_000, ">99.9 %"),
            (30_000, 30_000, "100.0 %"),
            (0, 0, "0.0 %"),
        ] {
            assert_eq!(percent_of(part, whole, 1), shown, "{part} of {whole}");
        }
        for (part, whole, shown) in
            [(0, 300, "0 %"), (1, 300, "<1 %"), (1, 200, "<1 %"), (199, 200, ">99 %"), (200, 200, "100 %")]
        {
            assert_eq!(percent_of(part, whole, 0), shown, "{part} of {whole}");
        }
    }

    #[test]
    fn no_chance_is_none() {
        for (p, shown, words) in [
            (1.0, "1.000", "p = 1.000"),
            (0.0124, "0.012", "p = 0.012"),
            (0.0006, "0.001", "p = 0.001"),
            (0.0004, "<0.001", "p < 0.001"),
            (1e-9, "<0.001", "p < 0.001"),
        ] {
            assert_eq!((p_value(p).as_str(), p_words(p).as_str()), (shown, words), "{p}");
        }
    }

    #[test]
    fn an_interval_without_an_end_is_open() {
        for (low, high, text) in [
            (Some(1.0), Some(2.0), " (1.0…2.0)"),
            (Some(1.0), None, " (1.0…)"),
            (None, Some(2.0), " (…2.0)"),
            (None, None, ""),
        ] {
            assert_eq!(interval(low, high, |it| format!("{it:.1}")), text);
        }
    }

    #[test]
    fn what_is_nearly_all_is_not_rounded_to_all() {
        for (percent, digits, text) in [
            (12.34, 1, "+12.3"),
            (-12.34, 0, "-12"),
            (-99.8, 0, "-99.8"),
            (-99.97, 1, "-99.97"),
            (-100.0, 1, "-100.0"),
            (-99.999_999_99, 1, "-100.000000"),
            (100.0, 0, "+100"),
        ] {
            assert_eq!(signed_percent(percent, digits), text);
        }
    }

    #[test]
    fn a_name_stays_on_its_line() {
        assert_eq!(name(" a\r\nb\tc\u{1b}[31m "), "a b c\\u{1b}[31m");
        assert_eq!(name(&"x".repeat(33)), "x".repeat(31) + "…");
        assert_eq!(plain_line("evil\u{202e}txt \u{9b}2J"), "evil\\u{202e}txt \\u{9b}2J");
        assert_eq!(plain_line("名前 зміна 🙂"), "名前 зміна 🙂");
        assert_eq!(
            indented("first\n\tat second\r\n\nlast\u{7}\n"),
            "first\n        at second\n\n    last\\u{7}"
        );
    }
}
