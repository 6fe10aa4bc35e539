//! Numbers as people read them, each with its unit.

use record::Distribution;
use units::Duration;

/// A rate to three or four significant digits: `9.98/s`, `1590/s`, `102 k/s`.
pub fn per_s(rate: f64) -> String {
    match rate {
        r if r < 9.995 => format!("{r:.2}/s"),
        r if r < 999.5 => format!("{r:.1}/s"),
        r if r < 99_995.0 => format!("{r:.0}/s"),
        r => format!("{:.1} k/s", r / 1e3),
    }
}

/// A time in microseconds, in the unit that suits it.
pub fn time_us(us: f64) -> String {
    Duration::from_nanos((us * 1e3).round() as u64).to_string()
}

/// CPU time a request, always in microseconds so that a column compares; `–` where unknown.
pub fn micros(us: Option<f64>) -> String {
    us.map_or_else(|| "–".into(), |us| format!("{us:.1} us"))
}

/// A figure of a distribution by name: its value, `>bound` where it is only a lower bound, `–` without
/// samples.
pub(crate) fn figure(times: &Distribution, name: &str) -> String {
    match times.figure(name) {
        Some((us, false)) => time_us(us),
        Some((us, true)) => format!(">{}", time_us(us)),
        None => "–".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_keep_their_significant_digits() {
        for (rate, text) in [
            (0.0, "0.00/s"),
            (9.98, "9.98/s"),
            (159.84, "159.8/s"),
            (1590.4, "1590/s"),
            (198_400.0, "198.4 k/s"),
        ] {
            assert_eq!(per_s(rate), text);
        }
    }
}
