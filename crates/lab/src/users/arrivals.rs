//! When the users of an open group arrive: rates that go evenly from one value to another, one span after another.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use scenario::RateSpan;
use units::{Duration, Instant, Rate, Seed};

/// The instants of arrival, in order.
///
/// With Λ(t) the arrivals expected until t, the i-th of even arrivals comes when Λ = i, and of Poisson arrivals when Λ
/// is the sum of i exponential numbers with mean 1: the standard way to make a Poisson process whose rate changes, and
/// exact.
#[derive(Debug)]
pub(crate) struct Arrivals {
    start: Instant,
    spans: Vec<RateSpan>,
    /// The span at hand, and how long after the start it begins.
    span: usize,
    span_start_s: f64,
    /// Λ at the beginning of the span at hand.
    expected_before: f64,
    /// Λ at the next arrival.
    next: f64,
    /// Of Poisson arrivals.
    random: Option<Xoshiro256PlusPlus>,
}

impl Arrivals {
    /// Arrivals from `start` on.
    pub(crate) fn new(start: Instant, spans: &[RateSpan], poisson: bool, seed: Seed) -> Self {
        let random = poisson.then(|| Xoshiro256PlusPlus::seed_from_u64(seed.0));
        let mut arrivals = Self {
            start,
            spans: spans.to_vec(),
            span: 0,
            span_start_s: 0.0,
            expected_before: 0.0,
            next: 0.0,
            random,
        };
        arrivals.advance();
        arrivals
    }

    fn advance(&mut self) {
        self.next += match &mut self.random {
            None => 1.0,
            // From the upper 53 bits, above 0 and up to 1.
            Some(random) => -(((random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64).ln(),
        };
    }
}

impl Iterator for Arrivals {
    type Item = Instant;

    fn next(&mut self) -> Option<Instant> {
        loop {
            let span = self.spans.get(self.span)?;
            let wanted = self.next - self.expected_before;
            if let Some(after_s) = time_of(span, wanted) {
                self.advance();
                let nanos = ((self.span_start_s + after_s) * 1e9) as u64;
                return Some(self.start + Duration::from_nanos(nanos));
            }
            self.expected_before += span.arrivals();
            self.span_start_s += span.length.as_secs_f64();
            self.span += 1;
        }
    }
}

fn per_s(rate: Option<Rate>) -> f64 {
    rate.map_or(0.0, Rate::as_per_sec)
}

/// When within `span` so many arrivals are expected; `None` where it has fewer.
fn time_of(span: &RateSpan, wanted: f64) -> Option<f64> {
    // The sum of many spans is off by some rounding.
    if wanted > span.arrivals() * (1.0 + 1e-9) {
        return None;
    }
    let (from, to, length_s) = (per_s(span.from), per_s(span.to), span.length.as_secs_f64());
    let slope = (to - from) / length_s;
    // from·t + slope·t²/2 = wanted, solved in the form that does not cancel.
    let root = (from * from + 2.0 * slope * wanted).max(0.0).sqrt();
    let after_s = if from + root > 0.0 { 2.0 * wanted / (from + root) } else { 0.0 };
    Some(after_s.min(length_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(from: f64, to: f64, seconds: u64) -> RateSpan {
        RateSpan { from: Rate::per_sec(from), to: Rate::per_sec(to), length: Duration::from_secs(seconds) }
    }

    fn seconds(spans: &[RateSpan], poisson: bool) -> Vec<f64> {
        let arrivals = Arrivals::new(Instant::ORIGIN, spans, poisson, Seed(1));
        arrivals.map(|at| at.since(Instant::ORIGIN).as_secs_f64()).collect()
    }

    #[test]
    fn even_arrivals_keep_their_rate_over_spans() {
        let rest = RateSpan { from: None, to: None, length: Duration::from_secs(3) };
        let at = seconds(&[span(2.0, 2.0, 2), rest, span(1.0, 1.0, 2)], false);
        assert_eq!(at.len(), 6);
        for (at, expected) in at.iter().zip([0.5, 1.0, 1.5, 2.0, 6.0, 7.0]) {
            assert!((at - expected).abs() < 1e-6, "{at} {expected}");
        }
    }

    #[test]
    fn a_rising_rate_brings_half_the_arrivals_in_the_last_three_tenths() {
        // Λ(t) = 50 t² / 10 at a rate from 0 to 100 over 10 s: half of 500 at t = 10 / √2.
        let rising = RateSpan { from: None, to: Rate::per_sec(100.0), length: Duration::from_secs(10) };
        let at = seconds(&[rising], false);
        assert_eq!(at.len(), 500);
        assert!((at[249] - 10.0 / 2.0_f64.sqrt()).abs() < 1e-3, "{}", at[249]);
        assert!(at.is_sorted());
    }

    #[test]
    fn poisson_arrivals_are_as_many_and_scatter_as_such() {
        let spans = [span(1000.0, 1000.0, 10)];
        let at = seconds(&spans, true);
        // 10,000 ± 5 standard deviations.
        assert!((9_500..10_500).contains(&at.len()), "{}", at.len());
        let gaps: Vec<f64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        let variation = variance.sqrt() / mean;
        assert!((0.9..1.1).contains(&variation), "exponential gaps vary by their mean: {variation}");
        assert!((spans[0].arrivals() - 10_000.0).abs() < 1e-6);
    }
}
