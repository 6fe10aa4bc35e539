//! When requests are due in the open model.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use units::{Duration, Instant, Seed};

use crate::config::{Arrivals, Share};

/// The instants at which requests are due: a pure function of start, arrivals, share and seed.
///
/// Constant arrivals are computed from their index, not by adding gaps, so that they never drift: request
/// `i` is due at `start + floor(i / rate)` to the nanosecond.
#[derive(Debug, Clone)]
pub struct Schedule {
    start: Instant,
    due: Instant,
    process: Process,
}

#[derive(Debug, Clone)]
enum Process {
    Constant { gap_ns: f64, index: u64, step: u64 },
    Poisson { mean_gap_ns: f64, elapsed_ns: f64, random: Xoshiro256PlusPlus },
}

impl Schedule {
    /// The schedule of one share, with its first request ready to be read.
    pub fn new(start: Instant, arrivals: Arrivals, share: Share, seed: Seed) -> Self {
        let process = match arrivals {
            Arrivals::Constant(rate) => Process::Constant {
                gap_ns: rate.mean_gap_ns(),
                index: u64::from(share.index),
                step: u64::from(share.of.get()),
            },
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

    /// Goes on to the request after that.
    pub fn advance(&mut self) {
        if let Process::Constant { index, step, .. } = &mut self.process {
            *index += *step;
        }
        self.compute_due();
    }

    fn compute_due(&mut self) {
        let elapsed_ns = match &mut self.process {
            Process::Constant { gap_ns, index, .. } => *index as f64 * *gap_ns,
            Process::Poisson { mean_gap_ns, elapsed_ns, random } => {
                *elapsed_ns += exponential(random) * *mean_gap_ns;
                *elapsed_ns
            }
        };
        self.due = self.start + Duration::from_nanos(elapsed_ns as u64);
    }
}

/// A sample of the exponential distribution with mean 1, by inversion.
fn exponential(random: &mut Xoshiro256PlusPlus) -> f64 {
    // 53 random bits give (0, 1]: zero is excluded, so the logarithm is finite.
    let uniform = ((random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
    -libm::log(uniform)
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
