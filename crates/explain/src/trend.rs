//! Whether the rate of a window rose or fell from its beginning to its end.

use std::cmp::Ordering;

use crate::rates::whole_rate_words;

/// How far the last third of the window may lie from the first, and the rank correlation of rate and time from which it is
/// a trend and not a leap (1 is strictly rising), by the seconds up to which they hold.
///
/// Beyond a tenth the mean of the window is the rate of no part of it. With a handful of seconds chance makes a trend of any
/// noise (a third of all triples rise or fall throughout), and more so where a second is like the one before it. So there it
/// must be larger: such that of servers without a trend, whose seconds scatter by a tenth and have a correlation of up to a half
/// with the one before, one in a hundred is called not steady at most. The test below draws them. Beyond a half a window is a
/// part of a slow wave, which is a trend for as long as anybody looked.
pub(crate) const BOUNDS: [(usize, f64, f64); 5] =
    [(4, 0.4, 1.0), (8, 0.37, 0.8), (14, 0.32, 0.8), (19, 0.24, 0.8), (usize::MAX, 0.1, 0.8)];
/// The same where a JVM's compilers took as much of the CPU as the rate rose by: a second witness, which chance is not.
pub(crate) const BOUNDS_OF_COMPILING: [(usize, f64, f64); 2] = [(5, 0.2, 1.0), (usize::MAX, 0.1, 0.8)];
/// Ranks are whole numbers, and their correlation is a quotient.
const TREND_EPSILON: f64 = 1e-9;
/// Seconds that make thirds.
const SECONDS_MIN: usize = 3;

/// Whether rates, of which the last third is off the first by this share, have a trend by these bounds.
pub(crate) fn is_trend(rates: &[f64], drift: f64, bounds: &[(usize, f64, f64)]) -> bool {
    let of = bounds.iter().find(|(seconds, ..)| rates.len() <= *seconds);
    of.is_some_and(|(_, most, least)| drift.abs() > *most && trend(rates).abs() >= least - TREND_EPSILON)
}

/// The means of the first and the last third.
pub(crate) fn thirds(rates: &[f64]) -> Option<(f64, f64)> {
    let size = (rates.len() >= SECONDS_MIN).then_some(rates.len() / 3)?;
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let (first, last) = (mean(&rates[..size]), mean(&rates[rates.len() - size..]));
    (first > 0.0).then_some((first, last))
}

/// Spearman's rank correlation of the rates with their order; 0 where all are alike.
fn trend(rates: &[f64]) -> f64 {
    let ranks = ranks(rates);
    let middle = (rates.len() as f64 - 1.0) / 2.0;
    let (mut together, mut own, mut time) = (0.0, 0.0, 0.0);
    for (index, rank) in ranks.iter().enumerate() {
        let (a, b) = (index as f64 - middle, rank - middle);
        together += a * b;
        own += b * b;
        time += a * a;
    }
    if own > 0.0 && time > 0.0 { together / (own * time).sqrt() } else { 0.0 }
}

/// From 0; equal ones share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    values
        .iter()
        .map(|value| {
            let of = |order: Ordering| values.iter().filter(|it| it.total_cmp(value) == order).count() as f64;
            of(Ordering::Less) + (of(Ordering::Equal) - 1.0) / 2.0
        })
        .collect()
}

/// Both in words.
pub(crate) fn thirds_words(first_per_s: f64, last_per_s: f64) -> String {
    let (first, last) = (whole_rate_words(first_per_s), whole_rate_words(last_per_s));
    format!("{first} in the first third of the window and {last} in the last")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trend_is_one_of_ranks() {
        let close = |rates: &[f64], trend_is: f64| (trend(rates) - trend_is).abs() < 1e-9;
        assert!(close(&[1.0, 2.0, 3.0, 10.0], 1.0));
        assert!(close(&[3.0, 2.0, 1.0], -1.0));
        assert!(close(&[1.0, 1.0, 1.0], 0.0));
        assert!(trend(&[1.0, 3.0, 2.0, 1.0]).abs() < 0.8);
    }

    /// Of windows of 2 to 60 s of servers that scatter and have no trend.
    #[test]
    #[ignore = "slow: thousands of simulated loads"]
    fn one_steady_server_in_a_hundred_is_called_unsteady_at_most() {
        let mut state = 7_u64;
        let mut uniform = || {
            // Knuth's MMIX generator; its upper bits are the good ones.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        // The sum of twelve is as good as normal, with a variance of one.
        let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
        let mut window = |seconds: i32, scatter: f64, with_last: f64| -> Vec<f64> {
            let mut at = normal();
            let mut next = |_| {
                let rate = 1.0 + scatter * at;
                at = with_last * at + (1.0 - with_last * with_last).sqrt() * normal();
                rate
            };
            (0..seconds).map(&mut next).collect()
        };
        for (scatter, with_last) in
            [(0.02, 0.0), (0.05, 0.0), (0.1, 0.0), (0.1, 0.3), (0.1, 0.5), (0.05, 0.5)]
        {
            for seconds in [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 20, 30, 60] {
                let tries = 4_000;
                let alarms = (0..tries).filter(|_| {
                    let rates = window(seconds, scatter, with_last);
                    thirds(&rates).is_some_and(|(first, last)| is_trend(&rates, last / first - 1.0, &BOUNDS))
                });
                let share = alarms.count() as f64 / f64::from(tries);
                assert!(
                    share <= 0.01,
                    "{share} of windows of {seconds} s that scatter by {scatter}, {with_last}"
                );
            }
        }
    }

    #[test]
    fn thirds_leave_out_the_middle() {
        assert_eq!(thirds(&[1.0, 2.0, 9.0, 9.0, 5.0, 7.0]), Some((1.5, 6.0)));
        assert_eq!(thirds(&[1.0, 2.0]), None);
        assert_eq!(thirds(&[0.0, 2.0, 3.0]), None);
    }
}
