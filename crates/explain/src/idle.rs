//! What an idle server takes for an answer, and how many requests are under way at that pace.

use record::Contract;

/// X·S₀ counts as K when it is within this share of it: as close as Little's law itself must hold, and close enough to
/// tell a pool of 16 from one of 15 or 17.
pub(crate) const POOL_TOLERANCE: f64 = 0.05;
/// The same for small K, absolute: whole numbers are one apart, so a quarter leaves no doubt which of them it is.
const POOL_TOLERANCE_ABSOLUTE: f64 = 0.25;
/// Service time at low load from which X·S₀ says anything: a round trip on loopback with the wake-up of a thread takes
/// some 0.1 ms, so that of a faster answer measures that and not the server's work.
const IDLE_SERVICE_TIME_S_MIN: f64 = 0.000_5;
/// Half of the interval of X·S₀, as a share of it, up to which it tells a number at all. Beyond, chance makes something fit
/// nearly always: there are threads in many numbers.
const HALF_WIDTH_MAX: f64 = 0.25;

/// S₀: the mean answer of the warm server while nothing else was asked, seconds, and where the true mean may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct IdleTime {
    pub(crate) low_s: f64,
    pub(crate) mean_s: f64,
    pub(crate) high_s: f64,
    /// How many answers tell it; records of older versions kept the shortest of a few and say nothing of the others.
    pub(crate) answers: Option<u32>,
}

impl IdleTime {
    /// Where it says anything.
    pub(crate) fn of(contract: &Contract) -> Option<Self> {
        let told = match contract.idle_answers {
            Some(it) => Self {
                low_s: it.mean_low_us / 1e6,
                mean_s: it.mean_us / 1e6,
                high_s: it.mean_high_us / 1e6,
                answers: Some(it.count),
            },
            None => Self::shortest(contract),
        };
        let is_number = [told.low_s, told.mean_s, told.high_s].iter().all(|it| it.is_finite())
            && told.low_s <= told.mean_s
            && told.mean_s <= told.high_s;
        (is_number && told.mean_s >= IDLE_SERVICE_TIME_S_MIN).then_some(told)
    }

    /// Whether the mean is known closely enough to be held against another.
    pub(crate) fn tells_a_mean(&self) -> bool {
        (self.high_s - self.mean_s).max(self.mean_s - self.low_s) <= HALF_WIDTH_MAX * self.mean_s
    }

    fn shortest(contract: &Contract) -> Self {
        let cold = contract.idle_service_time_us;
        let secs = contract.warm_service_time_us.map_or(cold, |warm| warm.min(cold)) / 1e6;
        Self { low_s: secs, mean_s: secs, high_s: secs, answers: None }
    }
}

/// A number of requests under way at an idle server's pace, X·S₀, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Concurrency {
    /// Where it begins, with 95 % confidence.
    pub(crate) low: f64,
    /// The best guess.
    pub(crate) mid: f64,
    /// Where it ends.
    pub(crate) high: f64,
}

impl Concurrency {
    /// At a rate; `None` where that is no number.
    pub(crate) fn at(rate_per_s: f64, idle: &IdleTime) -> Option<Self> {
        let told = Self {
            low: rate_per_s * idle.low_s,
            mid: rate_per_s * idle.mean_s,
            high: rate_per_s * idle.high_s,
        };
        told.high.is_finite().then_some(told)
    }

    /// The same where perhaps no more than such a share of it was under way.
    pub(crate) fn perhaps_only(self, share: f64) -> Self {
        Self { low: self.low * share, ..self }
    }

    /// With so many more, which are known.
    pub(crate) fn plus(self, more: f64) -> Self {
        Self { low: self.low + more, mid: self.mid + more, high: self.high + more }
    }

    /// Whether it tells one number from the next as closely as such figures are known.
    pub(crate) fn is_sharp(self) -> bool {
        self.half_width() <= tolerance(self.mid)
    }

    /// Whether it tells any number: an interval of half of it and more fits something by chance.
    pub(crate) fn tells_a_number(self) -> bool {
        self.half_width() <= HALF_WIDTH_MAX * self.mid
    }

    /// Whether `whole` is within its reach: as closely as such figures are known, or else as this one is.
    pub(crate) fn reaches(self, whole: u32) -> bool {
        (self.low..=self.high).contains(&f64::from(whole)) || is_about(self.mid, whole)
    }

    /// Whether it may be `whole`, and tells a number at all.
    pub(crate) fn may_be(self, whole: u32) -> bool {
        self.tells_a_number() && self.reaches(whole)
    }

    /// The larger side: the interval of what has a long tail is not even.
    fn half_width(self) -> f64 {
        (self.high - self.mid).max(self.mid - self.low)
    }

    /// `16.0`, or `16.0 (13.1 to 20.2)` where it is known less closely than to a tenth.
    pub(crate) fn words(self) -> String {
        let tenths = |it: f64| format!("{it:.1}");
        let [low, mid, high] = [self.low, self.mid, self.high].map(tenths);
        if low == mid && mid == high { mid } else { format!("{mid} ({low} to {high})") }
    }
}

/// Whether `value` is `whole`, as closely as such figures are known.
pub(crate) fn is_about(value: f64, whole: u32) -> bool {
    let whole = f64::from(whole);
    (value - whole).abs() <= tolerance(whole)
}

fn tolerance(of: f64) -> f64 {
    (POOL_TOLERANCE * of).max(POOL_TOLERANCE_ABSOLUTE.min(of * 0.25))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_are_told_apart_and_large_ones_are_as_close_as_the_law() {
        for (value, whole, is) in [
            (1.2, 1, true),
            (1.3, 1, false),
            (16.79, 16, true),
            (16.9, 16, false),
            (209.0, 200, true),
            (0.0, 0, true),
        ] {
            assert_eq!(is_about(value, whole), is, "{value} {whole}");
        }
    }

    #[test]
    fn an_interval_tells_one_number_some_or_none() {
        for (low, mid, high, sharp, tells, fits_14, fits_16) in [
            (16.0, 16.0, 16.0, true, true, false, true),
            (15.5, 16.2, 16.8, true, true, false, true),
            (13.2, 16.0, 19.5, false, true, true, true),
            (9.0, 16.0, 40.0, false, false, false, false),
        ] {
            let it = Concurrency { low, mid, high };
            let told = (it.is_sharp(), it.tells_a_number(), it.may_be(14), it.may_be(16));
            assert_eq!(told, (sharp, tells, fits_14, fits_16), "{it:?}");
        }
    }
}
