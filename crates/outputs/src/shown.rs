//! Numbers as findings show them.

/// A time in milliseconds, in the unit that suits it.
pub fn time(ms: f64) -> String {
    let decimals = |value: f64| format!("{value:.2}").trim_end_matches(".00").to_owned();
    match ms {
        ms if ms >= 1000.0 => decimals(ms / 1000.0) + " s",
        ms if ms >= 1.0 => decimals(ms) + " ms",
        ms => format!("{:.0} us", ms * 1000.0),
    }
}

/// A length of time in seconds, without needless digits.
pub fn seconds(s: f64) -> String {
    if (s - s.round()).abs() < 0.005 { format!("{s:.0} s") } else { format!("{s:.2} s") }
}

/// A rate, to the digits that matter.
pub fn rate(per_s: f64) -> String {
    match per_s {
        it if it < 9.995 => format!("{it:.2}/s"),
        it if it < 999.5 => format!("{it:.1}/s"),
        it => format!("{it:.0}/s"),
    }
}

/// A number of things that may be a fraction.
pub fn count(value: f64) -> String {
    if value < 99.95 && (value - value.round()).abs() > 0.05 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    }
}

/// A share as percent; what is there is never shown as nothing.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        it if it > 0.0 && it < 0.05 => "<0.1 %".into(),
        it => format!("{it:.1} %"),
    }
}

/// Text of a file on one line of bounded length: whatever is in it can't break a terminal.
pub fn quoted(text: &str) -> String {
    const CHARS_MAX: usize = 96;
    let whole = plain::line(text);
    let mut line: String = whole.chars().take(CHARS_MAX).collect();
    if whole.chars().nth(CHARS_MAX).is_some() {
        line.push('…');
    }
    line
}
