//! Whether a rate went over from one level to another within a window of seconds: a cache that warmed, a fallback that set in.
//!
//! [`crate::change_points`] takes eight values at least and any order of them to be as likely as any other. A window may have
//! four seconds, and a second is like the one before it. So the split at which two stretches differ most is held against a
//! bound that chance reaches in one of a hundred windows, also where seconds are correlated; the tests draw them.

/// The fewest seconds on each side of a step: of one, nobody knows what it usually is.
const SIDE_MIN: usize = 2;
/// The fewest seconds of which a step can be told. Of two and three none can: one second is an accident.
pub const STEP_SECONDS_MIN: usize = 2 * SIDE_MIN;
/// A step is by a quarter at least. Less is what a machine does to a server from one second to the next.
pub const STEP_MIN: f64 = 0.25;
/// By the seconds up to which it holds, how many standard errors two stretches must be apart at least: beyond what one in a
/// hundred series reaches of which each second has a correlation of up to 0.7 with the one before.
const APART_MIN: [(usize, f64); 4] = [(5, 17.5), (6, 15.5), (8, 13.5), (usize::MAX, 12.0)];
/// By how much farther times must be apart than rates.
const SECOND_LOOK: f64 = 2.0;
/// How much the typical answers of seconds scatter at least, as a share: what a machine does to any of them.
const TIMES_SCATTER_MIN: f64 = 0.01;
/// A second without answers counts as this share of the fastest: there is no logarithm of nothing.
const SMALLEST_SHARE: f64 = 1e-3;

/// A window with two levels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Seconds before it.
    pub at: usize,
    /// Their mean rate.
    pub before_per_s: f64,
    /// The mean rate of those behind it. The second in which the rate went over is in neither.
    pub after_per_s: f64,
}

/// The step in the rates of the seconds of a window, answers a second, if there is one: by [`STEP_MIN`] at least, and larger
/// than what seconds that scatter, and go with each other, make of themselves.
pub fn step(rates_per_s: &[f64]) -> Option<Step> {
    let fastest = rates_per_s.iter().copied().fold(0.0, f64::max);
    let is_countable = fastest > 0.0 && rates_per_s.iter().all(|it| it.is_finite());
    if !is_countable || rates_per_s.len() < STEP_SECONDS_MIN {
        return None;
    }
    let logarithms: Vec<f64> =
        rates_per_s.iter().map(|it| libm::log(it.max(fastest * SMALLEST_SHARE))).collect();
    let sums = Sums::of(&logarithms);
    let of_split = |(end, start): Split| {
        let step = levels(rates_per_s, (end, start));
        let (a, b) = (end as f64, (rates_per_s.len() - start) as f64);
        // No stretch scatters less than the counting of its answers.
        let counting = (a + b) / (a * step.before_per_s + b * step.after_per_s);
        Some((sums.apart((end, start), counting)?, step))
    };
    let (apart, step) = farthest(rates_per_s.len(), of_split)?;
    (apart >= apart_min(rates_per_s.len()) && is_large(step.before_per_s, step.after_per_s)).then_some(step)
}

/// The same where a typical answer of each second says so: a second that is partly of either level has the time of one of them,
/// while its rate is of neither. Both must go over, the times by [`STEP_MIN`] one way and the rates the other way, and the times
/// twice as far beyond chance as rates alone, since this is a second look.
pub fn step_of_times(rates_per_s: &[f64], times: &[f64]) -> Option<Step> {
    let are_countable = |values: &[f64]| values.iter().all(|it| it.is_finite() && *it > 0.0);
    let is_whole = rates_per_s.len() == times.len() && rates_per_s.len() >= STEP_SECONDS_MIN;
    if !is_whole || !are_countable(rates_per_s) || !are_countable(times) {
        return None;
    }
    let logarithms: Vec<f64> = times.iter().map(|it| libm::log(*it)).collect();
    let sums = Sums::of(&logarithms);
    let (apart, split) = farthest(times.len(), |split| {
        Some((sums.apart(split, TIMES_SCATTER_MIN * TIMES_SCATTER_MIN)?, split))
    })?;
    let (rates, times) = (levels(rates_per_s, split), levels(times, split));
    let is_other_way = (rates.after_per_s > rates.before_per_s) == (times.after_per_s < times.before_per_s);
    let is_step = is_other_way
        && is_large(rates.before_per_s, rates.after_per_s)
        && is_large(times.before_per_s, times.after_per_s)
        && apart >= SECOND_LOOK * apart_min(rates_per_s.len());
    is_step.then_some(rates)
}

/// Where one stretch ends and where the next begins; what is between them is of neither.
type Split = (usize, usize);

/// The mean values before and behind a split.
fn levels(values: &[f64], (end, start): Split) -> Step {
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    Step { at: end, before_per_s: mean(&values[..end]), after_per_s: mean(&values[start..]) }
}

/// The split whose sides are the farthest apart, by how far `apart` has them.
fn farthest<T>(seconds: usize, apart: impl Fn(Split) -> Option<(f64, T)>) -> Option<(f64, T)> {
    // A second may hold the step itself, and is then of neither level.
    let splits = (0..=1).flat_map(|between| {
        let last = seconds.saturating_sub(SIDE_MIN + between);
        (SIDE_MIN..=last).map(move |at| (at, at + between))
    });
    splits.filter_map(apart).max_by(|a, b| a.0.total_cmp(&b.0))
}

fn apart_min(seconds: usize) -> f64 {
    APART_MIN.iter().find(|(most, _)| seconds <= *most).map_or(f64::MAX, |it| it.1)
}

fn is_large(before: f64, after: f64) -> bool {
    before.max(after) >= before.min(after) * (1.0 + STEP_MIN)
}

/// Sums of the first values and of their squares, so that any stretch takes two subtractions.
struct Sums {
    values: Vec<f64>,
    squares: Vec<f64>,
}

impl Sums {
    fn of(logarithms: &[f64]) -> Self {
        // Around their mean, so that little is lost by subtracting.
        let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
        let running = |of: &dyn Fn(f64) -> f64| {
            let mut sums = vec![0.0];
            for value in logarithms {
                sums.push(sums[sums.len() - 1] + of(value - mean));
            }
            sums
        };
        Self { values: running(&|it| it), squares: running(&|it| it * it) }
    }

    /// How many standard errors the stretches of a split are apart; `None` where what is between them does not lie between them.
    /// No value is taken to scatter less than by `variance_min`.
    fn apart(&self, (end, start): Split, variance_min: f64) -> Option<f64> {
        let last = self.values.len() - 1;
        let (a, b) = (end as f64, (last - start) as f64);
        let (left, right) = (self.values[end] / a, (self.values[last] - self.values[start]) / b);
        if start > end {
            let between = self.values[start] - self.values[end];
            if !(left.min(right) < between && between < left.max(right)) {
                return None;
            }
        }
        let scatter = self.squares[end] - a * left * left + self.squares[last]
            - self.squares[start]
            - b * right * right;
        let variance = (scatter / (a + b - 2.0)).max(variance_min);
        Some(libm::fabs(left - right) / libm::sqrt(variance * (1.0 / a + 1.0 / b)))
    }
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::comparison::simulation::normal;

    fn told(rates: &[f64]) -> Option<(usize, u32, u32)> {
        step(rates).map(|it| (it.at, it.before_per_s as u32, it.after_per_s as u32))
    }

    #[test]
    fn a_cache_that_warmed_is_a_step() {
        assert_eq!(told(&[3011.0, 2919.0, 16886.0, 19827.0]), Some((2, 2965, 18356)));
        // The second in which it went over is of neither level.
        assert_eq!(told(&[3011.0, 2919.0, 9000.0, 17500.0, 16900.0, 17800.0]), Some((2, 2965, 17400)));
        // It may go down, or stop.
        assert_eq!(told(&[900.0, 910.0, 905.0, 903.0, 300.0, 310.0, 305.0]), Some((4, 904, 305)));
        assert_eq!(told(&[0.0, 0.0, 0.0, 5000.0, 5010.0, 4990.0, 5005.0]), Some((3, 0, 5001)));
    }

    #[test]
    fn accidents_small_steps_few_seconds_and_small_counts_are_none() {
        for rates in [
            &[3000.0, 3010.0, 2990.0, 9000.0][..],
            &[3000.0, 9000.0, 9000.0],
            &[3000.0, 3010.0, 2990.0, 500.0, 3000.0, 3005.0, 2995.0],
            &[1000.0, 1001.0, 1002.0, 1001.0, 1200.0, 1201.0, 1202.0, 1201.0],
            // Of three and four answers a second nobody knows whether the service changed.
            &[3.0, 3.0, 4.0, 4.0],
            &[0.0, 0.0, 0.0, 0.0],
            &[],
        ] {
            assert_eq!(step(rates), None, "{rates:?}");
        }
    }

    #[test]
    fn a_step_in_the_middle_of_a_second_is_told_by_the_times_of_answers() {
        for (rates, times, is) in [
            // 24 users at 50 ms and then at 20, 32 at 80 and then at 16.
            (&[480.0, 552.0, 1200.0, 1200.0], &[50.3, 50.2, 20.2, 20.2], Some((2, 516, 1200))),
            (&[400.0, 480.0, 1990.0, 2000.0], &[80.2, 80.1, 16.2, 16.2], Some((2, 440, 1995))),
            (&[1200.0, 1200.0, 600.0, 480.0], &[20.2, 20.1, 50.2, 50.2], Some((2, 1200, 540))),
            // Rates that step for another reason; times that do; both the same way; times that scatter; a step of a tenth.
            (&[480.0, 552.0, 1200.0, 1200.0], &[50.3, 50.2, 50.1, 50.4], None),
            (&[480.0, 482.0, 481.0, 479.0], &[50.3, 50.2, 20.2, 20.2], None),
            (&[480.0, 552.0, 1200.0, 1200.0], &[20.2, 20.1, 50.2, 50.2], None),
            (&[480.0, 552.0, 1200.0, 1200.0], &[50.0, 44.0, 20.0, 24.0], None),
            (&[480.0, 482.0, 530.0, 529.0], &[50.3, 50.2, 45.2, 45.2], None),
            (&[480.0, 552.0, 1200.0, 1200.0], &[50.3, 0.0, 20.2, 20.2], None),
        ] {
            let told = step_of_times(rates, times);
            let told = told.map(|it| (it.at, it.before_per_s as u32, it.after_per_s as u32));
            assert_eq!(told, is, "{rates:?} {times:?}");
        }
        assert_eq!(step_of_times(&[1.0; 4], &[1.0; 3]), None);
        assert_eq!(step_of_times(&[], &[]), None);
    }

    /// Times go with rates, as N = X·R has it.
    #[test]
    fn times_step_by_chance_in_one_of_two_hundred_windows_at_most() {
        for seconds in [4, 5, 6, 8, 15, 30] {
            for (scatter, with_last) in [(0.02, 0.0), (0.1, 0.5), (0.3, 0.5), (0.3, 0.7)] {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(seconds as u64);
                let tries = 2_000;
                let alarms = (0..tries).filter(|_| {
                    let rates = steady(seconds, scatter, with_last, &mut random);
                    let times: Vec<f64> = rates.iter().map(|rate| 1e6 / rate).collect();
                    step_of_times(&rates, &times).is_some()
                });
                let share = alarms.count() as f64 / f64::from(tries);
                assert!(share <= 0.005, "{share}: {seconds} s, {scatter}, correlation {with_last}");
            }
        }
    }

    /// Seconds of servers that scatter, each of which has a correlation of `with_last` with the one before.
    fn steady(seconds: usize, scatter: f64, with_last: f64, random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
        let mut at = normal(random);
        (0..seconds)
            .map(|_| {
                let rate = 50_000.0 * libm::exp(scatter * at);
                at = with_last * at + libm::sqrt(1.0 - with_last * with_last) * normal(random);
                rate
            })
            .collect()
    }

    fn alarms(seconds: usize, scatter: f64, with_last: f64, tries: u32) -> f64 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seconds as u64);
        let alarms = (0..tries).filter(|_| step(&steady(seconds, scatter, with_last, &mut random)).is_some());
        alarms.count() as f64 / f64::from(tries)
    }

    /// At a correlation of 0.9, where a window is a part of a slow wave, only of servers that scatter by a twentieth.
    #[test]
    #[ignore = "slow: thousands of simulated windows"]
    fn one_window_in_a_hundred_has_a_step_by_chance_at_most() {
        for seconds in [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 60] {
            for (with_last, scatters) in
                [(0.0, &[0.02, 0.1, 0.3][..]), (0.5, &[0.1, 0.3]), (0.7, &[0.1, 0.3]), (0.9, &[0.05])]
            {
                for scatter in scatters {
                    let share = alarms(seconds, *scatter, with_last, 3_000);
                    assert!(share <= 0.01, "{share}: {seconds} s, {scatter}, correlation {with_last}");
                }
            }
        }
    }

    #[test]
    fn steps_of_a_half_are_found_where_seconds_scatter_little() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        for seconds in [8, 15, 30, 60] {
            let found = (0..200).filter(|_| {
                let mut rates = steady(seconds, 0.03, 0.3, &mut random);
                for rate in &mut rates[seconds / 3..] {
                    *rate *= 1.5;
                }
                step(&rates).is_some_and(|it| it.at.abs_diff(seconds / 3) <= 1)
            });
            let found = found.count();
            assert!(found >= 180, "{found} of 200 in windows of {seconds} s");
        }
    }
}
