//! When requests are due in the open model.

use core::num::NonZeroU64;

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use units::{Duration, Instant, Rate, Seed};

use crate::config::{Arrivals, Share};

/// The instants at which requests are due: a pure function of start, arrivals, share and seed.
///
/// Constant arrivals are computed from their index, not by adding gaps, so that they never drift: request
/// `i` is due at `start + floor(i / rate)` to the nanosecond. In bursts it is due when the first of its burst is.
#[derive(Debug, Clone)]
pub struct Schedule {
    start: Instant,
    due: Instant,
    process: Process,
}

/// Requests that were passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Skipped {
    /// None where nothing was due in time; the engine counts them, so that none is forgotten.
    pub(crate) count: u64,
    /// When the last of them was due, or an instant after that and before the next.
    pub(crate) last: Instant,
}

/// Up to so many Poisson arrivals on average are drawn one by one. Above it their number is drawn at once, from the normal
/// distribution that it comes close to: its third moment is off by an eighth of a deviation, and the number itself less.
const ONE_BY_ONE_MAX: f64 = 64.0;

#[derive(Debug, Clone)]
enum Process {
    /// `burst` requests at once, 1 where each comes alone.
    Constant {
        gap_ns: f64,
        index: u64,
        step: u64,
        burst: u64,
    },
    Poisson {
        mean_gap_ns: f64,
        elapsed_ns: f64,
        random: Xoshiro256PlusPlus,
    },
}

impl Schedule {
    /// The schedule of one share, with its first request ready to be read.
    pub fn new(start: Instant, arrivals: Arrivals, share: Share, seed: Seed) -> Self {
        let constant = |rate: Rate, burst: u32| Process::Constant {
            gap_ns: rate.mean_gap_ns(),
            index: u64::from(share.index),
            step: u64::from(share.of.get()),
            burst: u64::from(burst),
        };
        let process = match arrivals {
            Arrivals::Constant(rate) => constant(rate, 1),
            Arrivals::Bursts { rate, size } => constant(rate, size.get()),
            Arrivals::Poisson(rate) => Process::Poisson {
                mean_gap_ns: rate.divided_by(share.of.get()).mean_gap_ns(),
                elapsed_ns: 0.0,
                random: Xoshiro256PlusPlus::seed_from_u64(seed.derive(u64::from(share.index)).0),
            },
        };
        let mut schedule = Self { start, due: start, process };
        schedule.compute_due();
        schedule
    }

    /// When the next request is due.
    pub fn due(&self) -> Instant {
        self.due
    }

    /// When the next request of all shares would be due, where they make `of_all` together; else the next of this share. Bursts
    /// are looked at as if each of their requests came alone: so long their rate takes for them. Of Poisson arrivals a share
    /// knows its own alone.
    pub(crate) fn next_of_all(&self, of_all: Option<NonZeroU64>) -> Instant {
        match self.process {
            Process::Constant { gap_ns, index, .. } => {
                self.start + constant_due(of_all.map_or(index, NonZeroU64::get), gap_ns)
            }
            Process::Poisson { .. } => self.due,
        }
    }

    /// Goes on to the request after that.
    pub fn advance(&mut self) {
        if let Process::Constant { index, step, .. } = &mut self.process {
            *index += *step;
        }
        self.compute_due();
    }

    /// Goes on to the first request that is due at `until` or later, past `count_max` of them at most. What it costs does
    /// not depend on how many there are.
    pub(crate) fn skip_until(&mut self, until: Instant, count_max: u64) -> Skipped {
        match self.process {
            Process::Poisson { mean_gap_ns, .. }
                if until.since(self.due).as_nanos() as f64 > ONE_BY_ONE_MAX * mean_gap_ns =>
            {
                self.skip_poisson(until, count_max)
            }
            Process::Poisson { .. } => {
                let mut skipped = Skipped { count: 0, last: self.due };
                while self.due < until && skipped.count < count_max {
                    skipped = Skipped { count: skipped.count + 1, last: self.due };
                    self.advance();
                }
                skipped
            }
            Process::Constant { .. } => self.skip_constant(until, count_max),
        }
    }

    fn skip_constant(&mut self, until: Instant, count_max: u64) -> Skipped {
        let Process::Constant { gap_ns, index, step, burst } = &mut self.process else {
            return Skipped { count: 0, last: self.due };
        };
        let (gap_ns, burst) = (*gap_ns, *burst);
        let due = |burst_number: u64| self.start + constant_due(burst_number * burst, gap_ns);
        let mut first_burst = (until.since(self.start).as_nanos() as f64 / (gap_ns * burst as f64)) as u64;
        // Rounding may have put it one off, in either direction.
        while due(first_burst) < until {
            first_burst += 1;
        }
        while first_burst > 0 && due(first_burst - 1) >= until {
            first_burst -= 1;
        }
        let count = (first_burst * burst).saturating_sub(*index).div_ceil(*step).min(count_max);
        let last = due((*index + count.saturating_sub(1) * *step) / burst);
        *index += count * *step;
        self.compute_due();
        Skipped { count, last }
    }

    /// Many Poisson arrivals at once. The process has no memory: how many came says nothing of when the next comes.
    fn skip_poisson(&mut self, until: Instant, count_max: u64) -> Skipped {
        let Process::Poisson { mean_gap_ns, elapsed_ns, random } = &mut self.process else {
            return Skipped { count: 0, last: self.due };
        };
        let until_ns = until.since(self.start).as_nanos() as f64;
        let mean = (until_ns - *elapsed_ns) / *mean_gap_ns;
        // The one that is due, and those between it and the end.
        let others = libm::round(mean + libm::sqrt(mean) * normal(random)).max(0.0) as u64;
        *elapsed_ns = until_ns;
        // Adds the gap to the next.
        self.compute_due();
        let last = Instant::from_nanos(until.as_nanos() - 1);
        Skipped { count: (1 + others).min(count_max), last }
    }

    fn compute_due(&mut self) {
        let elapsed = match &mut self.process {
            Process::Constant { gap_ns, index, burst, .. } => constant_due(*index / *burst * *burst, *gap_ns),
            Process::Poisson { mean_gap_ns, elapsed_ns, random } => {
                *elapsed_ns += exponential(random) * *mean_gap_ns;
                Duration::from_nanos(*elapsed_ns as u64)
            }
        };
        self.due = self.start + elapsed;
    }
}

/// How long after the start request `index` is due.
fn constant_due(index: u64, gap_ns: f64) -> Duration {
    Duration::from_nanos((index as f64 * gap_ns) as u64)
}

/// A sample of the exponential distribution with mean 1, by inversion.
fn exponential(random: &mut Xoshiro256PlusPlus) -> f64 {
    -libm::log(uniform(random))
}

/// A sample of the normal distribution with mean 0 and deviation 1 (Box, Muller 1958).
fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    let (radius, turn) = (libm::sqrt(2.0 * exponential(random)), uniform(random));
    radius * libm::cos(2.0 * core::f64::consts::PI * turn)
}

/// 53 random bits, in (0, 1]: zero is excluded, so that the logarithm is finite.
fn uniform(random: &mut Xoshiro256PlusPlus) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use core::num::NonZeroU32;

    use units::Rate;

    use super::*;

    fn rate(per_sec: f64) -> Rate {
        Rate::per_sec(per_sec).unwrap()
    }

    #[test]
    fn constant_arrivals_never_drift() {
        for (per_sec, index, due_ns) in [
            (1000.0, 0, 0),
            (1000.0, 7, 7_000_000),
            (3.0, 3_000_000, 1_000_000_000_000_000),
            (0.5, 2, 4_000_000_000),
        ] {
            let mut schedule =
                Schedule::new(Instant::ORIGIN, Arrivals::Constant(rate(per_sec)), Share::WHOLE, Seed(0));
            for _ in 0..index {
                schedule.advance();
            }
            assert_eq!(schedule.due().as_nanos(), due_ns, "{per_sec}/s, request {index}");
        }
    }

    #[test]
    fn shares_of_constant_arrivals_make_up_the_whole() {
        let of = NonZeroU32::new(3).unwrap();
        let mut dues = alloc::vec::Vec::new();
        for index in 0..3 {
            let mut part =
                Schedule::new(Instant::ORIGIN, Arrivals::Constant(rate(10.0)), Share { index, of }, Seed(0));
            for _ in 0..10 {
                dues.push(part.due().as_nanos());
                part.advance();
            }
        }
        dues.sort_unstable();
        assert!(dues.iter().enumerate().all(|(i, due)| *due == i as u64 * 100_000_000), "{dues:?}");
    }

    /// Three threads share bursts of five at 10/s: each half second five requests, whoever makes them.
    #[test]
    fn bursts_come_at_once_and_shares_of_them_make_up_the_whole() {
        let (of, size) = (NonZeroU32::new(3).unwrap(), NonZeroU32::new(5).unwrap());
        let arrivals = Arrivals::Bursts { rate: rate(10.0), size };
        let mut dues = alloc::vec::Vec::new();
        for index in 0..3 {
            let mut part = Schedule::new(Instant::ORIGIN, arrivals, Share { index, of }, Seed(0));
            for _ in 0..10 {
                dues.push(part.due().as_nanos());
                part.advance();
            }
        }
        dues.sort_unstable();
        assert!(dues.iter().enumerate().all(|(i, due)| *due == i as u64 / 5 * 500_000_000), "{dues:?}");
    }

    #[test]
    fn poisson_gaps_have_the_mean_and_the_deviation_of_an_exponential() {
        let mut schedule =
            Schedule::new(Instant::ORIGIN, Arrivals::Poisson(rate(1000.0)), Share::WHOLE, Seed(11));
        let (mut last, mut sum, mut squares) = (0u64, 0.0, 0.0);
        let count = 100_000;
        for _ in 0..count {
            let gap_ms = (schedule.due().as_nanos() - last) as f64 / 1e6;
            last = schedule.due().as_nanos();
            sum += gap_ms;
            squares += gap_ms * gap_ms;
            schedule.advance();
        }
        let mean = sum / f64::from(count);
        let deviation = libm::sqrt(squares / f64::from(count) - mean * mean);
        // Three standard errors of a mean of 100,000 exponential gaps are 0.95 %.
        assert!((mean - 1.0).abs() < 0.01, "mean {mean} ms");
        assert!((deviation - 1.0).abs() < 0.02, "deviation {deviation} ms");
    }

    #[test]
    fn constant_arrivals_passed_over_at_once_are_those_passed_over_one_by_one() {
        for (per_sec, parts, size) in [
            (1e9, 1, 0),
            (1e9, 7, 0),
            (3.0, 1, 0),
            (333_333.3, 3, 0),
            (0.5, 2, 0),
            (1e9, 7, 100),
            (3.0, 1, 2),
            (333_333.3, 3, 1000),
        ] {
            let share = Share { index: parts - 1, of: NonZeroU32::new(parts).unwrap() };
            let start = Instant::from_nanos(12_345);
            let arrivals = match NonZeroU32::new(size) {
                None => Arrivals::Constant(rate(per_sec)),
                Some(size) => Arrivals::Bursts { rate: rate(per_sec), size },
            };
            let whole = Schedule::new(start, arrivals, share, Seed(0));
            for until_ns in [0, 12_345, 12_346, 12_350, 112_345, 1_000_000_007, 5_000_012_345] {
                let until = Instant::from_nanos(until_ns);
                let (mut at_once, mut one_by_one) = (whole.clone(), whole.clone());
                let (mut count, mut last) = (0, whole.due());
                while one_by_one.due() < until && count < 100_000 {
                    (count, last) = (count + 1, one_by_one.due());
                    one_by_one.advance();
                }
                let skipped = at_once.skip_until(until, 100_000);
                assert_eq!(skipped, Skipped { count, last }, "{per_sec}/s in {parts}, until {until_ns}");
                assert_eq!(at_once.due(), one_by_one.due(), "{per_sec}/s in {parts}, until {until_ns}");
            }
        }
    }

    #[test]
    fn poisson_arrivals_passed_over_at_once_are_as_many_and_vary_as_much() {
        // Stretches of 500 on average: mean and variance of their number are 500.
        let mut schedule =
            Schedule::new(Instant::ORIGIN, Arrivals::Poisson(rate(1e6)), Share::WHOLE, Seed(5));
        let (stretches, mut sum, mut squares) = (20_000, 0.0, 0.0);
        for stretch in 1..=stretches {
            let until = Instant::from_nanos(stretch * 500_000);
            let skipped = schedule.skip_until(until, u64::MAX);
            assert!(skipped.last < until && until <= schedule.due());
            let count = skipped.count as f64;
            sum += count;
            squares += count * count;
        }
        let mean = sum / stretches as f64;
        let variance = squares / stretches as f64 - mean * mean;
        // Three standard errors of the mean are 0.47, of the variance 15.
        assert!((mean - 500.0).abs() < 0.5, "mean {mean}");
        assert!((variance - 500.0).abs() < 15.0, "variance {variance}");
    }

    #[test]
    fn same_seed_same_arrivals() {
        let dues = |seed| {
            let mut schedule =
                Schedule::new(Instant::ORIGIN, Arrivals::Poisson(rate(50.0)), Share::WHOLE, Seed(seed));
            core::array::from_fn::<u64, 20, _>(|_| {
                schedule.advance();
                schedule.due().as_nanos()
            })
        };
        assert_eq!(dues(3), dues(3));
        assert_ne!(dues(3), dues(4));
    }
}
