//! Rates in words. A slow service has one, too: 0/s is none.

/// A request in thirty years has a rate of 0.
const DECIMALS_MAX: f64 = 9.0;

/// From a hundred a second on without tenths, and below one a second to two digits.
pub(crate) fn rate_words(rate_per_s: f64) -> String {
    let decimals = match rate_per_s {
        it if it >= 100.0 => 0,
        it if it > 0.0 && it < 1.0 => (1.0 - it.log10().floor()).min(DECIMALS_MAX) as usize,
        _ => 1,
    };
    format!("{rate_per_s:.decimals$}/s")
}

/// The same, from ten a second on without tenths.
pub(crate) fn whole_rate_words(rate_per_s: f64) -> String {
    let is_whole = rate_per_s >= 10.0 || rate_per_s <= 0.0;
    if is_whole { format!("{rate_per_s:.0}/s") } else { rate_words(rate_per_s) }
}

/// The same, with tenths however large it is.
pub(crate) fn rate_words_with_tenths(rate_per_s: f64) -> String {
    if rate_per_s >= 1.0 { format!("{rate_per_s:.1}/s") } else { rate_words(rate_per_s) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_rate_is_rounded_to_nothing() {
        for (rate, words, whole, with_tenths) in [
            (1960.4, "1960/s", "1960/s", "1960.4/s"),
            (33.33, "33.3/s", "33/s", "33.3/s"),
            (4.0, "4.0/s", "4.0/s", "4.0/s"),
            (0.5, "0.50/s", "0.50/s", "0.50/s"),
            (1.0 / 60.0, "0.017/s", "0.017/s", "0.017/s"),
            (0.0, "0.0/s", "0/s", "0.0/s"),
        ] {
            let told = [rate_words(rate), whole_rate_words(rate), rate_words_with_tenths(rate)];
            assert_eq!(told, [words, whole, with_tenths], "{rate}");
        }
    }
}
