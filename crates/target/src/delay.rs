//! How long an answer is held back: always as long, or drawn from a distribution.

use std::fmt;
use std::str::FromStr;

use units::{Duration, ParseError, Seed};

use crate::error::TargetError;

/// How long the answers of a path are held back, counted from the arrival of the request's head. Which request
/// gets which delay follows from the server's seed and the request's number alone, so that a run repeats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Delay {
    /// Always so long; zero answers at once.
    Fixed(Duration),
    /// Exponentially distributed, as the service times of an M/M/c queue are. The longest there can be is 37
    /// means, since a draw has 53 bits.
    Exponential {
        /// The mean; above zero.
        mean: Duration,
    },
    /// One of two, as where most answers come from a cache.
    Bimodal {
        /// Most answers, or the rest of them.
        fast: Duration,
        /// The share `slow_share`.
        slow: Duration,
        /// From 0 to 1.
        slow_share: f64,
    },
}

/// Apart from the seeds that choose which requests fail: a slow answer is not the likelier one to be a 500.
const STREAM: u64 = 1;

const HELP: &str =
    "write a path and its delay as in /sleep=100ms, /sleep=exp:5ms or /sleep=bimodal:1ms,50ms,0.1";

impl Delay {
    /// The delay of request `number` of a server with `seed`.
    pub(crate) fn of_request(self, seed: Seed, number: u64) -> Duration {
        match self {
            Self::Fixed(delay) => delay,
            Self::Exponential { mean } => {
                // From (0, 1]: zero is excluded, so the logarithm is finite.
                let uniform = 1.0 - fraction(seed, number);
                Duration::from_secs_f64(-uniform.ln() * mean.as_secs_f64())
            }
            Self::Bimodal { fast, slow, slow_share } => {
                if fraction(seed, number) < slow_share {
                    slow
                } else {
                    fast
                }
            }
        }
    }

    /// The mean over many requests.
    pub fn mean(self) -> Duration {
        match self {
            Self::Fixed(delay) => delay,
            Self::Exponential { mean } => mean,
            Self::Bimodal { fast, slow, slow_share } => Duration::from_secs_f64(
                fast.as_secs_f64() * (1.0 - slow_share) + slow.as_secs_f64() * slow_share,
            ),
        }
    }

    pub(crate) fn check(self) -> Result<(), TargetError> {
        match self {
            Self::Exponential { mean } if mean.is_zero() => {
                Err(TargetError::setting("an exponential delay has a mean of zero", HELP))
            }
            Self::Bimodal { slow_share, .. } if !(0.0..=1.0).contains(&slow_share) => {
                let what = format!("a share of {slow_share} slow answers is no share from 0 to 1");
                Err(TargetError::setting(what, HELP))
            }
            _ => Ok(()),
        }
    }
}

/// A number from [0, 1) for request `number`.
fn fraction(seed: Seed, number: u64) -> f64 {
    // The upper 53 bits as a fraction of one.
    (seed.derive(number).derive(STREAM).0 >> 11) as f64 / (1u64 << 53) as f64
}

impl From<Duration> for Delay {
    fn from(delay: Duration) -> Self {
        Self::Fixed(delay)
    }
}

/// `100ms`, `exp:5ms`, or `bimodal:1ms,50ms,0.1`: 1 ms, and 50 ms for a tenth.
impl FromStr for Delay {
    type Err = TargetError;
    fn from_str(text: &str) -> Result<Self, TargetError> {
        let wrong =
            |why: &dyn fmt::Display| TargetError::setting(format!("`{text}` is not a delay ({why})"), HELP);
        let duration = |part: &str| part.parse::<Duration>().map_err(|error: ParseError| wrong(&error));
        let delay = match text.split_once(':') {
            None => Self::Fixed(duration(text)?),
            Some(("exp", mean)) => Self::Exponential { mean: duration(mean)? },
            Some(("bimodal", parts)) => {
                let parts: Vec<&str> = parts.split(',').collect();
                let [fast, slow, share] = parts[..] else {
                    return Err(wrong(&"two delays and the share of the second are wanted"));
                };
                let slow_share = share.trim().parse().map_err(|_| wrong(&format!("`{share}`: no number")))?;
                Self::Bimodal { fast: duration(fast)?, slow: duration(slow)?, slow_share }
            }
            Some((other, _)) => return Err(wrong(&format!("there is no distribution `{other}`"))),
        };
        delay.check()?;
        Ok(delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEED: Seed = Seed(7);

    fn delay(text: &str) -> Delay {
        text.parse().unwrap()
    }

    fn drawn(delay: Delay, count: u64) -> Vec<f64> {
        let mut all: Vec<f64> = (0..count).map(|n| delay.of_request(SEED, n).as_secs_f64() * 1e3).collect();
        all.sort_by(f64::total_cmp);
        all
    }

    #[test]
    fn reads_every_kind() {
        let ms = Duration::from_millis;
        assert_eq!(delay("100ms"), Delay::Fixed(ms(100)));
        assert_eq!(delay("exp:5ms"), Delay::Exponential { mean: ms(5) });
        let bimodal = delay("bimodal:1ms,51ms,0.1");
        assert_eq!(bimodal, Delay::Bimodal { fast: ms(1), slow: ms(51), slow_share: 0.1 });
        assert_eq!(bimodal.mean(), ms(6));
    }

    #[test]
    fn says_what_is_wrong_and_what_would_be_right() {
        for (text, part) in [
            ("100", "`100` is not a delay (unknown unit"),
            ("gauss:5ms", "there is no distribution `gauss`"),
            ("exp:0ms", "a mean of zero"),
            ("bimodal:1ms,50ms", "two delays and the share of the second"),
            ("bimodal:1ms,50ms,1.5", "a share of 1.5"),
            ("bimodal:1ms,50ms,NaN", "a share of NaN"),
            ("bimodal:1ms,50ms,a tenth", "`a tenth`: no number"),
        ] {
            let error = text.parse::<Delay>().unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("/sleep=exp:5ms"), "{error}");
        }
    }

    /// Three standard errors of 100,000 draws: 0.95 % of a mean, 3 % of a 99th percentile's distance.
    #[test]
    fn an_exponential_has_its_mean_and_its_tail() {
        let all = drawn(delay("exp:5ms"), 100_000);
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        assert!((mean / 5.0 - 1.0).abs() < 0.01, "mean {mean} ms");
        let p99 = all[99_000];
        assert!((p99 / (5.0 * 100f64.ln()) - 1.0).abs() < 0.03, "p99 {p99} ms");
        assert!(all[99_999] < 37.0 * 5.0);
    }

    #[test]
    fn two_modes_have_their_shares() {
        let all = drawn(delay("bimodal:1ms,50ms,0.1"), 100_000);
        let slow = all.iter().filter(|ms| **ms > 25.0).count();
        assert!((9_700..10_300).contains(&slow), "{slow}");
        assert_eq!((all[0], all[99_999]), (1.0, 50.0));
    }

    #[test]
    fn the_same_seed_and_number_give_the_same_delay() {
        let exponential = delay("exp:5ms");
        assert_eq!(exponential.of_request(SEED, 3), exponential.of_request(SEED, 3));
        assert_ne!(exponential.of_request(SEED, 3), exponential.of_request(SEED, 4));
        assert_ne!(exponential.of_request(SEED, 3), exponential.of_request(Seed(8), 3));
    }
}
